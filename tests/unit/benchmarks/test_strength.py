"""The measure of strength itself: its noise, its strategies, its repeatability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.strength import NoisyReferee, knowledge_of, measure, rules_for
from league_agents.agents.questions.batch import Strategy
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.kit.draw import Draw
from league_agents.knowledge.documents import make_document

_ROWS = (
    ("The dog", "A nurse", "Old Tom", "My aunt"),
    ("saw", "took", "hid", "broke"),
    ("a red cup", "the boat", "an oak", "his ring"),
)


def _book(paragraphs: int) -> str:
    draw = Draw(1, "rows")
    lines = [" ".join(draw.choice(row) for row in _ROWS) + "." for _ in range(paragraphs * 6)]
    return "\n\n".join(" ".join(lines[i : i + 6]) for i in range(0, len(lines), 6))


BOOK = make_document(_book(60), source="rows.txt", title="Rows")


class SameAnswer:
    """A referee who always says the same."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def get_answers(self, ctx: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"answers": [{"question_number": n, "answer": self._answer} for n in range(1, 2001)]}


def noisy_answers(rules: RuleSet, answer: str, text: str, wrong: float) -> list[str]:
    own = rules.answer_key is AnswerKey.OWN
    options = dict(zip("ABCD", ("A to F", "G to L", "M to R", "S to Z") if own else rules.fixed_options, strict=True))
    found: list[str] = []
    for match in range(10):
        questions = [{"question_number": n, "question_text": text, "options": options} for n in range(1, 201)]
        referee = NoisyReferee(SameAnswer(answer), rules=rules, wrong=wrong, seed=1)  # type: ignore[arg-type]
        dynamic = {"match_id": str(match), "questions": questions}
        answers: Any = referee.get_answers({"dynamic": dynamic})["answers"]
        found += [each["answer"] for each in answers[:200]]
    return found


FIRST_LETTER = "With which letter does the first word of the opening sentence begin?"
PLAIN = "Does the opening sentence contain the word “and”?"
JOINED = "Does the opening sentence contain both (1) the word “and” and (2) a comma (partially: only one of them)?"


@pytest.mark.parametrize(
    ("rules", "text", "answer", "shares"),
    [
        ("course", FIRST_LETTER, "B", {"A": 0.05, "B": 0.85, "C": 0.05, "D": 0.05}),
        ("course", FIRST_LETTER, "Not Relevant", {"Not Relevant": 1.0}),
        ("prd", PLAIN, "A", {"A": 0.85, "B": 0.12, "C": 0.03}),
        ("prd", PLAIN, "D", {"D": 1.0}),  # silence is no error
        ("prd", JOINED, "C", {"C": 0.85, "A": 0.075, "B": 0.075}),
    ],
)
def test_answers_are_wrong_as_documented(rules: str, text: str, answer: str, shares: dict[str, float]) -> None:
    found = noisy_answers(rules_for(rules), answer, text, 0.15)
    for letter in ("A", "B", "C", "D", "Not Relevant"):
        assert found.count(letter) / len(found) == pytest.approx(shares.get(letter, 0.0), abs=0.025)


def test_without_noise_nothing_is_changed() -> None:
    assert set(noisy_answers(rules_for("course"), "B", FIRST_LETTER, 0.0)) == {"B"}


def test_a_series_of_games_repeats_itself() -> None:
    knowledge = knowledge_of([BOOK])
    one = measure(knowledge, rules_for("course"), wrong_percent=15, games=3)
    assert one == measure(knowledge_of([BOOK]), rules_for("course"), wrong_percent=15, games=3)


def test_honest_answers_find_sentence_and_word() -> None:
    found = measure(knowledge_of([BOOK]), rules_for("prd"), wrong_percent=0, games=4)
    assert found.sentence_right == 1.0
    assert found.word_right >= 0.75
    assert found.private_score > 85


@pytest.mark.parametrize("strategy", [Strategy.FIRST, Strategy.RANDOM])
def test_the_strategies_to_compare_with_play_valid_games(strategy: Strategy) -> None:
    found = measure(knowledge_of([BOOK]), rules_for("course"), wrong_percent=0, games=2, strategy=strategy)
    assert 0 <= found.sentence_right <= 1
