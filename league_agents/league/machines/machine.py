"""The interface between the runner and a role machine.

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

    Its events are those of ``events`` and the decoded mails; its effects are those of ``effects`` and the mails to
    encode.
    """

    @property
    def role(self) -> str:
        """``referee``, ``player``, ``manager``, or a name of the arena."""
        ...

    def initial(self) -> S:
        """The state before the first event."""
        ...

    def step(self, state: S, event: Any, now: datetime) -> tuple[S, Sequence[Any]]:
        """The next state and the effects, in order.

        Raises ``RemoteProtocolError`` for a message that cannot be used; the state is then unchanged. Nothing else.
        """
        ...

    def parts(self, state: S, since: S | None = None) -> Mapping[str, object | None]:
        """The named parts of the state; with ``since``, an earlier state, only the changed parts, and ``None`` for a
        removed one. A part that a step did not change is the same object as before.
        """
        ...

    def dump_part(self, name: str, part: object) -> str:
        """One part as JSON text. ``load(…)`` of all dumped parts equals the state."""
        ...

    def load(self, parts: Mapping[str, str]) -> S:
        """The state that was dumped as ``parts``. Raises ``JournalError`` when a part cannot be read."""
        ...
