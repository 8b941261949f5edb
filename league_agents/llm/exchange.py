"""One exchange with a service: request, reply, and failures.

Rule 1: an exchange is one request, as far as this program can tell. Retries, corrections and the choice of another
model are made by the layers above.
Rule 2: the class of a failure states whether a retry can help and whether the service may charge for the request.
Rule 3: no message contains a key; a service's message is quoted in one short line.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from league_agents.kit.errors import ModelUnavailable
from league_agents.llm.port import Judge, Prompt, Usage, nobody

LARGEST_REPLY = 1_000_000
"""Bytes of a response, and characters of a reply. A batch of twenty questions takes about ten thousand."""


LARGEST_STREAM = 16 * LARGEST_REPLY
"""Bytes of a response that comes in pieces: each token has some 250 bytes of frame around it."""


class Rejected(ModelUnavailable):
    """The service will never accept this request."""

    reason = "rejected"


class Unanswered(ModelUnavailable):
    """No answer came in time; the service may still charge for the request."""

    reason = "unanswered"


class OverBudget(ModelUnavailable):
    """A limit set by the user forbids the request."""

    reason = "over_budget"


class Finish(StrEnum):
    """Why a model stopped writing."""

    COMPLETE = "complete"
    CUT_OFF = "cut_off"
    """It reached its output limit."""
    REFUSED = "refused"
    """It declined, or the service withheld its output."""
    OVERDUE = "overdue"
    """The time was over before it had finished; the text is the beginning of its reply, its usage an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The required form of a reply."""

    name: str
    document: Mapping[str, object] = field(hash=False)
    """A JSON Schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """An unusable reply and a description of its errors."""

    reply: str
    complaint: str


class Abandoned(Exception):
    """Nobody waits for the reply any more."""


class PartialReply:
    """The beginning of a reply that the service is still writing. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: list[str] = []
        self._size = 0
        self._is_taken = False
        self.usage = Usage()
        """What the service has counted so far."""

    def add(self, piece: str) -> None:
        """Append the next piece. Raises ``Abandoned`` once the text was taken: the provider then ends the stream, so
        that the service writes no more."""
        with self._lock:
            if self._is_taken:
                raise Abandoned
            if self._size < LARGEST_REPLY:
                self._pieces.append(piece)
                self._size += len(piece)

    def text(self) -> str:
        """Return all pieces so far."""
        with self._lock:
            return "".join(self._pieces)[:LARGEST_REPLY]

    def take(self) -> str:
        """Return all pieces; from now on none is accepted."""
        with self._lock:
            self._is_taken = True
        return self.text()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to a service."""

    prompt: Prompt
    schema: Schema | None
    """``None`` if any text is acceptable."""

    max_output_tokens: int
    timeout: timedelta
    """The time left; the exchange ends before it is over."""

    correction: Correction | None = None
    """``None`` for the first request with this prompt."""

    partial: PartialReply | None = field(default=None, repr=False, compare=False)
    """Where a provider that can stream adds the pieces of the reply as they come. Others leave it alone; ``None`` asks
    for a reply in one piece."""

    @property
    def digest(self) -> str:
        """The prompt's digest; with a correction, a digest of both."""
        if self.correction is None:
            return self.prompt.digest
        reply, complaint = self.correction.reply, self.correction.complaint
        text = f"{self.prompt.digest}\n{len(reply)}\n{reply}\n{complaint}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A service's answer."""

    text: str
    finish: Finish
    usage: Usage
    model: str
    """``provider:model``."""

    is_counted: bool = True
    """Whether the service counted the tokens; if not, the counts in ``usage`` are meaningless."""

    judge: Judge = field(default=nobody, repr=False, compare=False)
    """Call this once it is known how much of the text can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Time limits and retries for a service."""

    retries: int = 3
    """Further attempts after a temporary failure."""

    timeout: timedelta = timedelta(seconds=120)
    """Upper limit of one call with all its attempts."""

    max_output_tokens: int | None = None
    """Upper limit; ``None`` leaves the limit to the caller."""

    thinking_tokens: int = 0
    """Tokens for the model's reasoning besides its reply; services count them as output."""

    first_pause_s: float = 0.5
    """Pause before the second attempt; later pauses are longer."""


class Backend(Protocol):
    """A service that answers single requests. Thread-safe."""

    @property
    def name(self) -> str:
        """``provider:model``."""
        ...

    def exchange(self, request: Request) -> Reply:
        """Send one request. Raises ``ModelUnavailable`` (or one of the three above), and ``MalformedCompletion`` if the
        response is not one of such a service."""
        ...


def usage_of(error: BaseException) -> Usage:
    """Return the use of the attempts that led to a failure."""
    used = getattr(error, "usage", None)
    return used if isinstance(used, Usage) else Usage()
