"""What a text is said to have, before the question says which text: an amount of a thing, or several joined."""

from __future__ import annotations

from dataclasses import dataclass, replace

from league_agents.agents.questions.free.claims import All, Any, AskedClaim, Holds, Not, TextPart
from league_agents.agents.questions.free.counts import AT_LEAST_ONE, CountLimits
from league_agents.agents.questions.free.things import TextThing


class Held:
    """A claim that lacks its text."""

    __slots__ = ()

    def at(self, part: TextPart) -> AskedClaim:
        """Return the claim about this text."""
        raise NotImplementedError

    def amounting(self, amount: CountLimits) -> Held | None:
        """Return the same with another amount; ``None`` if it already has one."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class HeldThing(Held):
    """An amount of a thing."""

    thing: TextThing
    amount: CountLimits | None = None

    def at(self, part: TextPart) -> AskedClaim:
        return Holds(part, self.thing, self.amount or AT_LEAST_ONE)

    def amounting(self, amount: CountLimits) -> Held | None:
        return replace(self, amount=amount) if self.amount is None else None


@dataclass(frozen=True, slots=True)
class HeldAll(Held):
    """Both of two."""

    one: Held
    other: Held

    def at(self, part: TextPart) -> AskedClaim:
        return All((self.one.at(part), self.other.at(part)))

    def amounting(self, amount: CountLimits) -> Held | None:
        one, other = self.one.amounting(amount), self.other.amounting(amount)
        return HeldAll(one, other) if one and other else None


@dataclass(frozen=True, slots=True)
class HeldAny(Held):
    """One of two."""

    one: Held
    other: Held

    def at(self, part: TextPart) -> AskedClaim:
        return Any((self.one.at(part), self.other.at(part)))

    def amounting(self, amount: CountLimits) -> Held | None:
        one, other = self.one.amounting(amount), self.other.amounting(amount)
        return HeldAny(one, other) if one and other else None


@dataclass(frozen=True, slots=True)
class HeldNot(Held):
    """Not that."""

    held: Held

    def at(self, part: TextPart) -> AskedClaim:
        return Not(self.held.at(part))

    def amounting(self, amount: CountLimits) -> Held | None:
        return None


def any_of(one: Held, others: Held) -> Held | None:
    """Return one of these; ``None`` if the wording has two meanings: "A or B and C", "no A or B"."""
    return None if isinstance(others, HeldAll) or _is_none(one) else HeldAny(one, others)


def all_of(one: Held, others: Held) -> Held | None:
    """Return all of these; ``None`` if the wording has two meanings: "A and B or C", "no A and B"."""
    is_shared = _is_none(one) and isinstance(others, HeldThing) and others.amount is None
    return None if isinstance(others, HeldAny) or is_shared else HeldAll(one, others)


def without(part: TextPart, held: Held) -> AskedClaim | None:
    """Return the claim that a text has none of these; ``None`` for "without A and B": readers mean neither, the words
    say not both."""
    return None if isinstance(held, HeldAll) else Not(held.at(part))


def _is_none(held: Held) -> bool:
    return isinstance(held, HeldThing) and held.amount == CountLimits(0, 0)
