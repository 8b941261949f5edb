"""The record of an exchange with a model, and the port to the ledger that stores it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.llm.exchange import Reply
from league_agents.llm.port import Purpose, Usage

ANSWERED = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """The record of one exchange."""

    at: datetime
    scope: str
    """The owner: one participant of one league, or of one game played alone."""

    purpose: Purpose
    model: str
    prompt_digest: str
    reply: str | None
    """``None`` if no reply came."""

    outcome: str
    """``answered``, ``cut_off``, ``refused``, ``overdue``, or the kind of failure."""

    usage: Usage | None
    """``None`` if the tokens were not counted; an estimate if the reply was overdue."""

    cost_usd: float | None
    """``None`` if the cost is unknown."""

    is_cached: bool
    """Whether the reply came from this ledger, not from the service."""

    took_s: float
    work: ModelWorkUse | None = None
    """How much of the reply was used; ``None`` without a reply, and until it is judged."""

    why: Why | None = None
    """Why not all of the reply was used."""


class CallLedger(Protocol):
    """The model calls stored in one place. Threads and processes may share it."""

    def record(self, call: ModelCall) -> int:
        """Write one row without a judgement; return its number. Raises ``JournalError``."""
        ...

    def judge(self, row: int, work: ModelWorkUse, why: Why | None) -> None:
        """Store how much of a row's reply was used. Raises ``JournalError``."""
        ...

    def earlier(self, scope: str, purpose: Purpose, prompt_digest: str) -> Reply | None:
        """Return an earlier process's reply to the same prompt of the same callback; each reply is returned once.

        A prompt that this process repeats is sent again. Raises ``JournalError``.
        """
        ...

    def calls(self) -> Iterator[ModelCall]:
        """Yield all rows in order; none if the place is missing or predates model calls. Raises ``JournalError``."""
        ...
