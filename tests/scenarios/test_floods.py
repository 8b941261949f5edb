"""Strangers fill a mailbox of the league: no game is lost, and league mail is heard as soon as ever.

In simulated time: what is compared are instants and quota units, whatever the machine does meanwhile. ``scripts/soak
flood`` plays the same with 10,000 mails.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from league_agents.local_league.league import four_seats
from league_agents.mail.quota import QuotaLimits
from tests.support.flooded_league import CALL, PACE, Flood, FloodedSeason, play_flooded_season

WAITING = 500
"""Two minutes of the whole quota: as long as a warm-up may take."""

USUAL = PACE.active + 8 * CALL
"""From a mail's arrival until it is taken in: the longest pause between two looks, and a look with its calls."""

USUAL_WHEN_FORGED = timedelta(seconds=10)
"""When a peer's name is forged once a second, which is as often as Gmail takes mail for an account."""


def flooded(folder: Path, role: str, *, waiting: int, per_minute: int, kind: Flood) -> FloodedSeason:
    seats = four_seats()
    victim = next(seat for seat in seats if seat.role == role)
    return play_flooded_season(folder, seats=seats, victim=victim, waiting=waiting, per_minute=per_minute, kind=kind)


@pytest.mark.parametrize("role", ["player", "referee", "manager"])
def test_a_flood_of_strangers_costs_no_game_and_no_time(tmp_path: Path, role: str) -> None:
    season = flooded(tmp_path / "league", role, waiting=WAITING, per_minute=60, kind=Flood.STRANGERS)
    assert season.matches == Counter(completed=1)
    assert season.latencies[-1] <= USUAL
    assert season.most_units < QuotaLimits().units_per_minute
    assert season.read, "strangers get their share"


def test_a_flood_in_the_name_of_the_office_costs_no_game(tmp_path: Path) -> None:
    season = flooded(tmp_path / "league", "player", waiting=WAITING, per_minute=60, kind=Flood.FORGED)
    assert season.matches == Counter(completed=1)
    assert season.latencies[-1] <= USUAL_WHEN_FORGED
    assert season.most_units < QuotaLimits().units_per_minute
