"""Many messages in one text: JSON Lines, or one JSON array.

Rule: a text is split here and judged elsewhere. A message that cannot be read costs no other one, as far as the text
shows where the next one begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from msgspec import Struct

from league_agents.games.guess_number.findings import MessageFinding

_SPACE = re.compile(r"[ \t\r\n]*")


class LogEntry(Struct, frozen=True, kw_only=True):
    """One message of a log."""

    line: int
    """Of the text, from 1: where the message begins."""

    path: str
    """JSON Pointer to it, ``/3`` in an array; ``""`` where each line is a document of its own."""

    text: str
    fault: MessageFinding | None = None
    """Why the text ends here; ``None`` for a message."""


def entries_of(text: str, *, is_lenient: bool = False) -> list[LogEntry] | None:
    """The messages of a log; ``None`` for a text that is one message, or nothing of the kind.

    With ``is_lenient`` the text may be prose around one message, so a log must be nothing but messages.
    """
    start = _SPACE.match(text).end()  # type: ignore[union-attr]  # it matches anywhere
    if text.startswith("[", start):
        found = list(_elements(text, start + 1))
        return None if is_lenient and any(each.fault for each in found) else found
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) < 2 or not lines[0][1].lstrip().startswith("{") or _is_object(text):
        return None
    if is_lenient and not all(line.lstrip().startswith("{") for _, line in lines):
        return None
    # One message over several lines has an error somewhere; none of its lines is an object by itself.
    if not any(_is_object(line) for _, line in lines):
        return None
    return [LogEntry(line=number, path="", text=line.strip()) for number, line in lines]


def _elements(text: str, at: int) -> Iterator[LogEntry]:
    decoder = json.JSONDecoder()
    place = 0

    def entry(at: int, *, end: int = 0, fault: str = "") -> LogEntry:
        finding = (
            MessageFinding(path="", code="not_json", message=f"{fault}; what follows is not read") if fault else None
        )
        line = text.count("\n", 0, at) + 1
        return LogEntry(line=line, path=f"/{place}", text=text[at:end], fault=finding)

    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if place == 0 and text.startswith("]", at):
            break
        try:
            end = decoder.raw_decode(text, at)[1]
        except json.JSONDecodeError as error:
            yield entry(error.pos, fault=f"is not JSON: {error.msg} (column {error.colno})")
            return
        except (ValueError, RecursionError):
            yield entry(at, fault="is not JSON: it is too deep, or holds a number that is too long")
            return
        yield entry(at, end=end)
        place += 1
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]
        if text.startswith("]", at):
            break
        if not text.startswith(",", at):
            yield entry(at, fault="is not JSON: a comma or the end of the list is missing")
            return
        at += 1
    rest = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]
    if rest < len(text):
        yield entry(rest, fault="stands after the end of the list")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
