"""When a flow ends (arena 4.3)."""

from __future__ import annotations

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.turns import (
    BroadcastDeliberation,
    InformationFlowConfig,
    InteractionError,
    MarketTurnBased,
    StopCondition,
)
from league_agents.turns.flow import read_condition
from league_agents.turns.stopping import is_same


def flow(*conditions: object, **more: object) -> InformationFlowConfig:
    return InformationFlowConfig(stop_conditions=conditions, **more)  # type: ignore[arg-type]


def said_until_stopped(protocol, contents: list[list[object]]) -> int:
    """How many messages are said before the protocol stops."""
    for said in contents:
        for content in said:
            speaker = protocol.get_next_speaker()
            if speaker is None:
                return protocol.message_count
            protocol.say(speaker, content)
            protocol.advance()
        protocol.advance()
    return protocol.message_count


def test_without_a_condition_nothing_stops() -> None:
    protocol = BroadcastDeliberation(("a", "b"))
    assert said_until_stopped(protocol, [["x", "x"]] * 50) == 100
    assert not protocol.should_stop()


def test_max_rounds() -> None:
    protocol = BroadcastDeliberation(("a", "b"), flow=flow({"type": "max_rounds", "value": 2}))
    assert said_until_stopped(protocol, [["x", "y"]] * 5) == 4
    assert protocol.should_stop()
    assert protocol.current_round == 2


def test_max_messages_stops_in_the_middle_of_a_round() -> None:
    protocol = BroadcastDeliberation(("a", "b"), flow=flow({"type": "max_messages", "value": 3}))
    assert said_until_stopped(protocol, [["x", "y"]] * 5) == 3
    assert protocol.get_next_speaker() is None
    assert protocol.pending_speakers() == ()
    protocol.advance()
    assert protocol.current_round == 1
    with pytest.raises(InteractionError) as refused:
        protocol.say("b", "late")
    assert refused.value.code == "not_speaker"


def test_results_of_the_market_do_not_count_as_messages() -> None:
    protocol = MarketTurnBased(("a", "b"), flow=flow({"type": "max_messages", "value": 3}))
    assert said_until_stopped(protocol, [[{"price": 20}, {"price": 21}]] * 5) == 3
    assert len(protocol.results) == 1


def test_node_reached_asks_who_spoke_last() -> None:
    protocol = BroadcastDeliberation(("a", "b", "c"), flow=flow({"type": "node_reached", "node": "b"}))
    assert said_until_stopped(protocol, [["x", "y", "z"]]) == 2
    market = MarketTurnBased(("a", "b"), flow=flow({"type": "node_reached", "node": "b"}))
    assert said_until_stopped(market, [[{"price": 20}, {"price": 21}]]) == 2
    assert market.message_log[-1].sender == "market"
    assert market.should_stop()


@pytest.mark.parametrize(
    ("contents", "tolerance", "stops_after"),
    [
        ([["x", "y"], ["x", "x"], ["x", "x"], ["x", "x"]], 0, 6),
        ([["x", "x"], ["y", "y"], ["y", "y"]], 0, 6),  # the agents agree with each other, then with themselves
        ([[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]] * 2, 0, 4),
        ([[1, True], [1, True]], 0, None),
        ([[10, 11], [11, 10], [1, 2]], 1, 4),
        ([[10, 11], [12, 13], [12, 13]], 1, 6),
        ([[10, 12], [10, 12]], 1, None),
        ([[{"price": 20, "speech": "a"}, {"price": 21}], [{"price": 21}, {"price": 20}]], 1, 4),
        ([[10, "x"], [10, "x"]], 1, None),
    ],
)
def test_convergence(contents: list[list[object]], tolerance: float, stops_after: int | None) -> None:
    protocol = BroadcastDeliberation(("a", "b"), flow=flow({"type": "convergence", "tolerance": tolerance}))
    said = said_until_stopped(protocol, contents)
    assert protocol.should_stop() == (stops_after is not None)
    assert stops_after is None or said == stops_after


def test_convergence_looks_at_as_many_rounds_as_it_is_told() -> None:
    protocol = BroadcastDeliberation(("a", "b"), flow=flow({"type": "convergence", "window": 3}))
    assert said_until_stopped(protocol, [["x", "x"]] * 9) == 6


def test_silence_is_no_convergence() -> None:
    protocol = BroadcastDeliberation(("a",), flow=flow({"type": "convergence", "window": 1}))
    for _ in range(4):
        protocol.advance()
    assert not protocol.should_stop()


def test_a_custom_condition_is_asked() -> None:
    asked = StopCondition(type="custom", check=lambda protocol: "stop" in str(protocol.message_log[-1:]))
    protocol = BroadcastDeliberation(("a", "b"), flow=flow(asked))
    assert said_until_stopped(protocol, [["go", "go"], ["stop", "go"]]) == 3


