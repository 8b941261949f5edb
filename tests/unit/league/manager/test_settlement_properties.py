"""Whatever is settled, whenever: the table is that of the games that count, and the season goes on to its end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.rounds import counted_games
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.orders import SettlementOrder
from league_agents.league.season.schedule import ScheduleKind
from league_agents.league.season.standings import NO_DUTY, NO_TALLY, Standings
from league_agents.league.wire.messages import ReportStatus

POINTS = st.sampled_from([(3, 0), (0, 3), (1, 1), (0, 0)])
GAME = st.tuples(st.integers(1, 3), st.integers(0, 3))
MATCHES = st.sampled_from([Command.ANNUL, Command.CORRECT, Command.REINSTATE])
TEAMS = st.sampled_from([Command.WITHDRAW, Command.READMIT])

steps = st.one_of(
    st.tuples(st.just("report"), GAME, POINTS, st.sampled_from([ReportStatus.COMPLETED, ReportStatus.ABORTED])),
    st.tuples(st.just("all but"), st.integers(0, 3), POINTS),
    st.tuples(st.just("match"), MATCHES, GAME, POINTS),
    st.tuples(st.just("match"), MATCHES, GAME, POINTS),
    st.tuples(st.just("team"), TEAMS, st.integers(0, 3)),
    st.tuples(st.just("close")),
    st.tuples(st.just("acknowledge")),
)


def game_of(office: Any, place: tuple[int, int]) -> Any:
    number, index = place
    rounds = office.state.schedule.rounds
    return rounds[number - 1][index % len(rounds[number - 1])] if number <= len(rounds) else None


def do(office: Any, step: tuple[Any, ...]) -> None:
    match step:
        case "report", place, points, status:
            if (game := game_of(office, place)) is not None:
                office.report(game, points, status=status)
        case "all but", index, points:
            if office.state.games:
                for at, game in enumerate(office.games()):
                    if at != index:
                        office.report(game, points)
        case "match", command, place, points:
            if (game := game_of(office, place)) is not None:
                stated = points if command is Command.CORRECT else None
                office.command(command, SettlementOrder(about=game.game_id, why="x", points=stated).to_text())
        case "team", command, index:
            about = office.config.teams[index].group_id
            office.command(command, SettlementOrder(about=about, why="x").to_text())
        case ("close",):
            office.command(Command.END_ROUND)
            office.command(Command.END_ROUND)
        case ("acknowledge",):
            office.everybody_acknowledges()


def without_zeros(standings: Standings) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {group: tally for group, tally in standings.players.items() if tally != NO_TALLY},
        {group: duty for group, duty in standings.referees.items() if duty != NO_DUTY},
    )


@pytest.mark.parametrize("kind", [ScheduleKind.KNOCKOUT, ScheduleKind.SWISS, ScheduleKind.ROUND_ROBIN])
@given(happenings=st.lists(steps, max_size=25))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_table_is_that_of_the_games_that_count_and_the_season_ends(
    office_of: Callable[..., Any],
    teams_of: Callable[..., Any],
    kind: ScheduleKind,
    happenings: list[tuple[Any, ...]],
) -> None:
    office = office_of(teams=teams_of(8 if kind is ScheduleKind.KNOCKOUT else 4), schedule_kind=kind).in_round_one()

    def check() -> None:
        state = office.state
        counted = Standings().with_matches(counted_games(state), office.config.rules)
        assert without_zeros(state.standings) == without_zeros(counted)
        assert state.awaited == sum(record.counted is None for record in state.games)
        assert all(record.outcome is not None for closed in state.closed for record in closed.games)

    for step in happenings:
        do(office, step)
        check()
    for _ in range(10):
        do(office, ("close",))
        office.wait(timedelta(seconds=30))
        check()
    assert office.state.season.phase is SeasonPhase.FINISHED
