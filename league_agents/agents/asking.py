"""How an agent asks a model: once for each step, in the time that is left, and only what passes comes back.

Rule 1: whatever goes wrong, ``None`` comes back and code goes on alone. A model is never waited for beyond the reserve
that code needs.
Rule 2: a completion that shows the prompt's private mark obeys somebody else, and is not read.
Rule 3: of every step it is said what became of the model's work: here where nothing came, by the chain where something
did. A reply of which nobody says that it was used was not.
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
"""For all models of one callback together, whatever the deadline: counterparts may wait for 40 seconds only."""

_RESERVE = timedelta(seconds=3)
"""For the code that follows."""

_SHORTEST = timedelta(seconds=1)
"""No model is asked for less."""

Models = Callable[[str], ChatModel | None]
"""Callback to the model that serves it; ``None``: code alone."""


class Asker:
    """One agent's way to its models."""

    def __init__(self, models: Models, *, key: int | str, clock: Clock | None = None) -> None:
        """``key`` makes the private marks of the prompts unpredictable to others."""
        self._models = models
        self._key = key
        self._clock = clock or SystemClock()

    def begin(self, context: CallContext, callback: str) -> CallbackRun:
        """To be called when the callback begins: its time runs from here."""
        return CallbackRun(self._models(callback), context, callback, self._key, self._clock)


class CallbackRun:
    """One callback, from its beginning, and what became of the model's work in its steps."""

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
        """Steps with a reply of which nothing was said yet."""

    @property
    def has_cost(self) -> bool:
        """Whether a call was made that may have cost something: one that failed, or was not answered from a record."""
        return self._has_cost

    def keep_back(self, duration: timedelta) -> None:
        """Leave so much more time for the code that follows."""
        self._until_s -= max(0.0, duration.total_seconds())

    def may_ask(self, step: str, least: timedelta = _SHORTEST) -> bool:
        """Whether there is a model, and at least so much time for it. Where not, the step has ended."""
        if self._model is None:
            self.not_asked(step, Why.NO_MODEL)
            return False
        if self.left < max(least, _SHORTEST):
            self.replaced(step, Why.NO_TIME)
            return False
        return True

    @property
    def left(self) -> timedelta:
        """What models may still take."""
        return timedelta(seconds=self._until_s - self._clock.monotonic_s())

    def ask(self, step: str, schema: type[M], *, max_output_tokens: int, salt: str = "", **values: object) -> M | None:
        """What the model says to ``prompts/STEP.md`` with these values; ``None`` when nothing usable came in time.

        ``salt`` is something that the other side does not know, for a prompt that holds nothing of the kind.
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
        """Say what became of a step's reply; ``is_earlier`` of one that an earlier callback got. No-op without a reply:
        then why there is none has been said."""
        judge = self._open.pop(step, None)
        if judge is not None:
            judge(work, why)
        if judge is not None or is_earlier:
            self._end(ModelStep(step=step, work=work, why=why, used=used, of=of))

    def not_asked(self, step: str, why: Why) -> None:
        """Say that the model's work was not wanted in a step."""
        self._end(ModelStep(step=step, work=ModelWorkUse.NOT_ASKED, why=why))

    def replaced(self, step: str, why: Why) -> None:
        """Say that code's work stands in a step in which the model's was wanted and could not be asked for."""
        self._end(ModelStep(step=step, work=ModelWorkUse.REPLACED, why=why))

    def told(self, reply: Reply, *others: CallbackRun) -> Reply:
        """A callback's reply with what became of the model's work in this turn and in the others."""
        steps = [step.to_json() for turn in (*others, self) for step in turn.steps]
        return {**reply, KEY: steps} if steps else reply

    @property
    def steps(self) -> Sequence[ModelStep]:
        """The steps that were taken."""
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
