"""A new season on the journal of the last one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from league_agents.kit.errors import JournalUnusable
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Warn
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.wire.kinds import MessageType

AUTUMN = {"season_id": "SEASON_2031-09-01", "season_name": "Autumn cup", "season_number": 4}


def stored(office: Any) -> dict[str, str]:
    """The parts as the journal keeps them."""
    parts = office.manager.parts(office.state).items()
    return {name: office.manager.dump_part(name, part) for name, part in parts if part is not None}


def restarted(office: Any, **changes: Any) -> Any:
    """The same journal under a league file that was edited."""
    parts = stored(office)
    office.config = evolve(office.config, **changes)
    office.manager = Manager(office.config)
    office.state = office.manager.load(parts)
    return office


def played(office: Any) -> Any:
    office.in_round_one()
    while office.state.season.phase is not SeasonPhase.FINISHED:
        for game in office.games():
            office.report(game)
    return office


def refusals(office: Any) -> list[str]:
    return [warned.text for warned in office.of(Warn) if warned.code == "command_refused"]


def test_a_new_season_begins_where_the_last_one_is_over(office: Any) -> None:
    played(office)
    restarted(office, **AUTUMN)
    office.command(Command.NEW_SEASON)
    assert office.kinds() == ["BROADCAST_START_SEASON"]
    (send,) = office.sent(MessageType.BROADCAST_START_SEASON)
    assert send.envelope.season_id == AUTUMN["season_id"]
    assert office.state.season.label == "REGISTRATION"
    assert office.state.standings.players == {}
    office.everybody_registers().everybody_acknowledges()
    assert {game.game_id[:4] for game in office.games()} == {"0401"}
    played_again = {name for name in stored(office) if name.startswith("round/")}
    assert played_again == set(), "the rounds of the last season are not those of this one"
    for game in office.games():
        office.report(game)
    assert [record.facts["season_id"] for record in office.records("match")] == [AUTUMN["season_id"]]


def test_the_second_season_is_no_repeat_of_the_first(office: Any) -> None:
    played(office)
    first = {send.envelope.message_id for send in office.sent(MessageType.BROADCAST_START_SEASON, office.history)}
    restarted(office, **AUTUMN).command(Command.NEW_SEASON)
    (second,) = office.sent(MessageType.BROADCAST_START_SEASON)
    assert second.envelope.message_id not in first


def test_between_two_seasons_nothing_moves_but_the_order_for_a_new_one(office: Any) -> None:
    played(office)
    game = office.games(1)[0]
    restarted(office, **AUTUMN)
    before = office.state
    office.report(game, (0, 3))
    assert [warned.code for warned in office.of(Warn)] == ["season_over"]
    office.register(game.player1.player_email)
    assert office.effects == []
    for command in (Command.OPEN_SEASON, Command.RESET, Command.PAUSE, Command.START_ROUND):
        office.command(command)
        assert refusals(office) == [f"{command.word}: season 'SEASON_2031-05-02' is over; 'new-season' first"]
    assert office.state == before


def test_a_season_that_is_not_over_is_never_left(office: Any) -> None:
    office.in_round_one()
    with pytest.raises(JournalUnusable, match="which is not over"):
        restarted(office, **AUTUMN)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "the same season": ({}, "names no other: change season.id and season.number"),
    "the same number": ({"season_id": "AUTUMN"}, "season.number is 3, as it was in the last season"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_new_season_needs_a_name_and_a_number_of_its_own(name: str, office: Any) -> None:
    changes, told = REFUSED[name]
    restarted(played(office), **changes).command(Command.NEW_SEASON)
    (refusal,) = refusals(office)
    assert told in refusal
    assert office.state.season.phase is SeasonPhase.FINISHED


def test_a_new_season_before_the_end_of_this_one_is_refused_with_the_way_there(office: Any) -> None:
    office.in_round_one().command(Command.NEW_SEASON)
    assert refusals(office) == ["new-season: the season is in ROUND(1); 'finish-season' first"]


def test_teams_may_come_and_go_between_seasons(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> None:
    four = teams_of(4)
    office = restarted(played(office_of(teams=four[:3])), **AUTUMN, teams=four[1:])
    office.command(Command.NEW_SEASON)
    office.everybody_registers().everybody_acknowledges()
    players = {team.group_id for game in office.state.schedule for team in (game.player1, game.player2)}
    assert players == {team.group_id for team in four[1:]}
