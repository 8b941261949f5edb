"""What became of one participant's questions to language models: said at the end, or by a daemon when it changes, so
that nobody takes an offline game for a model's."""

from __future__ import annotations

import threading
from collections.abc import Callable

from league_agents.core.printable import printable
from league_agents.errors import ModelError
from league_agents.llm.exchange import Backend, Reply, Request

LONGEST_REASON = 240


class Asked:
    """Counts the exchanges of one participant. Any number of threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._failed = 0
        self._reason = ""

    @property
    def has_failed(self) -> bool:
        """Whether at least one exchange brought no reply."""
        return self._failed > 0

    def watched(self, backend: Backend) -> Backend:
        """The same model, counted."""
        return _Watched(backend, self.ended)

    def ended(self, error: ModelError | None) -> None:
        """One exchange is over."""
        with self._lock:
            self._calls += 1
            if error is not None:
                self._failed += 1
                self._reason = printable(str(error), LONGEST_REASON)

    def sentence(self) -> str | None:
        """What became of all of them; ``None`` when nothing was asked."""
        if not self._calls:
            return None
        if not self._failed:
            return f"language models replied to {_times(self._calls)}"
        failures = f"{self._failed} of {_times(self._calls)} failed; the last: {self._reason}"
        if self._failed == self._calls:
            return f"no language model replied, so all of it was played offline ({failures})"
        return f"language models failed now and then, and what was missing was played offline ({failures})"


class Outages:
    """Tells when a model stops answering and when it answers again, each once. Any number of threads may use it."""

    def __init__(self, *, failed: Callable[[str], None], recovered: Callable[[str], None]) -> None:
        """Both are handed one line for a person."""
        self._failed = failed
        self._recovered = recovered

    def watched(self, backend: Backend) -> Backend:
        """The same model, whose silence is told."""
        lock = threading.Lock()
        is_down = False

        def ended(error: ModelError | None) -> None:
            nonlocal is_down
            with lock:
                was_down, is_down = is_down, error is not None
            if error is not None and not was_down:
                reason = printable(str(error).removeprefix(f"{backend.name}: "), LONGEST_REASON)
                self._failed(f"{backend.name} does not answer: {reason}; until it does, others or code stand in for it")
            elif error is None and was_down:
                self._recovered(f"{backend.name} answers again")

        return _Watched(backend, ended)


class _Watched:
    def __init__(self, backend: Backend, ended: Callable[[ModelError | None], None]) -> None:
        self._backend = backend
        self._ended = ended

    @property
    def name(self) -> str:
        return self._backend.name

    def exchange(self, request: Request) -> Reply:
        try:
            reply = self._backend.exchange(request)
        except ModelError as error:
            self._ended(error)
            raise
        self._ended(None)
        return reply


def _times(count: int) -> str:
    return f"{count:,} call{'' if count == 1 else 's'}"
