"""Who plays whom and who judges, for every number of teams that a season can hold."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import suppress
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from league_agents.kit.errors import ConfigError
from league_agents.league.season.schedule import Schedule, Team, check_schedule, check_teams, round_robin, single_game
from league_agents.league.wire.messages import AssignmentRole


def teams(count: int, start: int = 0) -> list[Team]:
    return [
        Team(
            group_id=f"G{index:02d}",
            player_email=f"player{index}@example.com",
            referee_email=f"referee{index}@example.com",
        )
        for index in range(start, start + count)
    ]


def spread(counts: Counter[str], groups: list[Team]) -> int:
    found = [counts[team.group_id] for team in groups]
    return max(found) - min(found)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("count", range(3, 41))
def test_everybody_meets_everybody_and_all_share_the_work(count: int, double: bool) -> None:
    groups = teams(count)
    schedule = round_robin(groups, season=7, double=double)
    meetings = Counter((game.player1.group_id, game.player2.group_id) for game in schedule)
    for one, two in combinations([team.group_id for team in groups], 2):
        sides = [meetings[one, two], meetings[two, one]]
        assert sides == [1, 1] if double else sorted(sides) == [0, 1]
    assert check_schedule(schedule, season=7) == []
    assert len(schedule.rounds) == (count - 1 + count % 2) * (2 if double else 1)
    duty = Counter(game.referee.group_id for game in schedule)
    assert spread(duty, groups) <= 1
    first = Counter(game.player1.group_id for game in schedule)
    second = Counter(game.player2.group_id for game in schedule)
    assert all(abs(first[team.group_id] - second[team.group_id]) <= (0 if double else 1) for team in groups)
    assert [game.game_id for game in schedule.round(2)] == [
        f"0702{number:03d}" for number in range(1, len(schedule.round(2)) + 1)
    ]


@given(count=st.integers(3, 40), games_at_once=st.integers(1, 20), double=st.booleans())
def test_several_games_at_once_are_the_same_games_in_fewer_rounds(count: int, games_at_once: int, double: bool) -> None:
    groups = teams(count)
    usual = round_robin(groups, season=7, double=double)
    schedule = round_robin(groups, season=7, double=double, games_at_once=games_at_once)
    assert [(game.player1, game.player2, game.referee) for game in schedule] == [
        (game.player1, game.player2, game.referee) for game in usual
    ]
    assert len(schedule.rounds) == -(-len(usual.rounds) // games_at_once)
    assert check_schedule(schedule, season=7, games_at_once=games_at_once) == []
    if games_at_once > 1 and len(usual.rounds) > 1 and count > 3:
        rules = {violation.rule for violation in check_schedule(schedule, season=7)}
        assert rules == {"one game per mailbox and round"}


def test_a_round_has_as_many_games_as_ids_have_digits_for() -> None:
    assert len(round_robin(teams(150), season=7, games_at_once=10).rounds) == 15
    with pytest.raises(ConfigError, match="games_at_once: is too large: a round has at most 999 games"):
        round_robin(teams(150), season=7, games_at_once=20)


@given(
    players=st.integers(min_value=2, max_value=20),
    judges=st.integers(min_value=0, max_value=12),
    shared=st.integers(min_value=0, max_value=20),
)
@settings(max_examples=60, deadline=None)
def test_referees_of_their_own_judge_every_game_or_it_is_said_which_they_cannot(
    players: int, judges: int, shared: int
) -> None:
    playing = teams(players)
    judging = playing[: min(shared, players)] + teams(judges, start=50)
    schedule = None
    with suppress(ConfigError):
        schedule = round_robin(playing, season=0, referees=judging)
    if schedule is None:
        # Enough referees who do not play can judge anything.
        assert judges < max(players // 2, 1)
    else:
        assert check_schedule(schedule, season=0) == []
        assert {game.referee for game in schedule} <= set(judging)


def test_the_largest_season_is_drawn_up_at_once() -> None:
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        schedule = list(round_robin(teams(40), season=1, double=True))
    finally:
        sys.setprofile(None)
    assert len(schedule) == 40 * 39
    assert steps < 250_000, "calls: half as many today, whatever the machine"


def test_the_same_teams_give_the_same_schedule() -> None:
    assert round_robin(teams(9), season=1) == round_robin(teams(9), season=1)


@pytest.mark.parametrize(
    ("count", "double", "season", "path", "named"),
    [
        (2, False, 1, "teams", "at least 3"),
        (0, False, 1, "teams", "at least 3"),
        (101, False, 1, "teams", "99"),  # 101 rounds; a round has two digits
        (51, True, 1, "teams", "102 rounds"),
        (4, False, 100, "season_number", "0 to 99"),
        (4, False, -1, "season_number", "0 to 99"),
    ],
)
def test_a_season_that_does_not_fit_names_the_limit(
    count: int, double: bool, season: int, path: str, named: str
) -> None:
    with pytest.raises(ConfigError, match=named) as caught:
        round_robin(teams(count), season=season, double=double)
    assert caught.value.path == path


def test_the_most_teams_of_a_season_fit() -> None:
    assert len(round_robin(teams(100), season=1).rounds) == 99
    assert len(round_robin(teams(50), season=1, double=True).rounds) == 98


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"group_id": "G00"}, "group_id 'G00'"),
        ({"group_id": " "}, "needs a group_id"),
        ({"player_email": "PLAYER0@example.com"}, "used twice"),
        ({"player_email": "referee0@example.com"}, "used twice"),
        ({"player_email": "referee1@example.com"}, "used twice"),
        ({"referee_email": "nobody"}, "not a mail address"),
        ({"referee_email": "A B <x@example.com>"}, "not a mail address"),
    ],
)
def test_teams_that_cannot_be_told_apart_are_refused(changes: dict[str, str], named: str) -> None:
    groups = teams(3)
    groups[1] = replace(groups[1], **changes)
    with pytest.raises(ConfigError, match=named):
        check_teams(groups, least=3)


def test_a_single_game_has_a_referee_of_a_third_group() -> None:
    one, two, judge = teams(3)
    schedule = single_game(one, two, judge, season=4)
    assert check_schedule(schedule, season=4) == []
    assert [(row.role, row.email, row.game_id, row.group_id) for row in schedule.assignments()] == [
        (AssignmentRole.PLAYER1, "player0@example.com", "0401001", "G00"),
        (AssignmentRole.PLAYER2, "player1@example.com", "0401001", "G01"),
        (AssignmentRole.REFEREE, "referee2@example.com", "0401001", "G02"),
    ]
    with pytest.raises(ConfigError, match="two teams have the group_id"):
        single_game(one, two, replace(judge, group_id="G00"))


def test_a_schedule_knows_its_games_and_its_mailboxes() -> None:
    schedule = round_robin(teams(4), season=1)
    assert schedule.place("0102002") == (2, 1)
    assert schedule.place("0109001") is None
    assert schedule.involves("player3@example.com")
    assert not schedule.involves("player4@example.com")
    assert set(schedule.players) == set(teams(4))


def test_what_is_wrong_with_a_schedule_of_somebody_else_is_all_said() -> None:
    one, two, three, four = teams(4)
    good = single_game(one, two, three, season=1).round(1)[0]
    own = replace(good, referee=one)
    assert [violation.rule for violation in check_schedule(Schedule(((own,),)), season=1)] == ["three different groups"]
    assert [violation.rule for violation in check_schedule(Schedule(((good,), ())), season=1)] == ["one game or more"]
    assert [violation.rule for violation in check_schedule(Schedule(()), season=1)] == ["1 to 99 rounds"]
    assert [violation.rule for violation in check_schedule(Schedule(((good,),)), season=2)] == ["of season 02"]
    again = replace(good, player1=four, referee=one)
    found = check_schedule(Schedule(((good, again), (good,))), season=1)
    assert [violation.rule for violation in found] == [
        "unique",
        "one game per mailbox and round",
        "of round 02",
        "unique",
    ]
