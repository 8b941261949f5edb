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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"line":"header","format":1}\n{"line":"event"}\n', "arena replay"),
        ('{\n  "seed": 3,\n  "rules": "prd",\n  "match": {"status": "completed"}\n}\n', "the record of a league match"),
    ],
)
def test_a_record_is_told_from_messages(text: str, said: str) -> None:
    shown = run(text)
    assert (shown.exit_code, shown.stdout, said in shown.stderr) == (3, "", True)


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
        (b" " * (LARGEST + 1), "is larger than 16 MiB"),
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


# A log of many messages


PROPOSAL = {"sender": "agent_1", "type": "proposal", "timestamp": 2, "content": {"next_guess": 7}}
LOG = "\n".join([json.dumps(REPORT), json.dumps(WRONG), "", '{"sender": "agent_0",', json.dumps(PROPOSAL)]) + "\n"
TOLD = [
    "error {}/confidence wrong_type",
    "error {}/next_guess guess_out_of_range",
    "error {}/sender unknown_sender",
    "error {}/timestamp negative_timestamp",
]


def places(shown: Result) -> list[str]:
    """Line, kind, path and code of each finding, then the sum."""
    *found, last = shown.stdout.splitlines()
    return [":".join(line.split(":")[:2]) for line in found] + [last]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_log_of_a_message_a_line_is_told_by_line_and_path(ending: str) -> None:
    shown = run(LOG.replace("\n", ending).encode())
    assert shown.exit_code == 1
    assert places(shown) == [
        *(f"line 2: {each.format('')}" for each in TOLD),
        "line 4: error (message) not_json",
        "4 messages: 2 valid, 2 invalid, 5 errors",
    ]
    assert "is not JSON: Expecting property name enclosed in double quotes (column" in shown.stdout


def test_a_broken_first_line_costs_no_other_message() -> None:
    shown = run('{"sender": "agent_0", \n' + json.dumps(REPORT))
    assert places(shown) == ["line 1: error (message) not_json", "2 messages: 1 valid, 1 invalid, 1 error"]


def test_an_array_is_told_by_line_and_path_into_it() -> None:
    text = json.dumps([REPORT, {**PROPOSAL, "mood": 1}, WRONG, 7], indent=1)
    shown = run(text)
    wrong = text[: text.index('"ghost"')].count("\n")
    assert places(shown) == [
        "line 8: warning /1/mood extra_field",
        *(f"line {wrong}: {each.format('/2')}" for each in TOLD),
        f"line {text.count(chr(10))}: error /3 not_object",
        "4 messages: 2 valid, 2 invalid, 5 errors, 1 warning",
    ]
    assert run(json.dumps([REPORT, PROPOSAL])).exit_code == 0


@pytest.mark.parametrize(
    ("end", "line", "words"),
    [
        (",\n {]", 3, "Expecting property name"),
        ("", 2, "a comma or the end of the list is missing"),
        (",\n]", 3, "Expecting value"),
        ("\n] and more", 3, "stands after the end of the list"),
        (",\n" + "[" * 100_000, 3, "is not JSON"),
    ],
)
def test_a_broken_array_is_read_up_to_the_break(end: str, line: int, words: str) -> None:
    shown = run("[\n" + json.dumps(REPORT) + end)
    assert shown.exit_code == 1
    assert shown.stdout.splitlines()[0].startswith(f"line {line}: error /1 not_json: ")
    assert words in shown.stdout
    assert shown.stdout.splitlines()[1:] == ["2 messages: 1 valid, 1 invalid, 1 error"]


def test_a_log_for_programs() -> None:
    document = json.loads(run(LOG, "--json").stdout)
    assert (document["ok"], document["mode"]) == (False, "strict")
    told = [(each["line"], each["path"], each["ok"], len(each["errors"])) for each in document["messages"]]
    assert told == [(1, "", True, 0), (2, "", False, 4), (4, "", False, 1), (5, "", True, 0)]
    document = json.loads(run(json.dumps([REPORT, WRONG]), "--json").stdout)
    assert [(each["line"], each["path"]) for each in document["messages"]] == [(1, "/0"), (1, "/1")]


def test_a_list_of_nothing_is_no_valid_log() -> None:
    shown = run("[]")
    assert (shown.exit_code, shown.stdout) == (1, "0 messages: 0 valid, 0 invalid\n")


def test_one_message_over_several_lines_is_one_message() -> None:
    text = json.dumps({**REPORT, "content": {}}, indent=2)
    assert run(text).stdout == "valid\n"
    broken = run(text.replace(",", "", 1))
    assert broken.stdout.count("not_json") == 1
    assert "(line 3, column 3)" in broken.stdout


def test_lenient_repairs_each_message_of_a_log() -> None:
    loose = [{**REPORT, "timestamp": "2"}, {**PROPOSAL, "timestamp": 2.0}]
    for text in ("\n".join(map(json.dumps, loose)), json.dumps(loose)):
        shown = run(text, "--lenient")
        assert shown.exit_code == 0
        assert shown.stdout.splitlines()[-1] == "2 messages: 2 valid, 0 invalid, 2 warnings"
        repaired = [json.loads(line.partition(": ")[2]) for line in shown.stdout.splitlines() if line.endswith("}")]
        assert repaired == [REPORT, PROPOSAL]
