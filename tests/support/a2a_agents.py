"""Agents that speak A2A, made with the SDK's own server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from a2a.helpers import get_data_parts, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from league_agents.arena.server.web_server import WebServer, server_config

Answer = Callable[[str, dict[str, Any]], str]
"""From the text and the data of a message to the text of the answer; ``TaskFailed`` fails the task."""


class TaskFailed(Exception):
    """The agent fails its task with this text."""


class _Executor(AgentExecutor):
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        (document,) = get_data_parts(context.message.parts)
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        try:
            said = self._answer(context.get_user_input(), document)
        except TaskFailed as failed:
            await updater.failed(updater.new_agent_message([new_text_part(str(failed))]))
            return
        await updater.add_artifact([new_text_part(said)])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


class AgentElsewhere(WebServer):
    """An agent behind the SDK's server."""

    command = "test"
    public_means = "nobody"

    def __init__(self, answer: Answer, *, version: str = "1.0", token: str | None = None, **changed: Any) -> None:
        """``changed``: fields of the agent card."""
        super().__init__(port=0)
        self._answer, self._token = answer, token
        self._card = AgentCard(
            **{
                "name": "player elsewhere",
                "description": "for tests",
                "version": "1",
                "capabilities": AgentCapabilities(streaming=True),
                "default_input_modes": ["text/plain"],
                "default_output_modes": ["text/plain"],
                "skills": [AgentSkill(id="play", name="play", description="plays", tags=["game"])],
                "supported_interfaces": [
                    AgentInterface(url=f"{self.url}/", protocol_binding="JSONRPC", protocol_version=version)
                ],
                **changed,
            }
        )

    def config(self) -> Any:
        handler = DefaultRequestHandler(_Executor(self._answer), InMemoryTaskStore(), self._card)
        routes = [
            *create_agent_card_routes(self._card),
            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        ]
        app = Starlette(routes=routes)

        async def guarded(scope: Any, receive: Any, send: Any) -> None:
            found = Request(scope).headers.get("authorization") if scope["type"] == "http" else None
            if self._token is not None and found != f"Bearer {self._token}":
                refused: Response = PlainTextResponse("no", 401)
                await refused(scope, receive, send)
                return
            await app(scope, receive, send)

        return server_config(guarded, lifespan="off", ws="none")


@contextmanager
def agent_elsewhere(answer: Answer, **settings: Any) -> Iterator[str]:
    """Serve an agent, and yield the name that gives it a seat."""
    with AgentElsewhere(answer, **settings) as server:
        yield f"a2a:{server.url}"


def playing(make: Callable[[], object], heard: list[tuple[str, dict[str, Any]]]) -> Answer:
    """An agent that answers as one of this package would, in a code fence as models write it."""
    agent = make()

    def answer(text: str, document: dict[str, Any]) -> str:
        heard.append((text, document))
        reply = getattr(agent, document["callback"])({key: document[key] for key in ("dynamic", "service")})
        return f"Here it is:\n```json\n{json.dumps(reply or {})}\n```"

    return answer
