"""Prompts and scripted services."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.llm.exchange import Request
from league_agents.llm.port import Prompt, Purpose


class Seconds:
    """A monotonic clock that moves when somebody sleeps on it."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2031, 5, 2, 8, 0, tzinfo=UTC))


@pytest.fixture
def prompt_of() -> Callable[..., Prompt]:
    def make(
        user: str = "Which word?",
        *,
        system: str = "Answer.",
        match_id: str = "0101001",
        callback: str = "get_guess",
        season_id: str = "S1",
    ) -> Prompt:
        purpose = Purpose(match_id=match_id, callback=callback, step="opinion", season_id=season_id)
        return Prompt(system=system, user=user, purpose=purpose)

    return make


@pytest.fixture
def request_of(prompt_of: Callable[..., Prompt]) -> Callable[..., Request]:
    def make(user: str = "Which word?", *, most: int = 100, **more: str) -> Request:
        prompt = prompt_of(user, **more)
        return Request(prompt=prompt, schema=None, max_output_tokens=most, timeout=timedelta(seconds=5))

    return make