def test_a_custom_condition_that_raises_is_named() -> None:
    for name, shown in (("mine", "mine"), ("", "custom")):
        broken = StopCondition(type="custom", name=name, check=lambda protocol: 1 / 0 > 1)
        protocol = BroadcastDeliberation(("a",), flow=flow(broken))
        with pytest.raises(InteractionError, match=f"condition {shown} failed: ZeroDivisionError") as failed:
            protocol.should_stop()
        assert failed.value.code == "condition_failed"


def test_any_condition_stops() -> None:
    conditions = ({"type": "max_rounds", "value": 9}, {"type": "node_reached", "node": "b"})
    protocol = BroadcastDeliberation(("a", "b"), flow=flow(*conditions))
    assert said_until_stopped(protocol, [["x", "y"]] * 3) == 2


def test_an_acyclic_flow_stops_after_one_round() -> None:
    protocol = BroadcastDeliberation(("a", "b"), flow=flow(cyclic=False))
    assert said_until_stopped(protocol, [["x", "y"]] * 3) == 2
    assert protocol.should_stop()
    protocol.advance()
    assert protocol.get_next_speaker() is None


def test_entry_and_exit_nodes_have_their_defaults() -> None:
    agents = ("a", "b", "c")
    cyclic = BroadcastDeliberation(agents).flow
    assert (cyclic.entry_nodes, cyclic.exit_nodes) == (("a",), ("a",))
    once = BroadcastDeliberation(agents, flow=flow(cyclic=False)).flow
    assert (once.entry_nodes, once.exit_nodes) == (("a",), ("c",))
    ordered = BroadcastDeliberation(agents, flow=flow(flow_order=["b", ["c", "a"]], cyclic=False)).flow
    assert (ordered.entry_nodes, ordered.exit_nodes) == (("b",), ("a",))


@pytest.mark.parametrize("condition", [
    StopCondition(type="max_rounds", value=3),
    StopCondition(type="max_messages", value=1),
    StopCondition(type="node_reached", node="b"),
    StopCondition(type="convergence", window=2, tolerance=0.5),
])  # fmt: skip
def test_a_condition_of_a_file_is_the_one_that_python_writes(condition: StopCondition) -> None:
    default = StopCondition(type=condition.type)
    keys = {name: getattr(condition, name) for name in condition.__struct_fields__}
    changed = {name: value for name, value in keys.items() if value != getattr(default, name)}
    if condition.type in ("max_rounds", "max_messages"):
        changed["value"] = condition.value
    assert read_condition({"type": condition.type, **changed}, "here", {}) == condition


@pytest.mark.parametrize(
    ("config", "path"),
    [
        (flow({"type": "max_rounds", "value": 0}), "flow.stop_conditions[0].value"),
        (flow({"type": "max_rounds"}), "flow.stop_conditions[0].value"),
        (flow({"type": "max_rounds", "value": True}), "flow.stop_conditions[0].value"),
        (flow({"type": "max_rounds", "value": 1, "node": "a"}), "flow.stop_conditions[0]"),
        (flow({"type": "forever"}), "flow.stop_conditions[0].type"),
        (flow({"type": "node_reached", "node": "x"}), "flow.stop_conditions[0].node"),
        (flow({"type": "convergence", "window": 0}), "flow.stop_conditions[0].window"),
        (flow({"type": "convergence", "tolerance": -1}), "flow.stop_conditions[0].tolerance"),
        (flow({"type": "custom", "name": "x"}), "flow.stop_conditions[0].name"),
        (flow("max_rounds"), "flow.stop_conditions[0]"),
        (flow(StopCondition(type="max_rounds", value=0)), "flow.stop_conditions[0].value"),
        (flow(StopCondition(type="node_reached", node="x")), "flow.stop_conditions[0].node"),
        (flow(StopCondition(type="custom")), "flow.stop_conditions[0]"),
        (flow(StopCondition(type="convergence", tolerance=float("nan"))), "flow.stop_conditions[0].tolerance"),
        (flow(StopCondition(type="never")), "flow.stop_conditions[0].type"),  # type: ignore[arg-type]
        (flow(entry_nodes=["x"]), "flow.entry_nodes"),
        (flow(exit_nodes="a"), "flow.exit_nodes"),
        (flow(flow_order=["a", "a"]), "flow.flow_order[1]"),
        (flow(flow_order=["a", ["b", "b"]]), "flow.flow_order[1]"),
        (flow(flow_order=["a", []]), "flow.flow_order[1]"),
        (flow(flow_order=[]), "flow.flow_order"),
        (flow(flow_order=["a", 7]), "flow.flow_order[1]"),
        (flow(cyclic="yes"), "flow.cyclic"),
    ],
)
def test_a_flow_is_checked_against_its_agents(config: InformationFlowConfig, path: str) -> None:
    with pytest.raises(ConfigError) as refused:
        BroadcastDeliberation(("a", "b"), flow=config)
    assert refused.value.path == path


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, None, False),
        ([1, [2]], (1, (2,)), True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ("1", 1, False),
    ],
)
def test_equality_is_that_of_json(one: object, other: object, same: bool) -> None:
    assert is_same(one, other) == is_same(other, one) == same
