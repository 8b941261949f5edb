"""Things that questions in German, Hebrew and Chinese ask about, counted in texts of these languages."""

from __future__ import annotations

from dataclasses import dataclass

from league_agents.agents.questions.free import sentences_of as page
from league_agents.agents.questions.free.claims import AskedClaim, ClaimTarget, TextPart
from league_agents.agents.questions.free.counters import COUNTERS
from league_agents.agents.questions.free.counts import UNKNOWN_COUNT, CountBounds
from league_agents.agents.questions.free.languages import LANGUAGES, language_of
from league_agents.agents.questions.free.things import TextThing
from league_agents.agents.questions.reading import Text


@dataclass(frozen=True, slots=True)
class SpeechInPrint(TextThing):
    """Speech in quotation marks; without any, a word of speaking leaves it open."""

    def count(self, text: Text) -> CountBounds:
        found = page.spoken_count(text)
        words = LANGUAGES.get(language_of(text.text))
        may_be = words is not None and any(
            word in text.folded or word in text.text for word in words.may_introduce_speech
        )
        return found.open if may_be and not found.low else found


@dataclass(frozen=True, slots=True)
class NumberInPrint(TextThing):
    """A number in figures or words."""

    def count(self, text: Text) -> CountBounds:
        words = LANGUAGES.get(language_of(text.text))
        if words is None:
            return COUNTERS["numbers"](text) if language_of(text.text) == "en" else UNKNOWN_COUNT
        found = sum(word in words.numbers or word[0].isdigit() for word in text.folded)
        one = language_of(text.text) == "zh" and "一" in text.text
        return CountBounds(found, None if one or "hundert" in text.text else found)


@dataclass(frozen=True, slots=True)
class SomeOf(TextThing):
    """Words of an open list: those that stand there count, and others may."""

    words: frozenset[str]

    def count(self, text: Text) -> CountBounds:
        found = sum(word in self.words or any(word.endswith(each) for each in self.words) for word in text.folded)
        return CountBounds(found, None)


@dataclass(frozen=True, slots=True)
class ToldInFirstPerson(AskedClaim):
    """The text says I or we outside quotation marks."""

    part: TextPart

    def check(self, target: ClaimTarget) -> bool | None:
        text = self.part.text(target)
        language = language_of(text.text) if text is not None else "en"
        words = LANGUAGES.get(language)
        if text is None or words is None:
            return page.first_person(text) if text is not None and language == "en" else None
        if not words.first_person.isdisjoint(text.folded):
            return None if page.spoken_count(text).high else True
        return False if words.is_first_person_closed and not self.part.is_partial(target) else None


@dataclass(frozen=True, slots=True)
class ToldInPast(AskedClaim):
    """The verbs that are known are past forms; ``None`` if both tenses are there."""

    part: TextPart

    def check(self, target: ClaimTarget) -> bool | None:
        text = self.part.text(target)
        language = language_of(text.text) if text is not None else "en"
        if text is None or language == "en":
            found = page.tense(text) if text is not None else None
            return None if found is None else found == "past"
        words = LANGUAGES.get(language)
        if words is None:
            return None
        past, present = (not known.isdisjoint(text.folded) for known in (words.past, words.present))
        return None if past == present else past
