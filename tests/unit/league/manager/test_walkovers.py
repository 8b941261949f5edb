"""What the players of a match get when one of them, or the referee, was not there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from league_agents.games.q21.model import Termination
from league_agents.games.q21.rules import COURSE, PRD, AbortedPoints, RuleSet
from league_agents.league.machines.effects import Warn
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.state import GameRecord
from league_agents.league.machines.stored import load
from league_agents.league.season.orders import SettlementOrder
from league_agents.league.season.schedule import Pairing
from league_agents.league.season.standings import MatchOutcome, MatchStatus, Standings, points_that_count
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    AssignmentRole,
    MissingPlayer,
    PlayerStates,
    ReportedPlayerState,
    ReportStatus,
)

RESULTS = MessageType.BROADCAST_ROUND_RESULTS
LONG = timedelta(minutes=40)


@pytest.fixture
def office_with(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> Callable[..., Any]:
    """Makes an office of four teams in round 1, two games in each of three rounds."""
    return lambda rules=PRD: office_of(teams=teams_of(4), rules=rules).in_round_one()


def states(one: str, two: str) -> PlayerStates:
    rows = [
        ReportedPlayerState(email="", participant_id="", phase_reached=phase, scored=False, last_actor="referee")
        for phase in (one, two)
    ]
    return PlayerStates(player1=rows[0], player2=rows[1])


def tally(office: Any, team: Any) -> tuple[int, int, int]:
    """Points, wins and games."""
    found = office.state.standings.players[team.group_id]
    return found.points, found.won, found.played


@pytest.mark.parametrize("reason", ["player_timeout", "format_violation"])
@pytest.mark.parametrize(
    ("rules", "reported", "present", "absent"),
    [
        (PRD, (0, 0), (3, 1, 1), (0, 0, 1)),
        (PRD, (2, 0), (3, 1, 1), (0, 0, 1)),  # it was scored before the other fell silent
        (replace(PRD, name="one", walkover_points=1), (2, 0), (2, 1, 1), (0, 0, 1)),  # never less than reported
        (replace(PRD, name="zero", aborted_points=AbortedPoints.ZERO), (2, 1), (3, 1, 1), (0, 0, 1)),
        (COURSE, (2, 0), (2, 1, 1), (0, 0, 1)),
        (COURSE, (0, 0), (0, 0, 1), (0, 0, 1)),
    ],
)
def test_who_was_there_wins_against_a_silent_player(
    office_with: Callable[..., Any], report_of: Callable[..., Any], reason: str, rules: RuleSet,
    reported: tuple[int, int], present: tuple[int, int, int], absent: tuple[int, int, int],
) -> None:  # fmt: skip
    office = office_with(rules)
    first, second = office.games()
    why = f"{reason}:{first.player2.player_email.upper()}"
    office.report(first, payload=report_of(first, reported, ReportStatus.ABORTED, abort_reason=why))
    (record,) = office.records("match")
    assert record.facts["absent"] == ["player2"]
    assert record.termination.value == reason
    office.report(second)
    assert tally(office, first.player1) == present
    assert tally(office, first.player2) == absent
    (results,) = office.sent(RESULTS)
    row = next(each for each in results.envelope.payload.results if each.game_id == first.game_id)
    assert (row.player1_score, row.player2_score) == (present[0], absent[0])
    assert row.winner_id == (first.player1.group_id if present[1] else None)


@pytest.mark.parametrize(
    ("one", "two", "absent"),
    [
        ("warmup_sent", "warmup_sent", ["player1", "player2"]),
        ("round_started", "round_started", ["player1", "player2"]),
        ("warmup_sent", "warmup_answered", ["player1"]),
        ("answers_received", "answers_received", ["player1"]),  # each has a deadline of its own for the guess
    ],
)
def test_two_silent_players_are_both_absent_and_nobody_wins(
    office_with: Callable[..., Any], report_of: Callable[..., Any], one: str, two: str, absent: list[str]
) -> None:
    office = office_with()
    game, _other = office.games()
    why = f"player_timeout:{game.player1.player_email}"
    report = report_of(game, (0, 0), ReportStatus.ABORTED, abort_reason=why, player_states=states(one, two))
    office.report(game, payload=report)
    (record,) = office.records("match")
    assert record.facts["absent"] == absent
    assert record.facts["winner_id"] == (None if len(absent) == 2 else game.player2.group_id)
    assert record.facts["is_walkover"] is (len(absent) == 1)


def test_an_abort_that_names_nobody_of_the_match_counts_as_reported(
    office_with: Callable[..., Any], report_of: Callable[..., Any]
) -> None:
    office = office_with()
    first, second = office.games()
    for game, why in ((first, "player_timeout:stranger@example.com"), (second, "end_round_received")):
        office.report(game, payload=report_of(game, (2, 0), ReportStatus.ABORTED, abort_reason=why))
        (record,) = office.records("match")
        assert (record.facts["absent"], record.facts["is_walkover"]) == ([], False)
    assert tally(office, first.player1) == (2, 1, 1)


def test_who_had_not_answered_when_the_round_ended_is_named_and_nothing_counts_for_it(
    office_with: Callable[..., Any], report_of: Callable[..., Any]
) -> None:
    office = office_with()
    game, _other = office.games()
    cut = states("warmup_answered", "warmup_sent")
    office.report(
        game,
        payload=report_of(game, (0, 0), ReportStatus.ABORTED, abort_reason="end_round_received", player_states=cut),
    )
    said = f"the round ended before an answer of {game.player2.group_id} (warmup_sent)"
    assert any(said in warned.text for warned in office.of(Warn))
    (record,) = office.records("match")
    assert (record.facts["absent"], record.facts["winner_id"]) == ([], None)


def test_who_was_alone_from_the_start_wins_and_the_absent_keeps_what_the_rules_give_it(
    office_with: Callable[..., Any], report_of: Callable[..., Any]
) -> None:
    office = office_with()
    first, second = office.games()
    missing = MissingPlayer(role=AssignmentRole.PLAYER2, email=first.player2.player_email)
    status = ReportStatus.COMPLETED_SINGLE_PLAYER
    office.report(first, payload=report_of(first, (0, 1), status, missing=missing, winner_id=None))
    office.report(second)
    assert (tally(office, first.player1), tally(office, first.player2)) == ((3, 1, 1), (1, 0, 1))


def test_both_players_get_the_points_of_a_match_that_nobody_reported_and_nobody_wins(
    office_with: Callable[..., Any],
) -> None:
    office = office_with()
    first, second = office.games()
    office.report(second)
    office.wait(LONG)
    record = next(each for each in office.records("match", office.history) if each.key == first.game_id)
    assert (record.termination, record.facts["absent"]) == (Termination.NO_REPORT, ["referee"])
    assert (tally(office, first.player1), tally(office, first.player2)) == ((3, 0, 1), (3, 0, 1))
    # Each referee judges one of the two games of a round; the silent one has a duty that it did not do.
    assert office.state.standings.referees[first.referee.group_id].unreported == 1
    # A late report takes all of it back.
    office.report(first, (1, 2))
    assert (tally(office, first.player1), tally(office, first.player2)) == ((1, 0, 1), (2, 1, 1))
    assert office.state.standings.referees[first.referee.group_id].unreported == 0


def test_a_player_that_never_sent_anything_gets_nothing_for_a_silent_referee(office_with: Callable[..., Any]) -> None:
    office = office_with()
    first, second = office.games()
    member = office.manager.roster.member(first.player2.player_email)
    unheard = replace(office.state.attendance[member.index], is_heard=False)
    rows = office.state.attendance
    office.state = replace(office.state, attendance=(*rows[: member.index], unheard, *rows[member.index + 1 :]))
    office.report(second)
    office.wait(LONG)
    assert (tally(office, first.player1), tally(office, first.player2)) == ((3, 1, 1), (0, 0, 1))
    record = next(each for each in office.records("match", office.history) if each.key == first.game_id)
    assert record.facts["absent"] == ["player2", "referee"]


def test_an_identical_report_of_a_walkover_is_a_repeat_also_after_an_update_of_the_program(
    office_with: Callable[..., Any], report_of: Callable[..., Any]
) -> None:
    office = office_with()
    game, other = office.games()
    why = f"player_timeout:{game.player2.player_email}"
    report = report_of(game, (0, 0), ReportStatus.ABORTED, abort_reason=why)
    office.report(game, payload=report)
    office.report(game, payload=report)
    assert (office.warnings(), office.effects) == ([], [])
    # As version 0.1.0 stored it.
    former = MatchOutcome(status=MatchStatus.ABORTED, private_scores=(0.25, 0.25), reason=why)
    place = office.games().index(game)
    games = tuple(GameRecord(outcome=former) if at == place else each for at, each in enumerate(office.state.games))
    office.state = replace(office.state, games=games)
    office.report(game, payload=report)
    assert office.warnings() == []
    office.report(other)
    assert tally(office, game.player1) == (0, 0, 1)  # it counts as it was taken in


@pytest.mark.parametrize("status", [MatchStatus.NO_REPORT, MatchStatus.ABORTED])
def test_an_outcome_of_an_old_journal_is_taken_back_as_it_was_counted(office: Any, status: MatchStatus) -> None:
    (game,) = office.in_round_one().games()
    former = MatchOutcome(status=status, reason=f"player_timeout:{game.player1.player_email}")
    counted = Standings().with_matches([(game, former)], PRD)
    assert {tally.points for tally in counted.players.values()} <= {0}
    gone = counted.with_matches([], PRD, without=[(game, former)])
    assert {tally.points for tally in gone.players.values()} <= {0}
    assert {tally.played for tally in gone.players.values()} <= {0}


def test_a_stored_match_of_version_0_1_0_is_read_and_counts_as_it_did() -> None:
    found: GameRecord = load(
        GameRecord, '{"outcome":{"status":"no_report"},"player_reports":["COMPLETED",null]}', "game/1"
    )
    assert found.counted is not None
    assert (found.counted.absent, found.counted.awarded, found.counted.is_walkover) == ((), None, False)
    assert points_that_count(found.counted, PRD) == (0, 0)


def test_a_settled_match_goes_back_to_its_walkover(office_with: Callable[..., Any]) -> None:
    office = office_with()
    first, second = office.games()
    office.report(second)
    office.wait(LONG)
    before = office.state.standings
    for command in (Command.ANNUL, Command.REINSTATE):
        office.command(command, SettlementOrder(about=first.game_id, why="looked at").to_text())
    assert office.state.standings == before
    (told,) = office.sent(MessageType.BROADCAST_FREE_TEXT)
    assert "now counts as no_report 3:3" in told.envelope.payload.message_text


def test_a_withdrawal_and_an_annulment_have_names_of_their_own(office_with: Callable[..., Any]) -> None:
    office = office_with()
    first, second = office.games()
    gone: Pairing = first
    office.command(Command.WITHDRAW, SettlementOrder(about=gone.player1.group_id, why="left").to_text())
    (record,) = office.records("match")
    assert (record.termination, record.facts["absent"]) == (Termination.WALKOVER, ["player1"])
    assert (record.facts["is_walkover"], record.facts["winner_id"]) == (True, gone.player2.group_id)
    office.command(Command.ANNUL, SettlementOrder(about=second.game_id, why="a wrong book").to_text())
    assert office.records("match")[0].termination is Termination.ANNULLED
