"""Repairs of messages written by a language model (arena 2.1, lenient mode).

Rule: a repair changes the form of a message, never its meaning, and each repair is reported as a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from league_agents.games.guess_number.findings import Findings
from league_agents.games.guess_number.protocol import GUESS_NUMBER_PROTOCOL, MESSAGE_TYPES, STATE_REPORT

_FIELDS: Final = frozenset(
    name for each in GUESS_NUMBER_PROTOCOL.message_types for name in (*each.required, *each.optional)
)
_OPTIONAL: Final = ("content", "reasoning", "confidence", "rationale")
_DIGITS = re.compile(r"[0-9]{1,9}")
"""A longer number is out of range in every game."""


def chosen(objects: Sequence[dict[str, Any]], findings: Findings) -> dict[str, Any]:
    """Return the message among the objects of a text: the one with most of a message's fields; the last one if several
    have as many.

    Models repeat the example that they were shown first and answer last.
    """
    if len(objects) > 1:
        findings.warn("", "several_objects", f"holds {len(objects)} JSON objects; the one most like a message is taken")
    return max(reversed(objects), key=lambda found: (found.get("type") in MESSAGE_TYPES, len(_FIELDS & found.keys())))


def repaired(message: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """Return the message with its fields at the right place and its integers as integers."""
    made = dict(message)
    if "sender" not in made and "agent_id" in made:
        made["sender"] = made.pop("agent_id")
        findings.warn("/agent_id", "moved_field", "is read as /sender")
    for key in _OPTIONAL:
        if key in made and made[key] is None:
            del made[key]
            findings.warn(f"/{key}", "coerced", "is null and read as left out")
    content = made.get("content")
    if isinstance(content, Mapping):
        made["content"] = content = _content(content, findings)
        if made.get("type") == STATE_REPORT and "next_guess" not in made and "next_guess" in content:
            made["next_guess"] = content.pop("next_guess")
            findings.warn("/content/next_guess", "moved_field", "is read as /next_guess")
    for key in ("timestamp", "next_guess"):
        if key in made:
            made[key] = _integer(made[key], f"/{key}", findings)
    return made


def _content(content: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    made = dict(content)
    for key in ("current_guess", "next_guess"):
        if key in made:
            made[key] = _integer(made[key], f"/content/{key}", findings)
    history = made.get("guess_history")
    if isinstance(history, (list, tuple)):
        made["guess_history"] = [
            _integer(each, f"/content/guess_history/{place}", findings) for place, each in enumerate(history)
        ]
    return made


def _integer(value: Any, path: str, findings: Findings) -> Any:
    """Return the integer that a float or a text of digits represents; any other value unchanged, for the check to
    judge."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    if not is_whole and not (isinstance(value, str) and _DIGITS.fullmatch(value)):
        return value
    number = int(value)
    findings.warn(path, "coerced", f"is read as the integer {number}")
    return number
