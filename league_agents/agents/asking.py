"""Calls of an agent to its model: one per step, within the time left, and only replies that pass the checks.

Rule 1: every failure returns ``None`` and the agent continues with code alone. A model call never runs into the time
reserved for code.
Rule 2: a completion that contains the prompt's private mark follows injected instructions and is discarded.
Rule 3: every step records how the model's reply was used: this module records missing replies, the chain records the
others. A reply that nobody settles counts as unused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel

from league_agents.agents.base import Reply
from league_agents.agents.contexts import CallContext
from league_agents.agents.prompting import render
from league_agents.agents.secrecy import tells_canary
from league_agents.games.q21.untrusted import number_of
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import LeagueError
from league_agents.kit.model_work import KEY, ModelStep, ModelWorkUse, Why, failed_step
from league_agents.llm.port import ChatModel, Judge, Purpose

M = TypeVar("M", bound=BaseModel)

SOFT_LIMIT = timedelta(seconds=25)
"""Limit for all model calls of one callback together, for any deadline: counterparts may wait only 40 seconds."""

_RESERVE = timedelta(seconds=3)
"""Time reserved for the code that follows."""

_SHORTEST = timedelta(seconds=1)
"""Shortest time limit of a model call."""

Models = Callable[[str], ChatModel | None]
"""Function from a callback's name to the model that serves it; ``None`` means code alone."""


class Asker:
    """Access of one agent to its models."""

    def __init__(self, models: Models, *, key: int | str, clock: Clock | None = None) -> None:
        """``key`` makes the private marks of the prompts unpredictable to others."""
        self._models = models
        self._key = key
        self._clock = clock or SystemClock()

    def begin(self, context: CallContext, callback: str) -> CallbackRun:
        """Start the callback's time limit. Call it when the callback begins."""
        return CallbackRun(self._models(callback), context, callback, self._key, self._clock)


class CallbackRun:
    """One callback: its time limit, and how the model's reply was used in each step."""

    def __init__(
        self, model: ChatModel | None, context: CallContext, callback: str, key: int | str, clock: Clock
    ) -> None:
        self._model = model
        self._key = key
        self._clock = clock
        self._callback = callback
        self._match_id = context.match_id()[:200]
        self._season_id = context.text("season_id")[:200]
        self._until_s = clock.monotonic_s() + time_for_models(context).total_seconds()
        self._has_cost = False
        self._ended: list[ModelStep] = []
        self._open: dict[str, Judge] = {}
        """Steps with a reply that is not settled yet."""
        self._cut_short: set[str] = set()
        """Steps whose reply was not complete in time."""

    @property
    def has_cost(self) -> bool:
        """Whether a call was made that may have cost something: one that failed, or was not answered from a record."""
        return self._has_cost

    def keep_back(self, duration: timedelta) -> None:
        """Reserve additional time for the code that follows."""
        self._until_s -= max(0.0, duration.total_seconds())

    def may_ask(self, step: str, least: timedelta = _SHORTEST) -> bool:
        """Whether there is a model and at least ``least`` time left. If not, end the step and record why."""
        if self._model is None:
            self.not_asked(step, Why.NO_MODEL)
            return False
        if self.left < max(least, _SHORTEST):
            self.replaced(step, Why.NO_TIME)
            return False
        return True

    @property
    def left(self) -> timedelta:
        """Time left for model calls."""
        return timedelta(seconds=self._until_s - self._clock.monotonic_s())

    def ask(self, step: str, schema: type[M], *, max_output_tokens: int, salt: str = "", **values: object) -> M | None:
        """Ask the model with ``prompts/STEP.md`` and these values; ``None`` if no usable reply came in time.

        ``salt`` is a value unknown to the other side, for a prompt that contains no such value.
        """
        purpose = Purpose(match_id=self._match_id, callback=self._callback, step=step, season_id=self._season_id)
        prompt = render(purpose, key=f"{self._key}\n{salt}", **values)
        if not self.may_ask(step) or self._model is None:
            return None
        had_cost, self._has_cost = self._has_cost, True
        try:
            parsed = self._model.complete_json(prompt, schema, timeout=self.left, max_output_tokens=max_output_tokens)
        except LeagueError as error:
            self._end(failed_step(step, error))
            return None
        self._has_cost = had_cost or parsed.completion.usage.requests > 0
        self._open[step] = parsed.completion.judge
        if parsed.completion.is_partial:
            self._cut_short.add(step)
        if tells_canary(prompt, parsed.completion.text, parsed.value.model_dump_json()):
            self.settle(step, ModelWorkUse.REPLACED, Why.DISOBEYED)
            return None
        return parsed.value

    def settle(
        self,
        step: str,
        work: ModelWorkUse,
        why: Why | None = None,
        *,
        used: int | None = None,
        of: int | None = None,
        is_earlier: bool = False,
    ) -> None:
        """Record how a step's reply was used. ``is_earlier``: an earlier callback received the reply. No-op without a
        reply, because the reason was recorded already."""
        judge = self._open.pop(step, None)
        if step in self._cut_short and work is not ModelWorkUse.REPLACED:
            work, why = ModelWorkUse.PARTLY_USED, Why.CUT_SHORT
        if judge is not None:
            judge(work, why)
        if judge is not None or is_earlier:
            self._end(ModelStep(step=step, work=work, why=why, used=used, of=of))

    def not_asked(self, step: str, why: Why) -> None:
        """Record that a step did not need the model."""
        self._end(ModelStep(step=step, work=ModelWorkUse.NOT_ASKED, why=why))

    def replaced(self, step: str, why: Why) -> None:
        """Record that code did a step because the model could not be asked."""
        self._end(ModelStep(step=step, work=ModelWorkUse.REPLACED, why=why))

    def told(self, reply: Reply, *others: CallbackRun) -> Reply:
        """Return the callback's reply with the recorded model steps of the ``others`` and of this run."""
        steps = [step.to_json() for turn in (*others, self) for step in turn.steps]
        return {**reply, KEY: steps} if steps else reply

    @property
    def steps(self) -> Sequence[ModelStep]:
        """The recorded steps; replies not settled yet are recorded as unused."""
        for step in tuple(self._open):
            self.settle(step, ModelWorkUse.REPLACED, Why.UNUSED)
        return self._ended

    def _end(self, step: ModelStep) -> None:
        self._ended.append(step)


def time_for_models(context: CallContext) -> timedelta:
    """The soft limit, or less when the deadline in ``service`` leaves less."""
    seconds = number_of(context.value("deadline_seconds"))
    if seconds is None:
        return SOFT_LIMIT
    return min(SOFT_LIMIT, timedelta(seconds=min(seconds, 3600.0)) - _RESERVE)
