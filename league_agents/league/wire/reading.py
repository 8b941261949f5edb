"""Single untrusted JSON values, read with forgiveness and with bounds.

Rule 1: readers raise nothing, except where documented; an unreadable value is ``None``, which the caller interprets.
Rule 2: a boolean is not a number, and ``NaN`` and infinity are no values at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import ValidationError

from league_agents.kit.violation import Violation, shown
from league_agents.league.wire.payload import BrokenPayload

Fields = Mapping[str, object]
"""A JSON object from outside."""

LONGEST_TEXT = 20_000
"""Characters of a free text; the rest is cut off."""

LONGEST_ID = 200
"""Characters of an id or a name; a longer one counts as absent."""

MOST_ITEMS = 1_000
"""Items of a list; a longer one makes the payload unusable."""

MOST_LEVELS = 32
MOST_VALUES = 5_000
"""The largest number of values in a payload of unknown shape."""

NOT_CANONICAL = (ValidationError, ValueError, OverflowError, RecursionError)
"""What ``msgspec.convert`` raises for a value of another spelling; ``ValueError`` for half of a surrogate pair."""

LARGEST_NUMBER = 1_000_000_000
"""The largest magnitude of a number; a larger one counts as absent."""

_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,12}\s*", re.ASCII)
_DECIMAL = re.compile(r"\s*[+-]?(?:[0-9]{1,15}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})\s*", re.ASCII)
_INSTANT = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}[Tt ][0-9:.,]{2,25}(?:[Zz]|[+-][0-9:]{2,8})?", re.ASCII)

_CANONICAL = len("2031-05-02T08:00:00.000000+00:00")
"""The length of an instant as this program writes it. No other readable form has this length and these separators."""


def broken(path: str, rule: str, found: object) -> BrokenPayload:
    """A payload that cannot be used for one reason."""
    return BrokenPayload(violations=(Violation(path=path, rule=rule, found=shown(found)),))


def clean(text: str) -> str:
    """``text`` without lone surrogates, which JSON can spell and UTF-8 cannot."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def text_of(value: object) -> str | None:
    """A free text, cut to ``LONGEST_TEXT``. Numbers are read as their digits (protocol 4.4.2)."""
    # Nearly every value is a short ASCII text, and there are a hundred of them in a batch of questions.
    if type(value) is str and len(value) <= LONGEST_TEXT and value.isascii():
        return value
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            value = value[:LONGEST_TEXT]
        return value if value.isascii() else clean(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float):
        return str(value) if math.isfinite(value) else None
    return str(value) if abs(value) < 10**18 else None


def id_of(value: object) -> str | None:
    """An id, an address or a short name: one line, trimmed, not empty, without invisible characters."""
    if value is None:
        return None
    if type(value) is str and is_id(value):
        return value
    if not isinstance(value, str):
        value = text_of(value)
        if value is None:
            return None
    if len(value) > 2 * LONGEST_ID:
        return None
    value = value.strip()
    if not value.isprintable():
        value = "".join(character for character in value if character.isprintable()).strip()
    return value if 0 < len(value) <= LONGEST_ID else None


def is_id(text: str) -> bool:
    """Whether a text is an id as it stands: of all white space only the plain space is printable."""
    return 0 < len(text) <= LONGEST_ID and text.isprintable() and text[0] != " " != text[-1]


def integer_of(value: object, least: int = -LARGEST_NUMBER, most: int = LARGEST_NUMBER) -> int | None:
    """A whole number from ``least`` to ``most``; ``"3"`` and ``3.0`` are 3."""
    if type(value) is int:
        return value if least <= value <= most else None
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        if not (math.isfinite(value) and value.is_integer()):
            return None
        value = int(value)
    elif isinstance(value, str):
        if len(value) > 40 or _WHOLE.fullmatch(value) is None:
            return None
        value = int(value)
    if not isinstance(value, int):
        return None
    return value if least <= value <= most else None


def number_of(
    value: object, least: float = -float(LARGEST_NUMBER), most: float = float(LARGEST_NUMBER)
) -> float | None:
    """A finite number from ``least`` to ``most``; ``"78.5"`` is 78.5."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if len(value) > 60 or _DECIMAL.fullmatch(value) is None:
            return None
        value = float(value)
    if not isinstance(value, (int, float)):
        return None
    # The comparison is false for NaN, and is done before float() could overflow on a huge whole number.
    return float(value) if least <= value <= most else None


def flag_of(value: object) -> bool | None:
    """A boolean; ``"true"`` and ``"false"`` in any letter case are accepted."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= 10:
        return {"true": True, "false": False}.get(value.strip().lower())
    return None


def instant_of(value: object) -> datetime | None:
    """An instant in UTC (protocol 3.3); without an offset it is UTC already. ``""`` and dates alone are ``None``."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    if len(value) == _CANONICAL and value[7] == "-" and value[10] == "T" and value.endswith("+00:00"):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    value = value.strip()
    if _INSTANT.fullmatch(value) is None:
        return None
    try:
        instant = datetime.fromisoformat(value.upper())
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def list_of(value: object, most: int = MOST_ITEMS) -> Sequence[object] | None:
    """A JSON array of at most ``most`` items."""
    return value if isinstance(value, (list, tuple)) and len(value) <= most else None


def object_of(value: object) -> Fields | None:
    """A JSON object."""
    return value if isinstance(value, dict) else None


def first_of(fields: Fields, *keys: str) -> object:
    """The value of the first key that is present and not ``None``."""
    for key in keys:
        value = fields.get(key)
        if value is not None:
            return value
    return None


def first_text(fields: Fields, *keys: str) -> str | None:
    """The first readable text that is not blank; a blank one when there is no other."""
    blank: str | None = None
    for key in keys:
        value = text_of(fields.get(key))
        if value is not None:
            if value.strip():
                return value
            blank = value if blank is None else blank
    return blank


def first_id(fields: Fields, *keys: str) -> str | None:
    """The first readable id."""
    for key in keys:
        value = id_of(fields.get(key))
        if value is not None:
            return value
    return None


def bounded_json(value: object) -> object:
    """A copy of a JSON value of any shape, bounded like everything else; ``NaN`` and infinity become ``None``.

    Raises ``ValueError`` that names the limit when it is too deep or has too many values.
    """
    budget = [MOST_VALUES]
    return _bounded(value, MOST_LEVELS, budget)


def _bounded(value: object, levels: int, budget: list[int]) -> object:
    budget[0] -= 1
    if budget[0] < 0:
        raise ValueError(f"at most {MOST_VALUES} values")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, (int, float)):
        return value if abs(value) < 10**18 else None
    if levels == 0:
        raise ValueError(f"at most {MOST_LEVELS} levels deep")
    if isinstance(value, dict):
        return {
            key if key.isascii() else clean(key): _bounded(item, levels - 1, budget)
            for key, item in value.items()
            if isinstance(key, str) and len(key) <= LONGEST_ID
        }
    if isinstance(value, (list, tuple)):
        return [_bounded(item, levels - 1, budget) for item in value]
    return None
