"""Match reports: how both kinds are told apart, read and written (protocol 4.5).

Rule: what decides points is read strictly. A report with a score that is no score is unusable as a whole, never mended.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Struct

from league_agents.games.q21.model import MOST_POINTS, Breakdown, Feedback
from league_agents.kit.violation import Violation, shown
from league_agents.league.wire.address import read_address
from league_agents.league.wire.declare import (
    ADDRESS,
    FLAG,
    ID,
    INSTANT,
    MATCH_ID,
    SEASON_ID,
    DerivedKey,
    ValueKind,
    constant,
    integer,
    message,
    number,
    read_fields,
    read_row,
    wire,
    word,
    write_row,
)
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages.opening import AssignmentRole, assignment_role_of
from league_agents.league.wire.messages.rounds import ROUND
from league_agents.league.wire.messages.score import (
    BEST_SCORE,
    breakdown_refusal,
    points_refusal,
    read_breakdown,
    read_feedback,
    write_breakdown,
    write_feedback,
)
from league_agents.league.wire.payload import BrokenPayload, LeagueMessage, Payload
from league_agents.league.wire.reading import (
    Fields,
    broken,
    flag_of,
    id_of,
    integer_of,
    list_of,
    number_of,
    object_of,
)
from league_agents.league.wire.writing import Document

_MOST_ROWS = 10
"""There are two; more are read so that the league manager can say what is wrong."""


class ReportStatus(StrEnum):
    """How a referee's match ended, spelled as on the wire. Anything else that arrives counts as ``ABORTED`` (4.5.1)."""

    COMPLETED = "completed"
    ABORTED = "aborted"
    COMPLETED_SINGLE_PLAYER = "COMPLETED_SINGLE_PLAYER"
    CANCELLED_ALL_PLAYERS_MALFUNCTION = "CANCELLED_ALL_PLAYERS_MALFUNCTION"


_STATUS = word({status.value.lower(): status for status in ReportStatus}, "a status")
_WITH_FEEDBACK = (ReportStatus.COMPLETED, ReportStatus.COMPLETED_SINGLE_PLAYER)

TECHNICAL_LOSS = "TECHNICAL_LOSS_MALFUNCTION"
"""The ``score_reason`` of an absent player."""


class ScoreRow(Struct, frozen=True, kw_only=True):
    """One player's line in a match report."""

    participant_id: Annotated[str, wire(ID, absent="")]
    email: Annotated[str, wire(ADDRESS, absent="")]
    league_points: Annotated[int, wire(integer(0, MOST_POINTS))]
    """0 to 3."""

    private_score: Annotated[float, wire(number(0.0, BEST_SCORE))]
    """0 to 100."""

    feedback: Feedback | None = None
    score_reason: str | None = None


def _write_score_row(row: ScoreRow, status: ReportStatus) -> Document:
    document = write_row(row)
    if row.feedback is not None or status in _WITH_FEEDBACK:
        document["feedback"] = write_feedback(row.feedback)
    if row.score_reason is not None:
        document["score_reason"] = row.score_reason
    return document


class ReportedPlayerState(Struct, frozen=True, kw_only=True):
    """How far one player had come when the match was aborted."""

    email: Annotated[str, wire(ADDRESS, absent="")]
    participant_id: Annotated[str, wire(ID, absent="")]
    phase_reached: Annotated[str, wire(ID, absent="not_initialized")]
    """``idle``, ``warmup_sent``, ``warmup_answered``, ``round_started``, ``questions_submitted``, ``answers_received``,
    ``guess_submitted``, ``scored`` or ``not_initialized``."""

    scored: Annotated[bool, wire(FLAG, absent=False)]
    last_actor: Annotated[str, wire(ID, absent="none")]
    """``referee``, the player's participant id, or ``none``."""


class PlayerStates(Struct, frozen=True, kw_only=True):
    """Both players of an aborted match."""

    player1: ReportedPlayerState
    player2: ReportedPlayerState


def _find_player_states(fields: Fields, key: str) -> PlayerStates | None:
    stated = object_of(fields.get(key))
    if stated is None:
        return None
    first, second = (read_row(ReportedPlayerState, stated.get(seat)) for seat in ("player1", "player2"))
    if isinstance(first, str) or isinstance(second, str):
        return None
    return PlayerStates(player1=first, player2=second)


