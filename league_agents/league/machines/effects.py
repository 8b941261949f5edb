"""The effects that a role machine can request.

Rule: a machine does nothing itself. The runner commits the new state together with these values, then performs them;
it may perform one again after a crash, so each carries an id that makes the repetition harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from league_agents.games.q21.model import Termination
from league_agents.league.wire.envelope import Envelope


class Send(Struct, frozen=True, kw_only=True):
    """Send one protocol message. ``envelope.message_id`` identifies it: the same id is queued once."""

    envelope: Envelope

    to: tuple[str, ...]
    """Addresses, exactly as they are to be written; a broadcast is one mail to all of them."""

    game_id: str | None = None
    """The game that waits for this message; ``None`` for league traffic. The outbox serves open games first."""

    is_repeat: bool = False
    """Whether a message that was already sent is to go out once more (a stored reply, protocol 2.7)."""


class Call(Struct, frozen=True, kw_only=True):
    """Run one callback of the agent and report ``CallbackReturned`` or ``CallbackFailed``."""

    call_id: str
    """Unique: a call that is made again (a retry) has another id."""

    callback: str
    """The method's name: ``get_answers``."""

    context: Mapping[str, object]
    """``{"dynamic": {…}, "service": {…}}``, JSON values only: this is the border to user code (protocol 6)."""

    timeout: timedelta
    """How long the callback may run, from the moment it starts."""

    game_id: str
    """The game for which it runs; an agent's memory is kept per game."""


class SetDeadline(Struct, frozen=True, kw_only=True):
    """Send ``DeadlinePassed(name)`` at ``at``. A deadline of the same name is replaced."""

    name: str
    at: datetime


class ClearDeadline(Struct, frozen=True, kw_only=True):
    """Forget the deadline. Clearing one that is not set is allowed."""

    name: str


class Record(Struct, frozen=True, kw_only=True):
    """Record the end of a match, game, round or season, or a settlement, for people to read later."""

    kind: str
    """``match``, ``game``, ``round``, ``season``, ``settlement``."""

    key: str
    """The game id, round number or season id; for a settlement the game id, ``team NAME`` or ``round N``."""

    termination: Termination
    facts: Mapping[str, object]
    """JSON values. Holds no target before the score was sent."""


class ReleaseAgent(Struct, frozen=True, kw_only=True):
    """The agent's work for this game is over: its instance may serve another game."""

    game_id: str


class Warn(Struct, frozen=True, kw_only=True):
    """Warn of an irregularity after which the machine went on."""

    code: str
    """A fixed word: ``duplicate_message``, ``wrong_sender``, ``unknown_game`` …"""

    text: str
    """One line for people. Untrusted parts are shortened."""


class Notice(Struct, frozen=True, kw_only=True):
    """Tell people of a regular event."""

    code: str
    """A fixed word, as of ``Warn``."""

    text: str
    """One line for people."""


Effect = Send | Call | SetDeadline | ClearDeadline | Record | ReleaseAgent | Warn | Notice
