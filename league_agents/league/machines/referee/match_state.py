"""The state of one match as a referee stores it.

Rule 1: the phase belongs to the player, not to the match (protocol 5.3.1).
Rule 2: every message that was sent can be built again from this state, byte for byte: an answer that a player missed
is repeated from the state, and the agent is not called again (protocol 2.7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar

from msgspec import Struct

from league_agents.games.q21.flow import PlayerRun, RefereedMatch, SeatPhase, Stop, with_run
from league_agents.kit.ids import GameId
from league_agents.league.machines.turn import Timers
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import AssignmentRole, PlayerStates

NOBODY = "none"
REFEREE = "referee"
"""The values of ``last_actor`` that are not participant ids."""


class Sent(Struct, frozen=True, kw_only=True):
    """A message that was sent to one player."""

    kind: MessageType
    at: datetime
    deadline: datetime | None
    """The deadline stated in the message; ``None`` if the message asks for nothing."""

    repeats: int = 0
    """How often it was sent again because the player repeated its message."""


class Unusable(Struct, frozen=True, kw_only=True):
    """A message of a player whose structure could not be used."""

    kind: MessageType
    message_id: str


class MatchPlayer(PlayerRun, frozen=True, kw_only=True):
    """One player's run in the match."""

    APART: ClassVar[tuple[str, ...]] = ("questions", "answers")

    role: AssignmentRole
    email: str
    """The player's address, spelled as in the assignment table."""

    participant_id: str
    """The player's group id (protocol 1.2)."""

    answered_id: str = ""
    """The ``message_id`` of the player's last accepted message, which the answer names."""

    last_actor: str = NOBODY
    sent: tuple[Sent, ...] = ()
    unusable: tuple[Unusable, ...] = ()

    def find_sent(self, kind: MessageType) -> Sent | None:
        """The message of this type that was sent to the player; ``None`` if none was."""
        return next((sent for sent in self.sent if sent.kind is kind), None)


def place_of(role: AssignmentRole) -> int:
    """0 for player 1 and 1 for player 2, as the flow counts them."""
    return 0 if role is AssignmentRole.PLAYER1 else 1


def with_seat(match: OpenMatch, seat: MatchPlayer) -> OpenMatch:
    """The match with this seat in its place."""
    return with_run(match, place_of(seat.role), seat)


class AwaitedCall(Struct, frozen=True, kw_only=True):
    """A callback whose result is awaited. Other results are ignored."""

    call_id: str
    callback: str
    role: AssignmentRole | None
    """The player for whom it runs; ``None`` for a callback of the whole match."""

    attempt: int
    """The number of the attempt, from 1."""


class Abort(Stop, frozen=True, kw_only=True):
    """The reason for which a match was aborted, and the players who caused it."""

    reason: str
    """The reason as in the report: ``player_timeout:<address>``."""

    culprits: tuple[AssignmentRole, ...]
    """The players who caused it, first the one that the reason names; empty if no player of the match did."""

    player_states: PlayerStates
    """The players' progress when the match was frozen, before a pending guess is scored."""


class OpenMatch(RefereedMatch, frozen=True, kw_only=True):
    """One open match."""

    game_id: GameId
    token: str
    """Eight hex digits from which the ids of this match are derived: different when the same game id is played again
    after a reset."""

    round_number: int
    round_id: str | None
    """The round id, copied from the round's broadcast into the report; ``None`` if the broadcast has none."""

    season_id: str
    league_id: str
    player1: MatchPlayer
    player2: MatchPlayer
    opened_at: datetime
    calls: tuple[AwaitedCall, ...] = ()
    timers: Timers = ()
    abort: Abort | None = None

    def seat(self, role: AssignmentRole) -> MatchPlayer:
        """The seat of player 1 or 2."""
        return self.player1 if role is AssignmentRole.PLAYER1 else self.player2

    @property
    def seats(self) -> tuple[MatchPlayer, MatchPlayer]:
        """Both seats, player 1 first."""
        return (self.player1, self.player2)

    def present(self) -> Iterator[MatchPlayer]:
        """The seats of the players who are present."""
        return (seat for seat in (self.player1, self.player2) if seat.phase is not SeatPhase.ABSENT)

    @property
    def missing(self) -> MatchPlayer | None:
        """The absent player of a single-player game; ``None`` in other games."""
        return next((seat for seat in self.seats if not seat.is_present), None)

    @property
    def auth_token(self) -> str:
        """The token that players echo: the same for both, and not a secret (protocol 1.2)."""
        return f"tok_{self.token}"

    def __repr__(self) -> str:
        # Omit the target: a representation may end up in a log.
        return f"Match(game_id={self.game_id!r})"


AWAITED: Mapping[SeatPhase, MessageType] = MappingProxyType(
    {
        SeatPhase.WARMUP_SENT: MessageType.Q21WARMUPRESPONSE,
        SeatPhase.STARTED: MessageType.Q21QUESTIONSBATCH,
        SeatPhase.ANSWERED: MessageType.Q21GUESSSUBMISSION,
    }
)
"""The message of the player for which the referee waits with a deadline, by phase."""
