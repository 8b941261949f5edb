"""OpenAI's chat completions, also spoken by llama.cpp, Ollama, vLLM, LM Studio and many services.

Rule 1: the SDK does not retry; the layer above does, because it knows the time left.
Rule 2: a reply comes in pieces from servers that can stream, in one piece from others.
Rule 3: a schema is requested in the strictest form that the server accepts. A refused form is not tried again.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
from league_agents.llm.provider import Access, Provider
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
from league_agents.llm.schemas import Form, in_words, name_of, strict_schema
from league_agents.llm.sdk_failures import connection_failure

ENDPOINT = "https://api.openai.com/v1"
NO_KEY = "none"
"""The key for a server without keys: the SDK requires one."""

_OUTPUT_LIMITS = ("max_completion_tokens", "max_tokens")
_DEFAULT_EFFORT = "low"
"""A callback has about 25 seconds, which a model that reasons at length spends before the first word of its reply."""

_ABOUT_FORM = ("response_format", "json_schema", "json_object", "schema", "grammar", "structured")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The parameters that this server accepts."""

    form: Form
    output_limit: str
    has_default_effort: bool
    """Whether reasoning is kept short without an order of the user's; models that do not reason refuse the word."""

    is_streaming: bool = True


class OpenAIBackend:
    """``Backend`` on a server with chat completions."""

    def __init__(self, access: Access) -> None:
        import openai

        self._access = access
        self._key = access.key
        self._base_url = access.base_url.rstrip("/")
        # Local servers often know the older name only; OpenAI's newer models know the newer one only.
        newer, older = _OUTPUT_LIMITS
        is_service = self._base_url == ENDPOINT
        given = access.options.given()
        self._negotiation = Negotiation(
            _Dialect(
                Form.SCHEMA,
                newer if is_service else older,
                is_service and not access.thinks and not {"reasoning_effort", "temperature"} & given.keys(),
            )
        )
        self._client = openai.OpenAI(
            api_key=access.key or NO_KEY,
            base_url=self._base_url,
            max_retries=0,
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [limit_body]}),
        )
        # Agents are discarded without being closed; this closes their connections.
        weakref.finalize(self, self._client.close).atexit = False

    @property
    def name(self) -> str:
        return self._access.name

    def __repr__(self) -> str:
        return f"OpenAIBackend({self._access.model!r} at {self._base_url!r})"

    def exchange(self, request: Request) -> Reply:
        return self._negotiation.exchange(
            request,
            self.name,
            lambda dialect, left_s: self._ask(request, dialect, left_s),
            lambda dialect, said: _other(dialect, said, has_schema=request.schema is not None),
        )

    def _ask(self, request: Request, dialect: _Dialect, left_s: float) -> Reply:
        import openai

        partial = request.partial if dialect.is_streaming else None
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=self._access.model,
                messages=_messages(request, dialect.form),
                timeout=left_s,
                **{**_options(request, dialect), **self._access.options.given()},
            )
            if partial is not None and is_event_stream(response.http_response):
                with response.parse() as stream:
                    return self._reply(_document(stream, partial))
            body = response.http_response.read()
        except openai.APIStatusError as error:
            failed = self._failed(error)
            failed.usage = Usage(requests=1)
            raise failed from None
        except (Abandoned, ModelError):
            raise
        except Exception as error:  # the SDK passes on errors of its HTTP client while a body is read
            if type(error) is openai.APIError:
                raise self._broken_off(error, partial) from None
            raise connection_failure(error, self.name, self._base_url, left_s) from None
        return self._reply(json_body(body, self.name, self._base_url, self._key))

    def _broken_off(self, error: Any, partial: PartialReply | None) -> ModelUnavailable:
        """Return the failure for an error inside a stream."""
        kind = Unanswered if partial is not None and partial.text() else ModelUnavailable
        failed = kind(f"{self.name}: {quoted(error.body or error.message, self._key)}")
        failed.usage = Usage(requests=1)
        return failed

    def _failed(self, error: Any) -> ModelUnavailable | RefusedParameter:
        status: int = error.status_code
        said = quoted(error.body if error.body is not None else error.response.text, self._key)
        wait = retry_after(error.response.headers, error.body)
        if status in (401, 403):
            return Rejected(self._access.refused_key)
        if status == 404:
            return Rejected(f"{self.name}: {self._base_url} knows no such model or address ({said}); look at both")
        if status == 429 and getattr(error, "code", None) == "insufficient_quota":
            return Rejected(f"{self.name}: the account's quota is used up; see to it at the service")
        if status in (400, 415, 422) or (status >= 500 and any(word in said.lower() for word in _ABOUT_FORM)):
            return RefusedParameter(said)
        if status in (408, 409, 425, 429) or status >= 500:
            return ModelUnavailable(f"{self.name}: answers {status}: {said}", retry_after=wait)
        return Rejected(f"{self.name}: answers {status}: {said}")

    def _reply(self, document: Mapping[str, Any]) -> Reply:
        choices = document.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
            said = quoted(document, self._key)
            # A response without an error in it was an answer, which may be charged.
            kind = ModelUnavailable if said else Unanswered
            raise kind(f"{self.name}: the response holds no message{f': {said}' if said else ''}")
        usage, is_counted = _usage(document.get("usage"))
        text = _text(message.get("content"))
        refusal = message.get("refusal")
        finish = {"length": Finish.CUT_OFF, "content_filter": Finish.REFUSED}.get(
            str(choice.get("finish_reason")), Finish.COMPLETE
        )
        if isinstance(refusal, str) and refusal.strip():
            finish, text = Finish.REFUSED, text or refusal
        text = whole(text[:LARGEST_REPLY])
        return Reply(text=text, finish=finish, usage=usage, model=self.name, is_counted=is_counted)


