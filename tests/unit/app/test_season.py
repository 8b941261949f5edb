"""A whole season offline: the same bytes on any number of workers, however often it was cut off."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from league_agents.app import season as use_case
from league_agents.app import season_division, season_records, season_seats
from league_agents.app.dashboard import LivePages
from league_agents.app.executor import Here, Processes
from league_agents.app.faults import HEAVY, LIGHT, NONE, FaultProfile
from league_agents.app.records import NotOverYet, open_season, unfinished_words
from league_agents.app.season import DivisionEnd, ends, play_season
from league_agents.app.season_part import DivisionShare
from league_agents.app.season_plan import (
    SeasonPlan,
    WrittenRosterTeam,
    numbered_roster,
    plan_of,
    read_plan,
    roster_file,
    write_plan,
)
from league_agents.app.season_seats import AgentAnswer, AnswerBook, SeatOfAgent, answer
from league_agents.cli import command_line
from league_agents.games.q21.model import Termination
from league_agents.journal.port import PendingCall
from league_agents.kit.clock import SystemClock
from league_agents.kit.errors import ConfigError, WorkerLost
from league_agents.kit.values import evolve
from league_agents.league.season.schedule import ScheduleKind
from league_agents.league.season.tie_breaks import TieBreak


def plan_with(teams: int = 3, **changes: Any) -> SeasonPlan:
    return plan_of(numbered_roster(teams), **{"seed": 5, "agents": ("scripted",), **changes})


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything that a season leaves, but for the number of the process in the lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def played(plan: SeasonPlan, folder: Path, **options: Any) -> list[DivisionEnd]:
    play_season(plan, folder, **options)
    return list(ends(plan, folder))


class Killed(Exception):
    """Ends an attempt in the middle of a season."""


class _Answers:
    """Calls agents until it has called some, and counts."""

    def __init__(self) -> None:
        self.left = 10_000
        self.calls = 0

    def __call__(self, seat: SeatOfAgent, call: PendingCall) -> AgentAnswer:
        if not self.left:
            raise Killed
        self.left -= 1
        self.calls += 1
        return answer(seat, call)


def test_a_season_that_is_cut_off_goes_on_and_asks_nobody_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_with(faults=LIGHT)
    whole, cut = _Answers(), _Answers()
    monkeypatch.setattr(season_seats, "answer", whole)
    play_season(plan, tmp_path / "whole")
    monkeypatch.setattr(season_seats, "answer", cut)
    monkeypatch.setattr(use_case, "executor_of", lambda workers, _: _Wide(workers))
    for cut.left, workers in ((0, 1), (17, 2), (17, 3)):
        with pytest.raises(Killed):
            play_season(plan, tmp_path / "cut", workers=workers)
        assert not (tmp_path / "cut" / "journals").exists()
    cut.left = 10_000
    play_season(plan, tmp_path / "cut")
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")
    assert cut.calls == whole.calls
    monkeypatch.setattr(use_case, "executor_of", lambda *_: pytest.fail("nothing is left to do"))
    play_season(plan, tmp_path / "cut")


@pytest.mark.parametrize("faults", [NONE, HEAVY])
def test_a_division_has_the_same_bytes_in_any_number_of_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: FaultProfile
) -> None:
    plan = plan_with(3, faults=faults)
    monkeypatch.setattr(use_case, "executor_of", lambda workers, _: _AsIfElsewhere(workers))
    for workers in (1, 2, 9):
        play_season(plan, tmp_path / str(workers), workers=workers)
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2") == files_of(tmp_path / "9")


class _Wide(Here):
    """Runs work here that is divided as for several workers."""

    def __init__(self, width: int) -> None:
        self.width = width


class _AsIfElsewhere(_Wide):
    """Runs work here that was handed over as to another process."""

    def submit(self, lane: int | None, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        work, args, kwargs = pickle.loads(pickle.dumps((work, args, kwargs)))
        return super().submit(lane, work, *args, **kwargs)


def test_divisions_are_played_at_once_or_in_parts_and_their_matches_have_ids_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_with(9, divisions=3)  # two at once, the third in two parts
    monkeypatch.setattr(use_case, "executor_of", lambda workers, _: _AsIfElsewhere(workers))
    told: list[int] = []
    play_season(plan, tmp_path / "two", workers=2, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == plan.matches == 9
    play_season(plan, tmp_path / "one")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    source = open_season(tmp_path / "one")
    matches = list(source.matches())
    source.close()
    assert len({match.game_id for match in matches}) == 9
    assert {match.division for match in matches} == {"division-1", "division-2", "division-3"}
    assert [end.name for end in ends(plan, tmp_path / "one")] == ["division-1", "division-2", "division-3"]


@pytest.mark.parametrize("kind", ScheduleKind)
def test_every_match_ends_by_a_name_whatever_goes_wrong(tmp_path: Path, kind: ScheduleKind) -> None:
    plan = plan_with(4, schedule=kind, faults=HEAVY)
    (end,) = played(plan, tmp_path)
    assert sum(end.terminations.values()) == plan.matches
    assert set(end.terminations) <= {each.value for each in Termination}
    assert len(end.standings) == 4


def test_several_games_of_a_mailbox_are_played_in_one_round_each_with_its_own_limits(tmp_path: Path) -> None:
    one = played(plan_with(5), tmp_path / "one")
    plan = plan_with(5, games_at_once=4)
    assert [row["total_points"] for row in played(plan, tmp_path / "four")[0].standings] == [
        row["total_points"] for row in one[0].standings
    ]
    source = open_season(tmp_path / "four")
    matches = list(source.matches())
    source.close()
    assert {match.round_number for match in matches} == {1, 2}
    # Callbacks that are late and players that are silent in one game leave the others of the round as they are.
    (disturbed,) = played(plan_with(5, games_at_once=4, faults=HEAVY), tmp_path / "disturbed")
    assert sum(disturbed.terminations.values()) == plan.matches
    assert set(disturbed.terminations) <= {each.value for each in Termination}
    assert 0 < disturbed.terminations.get("completed", 0) < plan.matches
    for kind in (ScheduleKind.SWISS, ScheduleKind.KNOCKOUT):
        with pytest.raises(ConfigError, match="games_at_once: must be 1"):
            plan_with(8, games_at_once=2, schedule=kind)


def test_the_records_are_whole_and_named_by_how_the_season_went(tmp_path: Path) -> None:
    plan = plan_with(tie_breaks=(TieBreak.WINS, TieBreak.LOT))
    (end,) = played(plan, tmp_path)
    lines = (tmp_path / "records.jsonl").read_bytes().splitlines()
    assert len(lines) == plan.matches + 2
    assert msgspec.json.decode(lines[-1])["matches"] == plan.matches
    with_lot = [row["tie_breaks"] for row in end.standings]
    assert all(list(values) == ["wins", "lot"] for values in with_lot if isinstance(values, dict) and len(values) > 1)
    source = open_season(tmp_path)
    standings = source.season().standings()
    assert [row.rank for row in standings] == [row["rank"] for row in end.standings]
    assert source.season().tie_breaks == ("wins", "lot")
    source.close()


def test_a_season_that_is_too_large_for_one_file_of_records_is_read_from_its_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(season_records, "MOST_RECORDED", 5)
    for _ in range(2):
        played(plan_with(6, divisions=2), tmp_path)
    assert not (tmp_path / "records.jsonl").exists()
    assert not (tmp_path / "unfinished").exists()
    source = open_season(tmp_path)
    assert len(list(source.matches())) == 6
    assert source.season().is_over
    source.close()


def test_another_season_in_the_folder_is_refused(tmp_path: Path) -> None:
    write_plan(plan_with(), tmp_path)
    write_plan(plan_with(), tmp_path)
    assert read_plan(tmp_path) == plan_with()
    for changed, words in (
        (plan_with(schedule=ScheduleKind.DOUBLE), r"\(--schedule: round-robin there, double here\)"),
        (plan_with(6), r"\(--teams or --roster: 3 teams there, 6 teams here\)"),
        (plan_with(6, divisions=2, seed=6), r"\(.*; --divisions: 1 there, 2 here; --seed: 5 there, 6 here\)"),
        (plan_with(agents=("offline",)), r"\(--agents: scripted there, offline here; --referees: .*\)"),
        (plan_with(faults=evolve(HEAVY, name="none")), r"\(other teams, agents or faults, .*\)"),
    ):
        with pytest.raises(ConfigError, match=rf"holds another season {words}; name another folder with --out"):
            write_plan(changed, tmp_path)


@pytest.mark.parametrize("kind", ScheduleKind)
def test_a_division_that_is_too_small_is_named(kind: ScheduleKind) -> None:
    with pytest.raises(ConfigError, match="--divisions 4: division-1: teams: at least 3 are needed, found 2"):
        plan_with(6, divisions=4, schedule=kind)
    with pytest.raises(ConfigError, match="division north: teams: at least 3 are needed, found 2"):
        plan_of([WrittenRosterTeam(group_id=f"t{n}", division="north") for n in range(2)], seed=1, schedule=kind)


def test_a_season_that_is_played_tells_how_far_it_is(tmp_path: Path) -> None:
    plan = plan_with(6, divisions=2)
    seen: list[tuple[int, str, tuple[str, ...]]] = []

    def look(count: int) -> None:
        words = unfinished_words(tmp_path)
        assert f"{count} of 6 matches were played; tables can be shown as soon as a division is over" in words
        shown = CliRunner().invoke(command_line, ["show", "standings", "--from", str(tmp_path)])
        assert words in shown.stderr
        try:
            source = open_season(tmp_path)
        except NotOverYet:
            assert shown.exit_code == 3
            drawn = LivePages(lambda: open_season(tmp_path), SystemClock()).page("")
            assert drawn is not None
            assert words.replace("'", "&#39;") in drawn.body.decode()
            seen.append((count, "waits", ()))
        else:
            assert (shown.exit_code, source.season().is_over) == (0, False)
            seen.append((count, "shown", source.season().divisions))
            source.close()

    play_season(plan, tmp_path, progress=lambda count: look(count) if count < plan.matches else None)
    assert seen == [
        *((count, "waits", ()) for count in (1, 2, 3)),
        *((count, "shown", ("division-1",)) for count in (4, 5)),
    ]
    assert unfinished_words(tmp_path) == ""


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("hello", "utf-8")
    with pytest.raises(ConfigError, match=r"other files and no season\.json"):
        play_season(plan_with(), tmp_path)


def test_an_agent_that_cannot_be_made_stops_before_the_season(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="scripted player is one of"):
        play_season(plan_with(agents=("scripted:sleepy-head",)), tmp_path)
    assert not (tmp_path / "journals").exists()


def test_a_roster_says_who_plays_for_whom(tmp_path: Path) -> None:
    path = tmp_path / "roster.yaml"
    path.write_text(
        "teams:\n"
        "  - {group_id: falcons, name: The falcons, player: 'scripted:slow', division: north}\n"
        "  - {group_id: otters, referee: 'offline:hard', division: south}\n"
        + "".join(f"  - {{group_id: t{n}, division: {'north' if n % 2 else 'south'}}}\n" for n in range(4)),
        "utf-8",
    )
    plan = plan_of(roster_file(path), seed=1, agents=("offline", "my_player:Mine"))
    north, south = plan.divisions
    assert [team.group_id for team in north.teams] == ["falcons", "t1", "t3"]
    assert (north.teams[0].name, north.teams[0].player, north.teams[0].referee) == (
        "The falcons",
        "scripted:slow",
        "scripted",
    )
    assert (south.teams[0].player, south.teams[0].referee) == ("my_player:Mine", "offline:hard")
    assert {division.number for division in plan.divisions} == {1, 2}


@pytest.mark.parametrize(
    ("roster", "changes", "message"),
    [
        ([WrittenRosterTeam(group_id="a b") for _ in range(3)], {}, "cannot be a group_id"),
        ([WrittenRosterTeam(group_id="same") for _ in range(3)], {}, "the same group_id|two teams have"),
        (numbered_roster(2), {}, "at least 3"),
        (numbered_roster(5), {"divisions": 2}, "at least 3"),
        ([WrittenRosterTeam(group_id=f"t{n}", division="../x") for n in range(3)], {}, "letters, digits"),
        (numbered_roster(4), {"tie_breaks": (TieBreak.ROUNDS_SURVIVED,)}, "knockout"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(
    roster: list[WrittenRosterTeam], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        plan_of(roster, seed=1, **changes)


def test_an_answer_that_was_cut_off_while_it_was_written_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    book = AnswerBook(path)
    first = AgentAnswer(address="a@league.test", call_id="1", result={"answer": "4"})
    assert book.write(first) == first
    book.write(evolve(first, call_id="2"))
    book.close()
    whole = path.read_bytes()
    os.truncate(path, len(whole) - 5)
    again = AnswerBook(tmp_path / "again.jsonl", [path])
    assert again.known("a@league.test", "1") == first
    assert again.known("a@league.test", "2") is None
    again.write(evolve(first, call_id="2"))
    again.close()
    third = AnswerBook(tmp_path / "third.jsonl", [path, tmp_path / "again.jsonl"])
    assert third.known("a@league.test", "2") == evolve(first, call_id="2")
    third.close()


def test_closed_processes_give_up_what_they_do() -> None:
    executor = Processes(1)
    under_way = executor.submit(0, _forever)
    executor.close()
    assert isinstance(under_way.exception(timeout=60), BaseException)


def _forever() -> None:
    while True:
        pass


def test_an_error_of_a_worker_arrives_with_its_name_and_a_killed_worker_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = Processes(1)  # for both attempts: a worker that raised an error goes on
    monkeypatch.setattr(use_case, "executor_of", lambda *_: executor)
    monkeypatch.setattr(season_division, "play_pass", _refused_then_killed)
    with monkeypatch.context() as kept:
        kept.setattr(executor, "close", lambda: None)
        with pytest.raises(ConfigError, match=r"^agents\.yaml: is gone$"):
            play_season(plan_with(), tmp_path)
    with pytest.raises(WorkerLost, match=r"killed, .*: the same command goes on"):
        play_season(plan_with(), tmp_path)


def _refused_then_killed(share: DivisionShare, *_: object) -> None:
    if share.attempt == 1:
        (share.unfinished / "answers.1.0.jsonl").touch()  # an attempt was made
        raise ConfigError("agents.yaml", "is gone")
    os._exit(1)  # as if killed: nothing is sent
