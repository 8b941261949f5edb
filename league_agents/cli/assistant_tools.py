"""The commands as tools of an assistant, derived from their declarations: name, description, JSON Schema, arguments.

Rule 1: every command is a tool unless ``LEFT_OUT`` names it with a reason, and every tool changes things unless
``READING`` names it.
Rule 2: a tool takes what its command takes and checks only the shape of it; the command itself refuses the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from league_agents.cli import PROGRAM
from league_agents.cli.reference import commands
from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown

LONGEST_VALUE = 20_000
"""Characters of one value."""

MOST_VALUES = 1_000
"""Values of one list."""

READING = frozenset(
    {
        *(f"show {name}" for name in ("disputes", "log", "match", "matches", "schedule", "standings", "teams")),
        *("status", "auth status", "config providers", "costs", "rules", "validate guess-number"),
        *(f"corpus {name}" for name in ("list", "search", "show", "stats")),
        *(f"arena {name}" for name in ("games", "protocols", "redact", "seat look")),
        *("journal check", "journal stats"),
    }
)
"""The commands that change nothing and load no class of the user's own, whatever their options."""

_ENDLESS, _PERSON, _PAGE = "runs until it is stopped", "needs a person", "is for a shell"

LEFT_OUT: Mapping[str, str] = {
    "a2a serve": _ENDLESS,
    "arena join": "waits for as long as the others at the table take",
    "arena mail-host": _ENDLESS,
    "arena mail-seat": _ENDLESS,
    "arena serve": _ENDLESS,
    "auth login": _PERSON,
    "completion": _PAGE,
    "dashboard": _ENDLESS,
    "manual": _PAGE,
    "mcp": _ENDLESS,
    "sandbox": _ENDLESS,
}
"""Command -> why it is no tool."""

OPTIONS_LEFT_OUT: Mapping[str, frozenset[str]] = {"run": frozenset({"watch", "once_quiet", "poll_interval"})}
"""Options that make a command run until it is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTool:
    """A command as a tool."""

    name: str
    words: tuple[str, ...]
    """The command on the command line, without the program's name."""

    description: str
    is_reading: bool
    parameters: Mapping[str, click.Parameter]
    """By the name of the tool's argument."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        needed = [name for name, each in self.parameters.items() if each.required]
        return {
            "type": "object",
            "properties": {name: _property(each) for name, each in self.parameters.items()},
            **({"required": needed} if needed else {}),
            "additionalProperties": False,
        }

    def command_line(self, arguments: Mapping[str, object]) -> list[str]:
        """The words of the command with these arguments. Raises ``ConfigError``."""
        for name in arguments:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise ConfigError(shown(name), f"is no argument of {self.name}; it has {known}")
        options, positional = [], []
        for name, parameter in self.parameters.items():
            value = arguments.get(name)
            if value is None:
                if parameter.required:
                    raise ConfigError(name, f"is missing; {self.name} needs it")
            elif isinstance(parameter, click.Option):
                options += _option_words(name, parameter, value)
            else:
                positional += _words(name, value, is_list=parameter.nargs != 1)
        return [*self.words, *options, *(["--", *positional] if positional else [])]


def assistant_tools(*, only_reading: bool = False) -> dict[str, AssistantTool]:
    """Every tool by its name, in the order of the help."""
    tools: dict[str, AssistantTool] = {}
    for path, command in commands():
        place = path.removeprefix(PROGRAM).strip()
        if isinstance(command, click.Group) or place in LEFT_OUT or (only_reading and place not in READING):
            continue
        hidden = OPTIONS_LEFT_OUT.get(place, frozenset())
        tool = AssistantTool(
            name=place.replace(" ", "_").replace("-", "_"),
            words=tuple(place.split()),
            description=_description(command),
            is_reading=place in READING,
            parameters={_name(each): each for each in command.params if each.name not in hidden},
        )
        tools[tool.name] = tool
    return tools


def _description(command: click.Command) -> str:
    paragraphs = [part for part in (command.help or "").split("\n\n") if not part.startswith("\b")]
    return "\n\n".join(" ".join(part.split()) for part in paragraphs)


def _name(parameter: click.Parameter) -> str:
    """``player_a`` for ``--player-a``, ``game_id`` for an argument."""
    word = max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.name or ""
    return word.lstrip("-").replace("-", "_")


def _property(parameter: click.Parameter) -> dict[str, Any]:
    single = _type(parameter)
    is_many = parameter.nargs != 1 or getattr(parameter, "multiple", False)
    found: dict[str, Any] = {"type": "array", "items": single} if is_many else single
    if is_many and parameter.nargs > 1:
        found |= {"minItems": parameter.nargs, "maxItems": parameter.nargs}
    record = parameter.get_help_record(click.Context(click.Command("")))
    said = record[1] if record is not None else ""
    return {**found, "description": said} if said else found


def _type(parameter: click.Parameter) -> dict[str, Any]:
    kind = parameter.type
    if isinstance(kind, click.Tuple):
        kind = kind.types[0]
    if isinstance(kind, click.Choice):
        return {"type": "string", "enum": list(kind.choices)}
    if getattr(parameter, "is_flag", False):
        return {"type": "boolean"}
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        bounds = {"minimum": getattr(kind, "min", None), "maximum": getattr(kind, "max", None)}
        whole = isinstance(kind, click.types.IntParamType)
        found = {name: bound for name, bound in bounds.items() if bound is not None}
        return {"type": "integer" if whole else "number", **found}
    return {"type": "string"}


def _option_words(name: str, option: click.Option, value: object) -> list[str]:
    word = max(option.opts, key=len)
    if option.is_flag:
        if not isinstance(value, bool):
            raise ConfigError(name, f"must be true or false, found {shown(value)}")
        if value:
            return [word]
        return [max(option.secondary_opts, key=len)] if option.secondary_opts else []
    values = _words(name, value, is_list=option.multiple or option.nargs != 1)
    if option.nargs != 1:
        return [word, *values]
    return [f"{word}={each}" for each in values]


def _words(name: str, value: object, *, is_list: bool) -> list[str]:
    """A value, or the values of a list, as words."""
    values = value if isinstance(value, list) and is_list else [value]
    if len(values) > MOST_VALUES:
        raise ConfigError(name, f"has {len(values)} values, at most {MOST_VALUES} are taken")
    return [_word(name, each) for each in values]


def _word(name: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ConfigError(name, f"must be a text or a number, found {shown(value)}")
    word = str(int(value) if isinstance(value, float) and value.is_integer() else value)
    if len(word) > LONGEST_VALUE:
        raise ConfigError(name, f"has {len(word)} characters, at most {LONGEST_VALUE} are taken")
    if "\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
        raise ConfigError(name, "holds a character that no command line can hold")
    return word
