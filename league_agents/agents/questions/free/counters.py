"""Counts of what the words, names and marks of a text tell, exact or within bounds.

Rule: "none" needs the page: no such word of a closed class, no such mark, no capital letter, no word that the noun data
knows in this sense. That a list of examples has nothing is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from league_agents.agents.questions.free import calendar_counts as calendar
from league_agents.agents.questions.free import sentences_of as page
from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.counts import UNKNOWN_COUNT, CountBounds
from league_agents.agents.questions.reading import Text, fold
from league_agents.agents.word_forms import forms_of
from league_agents.knowledge.nouns import Nouns, Sense
from league_agents.knowledge.words import STOP_WORDS, stem


@lru_cache(maxsize=1024)
def nouns_under(phrase: str, text: str) -> CountBounds:
    nouns = Nouns.load()
    own = nouns.noun(phrase)
    trunk = stem(fold(phrase))
    roots = {sense.synset for sense in nouns.senses(phrase)}
    low = high = 0
    for word in page.words_in(text):
        here = word.folded.removesuffix("'s").removesuffix("’s")
        if stem(here) == trunk or here in forms_of(fold(phrase)):
            low, high = low + 1, high + 1
            continue
        if here in STOP_WORDS:
            continue
        if own is None:
            high += 1
            continue
        if word.surface[0].isupper() and (not word.begins_sentence or here in words.GIVEN_NAMES):
            high += here not in _NAMES_OF_NO_THING  # any other name may be anything's
        elif any(nouns.above(sense.synset) & roots for sense in _senses(here)):
            high += 1
            # "a lovely road": an adjective may be a noun elsewhere.
            ends_phrase = not word.after.isalpha() or word.after in STOP_WORDS
            low += word.before in words.DETERMINERS and ends_phrase and nouns.is_a(here, phrase) is True
        elif any(stem(trunk) in {stem(w) for w in nouns.synset(s.synset).definition} for s in _senses(here)):
            high += 1
    return CountBounds(low, high)


_NAMES_OF_NO_THING = words.GIVEN_NAMES | words.MONTHS | words.WEEKDAYS | words.TITLES


@lru_cache(maxsize=8192)
def _senses(word: str) -> tuple[Sense, ...]:
    """Return the usual senses of the word and of its parts, and of what it may be the plural of."""
    nouns = Nouns.load()
    parts = {word, *word.split("-")}
    parts |= {part[:-1] for part in parts if part.endswith("s") and len(part) > 3}
    return tuple(sense for part in sorted(parts) for sense in nouns.senses(part) if sense.share >= _RARE)


_RARE = 0.03
"""Share of a noun's uses below which readers do not think of a sense."""


def _words(text: Text) -> CountBounds:
    # Readers may count the parts of a hyphenated word.
    low = len(text.words)
    return CountBounds(low, low + sum(word.count("-") for word in text.folded))


def _names(text: Text) -> CountBounds:
    if not page.is_english(text):
        return UNKNOWN_COUNT
    every = page.names_in(text.text)
    return CountBounds(sum(name.is_certain for name in every), len(every))


def _named_persons(text: Text, gender: str | None = None) -> CountBounds:
    if not page.is_english(text):
        return UNKNOWN_COUNT
    low = high = 0
    for name in page.names_in(text.text):
        kind, its = page.person_kind(name), page.gender_of(name)
        if kind is False or (gender and its and its != gender):
            continue
        high += 1
        low += bool(kind and name.is_certain and (gender is None or its == gender))
    return CountBounds(low, high)


def _named_places(text: Text) -> CountBounds:
    if not page.is_english(text):
        return UNKNOWN_COUNT
    low = high = 0
    for name in page.names_in(text.text):
        if page.person_kind(name) and name.is_certain:
            # "Longbourn House" is a place; "Lady Russell" is none.
            continue
        base = name.word.folded.removesuffix("'s")
        high += 1
        is_title = name.word.before.rstrip(".") in words.TITLES
        low += name.is_certain and not is_title and (base in words.PLACES or name.word.after in words.PLACE_NOUNS)
    return CountBounds(low, high)


def _of_list(known: frozenset[str]) -> Callable[[Text], CountBounds]:
    def count(text: Text) -> CountBounds:
        if not page.is_english(text):
            return UNKNOWN_COUNT
        low = high = 0
        for name in page.names_in(text.text):
            base = name.word.folded.removesuffix("'s")
            is_it = base in known and name.word.before.rstrip(".") not in words.TITLES
            low += is_it and name.is_certain
            other = base in words.PLACES | words.MONTHS | words.WEEKDAYS or page.person_kind(name) is True
            high += is_it or not other
        return CountBounds(low, high)

    return count


def _persons(text: Text) -> CountBounds:
    if not page.is_english(text):
        return UNKNOWN_COUNT
    named = _named_persons(text)
    nouns = nouns_under("person", text.text)
    known = words.MEN | words.WOMEN | words.CHILDREN
    sure = sum(word in known or word in ("he", "she", "him", "his", "her") for word in text.folded)
    pronouns = sum(word in words.PERSONAL_PRONOUNS - {"it", "its", "itself"} for word in text.folded)
    maybe = 0 if nouns.high is None else nouns.high
    who = sum(word in ("who", "whom", "whose") for word in text.folded)
    return CountBounds(
        named.low + sure + nouns.low, named.high + sure + pronouns + maybe + who if named.high is not None else None
    )


