"""Turns, checks and copies that hold for every protocol (arena 4.1)."""

from __future__ import annotations

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.turns import (
    BroadcastDeliberation,
    InformationFlowConfig,
    InteractionError,
    MarketTurnBased,
    Message,
    SequentialHandoff,
    Topology,
)

ABC = ("a", "b", "c")
KINDS = [BroadcastDeliberation, SequentialHandoff, lambda ids: MarketTurnBased(ids, simultaneous=False)]


def content_for(protocol: object) -> object:
    return {"price": 20} if isinstance(protocol, MarketTurnBased) else "hello"


@pytest.mark.parametrize("kind", KINDS)
def test_turns_go_round_with_nobody_in_between_rounds(kind) -> None:
    protocol = kind(ABC)
    trace = []
    for _ in range(8):
        trace.append((protocol.get_next_speaker(), protocol.current_round))
        protocol.advance()
    assert trace == [("a", 0), ("b", 0), ("c", 0), (None, 1), ("a", 1), ("b", 1), ("c", 1), (None, 2)]


@pytest.mark.parametrize("kind", KINDS)
def test_asking_whose_turn_it_is_changes_nothing(kind) -> None:
    protocol = kind(ABC)
    assert [protocol.get_next_speaker() for _ in range(3)] == ["a", "a", "a"]
    assert protocol.pending_speakers() == ("a",)
    assert not protocol.is_round_over()


@pytest.mark.parametrize("kind", KINDS)
def test_a_round_with_messages_ends_after_the_last_turn(kind) -> None:
    protocol = kind(ABC)
    for speaker in ABC:
        assert protocol.get_next_speaker() == speaker
        protocol.say(speaker, content_for(protocol))
        assert protocol.pending_speakers() == ()  # it has spoken, and its turn has not ended
        assert protocol.get_next_speaker() == speaker
        protocol.advance()
    assert protocol.is_round_over()
    assert (protocol.current_round, protocol.message_count) == (1, 3)
    assert protocol.skips == []


def test_a_turn_that_is_advanced_over_or_skipped_is_noted() -> None:
    protocol = BroadcastDeliberation(ABC)
    protocol.advance()
    protocol.skip("b", "timeout")
    protocol.skip("c", "error")
    assert [(skip.agent, skip.round, skip.cause) for skip in protocol.skips] == [
        ("a", 0, "passed"),
        ("b", 0, "timeout"),
        ("c", 0, "error"),
    ]
    assert protocol.is_round_over()
    assert protocol.message_count == 0


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (Message("x", [], "hi", 0), "unknown_sender"),
        (Message("market", [], "hi", 0), "unknown_sender"),
        (Message("b", ["a"], "hi", 0), "not_speaker"),
        (Message("a", ["x"], "hi", 0), "unknown_receiver"),
        (Message("a", [["b"]], "hi", 0), "unknown_receiver"),  # type: ignore[list-item]
        (Message("a", ["a"], "hi", 0), "illegal_receiver"),
        (Message("a", ["b", "b"], "hi", 0), "illegal_receiver"),
        (Message("a", ["b"], "hi", 1), "wrong_round"),
        (Message("a", ["b"], "hi", -1), "wrong_round"),
    ],
)
def test_a_message_against_the_rules_is_refused_and_changes_nothing(message: Message, code: str) -> None:
    protocol = BroadcastDeliberation(ABC)
    with pytest.raises(InteractionError) as refused:
        protocol.route_message(message)
    assert refused.value.code == code
    assert protocol.message_log == []
    assert protocol.get_next_speaker() == "a"
    assert all(protocol.visible_messages(agent) == [] for agent in ABC)


def test_the_messages_of_nobody_are_refused() -> None:
    protocol = BroadcastDeliberation(ABC)
    for look in (protocol.visible_messages, protocol.inbox):
        with pytest.raises(InteractionError) as refused:
            look("x")
        assert refused.value.code == "unknown_receiver"


def test_nobody_speaks_twice_in_a_round() -> None:
    protocol = BroadcastDeliberation(ABC)
    protocol.say("a", "once")
    with pytest.raises(InteractionError, match="already") as refused:
        protocol.say("a", "twice")
    assert refused.value.code == "already_spoken"
    protocol.advance()
    with pytest.raises(InteractionError) as refused:
        protocol.say("a", "later")
    assert refused.value.code == "already_spoken"
    for agent in ("b", "c"):
        protocol.skip(agent, "timeout")
    with pytest.raises(InteractionError) as refused:  # between rounds it is nobody's turn
        protocol.say("a", "too early")
    assert refused.value.code == "not_speaker"
    protocol.advance()
    protocol.say("a", "again")
    assert [message.round for message in protocol.message_log] == [0, 1]


def test_a_private_message_reaches_its_receivers_only() -> None:
    protocol = BroadcastDeliberation(ABC)
    protocol.route_message(Message("a", ["c"], "between us", 0))
    assert protocol.inbox("b") == []
    assert [message.content for message in protocol.inbox("c")] == ["between us"]


