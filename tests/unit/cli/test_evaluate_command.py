"""``league-agents evaluate`` from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TextIO

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from league_agents.cli import command_line, evaluate_screen

PLAYER = ("evaluate", "player", "offline", "--rules", "course", "--opponent", "scripted")
REFEREE = ("evaluate", "referee", "offline", "--rules", "course")

OWN_PLAYER = """
import os
import signal
import time
from pathlib import Path


class MyPlayer:
    games = 0

    def get_warmup_answer(self, ctx):
        MyPlayer.games += 1
        return {"answer": "4"}

    def get_questions(self, ctx):
        return {"questions": []}

    def get_guess(self, ctx):
        return {"opening_sentence": f"Game {MyPlayer.games}", "associative_word": "rain"}

    def on_score_received(self, ctx):
        pass


class Hanging(MyPlayer):
    def get_guess(self, ctx):
        time.sleep(30)


class Interrupting(MyPlayer):
    def get_guess(self, ctx):
        if ctx["dynamic"]["match_id"].endswith("3") and not Path("pressed").exists():
            Path("pressed").touch()
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(5)
        return super().get_guess(ctx)


class Unmakeable(MyPlayer):
    def __init__(self):
        raise ValueError("no licence")
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEAGUE_LLM_PROVIDER", "LEAGUE_LLM_MODEL", "LEAGUE_LLM_BASE_URL", "OPENAI_API_KEY", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(OWN_PLAYER, encoding="utf-8")


def league_agents(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, list(arguments))


def document(*arguments: str) -> dict[str, Any]:
    """The JSON document."""
    shown = league_agents(*arguments, "--json")
    assert shown.exit_code == 0, shown.output
    found: dict[str, Any] = json.loads(shown.stdout)
    return found


def test_a_player_is_measured_in_figures_with_intervals() -> None:
    found = document(*PLAYER, "--games", "3")
    assert found["games"] == {"wanted": 3, "played": 3, "aborted": 0, "complete": True}
    assert found["settings"]["agents"] == {"player": "offline", "opponent": "scripted", "referee": "offline"}
    wins = found["figures"]["wins"]["own"]
    assert (wins["value"], wins["high"], wins["games"]) == (1.0, 1.0, 3)
    assert 0.4 < wins["low"] < 0.5
    assert found["figures"]["sentence"]["difference"]["value"] == 1.0
    assert found["figures"]["bits_gained"]["difference"]["value"] > 0
    assert found["figures"]["cost"]["own"]["value"] == 0


def test_a_referee_is_measured_in_figures_with_intervals() -> None:
    found = document(*REFEREE, "--games", "2")
    figures = found["figures"]
    assert figures["answers_right"]["own"]["value"] == 1.0
    assert figures["injections"]["own"]["value"] == 1.0
    assert figures["swaps"]["own"]["value"] == 1.0
    assert figures["hint_rank"]["own"]["value"] >= 1


def test_a_referee_may_be_hard() -> None:
    plain, hard = (
        document("evaluate", "player", "offline", "--rules", "course", "--games", "2", "--referee", spec)
        for spec in ("offline", "offline:hard")
    )
    assert hard["games"]["aborted"] == 0
    assert hard["figures"]["bits_possible"] != plain["figures"]["bits_possible"]


def test_the_same_seed_gives_the_same_bytes_however_many_work_at_once() -> None:
    few = (*PLAYER, "--games", "4")
    first, again = (league_agents(*few, "--json", "--out", name) for name in ("first.jsonl", "again.jsonl"))
    assert first.stdout_bytes == again.stdout_bytes == league_agents(*few, "--json", "--workers", "2").stdout_bytes
    assert Path("first.jsonl").read_bytes() == Path("again.jsonl").read_bytes()
    assert league_agents(*few).stdout_bytes == league_agents(*few).stdout_bytes
    assert first.stdout_bytes != league_agents(*few, "--json", "--seed", "2").stdout_bytes


def test_times_stand_apart_from_results() -> None:
    shown = league_agents(*PLAYER, "--games", "2", "--json", "--timing", "times.json")
    assert "timing" not in json.loads(shown.stdout)
    times = json.loads(Path("times.json").read_text(encoding="utf-8"))
    assert times["settings"]["seed"] == 1
    calls = {each["callback"]: each["calls"] for each in times["timing"]}
    assert calls == dict.fromkeys(("get_warmup_answer", "get_questions", "get_guess", "on_score_received"), 2)
    assert all(0 <= each["median_s"] <= each["longest_s"] for each in times["timing"])
    read = league_agents(*PLAYER, "--games", "2")
    assert "Time of a callback" in read.stderr
    assert "Time of a callback" not in read.stdout


