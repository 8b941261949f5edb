"""An adapter that calls a user's class with JSON values, in its own process or in this one.

Rule: the class gets the same arguments as an agent in the session's process: the same types with equal values.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from league_agents.arena.answers import action_of, raw_of, steps_of
from league_agents.games.game import Event, LegalAction
from league_agents.user_code.loading import part_of_ours

SEATED: Final = f"{__name__}:seated"
"""The import path of ``seated``, for the process of the user's class."""


def seated(agent_class: type, adapter: str = "", *methods: str) -> Callable[[], object] | None:
    """A factory that wraps a class with ``act``, or, by the game's ``adapter``, a class with ``methods``; ``None`` for
    any other class."""
    if _has(agent_class, "act"):
        return lambda: SeatedAgent(agent_class())
    if not adapter or not _has(agent_class, *methods):
        return None
    adapted = part_of_ours(adapter)
    return lambda: SeatedAgent(adapted(agent_class()))


def _has(agent_class: type, *methods: str) -> bool:
    return all(callable(getattr(agent_class, name, None)) for name in methods)


def legal_as_json(legal: Sequence[LegalAction]) -> list[dict[str, Any]]:
    """The legal actions as JSON values, for ``SeatedAgent.act``."""
    return [{"type": each.type, "schema": each.schema, "choices": each.choices} for each in legal]


def event_as_json(event: Event) -> dict[str, Any]:
    """The event as JSON values, for ``SeatedAgent.observe``."""
    return {
        "kind": event.kind,
        "visible_to": event.visible_to,
        "text": event.text,
        "data": event.data,
        "seq": event.seq,
    }


class SeatedAgent:
    """An agent with ``act``, called with JSON values."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    def act(self, view: Mapping[str, Any], legal: list[dict[str, Any]], deadline: str | None) -> object:
        """The action as a mapping, with the text (``raw``) and the model steps (``models``) that the agent exposes."""
        actions = tuple(LegalAction(**{**each, "choices": _several(each["choices"])}) for each in legal)
        until = None if deadline is None else datetime.fromisoformat(deadline)
        answer = self._agent.act(view, actions, until)
        return self._awaited(answer) if _is_awaitable(answer) else self._told(answer)

    def observe(self, event: dict[str, Any]) -> object:
        """Pass the event to the agent, if it has ``observe``."""
        observe = getattr(self._agent, "observe", None)
        several = event["visible_to"]
        visible_to = tuple(several) if isinstance(several, list) else several
        return _done(observe(Event(**{**event, "visible_to": visible_to}))) if callable(observe) else None

    def reset(self) -> object:
        """Reset the agent for a new match, if it has ``reset``."""
        reset = getattr(self._agent, "reset", None)
        return _done(reset()) if callable(reset) else None

    async def _awaited(self, answer: Awaitable[object]) -> dict[str, Any]:
        return self._told(await answer)

    def _told(self, answer: object) -> dict[str, Any]:
        action = action_of(answer)
        return {
            "type": action.type,
            "data": action.data,
            "version": action.version,
            "raw": raw_of(self._agent),
            "models": [step.to_json() for step in steps_of(self._agent)],
        }


def _several(choices: list[dict[str, Any]] | None) -> tuple[dict[str, Any], ...] | None:
    return None if choices is None else tuple(choices)


def _is_awaitable(answer: object) -> bool:
    return hasattr(type(answer), "__await__")


def _done(returned: Any) -> Awaitable[None] | None:
    """An awaitable for the result if it is one, else ``None``; its value is discarded."""

    async def wait() -> None:
        await returned

    return wait() if _is_awaitable(returned) else None
