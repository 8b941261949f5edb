"""Google's Gemini, through whichever of its two SDKs is installed; the newer one is preferred.

Rule 1: the SDKs ask once; repeating is done above, where the time is known.
Rule 2: what both SDKs do differently is in one class each; what a response means is read once.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Mapping
from enum import IntEnum
from importlib.util import find_spec
from io import BytesIO
from typing import Any, Protocol

from league_agents.errors import ConfigError, MalformedCompletion, ModelUnavailable
from league_agents.llm.exchange import LARGEST_REPLY, Backend, Finish, Rejected, Reply, Request, Unanswered
from league_agents.llm.port import Usage
from league_agents.llm.responses import UnreadableBody, document_of, limit_body, quoted, retry_after, unreadable
from league_agents.llm.schemas import in_words, plain_schema

GEMINI_ENDPOINT = "https://generativelanguage.googleapis.com"
NO_KEY = "none"
"""What a server gets that wants no key: the SDKs insist on one."""

_REFUSED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR")
_TRUNCATED = "MAX_TOKENS"


class Form(IntEnum):
    """How a JSON object is asked for, the strictest first."""

    SCHEMA = 0
    OBJECT = 1
    """JSON of any form, with the schema in the prompt."""
    PLAIN = 2
    """The schema in the prompt and nothing else."""


def gemini_backend(
    *, model: str, key: str | None, base_url: str | None = None, key_name: str = "GEMINI_API_KEY"
) -> Backend:
    """``Backend`` on Gemini. Raises ``ConfigError`` when neither SDK is installed."""
    place = (base_url or GEMINI_ENDPOINT).rstrip("/")
    client: _Client
    if _is_installed("google.genai"):
        client = GenaiClient(key or NO_KEY, place)
    elif _is_installed("google.ai.generativelanguage"):
        client = GenerativeLanguageClient(key or NO_KEY, place)
    else:
        raise ConfigError("gemini", "neither google-genai nor google-generativeai is installed; install one of them")
    return GeminiBackend(client, model=model, key=key, base_url=place, key_name=key_name)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a package above it is not there
        return False


class Refusal(Exception):
    """The service answered with an HTTP error."""

    def __init__(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers


class NotReached(Exception):
    """No connection came about."""


class BrokenOff(Exception):
    """The request was sent, and no whole answer came."""


class _Client(Protocol):
    """What one SDK does."""

    def generate(self, model: str, body: Mapping[str, Any], timeout_s: float) -> Mapping[str, Any]:
        """The response as the JSON object that the service sends. Raises the three above and ``UnreadableBody``."""
        ...


class GeminiBackend:
    """``Backend`` on one of the clients."""

    def __init__(self, client: _Client, *, model: str, key: str | None, base_url: str, key_name: str) -> None:
        self._client = client
        self._model = model
        self._key = key
        self._base_url = base_url
        self._key_name = key_name
        self._lock = threading.Lock()
        self._form = Form.SCHEMA

    @property
    def name(self) -> str:
        return f"gemini:{self._model}"

    def __repr__(self) -> str:
        return f"GeminiBackend({self._model!r} at {self._base_url!r})"

    def exchange(self, request: Request) -> Reply:
        ends_s = time.monotonic() + request.timeout.total_seconds()
        form = self._form
        while True:
            left_s = ends_s - time.monotonic()
            if left_s <= 0:
                raise Unanswered(f"{self.name}: no time is left")
            try:
                document = self._client.generate(self._model, _body(request, form), left_s)
            except Refusal as refusal:
                if refusal.status == 400 and request.schema is not None and form is not Form.PLAIN:
                    if not _is_about_the_key(refusal):
                        form = Form(form + 1)
                        continue
                failed = self._failed(refusal)
                failed.usage = Usage(requests=1)
                raise failed from None
            except UnreadableBody as error:
                raise MalformedCompletion(f"{self.name}: {error}") from None
            except NotReached:
                raise ModelUnavailable(
                    f"{self.name}: {self._base_url} cannot be reached; is it running, and its address right?"
                ) from None
            except BrokenOff as error:
                raise Unanswered(f"{self.name}: {error}") from None
            if form is not self._form:
                with self._lock:
                    self._form = form
            return self._read(document)

    def _failed(self, refusal: Refusal) -> ModelUnavailable:
        status, said = refusal.status, quoted(refusal.body, self._key)
        if status in (401, 403) or _is_about_the_key(refusal):
            return Rejected(f"{self.name}: {self._base_url} refuses the key in {self._key_name}; is it the right one?")
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
                raise ModelUnavailable(f"{self.name}: the response holds no reply{f': {said}' if said else ''}")
            return Reply(text="", finish=Finish.REFUSED, usage=usage, model=self.name, is_counted=is_counted)
        reason = str(candidate.get("finishReason"))
        finish = Finish.COMPLETE
        if any(word in reason for word in _REFUSED):
            finish = Finish.REFUSED
        elif _TRUNCATED in reason:
            finish = Finish.CUT_OFF
        text = _text(candidate.get("content"))[:LARGEST_REPLY]
        return Reply(text=text, finish=finish, usage=usage, model=self.name, is_counted=is_counted)


def _is_about_the_key(refusal: Refusal) -> bool:
    # Gemini answers 400 and not 401 to a key that it does not know.
    return refusal.status == 400 and "api_key_invalid" in quoted_whole(refusal.body).lower()


def quoted_whole(body: object) -> str:
    """All that an error says, for looking for a word in it."""
    return str(body)[:10_000]


def _body(request: Request, form: Form) -> dict[str, Any]:
    system = request.prompt.system
    config: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
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
        "contents": [{"role": role, "parts": [{"text": _utf8(text)}]} for role, text in turns if text],
        "systemInstruction": {"parts": [{"text": _utf8(system)}]},
        "generationConfig": config,
    }


def _utf8(text: str) -> str:
    # Half of a surrogate pair cannot be sent.
    return text.encode("utf-8", "replace").decode()


def _text(content: object) -> str:
    parts = content.get("parts") if isinstance(content, Mapping) else None
    found = []
    for part in parts[:1_000] if isinstance(parts, list) else ():
        text = part.get("text") if isinstance(part, Mapping) and not part.get("thought") else None
        if isinstance(text, str):
            found.append(_utf8(text))
    return "".join(found)


def _usage(counted: object) -> tuple[Usage, bool]:
    found = counted if isinstance(counted, Mapping) else {}
    read = _count(found.get("promptTokenCount"))
    if read is None:
        return Usage(requests=1), False
    # What a model thinks is paid for as what it writes.
    written = (_count(found.get("candidatesTokenCount")) or 0) + (_count(found.get("thoughtsTokenCount")) or 0)
    cached = min(_count(found.get("cachedContentTokenCount")) or 0, read)
    return Usage(input_tokens=read, output_tokens=written, cached_tokens=cached, requests=1), True


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 10**9 else None


class GenaiClient:
    """``google-genai``."""

    def __init__(self, key: str, base_url: str) -> None:
        with warnings.catch_warnings():
            # Advice to install a newer Python; this program's own requirements say which ones will do.
            warnings.simplefilter("ignore", FutureWarning)
            from google import genai
        self._client = genai.Client(
            api_key=key,
            vertexai=False,
            http_options=genai.types.HttpOptions(
                base_url=base_url,
                headers={"Accept-Encoding": "identity"},
                client_args={"event_hooks": {"response": [limit_body]}},
                retry_options=genai.types.HttpRetryOptions(attempts=1),
            ),
        )

    def generate(self, model: str, body: Mapping[str, Any], timeout_s: float) -> Mapping[str, Any]:
        from google.genai import errors, types

        config = dict(body["generationConfig"])
        try:
            response = self._client.models.generate_content(
                model=model,
                contents=[types.Content.model_validate(each) for each in body["contents"]],
                config=types.GenerateContentConfig(
                    system_instruction=types.Content.model_validate(body["systemInstruction"]),
                    max_output_tokens=config["maxOutputTokens"],
                    response_mime_type=config.get("responseMimeType"),
                    response_schema=config.get("responseSchema"),
                    http_options=types.HttpOptions(timeout=max(1, int(timeout_s * 1_000))),
                    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
                    should_return_http_response=True,
                ),
            )
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None)
            raise Refusal(error.code or 500, error.details, headers if isinstance(headers, Mapping) else {}) from None
        except UnreadableBody:
            raise
        except Exception as error:  # the SDK lets whatever its HTTP client raises come out, and there are two of those
            body_error = unreadable(error)
            if body_error is not None:
                raise body_error from None
            if type(error).__name__ in ("ConnectError", "ConnectTimeout"):
                raise NotReached from None
            raise BrokenOff(f"no whole answer within {timeout_s:.3g} s ({type(error).__name__})") from None
        http = response.sdk_http_response
        return _document(http.body if http is not None else None)


class GenerativeLanguageClient:
    """``google-generativeai``, through the client that it makes itself: its own face keeps one key and one address for
    the whole process, and two models may need two."""

    def __init__(self, key: str, base_url: str) -> None:
        with warnings.catch_warnings():
            # Advice to install a newer Python, and that there is a newer SDK, which is not installed here.
            warnings.simplefilter("ignore", FutureWarning)
            from google.ai import generativelanguage
        self._client = generativelanguage.GenerativeServiceClient(
            transport="rest", client_options={"api_key": key, "api_endpoint": base_url}
        )
        # The transport takes no session from outside, and only its session can count a body that comes in.
        session = getattr(self._client.transport, "_session", None)
        if session is not None:
            adapter = _counting_adapter()
            session.mount("http://", adapter)
            session.mount("https://", adapter)

    def generate(self, model: str, body: Mapping[str, Any], timeout_s: float) -> Mapping[str, Any]:
        from google.ai import generativelanguage
        from google.api_core import exceptions

        request = generativelanguage.GenerateContentRequest(
            model=model if "/" in model else f"models/{model}",
            contents=body["contents"],
            system_instruction=body["systemInstruction"],
            generation_config=_snake(body["generationConfig"]),
        )
        try:
            response = self._client.generate_content(request=request, timeout=timeout_s, retry=None)
        except exceptions.GoogleAPICallError as error:
            http = getattr(error, "response", None)
            headers = getattr(http, "headers", None) or {}
            raise Refusal(int(error.code or 500), document_of(getattr(http, "text", "")) or str(error), headers) from None
        except UnreadableBody:
            raise
        except Exception as error:  # the SDK lets whatever requests raises come out
            body_error = unreadable(error)
            if body_error is not None:
                raise body_error from None
            if type(error).__name__ in ("ConnectionError", "ConnectTimeout"):
                raise NotReached from None
            raise BrokenOff(f"no whole answer within {timeout_s:.3g} s ({type(error).__name__})") from None
        return _document(generativelanguage.GenerateContentResponse.to_json(response, use_integers_for_enums=False))


def _snake(config: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "maxOutputTokens": "max_output_tokens",
        "responseMimeType": "response_mime_type",
        "responseSchema": "response_schema",
    }
    found = {names[name]: value for name, value in config.items()}
    if "response_schema" in found:
        found["response_schema"] = _with_type_names(found["response_schema"])
    return found


def _with_type_names(schema: Mapping[str, Any]) -> dict[str, Any]:
    """As the protocol buffer wants it: the names of its types in capitals, and its fields that are Python's words."""
    found = {name: value for name, value in schema.items() if name not in ("type", "format")}
    found["type_"] = str(schema["type"]).upper()
    if "format" in schema:
        found["format_"] = schema["format"]
    if "items" in found:
        found["items"] = _with_type_names(found["items"])
    if "properties" in found:
        found["properties"] = {name: _with_type_names(each) for name, each in found["properties"].items()}
    return found


def _document(body: object) -> Mapping[str, Any]:
    found = document_of(body) if isinstance(body, str | bytes) else None
    if found is None:
        raise BrokenOff("sent no JSON; look whether base_url is right")
    return found


def _counting_adapter() -> Any:
    """An adapter for ``requests`` that counts a body while it comes in."""
    from requests.adapters import HTTPAdapter

    class Counting(HTTPAdapter):
        def send(self, request: Any, *args: Any, **options: Any) -> Any:
            request.headers["Accept-Encoding"] = "identity"
            options["stream"] = True
            timeout = options.get("timeout")
            ends_s = time.monotonic() + (timeout if isinstance(timeout, int | float) else 600.0)
            response = super().send(request, *args, **options)
            body = bytearray()
            for chunk in response.iter_content(65_536):
                body += chunk
                if len(body) > LARGEST_REPLY or time.monotonic() > ends_s:
                    response.close()
                    raise UnreadableBody(f"the response has more than {LARGEST_REPLY} bytes, or came too slowly")
            response._content = bytes(body)
            return response

    return Counting()
