"""The state of one game as a player stores it.

Rule: every reply that was sent can be built again from this state, so that a referee that asks twice gets the same
reply twice, and the agent is called once (protocol 2.7).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from msgspec import Struct

from league_agents.games.q21.model import AnswerBatch, Brief, Guess, QuestionBatch, Scorecard
from league_agents.kit.ids import GameId
from league_agents.league.machines.turn import Timers
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import AssignmentRole


class GamePhase(StrEnum):
    """The phase of a game (protocol 5.6)."""

    INITIALIZED = "INITIALIZED"
    WARMUP_COMPLETE = "WARMUP_COMPLETE"
    QUESTIONS_SENT = "QUESTIONS_SENT"
    GUESS_SUBMITTED = "GUESS_SUBMITTED"
    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"


OPEN_PHASES: tuple[GamePhase, ...] = (
    GamePhase.INITIALIZED,
    GamePhase.WARMUP_COMPLETE,
    GamePhase.QUESTIONS_SENT,
    GamePhase.GUESS_SUBMITTED,
)
"""The phases of an open game, in their order."""


class OpenRequest(Struct, frozen=True, kw_only=True):
    """A request of the referee for which a callback is running."""

    call_id: str
    callback: str
    reply: MessageType | None
    """The type of the reply; ``None`` if the request gets no reply."""

    message_id: str
    """The id of the request."""

    reply_to: str
    """The address for the reply: the ``From`` of the request."""

    recipient_id: str
    auth_token: str | None
    deadline: datetime | None


class SentReply(Struct, frozen=True, kw_only=True):
    """A reply that was sent."""

    kind: MessageType
    at: datetime
    auth_token: str | None
    recipient_id: str
    deadline: datetime | None
    """The deadline that the request stated; ``None`` if it stated none."""

    reply_to: str
    correlation_id: str
    repeats: int = 0


class LeagueGame(Struct, frozen=True, kw_only=True):
    """One game of a player."""

    APART: ClassVar[tuple[str, ...]] = ("questions", "answers")

    game_id: GameId
    token: str
    """Eight hex digits from which the ids of this game are derived."""

    season_id: str
    league_id: str
    round_number: int
    own_role: AssignmentRole | None
    """The player's role; ``None`` for a game that no assignment table names."""

    own_group: str
    referee_email: str
    """The referee's address; empty until the first request if no table names the referee."""

    opponent_email: str
    opened_at: datetime
    phase: GamePhase = GamePhase.INITIALIZED
    brief: Brief | None = None
    questions_required: int = 0
    """The number that the referee asked for; 0 if it stated none."""

    warmup_question: str = ""
    warmup_answer: str = ""
    questions: QuestionBatch = ()
    answers: AnswerBatch = ()
    guess: Guess | None = None
    scorecard: Scorecard | None = None
    asked: tuple[OpenRequest, ...] = ()
    said: tuple[SentReply, ...] = ()
    resends: int = 0
    """How often the guess was sent again unprompted."""

    last_sent: str = ""
    last_received: str = ""
    """The types of the last messages sent and received, for the report (protocol 4.5.2)."""

    timers: Timers = ()

    @property
    def is_open(self) -> bool:
        """Whether the game still goes on."""
        return self.phase in OPEN_PHASES

    def find_said(self, kind: MessageType) -> SentReply | None:
        """The reply of this type that was sent; ``None`` if none was."""
        return next((said for said in self.said if said.kind is kind), None)
