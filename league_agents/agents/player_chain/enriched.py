"""Candidates with additions from the index and the model's memory.

Rule 1: stored sentences take precedence. An addition that resembles a stored sentence only makes that one likelier, so
a model's error never replaces the exact wording.
Rule 2: additions never take all weight from the earlier candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from league_agents.agents.candidates import Candidates
from league_agents.agents.questions.reading import CandidateReading, fold, read
from league_agents.agents.word_forms import forms_of
from league_agents.games.q21.information import Floats
from league_agents.kit.values import evolve

_ALIKE = 88
"""Least similarity (0 to 100) at which two spellings count as one sentence."""

_RECALLED_RATIO = 0.5
"""Ratio between the weights of a recalled sentence and the one before it."""

_RANK_RATIO = 0.85
"""Ratio between the weights of a proposed word and the one before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """A sentence that may be the target."""

    sentence: str
    paragraph: str
    """Empty if only the sentence is known."""

    weight: float
    """Weight relative to the other additions."""


def with_sentences(candidates: Candidates, additions: Sequence[Addition], share: float) -> Candidates:
    """Return the candidates with the additions, which together get ``share`` of the prior (all if there was none)."""
    if not additions:
        return candidates
    stored = [_squeezed(sentence) for sentence in candidates.sentences]
    sentences, readings = list(candidates.sentences), list(candidates.readings)
    total = sum(addition.weight for addition in additions)
    unlisted = candidates.unlisted * (1 - share)
    share = share if sentences else 1.0
    prior = [weight * (1 - share) for weight in candidates.prior.tolist()] if sentences else []
    for addition in additions:
        squeezed = _squeezed(addition.sentence)
        found = process.extractOne(squeezed, stored, scorer=fuzz.ratio, score_cutoff=_ALIKE)
        part = share * addition.weight / total
        if found is not None:
            prior[found[2]] += part
            continue
        stored.append(squeezed)
        sentences.append(addition.sentence)
        readings.append(read(addition.sentence, addition.paragraph))
        prior.append(part)
    given = candidates.given
    if len(sentences) > len(candidates.sentences):
        rows = [_word_chances(candidates, reading) for reading in readings[len(candidates.sentences) :]]
        given = np.vstack([given, *rows]) if candidates.sentences else np.vstack(rows)
    numbers: dict[str, int] = {}
    weights = np.array(prior, dtype=np.float64)
    return evolve(
        candidates,
        sentences=tuple(sentences),
        readings=tuple(readings),
        groups=np.array([numbers.setdefault(each, len(numbers)) for each in stored], dtype=np.int64),
        prior=weights / max(float(weights.sum()), 1e-300),
        given=given,
        unlisted=unlisted,
    )


def with_remembered(candidates: Candidates, sentences: Sequence[str], share: float) -> Candidates:
    """Return the candidates with sentences from a model's memory, likeliest first, marked as remembered.

    ``share`` is their probability, taken in proportion from every listed sentence and from "none of these".
    """
    if not sentences:
        return candidates
    recalled = [
        Addition(sentence=sentence, paragraph="", weight=_RECALLED_RATIO**rank)
        for rank, sentence in enumerate(sentences)
    ]
    unlisted = candidates.unlisted * (1 - share)
    found = with_sentences(candidates, recalled, share / (1 - unlisted))
    return evolve(found, unlisted=unlisted, recalled=candidates.recalled | set(sentences))


def with_words(candidates: Candidates, words: Sequence[str], share: float) -> Candidates:
    """Return the candidates with ``words``, likeliest first, which get ``share`` of every sentence's word weights."""
    proposed = list(dict.fromkeys(word.casefold() for word in words))
    if not proposed:
        return candidates
    places = {word: i for i, word in enumerate(candidates.words)}
    new = [word for word in proposed if word not in places]
    places.update({word: len(candidates.words) + i for i, word in enumerate(new)})
    chances = np.zeros(len(places))
    for rank, word in enumerate(proposed):
        chances[places[word]] = _RANK_RATIO**rank
    widened = np.hstack([candidates.given, np.zeros((candidates.given.shape[0], len(new)))])
    return evolve(
        candidates,
        words=(*candidates.words, *new),
        given=(1 - share) * widened + share * (chances / chances.sum())[None, :],
    )


def _word_chances(candidates: Candidates, reading: CandidateReading) -> Floats:
    """Return word probabilities of a new sentence: those of the other candidates, and the words in its own text."""
    even = candidates.word_prior
    text = reading.paragraph or reading.sentence
    held = np.array(
        [bool(text and not text.vocabulary.isdisjoint(forms_of(word))) for word in candidates.words], dtype=np.float64
    )
    return 0.5 * even + 0.5 * held / held.sum() if held.any() else even


def _squeezed(sentence: str) -> str:
    return " ".join(fold(sentence).split())