def test_own_messages_are_visible_but_not_in_the_inbox() -> None:
    protocol = BroadcastDeliberation(ABC)
    protocol.say("a", "mine")
    assert protocol.inbox("a") == []
    assert [message.content for message in protocol.visible_messages("a")] == ["mine"]


def test_visible_messages_can_be_those_of_one_round() -> None:
    protocol = BroadcastDeliberation(("a", "b"))
    for word in ("one", "two"):
        protocol.say("a", word)
        protocol.advance()
        protocol.advance()
        protocol.advance()
    assert [message.content for message in protocol.visible_messages("b")] == ["one", "two"]
    assert [message.content for message in protocol.visible_messages("b", round=1)] == ["two"]
    assert [message.content for message in protocol.messages_of(0)] == ["one"]
    assert protocol.messages_of(9) == ()


def test_metadata_is_shared_by_no_two_messages_and_no_two_readers() -> None:
    assert Message("a", [], "x", 0).metadata is not Message("a", [], "x", 0).metadata
    protocol = BroadcastDeliberation(ABC)
    metadata = {"tags": ["first"]}
    content = {"words": ["one"]}
    protocol.say("a", content, metadata)
    metadata["tags"].append("later")
    content["words"].append("two")
    protocol.inbox("b")[0].metadata["tags"].append("from b")
    protocol.inbox("b")[0].content["words"].clear()
    protocol.inbox("b")[0].receivers.clear()
    for reader in ("b", "c"):
        assert protocol.inbox(reader) == [Message("a", ["b", "c"], {"words": ["one"]}, 0, {"tags": ["first"]})]


def test_the_eliminated_drop_out_of_the_rounds_to_come() -> None:
    protocol = BroadcastDeliberation(ABC)
    protocol.say("a", "hello")
    protocol.restrict(["c", "a"])  # somebody has spoken: the open round stays as it is
    assert protocol.members() == ABC
    for _ in range(3):
        protocol.advance()
    protocol.advance()
    assert protocol.get_next_speaker() == "c"
    assert protocol.get_listeners("c") == ["a"]
    with pytest.raises(InteractionError) as refused:
        protocol.skip("b", "timeout")
    assert refused.value.code == "not_speaker"


def test_a_round_in_which_nobody_has_had_a_turn_is_restricted_too() -> None:
    protocol = BroadcastDeliberation(ABC)
    protocol.restrict(["b", "a"])
    assert protocol.pending_speakers() == ("b",)
    protocol.advance()
    protocol.restrict(ABC)
    assert protocol.remaining() == ("a",)


def test_an_explicit_order_is_kept_and_reduced() -> None:
    protocol = SequentialHandoff(ABC, flow=InformationFlowConfig(flow_order=["c", ["b", "a"]]))
    protocol.restrict(["a", "c"])
    assert protocol.members() == ("c", "a")


@pytest.mark.parametrize("agents", [["x"], []])
def test_restricting_to_nobody_or_strangers_is_an_error(agents: list[str]) -> None:
    with pytest.raises(ConfigError, match="agents"):
        BroadcastDeliberation(ABC).restrict(agents)


@pytest.mark.parametrize("ids", [[], ["a", "a"], ["market"], ["host"], ["a b"], [7]])
def test_agent_ids_are_checked(ids: list[object]) -> None:
    with pytest.raises(ConfigError, match="agents"):
        BroadcastDeliberation(ids)  # type: ignore[arg-type]


def test_a_topology_is_for_the_protocol_s_agents() -> None:
    with pytest.raises(ConfigError, match=r"^topology\.agents: must be the agents"):
        BroadcastDeliberation(ABC, Topology(("a", "b")))


@pytest.mark.parametrize("kind", KINDS)
def test_a_reset_protocol_is_as_new(kind) -> None:
    protocol = kind(ABC)
    protocol.say("a", content_for(protocol))
    protocol.advance()
    protocol.skip("b", "timeout")
    protocol.skip("c", "timeout")
    protocol.restrict(["b"])
    protocol.reset()
    assert (protocol.current_round, protocol.message_count, protocol.message_log, protocol.skips) == (0, 0, [], [])
    assert protocol.members() == ABC
    assert protocol.inbox("b") == []
    assert protocol.get_next_speaker() == "a"


def test_a_stranger_has_no_inbox_and_no_listeners() -> None:
    protocol = BroadcastDeliberation(ABC)
    with pytest.raises(InteractionError):
        protocol.inbox("x")
    with pytest.raises(InteractionError):
        protocol.get_listeners("x")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_protocol_says_its_rule_in_a_sentence(kind, lang: str) -> None:
    text = kind(ABC).rule_text(lang)
    assert text.endswith("。" if lang == "zh" else ".")
    assert text.isascii() == (lang == "en")
