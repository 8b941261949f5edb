"""Which texts have speech."""

from __future__ import annotations

import pytest

from league_agents.agents.questions.reading import Text


@pytest.mark.parametrize(
    ("text", "has_speech"),
    [
        ('The "Albatross" lay in the bay.', False),  # a ship's name
        ("The “Flying Dutchman” sailed at noon.", False),
        ("La «Belle Poule» partit à midi.", False),
        ("Das Schiff „Stolze Möwe“ lag im Hafen.", False),
        ('"Albatross," said the mate, and spat.', True),
        ("“Sail ho!” cried the man.", True),
        ('The "Albatross" lay there. "Is it deep?" asked the boy.', True),
        ('"Albatross" said the mate.', True),
        ("「走吧！」他說。", True),
    ],
)
def test_a_name_in_quotation_marks_is_no_speech(text: str, has_speech: bool) -> None:
    assert Text(text).has_speech is has_speech
