"""A guess at the sentence of an unknown book: the small words that typical sentences with these answers share.

Rule: nothing of the brief is repeated, and no sentence of another book is passed off as the target: words of content
are left out, marked by an ellipsis, unless an answer confirmed them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from league_agents.agents.candidates import Candidates
from league_agents.agents.questions.belief import sentence_likelihood
from league_agents.agents.questions.four_options import TwoThings, WhichComesFirst
from league_agents.agents.questions.kinds import YES, Inquiry, Scope, Thing
from league_agents.agents.questions.reading import CandidateReading, fold
from league_agents.agents.questions.yes_no import Contains, ContainsBoth
from league_agents.games.q21.information import normalise_logs
from league_agents.games.q21.similarity import sentence_similarity
from league_agents.knowledge.words import STOP_WORDS

_CARELESS = 0.1
"""Noise level at which the answers are compared with the typical sentences."""

_COMPARED = 60
_SKELETONS = 40
_PLAIN = "It was the … of the … that he had … in the … and a …"


def sentence_from_answers(
    candidates: Candidates, asked: Sequence[Inquiry | None], answers: Sequence[int], *, least_characters: int
) -> str:
    """Return the outline that resembles typical sentences with these answers most, on average."""
    readings = [each for each in candidates.reference if each.sentence is not None]
    outlines = [_PLAIN]
    likely: list[tuple[str, float]] = []
    if readings:
        weights = normalise_logs(sentence_likelihood(readings, asked, answers, _CARELESS))
        order = np.argsort(-weights, kind="stable")[:_COMPARED].tolist()
        confirmed = confirmed_words(asked, answers)
        likely = [(readings[i].sentence.text, float(weights[i])) for i in order]
        outlines += [_outline(readings[i], confirmed) for i in order[:_SKELETONS]]
    fair = [outline for outline in outlines if len(outline) >= least_characters and len(outline.split()) > 2]

    def resemblance(outline: str) -> float:
        return sum(weight * sentence_similarity(outline, sentence) for sentence, weight in likely)

    best = max(fair or [_PLAIN], key=resemblance)
    return f"{best[0].upper()}{best[1:]}".rstrip(" .") + "."


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


def _outline(reading: CandidateReading, confirmed: frozenset[str]) -> str:
    words: list[str] = []
    for word in reading.sentence.words if reading.sentence else ():
        if fold(word) in STOP_WORDS or fold(word) in confirmed:
            words.append(word if word == "I" else word.lower())
        elif words[-1:] != ["…"]:
            words.append("…")
    return " ".join(words)
