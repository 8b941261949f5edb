"""Machines whose clocks are wrong, or are set in the middle of a match: it ends as it would have, and nobody is blamed.

Every wait is 20 s without grace. ``scripts/soak clocks`` plays all of them, with each role in a process of its own.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from league_agents.games.q21.model import Termination
from tests.support.wrong_clocks import SEATS, MatchEnding, play_in_turns

_, REFEREE, FALCONS, OTTERS = (seat.name for seat in SEATS)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> MatchEnding:
    """The match with clocks that are right."""
    return play_in_turns(tmp_path_factory.mktemp("right"), walls={}, jumps={})


def test_a_match_ends_as_with_right_clocks(tmp_path: Path, whole: MatchEnding) -> None:
    # A referee that was a minute behind aborted every match of such waits, and blamed the players.
    walls = {REFEREE: timedelta(minutes=-1), FALCONS: timedelta(seconds=-400), OTTERS: timedelta(seconds=400)}
    assert play_in_turns(tmp_path, walls=walls, jumps={}) == whole


def test_the_match_with_right_clocks_is_completed_and_nobody_is_blamed(whole: MatchEnding) -> None:
    assert len(whole.records) == 2
    assert all(Termination.COMPLETED in record for record in whole.records)
    assert whole.warnings == ()
