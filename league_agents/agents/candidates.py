"""All candidates for the target, and the prior probability of each before a question is asked.

A candidate is an opening sentence together with an associative word. Sentences come from the book's passages and from
the catalogue; words from the domain, from the catalogue's entry and from the passage itself. They are represented as a
prior over sentences and, for each sentence, a distribution over words.

Rule 1: every prior is weak. A hint and a domain shift weight between candidates but never exclude a candidate, because
other people's referees follow rules of their own.
Rule 2: "none of these" is always possible: each set of candidates states how probable it is that the target is not
among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from league_agents.agents.library import Knowledge, Volume
from league_agents.agents.questions.inner_sentences import sentences_inside
from league_agents.agents.questions.reading import CandidateReading, read
from league_agents.agents.row_words import RowWords
from league_agents.games.q21.information import Floats
from league_agents.games.q21.model import Brief
from league_agents.games.q21.rules import TargetKind
from league_agents.games.q21.similarity import fold as folded
from league_agents.knowledge.catalogue import Work
from league_agents.knowledge.nouns import Nouns
from league_agents.knowledge.vocabulary import BookVocabulary
from league_agents.knowledge.words import STOP_WORDS, content_words, forms_of_stems

V = TypeVar("V")

_MOST_WORDS = 300
"""Most candidate words of one match."""

_HINT_SHARE = 0.6
"""Share of the prior that follows the hint; the rest is uniform."""

_HINT_WEIGHT = 0.35
_MOST_HINT = 4.0
"""Upper bound of the hint's effect on a passage, as a logarithm."""

_NEAR = ((0, 0.6), (1, 0.5), (2, 0.35), (3, 0.2))
"""(distance, weight): a hint may not use words of the secret paragraph, so its neighbours tell as much as it does."""

_WITHOUT_WORD = 0.15
"""Weight of a paragraph without a word of the domain, relative to one with such a word."""

_OPENING_SHARE = 0.85
"""Prior of the book's own opening when targets are openings of books; its other passages share the rest."""

_FIRST_PAGES = 50
"""Number of passages among which the opening of the book is searched."""

_CATALOGUED = 0.7
"""Share of ``_OPENING_SHARE`` for the catalogue's opening if the stored book begins differently."""

_NEAREST_WORKS = 60

_UNLISTED_OF_BOOK = 0.02
"""Prior probability that the target is not among the candidates of a stored book: another edition, other paragraphs."""

_UNLISTED_OF_WORK = 0.1
"""The same if only the catalogue's opening of the work is known, and openings of books are played."""

_UNLISTED_OTHERWISE = 0.98
"""The same if the book is not known, or if paragraphs are played and only its opening is known."""

_LONG_PARAGRAPH = 2_500
"""Mean length of paragraphs, in characters, above which they are no paragraphs. Novels have from 300 to 1,200."""

_NOT_IN_BOOK = 0.1
"""Weight of a word of the domain that is nowhere in the book, relative to one that is."""

_LONG_WORD = 10
_NO_NOUN = 0.1
"""Weight of a word that is not listed as a noun, relative to one that is, where the domain tells nothing."""

_REFERENCE = 128
"""Most sentences of each source that show how a target outside the candidates is answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All targets that are considered possible."""

    sentences: tuple[str, ...]
    """Sentences exactly as stored. Empty if no known text could be the book."""

    readings: tuple[CandidateReading, ...]

    groups: npt.NDArray[np.int64]
    """Group number of each sentence; equal sentences have equal numbers, so guessing one guesses the other."""

    prior: Floats
    """Probability of each sentence; sums to 1."""

    words: tuple[str, ...]

    given: Floats
    """Sentences × words: probability of each word if the sentence is the target. One row if there is no sentence."""

    is_known: bool
    """Whether the book's name was recognised. If not, the sentences are those of similar works."""

    unlisted: float = 0.0
    """Prior probability that the target is none of the sentences. 1 if there is no sentence."""

    recalled: frozenset[str] = frozenset()
    """The sentences that a model remembers; they are in no stored text."""

    reference: tuple[CandidateReading, ...] = ()
    """Typical sentences, of this and other books: they show how often each answer is right for an unlisted target."""

    @property
    def is_probably_unlisted(self) -> bool:
        """Whether the target is more likely none of the sentences, before a question is asked."""
        return self.unlisted > 0.5

    @property
    def word_prior(self) -> Floats:
        weights = self.prior if self.sentences else np.ones(1)
        return np.asarray(weights @ self.given, dtype=np.float64)


