"""Secret words for a passage, each with the domain to announce.

Rule 1: a word stands in the passage, or the passage speaks of what goes with it. A word that has nothing to do with the
passage is the last resort.
Rule 2: a word that a reader takes for something else is refused: what the title, the hint or a heading says, and what
the book itself uses as a name ("Rose").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from league_agents.agents.library import Knowledge, Volume
from league_agents.agents.questions.reading import CandidateReading, Text, fold
from league_agents.agents.salient import likely_nouns
from league_agents.agents.word_forms import forms_of, occurs_in, stands_in
from league_agents.knowledge.domains import TEXT_WORD, lexicon
from league_agents.knowledge.nouns import Nouns
from league_agents.knowledge.words import STOP_WORDS

WordWithDomain = tuple[str, str]


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DETERMINERS = _set_of(
    "a an the his her my your our their its this that these those some any no every each of two three"
)
_POINTERS = _set_of("this that these those some any no every each of")
_RARELY_NOUNS = _set_of(
    "rose lead fly bear port punch fall spring may fork iron tin can cold cool love fear hope hate calm "
    "storm might orange lark cricket bat ring saw plane match fire light present back hand face head eye "
    "arm leg"
)
"""Domain words that usually mean something else; they count only after a determiner."""

_MOST_COMMON = 3
"""Commonness (see ``Nouns``) up to which a noun may be secret: a player has to know it."""

_LEAST_LETTERS = 3
_LEAST_SHARED = 2
"""Number of associations of a word that a passage must mention to support the word without containing it."""

_BOOK_PASSAGES = 400
_LEAST_PASSAGES = 3
"""Number of passages of a book in which a word is one of its subjects."""

_FOLLOWING = 2
"""Number of passages after a target that has no word of its own: a line such as "Call me Ishmael." says little."""

_MOST_SUBJECTS = 8
_USUAL_WORDS = 150
"""Number of most frequent words of a book that say nothing of one passage."""


def words_for(
    knowledge: Knowledge,
    volume: Volume,
    reading: CandidateReading,
    shown: str,
    noted: Sequence[WordWithDomain] = (),
) -> list[WordWithDomain]:
    """Return the secret words that the passage supports best, with their domains; empty if it supports none.

    ``shown`` is what the players read: the title and the hint. ``noted`` are words that people noted for the work:
    those that the passage supports come first, the others before words of which only the following pages speak.
    """
    text = _text_of(reading)
    refused = _Refused(volume, reading, shown)
    is_english = volume.language in ("en", "und")
    tiers = chain(
        ({pair for pair in noted if is_supported(pair[0], text)},),
        _in_english(knowledge, volume, text) if is_english else _in_another_language(volume, text),
        (set(noted),),
        _near(knowledge, volume, reading) if is_english else (),
    )
    for found in tiers:
        kept = sorted(pair for pair in found if pair[0] not in refused)
        if kept:
            return kept
    return []


def is_supported(word: str, text: Text) -> bool:
    """Whether the text has the word, or mentions several of its associations."""
    return occurs_in(word, text) or len(Nouns.load().associations(word) & _mentioned(text)) >= _LEAST_SHARED


def any_words(knowledge: Knowledge, shown: str) -> list[WordWithDomain]:
    """Return all words of the catalogue's domains that ``shown`` does not give away, with their domains."""
    domains = sorted(knowledge.catalogue.domains.items())
    return untold([(fold(word), domain) for domain, words in domains for word in words], shown)


def untold(words: Iterable[WordWithDomain], shown: str) -> list[WordWithDomain]:
    """Return the words that do not occur in ``shown``."""
    text = Text(shown)
    return [(word, domain) for word, domain in words if not occurs_in(word, text)]


class _Refused:
    """The words that would mislead or give themselves away in one book."""

    def __init__(self, volume: Volume, reading: CandidateReading, shown: str) -> None:
        self._volume = volume
        place = next((i for i, each in enumerate(volume.readings) if each is reading), None)
        heading = (volume.passages[place].chapter or "") if place is not None else ""
        self._texts = [_text_of(reading).text, *(each.text for each in volume.passages[:_BOOK_PASSAGES])]
        self._shown = Text(f"{shown}\n{heading}\n{volume.author or ''}")

    def __contains__(self, word: str) -> bool:
        return occurs_in(word, self._shown) or (word.isascii() and self._is_name(word))

    def _is_name(self, word: str) -> bool:
        """Whether the book writes the word with a capital inside sentences about as often as without."""
        if self._volume.language == "de":
            return False
        forms = "|".join(re.escape(form) for form in forms_of(word))
        inside = re.compile(rf"(?<=[a-zé,;] )(?:{forms})\b", re.IGNORECASE)
        found: list[str] = [use for text in self._texts for use in inside.findall(text)]
        return sum(map(str.isupper, (use[0] for use in found))) > len(found) / 3


def _in_english(knowledge: Knowledge, volume: Volume, text: Text) -> Iterator[set[WordWithDomain]]:
    nouns = Nouns.load()
    surely, other_surely, perhaps, other = _nouns_in(knowledge, text)
    yield from (surely, other_surely, perhaps, _supported(knowledge, text), other)
    yield {pair for pair in _of_the_text(volume, text) if (nouns.commonness(pair[0]) or 9) <= _MOST_COMMON}


def _near(knowledge: Knowledge, volume: Volume, reading: CandidateReading) -> Iterator[set[WordWithDomain]]:
    for following in _following(volume, reading):
        yield from _nouns_in(knowledge, _text_of(following))[:2]
    yield _subjects(knowledge, volume)


