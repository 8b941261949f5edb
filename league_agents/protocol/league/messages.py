"""What league messages say: one value per message type of protocol section 4.

Rule 1: values only, in the program's words; the spelling of keys is the codec's business. An optional field that is
``None`` was absent, and is left out when it is sent.
Rule 2: ids that the envelope holds (``broadcast_id``, ``league_id``, ``season_id``, ``round_id``, ``game_id``, which is
also ``match_id``) and the sender's own address are not repeated here.
Rule 3: everything received was bounded: texts are at most 20,000 characters, lists at most 1,000 items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from league_agents.core.violation import Violation
from league_agents.games.q21.model import AnswerBatch, Breakdown, Brief, Feedback, Guess, QuestionBatch, Scorecard
from league_agents.ids import GameId
from league_agents.protocol.league.kinds import Role

# The season opens: protocol 4.1.


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSeason:
    """``BROADCAST_START_SEASON``, and the older ``BROADCAST_START_SEASON_REGISTRATION``."""

    season_name: str
    game_type: str = "Q21"
    """The league manager in the field sent ``UNKNOWN``; never a reason to refuse."""

    total_rounds: int = 0
    """0: not known yet."""

    registration_deadline: datetime | None = None
    """``None``: not stated (``""`` on the wire)."""

    registered_players: int | None = None
    registered_referees: int | None = None
    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRequest:
    """``SEASON_REGISTRATION_REQUEST``. Who asks is the sender of the mail, whatever the ids say."""

    display_name: str
    """``""`` when a received request names nobody."""

    participant_role: Role | None
    """Received: the payload's, else the sender's, else the subject's."""

    user_id: str | None = None
    participant_id: str | None = None
    group_id: str | None = None


class RegistrationStatus(StrEnum):
    """What the league manager decided about a request."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


ALREADY_REGISTERED = "already_registered"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationResponse:
    """``SEASON_REGISTRATION_RESPONSE``. Match it by season, not by correlation (4.1.3)."""

    status: RegistrationStatus
    reason: str | None = None
    """A machine word when rejected: ``already_registered``, ``deadline_passed`` …"""

    registration_id: str | None = None
    message: str | None = None

    @property
    def is_registered(self) -> bool:
        """Whether the participant is in. A rejection as ``already_registered`` means that it is (4.1.3)."""
        if self.status is RegistrationStatus.ACCEPTED:
            return True
        reason = (self.reason or "").strip().lower().replace("-", "_").replace(" ", "_")
        return reason == ALREADY_REGISTERED


class AssignmentRole(StrEnum):
    """Who somebody is in one game; lower case on the wire (4.1.4)."""

    PLAYER1 = "player1"
    PLAYER2 = "player2"
    REFEREE = "referee"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One row of the table: who has which role in which game."""

    role: AssignmentRole
    email: str
    """Spelled as the league manager wrote it; reproduce it, compare it without letter case."""

    game_id: GameId
    group_id: str
    """``""`` when a received row lacks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentTable:
    """``BROADCAST_ASSIGNMENT_TABLE``, and ``ASSIGNMENT_TABLE_RESPONSE``: the games of the whole season.

    At most 20,000 rows: a large league needs more than other lists do.
    """

    assignments: tuple[Assignment, ...]
    message_text: str | None = None
    skipped: tuple[Violation, ...] = ()
    """Rows of a received table that could not be read. One bad row does not cost everybody the season."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentAck:
    """``RESPONSE_GROUP_ASSIGNMENT``: the table was received."""

    assignments_received: int | None
    status: str = "acknowledged"
    referee_id: str | None = None
    player_email: str | None = None
    group_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAssignmentTable:
    """``REQUEST_ASSIGNMENT_TABLE``: please send the table again."""

    group_id: str | None = None
    response_timestamp: datetime | None = None


# Rounds and the season's end: protocol 4.2.


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRound:
    """``BROADCAST_NEW_LEAGUE_ROUND``. The round id is the envelope's."""

    round_number: int
    """From 1."""

    round_ended: int | None = None
    """The round before; ``None`` for the first or when not stated."""

    total_rounds: int | None = None
    is_final_round: bool | None = None
    scheduled_start: datetime | None = None

    participant_lookup_table: tuple[str, ...] | None = None
    """The addresses that are considered present. ``None``: no table, everybody is; ``()``: nobody is (5.4)."""

    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRound:
    """``BROADCAST_END_LEAGUE_ROUND``."""

    round_number: int
    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResultRow:
    """One match in ``BROADCAST_ROUND_RESULTS``."""

    game_id: GameId | None
    """``None`` when a received row names no seven-digit id."""

    winner_id: str | None
    """``None``: a draw, or nobody won."""

    player1_score: float | None
    player2_score: float | None
    """League points."""

    status: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow:
    """One line of the standings."""

    rank: int
    participant_id: str
    """The player's group id (1.2)."""

    display_name: str
    total_points: float
    group_id: str | None = None
    email: str | None = None
    games_played: int | None = None
    games_won: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResults:
    """``BROADCAST_ROUND_RESULTS``."""

    round_number: int | None
    results: tuple[MatchResultRow, ...]
    standings: tuple[StandingRow, ...]
    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSeason:
    """``BROADCAST_END_SEASON``."""

    season_name: str | None = None
    final_standings: tuple[StandingRow, ...] = ()
    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeagueCompleted:
    """``LEAGUE_COMPLETED``."""

    final_standings: tuple[StandingRow, ...]
    """Received, it may be empty."""

    message_text: str | None = None


