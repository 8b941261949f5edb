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

_BEFORE_VERBS = _set_of(
    "to not never i you we they he she it who will shall would should must can could may might do does did let"
)
_NO_SUBJECTS = _set_of(
    "dear sir madam miss lady lord master mistress nobody somebody anybody everybody nothing something "
    "anything everything one ones two three four five six seven eight nine ten hundred thousand "
    "word sentence question answer guess letter name number place part text book page point score hint order"
)
"""Nouns by which persons are spoken to; pronouns and numbers that the data lists as nouns; what a referee's feedback
speaks of in any game."""

_MOST_COMMON = 3
"""Commonness (see ``Nouns``) up to which a noun may be secret: a player has to know it."""

_SURELY_NOUNS = 2
"""Commonness up to which a word before another word of meaning is rather a noun than an adjective such as "single"."""

_LEAST_LETTERS = 3
_LEAST_SHARED = 2
"""Number of associations of a word that a passage must mention to support the word without containing it."""

_FEW_WORDS = 6
"""Number of words that carry meaning up to which a text is a line such as "Boatswain!"."""

_BOOK_PASSAGES = 400
_LEAST_PASSAGES = 3
"""Number of passages of a book in which a word is one of its subjects."""

_FOLLOWING = 6
"""Number of passages after a target that has no word of its own: a line such as "Who's there?" says little."""

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
    those that the passage supports come first, the others after words of the following pages.
    """
    text = _text_of(reading)
    refused = _Refused(volume, reading, shown)
    is_english = volume.language in ("en", "und")
    of_text = chain(
        ({pair for pair in noted if is_supported(pair[0], text)},),
        _in_english(knowledge, text) if is_english else _in_another_language(volume, text),
    )
    first: list[WordWithDomain] = []
    for kept in map(refused.without, of_text):
        clear = [pair for pair in kept if _is_clear(knowledge, pair, text)]
        if clear:
            return clear
        first = first or kept
    others = chain(
        _on_next_pages(knowledge, volume, reading) if is_english else (),
        (set(noted),),
        (_subjects(knowledge, volume) for _ in range(is_english)),
    )
    return first or next(filter(None, map(refused.without, others)), [])


def _names(domain: str, word: str) -> bool:
    """Whether the domain's name gives the word away."""
    return stands_in(word, Text(domain).vocabulary) or stands_in(domain, Text(word).vocabulary)


def _is_clear(knowledge: Knowledge, pair: WordWithDomain, text: Text) -> bool:
    """Whether the word is the only one of its domain in the text: who finds the text then finds the word."""
    word, domain = pair
    known = knowledge.domains.find(domain)
    if known is None or not occurs_in(word, text):
        return False
    words = {fold(each) for each in (*known.words, *(further for further, _ in known.further))}
    present = words & _mentioned(text) | {each for each in words if not each.isascii() and occurs_in(each, text)}
    same = forms_of(word)
    return all(each in same or word in forms_of(each) for each in present)


def is_supported(word: str, text: Text) -> bool:
    """Whether the text has the word or mentions several of its associations; one is enough if it has few words."""
    if occurs_in(word, text):
        return True
    nouns, mentioned = Nouns.load(), _mentioned(text)
    if len(mentioned) <= _FEW_WORDS and any(word in nouns.associations(each) for each in mentioned):
        return True
    return len(nouns.associations(word) & mentioned) >= _LEAST_SHARED


def supported_words(pairs: Iterable[WordWithDomain], reading: CandidateReading) -> list[WordWithDomain]:
    """Return the words that the passage supports, see ``is_supported``, with their domains."""
    text = _text_of(reading)
    return [pair for pair in pairs if is_supported(pair[0], text)]


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

    def without(self, pairs: Iterable[WordWithDomain]) -> list[WordWithDomain]:
        """Return the other pairs, sorted, without those whose domain gives the word away."""
        return sorted(pair for pair in pairs if pair[0] not in self and not _names(pair[1], pair[0]))

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


def _in_english(knowledge: Knowledge, text: Text) -> Iterator[set[WordWithDomain]]:
    surely, other_surely, perhaps, other = _nouns_in(knowledge, text)
    yield from (surely, other_surely, perhaps, _supported(knowledge, text), other)
    common, listed = _common_nouns(text), knowledge.domain_forms
    domains = {noun: knowledge.domains.of(noun, broadly=True) for noun in common}
    # A listed word has the domain that people gave it: "queen" is no insect.
    yield {(noun, domain) for noun, domain in domains.items() if domain is not None and noun not in listed}
    yield _near_a_noun(knowledge, text) if len(_mentioned(text)) <= _FEW_WORDS else set()
    yield {(noun, TEXT_WORD) for noun in common}


def _on_next_pages(knowledge: Knowledge, volume: Volume, reading: CandidateReading) -> Iterator[set[WordWithDomain]]:
    for following in _following(volume, reading):
        yield from _nouns_in(knowledge, _text_of(following))[:2]


def _common_nouns(text: Text) -> set[str]:
    """Return the nouns of a text that every player knows: the commonest wherever they stand in a phrase, others, which
    may be adjectives, at its end."""
    nouns, found = Nouns.load(), set[str]()
    meaningful = _meaningful(text) - _NO_SUBJECTS - _RARELY_NOUNS
    for previous, word, following in zip(("", *text.folded), text.folded, (*text.folded[1:], ""), strict=False):
        noun = _singular(word) if word in meaningful and previous not in _BEFORE_VERBS else None
        most = _MOST_COMMON if not following or following in STOP_WORDS else _SURELY_NOUNS
        if noun is not None and (nouns.commonness(noun) or 9) <= most and stands_in(noun, (word,)):
            found.add(noun)
    return found


def _singular(word: str) -> str | None:
    """Return the noun of which a word is a form, the singular of "times" though that is a noun too; ``None`` if it is
    no noun."""
    noun = Nouns.load().noun(word)
    if noun is not None and noun.endswith("s") and not noun.endswith("ss"):
        return Nouns.load().noun(noun[:-1]) or noun
    return noun


def _near_a_noun(knowledge: Knowledge, text: Text) -> set[WordWithDomain]:
    """Return words of the catalogue's domains with which a noun of the text goes: "ship" for "Boatswain!"."""
    near = {word for noun in _meaningful(text) for word in Nouns.load().associations(noun)}
    pairs = {pair for word in near for pair in knowledge.domain_forms.get(word, ())}
    return {pair for pair in pairs if pair[0] in near and pair[0] not in _RARELY_NOUNS}


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
        if not entries and ends_phrase and len(word) >= _LEAST_LETTERS and word not in STOP_WORDS | _NO_SUBJECTS:
            noun = _singular(word)
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
    words = _meaningful(text)
    nouns = Nouns.load()
    return words | {noun for word in words if (noun := nouns.noun(word)) is not None}


def _meaningful(text: Text) -> frozenset[str]:
    return frozenset(word for word in text.vocabulary if word not in STOP_WORDS and len(word) >= _LEAST_LETTERS)


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
