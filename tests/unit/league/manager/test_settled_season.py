"""A season in which everything goes wrong once, with the manager started anew after every event, counted by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from league_agents.league.machines.effects import Effect, Record
from league_agents.league.machines.events import Command, Event
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.orders import SettlementOrder
from league_agents.league.wire.messages import ReportStatus

SCHEDULE = {
    # game: player 1, player 2, referee
    "0301001": ("ravens", "badgers", "wolves"),
    "0301002": ("falcons", "herons", "otters"),
    "0301003": ("wolves", "otters", "falcons"),
    "0302001": ("badgers", "falcons", "ravens"),
    "0302002": ("otters", "ravens", "herons"),
    "0302003": ("herons", "wolves", "badgers"),
    "0303001": ("otters", "badgers", "herons"),
    "0303002": ("wolves", "falcons", "badgers"),
    "0303003": ("ravens", "herons", "wolves"),
    "0304001": ("badgers", "wolves", "falcons"),
    "0304002": ("herons", "otters", "ravens"),
    "0304003": ("falcons", "ravens", "otters"),
    "0305001": ("herons", "badgers", "falcons"),
    "0305002": ("ravens", "wolves", "badgers"),
    "0305003": ("otters", "falcons", "ravens"),
}

# By hand, round by round, with the rules "prd": 3 points for a win by walkover, 3 for each player without a report.
#
#          round 1        round 2       round 3      round 4        round 5        sum  won
# ravens   2 badgers      2 otters      3 herons     0 falcons      3 wolves (c)    10    2
# badgers  1 ravens       3 falcons (b) 0 otters     0 wolves (d)   0 herons (d)     4    0
# falcons  3 herons (a)   3 badgers (b) 2 wolves     0 ravens       2 otters        10    2
# herons   0 falcons (a)  0 wolves      1 ravens     2 otters       3 badgers (d)    6    2
# wolves   2 otters (e)   3 herons      1 falcons    3 badgers (d)  3 ravens (c)    12    3
# otters   0 wolves (e)   2 ravens      3 badgers    1 herons       3 falcons        9    2
#
# (a) the herons' player is silent: a win for the falcons, by walkover
# (b) the ravens' referee is silent: 3 points each, and nobody has won
# (c) the badgers, who are withdrawn by then, were to judge it: no report, 3 points each
# (d) the badgers are withdrawn: walkovers
# (e) reported as 1:3, which does not count any more: the replay in round 6 ends 2:0
# In 0303001 the referee reports 3:0 and then 0:3: the first report counts.
POINTS = {"ravens": 10, "badgers": 4, "falcons": 10, "herons": 6, "wolves": 12, "otters": 9}
WON = {"ravens": 2, "badgers": 0, "falcons": 2, "herons": 2, "wolves": 3, "otters": 2}
TERMINATIONS = {
    "0301002": ("player_timeout", ["player2"]),
    "0302001": ("no_report", ["referee"]),
    "0304001": ("walkover", ["player1"]),
    "0305001": ("walkover", ["player2"]),
    "0305002": ("no_report", ["referee"]),
}


def restarted_after_every_event(office: Any) -> Any:
    """The office with a manager that is started anew, from what was stored, after every event."""
    feed: Callable[[Event], Sequence[Effect]] = office.feed

    def feed_and_restart(event: Event) -> Sequence[Effect]:
        effects = feed(event)
        parts = office.manager.parts(office.state).items()
        stored = {name: office.manager.dump_part(name, part) for name, part in parts if part is not None}
        office.manager = Manager(office.config)
        office.state = office.manager.load(stored)
        return effects

    office.feed = feed_and_restart
    return office


def play(office: Any, report_of: Callable[..., Any]) -> Any:
    office.in_round_one()
    drawn = {
        game.game_id: (game.player1.group_id, game.player2.group_id, game.referee.group_id)
        for game in office.state.schedule
    }
    assert drawn == SCHEDULE

    def report(game_id: str, one: int, two: int) -> None:
        office.report(office.state.schedule.game(game_id), (one, two))

    def settle(command: Command, about: str) -> None:
        office.command(command, SettlementOrder(about=about, why="it was agreed").to_text())

    report("0301001", 2, 1)
    game = office.state.schedule.game("0301002")
    silent = f"player_timeout:{game.player2.player_email}"
    office.report(game, payload=report_of(game, (0, 0), ReportStatus.ABORTED, abort_reason=silent))
    report("0301003", 1, 3)

    report("0302002", 2, 2)
    report("0302003", 0, 3)
    assert office.state.season.label == "ROUND(2)"
    office.wait(timedelta(minutes=32))  # the round's time and the grace, in which the ravens' referee says nothing

    report("0303001", 3, 0)
    report("0303001", 0, 3)
    assert office.warnings() == ["report_conflict"]
    report("0303002", 1, 2)
    report("0303003", 3, 1)

    report("0304002", 2, 1)
    settle(Command.WITHDRAW, "badgers")
    report("0304003", 0, 0)

    report("0305003", 3, 2)
    settle(Command.REPLAY, "0301003")
    office.wait(timedelta(minutes=32))

    office.everybody_acknowledges()
    (again,) = office.games(6)
    assert again.replay_of == "0301003"
    office.report(again, (2, 0))
    return office


@pytest.fixture
def office_of_six(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> Callable[[], Any]:
    """Makes an office of six teams before the season."""
    return lambda: office_of(teams=teams_of(6))


def test_the_standings_are_those_computed_by_hand(
    office_of_six: Callable[[], Any], report_of: Callable[..., Any]
) -> None:
    office = play(restarted_after_every_event(office_of_six()), report_of)
    assert office.state.season.phase is SeasonPhase.FINISHED
    players = office.state.standings.players
    assert {group: tally.points for group, tally in players.items()} == POINTS
    assert {group: tally.won for group, tally in players.items()} == WON
    assert {tally.played for tally in players.values()} == {5}
    unreported = {group: duty.unreported for group, duty in office.state.standings.referees.items() if duty.unreported}
    assert unreported == {"ravens": 1, "badgers": 1}
    (season,) = office.records("season", office.history)
    assert {row["participant_id"]: row["total_points"] for row in season.facts["standings"]} == POINTS


def test_every_match_ends_with_a_name_and_says_who_was_absent(
    office_of_six: Callable[[], Any], report_of: Callable[..., Any]
) -> None:
    office = play(restarted_after_every_event(office_of_six()), report_of)
    records: dict[str, Record] = {record.key: record for record in office.records("match", office.history)}
    assert set(records) == {*SCHEDULE, "0306001"}
    absent = {
        key: (record.termination.value, record.facts["absent"])
        for key, record in records.items()
        if record.facts["absent"]
    }
    assert absent == TERMINATIONS


def test_a_manager_that_is_never_stopped_does_the_same(
    office_of_six: Callable[[], Any], report_of: Callable[..., Any]
) -> None:
    stopped, whole = (play(each, report_of) for each in (restarted_after_every_event(office_of_six()), office_of_six()))
    assert stopped.state == whole.state
    assert stopped.history == whole.history
