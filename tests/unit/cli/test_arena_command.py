"""``league-agents arena``: games, play, replay, redact, and what is said when something is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.arena.transcript import read_transcript
from league_agents.cli import command_line
from league_agents.local_league.patience import LIMIT_S

GAMES = ("guess_number", "market", "q21", "undercover")
SCENARIOS = sorted((Path(__file__).parents[3] / "config" / "arena").glob("*.yaml"))


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    for name in [name for name in os.environ if name.startswith(("LEAGUE_LLM", "OPENAI", "GEMINI", "GOOGLE"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)  # no .env of whoever runs the tests


def arena(*arguments: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(command_line, ["arena", *arguments], input=typed)


def played(*arguments: str, **options: Any) -> dict[str, Any]:
    shown = arena("play", *arguments, "--json", **options)
    assert shown.exit_code == 0, shown.stderr
    found: dict[str, Any] = json.loads(shown.stdout)
    return found


def one_line(shown: Result) -> str:
    assert shown.stdout == ""
    assert shown.stderr.startswith("league-agents: ")
    assert shown.stderr.count("\n") == 1
    return shown.stderr


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "game.jsonl"
    shown = arena("play", "undercover", "--lang", "en", "--seed", "4", "--record", str(path))
    assert shown.exit_code == 0, shown.stderr
    return path


# games


def test_the_games_are_listed_with_rules_and_keys() -> None:
    shown = arena("games")
    assert shown.exit_code == 0
    for word in (*GAMES, "num_choices = 10", "max_rounds", "3 to 12 agents"):
        assert word in shown.stdout


def test_the_games_as_one_document() -> None:
    games = json.loads(arena("games", "--json", "--lang", "zh").stdout)["games"]
    assert [game["game"] for game in games] == list(GAMES)
    assert all(game["rules"] and game["actions"] for game in games)
    assert any("\u4e00" <= character <= "\u9fff" for character in games[-1]["rules"])


# play


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("agent", ["scripted", "random"])
def test_every_game_is_played_to_its_end(game: str, agent: str) -> None:
    document = played(game, "--agents", agent, "--seed", "3")
    assert document["status"] == "ended"
    assert document["seed"] == 3
    assert document["outcome"]["reason"]
    assert [event["seq"] for event in document["events"]] == list(range(1, len(document["events"]) + 1))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_is_played_to_its_end_and_replayed(path: Path, tmp_path: Path) -> None:
    record = tmp_path / "game.jsonl"
    document = played("--scenario", str(path), "--record", str(record))
    assert document["status"] == "ended"
    shown = arena("replay", str(record))
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "all as recorded" in shown.stdout


def test_people_read_what_happens_and_who_won() -> None:
    shown = arena("play", "market", "--config", "max_rounds=2", "--seed", "1")
    assert shown.exit_code == 0
    assert "market: s1 (scripted), s2 (scripted), s3 (scripted); seed 1" in shown.stdout
    assert "Won: " in shown.stdout
    assert "Scores: " in shown.stdout
    assert shown.stderr == ""


def test_the_same_seed_is_the_same_match() -> None:
    assert played("undercover", "--seed", "9") == played("undercover", "--seed", "9")


def test_agents_fill_the_seats_in_order_and_the_last_one_the_others() -> None:
    document = played("undercover", "--agents", "random,scripted", "--seats", "4", "--seed", "1")
    assert [agent["agent"] for agent in document["agents"]] == ["random", "scripted", "scripted", "scripted"]
    document = played("--scenario", str(SCENARIOS[0]), "--agents", "random")
    assert {agent["agent"] for agent in document["agents"]} == {"random"}


def test_offline_agents_play_q21_without_an_index() -> None:
    document = played("q21", "--agents", "offline", "--seed", "4")
    assert document["outcome"]["metrics"]["forfeits"] == 0


def test_what_is_the_hosts_alone_is_not_printed() -> None:
    document = played("guess_number", "--config", "target=7", "--config", "num_choices=12", "--seed", "1")
    assert document["config"] == {"num_choices": 12}


def test_an_own_class_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_seller.py").write_text(
        "class Seller:\n    def act(self, view, legal, deadline):\n"
        "        print('to whoever reads stdout')\n        return {'type': 'submit_price', 'data': {'price': 33}}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    document = played("market", "--agents", "my_seller:Seller", "--config", "max_rounds=1", "--seed", "1")
    assert document["outcome"]["metrics"]["market_prices"] == [33]


def test_a_person_plays_by_typing_a_line_a_turn() -> None:
    typed = "something vague\n" + "0\nstill vague\n" * 20
    shown = arena("play", "undercover", "--lang", "en", "--agents", "human,scripted", "--seed", "4", typed=typed)
    assert shown.exit_code == 0, shown.stderr
    assert "describe it in one line" in shown.stderr
    assert "Every player has a word." in shown.stdout.partition("sit down")[0]  # the rules come first
    assert "Your word is" in shown.stdout
    assert "Won: " in shown.stdout


def test_persons_at_one_terminal_are_asked_one_after_the_other() -> None:
    """A sealed vote asks all of them at once."""
    typed = "it is loud\nit is old\nit is long\n" + 3 * "0 nothing is known yet\n"
    options = ["--lang", "en", "--seats", "3", "--agents", "human", "--config", "max_rounds=1"]
    shown = arena("play", "undercover", *options, typed=typed)
    assert shown.exit_code == 0, shown.stderr
    assert [shown.stderr.count(asked) for asked in ("describe it in one line", "who has another one?")] == [3, 3]
    assert shown.stdout.splitlines().count("agent_2: it is old") == 1
    assert "abstentions 3, forfeits none" in " ".join(shown.stdout.split())


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_end_of_the_input_gives_the_match_up_with_a_word(options: list[str], tmp_path: Path) -> None:
    record = tmp_path / "game.jsonl"
    shown = arena(
        "play", "undercover", "--lang", "en", "--agents", "human,scripted", "--record", str(record), *options, typed=""
    )
    assert shown.exit_code == 1
    assert shown.stderr.endswith("league-agents: the input has ended, so nobody plays agent_1; the match is given up\n")
    assert "Won" not in shown.stdout
    assert read_transcript(record.read_text("utf-8").splitlines())[-1]["line"] != "outcome"


# What whoever watches is shown


def told(*arguments: str) -> str:
    shown = arena("play", *arguments, "--seed", "3")
    assert (shown.exit_code, shown.stderr) == (0, "")
    return " ".join(shown.stdout.split())


def test_guesses_are_shown_and_whether_they_are_right() -> None:
    shown = told("guess_number", "--config", "target=8")
    assert "agent_0 means to guess 0" in shown
    assert "agent_0 guesses 0: wrong; agent_1 guesses 1: wrong" in shown
    assert "agent_1 guesses 8: right" in shown
    assert "Step 5" in shown
    assert "action" not in shown


def test_every_seller_s_price_and_words_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loud.py").write_text(
        "class Seller:\n    def act(self, view, legal, deadline):\n"
        "        return {'type': 'submit_price', 'data': {'price': 33, 'speech': 'Cheap!'}}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    shown = told("market", "--agents", "loud:Seller,scripted", "--config", "max_rounds=1")
    assert "s1 asks 33. “Cheap!” " in shown
    assert " s2 asks " in shown


def test_votes_and_reasons_are_shown() -> None:
    shown = told("undercover", "--lang", "en")
    assert "agent_1 votes for agent_" in shown
    assert "I vote for number" in shown or "…" in shown


def test_questions_answers_and_guesses_are_shown() -> None:
    shown = told("q21")
    assert "player_a asks. 1. Does the opening sentence have more than 2 words? (A Yes, B No" in shown
    assert "The referee answers player_a. 1 A, 2 A" in shown
    assert "player_b guesses: It is a truth" in shown
    assert "player_a: 3 points, 93.62 of 100" in shown


def test_names_of_a_scenario_are_used_and_what_not_everybody_hears_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "game: guess_number\nagents: [{id: a, name: Ann}, {id: b, name: Ben}]\nprotocol: {type: sequential}\n"
    )
    shown = told("--scenario", str(path))
    assert "Ann means to guess 0 Ben means to guess 1" in shown
    assert "Ann guesses 0" in shown
    assert "Won: Ann, Ben" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["play"], 2, "name a game"),
        (["play", "chess"], 3, "chess"),
        (["play", "undercover", "--agents", "scriptd"], 3, "did you mean scripted"),
        (["play", "undercover", "--agents", "offline"], 3, "offline"),
        (["play", "undercover", "--agents", "no_module:Class"], 3, "no_module"),
        (["play", "market", "--agents", "json:JSONDecoder"], 3, "no agent of the arena"),
        (["play", "market", "--agents", "llm"], 3, "LEAGUE_LLM_PROVIDER"),
        (["play", "q21", "--agents", "llm"], 3, "LEAGUE_LLM_PROVIDER"),
        (["play", "q21", "--seats", "4"], 3, "q21 has 3 seats"),
        (["play", "undercover", "--seats", "2"], 3, "--seats: undercover has 3 to 12 seats, found 2"),
        (["play", "market", "--agents", "random,random,random,random", "--seats", "3"], 3, "4 agents for --seats 3"),
        (["play", "q21", "--agents", "random,random,random,random"], 3, "--agents: q21 has 3 seats, found 4 agents"),
        (["play", "market", "--config", "max_rounds"], 3, "KEY=VALUE"),
        (["play", "market", "--config", "max_rounds=0"], 3, "max_rounds"),
        (["play", "market", "--config", "max_round=5"], 3, "max_round"),
        (["play", "market", "--config", "price_range=[1"], 3, "cannot be read"),
        (["play", "market", "--config", "max_rounds=2026-13-45"], 3, "cannot be read"),
        (["play", "market", "--config", "price_range=" + "[" * 5000], 3, "cannot be read"),
        (["play", "market", "--config", "price_range=&a [*a]"], 3, "holds itself"),
        (["play", "market", "--config", "max_rounds=2", "--config", "max_rounds=3"], 3, "twice"),
        (["play", "q21", "--config", "rules=chess"], 3, "config.rules"),
        (["play", "market", "--seed", "-1"], 2, "seed"),
        (["play", "market", "--seed", str(2**64)], 2, "seed"),
        (["play", "market", "--turn-timeout", "0"], 2, "turn-timeout"),
        (["play", "market", "--turn-timeout", "nan"], 2, "turn-timeout"),
        (["play", "market", "--turn-timeout", "inf"], 2, "turn-timeout"),
        (["play", "--scenario", "/dev/zero"], 3, "larger than"),
        (["replay", "/dev/zero"], 3, "larger than"),
        (["play", "--scenario", "nowhere.yaml"], 3, "nowhere.yaml"),
        (["play", "--scenario", "."], 3, "cannot be read"),
        (["play", "undercover", "--scenario", str(SCENARIOS[0])], 2, "not of undercover"),
        (["play", "--scenario", str(SCENARIOS[0]), "--config", "a=1"], 2, "leave --seats"),
        (["play", "--scenario", str(SCENARIOS[0]), "--agents", ",".join(["random"] * 13)], 3, "seats"),
        (["replay", "nowhere.jsonl"], 3, "nowhere.jsonl"),
        (["replay", "."], 3, "cannot be read"),
        (["redact", "nowhere.jsonl", "--viewer", "spectator"], 3, "nowhere.jsonl"),
        (["redact", "nowhere.jsonl"], 2, "--viewer"),
        (["dance"], 2, "dance"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_what_is_wrong_is_one_line_with_its_exit_code(arguments: list[str], code: int, said: str) -> None:
    shown = arena(*arguments)
    assert shown.exit_code == code, shown.stderr
    assert said in one_line(shown)


def test_a_scenario_that_is_none_is_named_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("game: market\nagents: [{id: s1}, {id: s2}]\nclock: {turn_timeout: 5}\n")
    shown = arena("play", "--scenario", str(path))
    assert shown.exit_code == 3
    assert "mine.yaml" in one_line(shown)
    assert "turn_timeout_s" in shown.stderr


OWN_PROTOCOL = """
from league_agents.turns import InteractionProtocol, Message

