"""The hall, on a clock of its own: who is absent, who is back, what is forgotten, what a failure costs."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import weakref
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from league_agents.app.arena_server import arena_house
from league_agents.arena.protocol.access import Principal
from league_agents.arena.protocol.envelope import OutgoingFrame
from league_agents.arena.protocol.hosting import Status
from league_agents.arena.protocol.refusals import Refused
from league_agents.arena.scenario import Scenario, ScenarioSeat, scenario_of
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.limits import ServerLimits
from league_agents.arena.server.outbox import SocketOutbox
from league_agents.kit.errors import ConfigError, LimitExceeded

QUICK = ServerLimits(house_pause=timedelta(0), house_actions_per_s=100_000)


class Clock:
    """A time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2031, 5, 2, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def market(*agents: str, clock: dict[str, Any] | None = None) -> Scenario:
    return scenario_of(
        {
            "game": "market",
            "config": {"max_rounds": 3},
            "agents": [{"id": f"s{place}", "agent": agent} for place, agent in enumerate(agents, start=1)],
            "clock": clock or {},
        }
    )


def run(played: Callable[[Hall, Clock], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def whole() -> None:
        clock = Clock()
        hall = Hall(options.pop("house", None) or arena_house(), **{"limits": QUICK, "now": clock, **options})
        try:
            await played(hall, clock)
        finally:
            await hall.close()

    asyncio.run(whole())


async def settle(hall: Hall) -> None:
    """Let everything happen that happens by itself."""
    for _ in range(30):
        await asyncio.sleep(0)


def asked(hall: Hall, match_id: str, agent_id: str, kind: str, **body: Any) -> OutgoingFrame:
    found: list[OutgoingFrame] = []
    envelope = {"version": "1.0.0", "type": kind, "game": "market", "match_id": match_id, "agent_id": agent_id, **body}
    hall.handle(json.dumps(envelope), Principal.of_seat(match_id, agent_id), found.append)
    return found[0]


def priced(hall: Hall, match_id: str, agent_id: str) -> OutgoingFrame:
    return asked(
        hall,
        match_id,
        agent_id,
        "perform_action",
        action={"version": "1.0.0", "type": "submit_price", "data": {"price": 50}},
    )


def code_of(answer: OutgoingFrame) -> str | None:
    found: str | None = answer["action_response"]["data"].get("code")
    return found


def seated(hall: Hall, scenario: Scenario) -> str:
    match_id = hall.open_match(scenario).match_id
    for seat in scenario.seats:
        if seat.agent == "open":
            hall.join(match_id, agent_id=seat.id)
    return match_id


def test_a_lost_connection_costs_decisions_after_its_grace_and_coming_back_ends_that() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        match_id = seated(hall, market("open", "open", clock={"turn_timeout_s": 600, "disconnect_grace_s": 30}))
        outbox = SocketOutbox(100)
        hall.attach(match_id, "s1", outbox)
        hall.detach(match_id, "s1", outbox)
        clock.forward(29)
        priced(hall, match_id, "s2")
        await settle(hall)
        assert asked(hall, match_id, "s2", "get_state", state={"version": "1.0.0"})["turn"] == 1
        clock.forward(2)
        table = hall.tables.get(match_id)
        assert table is not None
        assert table.session is not None
        table.session.wake()
        await settle(hall)
        state = asked(hall, match_id, "s2", "get_state", state={"version": "1.0.0"})
        assert state["turn"] == 2
        hall.attach(match_id, "s1", outbox)
        # The decision of this round was forfeited at once; the next one is its own again.
        assert code_of(priced(hall, match_id, "s1")) == "too_late"
        priced(hall, match_id, "s2")
        await settle(hall)
        assert code_of(priced(hall, match_id, "s1")) is None

    run(played)


def test_asking_over_http_is_being_there_but_does_not_end_an_absence() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        match_id = seated(hall, market("open", "open", clock={"turn_timeout_s": 10, "max_forfeits": 1}))
        table = hall.tables.get(match_id)
        assert table is not None
        assert table.decisions is not None
        clock.forward(11)
        priced(hall, match_id, "s2")
        assert "s1" not in table.decisions.absent()
        table.decisions.expire(clock())
        assert "s1" in table.decisions.absent()
        asked(hall, match_id, "s1", "get_state", state={"version": "1.0.0"})
        hall.seen(match_id, "s1")
        assert "s1" in table.decisions.absent()
        priced(hall, match_id, "s1")
        assert "s1" not in table.decisions.absent()

    run(played)


def test_seats_with_a_connection_that_was_lost_while_waiting_have_their_grace_from_the_start() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        match_id = hall.open_match(market("open", "open", clock={"disconnect_grace_s": 5})).match_id
        outbox = SocketOutbox(10)
        hall.join(match_id, agent_id="s1")
        hall.attach(match_id, "s1", outbox)
        hall.detach(match_id, "s1", outbox)
        hall.join(match_id, agent_id="s2")
        table = hall.tables.get(match_id)
        assert table is not None
        assert table.decisions is not None
        assert table.decisions.next_deadline() == clock() + timedelta(seconds=5)

    run(played)


def test_an_action_in_the_same_moment_as_the_start_is_taken_and_written_down() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        match_id = seated(hall, market("open", "open"))
        for _ in range(3):  # before the session had a chance to run
            assert code_of(priced(hall, match_id, "s1")) is None
            assert code_of(priced(hall, match_id, "s2")) is None
        lines = hall.transcript(match_id, "host")
        assert lines is not None
        assert [line["line"] for line in lines].count("decision") == 6
        assert lines[-1]["line"] == "outcome"
        await settle(hall)
        assert hall.transcript(match_id, "host") == lines

    run(played)


def test_whose_turn_it_is_has_a_deadline_at_once() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        match_id = seated(hall, market("open", "open", clock={"turn_timeout_s": 10}))
        priced(hall, match_id, "s1")
        clock.forward(4)
        priced(hall, match_id, "s2")
        state = asked(hall, match_id, "s1", "get_state", state={"version": "1.0.0"})["state"]["data"]
        assert state["deadline"] == "2031-05-02T00:00:14Z"

    run(played)


def test_matches_are_swept_in_their_time() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        waiting = hall.open_match(market("open", "open")).match_id
        ended = hall.open_match(market("scripted", "scripted")).match_id
        running = seated(hall, market("open", "open", clock={"turn_timeout_s": 100_000}))
        while (hosted := hall.store.get(ended)) is None or hosted.status is not Status.ENDED:
            await asyncio.sleep(0)
        clock.forward(3601)
        hall.sweep()
        assert hall.store.get(ended) is None
        assert hall.tokens.claim_of(hall.tokens.issue(running, "s1")) is not None
        given_up = hall.store.get(waiting)
        assert given_up is not None
        assert given_up.status is Status.ABANDONED
        clock.forward(1801)
        hall.sweep()
        assert hall.store.get(waiting) is None
        assert hall.tables.get(waiting) is None
        assert hall.store.get(running) is not None

    run(played)


def test_a_match_that_was_forgotten_leaves_nothing_behind() -> None:
    """Not even until garbage is searched for: a busy server would grow by hundreds of megabytes meanwhile."""

    async def played(hall: Hall, clock: Clock) -> None:
        hosted = hall.open_match(market("scripted", "scripted"))
        match_id, match, table = hosted.match_id, weakref.ref(hosted.match), hall.tables.get(hosted.match_id)
        assert table is not None
        session = weakref.ref(table.session) if table.session is not None else None
        assert session is not None
        while hosted.status is not Status.ENDED:
            await asyncio.sleep(0)
        await settle(hall)
        assert hall.transcript(match_id, "host")
        del hosted, table
        gc.disable()
        try:
            clock.forward(1801)
            hall.sweep()
            await settle(hall)
            assert hall.store.get(match_id) is None
            assert (match(), session()) == (None, None)
        finally:
            gc.enable()

    run(played)


def test_transcripts_are_kept_up_to_a_bound() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        matches = []
        for _ in range(3):
            matches.append(hall.open_match(market("scripted", "scripted")).match_id)
            while hall.transcript(matches[-1], "host") is None:
                await asyncio.sleep(0)
            clock.forward(1)
        hall.sweep()
        assert [hall.store.get(match_id) is not None for match_id in matches] == [False, False, True]

    run(played, limits=replace(QUICK, transcripts=1500))


def test_a_match_that_grows_too_long_is_given_up() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        long, short = seated(hall, market("open", "open")), seated(hall, market("open", "open"))
        for agent_id in ("s1", "s2", "s1", "s2"):
            priced(hall, long, agent_id)
        hall.sweep()
        await settle(hall)
        found = {match_id: hosted.status for match_id in (long, short) if (hosted := hall.store.get(match_id))}
        assert found == {long: Status.ABANDONED, short: Status.STARTED}
        lines = hall.transcript(long, "host")
        assert lines is not None
        assert lines[-1]["status"] == "abandoned"

    run(played, limits=replace(QUICK, transcript=1500))


def test_a_match_whose_agent_cannot_be_made_is_not_opened() -> None:
    def broken(seat: ScenarioSeat, scenario: Scenario, **_: Any) -> object:
        raise ConfigError(f"agent {seat.id}", "cannot play today")

    async def played(hall: Hall, clock: Clock) -> None:
        with pytest.raises(ConfigError):
            hall.open_match(market("scripted", "open"))
        assert hall.store.all() == ()

    run(played, house=replace(arena_house(), make_agent=broken))


def test_an_agent_of_the_house_that_fails_costs_its_decision() -> None:
    class Failing:
        def act(self, *_: object) -> object:
            raise SystemExit

    async def played(hall: Hall, clock: Clock) -> None:
        match_id = seated(hall, market("scripted", "open"))
        for _ in range(3):
            while code_of(priced(hall, match_id, "s2")) is not None:  # the other has not failed yet
                await asyncio.sleep(0.001)
        while (lines := hall.transcript(match_id, "host")) is None:
            await asyncio.sleep(0.001)
        own = [line for line in lines if line["line"] == "decision" and line["agent"] == "s1"]
        assert [line["cause"] for line in own] == ["error"] * 3

    run(played, house=replace(arena_house(), make_agent=lambda *_, **__: Failing()))


def test_a_failure_of_the_server_is_told_by_its_incident_alone(caplog: pytest.LogCaptureFixture) -> None:
    def broken(game: str, **_: Any) -> Scenario:
        raise ZeroDivisionError("the secret is plugh")

    async def played(hall: Hall, clock: Clock) -> None:
        found: list[OutgoingFrame] = []
        agent_id, _ = hall.tokens.new_account()
        create = {"version": "1.0.0", "type": "create_match", "game": "market", "agent_id": agent_id, "request_id": "r"}
        create["settings"] = {"version": "1.0.0", "data": {}}  # type: ignore[assignment]
        hall.handle(json.dumps(create), Principal(accounts=frozenset({agent_id})), found.append)
        error = found[0]["error"]
        assert error["data"]["code"] == "internal"
        assert found[0]["request_id"] == "r"
        assert error["data"]["incident"] in caplog.text
        assert "plugh" not in found[0].text

    with caplog.at_level(logging.ERROR):
        run(played, house=replace(arena_house(), usual_table=broken))


def test_nobody_opens_too_many_matches() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        for _ in range(2):
            hall.open_match(market("open", "open"), opener="a")
        with pytest.raises(LimitExceeded):
            hall.open_match(market("open", "open"), opener="a")
        hall.open_match(market("open", "open"), opener="b")
        hall.open_match(market("open", "open"))

    run(played, limits=replace(QUICK, tables_of_address=2))


def test_nobody_opens_matches_too_fast() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        hall.open_match(market("open", "open"), opener="a")
        with pytest.raises(Refused) as refused:
            hall.open_match(market("open", "open"), opener="a")
        assert refused.value.code == "rate_limited"
        clock.forward(1)
        hall.open_match(market("open", "open"), opener="a")

    run(played, limits=replace(QUICK, new_matches_per_s=1, new_matches_burst=1))


def test_as_many_watch_as_the_server_bears_and_places_are_free_again() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        match_id = hall.open_match(market("open", "open")).match_id
        for _ in range(50):
            hall.watch(match_id)  # asking for a place takes none
        one, two = hall.watch(match_id)[0], hall.watch(match_id)[0]
        outbox = SocketOutbox(10)
        hall.attach(match_id, one, outbox)
        with pytest.raises(Refused):
            hall.attach(match_id, two, outbox)
        hall.detach(match_id, one, outbox)
        hall.attach(match_id, two, outbox)

    run(played, limits=replace(QUICK, spectators=1))


def test_seeds_are_drawn_apart() -> None:
    async def played(hall: Hall, clock: Clock) -> None:
        tables = [hall.tables.get(hall.open_match(market("open", "scripted")).match_id) for _ in range(3)]
        seeds = {seed for table in tables if table is not None for seed in (table.seed, table.house_seed)}
        assert len(seeds) == 6

    run(played)


def test_blocking_agents_of_the_house_wait_for_one_another() -> None:
    busy: list[int] = []
    most: list[int] = []

    class Thinking:
        def act(self, view: Any, legal: Any, deadline: Any) -> dict[str, Any]:
            busy.append(1)
            most.append(len(busy))
            busy.pop()
            return {"type": "submit_price", "data": {"price": 50}}

    async def played(hall: Hall, clock: Clock) -> None:
        matches = [hall.open_match(market("scripted", "scripted")) for _ in range(6)]
        while any(hosted.status is Status.STARTED for hosted in matches):
            await asyncio.sleep(0.01)
        assert {hosted.status for hosted in matches} == {Status.ENDED}
        assert max(most) == 1

    limits = replace(QUICK, thinkers=1)
    run(played, house=replace(arena_house(), make_agent=lambda *_, **__: Thinking()), limits=limits)
