"""Any sequence of settlements, in any state of the season: the table is that of the games that count, at most one match
of a chain of replays counts, every message has an id of its own, the journal has the whole state, and the season goes
on to its end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from league_agents.league.machines.effects import Send
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.round_results import counted_games
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.orders import SettlementOrder
from league_agents.league.season.schedule import ScheduleKind
from league_agents.league.season.standings import NO_DUTY, NO_TALLY, MatchStatus, Standings
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import ReportStatus, RequestAssignmentTable

POINTS = st.sampled_from([(3, 0), (0, 3), (1, 1), (0, 0)])
GAME = st.tuples(st.integers(1, 6), st.integers(0, 3))
MATCHES = st.sampled_from([Command.ANNUL, Command.CORRECT, Command.REINSTATE, Command.REPLAY])
TEAMS = st.sampled_from([Command.WITHDRAW, Command.READMIT])

steps = st.one_of(
    st.tuples(st.just("report"), GAME, POINTS, st.sampled_from([ReportStatus.COMPLETED, ReportStatus.ABORTED])),
    st.tuples(st.just("all but"), st.integers(0, 3), POINTS),
    st.tuples(st.just("match"), MATCHES, GAME, POINTS),
    st.tuples(st.just("match"), MATCHES, GAME, POINTS),
    st.tuples(st.just("referee"), GAME, st.integers(0, 3)),
    st.tuples(st.just("team"), TEAMS, st.integers(0, 3)),
    st.tuples(st.just("extend")),
    st.tuples(st.sampled_from(["pause", "continue", "finish"])),
    st.tuples(st.just("close")),
    st.tuples(st.just("acknowledge")),
    st.tuples(st.just("ask"), st.integers(0, 3)),
)


def game_of(office: Any, place: tuple[int, int]) -> Any:
    """The game at this place; ``None`` if there is none."""
    number, index = place
    rounds = office.state.schedule.rounds if office.state.schedule is not None else ()
    games = rounds[number - 1] if number <= len(rounds) else ()
    return games[index % len(games)] if games else None


def order(office: Any, command: Command, about: str = "", **keys: Any) -> None:
    office.command(command, SettlementOrder(about=about, why="x", **keys).to_text())


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
                order(office, command, game.game_id, points=stated)
        case "referee", place, index:
            if (game := game_of(office, place)) is not None:
                order(office, Command.SUBSTITUTE_REFEREE, game.game_id, referee=office.config.teams[index].group_id)
        case "team", command, index:
            order(office, command, office.config.teams[index].group_id)
        case ("extend",):
            order(office, Command.EXTEND_ROUND, minutes=5)
        case (("pause" | "continue") as word,):
            office.command(Command(word))
        case ("finish",):
            office.command(Command.FINISH_SEASON)
        case ("close",):
            office.command(Command.END_ROUND)
            office.command(Command.END_ROUND)
        case ("acknowledge",):
            office.everybody_acknowledges()
        case "ask", index:
            asks = office.config.teams[index].player_email
            office.mail(asks, MessageType.REQUEST_ASSIGNMENT_TABLE, RequestAssignmentTable())


def without_zeros(standings: Standings) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {group: tally for group, tally in standings.players.items() if tally != NO_TALLY},
        {group: duty for group, duty in standings.referees.items() if duty != NO_DUTY},
    )


def check(office: Any) -> None:
    """The invariants. The office itself checks with every step that the journal's parts give the same state."""
    state = office.state
    counted = Standings().with_matches(counted_games(state), office.config.rules)
    assert without_zeros(state.standings) == without_zeros(counted)
    assert state.awaited == sum(record.counted is None for record in state.games)
    assert all(record.outcome is not None for closed in state.closed for record in closed.games)
    families: dict[str, list[MatchStatus | None]] = {}
    records = [record for closed in state.closed for record in closed.games] + list(state.games)
    for game, record in zip(state.schedule or (), records, strict=False):
        first = game
        while first.replay_of:
            first = state.schedule.game(first.replay_of)
        status = record.counted.status if record.counted is not None else None
        families.setdefault(first.game_id, []).append(status)
    for statuses in families.values():
        assert sum(status is None or not status.is_removed for status in statuses) <= 1
    waiting = [each.match for each in state.season.replays]
    assert len(set(waiting)) == len(waiting)
    for match in waiting:
        number, index = state.schedule.place(match)
        settled = (state.closed[number - 1].games if number <= len(state.closed) else state.games)[index].settled
        assert settled is not None
        assert settled.status is MatchStatus.REPLAYED


