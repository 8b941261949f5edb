"""A person at a terminal: told what happens, asked for what is legal, field by field.

Rule 1: a person may mistype. What a field's schema refuses is asked again at once and costs nothing.
Rule 2: texts of others are shown in one line each, without anything that a terminal would obey.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from itertools import islice
from typing import Any

from league_agents.arena.agents.port import View
from league_agents.core.game import Action, Event, JsonObject, LegalAction
from league_agents.core.printable import printable

_HIDDEN = ("rules_text", "refusal", "agent_id", "game", "memory")
_LONGEST_LINE = 500
_MOST_LINES = 150
"""Of a state: the newest stand last in each list, and the questions of Q21 take eighty."""

_DEEPEST = 5


class HumanAgent:
    """Reads with ``ask`` and shows with ``show``."""

    def __init__(
        self,
        *,
        ask: Callable[[str], str],
        show: Callable[[str], None],
        turn: AbstractContextManager[object] = nullcontext(),  # noqa: B008  # it holds nothing
    ) -> None:
        """``ask`` shows a question and gives one typed line; it raises ``EOFError`` when there is no more.

        ``turn`` is a lock that all persons at one terminal share: each is asked to the end before the next one.
        """
        self._ask = ask
        self._show = show
        self._turn = turn
        self._has_seen_rules = False

    def reset(self) -> None:
        """A new match: the rules are shown again."""
        self._has_seen_rules = False

    def observe(self, event: Event) -> None:
        if event.text:
            self._show(f"  {printable(event.text, _LONGEST_LINE)}")

    def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        """Ask until the answer fits. Raises ``EOFError`` when nobody is there any more."""
        with self._turn:
            return self._asked(view, legal, deadline)

    def _asked(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        if not self._has_seen_rules:
            self._has_seen_rules = True
            self._show(printable(str(view.get("rules_text", "")), 4000))
        self._show("")
        if "agent_id" in view:
            self._show(f"You are {printable(str(view['agent_id']), 64)}.")
        told = {key: value for key, value in view.items() if key not in _HIDDEN}
        lines = list(islice(_lines_of(told, 1), _MOST_LINES + 1))
        for line in lines[:_MOST_LINES]:
            self._show(line)
        if len(lines) > _MOST_LINES:
            self._show("  …")
        refusal = view.get("refusal")
        if isinstance(refusal, Mapping):
            said = printable(str(refusal.get("message")), _LONGEST_LINE)
            self._show(f"  Not accepted: {said} ({refusal.get('attempts_left')} attempts left)")
        if deadline is not None:
            self._show(f"  until {deadline.astimezone():%H:%M:%S}")
        chosen = self._choose(legal)
        return Action(type=chosen.type, data=self._fill(chosen.schema, ""))

    def _choose(self, legal: Sequence[LegalAction]) -> LegalAction:
        if len(legal) == 1:
            return legal[0]
        names = [each.type for each in legal]
        while True:
            typed = self._ask(f"What do you do ({' / '.join(names)})? ").strip()
            fitting = [each for each in legal if each.type == typed] or [
                each for each in legal if typed and each.type.startswith(typed)
            ]
            if len(fitting) == 1:
                return fitting[0]
            self._show(f"  Write one of {', '.join(names)}.")

    def _fill(self, schema: JsonObject, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        required = schema.get("required", ())
        for name, inner in schema.get("properties", {}).items():
            value = self._value(inner, f"{path}{name}", is_needed=name in required)
            if value is not _LEFT_OUT:
                found[name] = value
        return found

    def _value(self, schema: JsonObject, path: str, *, is_needed: bool) -> Any:
        if "const" in schema:
            return schema["const"]
        if schema.get("type") == "object":
            return self._fill(schema, f"{path}.")
        if schema.get("type") == "array":
            places = schema.get("prefixItems", ())
            return [self._value(inner, f"{path} {i}", is_needed=True) for i, inner in enumerate(places, start=1)]
        while True:
            typed = self._ask(f"{path}{_wanted(schema, is_needed=is_needed)}: ")
            if not typed.strip() and not is_needed:
                return _LEFT_OUT
            try:
                return parse_field(schema, typed)
            except ValueError as error:
                self._show(f"  {error}")


def _lines_of(value: Mapping[str, Any], depth: int) -> Iterator[str]:
    """A state for people: one line for each value that is short, one for each item of a longer list."""
    start = "  " * depth
    for key, inner in value.items():
        if inner in (None, [], {}, ""):
            continue
        is_list_of_objects = isinstance(inner, list) and isinstance(inner[0], Mapping)
        if is_list_of_objects:
            yield f"{start}{printable(str(key), 80)}:"
            for item in inner:
                yield f"{start}  - {_on_one_line(item)}"
        elif isinstance(inner, Mapping) and depth < _DEEPEST and any(map(_is_long, inner.values())):
            yield f"{start}{printable(str(key), 80)}:"
            yield from _lines_of(inner, depth + 1)
        else:
            yield f"{start}{printable(str(key), 80)}: {_on_one_line(inner)}"


def _is_long(value: object) -> bool:
    return isinstance(value, Mapping | list) and bool(value)


def _on_one_line(value: object) -> str:
    if isinstance(value, Mapping):
        told = [f"{key} {_plain(inner)}" for key, inner in value.items() if inner not in (None, [], {}, "")]
        return printable(", ".join(told), _LONGEST_LINE)
    return printable(_plain(value), _LONGEST_LINE)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_LEFT_OUT = object()


def parse_field(schema: JsonObject, typed: str) -> Any:
    """What a typed line means for a field. Raises ``ValueError`` that says what is wanted."""
    text = typed.strip()
    if "enum" in schema:
        for choice in schema["enum"]:
            if text == _shown(choice):
                return choice
        raise ValueError(f"Write one of {', '.join(map(_shown, schema['enum']))}.")
    for inner in schema.get("anyOf", schema.get("oneOf", ())):
        try:
            return parse_field(inner, typed)
        except ValueError:
            continue
    named = schema.get("type", "string")
    kinds = [named] if isinstance(named, str) else list(named)
    if "null" in kinds and text in ("", _shown(None)):
        return None
    if "boolean" in kinds and text.lower() in ("y", "yes", "n", "no", "true", "false"):
        return text.lower() in ("y", "yes", "true")
    if "integer" in kinds or "number" in kinds:
        return _number(schema, text, is_whole="number" not in kinds)
    if "string" not in kinds:
        raise ValueError(f"Write {' or '.join(kinds)}.")
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if len(text) < least:
        raise ValueError(f"Write at least {least} characters.")
    if most is not None and len(text) > most:
        raise ValueError(f"Write at most {most} characters; these are {len(text)}.")
    return text


def _number(schema: JsonObject, text: str, *, is_whole: bool) -> int | float:
    least, most = schema.get("minimum"), schema.get("maximum")
    try:
        number: int | float = int(text) if is_whole or text.lstrip("+-").isdecimal() else float(text)
    except (ValueError, OverflowError):
        raise ValueError(f"Write a {'whole ' if is_whole else ''}number{_range(least, most)}.") from None
    if number != number or (least is not None and number < least) or (most is not None and number > most):
        raise ValueError(f"Write a number{_range(least, most)}.")
    return number


def _range(least: object, most: object) -> str:
    if least is not None and most is not None:
        return f" from {least} to {most}"
    return f" of {least} or more" if least is not None else f" of {most} or less" if most is not None else ""


def _wanted(schema: JsonObject, *, is_needed: bool) -> str:
    parts = []
    if "enum" in schema:
        parts.append(" / ".join(map(_shown, schema["enum"])))
    elif "minimum" in schema and "maximum" in schema:
        parts.append(f"{schema['minimum']} to {schema['maximum']}")
    elif "maxLength" in schema:
        parts.append(f"at most {schema['maxLength']} characters")
    if not is_needed:
        parts.append("may be empty")
    return f" ({', '.join(parts)})" if parts else ""


def _shown(value: object) -> str:
    return "none" if value is None else str(value)