def enumerate_candidates(knowledge: Knowledge, brief: Brief, target_kind: TargetKind) -> Candidates:
    """Return the candidates for a player's brief."""
    volume, work = knowledge.volume(brief.book_name), knowledge.work(brief.book_name)
    hint = content_words(brief.book_hint[:2000])
    if volume is None and work is None:
        return _of_other_works(knowledge, brief, hint)
    sentences, readings, weights = _of_book(volume, work, hint, target_kind)
    entry_words = {w.word.casefold() for w in work.words if _same_domain(knowledge, w.domain, brief)} if work else set()
    domain = _weighted_words(knowledge, brief)
    rows = RowWords(readings, volume.vocabulary if volume else None)
    words, given, likely = _words(rows, weights, domain, entry_words, target_kind)
    if target_kind is TargetKind.PASSAGE_OPENING and domain and likely.any():
        weights = weights * (_WITHOUT_WORD + (1 - _WITHOUT_WORD) * likely)
    is_listed = volume is not None or target_kind is TargetKind.BOOK_OPENING
    return _candidates(
        *(sentences, readings, weights, words, given),
        is_known=True,
        unlisted=_UNLISTED_OTHERWISE if not is_listed else _UNLISTED_OF_WORK if volume is None else _UNLISTED_OF_BOOK,
        reference=(*_spread(readings if volume else ()), *_openings(knowledge)),
    )


def _of_book(
    volume: Volume | None, work: Work | None, hint: set[str], target_kind: TargetKind
) -> tuple[list[str], list[CandidateReading], Floats]:
    sentences = [p.opening_sentence for p in volume.passages] if volume else []
    readings = list(volume.readings) if volume else []
    weights = _hinted(volume.vocabulary, hint) if volume else np.zeros(0)
    if volume is not None and _has_lost_paragraphs(volume):
        for passage, reading in zip(volume.passages, volume.readings, strict=True):
            inner = list(sentences_inside(passage.text, reading.part))
            sentences += [sentence for sentence, _ in inner]
            readings += [reading for _, reading in inner]
        weights = np.full(len(sentences), 1.0 / len(sentences))
    openings: list[tuple[str, CandidateReading]] = []
    if work is not None:
        openings.append((work.opening_sentence, read(work.opening_sentence, part=0.0)))
    if volume is not None and volume.opening is not None and target_kind is TargetKind.BOOK_OPENING:
        sentence = volume.opening.opening_sentence
        openings.append((sentence, volume.reading_of(sentence) or read(sentence, part=0.0)))
    places: list[int] = []
    for sentence, reading in openings:
        # If a passage has the same words, prefer the book's own text to the catalogue's spelling.
        same = folded(sentence)
        place = next((i for i, other in enumerate(sentences[:_FIRST_PAGES]) if folded(other) == same), None)
        if place is None:
            place = len(sentences)
            sentences.append(sentence)
            readings.append(reading)
            weights = np.append(weights, 1.0 / max(1, len(weights)))
        places.append(place)
    if target_kind is TargetKind.BOOK_OPENING and places and len(sentences) > 1:
        weights = weights / weights.sum() * (1 - _OPENING_SHARE)
        weights[places[0]] += _OPENING_SHARE * (_CATALOGUED if len(places) > 1 else 1.0)
        weights[places[-1]] += _OPENING_SHARE * (1 - _CATALOGUED) if len(places) > 1 else 0.0
    return sentences, readings, weights / weights.sum()