def _other(dialect: _Dialect, said: str, *, has_schema: bool) -> _Dialect | None:
    """Return the dialect to try next; ``None`` if none is left."""
    newer, older = _OUTPUT_LIMITS
    if dialect.is_streaming and "stream" in said:
        return evolve(dialect, is_streaming=False)
    if dialect.has_default_effort and "reasoning" in said:
        return evolve(dialect, has_default_effort=False)
    if any(name in said for name in _OUTPUT_LIMITS):
        return evolve(dialect, output_limit=older if dialect.output_limit == newer else newer)
    if has_schema and dialect.form is not Form.PLAIN:
        return evolve(dialect, form=Form(dialect.form + 1))
    return None


def _messages(request: Request, form: Form) -> Any:
    system = request.prompt.system
    if request.schema is not None and form is not Form.SCHEMA:
        system = f"{system}\n\n{in_words(request.schema)}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": request.prompt.user}]
    if request.correction is not None:
        messages.append({"role": "assistant", "content": request.correction.reply})
        messages.append({"role": "user", "content": request.correction.complaint})
    # Half of a surrogate pair cannot be sent.
    return [{name: whole(text) for name, text in each.items()} for each in messages]


def _options(request: Request, dialect: _Dialect) -> dict[str, Any]:
    options: dict[str, Any] = {dialect.output_limit: request.max_output_tokens}
    if dialect.has_default_effort:
        options["reasoning_effort"] = _DEFAULT_EFFORT
    if request.partial is not None and dialect.is_streaming:
        options |= {"stream": True, "stream_options": {"include_usage": True}}
    if request.schema is None or dialect.form is Form.PLAIN:
        return options
    if dialect.form is Form.OBJECT:
        return {**options, "response_format": {"type": "json_object"}}
    strict = strict_schema(request.schema)
    form = {
        "name": name_of(request.schema),
        "schema": request.schema.document if strict is None else strict,
        "strict": strict is not None,
    }
    return {**options, "response_format": {"type": "json_schema", "json_schema": form}}


def _document(stream: Iterable[object], partial: PartialReply) -> dict[str, Any]:
    """Read a stream to its end; return the response that the service would have sent in one piece."""
    finish: object = None
    usage: object = None
    refusal = ""
    for event in stream:
        fields = fields_of(event)
        usage = fields.get("usage") or usage
        choices = fields.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        delta = choice.get("delta") if isinstance(choice, Mapping) else None
        if not isinstance(choice, Mapping) or not isinstance(delta, Mapping):
            continue
        finish = choice.get("finish_reason") or finish
        if isinstance(delta.get("refusal"), str):
            refusal += delta["refusal"]
        if piece := _text(delta.get("content")):
            partial.add(piece)
    message = {"content": partial.text(), "refusal": refusal}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        # Some servers send a message in parts.
        parts = [part.get("text") for part in content[:1_000] if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _usage(counted: object) -> tuple[Usage, bool]:
    found = counted if isinstance(counted, Mapping) else {}
    details = found.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    read, written = token_count(found.get("prompt_tokens")), token_count(found.get("completion_tokens"))
    if read is None or written is None:
        return Usage(requests=1), False
    cached = min(token_count(cached) or 0, read)
    return Usage(input_tokens=read, output_tokens=written, cached_tokens=cached, requests=1), True


PROVIDER = Provider(
    name="openai",
    title="OpenAI's chat completions",
    base_url=ENDPOINT,
    key_variables=("OPENAI_API_KEY",),
    connect=OpenAIBackend,
    options={
        "temperature": (),
        "seed": (),
        "reasoning_effort": ("none", "minimal", "low", "medium", "high", "xhigh", "max"),
        "service_tier": ("auto", "default", "flex", "scale", "priority", "fast"),
    },
    alternatives="any server that speaks its protocol: llama.cpp, Ollama, vLLM, LM Studio",
)
