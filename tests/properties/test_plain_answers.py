"""Answers that keep the contract to the letter are read in one pass: as the careful reader reads them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from league_agents.games.q21.model import Question
from league_agents.games.q21.reading_referee import read_answers
from league_agents.games.q21.rules import PRD

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
