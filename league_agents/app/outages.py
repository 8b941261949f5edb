"""Reports when a language model fails and when it recovers: otherwise every game would continue without it, unnoticed.

Rule 1: each change is reported once. A model is silent as soon as a call fails, and useless after ``USELESS_REPLIES``
replies in a row of which nothing could be used.
Rule 2: the service's text is reported in one short line.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from enum import Enum

from league_agents.kit.errors import ModelError
from league_agents.kit.model_work import WORDS, ModelWorkUse, Why
from league_agents.kit.printable import printable
from league_agents.llm.calls import ModelCall
from league_agents.llm.exchange import Backend, OverBudget, Reply, Request

LONGEST_REASON = 240
USELESS_REPLIES = 2
"""A single bad reply is usual, and the request is repeated."""


class _Health(Enum):
    WELL = "well"
    SILENT = "silent"
    USELESS = "useless"


class Outages:
    """Watches models. Thread-safe."""

    def __init__(
        self,
        *,
        failed: Callable[[str], None],
        recovered: Callable[[str], None],
        called: Callable[[ModelCall], None] = lambda _call: None,
    ) -> None:
        """The first two are called with one line for a person, ``called`` with every call that was recorded."""
        self._failed = failed
        self._recovered = recovered
        self.called = called

    def watched(self, backend: Backend) -> Backend:
        """The same model, with its failures reported."""
        return _WatchedModel(backend, self._failed, self._recovered)


class _WatchedModel:
    def __init__(self, backend: Backend, failed: Callable[[str], None], recovered: Callable[[str], None]) -> None:
        self._backend = backend
        self._failed = failed
        self._recovered = recovered
        self._lock = threading.Lock()
        self._health = _Health.WELL
        self._useless = 0

    @property
    def name(self) -> str:
        return self._backend.name

    def exchange(self, request: Request) -> Reply:
        try:
            reply = self._backend.exchange(request)
        except ModelError as error:
            if self._turned(_Health.SILENT):
                verb = "is not asked" if isinstance(error, OverBudget) else "does not answer"
                self._tell_failure(f"{verb}: {str(error).removeprefix(f'{self.name}: ')}")
            raise
        if self._turned(_Health.WELL, only_from=_Health.SILENT):
            self._recovered(f"{self.name} answers again")

        def judge(work: ModelWorkUse, why: Why | None) -> None:
            reply.judge(work, why)
            self._judged(work, why)

        return replace(reply, judge=judge)

    def _judged(self, work: ModelWorkUse, why: Why | None) -> None:
        with self._lock:
            self._useless = self._useless + 1 if work is ModelWorkUse.REPLACED else 0
            is_useless = self._useless >= USELESS_REPLIES
        if is_useless and self._turned(_Health.USELESS, only_from=_Health.WELL):
            self._tell_failure(f"answers, and nothing of it can be used: {WORDS[why or Why.UNUSED]}")
        elif work is not ModelWorkUse.REPLACED and self._turned(_Health.WELL, only_from=_Health.USELESS):
            self._recovered(f"{self.name} gives replies again that can be used")

    def _tell_failure(self, what: str) -> None:
        said = printable(what, LONGEST_REASON)
        self._failed(f"{self.name} {said}; until that changes, others or code stand in for it")

    def _turned(self, health: _Health, only_from: _Health | None = None) -> bool:
        """Set the model's state; return whether it changed."""
        with self._lock:
            if self._health is health or (only_from is not None and self._health is not only_from):
                return False
            self._health = health
            return True
