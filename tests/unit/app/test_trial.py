"""What is heard of an agent that is tried out."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.app.trial import TrialRun
from league_agents.cli import command_line
from league_agents.games.q21.untrusted import field_of
from league_agents.user_code.called import End
from league_agents.user_code.instances import here

LIMIT = timedelta(seconds=20)
Context = Mapping[str, object]


class Ending(Exception):
    def __str__(self) -> str:
        raise SystemExit(0)


class Sly(str):
    """Equal to what a contract asks for, and noting who asks."""

    __slots__ = ()
    asked_by: list[str] = []  # noqa: RUF012  # the class is the only place that the key can reach

    def __eq__(self, other: object) -> bool:
        Sly.asked_by.append(threading.current_thread().name)
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class Endless(Mapping[str, object]):
    def __getitem__(self, key: str) -> object:
        return key

    def __iter__(self) -> Iterator[str]:
        return iter(lambda: "again", None)

    def __len__(self) -> int:
        return 1


class Odd:
    def get_guess(self, ctx: Context) -> object:
        raise Ending

    def get_questions(self, ctx: Context) -> object:
        return {Sly("questions"): []}

    def get_warmup_answer(self, ctx: Context) -> object:
        return 17

    def get_answers(self, ctx: Context) -> object:
        return Endless()

    def on_score_received(self, ctx: Context) -> None:
        return None


@pytest.fixture
def trial() -> Iterator[TrialRun]:
    made = TrialRun(here(Odd))
    yield made
    made.close()


def test_an_error_whose_text_ends_the_process_is_told_by_its_name(trial: TrialRun) -> None:
    called = trial("get_guess", {}, LIMIT)
    assert (called.end, called.detail) == (End.RAISED, "Ending")
    assert called.where is not None
    assert "test_trial.py:" in called.where


def test_judging_a_result_runs_no_code_of_its_classes(trial: TrialRun) -> None:
    called = trial("get_questions", {}, LIMIT)
    Sly.asked_by.clear()
    assert field_of(called.result, "questions") == []
    assert Sly.asked_by == []


def test_a_result_without_end_is_unusable_and_says_so(trial: TrialRun) -> None:
    called = trial("get_answers", {}, LIMIT)
    assert called.end is End.UNUSABLE
    assert "more than" in called.detail


def test_what_is_no_dict_is_judged_as_it_came(trial: TrialRun) -> None:
    assert trial("get_warmup_answer", {}, LIMIT).result == 17
    assert trial("on_score_received", {}, LIMIT).result is None


def test_the_time_limit_of_a_check_holds_for_the_import_too_with_a_floor_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hangs.py").write_text("while True:\n    pass\n", "utf-8")
    monkeypatch.setattr("league_agents.cli.check.SHORTEST_IMPORT_S", 0.5)
    for given, held in (("0.1", "0.5"), ("0.7", "0.7")):
        shown = CliRunner().invoke(command_line, ["check", f"{tmp_path}/hangs.py:Player", "--time-limit", given])
        assert shown.exit_code == 3
        assert f"was not imported within {held} s" in shown.stderr