def _has_lost_paragraphs(volume: Volume) -> bool:
    """Whether the paragraphs are far longer than anybody writes: the file does not mark them."""
    characters = sum(len(passage.text) for passage in volume.passages)
    return characters > _LONG_PARAGRAPH * max(1, len(volume.passages))


def _of_other_works(knowledge: Knowledge, brief: Brief, hint: set[str]) -> Candidates:
    """Candidates for an unknown book: the catalogue's works, weighted by similarity of name and hint."""
    near = knowledge.near_works(brief.book_name, _NEAREST_WORKS)
    if hint:
        about = [(w, len(hint & content_words(" ".join((w.hint, *w.facts))))) for w in knowledge.catalogue.works]
        best = sorted((row for row in about if row[1] >= 2), key=lambda row: -row[1])[:10]
        named = {id(work) for work, _ in near}
        near += [(work, 0.0) for work, _ in best if id(work) not in named]
    weights = np.array([np.exp(8 * (likeness - 1)) for _, likeness in near])
    weights *= [1 + len(hint & content_words(" ".join((w.hint, *w.facts)))) ** 2 for w, _ in near]
    readings = [read(work.opening_sentence) for work, _ in near]
    domain = _weighted_words(knowledge, brief)
    rows, prior = RowWords(readings, None), weights / max(weights.sum(), 1e-300)
    words, given, _ = _words(rows, prior, domain, set(), TargetKind.BOOK_OPENING)
    return _candidates(
        *([work.opening_sentence for work, _ in near], readings, weights, words, given),
        is_known=False,
        unlisted=_UNLISTED_OTHERWISE if near else 1.0,
        reference=_openings(knowledge),
    )


def _openings(knowledge: Knowledge) -> Sequence[CandidateReading]:
    return [read(work.opening_sentence) for work in _spread(knowledge.catalogue.works)]


