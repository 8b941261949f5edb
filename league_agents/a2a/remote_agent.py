"""One agent elsewhere, as seen from here: its card is checked, and it is asked for one JSON object at a time.

Rule 1: a card must speak a transport of ours, at the server that was named; otherwise a card could send secrets of a
match to somebody else.
Rule 2: every request ends at its time limit, and an answer is read up to ``LARGEST_REPLY`` bytes.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx
from a2a.client import A2ACardResolver, A2AClientTimeoutError, Client, ClientConfig, ClientFactory
from a2a.client.errors import AgentCardResolutionError
from a2a.helpers import get_data_parts, new_data_part, new_text_part
from a2a.types import (
    AgentCard,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from a2a.utils.errors import A2AError

from league_agents.a2a.address import HOST_VARIABLE, TOKEN_VARIABLE, AgentAddress, origin
from league_agents.a2a.bounded_http import bounded_client
from league_agents.kit.errors import AgentError, CallbackTimeout, ConfigError, MalformedCompletion
from league_agents.kit.printable import printable
from league_agents.llm.json_text import find_object
from league_agents.llm.responses import UnreadableBody, unreadable

T = TypeVar("T")

LARGEST_CARD = 64 * 1024
"""Bytes of a card, once read."""

MOST_CONVERSATIONS = 1_000
CARD_LIMIT_S = 10.0
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.2, 5.0
"""How long to wait before a task that still runs is looked at again."""

_TRANSPORTS = ["JSONRPC", "HTTP+JSON"]
_ANY_HOST = ("0.0.0.0", "::")  # noqa: S104 - what servers that listen everywhere write into their cards
_RUNNING = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
_ANSWERED = (TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_INPUT_REQUIRED)
"""An agent that waits for the next message of a conversation has answered this one."""


class RemoteAgentFailed(AgentError):
    """An agent elsewhere gave no answer."""


class RemoteAgent:
    """An agent elsewhere. Its methods block, and may be called from any thread."""

    def __init__(self, address: AgentAddress) -> None:
        self._address = address
        self._card: AgentCard | None = None
        self._contexts: dict[str, str] = {}
        """Conversation -> the context that the agent gave it."""

    def check(self) -> None:
        """Fetch the card. Raises ``ConfigError`` if there is none, or if it cannot be used."""
        try:
            _finished(self._fetched(), CARD_LIMIT_S)
        except AgentError as error:
            raise ConfigError(self._address.url, str(error)) from None

    def ask(self, text: str, document: Mapping[str, object], *, conversation: str, limit_s: float) -> dict[str, object]:
        """Send a message and return the JSON object of the answer.

        ``text`` and ``document`` say the same, to models and to programs. Messages of one ``conversation`` have one
        context. Raises ``CallbackTimeout`` and ``RemoteAgentFailed``.
        """
        parts = self.tell(text, document, conversation=conversation, limit_s=limit_s)
        try:
            return _object_in(parts)
        except (MalformedCompletion, RecursionError) as error:
            raise RemoteAgentFailed(f"{self._address.url} gave no usable answer: {error}") from None

    def tell(self, text: str, document: Mapping[str, object], *, conversation: str, limit_s: float) -> list[Part]:
        """As ``ask``, for a message whose answer may be anything; return its parts."""
        try:
            return _finished(self._answer(text, document, conversation, limit_s), limit_s)
        except AgentError as error:
            raise type(error)(f"{self._address.url} {error}") from None

    async def _fetched(self) -> None:
        async with bounded_client(token=self._address.token, timeout_s=CARD_LIMIT_S) as http:
            await self._usable_card(http)

    async def _usable_card(self, http: httpx.AsyncClient) -> AgentCard:
        if self._card is None:
            card = await A2ACardResolver(http, self._address.url).get_agent_card()
            self._check(card)
            self._card = card
        return self._card

    def _check(self, card: AgentCard) -> None:
        url = self._address.url
        if card.ByteSize() > LARGEST_CARD:
            raise RemoteAgentFailed(f"sends an agent card of {card.ByteSize()} bytes, at most {LARGEST_CARD} are read")
        needed = [each.uri for each in card.capabilities.extensions if each.required]
        if needed:
            raise RemoteAgentFailed(f"requires the extension {printable(needed[0], 200)}, which is not spoken here")
        spoken = [each for each in card.supported_interfaces if each.protocol_binding in _TRANSPORTS]
        if not spoken:
            raise RemoteAgentFailed(f"offers neither {' nor '.join(_TRANSPORTS)} in its agent card")
        for each in spoken:
            parts = urlsplit(each.url)
            if parts.hostname in _ANY_HOST:
                here = urlsplit(url)
                host = f"[{here.hostname}]" if ":" in (here.hostname or "") else here.hostname
                netloc = host if parts.port is None else f"{host}:{parts.port}"
                each.url = urlunsplit((parts.scheme, str(netloc), parts.path, "", ""))
            if origin(each.url) != origin(url):
                raise RemoteAgentFailed(
                    f"names another server in its agent card, {printable(each.url, 200)}; name that one if you trust it"
                )

    async def _answer(self, text: str, document: Mapping[str, object], conversation: str, limit_s: float) -> list[Part]:
        async with bounded_client(token=self._address.token, timeout_s=limit_s) as http:
            card = await self._usable_card(http)
            config = ClientConfig(streaming=False, httpx_client=http, supported_protocol_bindings=_TRANSPORTS)
            client = ClientFactory(config).create(card)
            message = Message(
                role=Role.ROLE_USER,
                message_id=secrets.token_hex(16),
                context_id=self._contexts.get(conversation, ""),
                parts=[new_text_part(text), new_data_part(document, "application/json")],
            )
            answers = [answer async for answer in client.send_message(SendMessageRequest(message=message))]
            parts, context = await self._answered(client, answers[-1])
        if context:
            self._contexts[conversation] = context
            while len(self._contexts) > MOST_CONVERSATIONS:
                del self._contexts[next(iter(self._contexts))]
        return parts

    async def _answered(self, client: Client, answer: StreamResponse) -> tuple[list[Part], str]:
        """The parts of an answer, and its context."""
        if answer.HasField("message"):
            return list(answer.message.parts), answer.message.context_id
        task, wait_s = answer.task, _FIRST_LOOK_S
        while task.status.state in _RUNNING:
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_LOOK_S)
            task = await client.get_task(GetTaskRequest(id=task.id))
        if task.status.state not in _ANSWERED:
            state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
            said = " ".join(part.text for part in task.status.message.parts if part.text)
            raise RemoteAgentFailed(f"gave no answer: its task is {state}: {printable(said, 300) or 'no reason'}")
        return _parts_of(task), task.context_id


def _finished(work: Coroutine[Any, Any, T], limit_s: float) -> T:
    """The result of work, on a thread of its own: the caller's may run an event loop. Raises as ``_in_time``."""
    ended: Future[T] = Future()

    def run() -> None:
        try:
            ended.set_result(asyncio.run(_in_time(work, limit_s)))
        except BaseException as error:  # handed on, whatever it is
            ended.set_exception(error)

    # A daemon, so that a request under way never keeps the program from ending.
    threading.Thread(target=run, name="a2a", daemon=True).start()
    return ended.result()


