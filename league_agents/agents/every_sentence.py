"""Belief about a target in a book whose paragraphs may begin elsewhere in the referee's edition.

Rule: the beginnings of the stored paragraphs come first. The sentences inside them are considered if the answers fit no
beginning well, and together they have only a share of the probability that the target is unlisted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from league_agents.agents.candidates import Candidates, grouped
from league_agents.agents.questions.belief import UNKNOWN_ANSWERER, Belief, Extra, decode, sentence_likelihood
from league_agents.agents.questions.inner_sentences import sentences_inside
from league_agents.agents.questions.kinds import Inquiry
from league_agents.kit.values import evolve

_DOUBTFUL = 0.1
"""Probability of an unlisted target above which the sentences inside paragraphs are considered."""

_MOST_INNER = 300
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
    likely = np.argsort(-sentence_likelihood([reading for _, reading in inner], asked, answers, _LEVEL), kind="stable")
    inner = [inner[place] for place in likely[:_MOST_INNER]]
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
