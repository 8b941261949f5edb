"""Protocols from configuration (arena 4.6)."""

from __future__ import annotations

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.kit.yaml_text import read_yaml
from league_agents.turns import (
    BroadcastDeliberation,
    MarketTurnBased,
    SequentialHandoff,
    load_protocol,
)

SEED = """
protocol:
  type: market_turn_based        # market_turn_based | sequential | broadcast
  simultaneous: true             # for market_turn_based only
"""

FULL = """
protocol:
  type: market_turn_based        # market_turn_based | sequential | broadcast
  simultaneous: true             # market_turn_based only, default true
topology:                        # optional
  agents: [s1, s2, s3]
  matrix: [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
  flow:                          # may also stand at top level, not in both places
    stop_conditions:
      - {type: max_rounds, value: 10}
"""


def test_two_lines_are_enough_when_the_agents_are_known() -> None:
    protocol = load_protocol(SEED, agent_ids=["s1", "s2"])
    assert isinstance(protocol, MarketTurnBased)
    assert protocol.simultaneous
    assert protocol.agent_ids == ("s1", "s2")


def test_a_full_configuration_needs_no_agents_from_elsewhere() -> None:
    protocol = load_protocol(FULL)
    assert protocol.agent_ids == ("s1", "s2", "s3")
    assert protocol.get_listeners("s1") == ["s2", "s3"]
    assert [each.value for each in protocol.flow.stop_conditions] == [10]


def test_every_option_of_a_type_loads() -> None:
    sequential = load_protocol({"protocol": {"type": "sequential", "carry_over": True}}, ["a"])
    assert isinstance(sequential, SequentialHandoff)
    assert sequential.carry_over
    market = load_protocol(
        {"protocol": {"type": "market_turn_based", "simultaneous": False, "market": {"num_customers": 5}}}, ["a"]
    )
    assert isinstance(market, MarketTurnBased)
    assert (market.simultaneous, market.terms.num_customers) == (False, 5)


def test_a_flow_may_stand_at_the_top() -> None:
    text = """
protocol: {type: broadcast}
flow:
  entry_nodes: [b]
  exit_nodes: [a]
  flow_order: [b, [a, c]]
  cyclic: false
  stop_conditions:
    - {type: max_messages, value: 9}
    - {type: node_reached, node: a}
    - {type: convergence, window: 3, tolerance: 0.5}
    - {type: custom, name: silent_round}
"""
    protocol = load_protocol(text, ["a", "b", "c"])
    assert isinstance(protocol, BroadcastDeliberation)
    assert protocol.flow.stages == (("b",), ("a", "c"))
    assert [each.type for each in protocol.flow.stop_conditions] == [
        "max_messages",
        "node_reached",
        "convergence",
        "custom",
    ]
    assert (protocol.flow.entry_nodes, protocol.flow.exit_nodes, protocol.flow.cyclic) == (("b",), ("a",), False)


def test_a_silent_round_can_stop_a_flow() -> None:
    stops = {"stop_conditions": [{"type": "custom", "name": "silent_round"}]}
    protocol = load_protocol({"protocol": {"type": "broadcast"}, "flow": stops}, ["a", "b"])
    protocol.say("a", "hello")
    for _ in range(3):
        protocol.advance()
    assert not protocol.should_stop()
    protocol.advance()
    protocol.advance()
    assert protocol.should_stop()


def test_a_program_may_register_conditions_of_its_own() -> None:
    stops = {"stop_conditions": [{"type": "custom", "name": "at_once"}]}
    mapping = {"protocol": {"type": "broadcast"}, "flow": stops}
    protocol = load_protocol(mapping, ["a"], conditions={"at_once": lambda protocol: True})
    assert protocol.get_next_speaker() is None
    with pytest.raises(ConfigError, match="must be one of silent_round"):
        load_protocol(mapping, ["a"])


def test_agents_of_the_topology_may_stand_in_another_order() -> None:
    mapping = {
        "protocol": {"type": "broadcast"},
        "topology": {"agents": ["b", "a"], "matrix": [[0, 1], [0, 0]]},
    }
    protocol = load_protocol(mapping, ["a", "b"])
    assert protocol.agent_ids == ("a", "b")
    assert protocol.get_listeners("b") == ["a"]
    assert protocol.get_listeners("a") == []


@pytest.mark.parametrize("after", [1, "1"])
def test_a_topology_may_have_edges_and_a_schedule_also_after_json_which_knows_texts_as_keys_only(after: object) -> None:
    mapping = {
        "protocol": {"type": "broadcast"},
        "topology": {"edges": [["a", "b"]], "directed": False, "schedule": {after: [[0, 0], [0, 0]]}},
    }
    protocol = load_protocol(mapping, ["a", "b"])
    assert protocol.get_listeners("b") == ["a"]
    protocol.advance()
    protocol.advance()
    assert protocol.get_listeners("a") == []