class Backwards(InteractionProtocol):
    def __init__(self, agent_ids: list[str], broken: bool = False):
        self.order, self.place, self.broken = agent_ids[::-1], 0, broken
    def get_next_speaker(self):
        return self.order[self.place] if self.place < len(self.order) else None
    def get_listeners(self, speaker):
        return [agent for agent in self.order if agent != speaker]
    def advance(self):
        self.place = 0 if self.place == len(self.order) else self.place + 1
    def route_message(self, message: Message):
        if self.broken:
            raise KeyError("nowhere")
    def should_stop(self):
        return False
"""


@pytest.fixture
def own_protocol(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(OWN_PROTOCOL)
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(
        "game: guess_number\nagents: [{id: a}, {id: b}]\nseed: 5\nprotocol: {type: 'mine.py:Backwards'}\n"
    )
    return scenario


def test_a_protocol_of_ones_own_is_named_in_the_scenario(own_protocol: Path, tmp_path: Path) -> None:
    record = tmp_path / "game.jsonl"
    events = played("--scenario", str(own_protocol), "--record", str(record))["events"]
    reports = [event["data"]["message"]["sender"] for event in events if event["kind"] == "state_report"]
    assert reports[:4] == ["b", "a", "b", "a"]
    shown = arena("replay", str(record))
    assert shown.exit_code == 3  # a transcript may come from anybody
    assert "add --protocol mine.py:Backwards" in one_line(shown)
    shown = arena("replay", str(record), "--protocol", "mine.py:Backwards")
    assert (shown.exit_code, shown.stderr) == (0, "")


def test_a_protocol_of_ones_own_that_fails_is_one_line(own_protocol: Path) -> None:
    text = own_protocol.read_text()
    own_protocol.write_text(text.replace("Backwards'", "Backwards', broken: true"))
    shown = arena("play", "--scenario", str(own_protocol), "--json")
    assert shown.exit_code == 1
    assert "mine.py:Backwards: route_message raised KeyError" in one_line(shown)
    own_protocol.write_text(text.replace("Backwards'", "Forwards'"))
    shown = arena("play", "--scenario", str(own_protocol))
    assert shown.exit_code == 3
    assert "has no class Forwards; it has Backwards" in one_line(shown)


# records


def test_a_record_is_written_over_a_former_record_only(tmp_path: Path, recorded: Path) -> None:
    before = recorded.read_text("utf-8")
    assert arena("play", "market", "--config", "max_rounds=1", "--record", str(recorded)).exit_code == 0
    assert recorded.read_text("utf-8") != before
    foreign = tmp_path / "thesis.txt"
    foreign.write_text("many years of work")
    for target in (foreign, tmp_path):
        shown = arena("play", "market", "--config", "max_rounds=1", "--record", str(target))
        assert shown.exit_code in (2, 3)
        assert str(target) in one_line(shown)
    assert foreign.read_text() == "many years of work"


def test_a_record_that_cannot_be_written_is_said_before_anything_is_played(tmp_path: Path) -> None:
    shown = arena("play", "market", "--record", str(tmp_path / "nowhere" / "game.jsonl"))
    assert shown.exit_code in (2, 3)
    assert "nowhere" in one_line(shown)


def test_a_replay_counts_what_it_compared(recorded: Path) -> None:
    document = json.loads(arena("replay", str(recorded), "--json").stdout)
    assert document["difference"] is None
    assert document["decisions"] > 5
    piped = arena("replay", "-", typed=recorded.read_text("utf-8"))
    assert piped.exit_code == 0


def changed(path: Path, kind: str, **fields: Any) -> None:
    """Change the first line of this kind."""
    lines = path.read_text("utf-8").splitlines()
    for place, text in enumerate(lines):
        line = json.loads(text)
        if line["line"] == kind:
            lines[place] = json.dumps({**line, **fields}, ensure_ascii=False)
            break
    path.write_text("\n".join(lines) + "\n", "utf-8")


@pytest.mark.parametrize(
    ("kind", "fields", "code"),
    [
        ("event", {"text": "something else happened"}, 1),
        ("event", {"visible_to": ["agent_1"]}, 1),
        ("outcome", {"winners": ["agent_1"]}, 1),
        ("outcome", {"seed": 5}, 1),
        ("decision", {"agent": "agent_6"}, 1),
        ("outcome", {"seed": "4"}, 3),
        ("header", {"game": "chess"}, 3),
        ("header", {"game_version": "9.0.0"}, 3),
        ("header", {"agents": None}, 3),
        ("header", {"config": {"max_rounds": 0}}, 3),
        ("header", {"format": 99}, 3),
        ("decision", {"action": None}, 3),
        ("decision", {"action": {"type": 3}}, 3),
    ],
)
def test_a_changed_transcript_is_found_out(recorded: Path, kind: str, fields: dict[str, Any], code: int) -> None:
    changed(recorded, kind, **fields)
    shown = arena("replay", str(recorded))
    assert shown.exit_code == code, shown.stderr
    one_line(shown)


@pytest.mark.parametrize(
    "text",
    ["", "\n", "hello", "[]", "3", '{"line": "event"}', '{"line": "header"}', "[" * 100_000, '{"line":"outcome"}\x00'],
)
def test_what_is_no_transcript_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    for command in (["replay", str(path)], ["redact", str(path), "--viewer", "spectator"]):
        shown = arena(*command)
        assert shown.exit_code == 3, shown.stderr
        one_line(shown)


def test_bytes_that_are_no_text_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\xff\xfe{")
    shown = arena("replay", str(path))
    assert shown.exit_code == 3
    assert "UTF-8" in one_line(shown)


def test_a_spectators_transcript_has_no_thought_and_no_reason(recorded: Path) -> None:
    shown = arena("redact", str(recorded), "--viewer", "spectator")
    assert shown.exit_code == 0
    lines = read_transcript(shown.stdout.splitlines())
    assert lines[0]["viewer"] == "spectator"
    assert all(line["visible_to"] == "all" for line in lines if line["line"] == "event")
    assert not any("action" in line or "raw" in line for line in lines if line["line"] == "decision")


def test_an_agents_transcript_has_its_own_decisions(recorded: Path) -> None:
    lines = read_transcript(arena("redact", str(recorded), "--viewer", "agent_2").stdout.splitlines())
    told = {line["agent"] for line in lines if line["line"] == "decision" and "action" in line}
    assert told == {"agent_2"}
    shown = arena("redact", str(recorded), "--viewer", "eve")
    assert shown.exit_code == 3
    assert "agent_1" in one_line(shown)


# processes


def test_an_interrupted_match_leaves_a_readable_transcript(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    command = [sys.executable, "-m", "league_agents", "arena", "play", "undercover", "--lang", "en", "--seed", "4"]
    process = subprocess.Popen(
        [*command, "--agents", "human,scripted", "--record", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "LEAGUE_AGENTS_DATA": str(tmp_path)},
        cwd=tmp_path,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    try:
        process.stdin.write(b"something vague\n")
        process.stdin.flush()
        asked = b""
        while not asked.endswith(b"who has another one"):  # the others have spoken, and it waits for the vote
            read = os.read(process.stderr.fileno(), 1)
            assert read, "the process ended before it asked for a vote"
            asked += read
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 130
        assert b"interrupted" in process.stderr.read()
    finally:
        process.kill()
        process.stdin.close()
        process.stderr.close()
        process.wait()
    lines = read_transcript(path.read_text("utf-8").splitlines())
    assert [line["agent"] for line in lines if line["line"] == "decision"][:2] == ["agent_1", "agent_2"]
    assert lines[-1]["line"] != "outcome"
    shown = arena("replay", str(path))
    assert shown.exit_code == 3
    assert one_line(shown).startswith(f"league-agents: {path}, the last line: has no seed: the transcript was cut off")
    redacted = read_transcript(arena("redact", str(path), "--viewer", "spectator").stdout.splitlines())
    assert redacted[0]["config"] is None
