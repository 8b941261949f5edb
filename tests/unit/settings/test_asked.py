"""What became of the questions to language models."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league_agents.errors import ModelUnavailable
from league_agents.llm.exchange import Finish, Reply, Request
from league_agents.llm.port import Prompt, Purpose, Usage
from league_agents.settings.asked import Asked, Outages

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


class Moody:
    name = "openai:tiny"

    def __init__(self, moods: str) -> None:
        self._moods = iter(moods)

    def exchange(self, request: Request) -> Reply:
        if next(self._moods) == "-":
            raise ModelUnavailable(f"{self.name}: nobody\nlistens")
        return Reply(text="here", finish=Finish.COMPLETE, usage=Usage(), model=self.name)


@pytest.mark.parametrize(("moods", "told"), [("+++", ""), ("---", "-"), ("+--++", "-+"), ("-+-+", "-+-+")])
def test_a_model_that_falls_silent_is_told_once_and_its_return_too(moods: str, told: str) -> None:
    failed: list[str] = []
    heard: list[str] = []

    def fail(text: str) -> None:
        failed.append(text)
        heard.append("-")

    backend = Outages(failed=fail, recovered=lambda _: heard.append("+")).watched(Moody(moods))
    for mood in moods:
        if mood == "-":
            with pytest.raises(ModelUnavailable):
                backend.exchange(REQUEST)
        else:
            assert backend.exchange(REQUEST).text == "here"
    assert "".join(heard) == told
    assert all(text.startswith("openai:tiny does not answer: nobody") and "\n" not in text for text in failed)


def test_one_model_s_silence_is_not_another_s() -> None:
    failed: list[str] = []
    outages = Outages(failed=failed.append, recovered=failed.append)
    for moods in ("-", "-"):
        with pytest.raises(ModelUnavailable):
            outages.watched(Moody(moods)).exchange(REQUEST)
    assert len(failed) == 2
