"""What ends one pass of a match by mail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from league_agents.app.arena_mail import work
from league_agents.kit.clock import ManualClock
from league_agents.runner.outbox import SHOWS_UP, UNDER_WAY
from league_agents.runner.scan import SEND_PATIENCE

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
LOOK_EVERY = timedelta(seconds=5)


@pytest.mark.parametrize(
    ("doubt", "expected"),
    [
        (timedelta(0), timedelta(0)),
        (UNDER_WAY + SHOWS_UP, UNDER_WAY + SHOWS_UP),  # until the letter was found or has been sent again
        (timedelta(hours=1), SEND_PATIENCE),
    ],
)
def test_one_pass_waits_for_a_letter_in_doubt_and_for_nothing_else(doubt: timedelta, expected: timedelta) -> None:
    clock = ManualClock(NOON)
    turn_ends_at = NOON + timedelta(hours=2)

    def next_wake() -> datetime:
        return clock.now() + LOOK_EVERY if clock.now() < NOON + doubt else turn_ends_at

    work(
        lambda: None,
        lambda: False,
        lambda: False,
        pause=timedelta(minutes=10),
        clock=clock,
        observer=lambda _line: None,
        next_wake=next_wake,
        once=True,
    )
    assert expected - LOOK_EVERY < clock.now() - NOON <= expected
