"""Reading HTTP responses of language model services with care.

Rule 1: a body is counted while it comes in, before anybody holds it all or unpacks it.
Rule 2: what a service says is quoted as one short line without the key.
Rule 3: nobody is followed to another address: the key and the prompt are for the one that the user wrote down.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from league_agents.kit.clock import monotonic_s, utc_now
from league_agents.kit.errors import MalformedCompletion, ModelError
from league_agents.kit.printable import printable
from league_agents.llm.exchange import LARGEST_REPLY, Rejected
from league_agents.llm.port import Usage

LONGEST_WAIT = timedelta(days=1)
"""A service that asks for more is broken."""

_LONGEST_QUOTATION = 240


class UnreadableBody(Exception):
    """A response that is too large, comes too slowly, or is packed."""


class SentElsewhere(UnreadableBody):
    """A response that names another address instead of answering."""


def check_place(status: int) -> None:
    """Raises ``SentElsewhere``. Clients that follow take along every header but ``Authorization``, so also the one that
    holds Gemini's key, and to a server without encryption too."""
    if status in (301, 302, 303, 307, 308):
        raise SentElsewhere


def limit_body(response: Any) -> None:
    """A response hook for ``httpx`` and ``httpx2``: the body may have ``LARGEST_REPLY`` bytes, as they travel, and may
    take the time-out of one wait; another address is not followed."""
    check_place(response.status_code)
    if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        # A few bytes can be unpacked to gigabytes; it was asked to send plain text.
        raise UnreadableBody("the response is packed, which it was asked not to be")
    timeout = response.request.extensions.get("timeout", {}).get("read")
    ends_s = monotonic_s() + (timeout if isinstance(timeout, int | float) else 600.0)
    stream = response.stream
    # A response only takes streams of its own library, and either library may be in use.
    base = importlib.import_module(type(response).__module__.partition(".")[0]).SyncByteStream

    class Limited(base):  # type: ignore[misc, valid-type]
        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in stream:
                size += len(chunk)
                if size > LARGEST_REPLY:
                    raise UnreadableBody(f"the response has more than {LARGEST_REPLY} bytes")
                if monotonic_s() > ends_s:
                    raise UnreadableBody("the response came too slowly")
                yield chunk

        def close(self) -> None:
            stream.close()

    response.stream = Limited()


def unreadable(error: BaseException | None) -> UnreadableBody | None:
    """The ``UnreadableBody`` that led to an error of an SDK, if one did."""
    for _ in range(10):
        if error is None or isinstance(error, UnreadableBody):
            return error
        error = error.__cause__ or error.__context__
    return None


def failure_of(error: UnreadableBody, name: str, place: str) -> ModelError:
    """What a model says of such a response."""
    if isinstance(error, SentElsewhere):
        failed = Rejected(f"{name}: {place} sends requests to another address; write that one down if it is right")
        failed.usage = Usage(requests=1)
        return failed
    return MalformedCompletion(f"{name}: {error}")


def whole(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair: those can be neither sent nor stored."""
    return text.encode("utf-8", "replace").decode()


def document_of(body: bytes | str) -> Mapping[str, Any] | None:
    """The JSON object that a body is; ``None`` when it is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def quoted(body: object, key: str | None) -> str:
    """What a service says is wrong, as one short line: the message of a usual error document, or the beginning of the
    text."""
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


def retry_after(headers: Mapping[str, str], body: object = None) -> timedelta | None:
    """How long a service asks to be left alone: by its headers, or by the ``retryDelay`` in a Google error."""
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
