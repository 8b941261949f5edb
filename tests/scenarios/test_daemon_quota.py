"""What a match and the polling cost at the prices of 2026, as Gmail's side counts it (protocol 2.8)."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from league_agents.app.connectivity import check_everything
from league_agents.app.looking import role_status
from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings
from league_agents.kit.clock import SystemClock
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.local_league.league import MANAGER, LeagueProcess, LocalLeague, four_seats
from league_agents.local_league.machine_clock import MachineClock
from league_agents.mail.quota import PRICES_2026
from league_agents.report.secret_texts import SecretTexts
from league_agents.runner.pace import Pace
from tests.support.latency import VERDICT, free_text
from tests.support.turns import turns

POLLING = ("history.list", "messages.list", "getProfile")
MATCH_UNITS, MATCH_SENDS = 1_050, 9
MINUTE_UNITS = 6_000
SHORT = timedelta(seconds=2)


def calls_of(league: LocalLeague, seat: LeagueProcess) -> Counter[str]:
    report: dict[str, Any] = league.sandbox.report()
    methods = report["accounts"].get(seat.address, {}).get("methods", {})
    assert all(tally["refused"] == 0 for tally in methods.values())
    return Counter({name: tally["calls"] for name, tally in methods.items()})


def units(calls: Counter[str], *, polling: bool) -> int:
    return sum(PRICES_2026[name] * count for name, count in calls.items() if (name in POLLING) is polling)


def test_a_match_costs_its_referee_at_most_1050_units_and_9_sends(tmp_path: Path) -> None:
    with LocalLeague(folder=tmp_path / "league", seats=four_seats(), registration=SHORT) as league:
        manager, referee, *players = league.seats
        # The manager comes last, so that nobody has heard of the round when it has begun.
        with turns(league, [referee, *players, manager]) as everybody:
            everybody.until(lambda: everybody.is_in(SeasonPhase.ROUND))
            before = calls_of(league, referee)
            everybody.until(lambda: everybody.is_in(SeasonPhase.FINISHED))
            everybody.until_quiet()
        cost = calls_of(league, referee) - before
        unread = league.sandbox.mail(referee.address, "UNREAD")
    # The office's four broadcasts of the round and of the season's end cost what any received mail does.
    broadcasts = cost["messages.get"] - 6
    assert (cost["messages.send"], broadcasts, unread) == (MATCH_SENDS, 4, [])
    one_mail = PRICES_2026["messages.get"] + PRICES_2026["messages.modify"]
    assert units(cost, polling=False) - broadcasts * one_mail <= MATCH_UNITS


def test_polling_while_a_game_is_open_takes_at_most_two_percent_of_the_minute(tmp_path: Path) -> None:
    minutes = 10
    seats = [LeagueProcess(role="player", group="falcons")]
    clock = MachineClock(tmp_path, rate=0)
    eager = Pace(lively_for=timedelta(days=1))
    with LocalLeague(folder=tmp_path / "league", seats=seats, clock=clock) as league:
        with turns(league, pace=eager) as one:
            role = one.lives[0].role
            while role.turn() == timedelta(0):
                pass
            before = calls_of(league, seats[0])
            ends_at = clock.now() + timedelta(minutes=minutes)
            while clock.now() < ends_at:
                clock.advance(role.turn())
        spent = calls_of(league, seats[0]) - before
    assert spent["history.list"] >= minutes * 60 / 2, "it looks at least every two seconds"
    assert set(spent) <= set(POLLING)
    assert units(spent, polling=True) <= 0.02 * MINUTE_UNITS * minutes


def test_a_new_journal_forgets_no_send_of_today(tmp_path: Path) -> None:
    (seat,) = seats = [LeagueProcess(role="player", group="falcons")]
    with LocalLeague(folder=tmp_path / "league", seats=seats, clock=MachineClock(tmp_path, rate=0)) as league:
        for number in (1, 2):
            settings = with_journal(league, seat, f"journal-{number}.db")
            with turns(league) as one:
                ask(league, seat, number)
                one.until(lambda number=number: len(league.sandbox.mail(seat.address, "SENT")) == number)
                one.until_quiet()
            assert sends_left(settings) == 500 - number
        settings = with_journal(league, seat, "journal-3.db")
        assert sends_left(settings) == 498, "also before the daemon has started"
        checks = {check.name: check.said for check in check_everything(settings, SystemClock())}
        assert checks["quota"].startswith("497 sends left today"), "a mail to itself was sent as well"
        assert sends_left(settings) == 497


def with_journal(league: LocalLeague, seat: LeagueProcess, name: str) -> LeagueSettings:
    """The seat's league file, with another journal."""
    path = league.config_of(seat)
    file = yaml.safe_load(path.read_text("utf-8"))
    file["roles"][seat.role]["journal"] = name
    path.write_text(yaml.safe_dump(file), "utf-8")
    settings = read_league_file(path, {})
    marker = Path(f"{settings.role(seat.role).token}.journal")
    marker.unlink(missing_ok=True)  # as a person does who wants to begin anew
    return settings


def sends_left(settings: LeagueSettings) -> int | None:
    """As ``status`` shows them."""
    (role,) = settings.roles
    return role_status(settings, role, now=SystemClock().now(), secrets=SecretTexts()).sends_left


def ask(league: LocalLeague, seat: LeagueProcess, number: int) -> None:
    league.sandbox.inject(free_text(number, seat.address), to=[seat.address], sender=MANAGER, verdict=VERDICT)
