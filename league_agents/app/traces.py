"""OpenTelemetry traces of a mail's way: arrival, decoding, dispatch, callbacks, models, commit, sending.

Rule 1: attributes are ids, types and names of ours. No text of a mail, a callback, a model or an error is in them, and
no address.
Rule 2: a trace begins with what causes work, a mail in most cases, and has the work of all steps that follow from it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from league_agents.app.metrics import shown_name
from league_agents.journal.port import PendingCall, StepCause, StepCommit
from league_agents.kit.clock import utc_now
from league_agents.runner.probe import Probe

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
EXPORTER, DISABLED, SERVICE, RESOURCE = (
    "OTEL_TRACES_EXPORTER",
    "OTEL_SDK_DISABLED",
    "OTEL_SERVICE_NAME",
    "OTEL_RESOURCE_ATTRIBUTES",
)
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
SPOKEN = "http/protobuf"
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
SHORT_TIMEOUT_S = 3.0
"""Seconds for one export with its repetitions, where no variable says it."""

MOST_REMEMBERED = 10_000
"""Causes whose consequences are still awaited, for each role."""

V = TypeVar("V")


class _Recent(OrderedDict[str, V], Generic[V]):
    """The values that were set last."""

    def put(self, key: str, value: V) -> None:
        self[key] = value
        self.move_to_end(key)
        if len(self) > MOST_REMEMBERED:
            self.popitem(last=False)


def trace_provider(environment: Mapping[str, str], tell: Callable[[str], None]) -> TracerProvider | None:
    """The exporter of traces that OpenTelemetry's usual variables want; ``None`` if they want none.

    ``tell`` is called with the reason if they want one that cannot be had.
    """
    exporter = environment.get(EXPORTER, "").strip().lower()
    is_wanted = exporter not in ("", "none") or any(environment.get(name) for name in ENDPOINTS)
    if not is_wanted or exporter == "none" or environment.get(DISABLED, "").strip().lower() == "true":
        return None
    protocol = next((found for name in PROTOCOLS if (found := environment.get(name))), SPOKEN)
    if exporter not in ("", "otlp") or protocol != SPOKEN:
        tell(f"no traces: they are exported as otlp over {SPOKEN} only, and the OTEL_ variables name another way")
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        tell("no traces: OTEL_ variables want them, and they need: pip install 'league-agents[traces]'")
        return None
    has_name = SERVICE in environment or "service.name=" in environment.get(RESOURCE, "")
    resource = Resource.create({} if has_name else {"service.name": "league-agents"})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    # The end of the process waits so long for a collector that does not answer.
    patience_s = None if any(environment.get(name) for name in TIMEOUTS) else SHORT_TIMEOUT_S
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=patience_s)))
    return provider


class Traces(Probe):
    """``Probe`` that makes spans."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("league_agents")

    def of_role(self, name: str) -> Probe:
        return _RoleTraces(self._tracer, shown_name(name))


class _Enclosing:
    """A span of a part of the work."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        if kind is not None:
            _fail(self._span, kind.__name__)
        self._span.end()


class _RoleTraces(Probe):
    """The spans of one role. Thread-safe."""

    def __init__(self, tracer: Tracer, role: str) -> None:
        self._tracer = tracer
        self._role = role
        self._lock = threading.Lock()
        self._contexts: _Recent[Context] = _Recent()
        """Of what is caused by a mail, call, deadline or order, and of a message to be sent, by its key."""

        self._calls: _Recent[Span] = _Recent()
        """Of callbacks that run, by call id."""

        self._latest: _Recent[str] = _Recent()
        """The call that runs, by its game and callback."""

    def span(self, name: str, key: str, *, began: datetime | None = None) -> AbstractContextManager[None]:
        from opentelemetry.trace import set_span_in_context

        with self._lock:
            context = None if name == "mail" else self._contexts.get(key)
        started_ns = None if began is None else min(int(began.timestamp() * 1e9), _now_ns())
        attributes = {"league.role": self._role, f"league.{'transaction_id' if name == 'send' else 'cause'}": key}
        span = self._tracer.start_span(name, context=context, start_time=started_ns, attributes=attributes)
        if context is None:
            with self._lock:
                self._contexts.put(key, set_span_in_context(span))
        return _Enclosing(span)

    def caused(self, commit: StepCommit) -> None:
        from opentelemetry.trace import get_current_span, set_span_in_context

        with self._lock:
            context = self._contexts.get(commit.key)
            if commit.cause in (StepCause.DEADLINE, StepCause.COMMAND, StepCause.START):
                self._contexts.pop(commit.key, None)  # the next deadline may have the same name
        if context is not None and commit.inbox is not None:
            root = get_current_span(context)
            root.set_attribute("league.message_type", commit.inbox.message_type)
            if commit.inbox.game_id:
                root.set_attribute("league.game_id", commit.inbox.game_id)
        for call in commit.calls:
            attributes = {
                "league.role": self._role,
                "league.call_id": call.call_id,
                "league.callback": call.callback,
                "league.game_id": call.game_id,
            }
            span = self._tracer.start_span("callback", context=context, attributes=attributes)
            with self._lock:
                self._calls.put(call.call_id, span)
                self._contexts.put(call.call_id, set_span_in_context(span))
                self._latest.put(f"{call.game_id} {call.callback}", call.call_id)
        if context is not None:
            with self._lock:
                for item in commit.sends:
                    self._contexts.put(item.transaction_id, context)

    def answered(self, call: PendingCall, failure: str) -> None:
        with self._lock:
            span = self._calls.pop(call.call_id, None)
        if span is not None:
            if failure:
                _fail(span, failure)
            span.end()

    def asked_model(
        self, *, game_id: str, callback: str, model: str, outcome: str, took_s: float, cost_usd: float | None
    ) -> None:
        with self._lock:
            context = self._contexts.get(self._latest.get(f"{game_id} {callback}", ""))
        attributes = {
            "league.role": self._role,
            "league.callback": callback,
            "league.game_id": game_id,
            "league.outcome": outcome,
            "gen_ai.request.model": model,
        }
        now_ns = _now_ns()
        span = self._tracer.start_span(
            "model call", context=context, start_time=now_ns - int(took_s * 1e9), attributes=attributes
        )
        span.end(now_ns)


def _fail(span: Span, kind: str) -> None:
    """Mark a span as failed. The text of an error may hold what a mail says."""
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))


def _now_ns() -> int:
    return int(utc_now().timestamp() * 1e9)