def test_times_replace_no_file_of_another_kind() -> None:
    Path("notes.txt").write_text("mine", encoding="utf-8")
    shown = league_agents(*PLAYER, "--games", "1", "--timing", "notes.txt")
    assert shown.exit_code == 3
    assert "--timing notes.txt: exists and is no file of callback times" in shown.stderr
    assert Path("notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("arguments", [PLAYER, REFEREE], ids=["player", "referee"])
def test_a_run_that_goes_on_ends_like_one_that_never_stopped(arguments: tuple[str, ...]) -> None:
    document(*arguments, "--games", "2", "--out", "games.jsonl")
    before = Path("games.jsonl").read_bytes()
    assert document(*arguments, "--games", "4", "--out", "games.jsonl") == document(*arguments, "--games", "4")
    after = Path("games.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == 5
    # All games are there: nothing is played, and fewer may be asked for.
    assert document(*arguments, "--games", "2", "--out", "games.jsonl")["games"]["played"] == 2
    assert Path("games.jsonl").read_bytes() == after


def test_ctrl_c_gives_the_results_so_far_and_a_second_run_goes_on() -> None:
    arguments = ("evaluate", "player", "mine:Interrupting", "--rules", "course", "--games", "5", "--out", "games.jsonl")
    stopped = league_agents(*arguments, "--json")
    assert stopped.exit_code == 130
    found = json.loads(stopped.stdout)
    assert found["games"] == {"wanted": 5, "played": 2, "aborted": 0, "complete": False}
    assert "interrupted after 2 of 5 games; the same command goes on where it stopped" in stopped.stderr
    found = document(*arguments)
    assert found["games"]["complete"]
    figures = document("evaluate", "player", "mine:Interrupting", "--rules", "course", "--games", "5")["figures"]
    assert found["figures"] == figures


def test_a_class_of_ones_own_plays_all_games_as_one_instance_and_its_money_is_not_seen() -> None:
    found = document("evaluate", "player", "mine:MyPlayer", "--rules", "course", "--games", "2")
    assert found["figures"]["wins"]["opponent"]["value"] == 1.0
    cost = found["figures"]["cost"]
    assert (cost["own"], cost["opponent"]["value"], cost["note"]) == (None, 0, "not seen from here")
    assert found["figures"]["broken"]["own"]["value"] == 0.5
    assert list(found["settings"]["classes"]) == ["player"]


def test_results_of_a_class_that_was_changed_are_not_mixed() -> None:
    arguments = ("evaluate", "player", "mine.py:MyPlayer", "--rules", "course", "--games", "1", "--out", "games.jsonl")
    document(*arguments)
    Path("mine.py").write_text(f"{OWN_PLAYER}\nCHANGED = True\n", encoding="utf-8")
    shown = league_agents(*arguments)
    assert shown.exit_code == 3
    assert "games.jsonl: has results of other settings: classes.player" in shown.stderr


def test_a_callback_that_hangs_is_left_behind_after_its_time() -> None:
    Path("rules.yaml").write_text(
        "{extends: course, name: quick, callback_timeouts_seconds: {get_guess: 1}}", encoding="utf-8"
    )
    found = document("evaluate", "player", "mine:Hanging", "--rules", "rules.yaml", "--games", "1")
    # Of four callbacks: the hung one, and the one with no question at all.
    assert found["figures"]["fallbacks"]["own"]["value"] == 0.5
    assert "The player: get_guess: timed out" in found["remarks"]


@pytest.mark.parametrize("more", [(), ("--opponent", "nobody")])
def test_a_recording_of_nothing_is_not_left_behind(more: tuple[str, ...], tmp_path: Path) -> None:
    tape = tmp_path / "new.tape"
    shown = league_agents("evaluate", "player", "llm", "--record", str(tape), *more)
    assert (shown.exit_code, tape.exists()) == (3, False), shown.stderr


def test_a_person_reads_tables_and_sentences() -> None:
    shown = league_agents(*PLAYER, "--games", "2")
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[1] == ("offline against scripted, judged by offline: 2 games, rules course, 5 % wrong answers, seed 1")
    assert any(line.startswith(" Games won, %  ") and "100.0 [34.2, 100.0]" in line for line in lines)
    assert next(line for line in lines if line.startswith(" Games won")).endswith("  –")  # no empty cell
    assert re.findall(r"\[[^\]]*\+", shown.stdout) == []  # the sign of a difference is the figure's alone
    assert any(line.startswith(" get_questions  ") for line in shown.stderr.splitlines())
    assert not any("Money" in line for line in lines)
    assert (
        "2 games tell the share of games won to ±32.9 points of 100; to tell it to ±5 takes about 73." in shown.stdout
    )
    assert shown.stderr.splitlines()[:2] == ["1 of 2 games", "2 of 2 games"]


@pytest.mark.parametrize(
    "words",
    [
        (*PLAYER, "--games", "2"),
        (*REFEREE, "--games", "2"),
        ("compare", "offline", "scripted", "--games", "2", "--referee", "offline", "--referee", "scripted"),
    ],
)
def test_tables_fit_a_narrow_terminal_and_divide_no_interval(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrow(stream: TextIO) -> Console:
        return Console(file=stream, width=80, force_terminal=True, color_system=None)

    monkeypatch.setattr(evaluate_screen, "console", narrow)
    lines = league_agents(*words).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    tables = [line for line in lines if not line.startswith("-")]
    assert any("\u2500" * 20 in line for line in tables)
    assert [line for line in tables if line.count("[") != line.count("]") or line.count("(") != line.count(")")] == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("player", "offlin"), 3, "offlin: is no agent; write offline, llm, scripted"),
        (("player", "mine:Nobody"), 3, "has no class Nobody"),
        (("player", "mine:Unmakeable"), 3, "its constructor raised ValueError (mine.py:41): no licence; mend it"),
        (("player", "scripted:silent"), 3, "misbehaves by mail, and an evaluation has none"),
        (("player", "offline:hard"), 3, "only a referee has a difficulty; write offline"),
        (("referee", "offline:mild"), 3, "a referee's difficulty is one of easy, medium, hard"),
        (("player", "llm"), 3, "no language model is configured; set LEAGUE_LLM_PROVIDER"),
        (("player", "offline", "--record", "tape"), 2, "--record is about what models say"),
        (("player", "llm", "--record", "tape", "--replay", "mine.py"), 2, "exclude each other"),
        (("player", "offline", "--games", "0"), 2, "--games"),
        (("player", "offline", "--noise", "0.9"), 2, "--noise"),
        (("player", "offline", "--seed", "x"), 2, "is no whole number"),
        (("player", "offline", "--rules", "chess"), 3, "is neither a built-in rule set"),
        (("player", "offline", "--out", "."), 3, "is a folder"),
        (("player", "offline", "--out", "nowhere/games.jsonl"), 3, "cannot be written"),
        (("player", "offline", "--out", "mine.py"), 3, "is no file of results; name another file"),
        (("player", "llm", "--replay", "gone"), 2, "gone"),
        (("referee", "mine:MyPlayer"), 3, "lacks the referee's get_warmup_question"),
    ],
)
def test_what_cannot_be_done_is_one_line_with_the_remedy(arguments: tuple[str, ...], code: int, said: str) -> None:
    shown = league_agents("evaluate", *arguments)
    assert shown.exit_code == code
    assert said in shown.stderr
    assert shown.stdout == ""
    assert len(shown.stderr.splitlines()) == 1


