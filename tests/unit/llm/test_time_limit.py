"""An exchange that hangs is left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from league_agents.kit.errors import ConfigError, MalformedCompletion, ModelUnavailable
from league_agents.kit.values import evolve
from league_agents.llm.exchange import Finish, Reply, Request, Unanswered
from league_agents.llm.port import Usage
from league_agents.llm.time_limit import TimeLimited
from league_agents.local_league.patience import LIMIT_S
from tests.support.scripted_model import Scripted, ScriptedBackend


@pytest.fixture
def hanging() -> Any:
    """A service that answers when it is let go."""
    released = threading.Event()

    def hang(_request: Request) -> Scripted:
        released.wait(LIMIT_S)
        return "late"

    yield ScriptedBackend(hang), released
    released.set()


def test_a_hanging_exchange_ends_in_time(hanging: Any, request_of: Callable[..., Request]) -> None:
    backend, _ = hanging
    limited = TimeLimited(backend)
    with pytest.raises(Unanswered, match=r"no answer within 0\.1 s"):
        limited.exchange(evolve(request_of(), timeout=timedelta(seconds=0.1)))
    assert limited.left_behind == 1


def test_only_so_many_are_left_behind_and_they_may_come_back(hanging: Any, request_of: Callable[..., Request]) -> None:
    backend, released = hanging
    limited = TimeLimited(backend, most_left_behind=2)
    short = evolve(request_of(), timeout=timedelta(seconds=0.02))
    for _ in range(2):
        with pytest.raises(Unanswered):
            limited.exchange(short)
    with pytest.raises(ModelUnavailable, match="still hang"):
        limited.exchange(short)
    assert len(backend.requests) == 2
    released.set()
    for thread in threading.enumerate():
        if thread.name == limited.name:
            thread.join(LIMIT_S)
    assert limited.left_behind == 0
    assert limited.exchange(request_of()).text == "late"


def test_whatever_an_sdk_raises_is_a_failure_with_a_name(request_of: Callable[..., Request]) -> None:
    def broken(_request: Request) -> Scripted:
        raise KeyError("sk-secret")

    with pytest.raises(Unanswered, match="failed with KeyError") as failed:
        TimeLimited(ScriptedBackend(broken)).exchange(request_of())
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(("returned", "said"), [
    (None, "x:m: its provider returned an object of type NoneType"),
    ("yes", "x:m: its provider returned an object of type str"),
    (Reply(text=None, finish=Finish.COMPLETE, usage=Usage(), model="x:m"),  # type: ignore[arg-type]
     "x:m: its provider returned a Reply without text or usage"),
])  # fmt: skip
def test_what_is_no_reply_is_a_failure_and_nothing_is_left_behind(
    returned: Any, said: str, request_of: Callable[..., Request]
) -> None:
    class Careless:
        name = "x:m"

        def exchange(self, _request: Request) -> Any:
            return returned

    limited = TimeLimited(Careless())
    with pytest.raises(MalformedCompletion) as failed:
        limited.exchange(request_of())
    assert (str(failed.value), limited.left_behind) == (said, 0)


def test_our_own_errors_pass_as_they_are(request_of: Callable[..., Request]) -> None:
    with pytest.raises(ConfigError, match="x: is wrong"):
        TimeLimited(ScriptedBackend([ConfigError("x", "is wrong")])).exchange(request_of())


def test_nothing_is_asked_when_no_time_is_left(request_of: Callable[..., Request]) -> None:
    backend = ScriptedBackend(["yes"])
    with pytest.raises(ModelUnavailable):
        TimeLimited(backend).exchange(evolve(request_of(), timeout=timedelta(0)))
    assert backend.requests == []
