"""The links between agents, which limit delivery under every protocol.

Rule: no agent reaches itself; the diagonal of a matrix is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from league_agents.games.entry import check_agent_ids
from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown

MOST_AGENTS = 1_000

_ROUND = re.compile(r"0|[1-9][0-9]{0,8}")

Matrix = Sequence[Sequence[int]]
"""Row = speaker, column = listener, in the order of the agents; 1 if the speaker reaches the listener."""


class Topology:
    """The links between agents: a matrix, a list of edges, or all links; they may change by round."""

    def __init__(
        self,
        agents: Sequence[str],
        *,
        matrix: Matrix | None = None,
        edges: Sequence[Sequence[str]] | None = None,
        directed: bool = True,
        schedule: Mapping[int, Matrix] | None = None,
    ) -> None:
        """``schedule`` maps a number of completed rounds to the matrix that holds from then until the next entry.

        Undirected links lead both ways. Raises ``ConfigError``.
        """
        self.agents = check_agent_ids(agents, 1, MOST_AGENTS)
        if matrix is not None and edges is not None:
            raise ConfigError("topology", "has both matrix and edges; keep one of the two")
        if matrix is not None:
            first = self._of_matrix(matrix, directed, "topology.matrix")
        elif edges is not None:
            first = self._of_edges(edges, directed)
        else:
            first = {agent: frozenset(self.agents) - {agent} for agent in self.agents}
        self._from_round = [(0, first)]
        for start, later in sorted(_rounds_of(schedule or {}).items()):
            self._from_round.append((start, self._of_matrix(later, directed, f"topology.schedule.{start}")))

    def receivers(self, speaker: str, completed_rounds: int) -> Collection[str]:
        """Return the agents that the speaker reaches after this number of completed rounds."""
        found: Collection[str] = ()
        for start, links in self._from_round:
            if start > completed_rounds:
                break
            found = links[speaker]
        return found

    def _of_matrix(self, matrix: Matrix, directed: bool, path: str) -> dict[str, frozenset[str]]:
        count = len(self.agents)
        if not isinstance(matrix, (list, tuple)) or len(matrix) != count:
            raise ConfigError(path, f"must be a list of {count} rows, one for each of {_names(self.agents)}")
        links: dict[str, set[str]] = {agent: set() for agent in self.agents}
        for speaker, row in zip(self.agents, matrix, strict=True):
            if not isinstance(row, (list, tuple)) or len(row) != count:
                raise ConfigError(path, f"the row of {speaker} must have {count} numbers, one for each agent")
            for listener, cell in zip(self.agents, row, strict=True):
                if type(cell) not in (int, bool) or cell not in (0, 1):
                    raise ConfigError(path, f"from {speaker} to {listener} must be 0 or 1, found {shown(cell)}")
                if cell:
                    links[speaker].add(listener)
                    if not directed:
                        links[listener].add(speaker)
        return {agent: frozenset(found - {agent}) for agent, found in links.items()}

    def _of_edges(self, edges: Sequence[Sequence[str]], directed: bool) -> dict[str, frozenset[str]]:
        if not isinstance(edges, (list, tuple)):
            raise ConfigError("topology.edges", f"must be a list of pairs [speaker, listener], found {shown(edges)}")
        links: dict[str, set[str]] = {agent: set() for agent in self.agents}
        for place, edge in enumerate(edges):
            path = f"topology.edges[{place}]"
            if not isinstance(edge, (list, tuple)) or len(edge) != 2:
                raise ConfigError(path, f"must be a pair [speaker, listener], found {shown(edge)}")
            for name in edge:
                if not isinstance(name, str) or name not in links:
                    raise ConfigError(path, f"{shown(name)} is not among the agents {_names(self.agents)}")
            speaker, listener = edge
            links[speaker].add(listener)
            if not directed:
                links[listener].add(speaker)
        return {agent: frozenset(found - {agent}) for agent, found in links.items()}


def _rounds_of(schedule: Mapping[int, Matrix]) -> Mapping[int, Matrix]:
    if not isinstance(schedule, Mapping):
        raise ConfigError("topology.schedule", f"must map numbers of rounds to matrices, found {shown(schedule)}")
    found: dict[int, Matrix] = {}
    for key, matrix in schedule.items():
        # In JSON, and so in a transcript, every key is a text.
        start = int(key) if isinstance(key, str) and _ROUND.fullmatch(key) else key
        if type(start) is not int or start < 0:
            raise ConfigError("topology.schedule", f"must have whole numbers from 0 as keys, found {shown(key)}")
        if start in found:
            raise ConfigError("topology.schedule", f"has round {start} twice")
        found[start] = matrix
    return found


def _names(agents: Sequence[str]) -> str:
    """Return the agents as text for a message; a long list is shortened."""
    return ", ".join(agents[:12]) + (" …" if len(agents) > 12 else "")
