"""Display names of the players of a match.

Rule: no two names in one match look alike, and no name equals the id of another seat, so that nobody, an undercover
least of all, can pass for another player.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from league_agents.games.entry import clean_text
from league_agents.kit.likeness import comparable
from league_agents.kit.printable import printable

LONGEST = 32


def free_name(wanted: str, agent_id: str, taken: Iterable[str]) -> str:
    """The wanted name, or a similar one that is free; the seat's id if ``wanted`` is empty.

    ``taken``: the names and the ids of the other seats.
    """
    line = printable(clean_text(wanted[: 4 * LONGEST]) or "", LONGEST)
    if not line or comparable(line) == comparable(agent_id):
        return agent_id
    others = {_read(name) for name in taken}
    if _read(line) not in others:
        return line
    return next(name for number in count(2) if _read(name := f"{line} ({number})") not in others)


def _read(name: str) -> str:
    return comparable(name) or name