async def _in_time(work: Awaitable[T], limit_s: float) -> T:
    """The result of work. Raises ``CallbackTimeout`` or ``RemoteAgentFailed``, whose texts go on from the address."""
    from google.protobuf.json_format import Error as FormatError  # type: ignore[import-untyped]

    try:
        async with asyncio.timeout(limit_s):
            return await work
    except (TimeoutError, A2AClientTimeoutError):
        raise CallbackTimeout(f"did not answer within {limit_s:g} s") from None
    except (
        A2AError,
        httpx.HTTPError,
        UnreadableBody,
        FormatError,
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
    ) as error:
        raise RemoteAgentFailed(_why(error)) from None


def _parts_of(task: Task) -> list[Part]:
    """The result of a task: its artifacts, or the message of an agent that answers without any."""
    parts = [part for artifact in task.artifacts for part in artifact.parts]
    return parts or list(task.status.message.parts)


def _object_in(parts: Iterable[Part]) -> dict[str, object]:
    """The last JSON object among the parts, or the one in their text. Raises ``MalformedCompletion``."""
    parts = list(parts)
    for found in reversed(get_data_parts(parts)):
        if isinstance(found, dict):
            return {key: plain_numbers(value) for key, value in found.items()}
    return dict(find_object("\n".join(part.text for part in parts if part.text)))


def plain_numbers(value: Any) -> Any:
    """JSON values in which whole numbers are ``int`` again: A2A carries every number as a ``float``."""
    if isinstance(value, dict):
        return {key: plain_numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _why(error: Exception) -> str:
    """A failure in one line."""
    cause = error.__cause__
    if (found := unreadable(error)) is not None:
        return f"cannot be used: {str(found) or 'it redirects to another address'}"
    if isinstance(cause, httpx.HTTPStatusError):
        status = cause.response.status_code
        hint = f"; {HOST_VARIABLE} and {TOKEN_VARIABLE} hold its token" if status in (401, 403) else ""
        return f"answers HTTP {status}{hint}"
    if isinstance(cause, httpx.RequestError):
        return f"cannot be reached: {printable(str(cause), 200) or type(cause).__name__}; is it running?"
    if isinstance(error, AgentCardResolutionError):
        return "sends no valid agent card"
    return f"answers with an error: {printable(str(error), 300)}"