def check_ids(office: Any) -> None:
    """An id stands for one message: the outbox sends nothing twice, and readers drop what they have."""
    known: dict[str, Any] = {}
    for send in office.of(Send, office.history):
        envelope = send.envelope
        if send.is_repeat:
            assert known.setdefault(envelope.message_id, envelope) == envelope
        else:
            assert envelope.message_id not in known, envelope.message_type
            known[envelope.message_id] = envelope


def play_on(office: Any) -> None:
    """Go on to the end of the season, without any further report."""
    office.command(Command.CONTINUE)
    for _ in range(60):
        if office.state.season.phase is SeasonPhase.FINISHED:
            check_ids(office)
            return
        do(office, ("close",))
        office.wait(timedelta(seconds=30))
        check(office)
    raise AssertionError(f"the season does not end: {office.state.season.label}")


@pytest.mark.parametrize("kind", [ScheduleKind.KNOCKOUT, ScheduleKind.SWISS, ScheduleKind.ROUND_ROBIN])
@given(happenings=st.lists(steps, max_size=25), is_open=st.booleans())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_table_is_that_of_the_games_that_count_and_the_season_ends(
    office_of: Callable[..., Any],
    teams_of: Callable[..., Any],
    kind: ScheduleKind,
    happenings: list[tuple[Any, ...]],
    is_open: bool,
) -> None:
    office = office_of(teams=teams_of(8 if kind is ScheduleKind.KNOCKOUT else 4), schedule_kind=kind)
    office = office.in_round_one() if is_open else office.open().everybody_registers()
    for step in happenings:
        do(office, step)
        check(office)
    play_on(office)


@pytest.mark.parametrize("kind", [ScheduleKind.KNOCKOUT, ScheduleKind.SWISS, ScheduleKind.ROUND_ROBIN])
@given(happenings=st.lists(steps.filter(lambda step: step[0] != "report"), max_size=20), unreported=st.integers(0, 5))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_league_whose_settlements_are_all_taken_back_is_as_if_they_had_never_been(
    office_of: Callable[..., Any],
    teams_of: Callable[..., Any],
    kind: ScheduleKind,
    happenings: list[tuple[Any, ...]],
    unreported: int,
) -> None:
    office = office_of(teams=teams_of(8 if kind is ScheduleKind.KNOCKOUT else 4), schedule_kind=kind).in_round_one()
    while office.state.season.phase is not SeasonPhase.FINISHED:
        for index, game in enumerate(office.games()):
            if (office.state.season.round_number, index) != (2, unreported):
                office.report(game, (3, 0))
        do(office, ("close",))
        do(office, ("acknowledge",))
    before, played = office.state.standings, list(office.state.schedule)
    for step in happenings:
        do(office, step)
        check(office)
    for team in office.config.teams:
        order(office, Command.READMIT, team.group_id)
    for game in played:
        order(office, Command.REINSTATE, game.game_id)
    play_on(office)
    assert without_zeros(office.state.standings) == without_zeros(before)


@given(happenings=st.lists(steps, max_size=15))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_settlements_before_the_season_change_no_match(
    office_of: Callable[..., Any], teams_of: Callable[..., Any], happenings: list[tuple[Any, ...]]
) -> None:
    office = office_of(teams=teams_of(4))
    for step in happenings:
        do(office, step)
        check(office)
    assert office.state.schedule is None
