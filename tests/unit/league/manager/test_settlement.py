"""Results settled by the organiser, teams withdrawn, rounds extended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from league_agents.league.machines.effects import Notice, Warn
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.orders import SettlementOrder, order_words, read_order
from league_agents.league.season.schedule import ScheduleKind
from league_agents.league.season.standings import MatchStatus
from league_agents.league.wire.kinds import MessageType

FREE, RESULTS = MessageType.BROADCAST_FREE_TEXT, MessageType.BROADCAST_ROUND_RESULTS


@pytest.fixture
def playing(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> Any:
    """Four teams in round 1, two games in each of the three rounds."""
    return office_of(teams=teams_of(4)).in_round_one()


def settle(office: Any, command: Command, about: str = "", **keys: Any) -> Any:
    order = SettlementOrder(about=about, why=keys.pop("why", "it was agreed"), **keys)
    office.command(command, order.to_text())
    return office


def round_one(office: Any) -> Any:
    """Round 1 with 2:1 in both games."""
    for game in office.games(1):
        office.report(game)
    assert office.state.season.phase in (SeasonPhase.BETWEEN, SeasonPhase.ROUND)
    return office.games(1)[0]


def test_an_annulled_match_counts_for_nobody_and_can_be_taken_back_exactly(playing: Any) -> None:
    game = round_one(playing)
    before = playing.state.standings
    settle(playing, Command.ANNUL, game.game_id, why="a wrong book")
    one, two = game.player1.group_id, game.player2.group_id
    players = playing.state.standings.players
    assert (players[one].points, players[one].played, players[two].points) == (0, 0, 0)
    (record,) = playing.records("settlement")
    assert record.key == game.game_id
    assert record.facts["order"] == "annul"
    assert record.facts["why"] == "a wrong book"
    assert record.facts["before"]["league_points"] == [2, 1]
    assert record.facts["after"]["status"] == "annulled"
    settle(playing, Command.REINSTATE, game.game_id)
    assert playing.state.standings == before


def test_those_of_the_match_are_told_why_and_everybody_gets_the_table(playing: Any) -> None:
    game = round_one(playing)
    settle(playing, Command.ANNUL, game.game_id, why="a wrong book")
    (told,) = playing.sent(FREE)
    assert set(told.to) == {game.player1.player_email, game.player2.player_email, game.referee.referee_email}
    assert told.envelope.payload.message_text == f"match {game.game_id} now counts as annulled 0:0: a wrong book"
    (results,) = playing.sent(RESULTS)
    row = next(each for each in results.envelope.payload.results if each.game_id == game.game_id)
    assert (row.status, row.player1_score, row.player2_score, row.winner_id) == ("annulled", 0, 0, None)
    assert len(results.to) == 8
    assert [notice.code for notice in playing.of(Notice)] == ["settled"]


def test_two_settlements_of_one_match_are_two_mails(playing: Any) -> None:
    game = round_one(playing)
    ids = []
    for command in (Command.ANNUL, Command.REINSTATE, Command.ANNUL):
        settle(playing, command, game.game_id)
        ids += [send.envelope.message_id for send in (*playing.sent(FREE), *playing.sent(RESULTS))]
    assert len(ids) == len(set(ids)) == 6


def test_a_corrected_match_has_the_result_that_is_stated(playing: Any) -> None:
    game = round_one(playing)
    settle(playing, Command.CORRECT, game.game_id, points=(0, 3), private_scores=(12.5, 90))
    one, two = (playing.state.standings.players[team.group_id] for team in (game.player1, game.player2))
    assert (one.points, one.won, one.private_score) == (0, 0, 12.5)
    assert (two.points, two.won, two.private_score) == (3, 1, 90)
    settle(playing, Command.CORRECT, game.game_id, points=(1, 1))
    one, two = (playing.state.standings.players[team.group_id] for team in (game.player1, game.player2))
    assert (one.points, one.private_score, two.points, two.won) == (1, 60.25, 1, 0)  # scores as reported


def test_a_match_of_the_open_round_is_settled_when_the_round_closes(playing: Any) -> None:
    first, second = playing.games()
    settle(playing, Command.CORRECT, first.game_id, points=(3, 0))
    assert playing.state.awaited == 1
    assert playing.sent(RESULTS) == []
    playing.report(first, (0, 2))  # too late to count, kept as evidence
    assert playing.warnings() == ["settled_report"]
    playing.report(second)
    assert playing.points()[first.player1.group_id] == 3
    assert playing.points()[first.player2.group_id] == 0
    settle(playing, Command.REINSTATE, first.game_id)
    assert playing.points()[first.player1.group_id] == 0
    assert playing.points()[first.player2.group_id] == 2


def test_a_late_report_of_a_settled_match_moves_nothing(playing: Any) -> None:
    first, second = playing.games()
    playing.report(second)
    playing.command(Command.END_ROUND)
    playing.command(Command.END_ROUND)
    settle(playing, Command.ANNUL, first.game_id)
    before = playing.state.standings
    playing.report(first, (3, 0))
    assert playing.state.standings == before
    settle(playing, Command.REINSTATE, first.game_id)
    assert playing.points()[first.player1.group_id] == 3


def test_a_withdrawn_team_loses_what_it_has_not_played(playing: Any) -> None:
    first, second = playing.games()
    playing.report(second)
    gone, other = first.player1, first.player2
    settle(playing, Command.WITHDRAW, gone.group_id, why="no answer for a week")
    assert playing.state.season.withdrawn == (gone.group_id,)
    # Nobody else was awaited, so round 1 closed.
    assert playing.points()[other.group_id] == 3
    assert playing.state.standings.players[other.group_id].won == 1
    assert playing.state.standings.referees.get(first.referee.group_id) is None  # nobody was to judge it
    (told,) = playing.sent(FREE)
    assert told.envelope.payload.message_text.startswith(f"{gone.group_id} is withdrawn from the season: no answer")
    while playing.state.season.phase is not SeasonPhase.ROUND:
        playing.command(Command.START_ROUND)
    games = zip(playing.games(), playing.state.games, strict=True)
    (record,) = [each for game, each in games if gone in (game.player1, game.player2)]
    assert record.counted is not None
    assert record.counted.status is MatchStatus.WALKOVER
    assert playing.state.awaited == 1


def test_a_team_that_is_readmitted_plays_its_open_game(playing: Any) -> None:
    first, _second = playing.games()
    settle(playing, Command.WITHDRAW, first.player1.group_id)
    assert playing.state.awaited == 1
    settle(playing, Command.READMIT, first.player1.group_id)
    assert playing.state.awaited == 2
    assert playing.state.season.withdrawn == ()
    playing.report(first, (1, 2))
    assert playing.warnings() == []


def test_what_was_played_before_the_withdrawal_stays(playing: Any) -> None:
    first, _second = playing.games()
    playing.report(first, (3, 0))
    settle(playing, Command.WITHDRAW, first.player1.group_id)
    assert playing.state.games[0].settled is None


def test_the_matches_that_a_withdrawn_team_judges_are_named(playing: Any) -> None:
    first, _second = playing.games()
    settle(playing, Command.WITHDRAW, first.referee.group_id)
    assert "no_referee" in playing.warnings()


@pytest.mark.parametrize("has_next_round", [False, True])
def test_a_bracket_stands_once_its_next_round_is_paired(
    office_of: Callable[..., Any], teams_of: Callable[..., Any], has_next_round: bool
) -> None:
    office = office_of(
        teams=teams_of(8), schedule_kind=ScheduleKind.KNOCKOUT, round_gap=timedelta(hours=1)
    ).in_round_one()
    games = office.games(1)
    for game in games:
        office.report(game, (3, 0))
    if has_next_round:
        office.wait(timedelta(hours=1, minutes=1))
    settle(office, Command.CORRECT, games[0].game_id, points=(0, 3))
    assert office.warnings() == (["bracket_stands"] if has_next_round else [])
    through = games[0].player1 if has_next_round else games[0].player2
    office.wait(timedelta(hours=1, minutes=1))
    assert through in {team for game in office.games(2) for team in (game.player1, game.player2)}
    for number in (2, 3):
        for game in office.games(number):
            office.report(game, (3, 0) if game.player2 != through else (0, 3))
        office.wait(timedelta(hours=1, minutes=1))
    assert office.state.season.phase is SeasonPhase.FINISHED
    (season,) = office.records("season", office.history)
    first = season.facts["standings"][0]
    assert (first["participant_id"], first["tie_breaks"]["rounds_survived"]) == (through.group_id, 3)


def test_a_match_settled_while_open_and_reinstated_later_takes_its_late_report(playing: Any) -> None:
    first, second = playing.games()
    settle(playing, Command.ANNUL, first.game_id)
    playing.report(second)
    assert "no_report" not in playing.warnings(playing.history)
    for _ in range(3):
        settle(playing, Command.REINSTATE, first.game_id)
        assert playing.state.standings.referees[first.referee.group_id].unreported == 1
        settle(playing, Command.ANNUL, first.game_id)
    settle(playing, Command.REINSTATE, first.game_id)
    settle(playing, Command.REINSTATE, first.game_id)
    assert playing.warnings() == ["command_refused"]
    playing.report(first, (3, 0))
    assert playing.points()[first.player1.group_id] == 3
    assert playing.state.standings.referees[first.referee.group_id].unreported == 0
    (match,) = playing.records("match")
    assert (match.facts["status"], match.facts["replaces"], match.facts["is_late"]) == ("completed", "no_report", True)


@pytest.mark.parametrize("has_report", [False, True])
def test_who_is_readmitted_has_its_match_recorded_again(playing: Any, has_report: bool) -> None:
    first, _second = playing.games()
    settle(playing, Command.WITHDRAW, first.player1.group_id)
    if has_report:
        playing.report(first, (3, 0))
    settle(playing, Command.READMIT, first.player1.group_id)
    matches = [(match.facts["status"], match.facts["replaces"]) for match in playing.records("match")]
    assert matches == ([("completed", "walkover")] if has_report else [])
    (settled,) = [each for each in playing.records("settlement") if each.key == first.game_id]
    assert settled.facts["before"]["status"] == "walkover"
    assert settled.facts["after"].get("status") == ("completed" if has_report else None)


def test_walkovers_follow_who_is_withdrawn_now(playing: Any) -> None:
    first, _second = playing.games()
    one, two = first.player1.group_id, first.player2.group_id
    seen = []
    for command, group in (
        (Command.WITHDRAW, one),
        (Command.WITHDRAW, two),
        (Command.READMIT, one),
        (Command.READMIT, two),
    ):
        settle(playing, command, group)
        settled = playing.state.games[0].settled
        seen.append(None if settled is None else (settled.status, settled.league_points))
    points = playing.config.rules.walkover_points
    assert seen == [
        (MatchStatus.WALKOVER, (0, points)),
        (MatchStatus.CANCELLED, (0, 0)),
        (MatchStatus.WALKOVER, (points, 0)),
        None,
    ]


def test_what_the_organiser_settled_is_left_alone_by_withdrawals(playing: Any) -> None:
    first, _second = playing.games()
    settle(playing, Command.CORRECT, first.game_id, points=(3, 0))
    for command in (Command.WITHDRAW, Command.READMIT):
        settle(playing, command, first.player1.group_id)
        assert playing.state.games[0].settled.status is MatchStatus.COMPLETED


def test_a_team_s_settlement_is_recorded_with_its_reason(playing: Any) -> None:
    first, _second = playing.games()
    gone = first.player1.group_id
    for command in (Command.WITHDRAW, Command.READMIT):
        settle(playing, command, gone, why="no answer")
        team, match = playing.records("settlement")
        assert (team.key, match.key) == (f"team {gone}", first.game_id)
        assert {each.facts["order"] for each in (team, match)} == {command.word}
        assert {each.facts["why"] for each in (team, match)} == {"no answer"}


def test_the_matches_of_later_rounds_that_a_withdrawn_team_judges_are_named(playing: Any) -> None:
    gone = playing.games(3)[0].referee.group_id
    settle(playing, Command.WITHDRAW, gone)
    for number in (1, 2):
        for game in playing.games(number):
            playing.report(game)
    assert playing.state.season.label == "ROUND(3)"
    games = zip(playing.games(), playing.state.games, strict=True)
    judged = [game.game_id for game, record in games if game.referee.group_id == gone and record.settled is None]
    warnings = [each.text for each in playing.history if getattr(each, "code", "") == "no_referee"]
    assert [text.split()[1] for text in warnings if "game 0303" in text] == judged != []


@pytest.mark.parametrize("kind", [ScheduleKind.SWISS, ScheduleKind.KNOCKOUT])
def test_a_season_goes_on_without_those_who_are_withdrawn(
    office_of: Callable[..., Any], teams_of: Callable[..., Any], kind: ScheduleKind
) -> None:
    office = office_of(teams=teams_of(8), schedule_kind=kind).open()
    gone = [office.config.teams[index].group_id for index in (0, 5)]
    rest = [member.email for member in office.manager.roster.members if member.team.group_id not in gone]
    for email in rest:
        office.register(email)
    assert office.state.season.phase is SeasonPhase.REGISTRATION
    for group in gone:
        settle(office, Command.WITHDRAW, group)
    assert office.state.season.phase is SeasonPhase.ASSIGNED
    for email in rest:
        office.acknowledge(email)
    assert office.state.season.label == "ROUND(1)"


@pytest.mark.parametrize("kind", [ScheduleKind.SWISS, ScheduleKind.KNOCKOUT])
def test_further_rounds_are_judged_and_begun_without_those_who_are_withdrawn(
    office_of: Callable[..., Any], teams_of: Callable[..., Any], kind: ScheduleKind
) -> None:
    office = office_of(teams=teams_of(8), schedule_kind=kind).in_round_one()
    gone = [game.player2.group_id for game in office.games(1)[:2]]
    for group in gone:
        settle(office, Command.WITHDRAW, group)
    for game in office.games(1):
        office.report(game, (3, 0))
    assert office.state.season.phase is SeasonPhase.ASSIGNED
    for member in office.manager.roster.members:
        if member.team.group_id not in gone:
            office.acknowledge(member.email)
    assert office.state.season.label == "ROUND(2)"
    assert not {game.referee.group_id for game in office.games(2)} & set(gone)


def test_private_scores_are_told_to_nobody_else(playing: Any) -> None:
    game = round_one(playing)
    settle(playing, Command.CORRECT, game.game_id, points=(0, 3), private_scores=(12.5, 90))
    (told,) = playing.sent(FREE)
    assert told.envelope.payload.message_text == f"match {game.game_id} now counts as completed 0:3: it was agreed"


def test_a_report_that_conflicts_names_what_counts(playing: Any) -> None:
    first, _second = playing.games()
    playing.report(first, (3, 0))
    settle(playing, Command.ANNUL, first.game_id)
    playing.report(first, (0, 3))
    (warning,) = [each for each in playing.effects if getattr(each, "code", "") == "report_conflict"]
    assert warning.text.endswith("; annulled 0:0 (0:0) counts")


def test_a_round_is_extended_and_a_pause_keeps_the_extension(office_of: Callable[..., Any]) -> None:
    office = office_of(round_wait=timedelta(hours=1)).in_round_one()
    before = office.deadlines["round:1"]
    settle(office, Command.EXTEND_ROUND, minutes=30)
    assert office.deadlines["round:1"] == before + timedelta(minutes=30)
    (told,) = office.sent(FREE)
    assert told.envelope.payload.message_text == "round 1 ends at 2031-05-02 09:30 UTC: it was agreed"
    (settled,) = office.records("settlement")
    assert (settled.key, settled.facts["order"], settled.facts["why"]) == ("round 1", "extend-round", "it was agreed")
    office.command(Command.PAUSE)
    office.now += timedelta(hours=2)
    settle(office, Command.EXTEND_ROUND, minutes=30)
    (told,) = office.sent(FREE)
    assert told.envelope.payload.message_text == "round 1 ends 30 minutes later: it was agreed"
    office.command(Command.CONTINUE)
    assert office.deadlines["round:1"] == before + timedelta(hours=3)


def test_a_round_that_has_ended_is_not_extended(office_of: Callable[..., Any]) -> None:
    office = office_of(round_wait=timedelta(hours=1)).in_round_one()
    office.wait(timedelta(hours=1))
    settle(office, Command.EXTEND_ROUND, minutes=30)
    (refused,) = office.of(Warn)
    assert refused.text == "extend-round: round 1 has ended; reports are awaited"


def test_a_season_that_is_over_is_settled_and_recorded_again(office: Any) -> None:
    office.in_round_one()
    while office.state.season.phase is not SeasonPhase.FINISHED:
        for game in office.games():
            office.report(game)
    game = office.games(1)[0]
    settle(office, Command.CORRECT, game.game_id, points=(0, 3))
    (season,) = office.records("season")
    rows = {row["participant_id"]: row["total_points"] for row in season.facts["standings"]}
    assert rows == office.points()


@pytest.mark.parametrize(
    ("command", "about", "keys", "said"),
    [
        (Command.ANNUL, "0399001", {}, "there is no match '0399001' in the rounds that have begun"),
        (Command.ANNUL, "0201001", {}, "begin with 03, and a former season can no longer be settled"),
        (
            Command.ANNUL,
            "101001",
            {},
            "'101001' is no match id, which has seven digits: season, round and place, as 03",
        ),
        (Command.ANNUL, "", {}, "'' is no match id"),
        (Command.REINSTATE, "first", {}, "was not settled"),
        (Command.CORRECT, "first", {}, "needs the points of both players"),
        (Command.CORRECT, "first", {"points": (4, 0)}, "0 to 3"),
        (Command.CORRECT, "first", {"points": (2, 0), "private_scores": (101, 0)}, "private scores are 0 to 100"),
        (Command.WITHDRAW, "nobody", {}, "there is no team 'nobody'; the teams are ravens, falcons, otters"),
        (Command.READMIT, "ravens", {}, "'ravens' is not withdrawn"),
        (Command.EXTEND_ROUND, "", {}, "it can be extended by 1 minute to 30 days"),
        (Command.EXTEND_ROUND, "", {"minutes": 0.5}, "it can be extended by 1 minute"),
        (Command.EXTEND_ROUND, "", {"minutes": 1e300}, "it can be extended by 1 minute to 30 days"),
        (Command.EXTEND_ROUND, "", {"minutes": 5}, "has no end of its own"),
    ],
)
def test_what_cannot_be_settled_is_refused_by_name(
    office_of: Callable[..., Any], command: Command, about: str, keys: dict[str, Any], said: str
) -> None:
    office = office_of(is_automatic=False).open().everybody_registers()
    office.command(Command.CLOSE_REGISTRATION)
    office.command(Command.START_ROUND)
    before = office.state
    settle(office, command, office.games()[0].game_id if about == "first" else about, **keys)
    (warning,) = [each for each in office.effects if getattr(each, "code", "") == "command_refused"]
    assert warning.text.startswith(f"{command.word}: ")
    assert said in warning.text
    assert office.state == before


@pytest.mark.parametrize(
    "text",
    ["", "because", "[]", '{"about": 3}', '{"points": [1]}', "{" * 50, '{"why": "\ud800"}', '{"x":' + "[" * 200_000],
    ids=lambda text: text[:12].encode("ascii", "backslashreplace").decode(),
)
def test_an_order_that_says_nothing_settles_nothing(playing: Any, text: str) -> None:
    before = playing.state
    playing.command(Command.ANNUL, text)
    assert order_words(text) == text
    assert playing.state == before
    assert playing.warnings() == ["command_refused"]


def test_an_order_reads_as_words() -> None:
    order = SettlementOrder(about="0101001", why="a wrong book")
    assert read_order(order.to_text()) == order
    assert order_words(order.to_text()) == "0101001: a wrong book"
    assert order_words("back at noon") == "back at noon"
