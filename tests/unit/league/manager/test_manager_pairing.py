"""Seasons whose rounds are paired one by one: the manager sends a table for each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.dump import load_state
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.schedule import ScheduleKind
from league_agents.league.season.tie_breaks import TieBreak
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import AssignmentTable, NewRound, StartSeason
from tests.unit.league.manager.conftest import Office, some_config, some_teams

TABLE = MessageType.BROADCAST_ASSIGNMENT_TABLE


def table_of(office: Office) -> AssignmentTable:
    (send,) = office.sent(TABLE)
    assert isinstance(send.envelope.payload, AssignmentTable)
    return send.envelope.payload


@pytest.mark.parametrize("kind", [ScheduleKind.SWISS, ScheduleKind.KNOCKOUT])
def test_the_next_round_is_paired_when_one_ends(office_of: Callable[..., Office], kind: ScheduleKind) -> None:
    office = office_of(teams=some_teams(8), schedule_kind=kind).open()
    (start,) = office.sent(MessageType.BROADCAST_START_SEASON)
    assert isinstance(start.envelope.payload, StartSeason)
    assert start.envelope.payload.total_rounds == 3
    office.everybody_registers()
    ids = {office.sent(TABLE, office.history)[0].envelope.message_id}
    office.everybody_acknowledges()
    for number in (1, 2, 3):
        assert office.state.season.label == f"ROUND({number})"
        (new,) = office.sent(MessageType.BROADCAST_NEW_LEAGUE_ROUND)
        assert isinstance(new.envelope.payload, NewRound)
        assert (new.envelope.payload.total_rounds, new.envelope.payload.is_final_round) == (3, number == 3)
        for game in office.games():
            office.report(game, (3, 0))
        if number == 3:
            break
        assert office.state.season.phase is SeasonPhase.ASSIGNED
        games = {row.game_id for row in table_of(office).assignments}
        assert games == {game.game_id for game in office.state.schedule or ()}
        assert {game_id[2:4] for game_id in games} == {f"{each:02d}" for each in range(1, number + 2)}
        ids.add(office.sent(TABLE)[0].envelope.message_id)
        if number == 1:
            office.everybody_acknowledges()
        else:
            office.wait(timedelta(seconds=10))  # nobody is waited for longer than for the first table
    assert office.state.season.phase is SeasonPhase.FINISHED
    assert len(ids) == 3
    (season,) = office.records("season")
    assert season.facts["total_rounds"] == 3


def test_an_operator_pairs_and_then_starts_a_round(office_of: Callable[..., Office]) -> None:
    office = office_of(teams=some_teams(4), schedule_kind=ScheduleKind.KNOCKOUT, is_automatic=False).open()
    office.everybody_registers()
    office.command(Command.CLOSE_REGISTRATION)
    office.command(Command.START_ROUND)
    for game in office.games():
        office.report(game, (3, 0))
    office.command(Command.END_ROUND)
    office.command(Command.START_ROUND)
    assert office.kinds() == [TABLE.value]
    office.command(Command.START_ROUND)
    assert office.kinds() == [MessageType.BROADCAST_NEW_LEAGUE_ROUND.value]
    assert len(office.games()) == 1


def test_a_table_that_was_lost_is_the_latest_one(office_of: Callable[..., Office]) -> None:
    office = office_of(teams=some_teams(4), schedule_kind=ScheduleKind.SWISS).in_round_one()
    for game in office.games():
        office.report(game)
    latest = office.sent(TABLE)[0].envelope
    from league_agents.league.wire.messages import RequestAssignmentTable

    office.mail(some_teams(4)[0].player_email, MessageType.REQUEST_ASSIGNMENT_TABLE, RequestAssignmentTable())
    (again,) = office.sent(TABLE)
    assert again.envelope == latest


def test_a_knockout_is_won_by_who_was_never_beaten(office_of: Callable[..., Office]) -> None:
    office = office_of(teams=some_teams(3), schedule_kind=ScheduleKind.KNOCKOUT).in_round_one()
    for game in office.games():  # the first seed has a bye
        office.report(game, (3, 2))
    office.everybody_acknowledges()
    (final,) = office.games()
    bye = some_teams(3)[0]
    office.report(final, (1, 0) if final.player1 == bye else (0, 1))
    (season,) = office.records("season")
    rows = season.facts["standings"]
    assert isinstance(rows, list)
    # The finalist has more league points; a knockout asks first who was in it longest.
    assert [(row["rank"], row["participant_id"], row["tie_breaks"]["rounds_survived"]) for row in rows[:1]] == [
        (1, bye.group_id, 2)
    ]
    assert max(row["total_points"] for row in rows) > rows[0]["total_points"]
    assert season.facts["tie_breaks"] == ["rounds_survived", "points", "private_score", "wins"]


def test_a_schedule_of_before_kinds_were_kept_is_a_round_robin(office_of: Callable[..., Office]) -> None:
    office = office_of().in_round_one()
    parts = {
        name: office.manager.dump_part(name, part)
        for name, part in office.manager.parts(office.state).items()
        if part is not None
    }
    former = parts["schedule"]
    for key in ('"kind":"round-robin",', '"planned":0,', '"entrants":[],', ',"referees":[]'):
        former = former.replace(key, "")
    assert '"kind"' not in former
    assert '"referees"' not in former
    loaded = load_state(office.config, office.manager.roster, {**parts, "schedule": former})
    assert loaded.schedule == office.state.schedule


def test_the_list_of_tie_breaks_decides_the_table(office_of: Callable[..., Office]) -> None:
    office = office_of(tie_breaks=(TieBreak.WINS,)).in_round_one()
    while office.state.season.phase is not SeasonPhase.FINISHED:
        for game in office.games():
            office.report(game, (2, 2))
    (season,) = office.records("season")
    rows = season.facts["standings"]
    assert isinstance(rows, list)
    assert [row["rank"] for row in rows] == [1, 1, 1]
    assert [row["tie_breaks"] for row in rows] == [{"wins": 0}] * 3
    assert some_config(tie_breaks=(TieBreak.WINS,)).table_order == (TieBreak.WINS,)
