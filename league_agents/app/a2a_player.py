"""A player of this program that agents elsewhere can ask: one callback a message."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from league_agents.agents.base import PLAYER_CALLBACKS
from league_agents.app.a2a_server import Answered, Skill, Told, example
from league_agents.app.agents import ChosenAgent
from league_agents.app.trial import TrialRun
from league_agents.games.q21.callbacks import callback_specs
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.errors import AgentError, ConfigError
from league_agents.kit.mistakes import not_one_of
from league_agents.user_code.called import Called, End

T = TypeVar("T")

MOST_WAITING = 32
"""Requests that wait for the agent; more are refused."""


class ServedPlayer:
    """Answers callbacks with one agent, one after the other."""

    def __init__(self, agent: ChosenAgent, rules: RuleSet) -> None:
        self.skill = Skill(
            name="play",
            title="Player of 21 questions",
            description="Plays 21 questions about a book as a player: asks its questions, then guesses the opening "
            f"sentence and the secret word. A request is a callback ({', '.join(PLAYER_CALLBACKS)}) with its context.",
            example=example({"callback": "get_questions", "dynamic": {"book_name": "Emma"}, "service": {}}),
        )
        self._limits = {name: spec.timeout for name, spec in callback_specs(rules).items()}
        self._run = TrialRun(agent.instances)
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def answer(self, request: Mapping[str, object], told: Told) -> Answered:
        callback = request.get("callback")
        if not isinstance(callback, str) or callback not in PLAYER_CALLBACKS:
            raise not_one_of("callback", PLAYER_CALLBACKS, callback)
        if self._waiting >= MOST_WAITING:
            raise AgentError("too many requests wait for this player; ask again later")
        context = {part: _mapping(request, part) for part in ("dynamic", "service")}
        limit = self._limits[callback]
        left = context["service"].get("deadline_seconds")
        if isinstance(left, int | float) and not isinstance(left, bool) and 0 < left < limit.total_seconds():
            limit = timedelta(seconds=left)
        self._waiting += 1
        try:
            async with self._turn:
                called = await in_a_thread(lambda: self._run(callback, context, limit))
        finally:
            self._waiting -= 1
        return _answered(called, callback, limit)

    def close(self) -> None:
        self._run.close()


def _answered(called: Called, callback: str, limit: timedelta) -> Answered:
    import json

    if called.end is not End.RETURNED:
        raise AgentError(called.in_words(callback, limit.total_seconds()))
    reply = called.result if isinstance(called.result, dict) else {}
    return Answered(json.dumps(reply, ensure_ascii=False), reply)


def _mapping(request: Mapping[str, object], part: str) -> dict[str, object]:
    found = request.get(part, {})
    if not isinstance(found, dict):
        raise ConfigError(part, "must be an object")
    return found


async def in_a_thread(function: Callable[[], T]) -> T:
    """The result of a function that blocks. Its thread never keeps the program from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        failed: BaseException | None = None
        try:
            result = function()
        except BaseException as error:  # handed on, whatever it is
            failed = error
        with suppress(RuntimeError):  # the server has stopped meanwhile
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=run, name="a2a", daemon=True).start()
    return await done
