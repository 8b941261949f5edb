"""One exchange with a service: what is asked, what came back, and how it can fail.

Rule 1: an exchange is one request, as far as this program can tell. Repeating, asking again and choosing another model
is the business of whoever stands above.
Rule 2: a failure says whether asking again can help and whether the service may charge for it: the classes below.
Rule 3: no message holds a key; what a service says is quoted shortly, in one line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from league_agents.kit.errors import ModelUnavailable
from league_agents.llm.port import Judge, Prompt, Usage, nobody

LARGEST_REPLY = 1_000_000
"""Bytes of a response, and characters of a reply. A batch of twenty questions has about ten thousand."""


class Rejected(ModelUnavailable):
    """The service will not do this, however often it is asked."""

    reason = "rejected"


class Unanswered(ModelUnavailable):
    """No answer came in time; the service may charge for the request all the same."""

    reason = "unanswered"


class OverBudget(ModelUnavailable):
    """A limit of the user's own forbids the request."""

    reason = "over_budget"


class Finish(StrEnum):
    """Why a model stopped writing."""

    COMPLETE = "complete"
    CUT_OFF = "cut_off"
    """It came to the limit of its output."""
    REFUSED = "refused"
    """It declined, or the service withheld what it wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The form that a reply must have."""

    name: str
    document: Mapping[str, object] = field(hash=False)
    """A JSON Schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A reply that was of no use, and what is wrong with it."""

    reply: str
    complaint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a service is asked."""

    prompt: Prompt
    schema: Schema | None
    """``None`` where any text will do."""

    max_output_tokens: int
    timeout: timedelta
    """What is left; the exchange ends before."""

    correction: Correction | None = None
    """``None`` when this prompt is asked for the first time."""

    @property
    def digest(self) -> str:
        """The prompt's digest; one of its own when it is asked again with a complaint."""
        if self.correction is None:
            return self.prompt.digest
        reply, complaint = self.correction.reply, self.correction.complaint
        text = f"{self.prompt.digest}\n{len(reply)}\n{reply}\n{complaint}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a service answered."""

    text: str
    finish: Finish
    usage: Usage
    model: str
    """``provider:model``."""

    is_counted: bool = True
    """Whether the service said how many tokens it used; where it does not, the usage has none and means nothing."""

    judge: Judge = field(default=nobody, repr=False, compare=False)
    """To be called when it is known what the text is good for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long and how often a service is asked."""

    retries: int = 3
    """Further attempts after a failure that may pass."""

    timeout: timedelta = timedelta(seconds=120)
    """Of one call with all its attempts, when the caller gives more."""

    max_output_tokens: int | None = None
    """The most that is asked for; ``None`` leaves it to the caller."""

    thinking_tokens: int = 0
    """What the model may write for itself besides its reply; services count it as output."""

    first_pause_s: float = 0.5
    """Before the second attempt; later pauses are longer."""


class Backend(Protocol):
    """A service that answers one request after the other. Any number of threads may ask at the same time."""

    @property
    def name(self) -> str:
        """``provider:model``."""
        ...

    def exchange(self, request: Request) -> Reply:
        """Ask once. Raises ``ModelUnavailable`` (or one of the three above) and ``MalformedCompletion`` when what came
        back is no answer of such a service."""
        ...


def usage_of(error: BaseException) -> Usage:
    """What the attempts that led to a failure used."""
    used = getattr(error, "usage", None)
    return used if isinstance(used, Usage) else Usage()
