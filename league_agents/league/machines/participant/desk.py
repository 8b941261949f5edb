"""The processing of one league message by a participant: its order to the games, and the reply.

Rule 1: the consequences of a message for open games are returned as an order; the role carries it out.
Rule 2: a repeated message changes nothing and gets the stored reply again (protocol 2.7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from league_agents.kit.ids import GameId
from league_agents.kit.values import evolve
from league_agents.league.machines.config import ParticipantConfig
from league_agents.league.machines.participant.league_state import League, StoredReply
from league_agents.league.machines.turn import MANAGER_ID, StepContext, day
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import Payload

REMEMBERED_ORDERS = 256
"""How many orders are remembered to recognise repeats: more than the longest season has starts and ends of rounds."""

REMEMBERED_WORDS = 128
"""How many messages without an order are remembered. They have a separate limit so that they displace no order."""

REMEMBERED_REPLIES = 8
"""How many replies can be sent again."""


class GameOrder(StrEnum):
    """An order of the league level to the games."""

    START_ROUND = "start_round"
    END_ROUND = "end_round"
    END_SEASON = "end_season"
    PAUSE = "pause"
    CONTINUE = "continue"
    RESET = "reset"


class Ordered(Struct, frozen=True, kw_only=True):
    """An order with its arguments."""

    order: GameOrder
    round_number: int = 0
    lookup: tuple[str, ...] | None = None
    """The addresses that are considered present; ``None`` if all are."""

    paused_for: timedelta = timedelta(0)


@dataclass(slots=True)
class Desk:
    """One league message while the league level processes it."""

    turn: StepContext
    config: ParticipantConfig
    envelope: Envelope
    open_games: Sequence[GameId]
    """The games that are open, in the order of their ids."""

    key: str
    order: Ordered | None = None


def reply_again(turn: StepContext, config: ParticipantConfig, league: League, envelope: Envelope, key: str) -> League:
    """Send the stored reply to a repeated message again, and change nothing else."""
    turn.warn("duplicate_message", f"{envelope.message_type.value} came before"[:200])
    stored = next((reply for reply in league.replies if reply.key == key), None)
    if stored is None or stored.repeats >= config.repeat_limit:
        return league
    again = evolve(stored, repeats=stored.repeats + 1)
    turn.tell_manager(stored.envelope, is_repeat=True)
    return evolve(league, replies=tuple(again if reply is stored else reply for reply in league.replies))


def send_reply(
    desk: Desk,
    league: League,
    kind: MessageType,
    payload: Payload,
    message_id: str,
    *,
    season_id: str | None = None,
    names_broadcast: bool = True,
) -> League:
    """Reply to the league manager, and store the reply."""
    turn, asked = desk.turn, desk.envelope
    envelope = turn.envelope(
        kind,
        payload,
        message_id=message_id,
        recipient_id=MANAGER_ID,
        logical_id=turn.identity.participant_id if turn.role is Role.REFEREE else None,
        correlation_id=asked.broadcast_id or asked.message_id,
        league_id=league.league_id or None,
        season_id=season_id,
        broadcast_id=asked.broadcast_id if names_broadcast else None,
    )
    turn.tell_manager(envelope)
    stored = StoredReply(key=desk.key, envelope=envelope)
    return evolve(league, replies=(*league.replies[1 - REMEMBERED_REPLIES :], stored))


def reply_id(desk: Desk, prefix: str, digits: int) -> str:
    """``<prefix>-YYYYMMDD-<hex digits>`` (protocol 3.2)."""
    return f"{prefix}-{day(desk.turn.now)}-{desk.turn.hex(prefix, desk.key, desk.turn.role, digits=digits)}"
