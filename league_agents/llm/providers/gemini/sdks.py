"""Clients of Gemini's two SDKs: send one request, return the response as the service's JSON object.

Rule: errors of an SDK or its HTTP client are converted to the exceptions below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, Protocol

from league_agents.kit.advice import without_advice
from league_agents.kit.clock import monotonic_s
from league_agents.llm.exchange import LARGEST_REPLY, Abandoned, PartialReply
from league_agents.llm.responses import TooSlow, UnreadableBody, check_place, document_of, limit_body, unreadable, whole


class GeminiRefusal(Exception):
    """The service answered with an HTTP error."""

    def __init__(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers


class NotReached(Exception):
    """No connection could be made."""


class BrokenOff(Exception):
    """The request was sent, but no complete answer came."""


class NoJson(Exception):
    """The answer is not from this service."""


class GeminiClient(Protocol):
    """The interface of one SDK's client."""

    def generate(
        self, model: str, body: Mapping[str, Any], timeout_s: float, partial: PartialReply | None
    ) -> Mapping[str, Any]:
        """Return the service's JSON object; with ``partial`` the reply may come in pieces, which are added there.

        Raises the four exceptions above, ``UnreadableBody`` and ``Abandoned``.
        """
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class GenaiClient:
    """Client for ``google-genai``."""

    def __init__(self, key: str, base_url: str) -> None:
        with without_advice():
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

    def generate(
        self, model: str, body: Mapping[str, Any], timeout_s: float, partial: PartialReply | None
    ) -> Mapping[str, Any]:
        from google.genai import errors, types

        config = dict(body["generationConfig"])
        level, tier = config.get("thinkingLevel"), body["serviceTier"]
        contents: Any = [types.Content.model_validate(each) for each in body["contents"]]
        options = types.GenerateContentConfig(
            system_instruction=types.Content.model_validate(body["systemInstruction"]),
            max_output_tokens=config["maxOutputTokens"],
            temperature=config.get("temperature"),
            seed=config.get("seed"),
            thinking_config=None if level is None else types.ThinkingConfig(thinking_level=types.ThinkingLevel(level)),
            service_tier=None if tier is None else types.ServiceTier(tier),
            response_mime_type=config.get("responseMimeType"),
            response_schema=config.get("responseSchema"),
            http_options=types.HttpOptions(timeout=max(1, int(timeout_s * 1_000))),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            should_return_http_response=partial is None,
        )
        try:
            if partial is not None:
                return _joined(
                    self._client.models.generate_content_stream(model=model, contents=contents, config=options), partial
                )
            response = self._client.models.generate_content(model=model, contents=contents, config=options)
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None)
            raise GeminiRefusal(
                error.code or 500, error.details, headers if isinstance(headers, Mapping) else {}
            ) from None
        except (UnreadableBody, Abandoned):
            raise
        except Exception as error:  # the SDK passes on any error of its HTTP client, and there are two clients
            body_error = unreadable(error)
            if body_error is not None:
                raise body_error from None
            if type(error).__name__ in ("ConnectError", "ConnectTimeout"):
                raise NotReached from None
            if isinstance(error, TypeError | ValueError) and not (partial is not None and partial.text()):
                raise NoJson from None  # the SDK could not read what came
            raise BrokenOff(f"no whole answer within {timeout_s:.3g} s ({type(error).__name__})") from None
        http = response.sdk_http_response
        return _document(http.body if http is not None else None)

    def close(self) -> None:
        self._client.close()


