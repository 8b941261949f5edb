"""Anthropic's messages API.

Rule 1: the SDK does not retry; the layer above does, because it knows the time left.
Rule 2: a reply comes in pieces from servers that can stream, in one piece from others.
Rule 3: a schema is requested in the strictest form that the server accepts: as the output format, else as the input of
the only tool, else in words. A refused form, and a refused default of this module, is not tried again.
Rule 4: the part of the system prompt that is the same in every game is marked for the service's cache.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from league_agents.kit.errors import ModelError, ModelUnavailable
from league_agents.kit.values import evolve
from league_agents.llm.exchange import (
    LARGEST_REPLY,
    Abandoned,
    Finish,
    PartialReply,
    Rejected,
    Reply,
    Request,
    Unanswered,
)
from league_agents.llm.negotiation import Negotiation, RefusedParameter
from league_agents.llm.port import Usage
from league_agents.llm.provider import Access, ModelOptions, Provider
from league_agents.llm.responses import (
    fields_of,
    is_event_stream,
    json_body,
    limit_body,
    quoted,
    retry_after,
    token_count,
    whole,
)
from league_agents.llm.schemas import in_words, name_of, unbounded_schema
from league_agents.llm.sdk_failures import connection_failure

ENDPOINT = "https://api.anthropic.com"
NO_KEY = "none"
"""The key for a server without keys: the SDK requires one."""

_CUT_OFF = ("max_tokens", "model_context_window_exceeded")
_PASSING = ("rate_limit_error", "overloaded_error", "api_error", "timeout_error")
"""Types of errors that may pass."""


class _Form(IntEnum):
    """How a JSON object is requested, the strictest way first."""

    FORMAT = 0
    """As the output format, which the service enforces."""
    TOOL = 1
    """As the input of a tool that the model has to call."""
    PLAIN = 2
    """In the prompt only."""


@dataclass(frozen=True, slots=True)
class _MessagesDialect:
    """The parameters that this model at this server accepts."""

    form: _Form = _Form.FORMAT
    is_streaming: bool = True
    may_say_disabled: bool = True
    """Whether reasoning is switched off, because a callback has about 25 seconds. Models that never reason, or always
    do, refuse the word; an order of the user's goes before."""


class AnthropicBackend:
    """``Backend`` on a server with Anthropic's messages API."""

    def __init__(self, access: Access) -> None:
        import anthropic

        self._access = access
        self._key = access.key
        self._base_url = access.base_url.rstrip("/")
        effort = access.options.reasoning_effort
        self._negotiation = Negotiation(_MessagesDialect(may_say_disabled=effort is None and not access.thinks))
        self._client = anthropic.Anthropic(
            api_key=access.key or NO_KEY,
            base_url=self._base_url,
            max_retries=0,
            open_telemetry=False,  # spans would hold the prompt if the environment asked for it
            default_headers={"Accept-Encoding": "identity"},
            http_client=anthropic.DefaultHttpxClient(event_hooks={"response": [limit_body]}),
        )
        # Agents are discarded without being closed; this closes their connections.
        weakref.finalize(self, self._client.close).atexit = False

    @property
    def name(self) -> str:
        return self._access.name

    def __repr__(self) -> str:
        return f"AnthropicBackend({self._access.model!r} at {self._base_url!r})"

    def exchange(self, request: Request) -> Reply:
        return self._negotiation.exchange(
            request,
            self.name,
            lambda dialect, left_s: self._ask(request, dialect, left_s),
            lambda dialect, said: _other(dialect, said, has_schema=request.schema is not None),
        )

    def _ask(self, request: Request, dialect: _MessagesDialect, left_s: float) -> Reply:
        import anthropic

        partial = request.partial if dialect.is_streaming else None
        try:
            response = self._client.messages.with_raw_response.create(
                model=self._access.model,
                max_tokens=request.max_output_tokens,
                timeout=left_s,
                **_messages_body(request, dialect, self._access.options),
            )
            if partial is not None and is_event_stream(response.http_response):
                with response.parse() as stream:
                    return self._reply(_document(stream, partial, is_tool=dialect.form is _Form.TOOL))
            body = response.read()
        except anthropic.APIStatusError as error:
            failed = self._failed(error)
            if partial is not None and partial.text():
                failed = Unanswered(str(failed))  # what was written until then may be charged
            failed.usage = Usage(requests=1)
            raise failed from None
        except (Abandoned, ModelError):
            raise
        except Exception as error:  # the SDK passes on errors of its HTTP client while a body is read
            raise connection_failure(error, self.name, self._base_url, left_s) from None
        return self._reply(json_body(body, self.name, self._base_url, self._key))

    def _failed(self, error: Any) -> ModelUnavailable | RefusedParameter:
        status: int = error.status_code
        said = quoted(error.body if error.body is not None else error.response.text, self._key)
        kind = error.type if isinstance(error.type, str) else ""
        if status in (401, 403):
            return Rejected(self._access.refused_key)
        if status == 404:
            return Rejected(f"{self.name}: {self._base_url} knows no such model or address ({said}); look at both")
        if status == 402 or kind == "billing_error" or "credit balance" in said:
            return Rejected(f"{self.name}: the account has no credit left; see to it at the service")
        if status in (408, 409, 425, 429) or status >= 500 or kind in _PASSING:
            wait = retry_after(error.response.headers, error.body)
            return ModelUnavailable(f"{self.name}: answers {status}: {said}", retry_after=wait)
        if status == 200:  # an error inside a stream
            return ModelUnavailable(f"{self.name}: {said}")
        if status in (400, 422):
            return RefusedParameter(said)
        return Rejected(f"{self.name}: answers {status}: {said}")

    def _reply(self, document: Mapping[str, Any]) -> Reply:
        content = document.get("content")
        if not isinstance(content, list):
            said = quoted(document, self._key)
            # A response without an error in it was an answer, which may be charged.
            kind = ModelUnavailable if said else Unanswered
            raise kind(f"{self.name}: the response holds no message{f': {said}' if said else ''}")
        usage, is_counted = _usage(document.get("usage"))
        text = whole(_text(content)[:LARGEST_REPLY])
        finish = _finish(document.get("stop_reason"))
        return Reply(text=text, finish=finish, usage=usage, model=self.name, is_counted=is_counted)


