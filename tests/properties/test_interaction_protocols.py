"""What holds for every protocol, whatever is tried in whatever order."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from league_agents.kit.errors import ConfigError
from league_agents.turns import (
    BroadcastDeliberation,
    InformationFlowConfig,
    InteractionError,
    InteractionProtocol,
    MarketTurnBased,
    Message,
    QueueBased,
    SequentialHandoff,
    Topology,
    load_protocol,
)

AGENTS = ("a", "b", "c", "d")
NAMES = st.sampled_from([*AGENTS, "x", "market"])
FEW = settings(max_examples=60, deadline=None)

FLOWS = st.sampled_from(
    [
        None,
        InformationFlowConfig(flow_order=["d", ["a", "c"], "b"]),
        InformationFlowConfig(flow_order=[["a", "b"], ["c", "d"]], cyclic=False),
        InformationFlowConfig(stop_conditions=[{"type": "max_messages", "value": 7}]),
        InformationFlowConfig(
            entry_nodes=["b", "d"],
            stop_conditions=[{"type": "max_rounds", "value": 3}, {"type": "convergence", "tolerance": 5}],
        ),
    ]
)
TOPOLOGIES = st.sampled_from([None, Topology(AGENTS, edges=[("a", "b"), ("b", "c"), ("d", "a")], directed=False)])
KINDS = st.sampled_from(
    [
        BroadcastDeliberation,
        SequentialHandoff,
        lambda *given: SequentialHandoff(*given, carry_over=True),
        MarketTurnBased,
        lambda *given: MarketTurnBased(*given, simultaneous=False),
        lambda *given: QueueBased(*given, max_queue=3),
    ]
)
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(0, 120)),
        st.tuples(st.just("advance"), st.none()),
        st.tuples(st.just("say"), st.tuples(NAMES, st.integers(0, 120))),
        st.tuples(st.just("skip"), NAMES),
        st.tuples(st.just("restrict"), st.lists(NAMES, max_size=4)),
        st.tuples(st.just("route"), st.tuples(NAMES, st.lists(NAMES, max_size=3), st.integers(0, 3))),
        st.tuples(st.just("take"), NAMES),
    ),
    max_size=40,
)


def move(protocol: InteractionProtocol, what: str, how: Any) -> None:
    if what == "turn":
        speaker = protocol.get_next_speaker()
        if speaker is not None:
            protocol.say(speaker, {"price": how})
        protocol.advance()
    elif what == "advance":
        protocol.advance()
    elif what == "say":
        protocol.say(how[0], {"price": how[1]})
    elif what == "skip":
        protocol.skip(how, "timeout")
    elif what == "restrict":
        protocol.restrict(how)
    elif what == "route":
        protocol.route_message(Message(how[0], how[1], {"price": 20}, how[2]))
    elif isinstance(protocol, QueueBased):
        protocol.take(how)


def shape(protocol: InteractionProtocol) -> Any:
    """Everything about a protocol, as values that can be compared."""
    return copy.deepcopy({key: value for key, value in vars(protocol).items() if key not in ("topology", "flow")})


@FEW
@given(kind=KINDS, topology=TOPOLOGIES, flow=FLOWS, moves=MOVES)
def test_whatever_is_tried_the_protocol_keeps_its_promises(kind, topology, flow, moves) -> None:
    protocol = kind(AGENTS, topology, flow)
    fresh = shape(protocol)
    for what, how in moves:
        before, rounds = shape(protocol), protocol.current_round
        try:
            move(protocol, what, how)
        except (InteractionError, ConfigError):
            if what != "turn":  # a turn is two moves, and its first one may have counted
                assert shape(protocol) == before
        check(protocol)
        assert rounds <= protocol.current_round <= rounds + 1
    protocol.reset()
    assert shape(protocol) == fresh


def check(protocol: InteractionProtocol) -> None:
    speaker = protocol.get_next_speaker()
    assert (speaker is None) == (protocol.is_round_over() or protocol.should_stop())
    assert set(protocol.pending_speakers()) <= set(protocol.remaining())
    said = [message for message in protocol.message_log if message.sender != "market"]
    assert len(said) == protocol.message_count
    for agent in AGENTS:
        listeners = protocol.get_listeners(agent)
        assert agent not in listeners
        assert listeners == [other for other in AGENTS if other in listeners]
        inbox = protocol.inbox(agent)
        assert all(agent in message.receivers and message.sender != agent for message in inbox)
        if not isinstance(protocol, QueueBased):
            rounds = [message.round for message in said if message.sender == agent]
            assert len(rounds) == len(set(rounds))
    if isinstance(protocol, MarketTurnBased):
        profits = [result["profits"] for result in protocol.results]
        assert protocol.balances == {agent: sum(found.get(agent, 0) for found in profits) for agent in AGENTS}
        if protocol.simultaneous:
            settled = len(protocol.results)
            assert all(message.round < settled for agent in AGENTS for message in protocol.inbox(agent))
    if isinstance(protocol, QueueBased):
        taken = sum(len(protocol.inbox(agent)) for agent in AGENTS)
        waiting = sum(protocol.waiting_for(agent) for agent in AGENTS)
        assert taken + waiting == sum(len(message.receivers) for message in said)


@FEW
@given(kind=KINDS, topology=TOPOLOGIES, amounts=st.lists(st.integers(10, 100), min_size=1, max_size=30))
def test_every_full_round_asks_everybody_once(kind, topology, amounts) -> None:
    protocol = kind(AGENTS, topology)
    if isinstance(protocol, QueueBased):
        return
    spoken = []
    for amount in amounts:
        speaker = protocol.get_next_speaker()
        if speaker is None:
            assert sorted(spoken) == list(AGENTS)
            spoken = []
            protocol.advance()
            speaker = protocol.get_next_speaker()
        assert speaker is not None
        protocol.say(speaker, {"price": amount})
        protocol.advance()
        spoken.append(speaker)


JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.floats(), st.text(max_size=5), st.sampled_from(AGENTS)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    protocol=st.one_of(
        JUNK,
        st.fixed_dictionaries(
            {"type": st.sampled_from(["broadcast", "sequential", "market_turn_based", "queue_based"])},
            optional={"simultaneous": JUNK, "carry_over": JUNK, "market": JUNK},
        ),
    ),
    topology=st.one_of(
        JUNK,
        st.fixed_dictionaries(
            {}, optional={"agents": JUNK, "matrix": JUNK, "edges": JUNK, "directed": JUNK, "schedule": JUNK}
        ),
    ),
    flow=st.one_of(
        JUNK,
        st.fixed_dictionaries(
            {}, optional={"entry_nodes": JUNK, "flow_order": JUNK, "cyclic": JUNK, "stop_conditions": JUNK}
        ),
    ),
)
def test_any_configuration_is_a_protocol_or_one_clear_line(protocol, topology, flow) -> None:

    try:
        found = load_protocol({"protocol": protocol, "topology": topology, "flow": flow}, AGENTS)
        said = "fine"
        assert found.agent_ids == AGENTS
    except ConfigError as refused:
        said = str(refused)
    assert "\n" not in said
    assert len(said) < 500
