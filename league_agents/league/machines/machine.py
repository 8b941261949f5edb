"""What the runner needs to know of a role machine.

A machine is configuration plus a pure function. Its state is an immutable value made of named parts; a step replaces
only the parts that it changes, so the journal writes only those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

S = TypeVar("S")


class Machine(Protocol[S]):
    """One role. ``S`` is its state.

    Its events are those of ``events`` and what its mail is decoded to; its effects are those of ``effects`` and what
    its mail is encoded from.
    """

    @property
    def role(self) -> str:
        """``referee``, ``player``, ``manager``, or what the arena calls its own."""
        ...

    def initial(self) -> S:
        """The state before anything happened."""
        ...

    def step(self, state: S, event: Any, now: datetime) -> tuple[S, Sequence[Any]]:
        """The next state and what is to be done, in order.

        Raises ``RemoteProtocolError`` for a message that cannot be used; the state is then unchanged. Nothing else.
        """
        ...

    def parts(self, state: S, since: S | None = None) -> Mapping[str, object | None]:
        """The named parts of the state; with ``since``, an earlier state, only those that changed: ``None`` for one
        that is gone. A part that a step did not touch is the same object as before.
        """
        ...

    def dump_part(self, name: str, part: object) -> str:
        """One part as JSON text. ``load(…)`` of all dumped parts equals the state."""
        ...

    def load(self, parts: Mapping[str, str]) -> S:
        """The state that was dumped as ``parts``. Raises ``JournalError`` when a part cannot be read."""
        ...
