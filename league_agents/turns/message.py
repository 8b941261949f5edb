"""Messages between agents, and the errors for refused ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from league_agents.kit import errors


@dataclass
class Message:
    """One message: the dataclass of the protocols' document, field by field.

    It is mutable, so a protocol keeps copies and hands out copies.
    """

    sender: str
    """An agent, or ``"market"`` for a result of the market."""

    receivers: list[str]
    content: Any
    """A JSON value."""

    round: int
    """The number of completed rounds when it was sent: the first round's messages have 0."""

    metadata: dict[str, Any] = field(default_factory=dict)


class InteractionError(errors.ProtocolError):
    """The message breaks the interaction protocol."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        """``unknown_sender``, ``not_speaker``, ``unknown_receiver``, ``illegal_receiver``, ``wrong_round``,
        ``already_spoken``, ``queue_full``, ``invalid_content``, ``price_out_of_range``, ``condition_failed``,
        ``protocol_failed`` or ``nobody_speaks``."""


class ProtocolFailed(InteractionError):
    """A protocol of the user's own failed. The text names the class and the method."""

    def __init__(self, message: str) -> None:
        super().__init__("protocol_failed", message)


def copy_of(message: Message) -> Message:
    """Return a message that shares no mutable part with the given one."""
    return Message(
        message.sender,
        list(message.receivers),
        _fresh(message.content),
        message.round,
        {key: _fresh(value) for key, value in message.metadata.items()},
    )


def _fresh(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _fresh(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fresh(item) for item in value]
    return value