@pytest.mark.parametrize(
    ("mapping", "path", "said"),
    [
        ({}, "protocol", "is missing"),
        ({"protocol": {}}, "protocol.type", "is missing"),
        ({"protocol": "broadcast"}, "protocol", "must be a mapping"),
        ({"protocol": {"type": "brodcast"}}, "protocol.type", "did you mean 'broadcast'"),
        ({"protocol": {"type": "sequential_handoff"}}, "protocol.type", "market_turn_based, sequential, broadcast"),
        ({"protocol": {"type": "queue_based"}}, "protocol.type", "instantiate the class QueueBased"),
        ({"protocol": {"type": ["broadcast"]}}, "protocol.type", "must be one of"),
        ({"protocol": {"type": "broadcast", "simultaneous": True}}, "protocol.simultaneous", "belongs to type market"),
        ({"protocol": {"type": "broadcast", "carry_over": True}}, "protocol.carry_over", "belongs to type sequential"),
        ({"protocol": {"type": "market_turn_based", "simultaneous": 1}}, "protocol.simultaneous", "true or false"),
        ({"protocol": {"type": "sequential", "carry_over": "no"}}, "protocol.carry_over", "true or false"),
        ({"protocol": {"type": "market_turn_based", "market": 5}}, "protocol.market", "must be a mapping"),
        ({"protocol": {"type": "broadcast", "rounds": 3}}, "protocol", "there is no key 'rounds'"),
        ({"protocol": {"type": "broadcast"}, "turns": 3}, "configuration", "there is no key 'turns'"),
        ({"protocol": {"type": "broadcast"}, "topology": []}, "topology", "must be a mapping"),
        ({"protocol": {"type": "broadcast"}, "topology": {"agents": ["a"]}}, "topology.agents", "must be the agents"),
        ({"protocol": {"type": "broadcast"}, "topology": {"agents": "a"}}, "topology.agents", "must be a list"),
        ({"protocol": {"type": "broadcast"}, "topology": {"agents": {}, "edges": []}}, "topology.agents", "list"),
        ({"protocol": {"type": "broadcast"}, "topology": {"matrix": 5}}, "topology.matrix", "must be a list of 2"),
        ({"protocol": {"type": "broadcast"}, "topology": {"nodes": 5}}, "topology", "there is no key 'nodes'"),
        ({"protocol": {"type": "broadcast"}, "flow": {}, "topology": {"flow": {}}}, "flow", "keep one of the two"),
        ({"protocol": {"type": "broadcast"}, "flow": {"stop": []}}, "flow", "there is no key 'stop'"),
        (
            {"protocol": {"type": "broadcast"}, "flow": {"stop_conditions": {}}},
            "flow.stop_conditions",
            "must be a list",
        ),
        (
            {"protocol": {"type": "broadcast"}, "topology": {"flow": {"stop_conditions": [{"type": "x"}]}}},
            "topology.flow.stop_conditions[0].type",
            "must be one of max_rounds",
        ),
        ({"protocol": {"type": "broadcast"}, "flow": {"flow_order": ["a", "x"]}}, "flow.flow_order[1]", "'x' is not"),
    ],
)
def test_what_is_wrong_is_named(mapping: dict[str, object], path: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_protocol(mapping, ["a", "b"])
    assert refused.value.path == path
    assert said in str(refused.value)


def test_somebody_has_to_say_who_the_agents_are() -> None:
    with pytest.raises(ConfigError, match="nobody says who the agents are"):
        load_protocol(SEED)


BOMB = "a0: &a0 [x]\n" + "\n".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 8)}]" for n in range(7))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("protocol: {type: broadcast}\nprotocol: {type: sequential}", "stands in line 1 already"),
        ("protocol:\n  type: broadcast\n  type: broadcast", "stands in line 2 already"),
        ("protocol: [", "is not valid YAML in line 1"),
        ("- protocol", "must hold keys and values"),
        ("1: 2", "must hold keys and values"),
        ("", "must hold keys and values"),
        ("protocol: !!python/object:os.system {}", "is not valid YAML"),
        (BOMB, "more than 200000 values"),
        ("a: &a [*a]", "a value that holds itself"),
        ("a: " + "[" * 2_000, "protocol: is nested too deep$"),
        ("a: " + "x" * 1_000_001, "more than 1000000 characters"),
    ],
)  # fmt: skip
def test_text_is_read_strictly(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_protocol(text, ["a"])


def test_anchors_and_merges_may_be_used() -> None:
    found = read_yaml("base: &base {a: 1}\nmore: {<<: *base, b: 2}", "text")
    assert found["more"] == {"a": 1, "b": 2}