LOSING = ("evaluate", "player", "scripted", "--rules", "course", "--games", "1")


def test_lost_games_of_an_earlier_run_are_played_again_with_the_same_result() -> None:
    fresh = document(*LOSING, "--show-losses")
    assert [each["game"] for each in fresh["losses"]] == [1]
    assert {each["mark"] for each in fresh["losses"][0]["answers"]} <= {"right", "noise", "declined", "unchecked"}
    assert "losses" not in document(*LOSING, "--out", "saved.jsonl")
    saved = Path("saved.jsonl").read_bytes()
    assert fresh["losses"][0]["record"]["target"]["opening_sentence"].encode() not in saved
    assert document(*LOSING, "--out", "saved.jsonl", "--show-losses") == fresh
    shown = league_agents(*LOSING, "--out", "saved.jsonl", "--show-losses").stdout
    assert "Game 1, seat 1, seed 1, lost by 0 to 3" in shown
    assert "opponent found the sentence and the word" in shown
    assert Path("saved.jsonl").read_bytes() == saved


def test_the_record_of_a_lost_game_is_one_that_show_reads() -> None:
    assert "--show-losses" not in league_agents("evaluate", "referee", "--help").output
    lost = document(*LOSING, "--show-losses")["losses"][0]
    Path("game.json").write_text(json.dumps(lost["record"]), encoding="utf-8")
    shown = league_agents("show", "match", lost["record"]["match"]["game_id"], "--from", "game.json", "--transcript")
    assert shown.exit_code == 0, shown.output
    assert lost["record"]["target"]["associative_word"] in shown.stdout


def test_a_game_that_ends_otherwise_when_it_is_played_again_is_not_shown() -> None:
    own = ("evaluate", "player", "mine.py:Fading", "--in-process", "--rules", "course", "--games", "1")
    Path("mine.py").write_text(OWN_PLAYER + FADING, encoding="utf-8")
    document(*own, "--out", "saved.jsonl")
    Path("again").touch()
    found = document(*own, "--out", "saved.jsonl", "--show-losses")
    assert found["losses"] == []
    assert "game 1 ended otherwise" in found["losses_not_shown"][0]


FADING = """

class Fading(MyPlayer):
    def get_guess(self, ctx):
        sure = 0.9 if Path("again").exists() else 0.1
        return super().get_guess(ctx) | {"confidence": sure}
"""


def test_targets_come_from_own_books_alone_where_there_are_any() -> None:
    paragraphs = (
        f"{name} kept a small shop at the corner of the square for many years. Nobody remembered who had opened it, "
        f"and the sign above the door told only half of a name. In winter the lamp burned there until late."
        for name in ("Martha", "Old Joseph", "My uncle", "The widow", "A stranger", "Her brother")
    )
    Path("shop.md").write_text("# The Shop\n\n" + "\n\n".join(paragraphs), encoding="utf-8")
    assert league_agents("corpus", "add", "shop.md").exit_code == 0
    found = document(*LOSING[:-1], "5", "--opponent", "scripted", "--out", "games.jsonl")
    assert found["settings"]["targets"] == "own books"
    books = [json.loads(line)["book"] for line in Path("games.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    assert books == ["The Shop"] * 5
    assert found["hardness"]["grade"] == "easy"
