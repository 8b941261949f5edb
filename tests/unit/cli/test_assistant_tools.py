"""The tools of an assistant are the commands, whatever is added to them."""

from __future__ import annotations

import click
import jsonschema
import pytest

from league_agents.cli.assistant_tools import LEFT_OUT, OPTIONS_LEFT_OUT, READING, assistant_tools
from league_agents.cli.reference import commands
from league_agents.kit.errors import ConfigError

PLACES = {
    path.removeprefix("league-agents").strip(): command
    for path, command in commands()
    if not isinstance(command, click.Group)
}


def test_every_command_is_a_tool_or_says_why_not() -> None:
    tools = assistant_tools()
    assert {" ".join(tool.words) for tool in tools.values()} == set(PLACES) - set(LEFT_OUT)
    assert [name for name in (*READING, *LEFT_OUT, *OPTIONS_LEFT_OUT) if name not in PLACES] == []
    for place, hidden in OPTIONS_LEFT_OUT.items():
        assert hidden <= {each.name for each in PLACES[place].params}


def test_what_only_reads_has_no_option_that_names_a_file_to_write() -> None:
    for tool in assistant_tools(only_reading=True).values():
        assert {"out", "record", "journal", "output", "force", "timing"} & set(tool.parameters) == set(), tool.name


def test_every_schema_is_one_and_describes_the_options() -> None:
    for tool in assistant_tools().values():
        jsonschema.Draft202012Validator.check_schema(tool.schema)
        assert tool.description
        for name, each in tool.parameters.items():
            assert isinstance(each, click.Argument) or tool.schema["properties"][name]["description"]


def test_arguments_become_the_words_of_the_command() -> None:
    tools = assistant_tools()
    assert tools["run"].command_line({"single_game": True, "demo": False, "seed": 7, "player_a": "-x"}) == [
        *("run", "--single-game", "--seed=7", "--player-a=-x")
    ]
    assert tools["manage"].command_line({"order": "correct", "points": [3, 0.0], "about": "--why"}) == [
        *("manage", "--points", "3", "0", "--", "correct", "--why")
    ]
    assert tools["season"].schema["properties"]["teams"]["minimum"] == 3
    assert tools["manage"].schema["properties"]["points"]["maxItems"] == 2
    assert "pause" in tools["manage"].schema["properties"]["order"]["enum"]


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("run", {"single_game": "yes"}, "single_game: must be true or false, found 'yes'"),
        ("run", {"seed": ["1"]}, "seed: must be a text or a number, found list of 1"),
        ("run", {"watch": True}, "'watch': is no argument of run"),
        ("manage", {}, "order: is missing; manage needs it"),
        ("rules", {"name": "a\0b"}, "name: holds a character that no command line can hold"),
        ("rules", {"name": "a" * 20_001}, "name: has 20001 characters, at most 20000 are taken"),
        ("compare", {"specs": ["offline"] * 1_001}, "specs: has 1001 values, at most 1000 are taken"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_line(tool: str, arguments: dict[str, object], line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        assistant_tools()[tool].command_line(arguments)
    assert str(refused.value).startswith(line)
