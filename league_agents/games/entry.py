"""Checks that all games share: agent ids, and texts and numbers of actions (arena 1.4, 1.6).

Rule: a check returns the accepted value or adds to the list of faults; it makes no repair that changes the meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from league_agents.games.game import HOST, SPECTATOR, IllegalAction
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.printable import printable
from league_agents.kit.violation import shown

RESERVED_IDS = frozenset({HOST, "env", "market", SPECTATOR, "all"})

_AGENT_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_NOT_ALLOWED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def is_agent_id(text: object) -> bool:
    """Whether the text is a valid agent id: alphabet, length, and not a reserved name."""
    return (
        isinstance(text, str)
        and _AGENT_ID.fullmatch(text) is not None
        and text not in RESERVED_IDS
        and not text.startswith("spectator-")
    )


def check_agent_ids(agent_ids: Sequence[str], least: int, most: int) -> tuple[str, ...]:
    """Return the ids unchanged. Raises ``ConfigError`` for a wrong number of ids, an invalid id, or a duplicate."""
    if isinstance(agent_ids, str) or not isinstance(agent_ids, Sequence):
        raise ConfigError("agents", f"must be a list of agent ids, found {shown(agent_ids)}")
    found = tuple(agent_ids)
    if not least <= len(found) <= most:
        raise ConfigError("agents", f"must be {least} to {most}, found {len(found)}")
    for place, agent_id in enumerate(found):
        if not is_agent_id(agent_id):
            raise ConfigError(
                f"agents[{place}]",
                f"{shortened(repr(agent_id), 80)} cannot name an agent; use 1 to 64 of A-Z a-z 0-9 _ . : - and none of "
                f"the reserved names ({', '.join(sorted(RESERVED_IDS))}, spectator-…)",
            )
        if agent_id in found[:place]:
            raise ConfigError(f"agents[{place}]", f"{agent_id} is there twice; give every agent a name of its own")
    return found


def clean_text(text: str) -> str | None:
    """Return the text in Unicode's normal form C; ``None`` if it has control characters other than newline and tab."""
    if _NOT_ALLOWED.search(text):
        return None
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@dataclass(slots=True)
class EntryReader:
    """Reads the data of one action and collects all faults."""

    data: Mapping[str, Any]
    errors: list[dict[str, str]] = field(default_factory=list)
    """``{"path", "code", "message"}``; the path is a JSON Pointer."""

    def integer(self, key: str, least: int | None = None, most: int | None = None) -> int | None:
        """Read an integer; truth values and floats are faults. A range fault has the code ``out_of_range``."""
        value = self.data.get(key, _MISSING)
        if value is _MISSING:
            self.fault(key, "missing_field", "is missing")
        elif type(value) is not int:
            self.fault(key, "wrong_type", "must be an integer")
        elif (least is not None and value < least) or (most is not None and value > most):
            self.fault(key, "out_of_range", f"must be {least} to {most}")
        else:
            return value
        return None

    def text(self, key: str, *, least: int = 0, most: int, default: str | None = None) -> str | None:
        """Read a text of ``least`` to ``most`` characters in normal form C; ``default`` makes it optional."""
        value = self.data.get(key, _MISSING)
        if value is _MISSING:
            if default is not None:
                return default
            self.fault(key, "missing_field", "is missing")
            return None
        if not isinstance(value, str):
            self.fault(key, "wrong_type", "must be a text")
            return None
        # Normalising takes time in proportion to the text, so a text that is far too long is refused first.
        cleaned = clean_text(value) if len(value) <= 4 * most + 64 else value
        if cleaned is None:
            self.fault(key, "control_character", "must not hold control characters")
        elif len(cleaned) > most:
            self.fault(key, "too_long", f"must have at most {most} characters")
        elif len(cleaned) < least:
            self.fault(key, "too_short", f"must have at least {least} characters")
        else:
            return cleaned
        return None

    def only(self, known: Collection[str]) -> None:
        """Add a fault for every key not in ``known``."""
        for key in self.data:
            if key not in known:
                self.fault(str(key), "unknown_field", f"is unknown; known: {', '.join(sorted(known)) or 'none'}")

    def fault(self, key: str, code: str, message: str) -> None:
        """Add a fault for a key."""
        pointer = "/" + shortened(key, 80).replace("~", "~0").replace("/", "~1")
        self.errors.append({"path": pointer, "code": code, "message": message})

    def done(self) -> None:
        """Raise ``IllegalAction`` (``invalid_data``) with all faults by path, if there are any."""
        if self.errors:
            found = sorted(self.errors, key=lambda error: (error["path"], error["code"]))
            first = found[0]
            # Keys come from peers, and the message must be a single line.
            message = printable(f"{first['path']} {first['message']}")
            raise IllegalAction("invalid_data", message, {"errors": [dict(error) for error in found]})


_MISSING = object()
