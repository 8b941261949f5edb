"""``league-agents validate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import command_line
from league_agents.cli.validate import LARGEST

REPORT = {"sender": "agent_0", "type": "state_report", "timestamp": 2, "next_guess": 3}
WRONG = {"sender": "ghost", "type": "state_report", "timestamp": -1, "next_guess": 10, "confidence": True}


def run(text: str | bytes, *options: str) -> Result:
    return CliRunner().invoke(command_line, ["validate", "guess-number", "-", *options], input=text)


def test_every_error_is_a_line_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "message.json"
    file.write_text(json.dumps(WRONG), "utf-8")
    shown = CliRunner().invoke(command_line, ["validate", "guess-number", str(file)])
    assert shown.exit_code == 1
    assert [line.partition(":")[0] for line in shown.stdout.splitlines()] == [
        "error /confidence wrong_type",
        "error /next_guess guess_out_of_range",
        "error /sender unknown_sender",
        "error /timestamp negative_timestamp",
        "invalid",
    ]


def test_a_valid_message_is_called_so() -> None:
    shown = run(json.dumps(REPORT), "--step", "2", "--sender", "agent_0")
    assert (shown.exit_code, shown.stdout) == (0, "valid\n")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--step", "3"), "stale_timestamp"),
        (("--sender", "agent_1"), "sender_mismatch"),
        (("--num-choices", "3"), "guess_out_of_range"),
        (("--agents", "a, b"), "unknown_sender"),
    ],
)
def test_what_is_known_about_the_game_is_checked(options: tuple[str, ...], code: str) -> None:
    shown = run(json.dumps(REPORT), *options)
    assert shown.exit_code == 1
    assert code in shown.stdout


def test_lenient_shows_the_repaired_message_and_what_was_repaired() -> None:
    text = 'I say:\n```json\n{"agent_id": "agent_0", "type": "state_report", "timestamp": "2", "next_guess": 3}\n```'
    assert run(text).exit_code == 1
    shown = run(text, "--lenient")
    assert shown.exit_code == 0
    head, _, document = shown.stdout.partition("valid, 2 warnings\n")
    assert head.splitlines() == [
        "warning /agent_id moved_field: is read as /sender",
        "warning /timestamp coerced: is read as the integer 2",
    ]
    assert json.loads(document) == REPORT


def test_nothing_in_a_message_reaches_the_terminal_as_it_is() -> None:
    hostile: dict[str, Any] = {**REPORT, "sender": "\u202eghost", "x\x1b[2J": 1, "reasoning": "中\u202e\u2028"}
    for options in ((), ("--lenient",)):
        shown = run(json.dumps(hostile), *options)
        assert shown.exit_code == 1
        assert not set(shown.stdout) & set("\x1b\u202e\u2028")
    hostile = {**REPORT, "reasoning": "中\u202e\u2028"}
    shown = run(json.dumps(hostile), "--lenient")
    assert "中" in shown.stdout
    assert json.loads(shown.stdout.partition("\n")[2]) == hostile


def test_json_for_programs() -> None:
    shown = run(json.dumps({**WRONG, "mood": 1}), "--json")
    assert shown.exit_code == 1
    document = json.loads(shown.stdout)
    assert (document["ok"], document["mode"], document["message"]) == (False, "strict", {**WRONG, "mood": 1})
    assert document["errors"][0] == {"path": "/confidence", "code": "wrong_type", "message": "must be a number"}
    assert [each["code"] for each in document["warnings"]] == ["extra_field"]
    assert json.loads(run("no", "--json").stdout)["message"] is None


def test_a_byte_order_mark_is_no_fault() -> None:
    assert run(b"\xef\xbb\xbf" + json.dumps(REPORT).encode()).exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\xff\xfe{", "is not UTF-8 text (byte 0)"),
        (b" " * (LARGEST + 1), "is larger than 64 KiB"),
    ],
)
def test_what_cannot_be_read_is_one_line(text: bytes, words: str) -> None:
    shown = run(text)
    assert (shown.exit_code, shown.stdout, len(shown.stderr.splitlines())) == (3, "", 1)
    assert words in shown.stderr


@pytest.mark.parametrize("name", ["nothing.json", "", "a\0b"])
def test_a_file_that_is_not_there_is_one_line(name: str, tmp_path: Path) -> None:
    shown = CliRunner().invoke(
        command_line, ["validate", "guess-number", str(tmp_path / name) if name else str(tmp_path)]
    )
    assert (shown.exit_code, shown.stdout, len(shown.stderr.splitlines())) == (3, "", 1)


def test_a_text_that_is_too_long_for_a_message_is_an_error_of_the_message() -> None:
    shown = run(" " * 20_000)
    assert shown.exit_code == 1
    assert "error (message) too_long" in shown.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--num-choices", "1"),
        ("--step", "-1"),
        ("--agents", "a,a"),
        ("--agents", ""),
        ("--sender", "nobody"),
    ],
)
def test_a_wrong_option_is_one_line(options: tuple[str, ...]) -> None:
    shown = run(json.dumps(REPORT), *options)
    assert (shown.exit_code, shown.stdout, len(shown.stderr.splitlines())) == (2, "", 1)
    assert options[0] in shown.stderr
