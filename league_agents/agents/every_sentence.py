"""Belief about a target in a book whose paragraphs may begin elsewhere in the referee's edition.

Rule: the beginnings of the stored paragraphs come first. The sentences inside them are considered if the answers fit no
beginning well, and together they have only a share of the probability that the target is unlisted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from league_agents.agents.candidates import Candidates, grouped
from league_agents.agents.questions.aspects import OfText
from league_agents.agents.questions.belief import UNKNOWN_ANSWERER, Belief, Extra, decode, sentence_likelihood
from league_agents.agents.questions.inner_sentences import sentences_inside
from league_agents.agents.questions.kinds import Inquiry, Topic
from league_agents.kit.values import evolve

_DOUBTFUL = 0.1
"""Probability of an unlisted target above which the sentences inside paragraphs are considered."""

_MOST_INNER = 300
_COMPARED_SHARE = 4
"""One in so many sentences is compared by every answer, the others only by those that do not ask for words in it: a
sentence need not be divided into its vocabulary for these."""

_LEAST_FIRST = 6
"""Least number of such answers that can choose."""

_LEVEL = 0.1
"""Noise level at which the inner sentences are compared first."""

_INNER_SHARE = 0.5
"""Share of the unlisted targets that are sentences inside the stored paragraphs."""


def believe(
    candidates: Candidates, asked: Sequence[Inquiry | None], answers: Sequence[int], extra: Extra = UNKNOWN_ANSWERER
) -> tuple[Candidates, Belief]:
    """Infer the target; return the candidates that were considered, and the belief about them."""
    belief = decode(candidates, asked, answers, extra)
    if belief.unlisted <= _DOUBTFUL or not candidates.is_known:
        return candidates, belief
    widened = _with_inner_sentences(candidates, asked, answers)
    return (candidates, belief) if widened is None else (widened, decode(widened, asked, answers, extra))


def _with_inner_sentences(
    candidates: Candidates, asked: Sequence[Inquiry | None], answers: Sequence[int]
) -> Candidates | None:
    """Return the candidates with the inner sentences that the answers about the sentence fit best, if there are any."""
    paragraphs = [(each.paragraph.text, each.part) for each in candidates.readings if each.paragraph is not None]
    known = set(candidates.sentences)
    inner = [row for text, part in paragraphs for row in sentences_inside(text, part) if row[0] not in known]
    if not inner:
        return None
    # All have the same prior, but only for the best is the paragraph read, which takes far longer than the sentence.
    each = candidates.unlisted * _INNER_SHARE / len(inner)
    for inquiries, most in _steps(asked, len(inner)):
        fit = sentence_likelihood([reading for _, reading in inner], inquiries, answers, _LEVEL)
        inner = [inner[place] for place in np.argsort(-fit, kind="stable")[:most]]
    sentences = (*candidates.sentences, *(sentence for sentence, _ in inner))
    prior = np.append(candidates.prior * (1 - candidates.unlisted), np.full(len(inner), each))
    return evolve(
        candidates,
        sentences=sentences,
        readings=(*candidates.readings, *(reading for _, reading in inner)),
        groups=grouped(sentences),
        prior=prior / prior.sum(),
        given=np.vstack([candidates.given, np.tile(candidates.word_prior, (len(inner), 1))]),
        unlisted=1 - float(prior.sum()),
    )


def _steps(asked: Sequence[Inquiry | None], count: int) -> list[tuple[Sequence[Inquiry | None], int]]:
    """Return the questions by which the sentences are compared, and how many of them are kept, step by step."""
    quick = [None if inquiry is None or isinstance(inquiry, OfText) else inquiry for inquiry in asked]
    told = sum(inquiry is not None and inquiry.topic is Topic.SENTENCE for inquiry in quick)
    first = [(quick, max(_MOST_INNER, count // _COMPARED_SHARE))] if told >= _LEAST_FIRST else []
    return [*first, (asked, _MOST_INNER)]
