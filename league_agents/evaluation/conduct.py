"""Call one participant of a match as the league does, and count its failures."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from league_agents.evaluation.checking.check import Caller
from league_agents.evaluation.results import Behaviour, Spent
from league_agents.games.q21.callbacks import CallbackSpec, Noted
from league_agents.games.q21.remarks import lines
from league_agents.kit.errors import ConfigError
from league_agents.kit.model_work import ModelStep, ModelWorkUse, Why, steps_in
from league_agents.kit.printable import printable
from league_agents.user_code.called import Called, End, failed_with

MOST_COMPLAINTS = 3
"""Number of complaints kept per participant and match; the counts include the others."""

LONGEST_COMPLAINT = 200


class InlineCaller:
    """``Caller`` for agents of this package, which always return: runs them on the caller's own thread."""

    def __init__(self, agent: object) -> None:
        self._agent = agent

    def __call__(self, callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        latency_of = getattr(self._agent, "simulated_latency", None)
        if latency_of is not None and latency_of(callback) > timeout:
            return Called(end=End.TIMED_OUT, seconds=timeout.total_seconds())
        began_s = time.perf_counter()
        try:
            result = getattr(self._agent, callback)(context)
        except ConfigError:
            raise  # a broken file needs a person's attention
        except Exception as error:  # scripted agents raise on purpose
            return failed_with(error, time.perf_counter() - began_s)
        return Called(end=End.RETURNED, result=result, seconds=time.perf_counter() - began_s)


class EvaluatedParticipant:
    """One of the three participants of a match."""

    def __init__(self, caller: Caller, specs: Mapping[str, CallbackSpec], *, asks_models: bool = False) -> None:
        """``asks_models``: whether a failed callback loses a model's work."""
        self._caller = caller
        self._asks_models = asks_models
        self._models: list[ModelStep] = []
        self._specs = specs
        self._number = 0
        self._calls: Counter[str] = Counter()
        self._fallbacks: Counter[str] = Counter()
        self._broken: Counter[str] = Counter()
        self._complaints: list[str] = []
        self._seconds: dict[str, list[float]] = {}
        self._late: list[int] = []

    def call(self, callback: str, context: Mapping[str, object]) -> tuple[object, str | None]:
        """Return the callback's result, and the reason for a missing result; ``None`` if there is a result."""
        called = self._caller(callback, context, self._specs[callback].timeout)
        self._number += 1
        self._calls[callback] += 1
        self._seconds.setdefault(callback, []).append(called.seconds)
        # A service's message is left out: it may differ between runs, and results are published.
        self._models += [replace(step, detail="") for step in steps_in(called.result, callback)]
        if called.end is End.RETURNED:
            return called.result, None
        if self._asks_models:
            failed = ModelStep(step="", work=ModelWorkUse.REPLACED, why=Why.CALLBACK_FAILED, callback=callback)
            self._models.append(failed)
        if called.end is End.TIMED_OUT:
            self._late.append(self._number)
        return None, called.detail or called.end.value.replace("_", " ")

    def note(self, noted: Noted) -> None:
        """Count a remark on a call."""
        if noted.remarks:
            self._broken[noted.callback] += 1
        if noted.failure:
            self._fallbacks[noted.callback] += 1
        for line in [noted.failure] if noted.failure else lines(noted.remarks):
            self._complain(f"{noted.callback}: {line}")

    def fallbacks(self, callback: str) -> int:
        """Return the number of failures of a callback."""
        return self._fallbacks[callback]

    def behaviour(self, spent: Spent | None) -> Behaviour:
        """Return all counts."""
        return Behaviour(
            calls=dict(self._calls),
            fallbacks=dict(self._fallbacks),
            broken=dict(self._broken),
            complaints=tuple(self._complaints),
            spent=spent,
            models=tuple(self._models),
            seconds={name: tuple(round(each, 6) for each in seconds) for name, seconds in self._seconds.items()},
            late=tuple(self._late),
        )

    def _complain(self, said: str) -> None:
        if len(self._complaints) < MOST_COMPLAINTS:
            self._complaints.append(printable(said, LONGEST_COMPLAINT))
