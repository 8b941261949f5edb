"""A guess at the sentence of an unknown book, made of what the answers confirm.

The answers are compared with typical sentences. The likeliest of them, corrected by the words that answers confirm and
deny, stand for the target; the guess is the outline of small words that resembles them most on average.

Rule: nothing of the brief is repeated, and no sentence of another book is passed off as the target: words of content
are left out, marked by an ellipsis, unless an answer confirmed them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

import numpy as np

from league_agents.agents.candidates import Candidates
from league_agents.agents.questions.belief import sentence_likelihood
from league_agents.agents.questions.four_options import TwoThings, WhichComesFirst
from league_agents.agents.questions.kinds import NO, YES, Inquiry, Scope, Thing
from league_agents.agents.questions.reading import CandidateReading, fold
from league_agents.agents.questions.yes_no import Contains, ContainsBoth
from league_agents.games.q21.information import normalise_logs
from league_agents.games.q21.similarity import sentence_similarity
from league_agents.knowledge.words import STOP_WORDS

_CARELESS = 0.1
"""Noise level at which the answers are compared with the typical sentences."""

_EVENNESS = 0.3
"""Exponent on the likelihoods: the target is none of the typical sentences, so none may outweigh all others."""

_COMPARED = 40
_SKELETONS = 30
_ROUNDS = 6
"""Most times that the outline is improved by one word."""

_GAP = "…"
_PLAIN = "It was the … of the … that he had … in the … and a …"

Places = Mapping[str, float]
"""Usual place of a word in a sentence, 0 to 1, by the folded word."""


def sentence_from_answers(
    candidates: Candidates, asked: Sequence[Inquiry | None], answers: Sequence[int], *, least_characters: int
) -> str:
    """Return the outline that resembles typical sentences with these answers most, on average."""
    readings = [each for each in candidates.reference if each.sentence is not None]
    confirmed, denied = confirmed_words(asked, answers), denied_words(asked, answers)

    def is_fair(outline: Sequence[str]) -> bool:
        told = [word for word in outline if word != _GAP]
        return len(" ".join(outline)) >= least_characters and len(told) > 1

    best: Sequence[str] = _PLAIN.split()
    if readings:
        weights = normalise_logs(_EVENNESS * sentence_likelihood(readings, asked, answers, _CARELESS))
        order = np.argsort(-weights, kind="stable")[:_COMPARED].tolist()
        places = _usual_places(readings)
        samples = [(_corrected(readings[i], confirmed, denied, places), float(weights[i])) for i in order]
        likely = [(" ".join(words), weight) for words, weight in samples]

        def resemblance(outline: Sequence[str]) -> float:
            guess = _joined(outline)
            return sum(weight * sentence_similarity(guess, sentence) for sentence, weight in likely)

        outlines = [best, *(_outline(words, confirmed) for words, _ in samples[:_SKELETONS])]
        fair = [outline for outline in outlines if is_fair(outline)] or [best]
        best = _improved(max(fair, key=resemblance), sorted(confirmed), resemblance, is_fair)
    sentence = _joined(best)
    return f"{sentence[0].upper()}{sentence[1:]}".rstrip(" .") + "."


def _joined(outline: Sequence[str]) -> str:
    """Return the outline as text with one ellipsis for each run of left out words."""
    return " ".join(word for i, word in enumerate(outline) if word != _GAP or i == 0 or outline[i - 1] != _GAP)


def _improved(
    outline: Sequence[str],
    words: Sequence[str],
    resemblance: Callable[[Sequence[str]], float],
    is_fair: Callable[[Sequence[str]], bool],
) -> Sequence[str]:
    """Return the outline after the best changes of one word each, as long as they help."""
    best, value = outline, resemblance(outline)
    for _ in range(_ROUNDS):
        better = [(resemblance(each), each) for each in _changed(best, words) if is_fair(each)]
        if not better:
            break
        found = max(better, key=lambda row: row[0])
        if found[0] <= value + 1e-9:
            break
        value, best = found
    return best


def _changed(outline: Sequence[str], words: Sequence[str]) -> Iterator[Sequence[str]]:
    for i in range(len(outline)):
        if outline[i] != _GAP:
            yield [*outline[:i], *outline[i + 1 :]]
    missing = [word for word in words if word not in outline]
    for i in range(len(outline) + 1):
        for word in missing:
            yield [*outline[:i], word, *outline[i:]]


def _usual_places(readings: Sequence[CandidateReading]) -> Places:
    found: dict[str, list[float]] = defaultdict(list)
    for reading in readings:
        words = reading.sentence.folded if reading.sentence else ()
        for i, word in enumerate(words):
            found[word].append(i / max(1, len(words) - 1))
    return {word: median(places) for word, places in found.items()}


def _corrected(
    reading: CandidateReading, confirmed: frozenset[str], denied: frozenset[str], places: Places
) -> list[str]:
    """Return the words of a typical sentence without the denied ones and with the confirmed ones."""
    words = [word for word in (reading.sentence.folded if reading.sentence else ()) if word not in denied]
    for word in sorted(confirmed - set(words)):
        words.insert(round(places.get(word, 0.5) * len(words)), word)
    return words


def denied_words(asked: Sequence[Inquiry | None], answers: Sequence[int]) -> frozenset[str]:
    """Return the folded words that the sentence does not contain according to the answers."""
    found: set[str] = set()
    for inquiry, answer in zip(asked, answers, strict=True):
        if isinstance(inquiry, Contains) and inquiry.scope is Scope.SENTENCE and answer == NO:
            found.update(map(fold, inquiry.thing.words))
        elif isinstance(inquiry, TwoThings) and inquiry.scope is Scope.SENTENCE and answer in (1, 2, 3):
            for thing in {1: (inquiry.second,), 2: (inquiry.first,), 3: (inquiry.first, inquiry.second)}[answer]:
                found.update(map(fold, thing.words))
        elif isinstance(inquiry, ContainsBoth) and inquiry.scope is Scope.SENTENCE and answer == NO:
            found.update(map(fold, (*inquiry.first.words, *inquiry.second.words)))
        elif isinstance(inquiry, WhichComesFirst) and inquiry.scope is Scope.SENTENCE and answer == len(inquiry.words):
            found.update(map(fold, inquiry.words))
    return frozenset(found)


def confirmed_words(asked: Sequence[Inquiry | None], answers: Sequence[int]) -> frozenset[str]:
    """Return the folded words that the sentence contains according to the answers."""
    found: set[str] = set()
    for inquiry, answer in zip(asked, answers, strict=True):
        if isinstance(inquiry, TwoThings | ContainsBoth | Contains) and inquiry.scope is Scope.SENTENCE:
            found.update(_confirmed(inquiry, answer))
        elif isinstance(inquiry, WhichComesFirst) and inquiry.scope is Scope.SENTENCE and 0 <= answer < 3:
            found.add(fold(inquiry.words[answer]))
    return frozenset(found)


def _confirmed(inquiry: TwoThings | ContainsBoth | Contains, answer: int) -> list[str]:
    things: tuple[Thing, ...] = ()
    if isinstance(inquiry, Contains):
        things = (inquiry.thing,) if answer == YES else ()
    elif answer == 0:
        things = (inquiry.first, inquiry.second)
    elif isinstance(inquiry, TwoThings) and answer in (1, 2):
        things = (inquiry.first if answer == 1 else inquiry.second,)
    return [fold(thing.words[0]) for thing in things if len(thing.words) == 1]


def _outline(words: Sequence[str], confirmed: frozenset[str]) -> list[str]:
    return [("I" if word == "i" else word) if word in STOP_WORDS or word in confirmed else _GAP for word in words]