def _nouns_in(knowledge: Knowledge, text: Text) -> tuple[set[WordWithDomain], ...]:
    """Return the nouns of a text with their domains: those of the catalogue's domains that certainly are nouns, others
    that certainly are, and in the same order those that perhaps are.
    """
    surely: set[WordWithDomain] = set()
    perhaps: set[WordWithDomain] = set()
    other_surely: set[WordWithDomain] = set()
    other: set[WordWithDomain] = set()
    nouns = Nouns.load()
    for previous, word, following in zip(("", *text.folded), text.folded, (*text.folded[1:], ""), strict=False):
        # "This may" and "those lead" are not nouns: ambiguous words need an article or a possessive.
        is_determined = previous in _DETERMINERS
        entries = knowledge.domain_forms.get(word, ())
        for entry in entries:
            if is_determined and (entry[0] not in _RARELY_NOUNS or previous not in _POINTERS):
                surely.add(entry)
            elif entry[0] not in _RARELY_NOUNS:
                perhaps.add(entry)
        # Before another word of meaning it may be an adjective: "an extra bit".
        ends_phrase = not following or following in STOP_WORDS
        if not entries and ends_phrase and len(word) >= _LEAST_LETTERS and word not in STOP_WORDS:
            noun = nouns.noun(word)
            if noun is not None and (nouns.commonness(noun) or 9) <= _MOST_COMMON:
                domain = knowledge.domains.of(noun)
                if domain is not None and stands_in(noun, text.vocabulary):
                    (other_surely if is_determined else other).add((noun, domain))
    return surely, other_surely, perhaps, other


def _text_of(reading: CandidateReading) -> Text:
    return reading.paragraph or reading.sentence or Text("")


def _following(volume: Volume, reading: CandidateReading) -> Sequence[CandidateReading]:
    """Return the readings of the passages after the target."""
    place = next((i + 1 for i, each in enumerate(volume.readings) if each is reading), 0)
    return volume.readings[place : place + _FOLLOWING]


def _supported(knowledge: Knowledge, text: Text) -> set[WordWithDomain]:
    """Return words of the catalogue's domains of whose associations the text mentions several."""
    nouns, mentioned = Nouns.load(), _mentioned(text)
    pairs = {(fold(word), domain) for domain, words in knowledge.catalogue.domains.items() for word in words}
    shared = {pair: len(nouns.associations(pair[0]) & mentioned) for pair in pairs}
    best = max(shared.values(), default=0)
    return {pair for pair, count in shared.items() if count == best} if best >= _LEAST_SHARED else set()


def _mentioned(text: Text) -> frozenset[str]:
    """Return the words of the text that carry meaning, and the nouns of which they are plurals."""
    words = frozenset(word for word in text.vocabulary if word not in STOP_WORDS and len(word) >= _LEAST_LETTERS)
    nouns = Nouns.load()
    return words | {noun for word in words if (noun := nouns.noun(word)) is not None}


def _subjects(knowledge: Knowledge, volume: Volume) -> set[WordWithDomain]:
    """Return the words of the catalogue's domains of which the book speaks most often."""
    counts: Counter[WordWithDomain] = Counter()
    for reading in volume.readings[:_BOOK_PASSAGES]:
        if reading.paragraph is not None:
            words = reading.paragraph.vocabulary & knowledge.domain_forms.keys()
            counts.update({entry for word in words for entry in knowledge.domain_forms[word]})
    least = min(_LEAST_PASSAGES, 1 + len(volume.passages) // 20)
    usual = [(pair, n) for pair, n in counts.items() if n >= least and pair[0] not in _RARELY_NOUNS]
    return {pair for pair, _ in sorted(usual, key=lambda row: (-row[1], row[0]))[:_MOST_SUBJECTS]}


def _in_another_language(volume: Volume, text: Text) -> Iterator[set[WordWithDomain]]:
    language = volume.language
    exactly: set[WordWithDomain] = set()
    inflected: set[WordWithDomain] = set()
    for domain, words in lexicon.words_in(language).items():
        name = lexicon.name_in(language, domain) or domain
        for word in words:
            if occurs_in(word, text):
                exactly.add((word, name))
            elif lexicon.occurs_in(word, language, text.text, text.vocabulary):
                inflected.add((word, name))
    yield exactly
    yield inflected
    yield _of_the_text(volume, text)


def _of_the_text(volume: Volume, text: Text) -> set[WordWithDomain]:
    """Return the longest words of the text that are rare in the book: for languages without a list."""
    usual: Counter[str] = Counter()
    for reading in islice(volume.readings, _BOOK_PASSAGES):
        usual.update(_text_of(reading).folded)
    dull = {word for word, _ in usual.most_common(_USUAL_WORDS)} | STOP_WORDS
    names = {fold(word) for word in text.words[1:] if word[:1].isupper()} if volume.language != "de" else set()
    nouns = set(likely_nouns(text.text, volume.language)) - dull
    vocabulary = text.vocabulary & nouns or text.vocabulary
    fit = [w for w in vocabulary if w.isalpha() and len(w) > _LEAST_LETTERS and w not in dull and w not in names]
    domain = lexicon.name_in(volume.language, TEXT_WORD) or TEXT_WORD
    return {(word, domain) for word in sorted(fit, key=lambda word: (-len(word), word))[:_MOST_SUBJECTS]}
