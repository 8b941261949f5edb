"""Several models behind one face."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from league_agents.kit.errors import MalformedCompletion, ModelRefused, ModelUnavailable
from league_agents.llm.chain import Chain, ChainModel, Health
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import OverBudget, Patience, Rejected, Request
from league_agents.llm.port import Prompt
from tests.support.scripted_model import Scripted, ScriptedBackend

MINUTE = timedelta(minutes=1)


class Word(BaseModel):
    word: str


class Models:
    """A chain of scripted models that share a clock."""

    def __init__(self, seconds: Any, prompt: Prompt, **scripts: Any) -> None:
        self.prompt = prompt
        self.seconds = seconds
        self.backends = {name: ScriptedBackend(script, name=f"scripted:{name}") for name, script in scripts.items()}
        self.health = {name: Health(monotonic=seconds) for name in scripts}
        members = [
            ChainModel(model=Chat(backend, Patience(retries=0), monotonic=seconds), health=self.health[name])
            for name, backend in self.backends.items()
        ]
        self.chain = Chain(members, monotonic=seconds, sleep=seconds.sleep)

    def ask(self, timeout: timedelta = MINUTE) -> str:
        return self.chain.complete_text(self.prompt, timeout=timeout, max_output_tokens=50).text

    def asked(self) -> dict[str, int]:
        return {name: len(backend.requests) for name, backend in self.backends.items()}


@pytest.fixture
def models(seconds: Any, prompt_of: Any) -> Any:
    return lambda **scripts: Models(seconds, prompt_of(), **scripts)


def test_the_first_model_answers_and_the_others_are_not_asked(models: Any) -> None:
    made = models(a=["yes"], b=["no"])
    assert made.ask() == "yes"
    assert made.asked() == {"a": 1, "b": 0}
    assert made.chain.name == "scripted:a, then scripted:b"


@pytest.mark.parametrize("error", [
    ModelUnavailable("down"), Rejected("no key"), OverBudget("too dear"), ModelRefused("no"), MalformedCompletion("?"),
])  # fmt: skip
def test_whatever_the_first_fails_with_the_next_one_answers(models: Any, error: Exception) -> None:
    assert models(a=[error], b=["yes"]).ask() == "yes"


def test_values_go_through_a_chain_too(seconds: Any, prompt_of: Any) -> None:
    made = Models(seconds, prompt_of(), a=["no", "no"], b=['{"word": "whale"}'])
    parsed = made.chain.complete_json(prompt_of(), Word, timeout=MINUTE, max_output_tokens=50)
    assert parsed.value.word == "whale"
    assert parsed.completion.model == "scripted:b"


def test_when_all_fail_each_is_named_and_their_use_is_added_up(models: Any) -> None:
    made = models(a=[ModelUnavailable("a is down")], b=["", ""])
    with pytest.raises(ModelUnavailable, match=r"a is down; scripted:b: the reply is empty") as failed:
        made.ask()
    assert failed.value.usage.requests == 1


def test_a_chain_of_one_raises_what_that_one_raised(models: Any) -> None:
    with pytest.raises(ModelRefused):
        models(a=[ModelRefused("no")]).ask()


def test_the_first_model_leaves_time_for_the_next(models: Any, seconds: Any) -> None:
    def hang(request: Request) -> Scripted:
        seconds.now += request.timeout.total_seconds()
        return ModelUnavailable("too slow")

    made = models(a=hang, b=["yes"])
    began = seconds.now
    assert made.ask() == "yes"
    assert made.backends["b"].requests[0].timeout > MINUTE * 0.3
    assert seconds.now - began < 60


def test_a_model_that_is_down_is_left_alone_for_a_while(models: Any, seconds: Any) -> None:
    made = models(a=[ModelUnavailable("down")] * 2 + ["back"], b=["b1", "b2", "b3"])
    assert [made.ask(), made.ask(), made.ask()] == ["b1", "b2", "b3"]
    assert made.asked() == {"a": 2, "b": 3}
    seconds.now += 6
    assert made.ask() == "back"


def test_a_model_is_left_alone_as_long_as_it_asks(models: Any, seconds: Any) -> None:
    made = models(a=[ModelUnavailable("busy", retry_after=timedelta(seconds=30)), "back"], b=["b1", "b2"])
    assert made.ask() == "b1"
    seconds.now += 29
    assert made.ask() == "b2"
    seconds.now += 2
    assert made.ask() == "back"


def test_a_wrong_key_is_not_tried_with_every_callback(models: Any, seconds: Any) -> None:
    made = models(a=[Rejected("wrong key")] * 9, b=["yes"] * 9)
    for _ in range(5):
        made.ask()
        seconds.now += 60
    assert made.asked() == {"a": 1, "b": 5}


def test_a_limit_of_the_users_own_says_nothing_about_health(models: Any) -> None:
    made = models(a=[OverBudget("too dear")] * 3 + ["yes"], b=["b"] * 3)
    assert [made.ask() for _ in range(4)] == ["b", "b", "b", "yes"]


def test_the_only_model_is_waited_for_when_there_is_time(models: Any, seconds: Any) -> None:
    made = models(a=[ModelUnavailable("busy", retry_after=timedelta(seconds=10)), "yes"])
    with pytest.raises(ModelUnavailable):
        made.ask()
    assert made.ask() == "yes"
    assert seconds.slept == [10]


def test_the_only_model_is_not_waited_for_when_that_takes_too_long(models: Any, seconds: Any) -> None:
    made = models(a=[ModelUnavailable("busy", retry_after=timedelta(seconds=40)), "yes"])
    with pytest.raises(ModelUnavailable):
        made.ask()
    with pytest.raises(ModelUnavailable, match="left alone for 40 s") as failed:
        made.ask()
    assert failed.value.retry_after == timedelta(seconds=40)
    assert made.asked() == {"a": 1}


def test_a_model_that_is_too_slow_for_the_time_left_is_passed_over(models: Any, seconds: Any) -> None:
    def slow(_request: Request) -> Scripted:
        seconds.now += 20
        return "slow"

    made = models(a=slow, b=["quick"])
    assert made.ask() == "slow"
    assert made.ask(timedelta(seconds=10)) == "quick"
    assert made.ask() == "slow"


def test_one_slow_answer_does_not_bar_a_model_for_ever(models: Any, seconds: Any) -> None:
    first: list[str] = []

    def slow_at_first(_request: Request) -> Scripted:
        seconds.now += 0 if first else 30
        first.append("asked")
        return "the better one"

    made = models(a=slow_at_first, b=["quick"] * 9)
    assert made.ask() == "the better one"
    short = timedelta(seconds=10)
    assert [made.ask(short) for _ in range(5)] == ["quick"] * 5
    assert made.ask(short) == "the better one"


def test_models_that_two_chains_share_are_left_alone_by_both(seconds: Any, prompt_of: Any) -> None:
    backend = ScriptedBackend([Rejected("wrong key"), "yes"])
    member = ChainModel(model=Chat(backend, Patience(retries=0)), health=Health(monotonic=seconds))
    other = ChainModel(model=Chat(ScriptedBackend(["other"] * 2)), health=Health(monotonic=seconds))
    chains = [Chain([member, other], monotonic=seconds), Chain([member, other], monotonic=seconds)]
    for chain in chains:
        assert chain.complete_text(prompt_of(), timeout=MINUTE, max_output_tokens=9).text == "other"
    assert len(backend.requests) == 1
