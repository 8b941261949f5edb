"""A queue for each agent (arena 4.2)."""

from __future__ import annotations

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.turns import InformationFlowConfig, InteractionError, Message, QueueBased, Topology


def send(protocol: QueueBased, sender: str, receiver: str, content: str) -> None:
    protocol.route_message(Message(sender, [receiver], content, protocol.current_round))


def turn(protocol: QueueBased) -> tuple[str | None, str | None]:
    speaker = protocol.get_next_speaker()
    taken = None if speaker is None else protocol.take(speaker)
    return speaker, None if taken is None else taken.content


def test_mail_is_answered_in_the_order_in_which_it_came() -> None:
    protocol = QueueBased(("a", "b", "c"))
    turns = [turn(protocol)]
    send(protocol, "a", "b", "a1")
    send(protocol, "a", "c", "a2")
    protocol.advance()
    turns.append(turn(protocol))
    send(protocol, "b", "c", "b1")
    for _ in range(3):
        protocol.advance()
        turns.append(turn(protocol))
    assert turns == [("a", None), ("b", "a1"), ("c", "a2"), ("c", "b1"), (None, None)]
    assert protocol.current_round == 1
    assert [message.content for message in protocol.inbox("c")] == ["a2", "b1"]


def test_a_message_is_visible_once_it_was_taken() -> None:
    protocol = QueueBased(("a", "b"))
    send(protocol, "a", "b", "hello")
    assert protocol.inbox("b") == []
    assert protocol.waiting_for("b") == 1
    protocol.advance()
    assert turn(protocol) == ("b", "hello")
    assert [message.content for message in protocol.inbox("b")] == ["hello"]
    assert protocol.waiting_for("b") == 0


def test_only_the_head_of_the_line_takes() -> None:
    protocol = QueueBased(("a", "b"))
    send(protocol, "a", "b", "hello")
    with pytest.raises(InteractionError) as refused:
        protocol.take("b")
    assert refused.value.code == "not_speaker"


def test_nobody_stands_in_the_line_twice() -> None:
    protocol = QueueBased(("a", "b"))
    send(protocol, "b", "a", "one")  # a stands in the line already, as the entry agent
    send(protocol, "b", "a", "two")
    assert protocol.remaining() == ("a",)
    assert turn(protocol) == ("a", "one")
    protocol.advance()
    assert turn(protocol) == ("a", "two")
    protocol.advance()
    assert protocol.is_round_over()


def test_a_turn_without_taking_loses_nothing() -> None:
    protocol = QueueBased(("a", "b"))
    send(protocol, "b", "a", "one")
    protocol.advance()
    assert turn(protocol) == ("a", "one")


def test_a_skipped_turn_takes_the_message_that_it_leaves_unanswered() -> None:
    protocol = QueueBased(("a", "b"))
    send(protocol, "b", "a", "one")
    protocol.skip("a", "timeout")
    assert protocol.is_round_over()
    assert [skip.cause for skip in protocol.skips] == ["timeout"]
    assert [message.content for message in protocol.inbox("a")] == ["one"]


def test_the_next_round_begins_with_the_entry_nodes_or_with_mail() -> None:
    flow = InformationFlowConfig(entry_nodes=["b", "c"])
    protocol = QueueBased(("a", "b", "c"), flow=flow)
    assert protocol.remaining() == ("b", "c")
    protocol.advance()
    protocol.advance()
    assert protocol.get_next_speaker() is None
    protocol.advance()
    assert protocol.get_next_speaker() == "b"
    protocol.advance()
    protocol.advance()
    send(protocol, "a", "c", "wake up")
    assert protocol.get_next_speaker() == "c"


def test_a_full_queue_refuses_and_delivers_to_nobody() -> None:
    protocol = QueueBased(("a", "b", "c"), max_queue=2)
    send(protocol, "a", "c", "one")
    send(protocol, "a", "c", "two")
    with pytest.raises(InteractionError) as refused:
        protocol.say("a", "to all")
    assert refused.value.code == "queue_full"
    assert (protocol.waiting_for("b"), protocol.message_count) == (0, 2)


def test_the_usual_checks_hold() -> None:
    protocol = QueueBased(("a", "b", "c"), Topology(("a", "b", "c"), edges=[("a", "b")]))
    for message, code in [
        (Message("x", [], "hi", 0), "unknown_sender"),
        (Message("a", ["c"], "hi", 0), "illegal_receiver"),
        (Message("a", ["b"], "hi", 2), "wrong_round"),
    ]:
        with pytest.raises(InteractionError) as refused:
            protocol.route_message(message)
        assert refused.value.code == code
    with pytest.raises(InteractionError):
        protocol.skip("b", "timeout")
    with pytest.raises(InteractionError):
        protocol.skip("x", "timeout")


def test_stop_conditions_hold() -> None:
    flow = InformationFlowConfig(stop_conditions=[{"type": "max_messages", "value": 2}])
    protocol = QueueBased(("a", "b"), flow=flow)
    protocol.say("a", "one")
    protocol.say("b", "two")
    assert protocol.get_next_speaker() is None
    with pytest.raises(InteractionError):
        protocol.say("a", "three")


def test_a_reset_queue_is_empty() -> None:
    protocol = QueueBased(("a", "b"))
    protocol.say("a", "one")
    protocol.reset()
    assert (protocol.waiting_for("b"), protocol.remaining()) == (0, ("a",))


@pytest.mark.parametrize("most", [0, True, 1.5])
def test_the_bound_is_checked(most: object) -> None:
    with pytest.raises(ConfigError, match="max_queue"):
        QueueBased(("a",), max_queue=most)  # type: ignore[arg-type]
