"""Many messages in one text: JSON Lines, or one JSON array.

Rule: this module only splits a text; it judges no message. An unreadable message does not affect the others, as far as
the start of the next one can be found.
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
    """Line of the text on which the message begins, from 1."""

    path: str
    """JSON Pointer to the message, ``/3`` in an array; ``""`` if each line is a document of its own."""

    text: str
    fault: MessageFinding | None = None
    """Error at which reading stopped; ``None`` for a message."""


def entries_of(text: str, *, is_lenient: bool = False) -> list[LogEntry] | None:
    """Return the messages of a log; ``None`` for a text that is a single message or no message at all.

    With ``is_lenient`` the text may be prose around one message, so only a text that consists of messages is a log.
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
    # A single message over several lines contains an error; none of its lines is an object by itself.
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
