"""Replies that come in pieces, from the three services through their SDKs, whole and broken off."""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ModelRefused
from league_agents.llm.accounted import Account, Accounted
from league_agents.llm.budget import Budget
from league_agents.llm.cassette import CassettePlayer, CassetteRecorder
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Backend, PartialReply, Patience, Reply, Request, Unanswered
from league_agents.llm.ledger import Ledger
from league_agents.llm.limits import SpendingLimits
from league_agents.llm.port import Prompt, Purpose, Usage
from league_agents.llm.prices import Price, PriceList
from league_agents.llm.time_limit import TimeLimited
from league_agents.local_league.patience import LIMIT_S, until

PROMPT = Prompt(
    system="Answer as asked.",
    user="Which words?",
    purpose=Purpose(match_id="0101001", callback="get_guess", step="words"),
)
SECONDS = timedelta(seconds=LIMIT_S)
PIECES = ('{"words": ["wh', 'ale", "s', 'ea"', ', "eel"]}')


class Words(BaseModel):
    words: list[str]


@pytest.fixture(params=["openai", "google-genai", "anthropic"])
def streaming(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The names of the services that can stream."""
    name: str = request.param
    return name


def ask(chat: Chat, timeout: timedelta = SECONDS) -> Any:
    return chat.complete_json(PROMPT, Words, timeout=timeout, max_output_tokens=60)


@pytest.fixture
def stream_service(streaming: str, httpserver: Any) -> Any:
    from tests.llm.conftest import Protocol, Service

    return Service(Protocol(streaming), httpserver)


def test_pieces_are_joined_and_counted(stream_service: Any) -> None:
    stream_service.streams(*PIECES)
    parsed = ask(stream_service.chat())
    assert parsed.value.words == ["whale", "sea", "eel"]
    assert not parsed.completion.is_partial
    assert parsed.completion.usage == Usage(input_tokens=12, output_tokens=5, cached_tokens=2, requests=1)
    (request, _) = stream_service.server.log[0]
    assert request.get_json().get("stream") or "streamGenerateContent" in request.path


def test_a_stream_ends_as_a_reply_in_one_piece_does(stream_service: Any) -> None:
    stream_service.streams(*PIECES[:2], finish="length")
    stream_service.streams(*PIECES)
    assert len(ask(stream_service.chat()).value.words) == 3  # asked once more, and shorter
    stream_service.streams("", finish="refused")
    with pytest.raises(ModelRefused):
        ask(stream_service.chat())


def test_a_server_that_cannot_stream_is_asked_for_one_piece_from_then_on(stream_service: Any) -> None:
    stream_service.fails(400, "stream is not supported")
    stream_service.says("".join(PIECES))
    stream_service.says("".join(PIECES))
    chat = stream_service.chat()
    assert [len(ask(chat).value.words) for _ in range(2)] == [3, 3]
    streamed = [
        bool(request.get_json().get("stream")) or "streamGenerateContent" in request.path
        for request, _ in stream_service.server.log
    ]
    assert streamed == [True, False, False]


def stalled(protocol: Any, pieces: tuple[str, ...], gone: threading.Event) -> Callable[..., None]:
    """A service that writes these pieces and no more; ``gone`` is set when the client has hung up."""

    def serve(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        events = protocol.events((*pieces, "never sent"))
        last = next(place for place, each in enumerate(events) if "never sent" in each)
        connection.sendall("".join(events[:last]).encode())
        filler = protocol.events((" ",) * 4)
        while not stopped.wait(0.05):
            try:
                # White space goes on for ever, so that the client has something to hang up on.
                connection.sendall(next(each for each in filler if '" "' in each).encode())
            except OSError:
                gone.set()
                return

    return serve


class Deadline:
    """A backend whose time is over when these pieces have come, however long that takes."""

    def __init__(self, backend: Backend, pieces: tuple[str, ...]) -> None:
        self._backend = backend
        self._pieces = "".join(pieces)
        self._partial: PartialReply | None = None

    @property
    def name(self) -> str:
        return self._backend.name

    def exchange(self, request: Request) -> Reply:
        self._partial = request.partial
        return self._backend.exchange(request)

    def wait(self, ended: threading.Event, _seconds: float) -> None:
        until(
            lambda: ended.is_set() or (self._partial is not None and self._pieces in self._partial.text()),
            "the pieces have come",
        )


class Desk:
    """Books, and a recording, around a service."""

    def __init__(self, backend: Backend, folder: Path, pieces: tuple[str, ...] = ()) -> None:
        deadline = Deadline(backend, pieces)
        self.path = folder / "ledger.db"
        clock = ManualClock(datetime(2031, 5, 2, 8, 0, tzinfo=UTC))
        account = Account(
            league="L",
            scope="player",
            ledger=Ledger(self.path),
            budget=Budget(self.path, SpendingLimits(), {}, clock=clock),
            prices=PriceList({"*": Price(input_usd=1, output_usd=10)}),
            clock=clock,
        )
        accounted = Accounted(TimeLimited(deadline, wait=deadline.wait), account)
        self.recorder = CassetteRecorder(accounted, folder / "calls.jsonl")
        self.chat = Chat(self.recorder, Patience(retries=0))


def test_what_is_complete_at_the_deadline_is_used_written_down_and_replayed(
    streaming: str, raw_server: Any, tmp_path: Path
) -> None:
    from tests.llm.conftest import Protocol

    protocol, gone = Protocol(streaming), threading.Event()
    url = raw_server(stalled(protocol, PIECES[:2], gone)).url
    desk = Desk(protocol.backend(url), tmp_path, PIECES[:2])
    parsed = ask(desk.chat)
    assert parsed.value.words == ["whale"]
    assert parsed.completion.is_partial
    assert gone.wait(LIMIT_S)  # the service was told to stop writing
    (call,) = Ledger(desk.path).calls()
    assert call.outcome == "overdue"
    assert call.reply is not None
    assert call.reply.startswith("".join(PIECES[:2]))
    assert call.usage is not None
    assert call.usage.input_tokens > 0
    assert call.usage.output_tokens > 3
    assert call.cost_usd == pytest.approx((call.usage.input_tokens + 10 * call.usage.output_tokens) / 1e6, rel=0.2)
    desk.recorder.close()
    again = ask(Chat(CassettePlayer(tmp_path / "calls.jsonl")))
    assert again.value == parsed.value
    assert again.completion.is_partial
    # A process that was killed finds the reply again, and does not pay for it a second time.
    (tmp_path / "calls.jsonl").unlink()
    silent = Desk(protocol.backend("http://127.0.0.1:9"), tmp_path)
    assert ask(silent.chat).value == parsed.value
    silent.recorder.close()


def test_a_beginning_of_no_use_is_no_answer(streaming: str, raw_server: Any, tmp_path: Path) -> None:
    from tests.llm.conftest import Protocol

    protocol = Protocol(streaming)
    url = raw_server(stalled(protocol, PIECES[:1], threading.Event())).url
    desk = Desk(protocol.backend(url), tmp_path, PIECES[:1])
    with pytest.raises(Unanswered, match="too little of the reply came in time"):
        ask(desk.chat)
    desk.recorder.close()
    (call,) = Ledger(desk.path).calls()
    assert (call.outcome, call.work.value if call.work else None) == ("overdue", "replaced")


def test_the_most_that_an_overdue_reply_can_have_cost_stays_reserved(
    streaming: str, raw_server: Any, tmp_path: Path
) -> None:
    from tests.llm.conftest import Protocol

    protocol = Protocol(streaming)
    url = raw_server(stalled(protocol, PIECES[:2], threading.Event())).url
    desk = Desk(protocol.backend(url), tmp_path, PIECES[:2])
    ask(desk.chat)
    desk.recorder.close()
    with closing(sqlite3.connect(desk.path)) as db:
        (tokens,) = db.execute("SELECT sum(tokens) FROM spending").fetchone()
    assert tokens >= 60 + len(PROMPT.system) + len(PROMPT.user)


def test_an_error_inside_a_stream_is_one_line_and_may_be_charged_after_the_first_piece(
    streaming: str, httpserver: Any
) -> None:
    from werkzeug import Response

    from tests.llm.conftest import Protocol, Service

    service = Service(Protocol(streaming), httpserver)
    events = service.protocol.events(PIECES)[:4]
    if streaming == "anthropic":
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        events = [*service.protocol.events(PIECES)[:5], f"event: error\ndata: {json.dumps(error)}\n\n"]
    else:
        events = [*events[:2], f"data: {json.dumps(service.protocol.error(503, 'Overloaded'))}\n\n"]
    service._turns.append(Response(events, content_type="text/event-stream"))
    service.streams(*PIECES)
    parsed = ask(service.chat(retries=1))
    assert parsed.completion.usage.requests == 2
    service._turns.append(Response(events, content_type="text/event-stream"))
    with pytest.raises(Unanswered, match="Overloaded"):
        ask(service.chat(retries=0))
