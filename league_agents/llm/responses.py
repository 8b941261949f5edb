"""Safe handling of HTTP responses of language model services.

Rule 1: a body is counted while it comes in, before it is stored or decompressed.
Rule 2: a service's message is quoted as one short line without the key.
Rule 3: redirects are not followed: the key and the prompt are for the address in the settings only.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from league_agents.kit.clock import monotonic_s, utc_now
from league_agents.kit.errors import MalformedCompletion, ModelError, ModelUnavailable
from league_agents.kit.printable import printable
from league_agents.llm.exchange import LARGEST_REPLY, LARGEST_STREAM, Rejected, Unanswered
from league_agents.llm.port import Usage

LONGEST_WAIT = timedelta(days=1)
"""A service that asks for more is regarded as broken."""

_LONGEST_QUOTATION = 240


class UnreadableBody(Exception):
    """A response that is too large, too slow, or compressed."""


class TooSlow(UnreadableBody):
    """A response that was still coming when the time for it was over."""

    def __init__(self) -> None:
        super().__init__("the response came too slowly")


class SentElsewhere(UnreadableBody):
    """A response that redirects instead of answering."""


def check_place(status: int) -> None:
    """Raises ``SentElsewhere`` for a redirect. Clients that follow one send every header but
    ``Authorization``, so also Gemini's key, even to a server without encryption."""
    if status in (301, 302, 303, 307, 308):
        raise SentElsewhere


def limit_body(response: Any) -> None:
    """A response hook for ``httpx`` and ``httpx2``: limits the body to ``LARGEST_REPLY`` bytes in transit and to the
    timeout of one wait, and refuses redirects."""
    check_place(response.status_code)
    if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        # A few bytes can decompress to gigabytes; the request asked for an uncompressed response.
        raise UnreadableBody("the response is packed, which it was asked not to be")
    timeout = response.request.extensions.get("timeout", {}).get("read")
    ends_s = monotonic_s() + (timeout if isinstance(timeout, int | float) else 600.0)
    stream = response.stream
    most = LARGEST_STREAM if is_event_stream(response) else LARGEST_REPLY
    size = 0

    def counted(chunk: bytes) -> bytes:
        nonlocal size
        size += len(chunk)
        if size > most:
            raise UnreadableBody(f"the response has more than {most} bytes")
        if monotonic_s() > ends_s:
            raise TooSlow
        return chunk

    # A response accepts streams of its own library only, and either library may be in use.
    library = importlib.import_module(type(response).__module__.partition(".")[0])

    class Limited(library.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            return map(counted, stream)

        def close(self) -> None:
            stream.close()

    class LimitedLater(library.AsyncByteStream):  # type: ignore[misc, name-defined]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in stream:
                yield counted(chunk)

        async def aclose(self) -> None:
            await stream.aclose()

    response.stream = Limited() if isinstance(stream, library.SyncByteStream) else LimitedLater()


async def limit_body_later(response: Any) -> None:
    """``limit_body`` for an asynchronous client."""
    limit_body(response)


def is_event_stream(response: Any) -> bool:
    """Whether the body of a response comes in pieces. A server that cannot stream answers in one piece instead."""
    return str(response.headers.get("content-type", "")).lower().startswith("text/event-stream")


def fields_of(event: object) -> Mapping[str, Any]:
    """Return the fields of an event of a stream; none if the server sent something else."""
    dump = getattr(event, "model_dump", None)
    found = dump(warnings=False) if dump is not None else event
    return found if isinstance(found, Mapping) else {}


def unreadable(error: BaseException | None) -> UnreadableBody | None:
    """Return the ``UnreadableBody`` that caused an SDK's error, or ``None``."""
    for _ in range(10):
        if error is None or isinstance(error, UnreadableBody):
            return error
        error = error.__cause__ or error.__context__
    return None


def failure_of(error: UnreadableBody, name: str, place: str) -> ModelError:
    """Return the ``ModelError`` for such a response."""
    if isinstance(error, SentElsewhere):
        failed = Rejected(f"{name}: {place} sends requests to another address; write that one down if it is right")
        failed.usage = Usage(requests=1)
        return failed
    kind = Unanswered if isinstance(error, TooSlow) else MalformedCompletion
    return kind(f"{name}: {error}")


def whole(text: str) -> str:
    """Replace each half of a surrogate pair with a question mark: those can be neither sent nor stored."""
    return text.encode("utf-8", "replace").decode()


def document_of(body: bytes | str) -> Mapping[str, Any] | None:
    """Return the JSON object in a body; ``None`` if it is not one."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def json_body(body: bytes, name: str, place: str, key: str | None) -> Mapping[str, Any]:
    """Return the document of a response of the model ``name`` at the address ``place``. Raises ``ModelUnavailable`` for
    a body that is none, quoted without the key."""
    document = document_of(body)
    if document is None:
        start = quoted(body[:400].decode("utf-8", "replace"), key)
        raise ModelUnavailable(f"{name}: {place} sent no JSON ({start[:80]}); look whether base_url is right")
    return document


def quoted(body: object, key: str | None) -> str:
    """Return a service's error message as one short line: the message of a usual error document, or the beginning of
    the text."""
    text = body if isinstance(body, str) else ""
    document = document_of(text[:LARGEST_REPLY]) if isinstance(body, str) else body
    if isinstance(document, list) and document:
        document = document[0]
    for name in ("error", "message", "detail"):
        if isinstance(document, Mapping) and document.get(name):
            document = document[name]
    if isinstance(document, str):
        text = document
    line = printable(text[:4_000])
    if key:
        line = line.replace(key, "[hidden]")
    return line if len(line) <= _LONGEST_QUOTATION else f"{line[: _LONGEST_QUOTATION - 1]}…"


def token_count(value: object) -> int | None:
    """Return a service's count of tokens; ``None`` if the value is no such count."""
    return value if type(value) is int and 0 <= value < 10**9 else None


def retry_after(headers: Mapping[str, str], body: object = None) -> timedelta | None:
    """Return the pause that a service asks for: from its headers, or from ``retryDelay`` in a Google error."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return _bounded(float(value) * unit)
        except ValueError:
            pass
        try:
            return _bounded((parsedate_to_datetime(value) - utc_now()).total_seconds())
        except (ValueError, TypeError):
            pass
    return _google_delay(body)


def _google_delay(body: object) -> timedelta | None:
    error = body.get("error", body) if isinstance(body, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details[:20] if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str) and delay.endswith("s"):
            try:
                return _bounded(float(delay[:-1]))
            except ValueError:
                return None
    return None


def _bounded(seconds: float) -> timedelta | None:
    if seconds != seconds:  # not a number
        return None
    return timedelta(seconds=min(max(0.0, seconds), LONGEST_WAIT.total_seconds()))
