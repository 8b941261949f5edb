"""Claims about a target and their truth: yes, no, or ``None`` where page and facts do not settle it.

Rule: ``and``, ``or`` and ``not`` follow Kleene: an unknown part matters only if the known ones do not decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.free import sentences_of as page
from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.counts import AT_LEAST_ONE, CountBounds, CountLimits
from league_agents.agents.questions.free.things import Phrase, TextThing
from league_agents.agents.questions.reading import CandidateReading, Text, fold, read


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTarget:
    """What a claim is checked against."""

    reading: CandidateReading
    facts: Facts


class TextPart(Enum):
    """The text that a claim is about."""

    SENTENCE = "sentence"
    PAGE = "paragraph"
    BOOK = "book"
    TITLE = "title"

    def text(self, target: ClaimTarget) -> Text | None:
        """Return the known text of this part."""
        reading = target.reading
        if self is TextPart.TITLE:
            return read(target.facts.title).sentence if target.facts.title else None
        return reading.sentence if self is TextPart.SENTENCE else reading.paragraph or reading.sentence

    def is_partial(self, target: ClaimTarget) -> bool:
        """Whether the part is longer than its known text, so that absence there proves nothing."""
        return self is TextPart.BOOK or (self is TextPart.PAGE and target.reading.paragraph is None)


class AskedClaim:
    """Something that is true of a target, or not. Claims are values."""

    __slots__ = ()

    def check(self, target: ClaimTarget) -> bool | None:
        """Return the truth; ``None`` if it is not settled."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Not(AskedClaim):
    """The opposite of a claim."""

    claim: AskedClaim

    def check(self, target: ClaimTarget) -> bool | None:
        found = self.claim.check(target)
        return None if found is None else not found


@dataclass(frozen=True, slots=True)
class All(AskedClaim):
    """Claims that are all true."""

    claims: tuple[AskedClaim, ...]

    def check(self, target: ClaimTarget) -> bool | None:
        return all_of(claim.check(target) for claim in self.claims)


@dataclass(frozen=True, slots=True)
class Any(AskedClaim):
    """Claims of which one is true."""

    claims: tuple[AskedClaim, ...]

    def check(self, target: ClaimTarget) -> bool | None:
        opposite = all_of(None if found is None else not found for found in (c.check(target) for c in self.claims))
        return None if opposite is None else not opposite


def all_of(truths: Iterable[bool | None]) -> bool | None:
    """Return Kleene's conjunction."""
    found = list(truths)
    return False if False in found else None if None in found else True


@dataclass(frozen=True, slots=True)
class Holds(AskedClaim):
    """A text has some amount of something."""

    part: TextPart
    thing: TextThing
    amount: CountLimits = AT_LEAST_ONE

    def check(self, target: ClaimTarget) -> bool | None:
        text = self.part.text(target)
        if text is None:
            return None
        count = self.thing.count(text)
        return self.amount.holds(count.open if self.part.is_partial(target) else count)


@dataclass(frozen=True, slots=True)
class HoldsMore(AskedClaim):
    """A text has more of one thing than of another."""

    part: TextPart
    more: TextThing
    fewer: TextThing

    def check(self, target: ClaimTarget) -> bool | None:
        text = self.part.text(target)
        if text is None or self.part.is_partial(target):
            return None
        return self.more.count(text).is_more_than(self.fewer.count(text))


@dataclass(frozen=True, slots=True)
class Precedes(AskedClaim):
    """One phrase stands before another."""

    part: TextPart
    first: str
    second: str

    def check(self, target: ClaimTarget) -> bool | None:
        text = self.part.text(target)
        if text is None or self.part.is_partial(target):
            return None
        counts = [Phrase(each).count(text) for each in (self.first, self.second)]
        if any(count != CountBounds.exactly(1) for count in counts):
            return None
        one, other = (place_in(each, text) for each in (self.first, self.second))
        return None if one is None or other is None else one < other


def place_in(phrase: str, text: Text) -> int | None:
    """Return the index of the word at which the phrase first begins; ``None`` if it is not in the text."""
    wanted = tuple(fold(word) for word in Text(phrase).words)
    if len(wanted) <= 1:
        return text.first_places.get(wanted[0]) if wanted else None
    size = len(wanted)
    return next((i for i in range(len(text.folded)) if text.folded[i : i + size] == wanted), None)


@dataclass(frozen=True, slots=True)
class Of(AskedClaim):
    """A property of a whole text; its name is a key of ``_PROPERTIES``."""

    part: TextPart
    property: str

    def check(self, target: ClaimTarget) -> bool | None:
        text = self.part.text(target)
        is_read = self.property in _OF_MARKS or (text is not None and page.is_english(text))
        if text is None or self.part is TextPart.TITLE or not is_read:
            return None
        found = _PROPERTIES[self.property](text)
        if self.part.is_partial(target):
            return found or None
        if found is False and self.property in _OF_NARRATORS and target.reading.paragraph is not None:
            # The sentence may lack what the narrator says in the next one.
            wider = _PROPERTIES[self.property](target.reading.paragraph)
            return None if wider else found
        return found


_OF_MARKS = frozenset({"question", "exclamation"})
_OF_NARRATORS = frozenset({"first person", "third person"})


def _tense(wanted: str) -> Callable[[Text], bool | None]:
    def check(text: Text) -> bool | None:
        found = page.tense(text)
        return None if found is None else found == wanted

    return check


def _is_question(text: Text) -> bool | None:
    return page.end_mark(text) in ("?", "？")


def _is_exclamation(text: Text) -> bool | None:
    return page.end_mark(text) in ("!", "！")


def _second_person(text: Text) -> bool | None:
    return not words.SECOND_PERSON.isdisjoint(text.folded)


def _is_future(text: Text) -> bool | None:
    has_future = not words.FUTURE_FORMS.isdisjoint(text.folded)
    return False if page.tense(text) is not None and not has_future else None


_PROPERTIES: Mapping[str, Callable[[Text], bool | None]] = {
    "question": _is_question,
    "exclamation": _is_exclamation,
    "first person": page.first_person,
    "second person": _second_person,
    "third person": page.third_person,
    "past": _tense("past"),
    "present": _tense("present"),
    "future": _is_future,
}


@dataclass(frozen=True, slots=True)
class Undecided(AskedClaim):
    """A claim that is understood and that no page settles."""

    def check(self, target: ClaimTarget) -> bool | None:
        return None


UNDECIDED = Undecided()


def verdict(claims: Iterable[AskedClaim], target: ClaimTarget) -> bool | None:
    """Return the truth on which all readings of a question agree."""
    found = {claim.check(target) for claim in claims}
    return found.pop() if len(found) == 1 else None
