"""Asking a model once, in the time that is left."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from league_agents.agents.asking import SOFT_LIMIT, Asker, time_for_models
from league_agents.agents.contexts import CallContext
from league_agents.agents.referee_chain.hinting import ProposedHints
from league_agents.agents.secrecy import canary_of
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ModelUnavailable
from league_agents.llm.chat import Chat
from tests.support.scripted_model import Scripted, ScriptedBackend

VALUES: dict[str, Any] = {
    "title": "Emma", "passage": "It was a fine day.", "facts": [], "words": 15, "characters": 200, "style": "fair",
    "base": "A hint.", "taboo": ["fine"], "is_passage": True,
}  # fmt: skip


def context(**service: object) -> CallContext:
    return CallContext({"dynamic": {"match_id": "0101001", "season_id": "S1"}, "service": service})


def asker(backend: ScriptedBackend | None, clock: ManualClock | None = None, key: str = "k") -> Asker:
    chat = Chat(backend) if backend is not None else None
    return Asker(lambda callback: chat, key=key, clock=clock)


def clock() -> ManualClock:
    return ManualClock(datetime(2031, 5, 2, tzinfo=UTC))


def test_a_value_comes_back_and_the_call_says_what_it_is_for() -> None:
    backend = ScriptedBackend([json.dumps({"hints": ["one"]})])
    turn = asker(backend).begin(context(), "get_round_start_info")
    assert turn.ask("referee_hint", ProposedHints, max_output_tokens=100, **VALUES) == ProposedHints(hints=["one"])
    purpose = backend.requests[0].prompt.purpose
    assert (purpose.match_id, purpose.season_id, purpose.callback, purpose.step) == (
        "0101001",
        "S1",
        "get_round_start_info",
        "referee_hint",
    )


@pytest.mark.parametrize("said", [ModelUnavailable("down"), "no JSON", '{"hints": 3}'])
def test_what_fails_is_nothing(said: Scripted) -> None:
    turn = asker(ScriptedBackend(lambda request: said)).begin(context(deadline_seconds=5), "get_answers")
    assert turn.ask("referee_hint", ProposedHints, max_output_tokens=100, **VALUES) is None


def test_a_completion_that_shows_the_private_mark_is_nothing() -> None:
    def repeating(request: Any) -> str:
        return json.dumps({"hints": [f"told: {canary_of(request.prompt)}"]})

    turn = asker(ScriptedBackend(repeating)).begin(context(), "get_answers")
    assert turn.ask("referee_hint", ProposedHints, max_output_tokens=100, **VALUES) is None


def test_keys_and_salts_change_the_mark_and_nothing_else() -> None:
    prompts = []
    for key, salt in (("k", ""), ("k", "x"), ("other", "")):
        backend = ScriptedBackend([json.dumps({"hints": []})])
        asker(backend, key=key).begin(context(), "c").ask(
            "referee_hint", ProposedHints, max_output_tokens=9, salt=salt, **VALUES
        )
        prompts.append(backend.requests[0].prompt)
    assert len({canary_of(prompt) for prompt in prompts}) == 3
    assert len({prompt.user for prompt in prompts}) == 1


def test_the_time_runs_from_the_beginning_of_the_callback() -> None:
    time = clock()
    backend = ScriptedBackend([json.dumps({"hints": []})])
    turn = asker(backend, time).begin(context(deadline_seconds=20), "get_answers")
    assert turn.may_ask("referee_hint")
    time.sleep(timedelta(seconds=10))
    assert turn.left == timedelta(seconds=7)
    turn.keep_back(timedelta(seconds=6.5))
    assert not turn.may_ask("referee_hint")
    assert turn.ask("referee_hint", ProposedHints, max_output_tokens=100, **VALUES) is None
    assert backend.requests == []


def test_without_a_model_nobody_is_asked() -> None:
    turn = asker(None).begin(context(), "get_answers")
    assert not turn.may_ask("referee_hint")
    assert turn.ask("referee_hint", ProposedHints, max_output_tokens=100, **VALUES) is None


@pytest.mark.parametrize(
    ("service", "seconds"),
    [({}, 25), ({"deadline_seconds": 120}, 25), ({"deadline_seconds": 10}, 7), ({"deadline_seconds": float("nan")}, 25),
     ({"deadline_seconds": float("inf")}, 25), ({"deadline_seconds": 10**40}, 25), ({"deadline_seconds": -5}, -8)],
)  # fmt: skip
def test_models_have_the_soft_limit_or_what_the_deadline_leaves(service: dict[str, object], seconds: float) -> None:
    assert time_for_models(context(**service)) == timedelta(seconds=seconds)
    assert timedelta(seconds=25) == SOFT_LIMIT
