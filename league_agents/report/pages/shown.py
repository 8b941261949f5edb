"""Display texts and file names of pages.

Rule 1: a text that came by mail is one line of visible characters, without tokens, and a mail address is shown by its
part before the @ only, because pages are published. Templates escape it; nothing here is markup.
Rule 2: a file name consists of letters, digits, ``-``, ``_`` and one ``.``; for an id with other characters it is the
id's digest.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from functools import lru_cache

from league_agents.kit.printable import of
from league_agents.report.secret_texts import SecretTexts

LONGEST_TEXT = 6000
"""Characters of one text. The longest that the rules allow are shorter."""

LONGEST_NAME = 80

_ADDRESS = re.compile(r"([\w.+-]{1,64})@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_SAFE_KEY = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_-]{0,63}/)?[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_HIDE = SecretTexts().hide


def shown(value: object, most: int = LONGEST_TEXT) -> str:
    """A value from a record as text for a page; ``""`` for ``None`` and for anything nested."""
    return _ADDRESS.sub(r"\1", _HIDE(of(value, most)))


@lru_cache(maxsize=50_000)
def label(text: str, most: int = LONGEST_NAME) -> str:
    """An id, a name or a state as text for a page; cached, as they recur."""
    return shown(text, most)


def name_shown(display_name: str, participant_id: str) -> str:
    """The display name of a team or a player."""
    return label(display_name) or label(participant_id) or "?"


def in_division(division: str, identity: str) -> str:
    """The key of a match or a team in a season with divisions, which may use the same ids."""
    return f"{division}/{identity}" if division else identity


@lru_cache(maxsize=50_000)
def file_name(kind: str, key: str) -> str:
    """The path of the page of a match or a team, relative to the season's page: ``matches/0101001.html``."""
    if _SAFE_KEY.fullmatch(key):
        return f"{kind}/{key.replace('/', '.')}.html"
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{kind}/x-{digest}.html"


def instant(value: datetime | None) -> str:
    """``2026-03-01 09:00:00 UTC``, or a dash."""
    return f"{value:%Y-%m-%d %H:%M:%S} UTC" if value is not None else "–"


def number(value: object) -> str:
    """A count or a score without unnecessary digits; a dash for none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–"
    return f"{value:.1f}".removesuffix(".0") if abs(value) < 1e15 else "–"


def whole(value: float) -> str:
    """A rating: ``−120``, with the sign that is as wide as a plus."""
    return f"{round(value)}".replace("-", "−")


def seconds(value: float) -> str:
    """A duration: ``45 s``, ``12 min``, ``3.5 h``."""
    if value < 120:
        return f"{number(value)} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"
