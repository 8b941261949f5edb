"""What a response that cannot be used means for who asked."""

from __future__ import annotations

from league_agents.kit.errors import MalformedCompletion
from league_agents.llm.exchange import Unanswered
from league_agents.llm.responses import TooSlow, UnreadableBody, failure_of


def test_a_response_that_is_too_slow_is_no_answer() -> None:
    """Whichever limit is noticed first, that of the body or that of the whole exchange."""
    error = failure_of(TooSlow(), "openai:m", "its address")
    assert isinstance(error, Unanswered)
    assert str(error) == "openai:m: the response came too slowly"


def test_a_response_that_is_too_long_is_a_malformed_one() -> None:
    assert type(failure_of(UnreadableBody("it has more than 3 bytes"), "m", "there")) is MalformedCompletion
