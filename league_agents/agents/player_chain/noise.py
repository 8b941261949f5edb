"""Error rates of referees, as learnt by this player.

Rule 1: only answers whose truth is known are counted: if the score shows that the guessed sentence was right, the
answers to the questions about it can be checked.
Rule 2: a guess does not depend on this memory. After a restart a referee is unknown again, and the answers of each
batch still show how noisy it is (``belief.decode``).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from league_agents.agents.questions.belief import EXTRA_LEVELS, Extra
from league_agents.agents.questions.kinds import Inquiry, Topic
from league_agents.agents.questions.reading import CandidateReading
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.rules import AnswerKey

_REFEREES_KEPT = 200
_LEAST_EXPECTED = 0.02
_MOST_COUNTED = 120
"""Most answers of one kind that are remembered of a referee, because its owner may change it."""

_OWN_PRIOR = (0.4, 0.22, 0.16, 0.1, 0.07, 0.05)
_FIXED_PRIOR = (0.34, 0.22, 0.18, 0.13, 0.08, 0.05)
"""Yes and no are confused with "partially" more easily than four options of substance with each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseTally:
    """Counts of answers that were compared with the truth."""

    computed: int = 0
    computed_wrong: float = 0.0
    """Wrong answers minus the number expected of a careful answerer; may be negative."""

    written: int = 0
    written_wrong: float = 0.0

    def __add__(self, other: NoiseTally) -> NoiseTally:
        return NoiseTally(
            computed=self.computed + other.computed,
            computed_wrong=self.computed_wrong + other.computed_wrong,
            written=self.written + other.written,
            written_wrong=self.written_wrong + other.written_wrong,
        ).faded()

    def faded(self) -> NoiseTally:
        """Return the tally scaled down to at most ``_MOST_COUNTED`` answers of each kind."""
        one, two = (min(1.0, _MOST_COUNTED / max(1, count)) for count in (self.computed, self.written))
        return NoiseTally(
            computed=round(self.computed * one),
            computed_wrong=self.computed_wrong * one,
            written=round(self.written * two),
            written_wrong=self.written_wrong * two,
        )


def compared(asked: Sequence[Inquiry | None], answers: Sequence[int], truth: CandidateReading) -> NoiseTally:
    """Compare the answers about the text with the reading of the true sentence."""
    counts, wrong = {False: 0, True: 0}, {False: 0.0, True: 0.0}
    for inquiry, answer in zip(asked, answers, strict=True):
        if inquiry is None or answer == UNKNOWN or inquiry.topic is Topic.WORD:
            continue
        right = inquiry.answer(truth)
        if right is not None:
            counts[inquiry.is_written] += 1
            wrong[inquiry.is_written] += (answer != right) - inquiry.noise
    return NoiseTally(
        computed=counts[False], computed_wrong=wrong[False], written=counts[True], written_wrong=wrong[True]
    )


class RefereeNoise:
    """Expected noise of each referee."""

    def __init__(self, key: AnswerKey) -> None:
        self._prior = _FIXED_PRIOR if key is AnswerKey.FIXED else _OWN_PRIOR
        self._tallies: OrderedDict[str, NoiseTally] = OrderedDict()

    def learn(self, referee: str, tally: NoiseTally) -> None:
        """Add the tally of a game. No-op if ``referee`` is empty."""
        if not referee:
            return
        self._tallies[referee] = self._tallies.get(referee, NoiseTally()) + tally
        self._tallies.move_to_end(referee)
        while len(self._tallies) > _REFEREES_KEPT:
            self._tallies.popitem(last=False)

    def expected(self, referee: str) -> Extra:
        """Return the expected noise of the referee's answers."""
        tally = self._tallies.get(referee, NoiseTally())
        computed = _weighed(self._prior, tally.computed, tally.computed_wrong)
        written = _weighed(self._prior, tally.written, tally.written_wrong)
        return Extra(expected=_mean(computed), expected_written=_mean(written), prior=computed, prior_written=written)


def _weighed(prior: Sequence[float], count: int, wrong: float) -> tuple[float, ...]:
    """Return the binomial posterior of the levels after ``wrong`` of ``count`` answers; no level is ever excluded."""
    levels = np.clip(np.array(EXTRA_LEVELS), 0.01, 0.99)
    errors = min(max(wrong, 0.0), float(count))
    logs = np.log(prior) + errors * np.log(levels) + (count - errors) * np.log1p(-levels)
    weights = np.exp(logs - logs.max())
    mixed = 0.97 * weights / weights.sum() + 0.03 * np.array(prior)
    return tuple((mixed / mixed.sum()).tolist())


def _mean(weights: Sequence[float]) -> float:
    return max(_LEAST_EXPECTED, float(np.dot(weights, EXTRA_LEVELS)))
