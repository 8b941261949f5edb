"""What became of the questions to language models."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league_agents.errors import ModelUnavailable
from league_agents.llm.exchange import Finish, Reply, Request
from league_agents.llm.port import Prompt, Purpose, Usage
from league_agents.settings.asked import Asked

REQUEST = Request(
    prompt=Prompt(system="s", user="u", purpose=Purpose(match_id="m", callback="get_guess", step="guess")),
    schema=None,
    max_output_tokens=10,
    timeout=timedelta(seconds=1),
)


class Answering:
    name = "openai:tiny"

    def exchange(self, request: Request) -> Reply:
        return Reply(text=request.prompt.user, finish=Finish.COMPLETE, usage=Usage(), model=self.name)


class Down:
    name = "openai:tiny"

    def exchange(self, request: Request) -> Reply:
        raise ModelUnavailable(f"nobody\nlistens to {request.prompt.user}")


def test_who_asked_nothing_has_nothing_to_say() -> None:
    assert Asked().sentence() is None


def test_replies_pass_through_and_are_counted() -> None:
    asked = Asked()
    assert asked.watched(Answering()).exchange(REQUEST).text == "u"
    assert not asked.has_failed
    assert asked.sentence() == "language models replied to 1 call"


def test_a_game_that_no_model_played_is_not_taken_for_a_model_s() -> None:
    asked = Asked()
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            asked.watched(Down()).exchange(REQUEST)
    said = asked.sentence() or ""
    assert asked.has_failed
    assert said.startswith("no language model replied, so all of it was played offline (2 of 2 calls failed")
    assert "\n" not in said
    assert "listens to u" in said


def test_some_failures_are_told_from_all() -> None:
    asked = Asked()
    asked.watched(Answering()).exchange(REQUEST)
    with pytest.raises(ModelUnavailable):
        asked.watched(Down()).exchange(REQUEST)
    assert "1 of 2 calls failed" in (asked.sentence() or "")
    assert (asked.sentence() or "").startswith("language models failed now and then")
