"""A service whose replies are written beforehand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from league_agents.kit.errors import ModelUnavailable
from league_agents.llm.exchange import Finish, Reply, Request
from league_agents.llm.port import Usage

Scripted = str | Reply | Exception
"""A text, a whole reply, or a failure that is raised."""


class ScriptedBackend:
    """``Backend`` that answers with the given texts in turn, or with what a function makes of the request."""

    def __init__(
        self, script: Iterable[Scripted] | Callable[[Request], Scripted], *, name: str = "scripted:model"
    ) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._answer = script if callable(script) else None
        self._turns = iter(()) if callable(script) else iter(script)
        self.requests: list[Request] = []
        """What was asked, in order."""

    @property
    def name(self) -> str:
        return self._name

    def exchange(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            said = next(self._turns, None) if self._answer is None else None
        if self._answer is not None:
            said = self._answer(request)
        if said is None:
            raise ModelUnavailable(f"{self._name}: the script has no further reply")
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Reply):
            return said
        return Reply(text=said, finish=Finish.COMPLETE, usage=counted(request, said), model=self._name)


def counted(request: Request, text: str) -> Usage:
    """What a service would have counted, at four characters a token."""
    asked = len(request.prompt.system) + len(request.prompt.user)
    if request.correction is not None:
        asked += len(request.correction.reply) + len(request.correction.complaint)
    return Usage(input_tokens=-(-asked // 4), output_tokens=-(-len(text) // 4), requests=1)
