"""Swiss and knockout: whatever the results, there is a next round, and it is fair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league_agents.games.q21.rules import PRD
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.league.season.pairings import advancing, byes, drawn_up, next_round, survived
from league_agents.league.season.schedule import Pairing, Schedule, ScheduleKind, Team, check_schedule, round_robin
from league_agents.league.season.standings import MatchOutcome, MatchStatus, Standings
from league_agents.league.season.tie_breaks import ranking, usual_tie_breaks
from league_agents.league.wire.messages import AssignmentRole

SWISS, KNOCKOUT = ScheduleKind.SWISS, ScheduleKind.KNOCKOUT
Result = Callable[[Pairing], MatchOutcome]


def teams(count: int) -> list[Team]:
    return [
        Team(group_id=f"G{index:02d}", player_email=f"p{index}@example.com", referee_email=f"r{index}@example.com")
        for index in range(count)
    ]


def won(points: tuple[int, int], *, private: tuple[float, float] = (0.0, 0.0)) -> MatchOutcome:
    winner = None
    if points[0] != points[1]:
        winner = AssignmentRole.PLAYER1 if points[0] > points[1] else AssignmentRole.PLAYER2
    return MatchOutcome(status=MatchStatus.COMPLETED, winner=winner, league_points=points, private_scores=private)


def drawn_results(seed: int) -> Result:
    """Results of all kinds, of games that nobody reported too."""
    draw = Draw(seed, "results")

    def result(_game: Pairing) -> MatchOutcome:
        if draw.chance(0.1):
            return MatchOutcome(status=MatchStatus.NO_REPORT)
        return won((draw.below(4), draw.below(4)), private=(draw.below(100), draw.below(100)))

    return result


def better_seed_wins(game: Pairing) -> MatchOutcome:
    return won((3, 0) if game.player1.group_id < game.player2.group_id else (0, 3))


def played(schedule: Schedule, result: Result, everybody: list[Team]) -> tuple[Schedule, dict[str, MatchOutcome]]:
    """All rounds of a season, paired one by one."""
    outcomes: dict[str, MatchOutcome] = {}
    for _ in range(schedule.planned):
        outcomes |= {game.game_id: result(game) for game in schedule.rounds[-1]}
        if len(schedule.rounds) == schedule.planned:
            break
        games = [(game, outcomes[game.game_id]) for game in schedule]
        rows = ranking(
            schedule.players,
            Standings().with_matches(games, PRD),
            tie_breaks=usual_tie_breaks(schedule.kind),
            rules=PRD,
            seed="",
            games=lambda games=games: games,  # type: ignore[misc]
            schedule=schedule,
        )
        order = [row.team for row in rows]
        schedule = next_round(schedule, order=order, outcomes=outcomes, rules=PRD, season=1, everybody=everybody)
    return schedule, outcomes


@given(count=st.integers(3, 24), seed=st.integers(0, 10_000), longest=st.booleans())
def test_a_swiss_season_has_no_rematch_fair_byes_and_neutral_referees(count: int, seed: int, longest: bool) -> None:
    everybody = teams(count)
    schedule = drawn_up(SWISS, everybody, season=1, rounds=count // 2 if longest else None)
    schedule, _ = played(schedule, drawn_results(seed), everybody)
    assert len(schedule.rounds) == schedule.planned == schedule.total_rounds
    assert check_schedule(schedule, season=1) == []
    meetings = Counter(frozenset((game.player1.group_id, game.player2.group_id)) for game in schedule)
    assert set(meetings.values()) == {1}
    rested = Counter(team.group_id for number in range(1, schedule.planned + 1) for team in byes(schedule, number))
    assert sum(rested.values()) == (count % 2) * schedule.planned
    assert max(rested.values(), default=0) <= 1
    duty = Counter(game.referee.group_id for game in schedule)
    assert max(duty.values()) - min(duty[team.group_id] for team in everybody) <= 2
    first = Counter(game.player1.group_id for game in schedule)
    second = Counter(game.player2.group_id for game in schedule)
    assert all(abs(first[each.group_id] - second[each.group_id]) <= 3 for each in everybody)


def test_a_swiss_round_pairs_those_of_similar_standing() -> None:
    everybody = teams(8)
    schedule, outcomes = played(drawn_up(SWISS, everybody, season=1), better_seed_wins, everybody)
    points = Counter[str]()
    for number, games in enumerate(schedule.rounds, start=1):
        for game in games:
            gap = abs(points[game.player1.group_id] - points[game.player2.group_id])
            assert gap <= 3, (number, game)
        for game in games:
            for team, each in zip((game.player1, game.player2), outcomes[game.game_id].league_points, strict=True):
                points[team.group_id] += each
    assert [group for group, each in points.items() if each == 9] == ["G00"]


@given(count=st.integers(3, 33), seed=st.integers(0, 10_000))
def test_a_knockout_season_leaves_one(count: int, seed: int) -> None:
    everybody = teams(count)
    schedule, outcomes = played(drawn_up(KNOCKOUT, everybody, season=1), drawn_results(seed), everybody)
    assert check_schedule(schedule, season=1) == []
    assert sum(len(games) for games in schedule.rounds) == count - 1
    assert [len(games) for games in schedule.rounds[1:]] == [2**left for left in reversed(range(schedule.planned - 1))]
    # The byes belong to the first seeds, and there are none after the first round.
    assert byes(schedule, 1) == tuple(everybody[: 2**schedule.planned - count])
    lasted = survived(schedule, outcomes, PRD)
    assert sorted(lasted.values())[-2:] == [schedule.planned - 1, schedule.planned]
    out = Counter(lasted.values())
    assert all(out[number] == len(games) for number, games in enumerate(schedule.rounds))
    duty = Counter(game.referee.group_id for game in schedule)
    assert max(duty.values()) - min(duty[team.group_id] for team in everybody) <= 2


def test_the_first_two_seeds_meet_in_the_final() -> None:
    everybody = teams(8)
    schedule, outcomes = played(drawn_up(KNOCKOUT, everybody, season=1), better_seed_wins, everybody)
    (final,) = schedule.rounds[-1]
    assert {final.player1.group_id, final.player2.group_id} == {"G00", "G01"}
    assert survived(schedule, outcomes, PRD)["G00"] == 3


@pytest.mark.parametrize(
    ("outcome", "through"),
    [
        (won((1, 3)), "G01"),
        (won((2, 2), private=(70.0, 70.5)), "G01"),  # a draw: the private score
        (won((2, 2), private=(70.0, 70.0)), "G00"),  # all is equal: the better seed
        (MatchOutcome(status=MatchStatus.NO_REPORT), "G00"),
        (MatchOutcome(status=MatchStatus.CANCELLED), "G00"),
        (
            MatchOutcome(status=MatchStatus.SINGLE_PLAYER, missing=AssignmentRole.PLAYER1, league_points=(1, 0)),
            "G01",  # who was there goes on, whatever points the absent one is reported
        ),
    ],
)
def test_who_goes_on(outcome: MatchOutcome, through: str) -> None:
    one, two, judge = teams(3)
    game = Pairing(game_id="0101001", player1=one, player2=two, referee=judge)
    assert advancing(game, outcome, PRD, {"G00": 0, "G01": 1}).group_id == through


@pytest.mark.parametrize(
    ("kind", "rounds", "message"),
    [
        (SWISS, 5, "1 to 4 rounds"),
        (KNOCKOUT, 3, "is for a Swiss season"),
        (ScheduleKind.DOUBLE, 3, "is for a Swiss season"),
    ],
)
def test_a_number_of_rounds_that_cannot_be_is_refused(kind: ScheduleKind, rounds: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        drawn_up(kind, teams(8), season=1, rounds=rounds)


def test_kinds_that_need_no_results_are_whole_from_the_start() -> None:
    assert drawn_up(ScheduleKind.ROUND_ROBIN, teams(5), season=1) == round_robin(teams(5), season=1)
    assert drawn_up(ScheduleKind.DOUBLE, teams(5), season=1) == round_robin(teams(5), season=1, double=True)


def test_referees_of_the_roster_step_in_when_those_who_registered_are_not_neutral() -> None:
    everybody = teams(8)
    judging = everybody[4:]
    schedule = drawn_up(KNOCKOUT, everybody, season=1, referees=judging)

    def later_seed_wins(game: Pairing) -> MatchOutcome:
        return won((0, 3) if game.player1.group_id < game.player2.group_id else (3, 0))

    schedule, _ = played(schedule, later_seed_wins, everybody)
    assert check_schedule(schedule, season=1) == []


def test_who_is_withdrawn_judges_only_what_nobody_else_can() -> None:
    everybody = teams(3)  # two of them play the final, and nobody else is there to judge it
    schedule = drawn_up(KNOCKOUT, everybody, season=1)
    (game,) = schedule.rounds[0]
    out = game.player2.group_id
    schedule = next_round(
        schedule,
        order=everybody,
        outcomes={game.game_id: won((3, 0))},
        rules=PRD,
        season=1,
        everybody=everybody,
        withdrawn=(out,),
    )
    assert [final.referee.group_id for final in schedule.rounds[1]] == [out]


@given(st.integers(6, 10), st.integers(0, 10**6))
@settings(max_examples=30)
def test_a_swiss_round_leaves_out_who_is_withdrawn_and_nobody_else_needlessly(count: int, seed: int) -> None:
    everybody, draw = teams(count), Draw(seed, "withdrawals")
    schedule = drawn_up(SWISS, everybody, season=1, rounds=count // 2)
    result, gone = drawn_results(seed), set[str]()
    for _ in range(count // 2 - 1):
        outcomes = {game.game_id: result(game) for game in schedule}
        gone |= {team.group_id for team in everybody if draw.chance(0.1)}
        met = {frozenset((game.player1.group_id, game.player2.group_id)) for game in schedule}
        schedule = next_round(
            schedule, order=everybody, outcomes=outcomes, rules=PRD, season=1, everybody=everybody, withdrawn=gone
        )
        playing = [team.group_id for game in schedule.rounds[-1] for team in (game.player1, game.player2)]
        left = [team.group_id for team in everybody if team.group_id not in gone]
        assert not gone.intersection(playing)
        assert not {frozenset(pair) for pair in zip(playing[::2], playing[1::2], strict=True)} & met
        if len(left) - len(playing) > 1:
            bye: list[str | None] = [*left] if len(left) % 2 else [None]
            assert not any(can_all_play([team for team in left if team != each], met) for each in bye)


def can_all_play(groups: list[str], met: set[frozenset[str]]) -> bool:
    """Whether these can be paired without a second meeting, by trying everything."""
    if not groups:
        return True
    one, *rest = groups
    return any(
        frozenset((one, two)) not in met and can_all_play([each for each in rest if each != two], met) for two in rest
    )


def test_who_is_left_of_an_odd_number_has_one_bye_and_of_an_even_number_none() -> None:
    everybody = teams(8)
    schedule = drawn_up(SWISS, everybody, season=1)
    byes_of_round = []
    for gone in ({"G07"}, {"G07", "G06"}):
        outcomes = {game.game_id: won((3, 0)) for game in schedule}
        schedule = next_round(
            schedule, order=everybody, outcomes=outcomes, rules=PRD, season=1, everybody=everybody, withdrawn=gone
        )
        resting = byes(schedule, len(schedule.rounds))
        byes_of_round.append([team.group_id for team in resting if team.group_id not in gone])
    assert byes_of_round == [["G06"], []]
