"""Whose report counts, which one, and when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from league_agents.games.q21.model import Feedback, Termination
from league_agents.games.q21.rules import COURSE, PRD, AbortedPoints
from league_agents.kit.violation import Violation
from league_agents.league.machines.effects import Record, Send
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.orders import SettlementOrder
from league_agents.league.season.standings import MatchStatus
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    AssignmentRole,
    BrokenPayload,
    ErrorResponse,
    MissingPlayer,
    PlayerReportStatus,
    ReportStatus,
)

BROKEN = BrokenPayload(violations=(Violation(path="scores", rule="a list of two rows", found="None"),))


@pytest.fixture
def playing(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> Any:
    """Four teams in round 1: two games, so that the round stays open after one report."""
    return office_of(teams=teams_of(4)).in_round_one()


def error(office: Any) -> tuple[str, tuple[str, ...]]:
    (send,) = office.of(Send)
    assert isinstance(send.envelope.payload, ErrorResponse)
    assert send.envelope.payload.original_message_type == "MATCH_RESULT_REPORT"
    return send.envelope.payload.error_code, send.to


def test_a_report_is_recorded_without_feedback(playing: Any, report_of: Callable[..., Any]) -> None:
    game = playing.games()[0]
    report = report_of(game, (2, 1))
    feedback = Feedback(opening_sentence="It began with a secret", associative_word="amber")
    report = replace(report, scores=tuple(replace(row, feedback=feedback) for row in report.scores))
    playing.report(game, payload=report)
    (record,) = playing.effects
    assert (record.kind, record.key, record.termination) == ("match", game.game_id, Termination.COMPLETED)
    assert record.facts["winner_id"] == game.player1.group_id
    assert record.facts["players"] == [
        {
            "id": team.group_id,
            "email": team.player_email,
            "role": role,
            "league_points": points,
            "counted_points": points,
            "private_score": points * 30 + 0.25,
            "own_report": None,
        }
        for team, role, points in ((game.player1, "player1", 2), (game.player2, "player2", 1))
    ]
    assert "secret" not in repr(playing.state) + repr(record)
    assert "amber" not in repr(playing.state) + repr(record)


def test_a_report_rewrites_one_small_part(playing: Any) -> None:
    game = playing.games()[0]
    before = playing.manager.parts(playing.state)
    playing.report(game)
    after = playing.manager.parts(playing.state)
    assert [name for name, part in after.items() if before.get(name) is not part] == [f"game/{game.game_id}"]


@pytest.mark.parametrize("new_message", [False, True])
def test_an_identical_repeat_is_ignored(playing: Any, new_message: bool) -> None:
    game = playing.games()[0]
    playing.report(game, message_id="result-1")
    before = playing.state
    assert playing.report(game, message_id="result-2" if new_message else "result-1") == []
    assert playing.state is before


def test_a_different_later_report_is_left_to_a_person(playing: Any) -> None:
    game = playing.games()[0]
    playing.report(game, (2, 1))
    before = playing.state
    playing.report(game, (0, 3))
    playing.report(game, (2, 1), status=ReportStatus.ABORTED)
    assert playing.state is before
    assert playing.warnings(playing.history) == ["report_conflict", "report_conflict"]
    assert playing.records("match") == []


@pytest.mark.parametrize("status", [ReportStatus.COMPLETED, ReportStatus.COMPLETED_SINGLE_PLAYER])
def test_a_played_game_replaces_an_aborted_one(playing: Any, status: ReportStatus) -> None:
    game = playing.games()[0]
    playing.report(game, (0, 0), status=ReportStatus.ABORTED)
    playing.report(game, (2, 1), status=status)
    (record,) = playing.records("match")
    assert (record.facts["status"], record.facts["replaces"]) == (status.value, "aborted")
    playing.report(game, (0, 0), status=ReportStatus.ABORTED)
    assert playing.warnings() == ["report_conflict"]


@pytest.mark.parametrize(
    ("reason", "termination"),
    [
        ("player_timeout:otter@example.com", Termination.PLAYER_TIMEOUT),
        ("format_violation:otter@example.com", Termination.FORMAT_VIOLATION),
        ("new_round_started", Termination.NEW_ROUND_STARTED),
        ("end_round_received", Termination.END_ROUND_RECEIVED),
        ("league_completed", Termination.LEAGUE_COMPLETED),
        ("referee_failure:get_answers", Termination.REFEREE_FAILURE),
        ("abandoned by the referee", Termination.REFEREE_FAILURE),  # nobody defined it
        ("completed", Termination.REFEREE_FAILURE),  # no reason to abort anything
        ("cut_off", Termination.REFEREE_FAILURE),
        (None, Termination.REFEREE_FAILURE),
    ],
)
def test_every_abort_reason_is_understood(
    playing: Any, report_of: Callable[..., Any], reason: str | None, termination: Termination
) -> None:
    game = playing.games()[0]
    playing.report(game, payload=report_of(game, (1, 1), ReportStatus.ABORTED, abort_reason=reason))
    (record,) = playing.records("match")
    assert record.termination is termination
    assert record.facts["abort_reason"] == reason


def test_the_course_counts_a_single_player_game_as_reported_and_the_absent_never_wins(
    office_of: Callable[..., Any], teams_of: Callable[[int], Any], report_of: Callable[..., Any]
) -> None:
    playing = office_of(teams=teams_of(4), rules=COURSE).in_round_one()
    first, second = playing.games()
    for game, points in ((first, (2, 1)), (second, (0, 1))):
        missing = MissingPlayer(role=AssignmentRole.PLAYER2, email=game.player2.player_email)
        playing.report(game, payload=report_of(game, points, ReportStatus.COMPLETED_SINGLE_PLAYER, missing=missing))
    assert playing.warnings(playing.history) == ["odd_report"]
    assert playing.points() == {
        first.player1.group_id: 2,
        first.player2.group_id: 1,
        second.player1.group_id: 0,
        second.player2.group_id: 1,
    }
    assert playing.state.standings.players[second.player2.group_id].won == 0
    assert playing.records("match", playing.history)[0].facts["missing_player"] == "player2"


def test_a_cancelled_game_brings_nothing(playing: Any, report_of: Callable[..., Any]) -> None:
    first, second = playing.games()
    cancelled = report_of(
        first, (0, 0), ReportStatus.CANCELLED_ALL_PLAYERS_MALFUNCTION, scores=(), winner_id=None, is_draw=True
    )
    playing.report(first, payload=cancelled)
    assert playing.records("match")[0].termination is Termination.CANCELLED
    playing.report(second)
    assert first.player1.group_id not in playing.points()


def test_the_rules_decide_whether_aborted_games_count(office_of: Callable[..., Any]) -> None:
    office = office_of(rules=replace(PRD, name="strict", aborted_points=AbortedPoints.ZERO)).in_round_one()
    (game,) = office.games()
    office.report(game, (3, 1), status=ReportStatus.ABORTED)
    assert set(office.points().values()) == {0}
    (results,) = office.sent(MessageType.BROADCAST_ROUND_RESULTS)
    assert results.envelope.payload.results[0].player1_score == 0


@pytest.mark.parametrize("sender", ["other referee", "player"])
def test_only_the_assigned_referee_is_believed(playing: Any, sender: str) -> None:
    game, other = playing.games()
    address = other.referee.referee_email if sender == "other referee" else game.player1.player_email
    playing.report(game, (3, 0), sender=address)
    assert error(playing) == ("UNAUTHORIZED", (address,))
    assert all(record.outcome is None for record in playing.state.games)


def test_the_referee_is_known_in_any_letter_case(playing: Any) -> None:
    game = playing.games()[0]
    playing.report(game, sender=game.referee.referee_email.upper())
    assert playing.state.games[0].outcome is not None


@pytest.mark.parametrize(
    ("game_id", "code"), [("0309001", "INVALID_STATE"), ("0302001", "INVALID_STATE"), ("0401001", "INVALID_STATE")]
)
def test_a_report_of_no_open_game_is_refused(playing: Any, game_id: str, code: str) -> None:
    game = playing.games()[0]
    playing.report(game, game_id=game_id)
    assert error(playing)[0] == code


def test_a_report_before_there_is_a_season_is_refused(office: Any, office_of: Callable[..., Any]) -> None:
    game = office_of().in_round_one().games()[0]
    office.open().report(game)
    assert error(office)[0] == "INVALID_STATE"


def test_a_broken_report_is_answered_and_the_next_one_counts(playing: Any) -> None:
    game = playing.games()[0]
    playing.report(game, payload=BROKEN)
    assert error(playing) == ("INVALID_MESSAGE", (game.referee.referee_email,))
    playing.report(game)
    assert playing.state.games[0].outcome is not None


def test_errors_are_not_sent_for_ever(playing: Any) -> None:
    game = playing.games()[0]
    sent = [len(playing.of(Send, playing.report(game, payload=BROKEN))) for _ in range(12)]
    assert sent == [1] * 10 + [0] * 2


def test_a_report_without_envelope_ids_is_still_understood(playing: Any, report_of: Callable[..., Any]) -> None:
    """Scores are found by address, by group, and never by guessing; a winner must be one of the two."""
    game = playing.games()[0]
    report = report_of(game, (3, 1))
    one, two = report.scores
    swapped = (replace(two, email="", participant_id=game.player2.group_id), replace(one, participant_id="somebody"))
    playing.report(game, payload=replace(report, scores=swapped, winner_id=game.player1.player_email.upper()))
    outcome = playing.state.games[0].outcome
    assert outcome.league_points == (3, 1)
    assert outcome.winner is AssignmentRole.PLAYER1


def test_scores_and_winners_of_others_count_for_nobody(playing: Any, report_of: Callable[..., Any]) -> None:
    game = playing.games()[0]
    report = report_of(game, (3, 1))
    rows = (replace(report.scores[0], email="x@example.com", participant_id="x"), report.scores[1])
    playing.report(game, payload=replace(report, scores=rows, winner_id="x"))
    outcome = playing.state.games[0].outcome
    assert (outcome.league_points, outcome.winner) == ((0, 1), None)
    assert playing.warnings() == ["odd_report", "odd_report"]


def test_a_report_for_a_closed_round_is_still_recorded(office: Any) -> None:
    office.in_round_one()
    (game,) = office.games()
    office.wait(timedelta(minutes=32))
    assert office.state.season.label == "ROUND(2)"
    office.report(game, (2, 1))
    (record,) = office.records("match")
    assert (record.facts["is_late"], record.facts["replaces"]) == (True, "no_report")
    assert office.points() == {game.player1.group_id: 2, game.player2.group_id: 1}
    assert office.state.standings.referees[game.referee.group_id].unreported == 0
    assert office.warnings() == ["late_report"]
    (results,) = office.of(Send)
    assert len(results.to) == 6
    (row,) = results.envelope.payload.results
    assert (row.game_id, row.status, row.player1_score, row.player2_score) == (game.game_id, "completed", 2, 1)
    assert {each.participant_id: each.total_points for each in results.envelope.payload.standings} == {
        **dict.fromkeys((team.group_id for team in office.config.teams), 0), **office.points()
    }  # fmt: skip
    assert office.state.closed[0].games[0].outcome.status is MatchStatus.COMPLETED


def test_two_late_reports_of_a_match_that_count_are_announced_under_two_ids(playing: Any) -> None:
    game = playing.games()[0]
    playing.wait(timedelta(minutes=32))
    ids = []
    for status, points in ((ReportStatus.ABORTED, (1, 1)), (ReportStatus.COMPLETED, (3, 0))):
        playing.report(game, points, status=status)
        ids += [send.envelope.message_id for send in playing.of(Send)]
    assert len(ids) == len(set(ids)) == 2
    assert playing.points()[game.player1.group_id] == 3


@pytest.mark.parametrize(("command", "points"), [(Command.REINSTATE, (0, 2)), (Command.CORRECT, (1, 1))])
def test_a_report_after_the_season_is_evidence_until_the_organiser_settles_it(
    office: Any, command: Command, points: tuple[int, int]
) -> None:
    office.in_round_one()
    (game,) = office.games(3)
    office.wait(timedelta(days=1))
    assert office.state.season.phase is SeasonPhase.FINISHED
    before = office.state.standings
    office.now += timedelta(days=90)
    office.report(game, (0, 2))
    assert office.state.standings == before
    assert office.warnings() == ["late_report"]
    assert (office.of(Send), office.of(Record)) == ([], [])
    office.report(game, (0, 2))
    assert office.effects == []
    office.report(game, (0, 3))
    assert office.warnings() == ["report_conflict"]
    stated = points if command is Command.CORRECT else None
    office.command(command, SettlementOrder(about=game.game_id, why="they were ill", points=stated).to_text())
    one, two = (office.points()[team.group_id] for team in (game.player1, game.player2))
    assert (one - 3, two - 3) == points  # each has 3 points of its other match, which nobody reported
    assert [send.envelope.message_type for send in office.of(Send)] == [
        MessageType.BROADCAST_ROUND_RESULTS, MessageType.BROADCAST_FREE_TEXT
    ]  # fmt: skip
    assert len(office.records("season")) == 1


def test_a_player_scores_nothing_and_completed_stays(playing: Any) -> None:
    game = playing.games()[0]
    one, two = game.player1.player_email, game.player2.player_email
    playing.player_report(game, one, PlayerReportStatus.COMPLETED)
    playing.player_report(game, one, PlayerReportStatus.TERMINATED)
    playing.player_report(game, two, PlayerReportStatus.TERMINATED)
    assert playing.state.games[0].player_reports == (PlayerReportStatus.COMPLETED, PlayerReportStatus.TERMINATED)
    assert playing.state.awaited == 2
    assert playing.of(Send, playing.effects) == []
    playing.wait(timedelta(minutes=32))
    record = playing.records("match")[0]
    assert record.termination is Termination.NO_REPORT
    assert [player["own_report"] for player in record.facts["players"]] == ["COMPLETED", "TERMINATED"]
    playing.player_report(game, two, PlayerReportStatus.COMPLETED)
    assert playing.state.closed[0].games[0].player_reports[1] is PlayerReportStatus.COMPLETED


def test_a_player_report_of_somebody_elses_game_is_refused(playing: Any) -> None:
    game, other = playing.games()
    playing.player_report(game, other.player1.player_email, PlayerReportStatus.COMPLETED)
    assert error(playing)[0] == "UNAUTHORIZED"


def test_a_player_report_after_the_referees_changes_nothing(playing: Any) -> None:
    game = playing.games()[0]
    playing.report(game)
    before = playing.state
    playing.player_report(game, game.player1.player_email, PlayerReportStatus.COMPLETED)
    assert playing.state is before


def test_a_report_of_before_a_reset_is_not_taken_for_now(playing: Any) -> None:
    game = playing.games()[0]
    stale = "SEASON_2031-05-02_R1"
    playing.command(Command.RESET, "a mistake")
    playing.in_round_one()
    (send,) = playing.sent(MessageType.BROADCAST_NEW_LEAGUE_ROUND)
    assert send.envelope.round_id == f"{stale}_1"
    playing.report(game, round_id=stale)
    assert playing.warnings() == ["stale_report"]
    assert playing.state.games[0].outcome is None
    playing.report(game, round_id=f"{stale}_1")
    assert playing.state.games[0].outcome is not None