# Service broadcasts and their replies: protocol 4.3.


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAlive:
    """``BROADCAST_KEEP_ALIVE``: who is there?"""

    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAliveReply:
    """``RESPONSE_KEEP_ALIVE``."""

    status: str = "alive"
    referee_id: str | None = None
    player_email: str | None = None
    machine_state: str | None = None
    """The name of the league-level state (5.2)."""

    state_detail: str | None = None
    message_text: str | None = None
    response_timestamp: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalPause:
    """``BROADCAST_CRITICAL_PAUSE``: stop all deadlines, keep game mail for later."""

    reason: str
    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalContinue:
    """``BROADCAST_CRITICAL_CONTINUE``: go on where it was paused."""

    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalReset:
    """``BROADCAST_CRITICAL_RESET``: forget the season."""

    reason: str
    reset_scope: str = "FULL"
    message_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalPauseReply:
    """``CRITICAL_PAUSE_RESPONSE``."""

    previous_state: str
    current_game_state: str
    """``SAVED``, or ``N/A`` when no game is open."""

    match_id_paused: str | None
    pause_status: str = "PAUSED"
    message_text: str | None = None
    response_timestamp: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalContinueReply:
    """``CRITICAL_CONTINUE_RESPONSE``."""

    restored_state: str
    restored_match_id: str | None
    continue_status: str = "RESUMED"
    message_text: str | None = None
    response_timestamp: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalResetReply:
    """``CRITICAL_RESET_RESPONSE``."""

    tables_cleared: tuple[str, ...]
    state_machine_reset: bool = True
    ready_for_new_season: bool = True
    reset_status: str = "COMPLETED"
    message_text: str | None = None
    response_timestamp: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeText:
    """``BROADCAST_FREE_TEXT``: a word to everybody."""

    message_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeTextReply:
    """``FREE_TEXT_RESPONSE``."""

    message_text: str
    response_timestamp: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorResponse:
    """``ERROR_RESPONSE``. Logged; never answered by another one."""

    error_code: str
    """``INVALID_MESSAGE``, ``UNAUTHORIZED``, ``NOT_REGISTERED``, ``DEADLINE_PASSED``, ``INVALID_STATE`` or
    ``INTERNAL_ERROR``."""

    error_message: str
    original_message_type: str
    recoverable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectivityCall:
    """``CONNECTIVITY_TEST_CALL``: a ping to one participant."""

    ping_id: str
    sent_at: datetime | None = None
    """``timestamp`` on the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectivityEcho:
    """``CONNECTIVITY_TEST_ECHO``: the answer to a ping."""

    ping_id: str
    echo_from: str | None = None
    original_timestamp: datetime | None = None


# The game: protocol 4.4.


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupCall:
    """``Q21WARMUPCALL``: are you there?"""

    warmup_question: str
    """``""`` when a received call asks nothing: it is a connectivity check, any answer will do."""

    deadline: datetime | None
    auth_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupResponse:
    """``Q21WARMUPRESPONSE``."""

    answer: str
    """May be empty when received."""

    auth_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStart:
    """``Q21ROUNDSTART``: what the players are told; it also asks for the questions."""

    brief: Brief
    deadline: datetime | None
    questions_required: int = 20
    auth_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsBatch:
    """``Q21QUESTIONSBATCH``. How many there are, and whether the numbers are unique, is for the rules to check."""

    questions: QuestionBatch
    """Options that a received question lacks are empty texts."""

    auth_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersBatch:
    """``Q21ANSWERSBATCH``; it also asks for the guess."""

    answers: AnswerBatch
    """Received: only those that could be read; it may be empty, and the guess is due all the same."""

    deadline: datetime | None
    auth_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessSubmission:
    """``Q21GUESSSUBMISSION``."""

    guess: Guess
    auth_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFeedback:
    """``Q21SCOREFEEDBACK``, and the older ``Q21_GUESS_RESULT``: terminal, even when it arrives as ``BrokenPayload``."""

    scorecard: Scorecard
    """``league_points`` is 0 when a received message does not state them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsCall:
    """``Q21_QUESTIONS_CALL`` (4.6): a repeat of ``Q21ROUNDSTART`` without its content."""

    deadline: datetime | None
    auth_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessCall:
    """``Q21_GUESS_CALL`` (4.6): the stored guess is wanted once more."""

    deadline: datetime | None
    auth_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """``Q21_HINTS`` (4.6): fills in what ``Q21ROUNDSTART`` left out."""

    book_hint: str | None
    association_domain: str | None
    book_name: str | None = None


