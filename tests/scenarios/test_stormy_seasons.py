"""Mail is lost, doubled and late, the mail service refuses, authorizations lapse, agents misbehave: every match ends.

``scripts/soak seasons`` plays a thousand of these seasons; here a sample is played.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.stormy_season import StormEnding, play_stormy_season

SEEDS = range(1, 19)


@pytest.fixture(scope="module")
def endings() -> dict[int, StormEnding]:
    return {seed: play_stormy_season(seed) for seed in SEEDS}


def test_every_match_ends_with_a_name_for_its_ending_and_nothing_hangs(endings: dict[int, StormEnding]) -> None:
    wrong = {seed: (ending.unended, ending.still_open) for seed, ending in endings.items()}
    assert {seed: found for seed, found in wrong.items() if any(found)} == {}


def test_nothing_happens_that_nobody_foresaw(endings: dict[int, StormEnding]) -> None:
    assert {seed: ending.bugs for seed, ending in endings.items() if ending.bugs} == {}


def test_the_weather_was_bad_enough_and_not_too_bad(endings: dict[int, StormEnding]) -> None:
    terminations: Counter[str] = sum((ending.terminations for ending in endings.values()), Counter())
    assert {"completed", "player_timeout", "format_violation", "no_report"} <= set(terminations)
    assert terminations["completed"] > 0.2 * terminations.total()
    accidents: Counter[str] = sum((ending.accidents for ending in endings.values()), Counter())
    assert {"mailbox_unavailable", "authorization_needed", "authorized", "duplicate_message"} <= set(accidents)


def test_a_season_is_repeatable() -> None:
    assert play_stormy_season(7) == play_stormy_season(7)
