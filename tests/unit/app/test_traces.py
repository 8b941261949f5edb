"""The way of a mail as OpenTelemetry's SDK has it, in memory and over OTLP/HTTP to a server on this machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from league_agents.app.agents import choose_agent, offline_host
from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.app.traces import Traces, trace_provider
from league_agents.app.watched import watched
from league_agents.games.q21.rules import PRD
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import InboxRow, Note, OutboxItem, PendingCall, StepCause, StepCommit
from league_agents.kit.clock import ManualClock
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import WarmupCall
from league_agents.league.wire.subject import format_subject
from league_agents.mail.memory import PostOffice
from league_agents.mail.port import OutgoingMail
from league_agents.runner.probe import Probe, ProbedObserver, probe_of
from league_agents.runner.role import RoleRunner
from tests.support import link


class Silent:
    def received(self, role: str, row: InboxRow) -> None: ...

    def sent(self, role: str, item: OutboxItem) -> None: ...

    def noted(self, role: str, note: Note) -> None: ...


def play(probe: Probe) -> None:
    """A player learns of a game, and answers the warm-up question of its referee."""
    clock = ManualClock(link.START)
    office = PostOffice(clock)
    peers = {address: office.mailbox(address) for address in (link.MANAGER, link.REFEREE)}
    machine = link.player(rules=PRD)
    agent = choose_agent("scripted", "player", rules=PRD, seed=0)
    runner = RoleRunner(
        machine,
        office.mailbox(link.PLAYER1),
        MemoryJournal(dump=machine.dump_part),
        offline_host(agent, clock, is_referee=False),
        clock,
        codec=LEAGUE_MAIL,
        observer=Silent(),
        probe=probe.of_role("player p@league.test"),
    )

    def tell(envelope: Envelope) -> None:
        sender = envelope.sender.email
        mail = OutgoingMail(
            sender=sender,
            to=(link.PLAYER1,),
            subject=format_subject(envelope),
            document=encode(envelope),
            transaction_id=envelope.message_id,
            sent_at=clock.now(),
        )
        peers[sender].send(mail)
        clock.sleep(timedelta(seconds=2))
        while runner.tick():
            pass

    runner.start()
    tell(link.table())
    tell(link.new_round())
    tell(warm_up())
    runner.close()


def warm_up() -> Envelope:
    return Envelope(
        protocol=Protocol.GAME,
        message_type=MessageType.Q21WARMUPCALL,
        message_id="warmup-1",
        timestamp=link.START,
        sender=Sender(email=link.REFEREE, role=Role.REFEREE),
        recipient_id="falcons",
        payload=WarmupCall(warmup_question="What is 6 times 7?", deadline=link.START + timedelta(hours=1)),
        game_id=link.GAME,
    )


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def probe(exported: InMemorySpanExporter) -> Iterator[Traces]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    yield Traces(provider)
    provider.shutdown()


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    return span.attributes or {}


def test_the_way_of_one_mail_is_one_trace(probe: Traces, exported: InMemorySpanExporter) -> None:
    play(probe)
    spans = exported.get_finished_spans()
    (root,) = [
        each for each in spans if each.name == "mail" and attributes(each)["league.message_type"] == "Q21WARMUPCALL"
    ]
    assert attributes(root)["league.game_id"] == link.GAME
    assert root.parent is None
    whole = [each for each in spans if each.context.trace_id == root.context.trace_id]
    assert sorted(each.name for each in whole) == [
        "callback", "commit", "commit", "decode", "dispatch", "dispatch", "mail", "send",
    ]  # fmt: skip
    (callback,) = [each for each in whole if each.name == "callback"]
    assert attributes(callback)["league.callback"] == "get_warmup_answer"
    ids = {each.context.span_id for each in whole}
    assert all(each.parent is not None and each.parent.span_id in ids for each in whole if each is not root)
    after = [each for each in whole if each.parent is not None and each.parent.span_id == callback.context.span_id]
    assert sorted(each.name for each in after) == ["commit", "dispatch", "send"]
    assert len({each.context.trace_id for each in spans if each.name == "mail"}) == 3


def test_spans_hold_ids_and_no_content(probe: Traces, exported: InMemorySpanExporter) -> None:
    play(probe)
    spans = exported.get_finished_spans()
    assert len(spans) > 10
    text = " ".join(each.to_json() for each in spans)
    for secret in ("6 times 7", "@", link.SEASON):
        assert secret not in text
    names = {name for each in spans for name in attributes(each)}
    assert names == {
        "league.call_id", "league.callback", "league.cause", "league.game_id", "league.message_type", "league.role",
        "league.transaction_id",
    }  # fmt: skip


def test_a_model_is_asked_within_its_callback(probe: Traces, exported: InMemorySpanExporter) -> None:
    of_role = probe.of_role("player")
    call = PendingCall(call_id="c-1", callback="get_guess", context={}, timeout=timedelta(seconds=9), game_id=link.GAME)
    of_role.caused(StepCommit(cause=StepCause.MAIL, key="m-1", at=link.START, calls=[call]))
    of_role.asked_model(
        game_id=link.GAME, callback="get_guess", model="openai/m", outcome="answered", took_s=1.5, cost_usd=0.01
    )
    of_role.answered(call, "timed_out")
    asked, callback = exported.get_finished_spans()
    assert (asked.name, callback.name) == ("model call", "callback")
    assert asked.parent is not None
    assert asked.parent.span_id == callback.context.span_id
    assert asked.end_time is not None
    assert asked.start_time is not None
    assert asked.end_time - asked.start_time == 1_500_000_000
    assert attributes(asked)["gen_ai.request.model"] == "openai/m"
    assert attributes(callback)["error.type"] == "timed_out"
    assert not callback.status.is_ok


def test_an_error_is_named_and_its_text_is_left_out(probe: Traces, exported: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="secret"), probe.of_role("player").span("decode", "m-1"):
        raise ValueError("a secret sentence")
    (span,) = exported.get_finished_spans()
    assert attributes(span)["error.type"] == "ValueError"
    assert "secret sentence" not in span.to_json()


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """A collector of traces on this machine, and what it was sent."""
    got: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            got.append(ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", got
        server.shutdown()
        thread.join()


def test_traces_are_exported_where_the_usual_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as (url, got):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        with watched(None, Silent(), {"OTEL_EXPORTER_OTLP_ENDPOINT": url}) as watching:
            assert isinstance(watching.observer, ProbedObserver)
            play(probe_of(watching.observer))
    sent = [each for request in got for each in request.resource_spans]
    (service,) = {
        each.value.string_value
        for resource in sent
        for each in resource.resource.attributes
        if each.key == "service.name"
    }
    assert service == "league-agents"
    names = {span.name for resource in sent for scope in resource.scope_spans for span in scope.spans}
    assert names == {"callback", "commit", "decode", "dispatch", "mail", "send"}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, None),
        ({"OTEL_SERVICE_NAME": "x"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "otlp over http/protobuf only"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "otlp over http/protobuf only",
        ),
    ],
)
def test_there_are_no_traces_unless_they_are_wanted(environment: dict[str, str], said: str | None) -> None:
    told: list[str] = []
    assert trace_provider(environment, told.append) is None
    assert len(told) == (said is not None)
    assert (said or "") in "".join(told)


def test_a_missing_extra_is_named_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    told: list[str] = []
    assert trace_provider({"OTEL_TRACES_EXPORTER": "otlp"}, told.append) is None
    assert "league-agents[traces]" in told[0]
