"""SIGKILL in the middle of a send, over Gmail's API and a journal on disk: the mail is sent once.

``scripts/soak sends`` does it hundreds of times, in real time.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.journal.port import OutboxState
from league_agents.local_league.league import MANAGER, LeagueProcess, LocalLeague
from league_agents.local_league.machine_clock import MachineClock
from league_agents.runner.outbox import LONGEST_PAUSE, SHOWS_UP, UNDER_WAY
from league_agents.sandbox.faults import LONGEST_WAIT_S, Fault, FaultAction
from tests.support.latency import VERDICT, free_text

SEND = "messages.send"
FIRST = Fault(action=FaultAction.WAIT, method=SEND, seconds=LONGEST_WAIT_S, calls=(1,))


SLOW = 0.02
"""How fast time passes: the seconds that are left of a doubt are then longer than any test."""


@pytest.fixture
def league(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LocalLeague]:
    """One daemon. Its first send hangs until the faults are cleared."""
    seats, clock = [LeagueProcess(role=request.param, group="falcons")], MachineClock(tmp_path, rate=SLOW)
    with LocalLeague(folder=tmp_path / "league", seats=seats, clock=clock) as running:
        running.sandbox.add_fault(FIRST)
        yield running


def ask(league: LocalLeague, number: int) -> None:
    address = league.seats[0].address
    league.sandbox.inject(free_text(number, address), to=[address], sender=MANAGER, verdict=VERDICT)


def kill_in_the_first_send(league: LocalLeague) -> None:
    (seat,) = league.seats
    ask(league, 1)
    league.start(seat)
    league.until(lambda: bool(league.sandbox.sends_under_way(seat.address)), "the send is under way")
    league.kill(seat)


def states(league: LocalLeague) -> list[OutboxState]:
    journal = league.look_at_journal(league.seats[0])
    assert journal is not None
    try:
        return [item.state for item in journal.outbox()]
    finally:
        journal.close()


def counts(league: LocalLeague) -> list[tuple[int, int]]:
    """Of each mail how often it reached the service, and how often it was taken."""
    report: dict[str, Any] = league.sandbox.report()
    return [(each["posted"], each["accepted"]) for each in report["sends"][league.seats[0].address].values()]


def let_it_look(league: LocalLeague) -> None:
    """Until the daemon has come round to its mailbox again."""
    answered = states(league).count(OutboxState.SENT)
    ask(league, 100 + len(states(league)))
    league.until(lambda: states(league).count(OutboxState.SENT) > answered, "another mail is answered")


@pytest.mark.parametrize(
    ("league", "wall"),
    [("player", timedelta(0)), ("referee", timedelta(hours=1)), ("player", timedelta(hours=-1))],
    indirect=["league"],
)
def test_a_send_that_goes_on_after_its_client_was_killed_is_not_made_again(
    league: LocalLeague, wall: timedelta
) -> None:
    (seat,) = league.seats
    assert league.clock is not None
    kill_in_the_first_send(league)
    league.clock.set_wall(wall, seat.name)
    league.start(seat)
    league.until(lambda: states(league)[0] is OutboxState.AMBIGUOUS, "the daemon knows of the doubt")
    let_it_look(league)
    league.clock.advance(UNDER_WAY - LONGEST_PAUSE)
    let_it_look(league)
    assert counts(league)[0] == (1, 0)
    league.sandbox.clear_faults()
    league.until(lambda: counts(league)[0] == (1, 1), "the service takes the mail at last")
    league.clock.advance(LONGEST_PAUSE)
    league.until(lambda: set(states(league)) == {OutboxState.SENT}, "the mail was found")
    league.clock.advance(UNDER_WAY + SHOWS_UP)
    let_it_look(league)
    assert set(counts(league)) == {(1, 1)}


@pytest.mark.parametrize("league", ["referee"], indirect=True)
def test_a_send_that_never_arrived_is_made_again_when_none_can_be_under_way(league: LocalLeague) -> None:
    (seat,) = league.seats
    assert league.clock is not None
    league.sandbox.add_fault(Fault(action=FaultAction.DROP_UNDONE, method=SEND, calls=(1,)))
    kill_in_the_first_send(league)
    league.sandbox.clear_faults()
    league.start(seat)
    let_it_look(league)
    league.clock.advance(UNDER_WAY)
    let_it_look(league)
    assert counts(league)[0] == (1, 0)
    league.clock.advance(SHOWS_UP + LONGEST_PAUSE)
    league.until(lambda: set(states(league)) == {OutboxState.SENT}, "the mail was sent again")
    assert counts(league)[0] == (2, 1)
