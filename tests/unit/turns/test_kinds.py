"""Who hears what under sequential and broadcast (arena 4.2)."""

from __future__ import annotations

import pytest

from league_agents.turns import BroadcastDeliberation, InformationFlowConfig, SequentialHandoff, Topology

STAGES = ("u", "A", "B", "C", "s")
STAGED = InformationFlowConfig(flow_order=["u", ["A", "B", "C"], "s"])


def heard(protocol, agent: str) -> list[str]:
    return [message.sender for message in protocol.inbox(agent)]


def play_round(protocol) -> None:
    while (speaker := protocol.get_next_speaker()) is not None:
        protocol.say(speaker, f"I am {speaker}")
        protocol.advance()


def test_sequential_agents_hear_all_who_spoke_before_them() -> None:
    protocol = SequentialHandoff(("a", "b", "c"))
    play_round(protocol)
    assert {agent: heard(protocol, agent) for agent in "abc"} == {"a": [], "b": ["a"], "c": ["a", "b"]}


def test_stages_hear_the_stages_before_them_and_not_each_other() -> None:
    protocol = SequentialHandoff(STAGES, flow=STAGED)
    play_round(protocol)
    assert {agent: heard(protocol, agent) for agent in STAGES} == {
        "u": [],
        "A": ["u"],
        "B": ["u"],
        "C": ["u"],
        "s": ["u", "A", "B", "C"],
    }


def test_agents_of_one_stage_may_speak_in_any_order() -> None:
    protocol = SequentialHandoff(STAGES, flow=STAGED)
    assert protocol.pending_speakers() == ("u",)
    protocol.say("u", "go")
    protocol.advance()
    assert protocol.pending_speakers() == ("A", "B", "C")
    protocol.say("C", "first")
    protocol.say("A", "second")
    assert protocol.pending_speakers() == ("B",)
    protocol.advance()
    protocol.advance()
    assert protocol.get_next_speaker() == "B"
    protocol.skip("B", "timeout")
    assert protocol.get_next_speaker() == "s"
    assert heard(protocol, "s") == ["u", "C", "A"]


def test_nothing_is_carried_into_the_next_round() -> None:
    protocol = SequentialHandoff(("a", "b"))
    play_round(protocol)
    protocol.advance()
    assert heard(protocol, "a") == []
    assert protocol.get_listeners("b") == []


def test_carried_over_messages_reach_the_first_stage_when_the_next_round_opens() -> None:
    protocol = SequentialHandoff(("a", "b", "c"), carry_over=True)
    play_round(protocol)
    assert heard(protocol, "a") == []
    protocol.advance()
    assert heard(protocol, "a") == ["c"]
    assert heard(protocol, "b") == ["a"]
    play_round(protocol)
    protocol.advance()
    assert heard(protocol, "a") == ["c", "c"]


def test_a_flow_of_one_round_carries_nothing() -> None:
    protocol = SequentialHandoff(("a", "b"), flow=InformationFlowConfig(cyclic=False), carry_over=True)
    play_round(protocol)
    protocol.advance()
    assert heard(protocol, "a") == []


def test_broadcast_reaches_everybody_at_once() -> None:
    protocol = BroadcastDeliberation(("a", "b", "c"))
    protocol.say("a", "hello")
    assert heard(protocol, "b") == heard(protocol, "c") == ["a"]
    protocol.advance()
    play_round(protocol)
    assert heard(protocol, "a") == ["b", "c"]
    assert heard(protocol, "c") == ["a", "b"]


@pytest.mark.parametrize("kind", [BroadcastDeliberation, SequentialHandoff])
def test_a_topology_lets_nobody_hear_more(kind) -> None:
    protocol = kind(("a", "b", "c"), Topology(("a", "b", "c"), edges=[("a", "c"), ("b", "a"), ("b", "c")]))
    assert protocol.get_listeners("a") == ["c"]
    play_round(protocol)
    assert heard(protocol, "b") == []
    assert heard(protocol, "c") == ["a", "b"]


def test_what_is_public_is_heard_by_whoever_is_there() -> None:
    assert BroadcastDeliberation(("a", "b")).is_public("a")
    assert BroadcastDeliberation(("a", "b"), Topology(("a", "b"))).is_public("a")
    assert not BroadcastDeliberation(("a", "b"), Topology(("a", "b"), edges=[("a", "b")])).is_public("b")
    assert not SequentialHandoff(("a", "b")).is_public("a")
