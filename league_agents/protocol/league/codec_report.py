"""Match reports: how both kinds are told apart, read and written (protocol 4.5).

Rule: what decides points is read strictly. A report with a score that is no score is unusable as a whole, never mended.
"""

from __future__ import annotations

from league_agents.core.violation import Violation, shown
from league_agents.protocol.league.address import read_address
from league_agents.protocol.league.codec_game import (
    BEST_SCORE,
    MOST_POINTS,
    check_points,
    match_id,
    read_breakdown,
    read_feedback,
    write_breakdown,
    write_feedback,
)
from league_agents.protocol.league.codec_opening import assignment_role_of
from league_agents.protocol.league.codec_rounds import MOST_ROUNDS
from league_agents.protocol.league.envelope import Envelope
from league_agents.protocol.league.kinds import Role
from league_agents.protocol.league.messages import (
    AssignmentRole,
    BrokenPayload,
    MatchReport,
    MissingPlayer,
    PlayerReport,
    PlayerReportStatus,
    PlayerState,
    PlayerStates,
    ReportStatus,
    ScoreRow,
)
from league_agents.protocol.league.reading import (
    Fields,
    broken,
    first_id,
    flag_of,
    id_of,
    instant_of,
    integer_of,
    list_of,
    number_of,
    object_of,
)
from league_agents.protocol.league.writing import Document, present, refuse, stamp_or_none

_MOST_ROWS = 10
"""There are two; more are read so that the league manager can say what is wrong."""

_STATUS = {status.value.lower(): status for status in ReportStatus}
_PLAYER_STATUS = {status.value.lower(): status for status in PlayerReportStatus}
_WITH_FEEDBACK = (ReportStatus.COMPLETED, ReportStatus.COMPLETED_SINGLE_PLAYER)


def read_report(fields: Fields, role: Role | None) -> MatchReport | PlayerReport | BrokenPayload:
    """The report of a referee or of a player: by role, without one by the presence of ``scores``."""
    if role is Role.PLAYER or (role is not Role.REFEREE and "scores" not in fields):
        return _read_player_report(fields)
    return _read_match_report(fields)


def _read_match_report(fields: Fields) -> MatchReport | BrokenPayload:
    status = _STATUS.get((id_of(fields.get("status")) or "").lower(), ReportStatus.ABORTED)
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
        player_states=_read_player_states(fields.get("player_states")),
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


def _read_player_states(value: object) -> PlayerStates | None:
    fields = object_of(value)
    if fields is None:
        return None
    first, second = _read_player_state(fields.get("player1")), _read_player_state(fields.get("player2"))
    return None if first is None or second is None else PlayerStates(player1=first, player2=second)


def _read_player_state(value: object) -> PlayerState | None:
    fields = object_of(value)
    if fields is None:
        return None
    return PlayerState(
        email=read_address(fields.get("email")) or "",
        participant_id=id_of(fields.get("participant_id")) or "",
        phase_reached=id_of(fields.get("phase_reached")) or "not_initialized",
        scored=flag_of(fields.get("scored")) or False,
        last_actor=id_of(fields.get("last_actor")) or "none",
    )


def _read_missing(fields: Fields) -> MissingPlayer | None:
    role = assignment_role_of(fields.get("missing_player"))
    if role is None or role is AssignmentRole.REFEREE:
        return None
    return MissingPlayer(
        role=role,
        email=read_address(fields.get("missing_player_email")) or "",
        reason=id_of(fields.get("missing_reason")) or "MALFUNCTION",
    )


def write_match_report(payload: MatchReport, envelope: Envelope) -> Document:
    _check_match_report(payload, envelope)
    document: Document = {
        "match_id": match_id(envelope),
        "status": payload.status.value,
        "winner_id": payload.winner_id,
        "is_draw": payload.is_draw,
        "scores": [_write_score_row(row, payload.status) for row in payload.scores],
    }
    document |= present(abort_reason=payload.abort_reason)
    states = payload.player_states
    if states is not None:
        document["player_states"] = {
            "player1": _write_player_state(states.player1),
            "player2": _write_player_state(states.player2),
        }
    missing = payload.missing
    if missing is not None:
        document["single_player_mode"] = True
        document["missing_player"] = "PLAYER_A" if missing.role is AssignmentRole.PLAYER1 else "PLAYER_B"
        document["missing_player_email"] = missing.email
        document["missing_reason"] = missing.reason
    return document


