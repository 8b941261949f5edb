"""What is kept of every exchange with a model, and the port to whoever keeps it."""

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
    """One exchange."""

    at: datetime
    scope: str
    """Whose call it is: one participant of one league, or of one game played alone."""

    purpose: Purpose
    model: str
    prompt_digest: str
    reply: str | None
    """``None`` when none came."""

    outcome: str
    """``answered``, ``cut_off``, ``refused``, or the kind of failure."""

    usage: Usage | None
    """``None`` when nobody counted."""

    cost_usd: float | None
    """``None`` when it is unknown."""

    is_cached: bool
    """Answered from this ledger, not by the service."""

    took_s: float
    work: ModelWorkUse | None = None
    """What became of the reply; ``None`` without one, and while nobody has said."""

    why: Why | None = None
    """Why not all of it was used."""


class CallLedger(Protocol):
    """The model calls in one place. Any thread and any process may work with it."""

    def record(self, call: ModelCall) -> int:
        """Write one row, which has no judgement yet; its number. Raises ``JournalError``."""
        ...

    def judge(self, row: int, work: ModelWorkUse, why: Why | None) -> None:
        """Write down what became of a row's reply. Raises ``JournalError``."""
        ...

    def earlier(self, scope: str, purpose: Purpose, prompt_digest: str) -> Reply | None:
        """The reply that an earlier process got to the same question for the same callback, each of them once.

        A question that this process asks a second time is meant a second time. Raises ``JournalError``.
        """
        ...

    def calls(self) -> Iterator[ModelCall]:
        """All rows, in order; none when the place is not there or comes from before there were any. Raises
        ``JournalError``."""
        ...
