"""Questions about real novels whose answers can be checked: the offline referee is right."""

from __future__ import annotations

import pytest

from benchmarks.answering import PAIRS, measure_answers
from league_agents.games.q21.rules import COURSE, PRD, RuleSet


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_ninety_nine_of_a_hundred_answers_that_can_be_checked_are_right(rules: RuleSet) -> None:
    accuracy = measure_answers(pairs=PAIRS, rules=rules)
    assert len(accuracy.asked) == PAIRS
    assert len({each.question.kind for each in accuracy.asked}) >= 25
    letters = [each.question.letter for each in accuracy.asked]
    assert max(map(letters.count, set(letters))) < 0.6 * PAIRS
    assert accuracy.right >= 0.99, accuracy.wrong_kinds