def _spread(values: Sequence[V]) -> Sequence[V]:
    """Return at most ``_REFERENCE`` of the values, evenly spaced."""
    return values[:: -(-len(values) // _REFERENCE)] if values else ()


def _candidates(
    sentences: Sequence[str],
    readings: Sequence[CandidateReading],
    weights: Floats,
    words: Sequence[str],
    given: Floats,
    *,
    is_known: bool,
    unlisted: float,
    reference: Sequence[CandidateReading],
) -> Candidates:
    return Candidates(
        sentences=tuple(sentences),
        readings=tuple(readings),
        groups=grouped(sentences),
        prior=weights / max(float(weights.sum()), 1e-300),
        words=tuple(words),
        given=given,
        is_known=is_known,
        unlisted=unlisted,
        reference=tuple(reference),
    )


def grouped(sentences: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number the sentences so that those that a referee judges as equal, ignoring typography, have equal numbers."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(folded(each), len(numbers)) for each in sentences], dtype=np.int64)


def _hinted(vocabulary: BookVocabulary, hint: set[str]) -> Floats:
    """Return a prior over passages, based on the words of the hint in and around them."""
    size = vocabulary.passages
    if not size:
        return np.zeros(0)
    even = np.full(size, 1.0 / size)
    forms = forms_of_stems(hint, vocabulary.words)
    if not forms:
        return even
    score = np.zeros(size)
    for trunk in sorted(forms):
        here = vocabulary.with_any(forms[trunk]).astype(np.float64)
        rarity = np.log((size + 1) / (here.sum() + 0.5))
        strength = np.zeros(size)
        for distance, share in _NEAR:
            for shifted in {distance, -distance}:
                moved = np.roll(here, shifted)
                if shifted > 0:
                    moved[:shifted] = 0
                elif shifted < 0:
                    moved[shifted:] = 0
                strength = np.maximum(strength, share * moved)
        score += rarity * strength
    raised = np.exp(np.minimum(_HINT_WEIGHT * 2 * score, _MOST_HINT))
    return np.asarray(_HINT_SHARE * raised / raised.sum() + (1 - _HINT_SHARE) * even, dtype=np.float64)


def _words(
    rows: RowWords,
    prior: Floats,
    domain: Mapping[str, float],
    entry: set[str],
    target_kind: TargetKind,
) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return the words, their probabilities per sentence, and the weight of the likeliest word in each text."""
    if domain or entry:
        words = _likeliest(rows, domain, entry)
        held = rows.holding(words)
        in_entry = np.array([word in entry for word in words], dtype=np.float64)
        likely = np.maximum(np.array([domain.get(word, 0.0) for word in words]), in_entry)
        even = _even(likely)
        from_entry = _even(in_entry) if in_entry.any() else even
        held *= likely
        sums = held.sum(axis=1, keepdims=True)
        from_text = np.where(sums > 0, held / np.maximum(sums, 1e-300), even)
        # A catalogue entry lists its own words, which need not occur in its text; other works have only their text.
        is_of_text = target_kind is TargetKind.PASSAGE_OPENING or not entry
        # With the pages at hand, a referee that has them too may take the word from there.
        with_pages = (0.2, 0.4, 0.4) if rows.has_paragraphs else (0.25, 0.6, 0.15)
        shares = (0.2, 0.1, 0.7) if is_of_text else with_pages
        given = shares[0] * even + shares[1] * from_entry + shares[2] * from_text
        best = held.max(axis=1, initial=0.0)
        return words, given if rows.size else (0.4 * even + 0.6 * from_entry)[None, :], best
    return _words_of_texts(rows, prior)


def _likeliest(rows: RowWords, domain: Mapping[str, float], entry: set[str]) -> tuple[str, ...]:
    """Return the words to consider, likeliest first: a rare word that stands in the book before a usual one that does
    not."""
    if len(domain) <= _MOST_WORDS:
        chosen = list(domain)
    else:
        weights = {word: weight * (1.0 if rows.has(word) else _NOT_IN_BOOK) for word, weight in domain.items()}
        chosen = sorted(weights, key=lambda word: (-weights[word], word))
    return tuple(dict.fromkeys([*sorted(entry), *chosen]))[:_MOST_WORDS]


def _words_of_texts(rows: RowWords, prior: Floats) -> tuple[tuple[str, ...], Floats, Floats]:
    """Words for an unknown domain: the most likely content words of the passages."""
    weights = rows.weights(prior, lambda word: len(word) > 2 and word.isalpha() and word not in STOP_WORDS)
    weights = {word: weight * _fitness(word) for word, weight in weights.items()}
    words = tuple(sorted(weights, key=lambda word: (-weights[word], word))[:_MOST_WORDS])
    if not words:
        return ("unknown",), np.ones((max(1, rows.size), 1)), np.zeros(rows.size)
    even = np.full(len(words), 1.0 / len(words))
    held = rows.holding(words, plurals=False) * np.array([_fitness(word) for word in words])
    sums = held.sum(axis=1, keepdims=True)
    given = 0.2 * even + 0.8 * np.where(sums > 0, held / np.maximum(sums, 1e-300), even)
    return words, given if rows.size else even[None, :], np.zeros(rows.size)


def _fitness(word: str) -> float:
    """How likely a word of a text is secret, relative to others: people choose nouns, and long ones tell more."""
    noun = Nouns.load().noun(word)
    return min(len(word), _LONG_WORD) / _LONG_WORD * (1.0 if noun == word else _NO_NOUN)


def _weighted_words(knowledge: Knowledge, brief: Brief) -> dict[str, float]:
    found = knowledge.find_domain(brief.association_domain)
    return dict([*zip(found.words, found.weights, strict=True), *found.further]) if found is not None else {}


def _even(mask: Floats) -> Floats:
    total = mask.sum()
    return mask / total if total else np.full(mask.size, 1.0 / max(1, mask.size))


def _same_domain(knowledge: Knowledge, domain: str, brief: Brief) -> bool:
    return (
        domain == knowledge.domain(brief.association_domain) or domain.casefold() == brief.association_domain.casefold()
    )