def _check_match_report(payload: MatchReport, envelope: Envelope) -> None:
    """The keys of each status (protocol 4.5.1)."""
    is_aborted = payload.status is ReportStatus.ABORTED
    if is_aborted != (payload.abort_reason is not None) or is_aborted != (payload.player_states is not None):
        raise refuse(envelope, "abort_reason and player_states belong to an aborted match, and only to one")
    if (payload.status is ReportStatus.COMPLETED_SINGLE_PLAYER) != (payload.missing is not None):
        raise refuse(envelope, "the missing player belongs to a single-player match, and only to one")
    expected = 0 if payload.status is ReportStatus.CANCELLED_ALL_PLAYERS_MALFUNCTION else 2
    if len(payload.scores) != expected:
        raise refuse(envelope, f"{payload.status} needs {expected} scores, not {len(payload.scores)}")
    for row in payload.scores:
        check_points(envelope, row.league_points, row.private_score)
    if payload.is_draw and payload.winner_id is not None:
        raise refuse(envelope, "a draw has no winner")
    if payload.scores and payload.winner_id not in {None, *(row.participant_id for row in payload.scores)}:
        raise refuse(envelope, f"the winner {payload.winner_id!a} is none of the players")


def _write_score_row(row: ScoreRow, status: ReportStatus) -> Document:
    document: Document = {
        "participant_id": row.participant_id,
        "email": row.email,
        "league_points": row.league_points,
        "private_score": row.private_score,
    }
    if row.feedback is not None or status in _WITH_FEEDBACK:
        document["feedback"] = None if row.feedback is None else write_feedback(row.feedback)
    return document | present(score_reason=row.score_reason)


def _write_player_state(state: PlayerState) -> Document:
    return {
        "email": state.email,
        "participant_id": state.participant_id,
        "phase_reached": state.phase_reached,
        "scored": state.scored,
        "last_actor": state.last_actor,
    }


def _read_player_report(fields: Fields) -> PlayerReport | BrokenPayload:
    status = _PLAYER_STATUS.get((id_of(fields.get("status")) or "").lower())
    if status is None:
        return broken("status", "COMPLETED or TERMINATED", fields.get("status"))
    return PlayerReport(
        status=status,
        phase_at_termination=id_of(fields.get("phase_at_termination")) or "",
        last_actor=id_of(fields.get("last_actor")) or "NONE",
        reason=id_of(fields.get("reason")) or "",
        round_number=integer_of(fields.get("round_number"), 1, MOST_ROUNDS),
        last_message_sent=first_id(fields, "last_message_sent") or "",
        last_message_received=first_id(fields, "last_message_received") or "",
        reported_at=instant_of(fields.get("reported_at")),
        league_points=integer_of(fields.get("league_points"), 0, MOST_POINTS),
        private_score=number_of(fields.get("private_score"), 0.0, BEST_SCORE),
        breakdown=read_breakdown(fields.get("breakdown")),
    )


def write_player_report(payload: PlayerReport, envelope: Envelope) -> Document:
    game_id = match_id(envelope)
    return present(
        version="1.0",
        match_id=game_id,
        game_id=game_id,
        round_number=payload.round_number,
        season_id=envelope.season_id,
        status=payload.status.value,
        phase_at_termination=payload.phase_at_termination,
        last_actor=payload.last_actor,
        last_message_sent=payload.last_message_sent,
        last_message_received=payload.last_message_received,
        reported_at=stamp_or_none(payload.reported_at),
        reason=payload.reason,
        reporter={"email": envelope.sender.email, "role": Role.PLAYER.value},
        league_points=payload.league_points,
        private_score=payload.private_score,
        breakdown=None if payload.breakdown is None else write_breakdown(payload.breakdown, envelope),
    )
