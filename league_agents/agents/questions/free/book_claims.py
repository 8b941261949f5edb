"""Claims about the book: its author and its year."""

from __future__ import annotations

from dataclasses import dataclass

from league_agents.agents.questions.free.claims import AskedClaim, ClaimTarget
from league_agents.agents.questions.free.counts import CountBounds, CountLimits
from league_agents.knowledge.words import words_of


@dataclass(frozen=True, slots=True)
class WrittenBy(AskedClaim):
    """A person of this name wrote the book."""

    name: str

    def check(self, target: ClaimTarget) -> bool | None:
        author = target.facts.author
        given, known = words_of(self.name), words_of(author)
        if not given or not known or author == "Anonymous":
            return None
        if given[-1] == known[-1]:
            # Several authors may share a surname (the Brontës), so compare the initial of a given name too.
            return len(given) == 1 or given[0][0] == known[0][0]
        return None if len(given) == 1 and given[0] in known else False


@dataclass(frozen=True, slots=True)
class YearIs(AskedClaim):
    """The book was published in a year of this span."""

    years: CountLimits

    def check(self, target: ClaimTarget) -> bool | None:
        year = target.facts.year
        return None if year is None else self.years.holds(CountBounds.exactly(year))


@dataclass(frozen=True, slots=True)
class WrittenIn(AskedClaim):
    """The book was written in a year of this span, which is at most that of its publication."""

    years: CountLimits

    def check(self, target: ClaimTarget) -> bool | None:
        year = target.facts.year
        return None if year is None else self.years.holds(CountBounds(0, year))


def century(number: int) -> YearIs:
    return YearIs(CountLimits(100 * (number - 1) + 1, 100 * number))
