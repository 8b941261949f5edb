"""What an option says, whoever wrote it."""

from __future__ import annotations

import pytest

from league_agents.agents.questions.answer_key import meaning_of, meanings, place_of
from league_agents.agents.questions.kinds import NO, YES
from league_agents.games.q21.information import UNKNOWN


@pytest.mark.parametrize(
    "option",
    ["The text does not say", "The text does not tell.", "This passage doesn't say", "the book doesn’t tell us",
     "It does not say", "Does not tell", "Cannot tell", "Not stated", "Unknown"],
)  # fmt: skip
def test_silence_of_the_text_is_understood_however_it_is_worded(option: str) -> None:
    assert meaning_of(option) == UNKNOWN


@pytest.mark.parametrize(
    "option", ["The text does not tell lies", "The book does not sell", "The text does not say goodbye", "A whale"]
)
def test_an_option_of_substance_is_no_cannot_tell(option: str) -> None:
    assert meaning_of(option) is None


def test_plain_answers_keep_their_meaning() -> None:
    assert (meaning_of("Yes, it does"), meaning_of("No")) == (YES, NO)


def test_the_last_option_of_the_scripted_agents_is_found() -> None:
    options = ("Yes", "No", "In part", "The text does not say")
    assert meanings(options) is not None
    assert place_of(UNKNOWN, options) == 3
