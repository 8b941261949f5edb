"""Schema support for a backend that has none."""

from __future__ import annotations

from league_agents.kit.values import evolve
from league_agents.llm.exchange import Backend, Reply, Request
from league_agents.llm.schemas import in_words


class SchemaInWords:
    """``Backend`` that writes the schema into the prompt."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def name(self) -> str:
        return self._backend.name

    def exchange(self, request: Request) -> Reply:
        if request.schema is None:
            return self._backend.exchange(request)
        system = f"{request.prompt.system}\n\n{in_words(request.schema)}"
        return self._backend.exchange(evolve(request, prompt=evolve(request.prompt, system=system), schema=None))
