"""Google's Gemini, through either of its two SDKs; the newer one is preferred.

Rule 1: the SDKs do not retry; the layer above does, because it knows the time left.
Rule 2: with the newer SDK a reply comes in pieces from servers that can stream; with the older one in one piece.
Rule 3: a schema is requested in the strictest form that the server accepts. A refused form is not tried again.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import ConfigError, ModelUnavailable
from league_agents.llm.exchange import LARGEST_REPLY, Backend, Finish, Rejected, Reply, Request, Unanswered
from league_agents.llm.port import Usage
from league_agents.llm.provider import Access, ModelOptions, Provider
from league_agents.llm.providers.gemini.sdks import (
    BrokenOff,
    GeminiClient,
    GeminiRefusal,
    GenaiClient,
    GenerativeLanguageClient,
    NoJson,
    NotReached,
    text_of,
)
from league_agents.llm.responses import UnreadableBody, failure_of, quoted, retry_after, token_count, whole
from league_agents.llm.schemas import Form, in_words, plain_schema

ENDPOINT = "https://generativelanguage.googleapis.com"
NO_KEY = "none"
"""The key for a server without keys: the SDKs require one."""

_REFUSED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR")
_TRUNCATED = "MAX_TOKENS"


def connect(access: Access) -> Backend:
    """Return a ``Backend`` on Gemini. Raises ``ConfigError`` if neither SDK is installed."""
    client: type[GenaiClient | GenerativeLanguageClient]
    if _is_installed("google.genai"):
        client = GenaiClient
    elif _is_installed("google.ai.generativelanguage"):
        client = GenerativeLanguageClient
        newer = [name for name in access.options.given() if name != "temperature"]
        if newer:
            raise ConfigError("gemini", f"{newer[0]} needs the package google-genai; install it, or leave the key out")
    else:
        raise ConfigError("gemini", "neither google-genai nor google-generativeai is installed; install one of them")
    return GeminiBackend(client(access.key or NO_KEY, access.base_url), access)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


class GeminiBackend:
    """``Backend`` on one of the clients."""

    def __init__(self, client: GeminiClient, access: Access) -> None:
        self._client = client
        self._access = access
        self._key = access.key
        self._base_url = access.base_url
        self._lock = threading.Lock()
        self._form = Form.SCHEMA
        self._is_streaming = True
        options = access.options
        has_own = options.reasoning_effort is not None or access.thinks
        # A callback has about 25 seconds. Models that do not reason, or have no levels, refuse the word.
        self._default_level = None if has_own or access.base_url != ENDPOINT else "low"
        # Agents are discarded without being closed; this closes their connections.
        weakref.finalize(self, client.close).atexit = False

    @property
    def name(self) -> str:
        return self._access.name

    def __repr__(self) -> str:
        return f"GeminiBackend({self._access.model!r} at {self._base_url!r})"

    def exchange(self, request: Request) -> Reply:
        ends_s = monotonic_s() + request.timeout.total_seconds()
        form = self._form
        while True:
            left_s = ends_s - monotonic_s()
            if left_s <= 0:
                raise Unanswered(f"{self.name}: no time is left")
            try:
                partial = request.partial if self._is_streaming else None
                body = _body(request, form, self._access.options, self._default_level)
                document = self._client.generate(self._access.model, body, left_s, partial)
            except GeminiRefusal as refusal:
                if partial is not None and not partial.text() and "stream" in str(refusal.body)[:10_000].lower():
                    self._is_streaming = False
                    continue
                if self._default_level is not None and "thinking" in str(refusal.body)[:10_000].lower():
                    self._default_level = None
                    continue
                is_refused_form = refusal.status == 400 and not _is_about_the_key(refusal)
                if is_refused_form and request.schema is not None and form is not Form.PLAIN:
                    form = Form(form + 1)
                    continue
                failed = self._failed(refusal)
                if partial is not None and partial.text():
                    failed = Unanswered(str(failed))  # what was written until then may be charged
                failed.usage = Usage(requests=1)
                raise failed from None
            except UnreadableBody as error:
                raise failure_of(error, self.name, self._base_url) from None
            except NotReached:
                raise ModelUnavailable(
                    f"{self.name}: {self._base_url} cannot be reached; is it running, and its address right?"
                ) from None
            except NoJson:
                raise ModelUnavailable(
                    f"{self.name}: {self._base_url} sent no JSON; look whether base_url is right"
                ) from None
            except BrokenOff as error:
                raise Unanswered(f"{self.name}: {error}") from None
            if form is not self._form:
                with self._lock:
                    self._form = form
            return self._read(document)

    def _failed(self, refusal: GeminiRefusal) -> ModelUnavailable:
        status, said = refusal.status, quoted(refusal.body, self._key)
        if status in (401, 403) or _is_about_the_key(refusal):
            return Rejected(self._access.refused_key)
        if status == 404:
            return Rejected(f"{self.name}: {self._base_url} knows no such model or address ({said}); look at both")
        if status in (408, 409, 425, 429) or status >= 500:
            wait = retry_after(refusal.headers, refusal.body)
            return ModelUnavailable(f"{self.name}: answers {status}: {said}", retry_after=wait)
        return Rejected(f"{self.name}: refuses the request: answers {status}: {said}")

    def _read(self, document: Mapping[str, Any]) -> Reply:
        usage, is_counted = _usage(document.get("usageMetadata"))
        feedback = document.get("promptFeedback")
        blocked = feedback.get("blockReason") if isinstance(feedback, Mapping) else None
        candidates = document.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, Mapping):
            if not blocked:
                said = quoted(document, self._key)
                # A response without an error in it was an answer, which may be charged.
                kind = ModelUnavailable if said else Unanswered
                raise kind(f"{self.name}: the response holds no reply{f': {said}' if said else ''}")
            return Reply(text="", finish=Finish.REFUSED, usage=usage, model=self.name, is_counted=is_counted)
        reason = str(candidate.get("finishReason"))
        finish = Finish.COMPLETE
        if any(word in reason for word in _REFUSED):
            finish = Finish.REFUSED
        elif _TRUNCATED in reason:
            finish = Finish.CUT_OFF
        text = text_of(candidate.get("content"))[:LARGEST_REPLY]
        return Reply(text=text, finish=finish, usage=usage, model=self.name, is_counted=is_counted)


def _is_about_the_key(refusal: GeminiRefusal) -> bool:
    # Gemini answers 400, not 401, to an unknown key.
    return refusal.status == 400 and "API_KEY_INVALID" in str(refusal.body)[:10_000]


def _body(request: Request, form: Form, options: ModelOptions, default_level: str | None) -> dict[str, Any]:
    system = request.prompt.system
    config: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
    level = options.reasoning_effort or default_level
    own = {"temperature": options.temperature, "seed": options.seed, "thinkingLevel": level}
    config |= {name: value for name, value in own.items() if value is not None}
    if request.schema is not None:
        schema = plain_schema(request.schema) if form is Form.SCHEMA else None
        if schema is not None:
            config["responseSchema"] = schema
        else:
            system = f"{system}\n\n{in_words(request.schema)}"
        if form is not Form.PLAIN:
            config["responseMimeType"] = "application/json"
    turns = [("user", request.prompt.user)]
    if request.correction is not None:
        turns += [("model", request.correction.reply), ("user", request.correction.complaint)]
    return {
        "contents": [{"role": role, "parts": [{"text": whole(text)}]} for role, text in turns if text],
        "systemInstruction": {"parts": [{"text": whole(system)}]},
        "generationConfig": config,
        "serviceTier": options.service_tier,
    }


def _usage(counted: object) -> tuple[Usage, bool]:
    found = counted if isinstance(counted, Mapping) else {}
    read = token_count(found.get("promptTokenCount"))
    if read is None:
        return Usage(requests=1), False
    # Reasoning tokens are charged as output.
    written = sum(token_count(found.get(name)) or 0 for name in ("candidatesTokenCount", "thoughtsTokenCount"))
    cached = min(token_count(found.get("cachedContentTokenCount")) or 0, read)
    return Usage(input_tokens=read, output_tokens=written, cached_tokens=cached, requests=1), True


PROVIDER = Provider(
    name="gemini",
    title="Google's Gemini",
    base_url=ENDPOINT,
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    connect=connect,
    options={
        "temperature": (),
        "seed": (),
        "reasoning_effort": ("minimal", "low", "medium", "high", "xhigh"),
        "service_tier": ("standard", "flex", "priority"),
    },
)
