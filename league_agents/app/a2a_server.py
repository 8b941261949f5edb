"""An agent of this program that speaks A2A: its card, its tasks, and the limits of a server on the network.

Rule 1: a request is JSON of bounded size from this machine, or from somebody who shows the token.
Rule 2: every task ends: completed with one JSON object, rejected with what is wrong with the request, or failed with
the reason. Both are one line without secrets.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from a2a.helpers import get_data_parts, new_data_part, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task

from league_agents import __version__
from league_agents.a2a.remote_agent import plain_numbers
from league_agents.app.bearer import check_token, shows_token, token_digest
from league_agents.arena.server.guard import API_HEADERS, Guard
from league_agents.arena.server.web_server import LOOPBACK, WebServer, server_config
from league_agents.kit.errors import ConfigError, LeagueError, MalformedCompletion
from league_agents.kit.printable import printable
from league_agents.llm.json_text import find_object
from league_agents.report.secret_texts import SecretTexts

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from uvicorn import Config

LOG = logging.getLogger(__name__)

LARGEST_REQUEST = 4 * 1024 * 1024
"""Bytes."""

MOST_TASKS = 200
"""Tasks whose results are kept."""

Told = Callable[[str], Awaitable[None]]
"""Reports progress in one line."""


class Answered(NamedTuple):
    """The result of a task."""

    text: str
    document: Mapping[str, object]


class Skill(NamedTuple):
    """What a card says of an agent."""

    name: str
    title: str
    description: str
    example: str
    """A request."""


class Served(Protocol):
    """What an agent does with a request."""

    skill: Skill

    async def answer(self, request: Mapping[str, object], told: Told) -> Answered:
        """Raises ``ConfigError`` for a wrong request, and other ``LeagueError`` if it cannot be done."""
        ...

    def close(self) -> None:
        """Begin nothing more."""
        ...


class A2aServer(WebServer):
    """``with A2aServer(served) as server: server.url``."""

    command = "a2a serve"
    public_means = "others may use it"

    def __init__(
        self,
        served: Served,
        *,
        host: str = LOOPBACK,
        port: int = 0,
        is_public: bool = False,
        token: str | None = None,
        card_url: str | None = None,
    ) -> None:
        """``token``: required in every request but that for the card; ``None`` if everybody who reaches the server may
        use it. ``card_url``: the address in the card, if others reach this server by another one. Raises
        ``ConfigError``."""
        if token is not None:
            check_token(token)
        super().__init__(host=host, port=port, is_public=is_public)
        self._served = served
        self._digest = None if token is None else token_digest(token)
        self._card = agent_card(served.skill, card_url or self.url)

    def config(self) -> Config:
        from starlette.applications import Starlette

        from league_agents.arena.server.app import Guarded

        handler = DefaultRequestHandler(_Executor(self._served), _RecentTasks(), self._card)
        routes = [*create_agent_card_routes(self._card), *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)]
        app = Guarded(_Limited(Starlette(routes=routes), self._digest), Guard(is_public=self._is_public))
        return server_config(app, lifespan="off", ws="none")

    def hang_up(self) -> None:
        self._served.close()


def agent_card(skill: Skill, url: str) -> AgentCard:
    """The card of an agent at an address."""
    return AgentCard(
        name=skill.title,
        description=skill.description,
        version=__version__,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["application/json", "text/plain"],
        default_output_modes=["application/json", "text/plain"],
        supported_interfaces=[
            AgentInterface(url=f"{url.rstrip('/')}/", protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
        skills=[
            AgentSkill(
                id=skill.name,
                name=skill.title,
                description=skill.description,
                tags=["21 questions", "games", "evaluation"],
                examples=[skill.example],
            )
        ],
    )


class _Executor(AgentExecutor):
    """Runs one request as one task."""

    def __init__(self, served: Served) -> None:
        self._served = served

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None, "the SDK executes requests with a message only"
        task = context.current_task or new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)

        async def told(line: str) -> None:
            await updater.start_work(updater.new_agent_message([new_text_part(line)]))

        async def ended(end: Callable[..., Awaitable[None]], line: str) -> None:
            shown = printable(SecretTexts().hide(line), 1_000)
            await end(updater.new_agent_message([new_text_part(shown)]))

        try:
            await updater.start_work()
            answered = await self._served.answer(_request_in(context), told)
        except ConfigError as error:
            await ended(updater.reject, str(error))
        except LeagueError as error:
            await ended(updater.failed, str(error))
        except Exception:  # the edge of the program: what comes here was not foreseen, and is not for strangers
            LOG.exception("a task failed")
            await ended(updater.failed, "a fault of this agent; its log says more")
        else:
            parts = [new_text_part(answered.text), new_data_part(dict(answered.document), "application/json")]
            await updater.add_artifact(parts, name=self._served.skill.name)
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def _request_in(context: RequestContext) -> Mapping[str, object]:
    """The JSON object of a message, as data or as text. Raises ``ConfigError``."""
    assert context.message is not None
    for found in get_data_parts(context.message.parts):
        if isinstance(found, dict):
            return {key: plain_numbers(value) for key, value in found.items()}
    try:
        return find_object(context.get_user_input())
    except MalformedCompletion as error:
        raise ConfigError("request", f"must hold one JSON object: {error}") from None


class _RecentTasks(InMemoryTaskStore):
    """Forgets the oldest tasks."""

    def __init__(self) -> None:
        super().__init__()
        self._order: OrderedDict[str, ServerCallContext] = OrderedDict()

    async def save(self, task: Task, context: ServerCallContext) -> None:
        await super().save(task, context)
        self._order[task.id] = context
        self._order.move_to_end(task.id)
        while len(self._order) > MOST_TASKS:
            oldest, owner = self._order.popitem(last=False)
            await self.delete(oldest, owner)


class _Limited:
    """Middleware: who may ask, and how much."""

    def __init__(self, app: ASGIApp, digest: bytes | None) -> None:
        self._app = app
        self._digest = digest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            refused = self._objection(dict(scope["headers"]))
            if refused is not None:
                from starlette.responses import PlainTextResponse

                await PlainTextResponse(f"{refused[1]}\n", refused[0], headers=dict(API_HEADERS))(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _objection(self, headers: Mapping[bytes, bytes]) -> tuple[int, str] | None:
        said = headers.get(b"authorization", b"").decode("latin-1")
        if self._digest is not None and not shows_token(said, self._digest):
            return 401, "show the token as a bearer token"
        if not headers.get(b"content-type", b"").startswith(b"application/json"):
            return 415, "a request is application/json"  # what a page of another site cannot send unasked
        length = headers.get(b"content-length", b"")
        if not length.isdigit() or len(length) > 12:
            return 411, "a request says its length"
        if int(length) > LARGEST_REQUEST:
            return 413, f"a request has at most {LARGEST_REQUEST} bytes"
        return None


def example(request: Mapping[str, object]) -> str:
    """A request as it is written into a card."""
    return json.dumps(request)
