"""A player's memory of its matches, for runners that leave parts of the context empty (protocol 6.2).

Rule: values in the context take precedence; memory only fills gaps, and forgets the oldest match first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from league_agents.agents.contexts import AskedQuestion, CallContext
from league_agents.games.q21.model import Brief

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_MATCHES_KEPT = 64
BRIEFS_KEPT = 12


@dataclass(frozen=True, slots=True)
class _Memory:
    """What this instance has seen of one match."""

    brief: Brief
    questions: tuple[AskedQuestion, ...]


class Memories:
    """The briefs and batches of the latest matches."""

    def __init__(self) -> None:
        self._matches: OrderedDict[str, _Memory] = OrderedDict()

    def keep(self, match_id: str, brief: Brief, questions: tuple[AskedQuestion, ...]) -> None:
        self._matches[match_id] = _Memory(brief, questions)
        self._matches.move_to_end(match_id)
        while len(self._matches) > _MATCHES_KEPT:
            self._matches.popitem(last=False)

    def forget(self, match_id: str) -> None:
        self._matches.pop(match_id, None)

    def recalled(self, context: CallContext) -> tuple[Brief, list[AskedQuestion]]:
        """Return the brief and the questions of the context's match; no questions if they are not known."""
        memory = self._matches.get(context.match_id())
        brief = context.brief()
        if memory is not None:
            brief = Brief(
                book_name=brief.book_name or memory.brief.book_name,
                book_hint=brief.book_hint or memory.brief.book_hint,
                association_domain=brief.association_domain or memory.brief.association_domain,
            )
        return brief, context.questions("questions_sent") or (list(memory.questions) if memory else [])


def kept(store: OrderedDict[K, T], key: K, make: Callable[[], T], most: int = BRIEFS_KEPT) -> T:
    """Return the entry of ``key``, or create it with ``make``; drop the oldest entries beyond ``most``."""
    if key not in store:
        store[key] = make()
        while len(store) > most:
            store.popitem(last=False)
    return store[key]
