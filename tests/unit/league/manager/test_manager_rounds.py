"""Rounds, their ends, and the end of the season."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from league_agents.games.q21.model import Termination
from league_agents.games.q21.rules import COURSE
from league_agents.league.machines.effects import ClearDeadline, Send
from league_agents.league.machines.events import Command, DeadlinePassed, Started
from league_agents.league.machines.manager.config import LookupTable
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    EndRound,
    KeepAliveReply,
    LeagueCompleted,
    Legacy,
    MatchResultRow,
    NewRound,
    ReportStatus,
    RoundResults,
)

NEW, END = MessageType.BROADCAST_NEW_LEAGUE_ROUND, MessageType.BROADCAST_END_LEAGUE_ROUND
RESULTS, COMPLETED = MessageType.BROADCAST_ROUND_RESULTS, MessageType.LEAGUE_COMPLETED


def all_report(office: Any) -> None:
    for game in office.games():
        office.report(game)


def test_a_season_of_six_teams_runs_by_itself(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> None:
    office = office_of(teams=teams_of(6)).in_round_one()
    expected: dict[str, int] = {}
    for number in range(1, 6):
        assert office.state.season.label == f"ROUND({number})"
        for game in office.games(number):
            expected[game.player1.group_id] = expected.get(game.player1.group_id, 0) + 2
            expected[game.player2.group_id] = expected.get(game.player2.group_id, 0) + 1
            office.report(game)
    assert office.state.season.phase is SeasonPhase.FINISHED
    assert office.points() == expected
    assert [kind for kind in office.kinds(office.history) if kind != "SEASON_REGISTRATION_RESPONSE"] == [
        "BROADCAST_START_SEASON",
        "BROADCAST_ASSIGNMENT_TABLE",
        *["BROADCAST_NEW_LEAGUE_ROUND", "BROADCAST_END_LEAGUE_ROUND", "BROADCAST_ROUND_RESULTS"] * 5,
        "LEAGUE_COMPLETED",
    ]
    rounds = [send.envelope.payload.round_number for send in office.sent(NEW, office.history)]
    assert rounds == [1, 2, 3, 4, 5]
    sends = office.of(Send, office.history)
    assert len({send.envelope.message_id for send in sends}) == len(sends)
    assert {send.game_id for send in sends} == {None}, "games wait for none of them"
    assert all(len(send.to) == 12 for send in sends if len(send.to) != 1 and send.envelope.message_type is not END)
    assert office.deadlines == {}
    matches = office.records("match", office.history)
    assert [(each.facts["season_id"], each.facts["round_number"]) for each in matches] == [
        (office.config.season_id, number) for number in range(1, 6) for _ in range(3)
    ]
    assert [record.key for record in office.records("round", office.history)] == ["1", "2", "3", "4", "5"]
    (season,) = office.records("season", office.history)
    ranks: Any = season.facts["standings"]
    assert isinstance(ranks, list)
    assert ranks[0]["rank"] == 1
    assert [row["rank"] for row in ranks] == sorted(row["rank"] for row in ranks)
    assert {row["participant_id"]: row["total_points"] for row in ranks} == expected
    assert sum(row["matches_judged"] for row in ranks) == 15
    told = office.sent(COMPLETED, office.history)[-1].envelope.payload.final_standings
    shared = set(ranks[0]) & set(type(told[0]).__struct_fields__)
    assert shared >= {"rank", "participant_id", "email", "display_name", "total_points", "games_played", "games_won"}
    assert [{key: row[key] for key in shared} for row in ranks] == [
        {key: getattr(row, key) for key in shared} for row in told
    ]


def test_a_round_is_announced_with_everything_a_client_may_read(office: Any) -> None:
    office.in_round_one()
    (send,) = office.sent(NEW)
    assert send.envelope.payload == NewRound(
        round_number=1, round_ended=None, total_rounds=3, is_final_round=False, participant_lookup_table=None
    )
    assert send.envelope.round_id == "SEASON_2031-05-02_R1"
    assert send.envelope.broadcast_id.startswith("bc-newround-")
    all_report(office)
    all_report(office)
    (last,) = office.sent(NEW)
    assert last.envelope.payload.round_ended == 2
    assert last.envelope.payload.is_final_round


def test_the_end_of_a_round_is_told_to_referees_only(office: Any) -> None:
    office.in_round_one()
    all_report(office)
    (end,) = office.sent(END)
    assert end.envelope.payload == EndRound(round_number=1)
    assert end.to == tuple(team.referee_email for team in office.config.teams)


def test_missing_reports_are_awaited_for_the_grace_time(office_of: Callable[..., Any], teams_of: Any) -> None:
    office = office_of(teams=teams_of(4)).in_round_one()
    first, second = office.games()
    office.report(first)
    office.wait(timedelta(minutes=30))
    assert office.kinds() == ["BROADCAST_END_LEAGUE_ROUND"]
    assert office.state.season.label == "CLOSING(1)"
    assert office.deadlines == {"grace:1": office.now + timedelta(minutes=2)}
    office.report(second, (0, 2), status=ReportStatus.ABORTED)
    assert office.kinds() == ["BROADCAST_ROUND_RESULTS", "BROADCAST_NEW_LEAGUE_ROUND"]
    (results,) = office.sent(RESULTS)
    assert results.envelope.payload.results == (
        MatchResultRow(
            game_id=first.game_id,
            winner_id=first.player1.group_id,
            player1_score=2,
            player2_score=1,
            status="completed",
        ),
        MatchResultRow(
            game_id=second.game_id,
            winner_id=second.player2.group_id,
            player1_score=0,
            player2_score=2,
            status="aborted",
        ),
    )
    assert ClearDeadline(name="grace:1") in office.effects


def test_the_course_counts_nothing_for_a_game_that_nobody_reports(office_of: Callable[..., Any]) -> None:
    office = office_of(rules=COURSE).in_round_one()
    (game,) = office.games()
    office.wait(timedelta(minutes=32))
    assert office.warnings() == ["no_report"]
    (record,) = office.records("match")
    assert (record.key, record.termination) == (game.game_id, Termination.NO_REPORT)
    assert office.points() == {}
    assert office.state.season.label == "ROUND(2)"
    (results,) = office.sent(RESULTS)
    assert results.envelope.payload.results[0].status == "no_report"


def test_a_season_in_which_nobody_ever_answers_ends(office: Any) -> None:
    office.open().wait(timedelta(days=1))
    assert office.state.season.phase is SeasonPhase.FINISHED
    assert len(office.sent(NEW, office.history)) == 3
    (completed,) = office.sent(COMPLETED, office.history)
    rows = completed.envelope.payload.final_standings
    assert [(row.rank, row.participant_id, row.total_points) for row in rows] == [
        (1, "falcons", 0),
        (1, "otters", 0),
        (1, "ravens", 0),
    ]


def test_the_operator_leads_a_season_by_hand(office_of: Callable[..., Any]) -> None:
    office = office_of(is_automatic=False).open()
    office.command(Command.CLOSE_REGISTRATION)
    office.command(Command.START_ROUND)
    all_report(office)
    assert office.state.season.label == "ROUND(1)"  # the operator says when
    office.command(Command.END_ROUND)
    assert office.kinds() == ["BROADCAST_END_LEAGUE_ROUND", "BROADCAST_ROUND_RESULTS"]
    assert office.state.season.label == "BETWEEN(1)"
    office.command(Command.START_ROUND)
    office.command(Command.END_ROUND)
    assert office.state.season.label == "CLOSING(2)"
    office.command(Command.START_ROUND)
    assert office.kinds() == ["BROADCAST_ROUND_RESULTS", "BROADCAST_NEW_LEAGUE_ROUND"]
    office.command(Command.END_ROUND)
    office.command(Command.END_ROUND)  # without the grace time
    assert office.state.season.label == "BETWEEN(3)"
    office.command(Command.START_ROUND)
    assert office.warnings() == ["command_refused"]
    office.command(Command.FINISH_SEASON)
    assert office.kinds() == ["LEAGUE_COMPLETED"]


@pytest.mark.parametrize(
    ("command", "label"),
    [
        (Command.START_ROUND, "SETUP"),
        (Command.CLOSE_REGISTRATION, "SETUP"),
        (Command.END_ROUND, "SETUP"),
        (Command.FINISH_SEASON, "SETUP"),
        (Command.START_ROUND, "ROUND(1)"),  # two rounds are never open at once
        (Command.CLOSE_REGISTRATION, "ROUND(1)"),
        (Command.OPEN_SEASON, "ROUND(1)"),
    ],
)
def test_a_command_out_of_place_changes_nothing(office: Any, command: Command, label: str) -> None:
    if label != "SETUP":
        office.in_round_one()
    before = office.state
    office.command(command)
    assert office.state is before
    assert office.warnings() == ["command_refused"]
    assert office.of(Send) == []


def test_a_season_that_is_cut_short_still_hears_its_last_round(office: Any) -> None:
    office.in_round_one()
    (game,) = office.games()
    office.command(Command.FINISH_SEASON)
    assert office.kinds() == ["BROADCAST_END_LEAGUE_ROUND"]
    office.report(game, (1, 0), status=ReportStatus.ABORTED)
    assert office.kinds() == ["BROADCAST_ROUND_RESULTS", "LEAGUE_COMPLETED"]
    assert office.points() == {game.player1.group_id: 1, game.player2.group_id: 0}


def test_the_operator_need_not_wait_for_the_last_reports(office: Any) -> None:
    office.in_round_one()
    office.command(Command.FINISH_SEASON)
    office.command(Command.FINISH_SEASON)
    assert office.kinds() == ["BROADCAST_ROUND_RESULTS", "LEAGUE_COMPLETED"]
    assert office.state.season.phase is SeasonPhase.FINISHED


def test_a_season_without_a_round_can_be_finished(office: Any) -> None:
    office.open().command(Command.FINISH_SEASON)
    (send,) = office.sent(COMPLETED)
    assert isinstance(send.envelope.payload, LeagueCompleted)
    assert len(send.envelope.payload.final_standings) == 3
    assert len(send.to) == 6
    assert office.deadlines == {}


def test_a_gap_between_rounds_is_kept(office_of: Callable[..., Any]) -> None:
    office = office_of(round_gap=timedelta(minutes=5)).in_round_one()
    all_report(office)
    assert office.state.season.label == "BETWEEN(1)"
    assert office.deadlines == {"next:2": office.now + timedelta(minutes=5)}
    office.wait(timedelta(minutes=5))
    assert office.kinds() == ["BROADCAST_NEW_LEAGUE_ROUND"]
    all_report(office)
    office.command(Command.START_ROUND)
    assert office.state.season.label == "ROUND(3)"
    assert list(office.deadlines) == ["round:3"]
    all_report(office)
    assert office.state.season.phase is SeasonPhase.FINISHED  # nothing follows, nothing is waited for


def test_results_may_be_kept_to_the_end(office_of: Callable[..., Any]) -> None:
    office = office_of(results_broadcast=False).in_round_one()
    all_report(office)
    assert office.kinds() == ["BROADCAST_END_LEAGUE_ROUND", "BROADCAST_NEW_LEAGUE_ROUND"]


def test_players_of_the_core_messages_get_nothing_else(office_of: Callable[..., Any]) -> None:
    player = "ravens.player@example.com"
    office = office_of(core_only=frozenset({player})).in_round_one()
    for command in (Command.KEEP_ALIVE, Command.PAUSE, Command.CONTINUE):
        office.command(command)
    office.command(Command.FREE_TEXT, "Round one is on.")
    for _ in range(3):
        all_report(office)
    office.mail("ravens.Player@example.com", MessageType.REQUEST_ASSIGNMENT_TABLE, Legacy(fields={}))
    office.command(Command.RESET, "a mistake")
    seen = {
        send.envelope.message_type.value
        for send in office.of(Send, office.history)
        if any(address.lower() == player for address in send.to)
    }
    assert seen == {
        "BROADCAST_START_SEASON",
        "SEASON_REGISTRATION_RESPONSE",
        "BROADCAST_ASSIGNMENT_TABLE",
        "BROADCAST_NEW_LEAGUE_ROUND",
        "LEAGUE_COMPLETED",
    }
    others = {
        kind for send in office.of(Send, office.history) if len(send.to) == 5 for kind in [send.envelope.message_type]
    }
    assert MessageType.BROADCAST_ROUND_RESULTS in others


def lookup(office: Any) -> tuple[str, ...] | None:
    (send,) = office.sent(NEW)
    payload = send.envelope.payload
    assert isinstance(payload, NewRound)
    return payload.participant_lookup_table


def test_presence_is_not_spoken_of_unless_asked_for(office: Any) -> None:
    office.open().register("ravens.Player@example.com")
    office.wait(timedelta(minutes=11))
    assert lookup(office) is None


def test_whoever_was_silent_all_season_is_not_present(office_of: Callable[..., Any], teams_of: Any) -> None:
    one, two, three = teams_of(3)
    office = office_of(lookup_table=LookupTable.SEEN).open()
    for address in (one.player_email, one.referee_email, two.player_email, two.referee_email):
        office.register(address)
    office.mail(three.referee_email, MessageType.HEARTBEAT, Legacy(fields={"status": "active"}))
    office.wait(timedelta(minutes=11))
    assert lookup(office) == (
        one.player_email,
        one.referee_email,
        two.player_email,
        two.referee_email,
        three.referee_email,
    )
    office.register(three.player_email)  # rejected, and a sign of life
    all_report(office)
    assert len(lookup(office) or ()) == 6


def test_nobody_is_called_absent_who_had_no_time_to_be_heard(office_of: Callable[..., Any]) -> None:
    office = office_of(lookup_table=LookupTable.SEEN, is_automatic=False).open()
    office.register("ravens.Player@example.com")
    office.command(Command.CLOSE_REGISTRATION)
    office.command(Command.KEEP_ALIVE)
    office.command(Command.START_ROUND)
    assert lookup(office) is None
    office.mail("otters.Player@example.com", MessageType.RESPONSE_KEEP_ALIVE, KeepAliveReply())
    office.wait(timedelta(minutes=1))
    office.command(Command.END_ROUND)
    office.command(Command.START_ROUND)
    assert lookup(office) == ("ravens.Player@example.com", "otters.Player@example.com")


def test_when_nobody_was_heard_nothing_is_known(office_of: Callable[..., Any]) -> None:
    office = office_of(lookup_table=LookupTable.SEEN).open()
    office.wait(timedelta(minutes=11))
    assert lookup(office) is None


def test_a_deadline_that_was_taken_back_does_nothing(office: Any) -> None:
    office.in_round_one()
    before = office.state
    for name in ("registration", "start", "round:7", "grace:1", "next:2", "", "no such thing"):
        office.feed(DeadlinePassed(name=name))
        assert office.state is before
        assert office.effects == []


def test_starting_the_process_changes_nothing(office: Any) -> None:
    office.in_round_one()
    before = office.state
    assert office.feed(Started()) == []
    assert office.state is before


def test_results_show_the_canonical_standings(office: Any) -> None:
    office.in_round_one()
    (game,) = office.games()
    office.report(game, (3, 0))
    (send,) = office.sent(RESULTS)
    payload = send.envelope.payload
    assert isinstance(payload, RoundResults)
    first = payload.standings[0]
    assert (first.rank, first.participant_id, first.total_points, first.games_played, first.games_won) == (
        1,
        game.player1.group_id,
        3,
        1,
        1,
    )
    assert send.envelope.round_id == "SEASON_2031-05-02_R1"