def _other(dialect: _MessagesDialect, said: str, *, has_schema: bool) -> _MessagesDialect | None:
    """Return the dialect to try next; ``None`` if none is left."""
    if dialect.is_streaming and "stream" in said:
        return evolve(dialect, is_streaming=False)
    if dialect.may_say_disabled and "thinking" in said:
        return evolve(dialect, may_say_disabled=False)
    if has_schema and dialect.form is not _Form.PLAIN:
        return evolve(dialect, form=_Form(dialect.form + 1))
    return None


def _messages_body(request: Request, dialect: _MessagesDialect, options: ModelOptions) -> dict[str, Any]:
    prompt = request.prompt
    system: list[dict[str, Any]] = [
        {"type": "text", "text": whole(prompt.system[: prompt.stable]), "cache_control": {"type": "ephemeral"}}
    ]
    own = whole(prompt.system[prompt.stable :]).strip()
    body: dict[str, Any] = {"stream": True} if request.partial is not None and dialect.is_streaming else {}
    if dialect.may_say_disabled:
        body["thinking"] = {"type": "disabled"}
    if options.service_tier is not None:
        body["service_tier"] = options.service_tier
    output: dict[str, Any] = {} if options.reasoning_effort is None else {"effort": options.reasoning_effort}
    if request.schema is not None:
        form = unbounded_schema(request.schema) if dialect.form is _Form.FORMAT else None
        if form is not None:
            output["format"] = {"type": "json_schema", "schema": form}
        elif dialect.form is not _Form.PLAIN:
            name = name_of(request.schema)
            body["tools"] = [{"name": name, "input_schema": request.schema.document}]
            body["tool_choice"] = {"type": "tool", "name": name}
        else:
            own = f"{own}\n\n{in_words(request.schema)}".strip()
    if output:
        body["output_config"] = output
    turns = [("user", prompt.user)]
    if request.correction is not None:
        turns += [("assistant", request.correction.reply.strip() or "…"), ("user", request.correction.complaint)]
    body["messages"] = [{"role": role, "content": whole(text)} for role, text in turns]
    # The service refuses empty blocks.
    body["system"] = [each for each in [*system, {"type": "text", "text": own}] if each["text"]]
    return body


def _document(stream: Iterable[object], partial: PartialReply, *, is_tool: bool) -> dict[str, Any]:
    """Read a stream to its end; return the response that the service would have sent in one piece.

    ``is_tool``: the reply is the input of a tool; text beside it is prose about the call.
    """
    reason: object = None
    counted: dict[str, object] = {}
    for event in stream:
        fields = fields_of(event)
        message, delta = fields.get("message"), fields.get("delta")
        usage = message.get("usage") if isinstance(message, Mapping) else fields.get("usage")
        if isinstance(usage, Mapping):
            # Counts are cumulative; an event leaves out what has not changed.
            counted |= {name: value for name, value in usage.items() if value is not None}
            partial.usage = _usage(counted)[0]
        if isinstance(delta, Mapping):
            reason = delta.get("stop_reason") or reason
            piece = delta.get("partial_json" if is_tool else "text")
            if isinstance(piece, str) and piece:
                partial.add(piece)
    return {"content": [{"type": "text", "text": partial.text()}], "stop_reason": reason, "usage": counted}


def _text(content: list[object]) -> str:
    found = []
    for block in content[:1_000]:
        if not isinstance(block, Mapping):
            continue
        if block.get("type") == "tool_use":
            # The reply as a tool's input; text beside it is prose about the call.
            return json.dumps(block.get("input"), ensure_ascii=False)
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            found.append(text)
    return "".join(found)


def _finish(reason: object) -> Finish:
    if reason == "refusal":
        return Finish.REFUSED
    return Finish.CUT_OFF if reason in _CUT_OFF else Finish.COMPLETE


def _usage(counted: object) -> tuple[Usage, bool]:
    found = counted if isinstance(counted, Mapping) else {}
    fresh, written = token_count(found.get("input_tokens")), token_count(found.get("output_tokens"))
    if fresh is None or written is None:
        return Usage(requests=1), False
    # The service counts tokens that it read from its cache or wrote into it beside the others.
    cached = token_count(found.get("cache_read_input_tokens")) or 0
    stored = token_count(found.get("cache_creation_input_tokens")) or 0
    usage = Usage(
        input_tokens=fresh + cached + stored,
        output_tokens=written,
        cached_tokens=cached,
        stored_tokens=stored,
        requests=1,
    )
    return usage, True


PROVIDER = Provider(
    name="anthropic",
    title="Anthropic's Claude",
    base_url=ENDPOINT,
    key_variables=("ANTHROPIC_API_KEY",),
    connect=AnthropicBackend,
    # The service refuses temperatures since its version 2026-10-21, and has no seed.
    options={
        "reasoning_effort": ("low", "medium", "high", "xhigh", "max"),
        "service_tier": ("auto", "standard_only"),
    },
)