class GenerativeLanguageClient:
    """Client for ``google-generativeai``, through that SDK's inner client: its public interface keeps one key and one
    address for the whole process, and two models may need two."""

    def __init__(self, key: str, base_url: str) -> None:
        with without_advice():  # including advice to install the newer SDK
            from google.ai import generativelanguage
        self._client = generativelanguage.GenerativeServiceClient(
            transport="rest", client_options={"api_key": key, "api_endpoint": base_url}
        )
        # The transport accepts no session from outside, and only its session can count an incoming body.
        session = getattr(self._client.transport, "_session", None)
        if session is not None:
            adapter = _counting_adapter()
            session.mount("http://", adapter)
            session.mount("https://", adapter)

    def generate(
        self, model: str, body: Mapping[str, Any], timeout_s: float, partial: PartialReply | None
    ) -> Mapping[str, Any]:
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
            said = document_of(getattr(http, "text", "")) or str(error)
            raise GeminiRefusal(int(error.code or 500), said, headers) from None
        except UnreadableBody:
            raise
        except Exception as error:  # the SDK passes on any error of requests
            body_error = unreadable(error)
            if body_error is not None:
                raise body_error from None
            if type(error).__name__ in ("ConnectionError", "ConnectTimeout"):
                raise NotReached from None
            if type(error).__name__ in ("ParseError", "JSONDecodeError"):
                raise NoJson from None
            raise BrokenOff(f"no whole answer within {timeout_s:.3g} s ({type(error).__name__})") from None
        return _document(generativelanguage.GenerateContentResponse.to_json(response, use_integers_for_enums=False))

    def close(self) -> None:
        self._client.transport.close()  # type: ignore[no-untyped-call]


def _joined(stream: Iterator[Any], partial: PartialReply) -> Mapping[str, Any]:
    """Read a stream to its end; return the response that the service would have sent in one piece."""
    last: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    with closing(stream):  # type: ignore[type-var]
        for each in stream:
            chunk = each.model_dump(by_alias=True, exclude_none=True, exclude={"sdk_http_response"})
            last |= {name: value for name, value in chunk.items() if name != "candidates"}
            for found in chunk.get("candidates", ())[:1]:
                candidate |= found
                if piece := text_of(found.get("content")):
                    partial.add(piece)
    if candidate:
        last["candidates"] = [{**candidate, "content": {"parts": [{"text": partial.text()}]}}]
    return last


def text_of(content: object) -> str:
    """Return the text of a message without the model's thoughts."""
    parts = content.get("parts") if isinstance(content, Mapping) else None
    found = []
    for part in parts[:1_000] if isinstance(parts, list) else ():
        text = part.get("text") if isinstance(part, Mapping) and not part.get("thought") else None
        if isinstance(text, str):
            found.append(whole(text))
    return "".join(found)


def _snake(config: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "maxOutputTokens": "max_output_tokens",
        "responseMimeType": "response_mime_type",
        "responseSchema": "response_schema",
        "temperature": "temperature",
    }
    found = {names[name]: value for name, value in config.items() if name in names}
    if "response_schema" in found:
        found["response_schema"] = _with_type_names(found["response_schema"])
    return found


_PROTOCOL_NAMES = {"minItems": "min_items", "maxItems": "max_items"}
_WITHOUT_NAME = ("type", "format", "minimum", "maximum")
"""Parts of a schema that are renamed below, or that the older SDK has no field for."""


def _with_type_names(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema for the protocol buffer: type names in capitals, and fields named like Python keywords."""
    found = {_PROTOCOL_NAMES.get(name, name): value for name, value in schema.items() if name not in _WITHOUT_NAME}
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
        raise NoJson
    return found


def _counting_adapter() -> Any:
    """Return an adapter for ``requests`` that counts the incoming body."""
    from requests.adapters import HTTPAdapter

    class CountingAdapter(HTTPAdapter):
        def send(self, request: Any, *args: Any, **options: Any) -> Any:
            request.headers["Accept-Encoding"] = "identity"
            options["stream"] = True
            timeout = options.get("timeout")
            ends_s = monotonic_s() + (timeout if isinstance(timeout, int | float) else 600.0)
            response = super().send(request, *args, **options)
            try:
                check_place(response.status_code)
            except UnreadableBody:
                response.close()
                raise
            body = bytearray()
            for chunk in response.iter_content(65_536):
                body += chunk
                is_slow = monotonic_s() > ends_s
                if len(body) > LARGEST_REPLY or is_slow:
                    response.close()
                    raise TooSlow if is_slow else UnreadableBody(f"the response has more than {LARGEST_REPLY} bytes")
            response._content = bytes(body)
            return response

    return CountingAdapter()
