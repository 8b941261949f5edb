"""The context of one step of a participant: its identity, the present instant, and the list of effects.

Rule: a context lives for one step and never becomes part of a state.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec import Struct

from league_agents.games.q21.callbacks import Noted
from league_agents.kit.ids import GameId, derive_hex, derive_uuid
from league_agents.league.machines.effects import ClearDeadline, Effect, Notice, Send, SetDeadline, Warn
from league_agents.league.machines.events import Identity
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import GAME_TYPES, MessageType, Protocol, Role
from league_agents.league.wire.messages import Payload
from league_agents.league.wire.reading import LONGEST_ID

MANAGER_ID = "LEAGUEMANAGER"
"""The recipient id of messages to the league manager (protocol 3.1)."""

_NOT_FOR_AN_ID = re.compile(r"[^A-Za-z0-9_.-]+")


class Timer(Struct, frozen=True, kw_only=True):
    """A deadline that is running, or that is suspended by a pause."""

    name: str
    """``<what>:<game id>:<role>``; the role is empty for a timer of the whole game."""

    at: datetime


Timers = tuple[Timer, ...]


@dataclass(slots=True)
class StepContext:
    """The context of one step."""

    identity: Identity
    role: Role
    manager_email: str
    now: datetime
    is_paused: bool = False
    effects: list[Effect] = field(default_factory=list)

    def warn(self, code: str, text: str) -> None:
        """Add a ``Warn`` effect."""
        self.effects.append(Warn(code=code, text=text))

    def notice(self, code: str, text: str) -> None:
        """Add a ``Notice`` effect."""
        self.effects.append(Notice(code=code, text=text))

    def tell_noted(self, game_id: GameId, noted: Noted) -> None:
        """Report to the agent's author how the result of a call was used."""
        if noted.failure:
            text = f"{noted.callback} in game {game_id}: {noted.failure[:400]}; {noted.then}"
            self.warn("callback_failed", text)
        elif noted.remarks:
            for repair in noted.repairs:
                self.warn("result_repaired", f"{noted.callback} in game {game_id}: {repair}")

    def set_timer(self, timers: Timers, name: str, at: datetime) -> Timers:
        """Start a deadline. During a pause it is only stored; the end of the pause starts it."""
        if not self.is_paused:
            self.effects.append(SetDeadline(name=name, at=at))
        return (*(timer for timer in timers if timer.name != name), Timer(name=name, at=at))

    def clear_timers(self, timers: Timers, names: Sequence[str] | None = None) -> Timers:
        """Stop the deadlines of these names; ``None`` stops all."""
        kept: list[Timer] = []
        for timer in timers:
            if names is not None and timer.name not in names:
                kept.append(timer)
            elif not self.is_paused:
                self.effects.append(ClearDeadline(name=timer.name))
        return tuple(kept)

    def stop_timers(self, timers: Timers) -> None:
        """Suspend the deadlines for a pause. Their instants stay in the state."""
        self.effects.extend(ClearDeadline(name=timer.name) for timer in timers)

    def resume_timers(self, timers: Timers, paused_for: timedelta) -> Timers:
        """Resume the deadlines after a pause, each with the time it had left (protocol 4.3.2)."""
        later = tuple(Timer(name=timer.name, at=timer.at + paused_for) for timer in timers)
        self.effects.extend(SetDeadline(name=timer.name, at=timer.at) for timer in later)
        return later

    def hex(self, *parts: object, digits: int = 8) -> str:
        """Hex digits that depend on this machine's seed and ``parts`` only."""
        return derive_hex(self.identity.seed, *parts, digits=digits)

    def uuid(self, *parts: object) -> str:
        """An id in the form that players use (protocol 3.2)."""
        return derive_uuid(self.identity.seed, *parts)

    def envelope(
        self,
        kind: MessageType,
        payload: Payload,
        *,
        message_id: str,
        recipient_id: str,
        at: datetime | None = None,
        logical_id: str | None = None,
        correlation_id: str | None = None,
        league_id: str | None = None,
        season_id: str | None = None,
        round_id: str | None = None,
        game_id: GameId | None = None,
        broadcast_id: str | None = None,
    ) -> Envelope:
        """Build a message of this participant. ``at`` defaults to ``now``; pass it to rebuild an earlier message."""
        return Envelope(
            protocol=Protocol.GAME if kind in GAME_TYPES else Protocol.LEAGUE,
            message_type=kind,
            message_id=message_id,
            timestamp=at or self.now,
            sender=Sender(email=self.identity.email, role=self.role, logical_id=logical_id),
            # An address may be longer than an id; no client filters on this key (protocol 3.1).
            recipient_id=recipient_id[:LONGEST_ID],
            payload=payload,
            correlation_id=correlation_id,
            league_id=league_id,
            season_id=season_id,
            round_id=round_id,
            game_id=game_id,
            broadcast_id=broadcast_id,
        )

    def tell_manager(self, envelope: Envelope, *, game_id: str | None = None, is_repeat: bool = False) -> None:
        """Send a message to the league manager."""
        to = (self.manager_email,)
        self.effects.append(Send(envelope=envelope, to=to, game_id=game_id, is_repeat=is_repeat))

    def send(self, envelope: Envelope, to: str, *, is_repeat: bool = False) -> None:
        """Send a message of a game."""
        self.effects.append(Send(envelope=envelope, to=(to,), game_id=envelope.game_id, is_repeat=is_repeat))


@lru_cache(maxsize=1_000)
def for_an_id(text: str) -> str:
    """``text`` as part of an id that also stands in a subject: plain ASCII without ``::`` (protocol 2.2)."""
    return _NOT_FOR_AN_ID.sub("-", text)[:40].strip("-") or "x"


def day(instant: datetime) -> str:
    """``YYYYMMDD``, as message ids show it (protocol 3.2)."""
    return f"{instant:%Y%m%d}"
