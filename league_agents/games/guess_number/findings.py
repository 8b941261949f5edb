"""Errors and warnings found in a message.

Rule: one check finds all of them, in an order that depends on the message alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

from league_agents.games.game import JsonObject
from league_agents.kit.errors import shortened
from league_agents.kit.printable import printable

MOST_FINDINGS = 200
"""Limit for the errors, and for the warnings, kept of one message: without it, a list of thousands of wrong numbers
would cause an answer a hundred times its size."""


class MessageFinding(Struct, frozen=True, kw_only=True):
    """One error or one warning."""

    path: str
    """JSON Pointer into the message; ``""`` is the message itself."""

    code: str
    message: str

    def as_json(self) -> dict[str, str]:
        return {"path": self.path, "code": self.code, "message": self.message}


class MessageReport(Struct, frozen=True, kw_only=True):
    """Result of checking one message."""

    errors: tuple[MessageFinding, ...]
    """By path, then code."""

    warnings: tuple[MessageFinding, ...]
    """By path, then code."""

    message: JsonObject | None
    """The message with its texts in normal form C and, in lenient mode, repaired. ``None`` when no JSON object could be
    read."""

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not self.errors


@dataclass(slots=True)
class Findings:
    """Collects errors and warnings."""

    errors: list[MessageFinding] = field(default_factory=list)
    warnings: list[MessageFinding] = field(default_factory=list)

    def error(self, path: str, code: str, message: str) -> None:
        self.errors.append(MessageFinding(path=path, code=code, message=message))

    def warn(self, path: str, code: str, message: str) -> None:
        self.warnings.append(MessageFinding(path=path, code=code, message=message))

    def report(self, message: JsonObject | None) -> MessageReport:
        return MessageReport(errors=_ordered(self.errors), warnings=_ordered(self.warnings), message=message)


def below(path: str, key: str | int) -> str:
    """Return the JSON Pointer of the value under a key."""
    name = str(key)
    if not (name.isascii() and name.isprintable()):
        name = printable(name)
    return f"{path}/{shortened(name, 80).replace('~', '~0').replace('/', '~1')}"


def _ordered(found: list[MessageFinding]) -> tuple[MessageFinding, ...]:
    if len(found) < 2:
        return tuple(found)
    return tuple(sorted(found, key=lambda each: (each.path, each.code, each.message))[:MOST_FINDINGS])
