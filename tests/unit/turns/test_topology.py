"""Who can reach whom (arena 4.3)."""

from __future__ import annotations

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.turns import BroadcastDeliberation, Topology

AB = ("a", "b", "c")


def reach(topology: Topology, rounds: int = 0) -> dict[str, set[str]]:
    return {agent: set(topology.receivers(agent, rounds)) for agent in topology.agents}


def test_without_links_everybody_reaches_everybody_else() -> None:
    assert reach(Topology(AB)) == {"a": {"b", "c"}, "b": {"a", "c"}, "c": {"a", "b"}}


def test_a_matrix_is_read_by_rows_and_its_diagonal_says_nothing() -> None:
    topology = Topology(AB, matrix=[[1, 1, 0], [0, 1, True], [0, 0, 1]])
    assert reach(topology) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_undirected_links_lead_both_ways() -> None:
    by_matrix = Topology(AB, matrix=[[0, 1, 0], [0, 0, 0], [0, 0, 0]], directed=False)
    by_edges = Topology(AB, edges=[["a", "b"]], directed=False)
    assert reach(by_matrix) == reach(by_edges) == {"a": {"b"}, "b": {"a"}, "c": set()}


def test_a_schedule_holds_from_its_round_until_the_next() -> None:
    nobody = [[0, 0], [0, 0]]
    topology = Topology(("a", "b"), schedule={3: [[0, 1], [0, 0]], 1: nobody})
    assert [reach(topology, rounds)["a"] for rounds in range(5)] == [{"b"}, set(), set(), {"b"}, {"b"}]
    protocol = BroadcastDeliberation(("a", "b"), topology)
    assert protocol.get_listeners("a") == ["b"]
    protocol.advance()
    protocol.advance()
    assert protocol.get_listeners("a") == []


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"matrix": [[0, 1], [1, 0]]}, "topology.matrix"),
        ({"matrix": [[0, 1, 1], [1, 0, 1], [1, 1]]}, "topology.matrix"),
        ({"matrix": [[0, 1, 1], [1, 0, 2], [1, 1, 0]]}, "topology.matrix"),
        ({"matrix": [[0, 1, 1], [1, 0, "1"], [1, 1, 0]]}, "topology.matrix"),
        ({"matrix": [[0, 1, 1], [1, 0, 1.0], [1, 1, 0]]}, "topology.matrix"),
        ({"matrix": "full"}, "topology.matrix"),
        ({"edges": [["a", "x"]]}, "topology.edges[0]"),
        ({"edges": [["a", "b"], ["a"]]}, "topology.edges[1]"),
        ({"edges": [["a", ["b"]]]}, "topology.edges[0]"),
        ({"edges": {"a": "b"}}, "topology.edges"),
        ({"edges": [], "matrix": [[0] * 3] * 3}, "topology"),
        ({"schedule": {-1: [[0] * 3] * 3}}, "topology.schedule"),
        ({"schedule": {True: [[0] * 3] * 3}}, "topology.schedule"),
        ({"schedule": {2: [[0]]}}, "topology.schedule.2"),
        ({"schedule": []}, None),
        ({"schedule": [1]}, "topology.schedule"),
    ],
)
def test_links_are_checked(options: dict[str, object], path: str | None) -> None:
    if path is None:
        assert reach(Topology(AB, **options)) == reach(Topology(AB))  # type: ignore[arg-type]
        return
    with pytest.raises(ConfigError) as refused:
        Topology(AB, **options)  # type: ignore[arg-type]
    assert refused.value.path == path
