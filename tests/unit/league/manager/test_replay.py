"""Matches played again, and matches with another referee."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.orders import SettlementOrder, order_words
from league_agents.league.season.pairings import byes
from league_agents.league.season.schedule import ScheduleKind
from league_agents.league.season.standings import MatchStatus
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import RequestAssignmentTable

FREE, RESULTS = MessageType.BROADCAST_FREE_TEXT, MessageType.BROADCAST_ROUND_RESULTS
TABLE, NEW = MessageType.BROADCAST_ASSIGNMENT_TABLE, MessageType.BROADCAST_NEW_LEAGUE_ROUND
COMPLETED = MessageType.LEAGUE_COMPLETED


@pytest.fixture
def playing(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> Any:
    """Four teams in round 1, two games in each of the three rounds."""
    return office_of(teams=teams_of(4)).in_round_one()


def order(office: Any, command: Command, about: str, referee: str = "") -> None:
    office.command(command, SettlementOrder(about=about, referee=referee, why="it was agreed").to_text())


def play_round(office: Any, points: tuple[int, int] = (2, 1)) -> None:
    if office.state.season.phase is SeasonPhase.ASSIGNED:
        office.everybody_acknowledges()
    for game in office.games():
        office.report(game, points)


def play_season(office: Any) -> None:
    while office.state.season.phase is not SeasonPhase.FINISHED:
        play_round(office)


def refusal(office: Any) -> str:
    (warning,) = [each for each in office.effects if getattr(each, "code", "") == "command_refused"]
    return str(warning.text)


def status_of(office: Any, game_id: str) -> MatchStatus | None:
    number, index = office.state.schedule.place(game_id)
    closed = office.state.closed
    record = closed[number - 1].games[index] if number <= len(closed) else office.state.games[index]
    return record.counted.status if record.counted is not None else None


def test_a_result_stops_counting_when_its_replay_is_ordered_and_the_replay_counts_in_its_place(playing: Any) -> None:
    game = playing.games(1)[0]
    play_round(playing, (3, 0))
    order(playing, Command.REPLAY, game.game_id)
    one, two = game.player1.group_id, game.player2.group_id
    assert (playing.points().get(one, 0), playing.points().get(two, 0)) == (0, 0)
    (told,) = playing.sent(FREE)
    assert set(told.to) == {game.player1.player_email, game.player2.player_email, game.referee.referee_email}
    assert told.envelope.payload.message_text == (
        f"match {game.game_id} does not count, and is played again in an extra round: it was agreed"
    )
    (results,) = playing.sent(RESULTS)
    assert [row.status for row in results.envelope.payload.results] == ["replayed", "completed"]
    play_round(playing, (0, 0))
    play_round(playing, (0, 0))
    assert playing.state.season.phase is SeasonPhase.ASSIGNED
    (table,) = playing.sent(TABLE)
    assert table.envelope.payload.message_text == f"0304001 replays {game.game_id}"
    playing.everybody_acknowledges()
    (again,) = playing.games()
    assert (again.game_id, again.replay_of, again.referee) == ("0304001", game.game_id, game.referee)
    assert (again.player1, again.player2) == (game.player1, game.player2)
    playing.report(again, (1, 2))
    assert playing.state.season.phase is SeasonPhase.FINISHED
    assert (playing.points()[one], playing.points()[two]) == (1, 2)


def test_the_announcement_of_the_last_round_knows_of_the_extra_round(playing: Any) -> None:
    order_of_rounds = []
    for number in (1, 2, 3):
        game = playing.games(number)[0]
        play_round(playing)
        if number == 1:
            order(playing, Command.REPLAY, game.game_id)
    playing.everybody_acknowledges()
    for send in playing.sent(NEW, playing.history):
        payload = send.envelope.payload
        order_of_rounds.append((payload.round_number, payload.total_rounds, payload.is_final_round))
    assert order_of_rounds == [(1, 3, False), (2, 3, False), (3, 4, False), (4, 4, True)]


def test_a_match_of_a_season_that_is_over_is_played_again_and_the_season_is_completed_again(playing: Any) -> None:
    play_season(playing)
    game = playing.games(2)[1]
    order(playing, Command.REPLAY, game.game_id)
    assert playing.state.season.label == "ASSIGNED"
    assert playing.records("season") == []  # it is not over
    play_round(playing, (0, 3))
    completed = [send.envelope.message_id for send in playing.sent(COMPLETED, playing.history)]
    assert len(set(completed)) == 2
    (season,) = playing.records("season")
    assert season.facts["total_rounds"] == 4
    order(playing, Command.REPLAY, playing.games(4)[0].game_id)
    play_round(playing, (3, 0))
    assert playing.games(5)[0].replay_of == "0304001"
    assert len({send.envelope.message_id for send in playing.sent(COMPLETED, playing.history)}) == 3
    assert len({send.envelope.message_id for send in playing.sent(TABLE, playing.history)}) == 3


def test_replays_that_share_no_mailbox_share_a_round(playing: Any) -> None:
    first, second = playing.games(1)
    play_round(playing)
    for game in (first, second):
        order(playing, Command.REPLAY, game.game_id)
    play_season(playing)
    assert [game.replay_of for game in playing.games(4)] == [first.game_id, second.game_id]
    again = [playing.games(number)[0].game_id for number in (1, 2)]  # both with the first team
    for game_id in again:
        order(playing, Command.REPLAY if game_id != first.game_id else Command.REINSTATE, game_id)
    order(playing, Command.REPLAY, first.game_id)
    play_season(playing)
    assert [len(playing.games(number)) for number in range(5, len(playing.state.closed) + 1)] == [1, 1]


def test_a_reinstated_match_takes_its_replay_back_before_it_is_drawn_up(playing: Any) -> None:
    game = playing.games(1)[0]
    play_round(playing)
    before = playing.state
    order(playing, Command.REPLAY, game.game_id)
    order(playing, Command.REINSTATE, game.game_id)
    assert playing.state == before
    play_season(playing)
    assert len(playing.state.closed) == 3


@pytest.mark.parametrize("when", ["assigned", "played", "reported"])
def test_a_reinstated_match_counts_and_its_replay_does_not(playing: Any, when: str) -> None:
    play_season(playing)
    before = playing.state.standings
    game = playing.games(1)[0]
    order(playing, Command.REPLAY, game.game_id)
    if when != "assigned":
        playing.everybody_acknowledges()
    if when == "reported":
        playing.report(playing.games()[0], (0, 3))
    order(playing, Command.REINSTATE, game.game_id)
    while playing.state.season.phase is not SeasonPhase.FINISHED:
        playing.everybody_acknowledges()
    assert status_of(playing, "0304001") is MatchStatus.ANNULLED
    assert playing.state.standings == before
    playing.report(playing.games(4)[0], (0, 3))  # the late report of the replay is evidence only
    assert playing.state.standings == before


def test_a_replay_that_was_taken_back_counts_again_in_place_of_its_first_match(playing: Any) -> None:
    play_season(playing)
    game = playing.games(1)[0]
    order(playing, Command.REPLAY, game.game_id)
    play_round(playing, (0, 3))
    after = playing.state.standings
    order(playing, Command.REINSTATE, game.game_id)
    assert playing.state.standings != after
    order(playing, Command.REINSTATE, "0304001")
    assert playing.state.standings == after
    assert (status_of(playing, game.game_id), status_of(playing, "0304001")) == ("replayed", "completed")


def test_a_chain_of_replays_has_one_match_that_counts(playing: Any) -> None:
    play_season(playing)
    first = playing.games(1)[0].game_id
    chain = [first, "0304001", "0305001"]
    before = playing.state.standings
    for game_id in chain[:2]:
        order(playing, Command.REPLAY, game_id)
        play_round(playing, (0, 3))
    assert [status_of(playing, each) for each in chain] == ["replayed", "replayed", "completed"]
    order(playing, Command.REINSTATE, first)
    assert [status_of(playing, each) for each in chain] == ["completed", "annulled", "annulled"]
    assert playing.state.standings == before
    order(playing, Command.REINSTATE, chain[2])
    assert [status_of(playing, each) for each in chain] == ["replayed", "replayed", "completed"]
    order(playing, Command.REINSTATE, first)
    order(playing, Command.REPLAY, first)
    play_round(playing)
    order(playing, Command.REINSTATE, chain[2])
    assert f"match {first} was ordered to be played again after its replay 0304001" in refusal(playing)


def test_a_replay_without_a_report_is_named_and_neither_result_counts(playing: Any) -> None:
    play_season(playing)
    game = playing.games(1)[0]
    order(playing, Command.REPLAY, game.game_id)
    playing.everybody_acknowledges()
    playing.command(Command.END_ROUND)
    playing.command(Command.END_ROUND)
    (warning,) = [each for each in playing.effects if getattr(each, "code", "") == "no_report"]
    assert warning.text.endswith(f"'reinstate' lets {game.game_id} count, which it replays")
    assert (status_of(playing, game.game_id), status_of(playing, "0304001")) == ("replayed", "no_report")


def test_a_match_that_is_replayed_is_settled_in_its_replay_only(playing: Any) -> None:
    play_season(playing)
    first = playing.games(1)[0].game_id
    order(playing, Command.REPLAY, first)
    before = playing.state
    for command in (Command.ANNUL, Command.REPLAY):
        order(playing, command, first)
        assert f"match {first} is played again as 0304001; settle that one, or 'reinstate' this" in refusal(playing)
    order(playing, Command.SUBSTITUTE_REFEREE, first, playing.games(4)[0].referee.group_id)
    assert playing.state == before
    order(playing, Command.REINSTATE, first)
    play_round(playing)
    order(playing, Command.ANNUL, "0304001")
    assert "0304001 was taken back, and does not replay" in refusal(playing)


def test_a_knockout_match_is_replayed_before_the_next_round_is_drawn(
    office_of: Callable[..., Any], teams_of: Callable[..., Any]
) -> None:
    office = office_of(
        teams=teams_of(8), schedule_kind=ScheduleKind.KNOCKOUT, round_gap=timedelta(hours=1)
    ).in_round_one()
    game = office.games(1)[0]
    play_round(office, (3, 0))
    order(office, Command.REPLAY, game.game_id)
    office.wait(timedelta(hours=1, minutes=1))
    assert [each.replay_of for each in office.games()] == [game.game_id]
    office.report(office.games()[0], (0, 3))
    office.wait(timedelta(hours=1, minutes=1))
    semifinal = {team for each in office.games(3) for team in (each.player1, each.player2)}
    assert game.player2 in semifinal
    assert game.player1 not in semifinal
    order(office, Command.REPLAY, "0302001")
    assert "round 3 of the knockout is drawn from its result; 'correct' it" in refusal(office)
    for _ in range(2):
        for each in office.games():
            office.report(each, (3, 0) if each.player2 != game.player2 else (0, 3))
        office.wait(timedelta(hours=1, minutes=1))
    assert office.state.season.phase is SeasonPhase.FINISHED
    (season,) = office.records("season", office.history)
    rows = season.facts["standings"]
    assert (rows[0]["participant_id"], rows[0]["tie_breaks"]["rounds_survived"]) == (game.player2.group_id, 3)
    assert season.facts["total_rounds"] == 4


def test_an_extra_round_is_no_bye_in_a_swiss_season(
    office_of: Callable[..., Any], teams_of: Callable[..., Any]
) -> None:
    office = office_of(teams=teams_of(7), schedule_kind=ScheduleKind.SWISS, rounds=3).in_round_one()
    resting = byes(office.state.schedule, 1)
    for game in office.games(1)[:-1]:
        office.report(game, (3, 0))
    order(office, Command.REPLAY, office.games(1)[0].game_id)
    office.report(office.games(1)[-1], (3, 0))
    play_season(office)
    assert [len(games) for games in office.state.schedule.rounds] == [3, 1, 3, 3]
    rested = [team for number in (1, 3, 4) for team in byes(office.state.schedule, number)]
    assert len(set(rested)) == 3
    assert rested[0] == resting[0]


# Another referee


def third(office: Any, game: Any) -> Any:
    """A team that neither plays nor judges a game, and whose referee is free in its round."""
    number = int(game.game_id[2:4])
    rounds = office.state.schedule.rounds
    busy = {each.referee for each in rounds[number - 1]} if number <= len(rounds) else set()
    return next(team for team in office.config.teams if team not in (game.player1, game.player2, *busy))


@pytest.fixture
def six(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> Any:
    """Six teams in round 1, three games in each of the five rounds."""
    return office_of(teams=teams_of(6)).in_round_one()


def test_a_match_that_has_not_begun_gets_its_referee_with_the_table_before_its_round(six: Any) -> None:
    game = six.games(2)[0]
    team = third(six, game)
    order(six, Command.SUBSTITUTE_REFEREE, game.game_id, team.group_id)
    (told,) = six.sent(FREE)
    assert set(told.to) == {
        game.player1.player_email, game.player2.player_email, game.referee.referee_email, team.referee_email
    }  # fmt: skip
    assert told.envelope.payload.message_text == f"match {game.game_id} is judged by {team.group_id}: it was agreed"
    assert six.sent(TABLE) == []  # not while a round is played
    (settled,) = six.records("settlement")
    assert (settled.facts["before"], settled.facts["after"]) == (
        {"referee": game.referee.group_id}, {"referee": team.group_id}
    )  # fmt: skip
    play_round(six)
    assert six.state.season.label == "ASSIGNED"
    (table,) = six.sent(TABLE)
    rows = {(row.game_id, row.role.value): row.group_id for row in table.envelope.payload.assignments}
    assert rows[game.game_id, "referee"] == team.group_id
    six.everybody_acknowledges()
    assert six.state.season.label == "ROUND(2)"
    six.report(six.games()[0], sender=game.referee.referee_email)
    assert "unauthorized" in six.warnings()  # the former referee is not believed
    play_round(six)
    assert six.state.season.label == "ROUND(3)"
    assert six.sent(TABLE) == []


def test_the_table_is_sent_again_while_it_is_being_acknowledged(
    office_of: Callable[..., Any], teams_of: Callable[..., Any]
) -> None:
    office = office_of(teams=teams_of(6)).open().everybody_registers()
    office.acknowledge(office.config.teams[0].player_email)
    game = office.games(1)[0]
    order(office, Command.SUBSTITUTE_REFEREE, game.game_id, third(office, game).group_id)
    tables = office.sent(TABLE, office.history)
    assert len({send.envelope.message_id for send in tables}) == len(tables) == 2
    assert office.state.season.phase is SeasonPhase.ASSIGNED
    office.everybody_acknowledges()
    assert office.state.season.label == "ROUND(1)"


def test_an_ordered_round_whose_table_goes_out_first_begins_when_everybody_has_it(
    office_of: Callable[..., Any], teams_of: Callable[..., Any]
) -> None:
    office = office_of(teams=teams_of(6), is_automatic=False).open().everybody_registers()
    office.command(Command.CLOSE_REGISTRATION)
    office.everybody_acknowledges()
    assert office.state.season.label == "ASSIGNED", "nobody ordered the first round"
    office.command(Command.START_ROUND)
    game = office.games(2)[0]
    order(office, Command.SUBSTITUTE_REFEREE, game.game_id, third(office, game).group_id)
    play_round(office)
    office.command(Command.END_ROUND)
    office.command(Command.START_ROUND)
    assert office.state.season.label == "ASSIGNED"
    office.everybody_acknowledges()
    assert office.state.season.label == "ROUND(2)"
    play_round(office)
    office.command(Command.END_ROUND)
    assert office.state.season.label == "BETWEEN(2)"


def test_a_table_with_another_referee_has_another_id_before_everybody_is_sent_it(six: Any) -> None:
    game = six.games(2)[0]
    team = third(six, game)
    tables = six.sent(TABLE, six.history)

    def ask() -> None:
        six.mail(six.config.teams[0].player_email, MessageType.REQUEST_ASSIGNMENT_TABLE, RequestAssignmentTable())
        tables.extend(six.sent(TABLE))

    ask()
    order(six, Command.SUBSTITUTE_REFEREE, game.game_id, team.group_id)
    ask()
    ask()
    play_round(six)
    tables.extend(six.sent(TABLE))
    ask()
    envelopes = [send.envelope for send in tables]
    by_id = {envelope.message_id: envelope for envelope in envelopes}
    assert [by_id[envelope.message_id] for envelope in envelopes] == envelopes
    assert len(by_id) == 3
    judges = [
        row.group_id
        for envelope in envelopes
        for row in envelope.payload.assignments
        if (row.game_id, row.role.value) == (game.game_id, "referee")
    ]
    assert judges == [*[game.referee.group_id] * 2, *[team.group_id] * 4]


def test_a_season_that_is_ended_before_its_replay_is_completed_under_another_id(six: Any) -> None:
    game = six.games(2)[0]
    order(six, Command.SUBSTITUTE_REFEREE, game.game_id, third(six, game).group_id)
    play_season(six)
    order(six, Command.REPLAY, "0301001")
    assert six.state.season.label == "ASSIGNED"
    six.command(Command.FINISH_SEASON)
    completed = six.sent(COMPLETED, six.history)
    assert len({send.envelope.message_id for send in completed}) == len(completed) == 2
    assert len({send.envelope.broadcast_id for send in completed}) == 2


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_match_of_a_silent_referee_is_played_again_under_another_one(six: Any, is_closed: bool) -> None:
    silent, *others = six.games()
    team = third(six, silent)
    for game in others:
        six.report(game)
    if is_closed:
        six.command(Command.END_ROUND)
        six.command(Command.END_ROUND)
    order(six, Command.SUBSTITUTE_REFEREE, silent.game_id, team.group_id)
    (told,) = six.sent(FREE)
    assert team.referee_email in told.to
    assert f"played again in an extra round, judged by {team.group_id}" in told.envelope.payload.message_text
    before = six.points()
    six.report(silent, (3, 0))  # the silent referee's late report
    assert six.points() == before
    assert "settled_report" in six.warnings()
    play_season(six)
    (again,) = six.games(6)
    assert (again.replay_of, again.referee) == (silent.game_id, team)
    assert status_of(six, again.game_id) is MatchStatus.COMPLETED


def test_a_replay_that_waits_gets_another_referee(six: Any) -> None:
    game = six.games(1)[0]
    play_round(six)
    order(six, Command.REPLAY, game.game_id)
    team = third(six, game)
    order(six, Command.SUBSTITUTE_REFEREE, game.game_id, team.group_id)
    order(six, Command.SUBSTITUTE_REFEREE, game.game_id, team.group_id)
    assert f"{team.group_id} judges match {game.game_id} already" in refusal(six)
    play_season(six)
    assert [each.referee for each in six.games(6)] == [team]


@pytest.mark.parametrize(
    ("command", "about", "referee", "said"),
    [
        (Command.REPLAY, "0399001", "", "there is no match '0399001' in the rounds that have begun"),
        (Command.REPLAY, "later", "", "in the rounds that have begun"),
        (Command.REPLAY, "open", "", "is still being played"),
        (Command.REPLAY, "reported", "withdrawn", "is withdrawn; 'readmit' it first"),
        (Command.SUBSTITUTE_REFEREE, "0399001", "ravens", "there is no match '0399001' in the schedule"),
        (Command.SUBSTITUTE_REFEREE, "later", "nobody", "there is no team 'nobody'"),
        (Command.SUBSTITUTE_REFEREE, "later", "player", "its referee must be of a third team"),
        (Command.SUBSTITUTE_REFEREE, "later", "judge", "already"),
        (Command.SUBSTITUTE_REFEREE, "later", "other judge", "judges another match of round 2"),
        (Command.SUBSTITUTE_REFEREE, "open", "judge", "already"),
        (Command.SUBSTITUTE_REFEREE, "reported", "third", "has a report; 'replay' has it played again"),
        (Command.SUBSTITUTE_REFEREE, "later", "gone", "is withdrawn; name another team"),
    ],
)
def test_what_cannot_be_played_again_is_refused_by_name(
    six: Any, command: Command, about: str, referee: str, said: str
) -> None:
    first, second, _ = six.games()
    six.report(first)
    game = {"open": second, "reported": first, "later": six.games(2)[0]}.get(about)
    named = {
        "player": lambda: game.player1.group_id,
        "judge": lambda: game.referee.group_id,
        "other judge": lambda: next(
            each.referee.group_id
            for each in six.games(2)
            if each.referee not in (game.player1, game.player2, game.referee)
        ),
        "third": lambda: third(six, game).group_id,
        "gone": lambda: third(six, game).group_id,
        "withdrawn": lambda: game.player1.group_id,
    }.get(referee, lambda: referee)()
    if referee in ("gone", "withdrawn"):
        six.command(Command.WITHDRAW, SettlementOrder(about=named, why="x").to_text())
    before = six.state
    order(six, command, game.game_id if game else about, "" if command is Command.REPLAY else named)
    assert refusal(six).startswith(f"{command.word}: ")
    assert said in refusal(six)
    assert six.state == before


def test_a_referee_that_has_not_registered_does_not_step_in(
    office_of: Callable[..., Any], teams_of: Callable[..., Any]
) -> None:
    office = office_of(teams=teams_of(6)).open()
    absent = office.config.teams[5]
    for member in office.manager.roster.members:
        if member.email != absent.referee_email:
            office.register(member.email)
    office.command(Command.CLOSE_REGISTRATION)
    game = next(each for each in office.games(1) if absent not in (each.player1, each.player2))
    order(office, Command.SUBSTITUTE_REFEREE, game.game_id, absent.group_id)
    assert f"the referee of {absent.group_id} has not registered" in refusal(office)


def test_a_season_that_was_ended_early_has_no_extra_round(playing: Any) -> None:
    game = playing.games(1)[0]
    play_round(playing)
    playing.command(Command.FINISH_SEASON)
    for _ in range(2):
        order(playing, Command.REPLAY, game.game_id)
        assert f"the season ends after round 2, before its last; 'correct' match {game.game_id}" in refusal(playing)
        playing.command(Command.END_ROUND)


def test_a_season_that_is_ended_before_a_replay_names_it(playing: Any) -> None:
    game = playing.games(1)[0]
    play_round(playing)
    order(playing, Command.REPLAY, game.game_id)
    playing.command(Command.FINISH_SEASON)
    playing.command(Command.END_ROUND)
    assert playing.state.season.phase is SeasonPhase.FINISHED
    (warning,) = [each for each in playing.effects if getattr(each, "code", "") == "no_replay"]
    assert warning.text == (
        f"match {game.game_id} was to be played again, and the season ends before; 'reinstate' lets it count"
    )
    order(playing, Command.CORRECT, game.game_id)
    assert "needs the points" in refusal(playing)
    order(playing, Command.REINSTATE, game.game_id)
    assert status_of(playing, game.game_id) is MatchStatus.COMPLETED
    assert len(playing.records("season")) == 1


def test_an_order_names_the_referee_who_steps_in() -> None:
    text = SettlementOrder(about="0101001", referee="otters", why="no answer").to_text()
    assert order_words(text) == "0101001 otters: no answer"
