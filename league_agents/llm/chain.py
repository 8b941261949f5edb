"""A chain of models: the first with time, budget and health answers, otherwise the next one.

Rule 1: a model never uses the time that the models after it need.
Rule 2: a failed model is not asked for a while, at least as long as its service requires. Health is kept per model in
an object of the owner, so it does not survive a restart.
Rule 3: reaching a limit of the user's own does not affect a model's health.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from league_agents.kit.clock import monotonic_s, sleep_s
from league_agents.kit.errors import ModelError, ModelUnavailable
from league_agents.llm.exchange import OverBudget, Rejected, usage_of
from league_agents.llm.port import ChatModel, Completion, M, Parsed, Prompt, Usage

T = TypeVar("T")

FAILURES_BEFORE_REST = 2
FIRST_REST, LONGEST_REST = timedelta(seconds=5), timedelta(minutes=5)
REST_OF_REJECTED = timedelta(minutes=10)
"""After a wrong key or an unknown model: a person has to fix it."""

_KEPT_PART, _MOST_KEPT = 0.4, timedelta(seconds=45)
"""Part of the time left, and its upper bound, reserved for the models after the current one."""

_WORTH_WAITING = 0.25
"""Part of the time left that may be spent waiting for the only model."""

_LEAST_TIME = timedelta(milliseconds=100)
_REMEMBERED = 0.3
"""Weight of the newest answer in a model's usual duration."""


class Health:
    """Recent health of one model. Thread-safe."""

    def __init__(self, *, monotonic: Callable[[], float] = monotonic_s) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until_s = 0.0
        self._usual_s: float | None = None

    def rest(self) -> timedelta:
        """Return how long the model must still not be asked; zero if it may be asked."""
        with self._lock:
            return timedelta(seconds=max(0.0, self._rests_until_s - self._monotonic()))

    def usual(self) -> timedelta | None:
        """Return the usual duration of an answer; ``None`` before the first one."""
        return None if self._usual_s is None else timedelta(seconds=self._usual_s)

    def passed_over(self) -> None:
        """Record that the model was skipped as too slow. Its usual duration decays, so a slow answer is forgotten."""
        with self._lock:
            if self._usual_s is not None:
                self._usual_s *= 1 - _REMEMBERED

    def answered(self, took: timedelta) -> None:
        """Record that the service answered, usefully or not."""
        with self._lock:
            took_s = took.total_seconds()
            usual_s = took_s if self._usual_s is None else self._usual_s
            self._usual_s = usual_s + _REMEMBERED * (took_s - usual_s)
            self._failures = 0
            self._rests_until_s = 0.0

    def failed(self, error: ModelUnavailable) -> None:
        """Record that the service did not answer."""
        if isinstance(error, OverBudget):
            return
        with self._lock:
            self._failures += 1
            rest = error.retry_after or timedelta(0)
            if isinstance(error, Rejected):
                rest = max(rest, REST_OF_REJECTED)
            if self._failures >= FAILURES_BEFORE_REST:
                doubled: int = 2 ** min(self._failures - FAILURES_BEFORE_REST, 10)
                rest = max(rest, min(FIRST_REST * doubled, LONGEST_REST))
            self._rests_until_s = max(self._rests_until_s, self._monotonic() + rest.total_seconds())


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainModel:
    """One model of a chain."""

    model: ChatModel
    health: Health
    """Shared by all chains that the model is in."""


class Chain:
    """``ChatModel`` over several models, the best first. If all fail it raises ``ModelUnavailable`` with each reason; a
    chain of one raises that model's error."""

    def __init__(
        self,
        members: Sequence[ChainModel],
        *,
        monotonic: Callable[[], float] = monotonic_s,
        sleep: Callable[[float], None] = sleep_s,
    ) -> None:
        if not members:
            raise ValueError("a chain has at least one model")
        self._members = tuple(members)
        self._monotonic = monotonic
        self._sleep = sleep

    @property
    def name(self) -> str:
        return ", then ".join(member.model.name for member in self._members)

    def complete_text(self, prompt: Prompt, *, timeout: timedelta, max_output_tokens: int) -> Completion:
        def ask(model: ChatModel, left: timedelta) -> Completion:
            return model.complete_text(prompt, timeout=left, max_output_tokens=max_output_tokens)

        return self._first(ask, timeout)

    def complete_json(
        self, prompt: Prompt, schema: type[M], *, timeout: timedelta, max_output_tokens: int
    ) -> Parsed[M]:
        def ask(model: ChatModel, left: timedelta) -> Parsed[M]:
            return model.complete_json(prompt, schema, timeout=left, max_output_tokens=max_output_tokens)

        return self._first(ask, timeout)

    def _first(self, ask: Callable[[ChatModel, timedelta], T], timeout: timedelta) -> T:
        ends_s = self._monotonic() + timeout.total_seconds()

        def left() -> timedelta:
            return timedelta(seconds=ends_s - self._monotonic())

        used = Usage()
        failures: list[ModelError] = []
        for member, share in self._turns(left):
            began_s = self._monotonic()
            try:
                found = ask(member.model, share)
            except ModelError as error:
                used += usage_of(error)
                failures.append(error)
                if isinstance(error, ModelUnavailable):
                    member.health.failed(error)
                else:
                    member.health.answered(timedelta(seconds=self._monotonic() - began_s))
            else:
                member.health.answered(timedelta(seconds=self._monotonic() - began_s))
                return found
        raise self._given_up(failures, used)

    def _turns(self, left: Callable[[], timedelta]) -> Iterator[tuple[ChainModel, timedelta]]:
        """Yield each model to ask and its time limit."""
        rests = [member.health.rest() for member in self._members]
        awake = [member for member, rest in zip(self._members, rests, strict=True) if not rest]
        if not awake:
            rest = min(rests)
            if rest > left() * _WORTH_WAITING:
                return
            self._sleep(rest.total_seconds())
            awake = [self._members[rests.index(rest)]]
        for place, member in enumerate(awake):
            is_last = place == len(awake) - 1
            share = left()
            if not is_last:
                share -= min(share * _KEPT_PART, _MOST_KEPT)
                usual = member.health.usual()
                if usual is not None and usual > share:
                    member.health.passed_over()
                    continue
            if share < _LEAST_TIME:
                return
            yield member, share

    def _given_up(self, failures: Sequence[ModelError], used: Usage) -> ModelError:
        if len(failures) == 1 == len(self._members):
            return failures[0]
        if failures:
            last = failures[-1]
            said = "; ".join(str(error) for error in failures)
            error = ModelUnavailable(said, retry_after=getattr(last, "retry_after", None))
            error.reason = next((each.reason for each in reversed(failures) if each.reason), error.reason)
        else:
            rest = min(member.health.rest() for member in self._members)
            why = f"left alone for {rest.total_seconds():.0f} s after failures" if rest else "no time is left"
            error = ModelUnavailable(f"{self.name}: {why}", retry_after=rest or None)
        error.usage = used
        return error