_PLAYER_STATES = ValueKind(
    find=_find_player_states,
    write=lambda states: {"player1": write_row(states.player1), "player2": write_row(states.player2)},
    rule="the states of both players",
)


class MissingPlayer(Struct, frozen=True, kw_only=True):
    """Who was absent in a single-player game."""

    role: AssignmentRole
    """``PLAYER_A`` (player 1) or ``PLAYER_B`` (player 2) on the wire."""

    email: str
    reason: str = "MALFUNCTION"


def _read_missing(fields: Fields) -> MissingPlayer | None:
    role = assignment_role_of(fields.get("missing_player"))
    if role is None or role is AssignmentRole.REFEREE:
        return None
    return MissingPlayer(
        role=role,
        email=read_address(fields.get("missing_player_email")) or "",
        reason=id_of(fields.get("missing_reason")) or "MALFUNCTION",
    )


def _read_report(fields: Fields, role: Role | None) -> Payload:
    """The report of a referee or of a player: by role, without one by the presence of ``scores``."""
    if role is Role.PLAYER or (role is not Role.REFEREE and "scores" not in fields):
        return read_fields(PlayerReport, fields)
    return _read_match_report(fields)


def _read_match_report(fields: Fields) -> MatchReport | BrokenPayload:
    status = _STATUS.find(fields, "status") or ReportStatus.ABORTED
    stated = fields.get("scores")
    if stated is None and status is ReportStatus.CANCELLED_ALL_PLAYERS_MALFUNCTION:
        stated = []
    items = list_of(stated, _MOST_ROWS)
    if items is None:
        return broken("scores", "a list of two rows", stated)
    rows: list[ScoreRow] = []
    violations: list[Violation] = []
    for position, item in enumerate(items):
        row = _read_score_row(item, f"scores[{position}]", violations)
        if row is not None:
            rows.append(row)
    if violations:
        return BrokenPayload(violations=tuple(violations))
    return MatchReport(
        status=status,
        winner_id=id_of(fields.get("winner_id")),
        is_draw=flag_of(fields.get("is_draw")) or False,
        scores=tuple(rows),
        abort_reason=id_of(fields.get("abort_reason")),
        player_states=_find_player_states(fields, "player_states"),
        missing=_read_missing(fields),
    )


def _read_score_row(value: object, path: str, violations: list[Violation]) -> ScoreRow | None:
    fields = object_of(value)
    if fields is None:
        violations.append(Violation(path=path, rule="an object", found=shown(value)))
        return None
    participant = id_of(fields.get("participant_id"))
    email = read_address(fields.get("email"))
    if participant is None and email is None:
        violations.append(Violation(path=f"{path}.participant_id", rule="present", found="None"))
    points = integer_of(fields.get("league_points"), 0, MOST_POINTS)
    if points is None:
        rule = f"a whole number from 0 to {MOST_POINTS}"
        violations.append(Violation(path=f"{path}.league_points", rule=rule, found=shown(fields.get("league_points"))))
    stated_score = fields.get("private_score")
    score = 0.0 if stated_score is None else number_of(stated_score, 0.0, BEST_SCORE)
    if score is None:
        rule = f"a number from 0 to {BEST_SCORE:g}"
        violations.append(Violation(path=f"{path}.private_score", rule=rule, found=shown(stated_score)))
    if points is None or score is None:
        return None
    return ScoreRow(
        participant_id=participant or "",
        email=email or "",
        league_points=points,
        private_score=score,
        feedback=read_feedback(fields.get("feedback")),
        score_reason=id_of(fields.get("score_reason")),
    )


