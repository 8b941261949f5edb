"""Items of the conformance checklist that need time, an operator or a second start, with the daemon's own roles over
Gmail's API (protocol 10.4, 10.9, 10.10)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.orders import give
from league_agents.games.q21.model import Termination
from league_agents.journal.port import Note, Order, OutboxState
from league_agents.kit.clock import SystemClock
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.local_league.league import LeagueProcess, LocalLeague, four_seats
from tests.support.turns import Turns, in_turns, turns


@pytest.fixture
def league(tmp_path: Path) -> Iterator[LocalLeague]:
    with in_turns(tmp_path / "league", four_seats()) as made:
        yield made


def pass_time(league: LocalLeague, duration: timedelta) -> None:
    assert league.clock is not None
    league.clock.advance(duration)


def sent(league: LocalLeague, seat: LeagueProcess, kind: str) -> int:
    return sum(kind in mail.view.header("subject") for mail in league.sandbox.mail(seat.address, "SENT"))


def notes(everybody: Turns, role: str, kind: str) -> list[Note]:
    journals = [live.role.wired.journal for live in everybody.lives if live.settings.role == role]
    return [note for journal in journals for note in journal.notes() if note.kind == kind]


def order(everybody: Turns, command: Command, text: str = "") -> None:
    settings = next(live.settings for live in everybody.lives if live.settings.role == "manager")
    give(settings, Order(nonce=f"n-{command}", command=command, text=text, at=SystemClock().now()))


def finish(everybody: Turns) -> None:
    everybody.until(lambda: everybody.is_in(SeasonPhase.FINISHED))
    everybody.until_quiet()


def test_guesses_that_reached_gmail_in_time_count_although_they_are_read_after_the_deadline(
    league: LocalLeague,
) -> None:
    manager, referee, *players = league.seats
    with turns(league, [referee, manager]) as office, turns(league, players) as others:
        while not sent(league, referee, "Q21ANSWERSBATCH"):
            office.once()
            others.once()
        others.until(lambda: all(sent(league, player, "Q21GUESSSUBMISSION") for player in players))
        pass_time(league, timedelta(minutes=10))
        office.until(lambda: office.is_in(SeasonPhase.FINISHED))
        (match,) = notes(office, "referee", "match")
    assert match.facts["termination"] == Termination.COMPLETED


def test_a_guess_that_never_comes_ends_the_match_after_its_deadline(league: LocalLeague) -> None:
    manager, referee, falcons, otters = league.seats
    with turns(league, [referee, manager, falcons]) as present, turns(league, [otters]) as absent:
        while not sent(league, otters, "Q21QUESTIONSBATCH"):
            present.once()
            absent.once()
        present.until(lambda: bool(sent(league, falcons, "Q21GUESSSUBMISSION")))
        present.until_quiet()
        pass_time(league, timedelta(minutes=10))
        present.until(lambda: present.is_in(SeasonPhase.FINISHED))
        (match,) = notes(present, "referee", "match")
        (of_manager,) = notes(present, "manager", "match")
    assert match.facts["termination"] == of_manager.facts["termination"] == Termination.PLAYER_TIMEOUT


def test_a_pause_stops_the_match_and_its_deadlines_and_continue_lets_it_end(league: LocalLeague) -> None:
    _, referee, *players = league.seats
    with turns(league) as everybody:
        everybody.until(lambda: bool(sent(league, referee, "Q21ROUNDSTART")))
        order(everybody, Command.PAUSE)
        everybody.until_quiet()
        pass_time(league, timedelta(hours=2))
        everybody.until_quiet()
        assert sent(league, referee, "Q21SCOREFEEDBACK") == 0
        assert all(sent(league, player, "CRITICALPAUSE") + sent(league, player, "CRITICAL_PAUSE") for player in players)
        order(everybody, Command.CONTINUE)
        finish(everybody)
        (match,) = notes(everybody, "referee", "match")
    assert match.facts["termination"] == Termination.COMPLETED


def test_a_reset_drops_the_match_without_a_report_and_a_new_season_can_be_opened(league: LocalLeague) -> None:
    _, referee, *_ = league.seats
    with turns(league) as everybody:
        everybody.until(lambda: bool(sent(league, referee, "Q21ROUNDSTART")))
        order(everybody, Command.RESET, "a mistake")
        everybody.until(lambda: everybody.is_in(SeasonPhase.SETUP))
        everybody.until_quiet()
        (match,) = notes(everybody, "referee", "match")
        assert match.facts["termination"] == Termination.RESET
        assert sent(league, referee, "MATCHRESULTREPORT") + sent(league, referee, "MATCH_RESULT_REPORT") == 0
        order(everybody, Command.OPEN_SEASON)
        finish(everybody)
        *_, match = notes(everybody, "referee", "match")
    assert match.facts["termination"] == Termination.COMPLETED


def test_everybody_may_be_started_anew_after_each_turn(league: LocalLeague) -> None:
    lives = 0
    is_over = False
    while not is_over:
        with turns(league) as everybody:
            lives += 1
            everybody.once()
            is_over = everybody.is_in(SeasonPhase.FINISHED) or lives > 400
    with turns(league) as everybody:
        everybody.until_quiet()
        (match,) = notes(everybody, "manager", "match")
        outbox = [item for live in everybody.lives for item in live.role.wired.journal.outbox()]
    report: dict[str, Any] = league.sandbox.report()
    assert lives > 10
    assert match.facts["termination"] == Termination.COMPLETED
    assert report["accepted_twice"] == []
    assert {item.state for item in outbox} == {OutboxState.SENT}
    kinds = [item.message_type for item in outbox]
    # Each player reports besides the referee.
    numbers = {"Q21GUESSSUBMISSION": 2, "Q21SCOREFEEDBACK": 2, "MATCH_RESULT_REPORT": 3}
    assert {kind: kinds.count(kind) for kind in numbers} == numbers
