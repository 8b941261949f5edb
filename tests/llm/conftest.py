"""Loopback servers that speak what language model services speak, and models that reach them through the real SDKs."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Backend, Patience
from league_agents.llm.provider import Access
from league_agents.llm.providers.anthropic import AnthropicBackend
from league_agents.llm.providers.gemini import GeminiBackend
from league_agents.llm.providers.gemini.sdks import GenaiClient, GenerativeLanguageClient
from league_agents.llm.providers.openai import OpenAIBackend
from league_agents.llm.time_limit import TimeLimited
from league_agents.local_league.patience import LIMIT_S

KEY = "sk-this-key-is-secret-0123456789"

Serve = Callable[[socket.socket, threading.Event], None]


def _access(provider: str, url: str, key: str | None) -> Access:
    return Access(name=f"{provider}:m", model="m", base_url=url, key=key, key_name=f"{provider.upper()}_API_KEY")


class Protocol:
    """What one service's messages look like, and the SDK that speaks to it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def backend(self, url: str, key: str | None = KEY) -> Backend:
        if self.name == "openai":
            return OpenAIBackend(_access("openai", f"{url}/v1", key))
        if self.name == "anthropic":
            return AnthropicBackend(_access("anthropic", url, key))
        client = {"google-genai": GenaiClient, "google-generativeai": GenerativeLanguageClient}[self.name]
        return GeminiBackend(client(key or "none", url), _access("gemini", url, key))

    def message(self, text: str, finish: str = "stop", counted: tuple[int, int, int] | None = (12, 5, 2)) -> Any:
        """A response with one reply. ``finish``: stop, length or refused."""
        read, written, cached = counted or (0, 0, 0)
        if self.name == "openai":
            reason = {"refused": "content_filter"}.get(finish, finish)
            found: dict[str, Any] = {
                "id": "1",
                "object": "chat.completion",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}],
            }
            if counted is not None:
                details = {"cached_tokens": cached}
                found["usage"] = {
                    "prompt_tokens": read, "completion_tokens": written, "prompt_tokens_details": details
                }  # fmt: skip
            return found
        if self.name == "anthropic":
            reason = {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"}[finish]
            found = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": reason}
            found["content"] = [{"type": "text", "text": text}] if text else []
            if counted is not None:
                found["usage"] = {
                    "input_tokens": read - cached, "output_tokens": written, "cache_read_input_tokens": cached
                }  # fmt: skip
            return found
        reason = {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}[finish]
        candidate: dict[str, Any] = {"finishReason": reason}
        if text:
            candidate["content"] = {"role": "model", "parts": [{"text": text}]}
        found = {"candidates": [candidate]}
        if counted is not None:
            found["usageMetadata"] = {
                "promptTokenCount": read, "candidatesTokenCount": written, "cachedContentTokenCount": cached
            }  # fmt: skip
        return found

    def events(
        self, pieces: Sequence[str], finish: str = "stop", counted: tuple[int, int, int] | None = (12, 5, 2)
    ) -> Any:
        """The same response in pieces, as events of a stream; each is the text that goes over the wire."""
        whole = self.message("", finish, counted)
        if self.name == "openai":
            frames: list[dict[str, Any]] = [
                {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": each}}]}
                for each in pieces
            ]
            frames.append(
                {"choices": [{"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}]}
            )
            if counted is not None:
                frames.append({"choices": [], "usage": whole["usage"]})
            return [*(f"data: {json.dumps(each)}\n\n" for each in frames), "data: [DONE]\n\n"]
        if self.name == "anthropic":
            usage = dict(whole.pop("usage", {}))
            end = {"output_tokens": usage.get("output_tokens")} if counted is not None else {}
            block = {"type": "text", "text": ""}
            named = [
                {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None, "usage": usage}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "ping"},
                *(
                    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": each}}
                    for each in pieces
                ),
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}, "usage": end},
                {"type": "message_stop"},
            ]
            return [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in named]
        frames = [{"candidates": [{"content": {"role": "model", "parts": [{"text": each}]}}]} for each in pieces]
        return [f"data: {json.dumps(each)}\n\n" for each in (*frames, whole)]

    def error(self, status: int, message: str) -> Any:
        if self.name == "openai":
            return {"error": {"message": message, "type": "error", "code": None}}
        if self.name == "anthropic":
            return {"type": "error", "error": {"type": "some_error", "message": message}}
        return {"error": {"code": status, "message": message, "status": "ERROR"}}


class Service:
    """A loopback service of one protocol and a model that asks it."""

    def __init__(self, protocol: Protocol, server: HTTPServer) -> None:
        self.protocol = protocol
        self.server = server
        self.url = server.url_for("").rstrip("/")
        self._turns: list[Response] = []
        self._forever: Response | None = None
        server.expect_request(re.compile(".*")).respond_with_handler(self._answer)

    def _answer(self, _request: Request) -> Response:
        if self._turns:
            return self._turns.pop(0)
        assert self._forever is not None, "a request that the test did not expect"
        return self._forever

    def says(self, text: str, **more: Any) -> None:
        """The next reply."""
        self.sends(self.protocol.message(text, **more))

    def streams(self, *pieces: str, **more: Any) -> None:
        """The next reply, in pieces."""
        events = self.protocol.events(pieces, **more)
        self._turns.append(Response(events, content_type="text/event-stream"))

    def fails(self, status: int, message: str = "not now", *, forever: bool = False, **headers: str) -> None:
        """The next response is an error."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.sends(self.protocol.error(status, message), status=status, headers=named, forever=forever)

    def sends(
        self, body: object, *, status: int = 200, headers: dict[str, str] | None = None, forever: bool = False
    ) -> None:
        """The next response: a JSON document, or text as it is."""
        text = body if isinstance(body, str) else json.dumps(body)
        kind = "text/html" if isinstance(body, str) and body.startswith("<") else "application/json"
        response = Response(text, status=status, headers=headers or {}, content_type=kind)
        if forever:
            self._forever = response
        else:
            self._turns.append(response)

    @property
    def asked(self) -> list[Any]:
        """The bodies of all requests."""
        return [request.get_json() for request, _ in self.server.log]

    def chat(self, *, retries: int = 2, **patience: Any) -> Chat:
        backend = TimeLimited(self.protocol.backend(self.url))
        return Chat(backend, Patience(retries=retries, first_pause_s=0.01, **patience))


PROTOCOLS = ("openai", "google-genai", "google-generativeai", "anthropic")


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return Protocol(request.param)


@pytest.fixture
def service(protocol: Protocol, httpserver: HTTPServer) -> Service:
    return Service(protocol, httpserver)


@pytest.fixture(params=["openai", "google-genai", "anthropic"])
def game_service(request: pytest.FixtureRequest, httpserver: HTTPServer) -> Service:
    """Through the SDK that settings choose for a provider when all are installed."""
    return Service(Protocol(request.param), httpserver)


@pytest.fixture
def openai_service(httpserver: HTTPServer) -> Service:
    return Service(Protocol("openai"), httpserver)


@pytest.fixture
def anthropic_service(httpserver: HTTPServer) -> Service:
    return Service(Protocol("anthropic"), httpserver)


class RawServer:
    """A server that treats every connection as it is told, byte by byte: for what no framework would send."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._stopped = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(LIMIT_S)
            thread = threading.Thread(target=self._one, args=(connection,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _one(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                self._serve(connection, self._stopped)
            except OSError:
                pass  # the client has gone, which is what it should do

    def stop(self) -> None:
        self._stopped.set()
        for thread in (self._accepting, *self._threads):
            thread.join(LIMIT_S)
        self._listener.close()


@pytest.fixture
def raw_server() -> Iterator[Callable[[Serve], RawServer]]:
    servers: list[RawServer] = []

    def start(serve: Serve) -> RawServer:
        servers.append(RawServer(serve))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
