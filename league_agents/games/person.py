"""The interface for playing and watching a game as lines of text.

Rule: a game defines the lines to show and the meaning of a typed line; input and output happen elsewhere. The code that
shows lines makes agents' texts printable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from league_agents.games.game import HOST, Action, Event, LegalAction

View = Mapping[str, Any]

_NUMBER_AND_WORDS: Final = re.compile(r"\s*([+-]?\d{1,18})(?:[\s,:;.，：；。-]+(.*))?\s*", re.DOTALL)


class Reader(Struct, frozen=True, kw_only=True):
    """The person at the terminal, as a player or as a spectator."""

    viewer: str = HOST
    """The seat that the person plays; ``HOST``: the person watches and sees everything."""

    lang: str = "en"
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Agent id to name, for agents that have a name."""

    @property
    def sees_all(self) -> bool:
        return self.viewer == HOST

    def called(self, agent_id: str) -> str:
        """Return an agent's name."""
        return self.names.get(agent_id, agent_id)

    @property
    def me(self) -> str:
        """Return the person's name."""
        return self.called(self.viewer)


class Unclear(ValueError):
    """The typed line is not an answer; the message says what to write."""


class ByPerson(Protocol):
    """The interface of a module ``games.CODE.person``."""

    def told(self, event: Event, reader: Reader) -> Sequence[str]:
        """Return the lines of an event for a viewer who may see it; empty if another event already says it."""
        ...

    def shown(self, view: View, legal: Sequence[LegalAction], reader: Reader) -> Sequence[str]:
        """Return the lines that the person reads before answering."""
        ...

    def prompt(self, view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader) -> str:
        """Return the question, in one line that says how to answer. ``advice`` is the scripted player's action."""
        ...

    def list_of(self, advice: Action) -> Sequence[str] | None:
        """Return ``advice`` as the lines that ``read`` takes; ``None`` if an answer is a single line."""
        ...

    def read(
        self, lines: Sequence[str], view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader
    ) -> Action:
        """Return the action that the typed lines mean. Raises ``Unclear``."""
        ...


def number_and_words(typed: str) -> tuple[int, str] | None:
    """Parse ``3``, ``3 because`` or ``3: because``; ``None`` for a line that does not begin with a number."""
    found = _NUMBER_AND_WORDS.fullmatch(typed)
    return None if found is None else (int(found[1]), (found[2] or "").strip())