# Results: protocol 4.5.


class ReportStatus(StrEnum):
    """How a referee's match ended, spelled as on the wire. Anything else that arrives counts as ``ABORTED`` (4.5.1)."""

    COMPLETED = "completed"
    ABORTED = "aborted"
    COMPLETED_SINGLE_PLAYER = "COMPLETED_SINGLE_PLAYER"
    CANCELLED_ALL_PLAYERS_MALFUNCTION = "CANCELLED_ALL_PLAYERS_MALFUNCTION"


TECHNICAL_LOSS = "TECHNICAL_LOSS_MALFUNCTION"
"""The ``score_reason`` of an absent player."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """One player's line in a match report."""

    participant_id: str
    email: str
    league_points: int
    """0 to 3."""

    private_score: float
    """0 to 100."""

    feedback: Feedback | None = None
    score_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerState:
    """How far one player had come when the match was aborted."""

    email: str
    participant_id: str
    phase_reached: str
    """``idle``, ``warmup_sent``, ``warmup_answered``, ``round_started``, ``questions_submitted``, ``answers_received``,
    ``guess_submitted``, ``scored`` or ``not_initialized``."""

    scored: bool
    last_actor: str
    """``referee``, the player's participant id, or ``none``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerStates:
    """Both players of an aborted match."""

    player1: PlayerState
    player2: PlayerState


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPlayer:
    """Who was absent in a single-player game."""

    role: AssignmentRole
    """``PLAYER_A`` (player 1) or ``PLAYER_B`` (player 2) on the wire."""

    email: str
    reason: str = "MALFUNCTION"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchReport:
    """``MATCH_RESULT_REPORT`` of a referee: the only one that counts."""

    status: ReportStatus
    winner_id: str | None
    """``None``: a draw, or nobody won."""

    is_draw: bool
    scores: tuple[ScoreRow, ...]
    """Player 1 first; empty when the match was cancelled."""

    abort_reason: str | None = None
    """``player_timeout:<address>``, ``end_round_received`` …; required when aborted."""

    player_states: PlayerStates | None = None
    """Required when aborted; ``None`` when a received one cannot be read."""

    missing: MissingPlayer | None = None
    """Of a single-player game; ``None`` otherwise."""


class PlayerReportStatus(StrEnum):
    """How a game ended for a player."""

    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerReport:
    """``MATCH_RESULT_REPORT`` of a player: informational, never scored (4.5.2)."""

    status: PlayerReportStatus
    phase_at_termination: str
    """``INITIALIZED``, ``WARMUP_COMPLETE``, ``QUESTIONS_SENT``, ``GUESS_SUBMITTED`` or ``COMPLETED``."""

    last_actor: str
    """``PLAYER``, ``NONE`` or ``REFEREE``."""

    reason: str
    """``GAME_COMPLETED``, ``NEW_ROUND_STARTED`` or ``LEAGUE_COMPLETED``."""

    round_number: int | None = None
    last_message_sent: str = ""
    last_message_received: str = ""
    reported_at: datetime | None = None
    league_points: int | None = None
    private_score: float | None = None
    breakdown: Breakdown | None = None
    """These three only when known."""


# Everything else.


@dataclass(frozen=True, slots=True, kw_only=True)
class Legacy:
    """A type of protocol 4.6 that asks for no behaviour. Recorded."""

    fields: Mapping[str, object]
    """The payload as it came, bounded: JSON values only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenPayload:
    """A known type whose content cannot be used. The referee counts these (5.3.2)."""

    violations: tuple[Violation, ...]
    """At least one."""


Payload = (
    StartSeason
    | RegistrationRequest
    | RegistrationResponse
    | AssignmentTable
    | AssignmentAck
    | RequestAssignmentTable
    | NewRound
    | EndRound
    | RoundResults
    | EndSeason
    | LeagueCompleted
    | KeepAlive
    | KeepAliveReply
    | CriticalPause
    | CriticalContinue
    | CriticalReset
    | CriticalPauseReply
    | CriticalContinueReply
    | CriticalResetReply
    | FreeText
    | FreeTextReply
    | ErrorResponse
    | ConnectivityCall
    | ConnectivityEcho
    | WarmupCall
    | WarmupResponse
    | RoundStart
    | QuestionsBatch
    | AnswersBatch
    | GuessSubmission
    | ScoreFeedback
    | QuestionsCall
    | GuessCall
    | Hints
    | MatchReport
    | PlayerReport
    | Legacy
    | BrokenPayload
)
