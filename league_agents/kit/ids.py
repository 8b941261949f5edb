"""Identifiers: the digits of a game id, and new ids that a replay derives again.

Rule: no id is drawn from a clock or from the operating system. A new id is derived from the seed of the machine that
needs it and from the thing that it identifies, so that a step that is run again after a crash gives the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from typing import NewType

GameId = NewType("GameId", str)
"""Seven digits ``SSRRGGG``: season, round, game within the round (protocol 1.2)."""

_GAME_ID = re.compile(r"[0-9]{7}", re.ASCII)
_TRAILING_GAME_ID = re.compile(r"([0-9]{7})\s*\Z", re.ASCII)


def game_id(season: int, round_number: int, game: int) -> GameId:
    """The id of a game. Raises ``ValueError`` when a part does not fit its digits."""
    if not (0 <= season <= 99 and 1 <= round_number <= 99 and 1 <= game <= 999):
        raise ValueError(f"no game id for season {season}, round {round_number}, game {game}")
    return GameId(f"{season:02d}{round_number:02d}{game:03d}")


def read_game_id(text: object) -> GameId | None:
    """The last seven digits of ``text``; ``None`` if it does not end in seven. Training games carry a prefix
    (protocol 1.2)."""
    if not isinstance(text, str) or len(text) > 200:
        return None
    found = _TRAILING_GAME_ID.search(text)
    return GameId(found.group(1)) if found else None


def is_game_id(text: object) -> bool:
    """Whether ``text`` is exactly seven ASCII digits."""
    return isinstance(text, str) and _GAME_ID.fullmatch(text) is not None


def round_of(game: GameId) -> int:
    """The round that a game belongs to."""
    return int(game[2:4])


def derive_hex(seed: str, *parts: object, digits: int = 8) -> str:
    """``digits`` lower-case hex digits that depend on the seed and the parts only (SHA-256)."""
    text = "\x1f".join((seed, *map(str, parts)))
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def derive_uuid(seed: str, *parts: object) -> str:
    """A string in UUID form that depends on the seed and the parts only."""
    text = derive_hex(seed, *parts, digits=32)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"
