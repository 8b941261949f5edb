"""The events of a role machine.

Rule: a machine receives input through these values only. The messages in events are decoded and their senders
authenticated; the machine decides whether to accept them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from league_agents.league.season.orders import Command as Command
from league_agents.league.wire.envelope import Envelope


class MessageArrived(Struct, frozen=True, kw_only=True, tag_field="is", tag=True):
    """A protocol message was fetched from the mailbox."""

    envelope: Envelope

    mail_id: str
    """The mailbox's own id of the mail: unique per mailbox, never repeated."""

    arrived_at: datetime
    """When the receiving mail server took it. Deadlines are judged by this instant (protocol 5.3.4)."""


class Failure(StrEnum):
    """How a callback failed."""

    RAISED = "raised"
    TIMED_OUT = "timed_out"
    NOT_A_DICT = "not_a_dict"
    UNUSABLE = "unusable"
    """The returned value is too large."""

    DIED = "died"
    """The process in which it ran ended."""


class CallbackReturned(Struct, frozen=True, kw_only=True, tag_field="is", tag=True):
    """A callback that this machine requested returned a dict. Its content is unchecked."""

    call_id: str
    result: Mapping[str, object]


class CallbackFailed(Struct, frozen=True, kw_only=True, tag_field="is", tag=True):
    """A callback that this machine requested gave no usable result."""

    call_id: str
    failure: Failure
    detail: str
    """One line for the record; never shown to the other side."""


class DeadlinePassed(Struct, frozen=True, kw_only=True):
    """A deadline that this machine set has passed, and the mailbox was fetched once more after it."""

    name: str


class SentLate(Struct, frozen=True, kw_only=True):
    """The mail service accepted a game's message long after the step that requested it."""

    game_id: str
    message_id: str
    by: timedelta


class OperatorCommand(Struct, frozen=True, kw_only=True):
    """A person gave this machine a command."""

    command: Command

    nonce: str
    """Different for every command that must have its own effect; ids are derived from it."""

    text: str = ""
    """The reason of a pause or reset, the free text, or a ``SettlementOrder`` as JSON text."""


class Started(Struct, frozen=True, kw_only=True):
    """The process that runs the machine started. Sent once per start, before anything else."""


Event = MessageArrived | CallbackReturned | CallbackFailed | DeadlinePassed | SentLate | OperatorCommand | Started


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The participant for which a machine acts."""

    email: str
    """The address exactly as the mail service reports it: deployed clients compare it by case (protocol 1.1)."""

    participant_id: str
    """``referee_id`` of a referee, user id of a player, ``LM001`` of the league manager."""

    group_id: str = ""
    display_name: str = ""
    seed: str = field(default="", repr=False)
    """The seed of this machine's ids. Secret, because the ids can be predicted from it."""
