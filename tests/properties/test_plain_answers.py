"""Answers and questions that keep the contract to the letter are read in one pass: as the careful reader reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league_agents.games.q21 import reading_player
from league_agents.games.q21.model import Question
from league_agents.games.q21.reading_player import read_questions
from league_agents.games.q21.reading_referee import read_answers
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.values import evolve

QUESTIONS = tuple(
    Question(number=number, text=f"Is it {number}?", options=("Yes", "No", "Both", "Neither")) for number in (1, 2, 3)
)


class Careful(dict[str, object]):
    """Not a plain dict, so that it takes the long way."""


odd: st.SearchStrategy[object] = st.sampled_from(
    (None, True, 0, -1, 4, 1.0, 10**30, "", "a", " A", "E", "\ud800", "1", [], {})
)
items = st.lists(
    st.fixed_dictionaries(
        {"question_number": st.integers(1, 3) | odd, "answer": st.sampled_from(["A", "D", "Not Relevant"]) | odd},
        optional={"why": odd},
    ),
    max_size=5,
)


@given(items | st.permutations([{"question_number": number, "answer": "B"} for number in (1, 2, 3)]))
def test_both_ways_read_the_same_answers_and_say_the_same_of_them(answers: list[dict[str, object]]) -> None:
    short = read_answers({"answers": answers}, QUESTIONS, PRD)
    long = read_answers({"answers": [Careful(answer) for answer in answers]}, QUESTIONS, PRD)
    assert short == long


THREE = [evolve(rules, questions_required=3) for rules in (COURSE, PRD)]
word = st.sampled_from(("Yes", "Grün", "Is it?", "Is it blue?", "…?", "Is  it?", " Is it?", "Is\nit?", "x" * 1001))
asked = st.fixed_dictionaries(
    {
        "question_number": st.integers(1, 3) | odd,
        "question_text": st.just("Is the word long?") | word | odd,
        "options": st.just(dict(zip("ABCD", COURSE.fixed_options, strict=True)))
        | st.fixed_dictionaries(dict.fromkeys("ABCD", word | odd))
        | odd,
    },
    optional={"why": odd},
)
good = {"question_text": "Is the word long?", "options": dict(zip("ABCD", PRD.fixed_options, strict=True))}


@given(
    st.sampled_from(THREE),
    st.lists(asked, min_size=2, max_size=4)
    | st.permutations([{"question_number": number, **good} for number in (1, 2, 3)])
    | st.tuples(asked, *(st.just({"question_number": number, **good}) for number in (2, 3))).map(list),
)
def test_both_ways_read_the_same_questions_and_say_the_same_of_them(
    rules: RuleSet, questions: list[dict[str, object]]
) -> None:
    short = read_questions({"questions": questions}, rules)
    long = read_questions({"questions": [Careful(question) for question in questions]}, rules)
    assert short == long


def test_twenty_plain_questions_are_read_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_player, "_usable", None)
    questions = [{"question_number": number, **good} for number in range(1, 21)]
    assert [question.number for question in read_questions({"questions": questions}, PRD).value] == [*range(1, 21)]
