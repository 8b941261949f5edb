"""Which books an evaluation's targets come from: part of a title, or one part of a split.

Rule: a book's part of a split depends on its title alone, so that other books, machines and days do not move it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from league_agents.kit.errors import ConfigError
from league_agents.knowledge.titles import title_key

_SPLIT = re.compile(r"(\d{1,3})/(\d{1,3})")


def book_filter(wanted: str) -> Callable[[str], bool]:
    """Return a function from a title to whether it is wanted.

    ``1/2`` is the first half of all books; any other text is part of the title, ignoring case and accents. Raises
    ConfigError for a part that does not exist.
    """
    if split := _SPLIT.fullmatch(wanted.strip()):
        part, parts = int(split[1]), int(split[2])
        if not 1 <= part <= parts:
            raise ConfigError("--books", f"there is no part {part} of {parts}; write 1/{parts} to {parts}/{parts}")
        return lambda title: _number_of(title) % parts == part - 1
    key = title_key(wanted)
    if not key:
        raise ConfigError("--books", "names no book; give a part of a title, or a split such as 1/2")
    return lambda title: key in title_key(title)


def _number_of(title: str) -> int:
    return int.from_bytes(hashlib.sha256(title_key(title).encode()).digest()[:8], "big")
