"""The end of a match: the referee's report, and the record for people (protocol 4.5.1, 5.3.5 and 5.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from league_agents.games.q21.as_json import (
    answers_as_json,
    breakdown_as_json,
    brief_as_json,
    feedback_as_json,
    guess_as_json,
    question_as_json,
)
from league_agents.games.q21.flow import SeatPhase, winner_of
from league_agents.games.q21.model import Scorecard, Termination
from league_agents.games.q21.rules import RuleSet
from league_agents.league.machines.referee.match_state import Abort, MatchPlayer, OpenMatch
from league_agents.league.wire.messages import (
    TECHNICAL_LOSS,
    MatchReport,
    MissingPlayer,
    PlayerStates,
    ReportedPlayerState,
    ReportStatus,
    ScoreRow,
)


def player_states(match: OpenMatch) -> PlayerStates:
    """The progress of both players."""
    return PlayerStates(player1=_state(match.player1), player2=_state(match.player2))


def _state(seat: MatchPlayer) -> ReportedPlayerState:
    return ReportedPlayerState(
        email=seat.email,
        participant_id=seat.participant_id,
        phase_reached=seat.phase.value,
        scored=seat.phase is SeatPhase.SCORED,
        last_actor=seat.last_actor,
    )


def match_report(match: OpenMatch, rules: RuleSet) -> MatchReport:
    """The report of a match that was completed or aborted."""
    abort, missing = match.abort, match.missing
    rows = tuple(_score_row(seat, rules, with_feedback=abort is None) for seat in match.seats)
    winner = winner_of(match)
    if abort is not None:
        status = ReportStatus.ABORTED
    else:
        status = ReportStatus.COMPLETED if missing is None else ReportStatus.COMPLETED_SINGLE_PLAYER
    return MatchReport(
        status=status,
        winner_id=None if winner is None else rows[winner].participant_id,
        is_draw=winner is None and missing is None,
        scores=rows,
        abort_reason=abort.reason if abort else None,
        player_states=abort.player_states if abort else None,
        missing=None if missing is None or abort is not None else MissingPlayer(role=missing.role, email=missing.email),
    )


CANCELLED_REPORT = MatchReport(
    status=ReportStatus.CANCELLED_ALL_PLAYERS_MALFUNCTION, winner_id=None, is_draw=True, scores=()
)
"""The report of a match without present players (protocol 5.4)."""


def _score_row(seat: MatchPlayer, rules: RuleSet, *, with_feedback: bool) -> ScoreRow:
    if not seat.is_present:
        return ScoreRow(
            participant_id=seat.participant_id,
            email=seat.email,
            league_points=rules.absent_points,
            private_score=0.0,
            score_reason=TECHNICAL_LOSS,
        )
    card = seat.scorecard
    return ScoreRow(
        participant_id=seat.participant_id,
        email=seat.email,
        league_points=card.league_points if card else 0,
        private_score=card.private_score if card else 0.0,
        feedback=card.feedback if card and with_feedback else None,
    )


def match_facts(match: OpenMatch, report: MatchReport, referee_id: str) -> Mapping[str, object]:
    """The match as JSON values, for the record. It contains the target, because the match is over."""
    target, brief, abort = match.target, match.brief, match.abort
    return {
        "game_id": match.game_id,
        "season_id": match.season_id,
        "round_number": match.round_number,
        "referee_id": referee_id,
        "status": report.status.value,
        "winner_id": report.winner_id,
        "is_draw": report.is_draw,
        "abort_reason": report.abort_reason,
        "caused_by": match.seat(abort.culprits[0]).participant_id if abort and abort.culprits else None,
        "warmup_question": match.warmup_question,
        "brief": None if brief is None else brief_as_json(brief),
        "target": None
        if target is None
        else {
            "book_name": target.book_name,
            "opening_sentence": target.opening_sentence,
            "associative_word": target.associative_word,
        },
        "players": [_player_facts(match, seat, row) for seat, row in zip(match.seats, report.scores, strict=True)],
    }


def _player_facts(match: OpenMatch, seat: MatchPlayer, row: ScoreRow) -> dict[str, object]:
    return {
        "id": seat.participant_id,
        "email": seat.email,
        "role": seat.role.value,
        "termination": termination_of(seat, match.abort).value,
        "phase": seat.phase.value,
        "league_points": row.league_points,
        "private_score": row.private_score,
        "warmup_answer": seat.warmup_answer,
        "questions": [question_as_json(question) for question in seat.questions],
        "answers": answers_as_json(seat.answers),
        "guess": None if seat.guess is None else guess_as_json(seat.guess),
        "scorecard": None
        if seat.scorecard is None
        else {**scorecard_as_json(seat.scorecard), "is_judged": seat.scorecard.is_judged},
    }


def termination_of(seat: MatchPlayer, abort: Abort | None) -> Termination:
    """How the match ended for one player. A cause outside both players counts for both."""
    if not seat.is_present:
        return Termination.ABSENT
    if seat.phase is SeatPhase.SCORED or abort is None:
        return Termination.COMPLETED
    if abort.culprits and seat.role not in abort.culprits:
        return Termination.CUT_OFF
    return abort.termination


def cancelled_facts(match: OpenMatch, referee_id: str) -> Mapping[str, object]:
    """The record of a match without present players."""
    return {
        "game_id": match.game_id,
        "season_id": match.season_id,
        "round_number": match.round_number,
        "referee_id": referee_id,
        "status": CANCELLED_REPORT.status.value,
        "winner_id": None,
        "is_draw": True,
        "abort_reason": None,
        "players": [
            {
                "id": seat.participant_id,
                "email": seat.email,
                "role": seat.role.value,
                "termination": Termination.ABSENT.value,
            }
            for seat in match.seats
        ],
    }


def scorecard_as_json(card: Scorecard) -> dict[str, object]:
    """A score with the keys of protocol 4.4.7."""
    breakdown, feedback = card.breakdown, card.feedback
    return {
        "league_points": card.league_points,
        "private_score": card.private_score,
        "breakdown": {} if breakdown is None else breakdown_as_json(breakdown),
        "feedback": {} if feedback is None else feedback_as_json(feedback),
    }


def abort_of(
    match: OpenMatch, termination: Termination, *, culprits: Sequence[MatchPlayer] = (), callback: str = ""
) -> Abort:
    """The abort with its reason and the players' progress at the moment in which the match is frozen."""
    reason = termination.value
    if culprits:
        reason = f"{reason}:{culprits[0].email}"
    elif callback:
        reason = f"{reason}:{callback}"
    return Abort(
        termination=termination,
        reason=reason,
        culprits=tuple(culprit.role for culprit in culprits),
        player_states=player_states(match),
    )
