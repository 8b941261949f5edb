"""Transition tables: a machine's behaviour as rows that a person and a test can read.

Rule: a machine acts only by its rows. A step looks up the row of its event; an event without a row has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from msgspec import Struct

Action = TypeVar("Action", bound=Callable[..., object])


class Transition(Struct, frozen=True, kw_only=True):
    """One row of a table, in words."""

    machine: str
    """The machine's name: ``participant``, ``referee: one player``, ``player: one game``."""

    phase: str
    """The phase before; ``any`` if the phase does not matter."""

    event: str
    next: tuple[str, ...]
    """The phases that may follow. If the data decide there is more than one, and ``effects`` explains the choice."""

    effects: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[Action]):
    """One row together with the function that performs it."""

    phase: str
    event: str
    action: Action
    next: tuple[str, ...]
    effects: str


@dataclass(frozen=True, slots=True)
class TransitionTable(Generic[Action]):
    """The rows of one machine, found by phase and event."""

    machine: str
    rules: tuple[Rule[Action], ...]
    _found: Mapping[tuple[str, str], Action] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        found = {(rule.phase, rule.event): rule.action for rule in self.rules}
        if len(found) != len(self.rules):
            raise ValueError(f"{self.machine}: two rows for one phase and event")
        object.__setattr__(self, "_found", found)

    def action(self, phase: str, event: str) -> Action | None:
        """The action of the row for this phase and event; ``None`` if there is no row."""
        return self._found.get((phase, event))

    def transitions(self) -> Iterable[Transition]:
        """The rows in words, in the order of their declaration."""
        for rule in self.rules:
            yield Transition(
                machine=self.machine, phase=rule.phase, event=rule.event, next=rule.next, effects=rule.effects
            )
