"""How a person plays a game and watches one, in lines of text.

Rule: a game says here what a person reads and what a typed line means; who shows and who reads lines is elsewhere.
Whatever agents wrote is made printable by those who show it.
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
    """The person at the terminal, or whoever watches there."""

    viewer: str = HOST
    """The seat that the person plays; ``HOST``: it watches and sees everything."""

    lang: str = "en"
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Agent id to name, for those who have one."""

    @property
    def sees_all(self) -> bool:
        return self.viewer == HOST

    def called(self, agent_id: str) -> str:
        """What an agent is called."""
        return self.names.get(agent_id, agent_id)

    @property
    def me(self) -> str:
        """What the person is called."""
        return self.called(self.viewer)


class Unclear(ValueError):
    """The typed line is no answer; the message says what to write."""


class ByPerson(Protocol):
    """A module ``games.CODE.person``."""

    def told(self, event: Event, reader: Reader) -> Sequence[str]:
        """The lines of an event for somebody who may see it; none for what another event says better."""
        ...

    def shown(self, view: View, legal: Sequence[LegalAction], reader: Reader) -> Sequence[str]:
        """What the person looks at before it answers."""
        ...

    def prompt(self, view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader) -> str:
        """What is asked, in one line that says how to answer. ``advice`` is what the scripted player would do."""
        ...

    def list_of(self, advice: Action) -> Sequence[str] | None:
        """``advice`` as the lines that ``read`` takes, where an answer is a list of lines; ``None`` where it is one."""
        ...

    def read(
        self, lines: Sequence[str], view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader
    ) -> Action:
        """What the typed lines mean. Raises ``Unclear``."""
        ...


def number_and_words(typed: str) -> tuple[int, str] | None:
    """``3``, ``3 because``, ``3: because``; ``None`` for a line that begins with no number."""
    found = _NUMBER_AND_WORDS.fullmatch(typed)
    return None if found is None else (int(found[1]), (found[2] or "").strip())