@message(MessageType.MATCH_RESULT_REPORT, read=_read_report)
class MatchReport(LeagueMessage, frozen=True, kw_only=True):
    """A referee's report: the only one that counts."""

    match_id: ClassVar = MATCH_ID
    status: Annotated[ReportStatus, wire(_STATUS)]
    winner_id: Annotated[str | None, wire(ID, none_as=None)]
    """``None``: a draw, or nobody won."""

    is_draw: Annotated[bool, wire(FLAG)]
    scores: tuple[ScoreRow, ...]
    """Player 1 first; empty when the match was cancelled."""

    _scores: ClassVar = DerivedKey(
        key="scores", of=lambda report, _: [_write_score_row(row, report.status) for row in report.scores]
    )

    abort_reason: Annotated[str | None, wire(ID)] = None
    """``player_timeout:<address>``, ``end_round_received`` …; required when aborted."""

    player_states: Annotated[PlayerStates | None, wire(_PLAYER_STATES)] = None
    """Required when aborted; ``None`` when a received one cannot be read."""

    missing: MissingPlayer | None = None
    """Of a single-player game; ``None`` otherwise."""

    single_player_mode: ClassVar = DerivedKey(of=lambda report, _: report.missing and True)
    missing_player: ClassVar = DerivedKey(
        of=lambda report, _: (
            report.missing and ("PLAYER_A" if report.missing.role is AssignmentRole.PLAYER1 else "PLAYER_B")
        )
    )
    missing_player_email: ClassVar = DerivedKey(of=lambda report, _: report.missing and report.missing.email)
    missing_reason: ClassVar = DerivedKey(of=lambda report, _: report.missing and report.missing.reason)

    def refusal(self) -> str | None:
        """The keys of each status (protocol 4.5.1)."""
        is_aborted = self.status is ReportStatus.ABORTED
        if is_aborted != (self.abort_reason is not None) or is_aborted != (self.player_states is not None):
            return "abort_reason and player_states belong to an aborted match, and only to one"
        if (self.status is ReportStatus.COMPLETED_SINGLE_PLAYER) != (self.missing is not None):
            return "the missing player belongs to a single-player match, and only to one"
        expected = 0 if self.status is ReportStatus.CANCELLED_ALL_PLAYERS_MALFUNCTION else 2
        if len(self.scores) != expected:
            return f"{self.status} needs {expected} scores, not {len(self.scores)}"
        for row in self.scores:
            why = points_refusal(row.league_points, row.private_score)
            if why is not None:
                return why
        if self.is_draw and self.winner_id is not None:
            return "a draw has no winner"
        if self.scores and self.winner_id not in {None, *(row.participant_id for row in self.scores)}:
            return f"the winner {self.winner_id!a} is none of the players"
        return None


class PlayerReportStatus(StrEnum):
    """How a game ended for a player."""

    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"


_PLAYER_STATUS = word({status.value.lower(): status for status in PlayerReportStatus}, "COMPLETED or TERMINATED")
_BREAKDOWN = ValueKind(
    find=lambda fields, key: read_breakdown(fields.get(key)), write=write_breakdown, rule="the four component scores"
)


@message(MessageType.MATCH_RESULT_REPORT, is_read=False)
class PlayerReport(LeagueMessage, frozen=True, kw_only=True):
    """A player's report: informational, never scored (4.5.2)."""

    version: ClassVar = constant("1.0")
    match_id: ClassVar = MATCH_ID
    game_id: ClassVar = MATCH_ID
    round_number: Annotated[int | None, wire(ROUND)] = None
    season_id: ClassVar = SEASON_ID
    status: Annotated[PlayerReportStatus, wire(_PLAYER_STATUS, is_required=True)]
    phase_at_termination: Annotated[str, wire(ID, absent="")]
    """``INITIALIZED``, ``WARMUP_COMPLETE``, ``QUESTIONS_SENT``, ``GUESS_SUBMITTED`` or ``COMPLETED``."""

    last_actor: Annotated[str, wire(ID, absent="NONE")]
    """``PLAYER``, ``NONE`` or ``REFEREE``."""

    last_message_sent: Annotated[str, wire(ID, absent="")] = ""
    last_message_received: Annotated[str, wire(ID, absent="")] = ""
    reported_at: Annotated[datetime | None, wire(INSTANT)] = None
    reason: Annotated[str, wire(ID, absent="")]
    """``GAME_COMPLETED``, ``NEW_ROUND_STARTED`` or ``LEAGUE_COMPLETED``."""

    reporter: ClassVar = DerivedKey(of=lambda _, envelope: {"email": envelope.sender.email, "role": Role.PLAYER.value})
    league_points: Annotated[int | None, wire(integer(0, MOST_POINTS))] = None
    private_score: Annotated[float | None, wire(number(0.0, BEST_SCORE))] = None
    breakdown: Annotated[Breakdown | None, wire(_BREAKDOWN)] = None
    """These three only when known."""

    def refusal(self) -> str | None:
        return breakdown_refusal(self.breakdown)