def _gendered(
    nouns: frozenset[str], pronouns: frozenset[str], gender: str, phrase: str
) -> Callable[[Text], CountBounds]:
    def count(text: Text) -> CountBounds:
        if not page.is_english(text):
            return UNKNOWN_COUNT
        named = _named_persons(text, gender)
        sure = sum(word in nouns or word in pronouns for word in text.folded)
        under = nouns_under(phrase, text.text)
        return CountBounds(
            named.low + sure,
            None if named.high is None or under.high is None else named.high + sure + under.high,
        )

    return count


def _numbers(text: Text) -> CountBounds:
    if not page.is_english(text):
        sure = len(re.findall(r"\d|[二三四五六七八九十百千万萬]", text.text))
        return CountBounds(sure, None if sure or not re.search(r"[\u4e00-\u9fff]", text.text) else 0)
    folded = text.folded
    sure = sum(word[0].isdigit() or _is_cardinal(word) for word in folded)
    maybe = sum(word in words.MAYBE_NUMBERS | words.ORDINALS for word in folded)
    return CountBounds(sure, sure + maybe)


def _is_cardinal(word: str) -> bool:
    return any(part in words.CARDINALS for part in word.split("-"))


def _ordinals(text: Text) -> CountBounds:
    low = sum(word in words.ORDINALS or bool(re.match(r"\d+(?:st|nd|rd|th)$", word)) for word in text.folded)
    return CountBounds(low, low + text.folded.count("second"))


def _capitals(text: Text) -> CountBounds:
    # Readers differ about the first word.
    return CountBounds(text.capitals, text.capitals + bool(text.words and text.words[0][0].isupper()))


def _inner_capitals(text: Text) -> CountBounds:
    return CountBounds.exactly(text.capitals)


def _negations(text: Text) -> CountBounds:
    sure = sum(word in words.SURE_NEGATIONS or "n't" in word for word in text.folded)
    maybe = sum(word in words.NEGATIONS and word not in words.SURE_NEGATIONS for word in text.folded)
    return CountBounds(sure, sure + maybe)


def _adverbs(text: Text) -> CountBounds:
    sure = sum(_is_ly(word) or word in words.ADVERBS for word in text.folded)
    return CountBounds(sure, None)


def _ly(text: Text) -> CountBounds:
    sure = sum(_is_ly(word) for word in text.folded)
    return CountBounds(sure, sure + sum(word.endswith("ly") and not _is_ly(word) for word in text.folded))


def _is_ly(word: str) -> bool:
    return word.endswith("ly") and len(word) > 4 and word not in words.NO_ADVERBS_IN_LY


def _upper(text: Text) -> CountBounds:
    found = sum(len(word) > 1 and word.isupper() for word in text.words)
    return CountBounds.exactly(found)


def _questions(text: Text) -> CountBounds:
    return CountBounds.exactly(len(re.findall(r"[?？]", text.text)))


def _exclamations(text: Text) -> CountBounds:
    return CountBounds.exactly(len(re.findall(r"[!！]", text.text)))


def _children(text: Text) -> CountBounds:
    sure = sum(word in words.CHILDREN for word in text.folded)
    under = nouns_under("child", text.text)
    return CountBounds(sure, None if under.high is None else sure + under.high)


def _relatives(text: Text) -> CountBounds:
    sure = sum(word in words.RELATIVES for word in text.folded)
    under = nouns_under("relative", text.text)
    return CountBounds(sure, None if under.high is None else sure + under.high)


def _animals(text: Text) -> CountBounds:
    return nouns_under("animal", text.text)


COUNTERS: Mapping[str, Callable[[Text], CountBounds]] = {
    "words": _words,
    "sentences": lambda text: CountBounds.exactly(page.sentence_count(text)),
    "names": _names,
    "named persons": _named_persons,
    "women's names": lambda text: _named_persons(text, "f"),
    "men's names": lambda text: _named_persons(text, "m"),
    "named places": _named_places,
    "countries": _of_list(words.COUNTRIES),
    "cities": _of_list(words.CITIES),
    "persons": _persons,
    "men": _gendered(words.MEN, words.MALE_PRONOUNS, "m", "man"),
    "women": _gendered(words.WOMEN, words.FEMALE_PRONOUNS, "f", "woman"),
    "children": _children,
    "relatives": _relatives,
    "animals": _animals,
    "speech": page.spoken_count,
    "years": calendar.years,
    "numbers": _numbers,
    "ordinals": _ordinals,
    "months": calendar.months,
    "weekdays": calendar.weekdays,
    "dates": calendar.dates,
    "day times": calendar.day_times,
    "seasons": calendar.seasons,
    "capitals": _inner_capitals,
    "all capitals": _capitals,
    "negations": _negations,
    "adverbs": _adverbs,
    "adverbs in ly": _ly,
    "words in capitals": _upper,
    "questions": _questions,
    "exclamations": _exclamations,
}
