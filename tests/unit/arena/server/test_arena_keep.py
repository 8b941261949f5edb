"""A server that is killed goes on with its matches: nothing that a client was told is lost or happens twice."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import stat
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.arena_server import arena_house, kept_matches
from league_agents.arena.scenario import Scenario, scenario_of
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.keep import MatchKeep
from league_agents.games.game import Action, Event, IllegalAction
from league_agents.kit.errors import ConfigError
from tests.support.arena_kills import QUICK, play_through_deaths

NOW = datetime(2031, 5, 2, tzinfo=UTC)


def scenario(game: str, agents: list[str], **more: Any) -> Scenario:
    seats = [{"id": f"agent_{place}", "agent": agent} for place, agent in enumerate(agents, start=1)]
    return scenario_of({"game": game, "agents": seats, "lang": "en", **more})


@pytest.mark.parametrize(
    ("game", "agents", "more"),
    [
        ("undercover", ["open", "scripted", "open", "random", "scripted", "scripted"], {}),
        ("market", ["open", "random", "scripted"], {"config": {"max_rounds": 8}}),
        ("guess_number", ["open", "open", "scripted"], {}),
        ("q21", ["open", "scripted", "open"], {}),
    ],
)
def test_a_server_killed_at_any_commit_loses_nothing(
    tmp_path: Path, game: str, agents: list[str], more: dict[str, Any]
) -> None:
    def dies(life: int, commit: int) -> str | None:
        # Right before one of the first commits of a life, or right after it: what was not told may be undone.
        return None if commit < 1 + life % 4 else ("before" if life % 3 else "after")

    survived = play_through_deaths(scenario(game, agents, **more), tmp_path / "arena.db", lambda: NOW, dies)
    assert survived.wrongs == []
    assert survived.deaths >= 5


def served(
    path: Path,
    played: Callable[[Hall], Coroutine[Any, Any, Any]],
    at: datetime = NOW,
    *,
    keep: MatchKeep | None = None,
    is_reopened: bool = True,
) -> Any:
    """What ``played`` returns of a server that goes on with the file."""

    async def whole() -> Any:
        own = keep or MatchKeep(path)
        hall = Hall(arena_house(), limits=QUICK, now=lambda: at, keep=own)
        try:
            if is_reopened:
                hall.reopen()
            return await played(hall)
        finally:
            await hall.close()
            own.close()

    return asyncio.run(whole())


def test_places_that_wait_and_every_kind_of_token_outlive_the_server(tmp_path: Path) -> None:
    async def before(hall: Hall) -> tuple[str, str, str, tuple[str, str]]:
        match_id = hall.open_match(scenario("market", ["open", "open"])).match_id
        _, seat = hall.join(match_id, name="Ann", kind="human")
        return match_id, seat, hall.watch(match_id)[1], hall.tokens.new_account()

    match_id, seat, watcher, (account, account_token) = served(tmp_path / "a.db", before)

    async def after(hall: Hall) -> None:
        hosted = hall.store.get(match_id)
        assert hosted is not None
        assert [(each.name, each.kind, each.is_taken) for each in hosted.seats] == [
            ("Ann", "human", True),
            ("", "ai", False),
        ]
        claims = [hall.tokens.claim_of(token) for token in (seat, watcher, account_token, seat[:-1] + "~")]
        assert [claim and claim.agent_id for claim in claims] == ["agent_1", "spectator-1", account, None]
        assert hall.watch(match_id)[0] == "spectator-2"
        hall.join(match_id)
        table = hall.tables.get(match_id)
        assert table is not None
        assert table.session is not None

    served(tmp_path / "a.db", after)
    assert seat.partition(".")[2].encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_deadlines_banks_and_mistakes_are_carried_on_without_the_time_between(tmp_path: Path) -> None:
    clock = {"turn_timeout_s": 60, "time_bank_s": 30, "max_invalid": 2}
    wanted = scenario("market", ["open", "open"], clock=clock)

    async def before(hall: Hall) -> str:
        match_id = hall.open_match(wanted).match_id
        hall.join(match_id)
        hall.join(match_id)
        return match_id

    match_id = served(tmp_path / "a.db", before)

    async def mistaken(hall: Hall) -> None:
        # 70 of the 90 seconds are over: 10 of the bank are gone. One wrong price.
        table = hall.tables.get(match_id)
        assert table is not None
        assert table.session is not None
        with pytest.raises(IllegalAction) as refused:
            table.session.submit("agent_2", Action(type="submit_price", data={"price": -1}))
        assert refused.value.data["attempts_left"] == 2
        table.session.submit("agent_1", Action(type="submit_price", data={"price": 40}))
        hall.keeping.save(match_id)

    keep = MatchKeep(tmp_path / "a.db")
    keep.commit(NOW + timedelta(seconds=70), beat=True)
    keep.close()
    # The server was away for a day.
    served(tmp_path / "a.db", mistaken, NOW + timedelta(days=1))

    async def after(hall: Hall) -> None:
        table = hall.tables.get(match_id)
        assert table is not None
        assert table.decisions is not None
        assert table.decisions.deadline("agent_2") == NOW + timedelta(days=3, seconds=20)
        assert table.decisions.clocks().bank == {"agent_1": timedelta(seconds=20), "agent_2": timedelta(seconds=30)}
        assert [each["code"] for each in table.decisions.open_decisions["agent_2"].refusals] == ["price_out_of_range"]

    served(tmp_path / "a.db", after, NOW + timedelta(days=3))


def test_agents_of_the_server_are_told_the_match_so_far(tmp_path: Path) -> None:
    class Listener:
        """An agent that never answers, and what it was told."""

        def __init__(self) -> None:
            self.heard: list[str] = []

        async def act(self, _view: Any, _legal: Any, _deadline: Any) -> Action:
            await asyncio.Event().wait()
            raise AssertionError

        def observe(self, event: Event) -> None:
            self.heard.append(event.kind)

    async def played(hall: Hall) -> list[str]:
        listener = Listener()
        hall.house = replace(hall.house, make_agent=lambda *_, **__: listener)
        hall.reopen()
        if not hall.store.all():
            match_id = hall.open_match(scenario("market", ["open", "scripted"])).match_id
            hall.join(match_id)
            table = hall.tables.get(match_id)
            assert table is not None
            assert table.session is not None
            table.session.submit("agent_1", Action(type="submit_price", data={"price": 40}))
            hall.keeping.save(match_id)
        for _ in range(5):
            await asyncio.sleep(0)
        return listener.heard

    heard = served(tmp_path / "a.db", played, is_reopened=False)
    assert heard
    assert served(tmp_path / "a.db", played, is_reopened=False) == heard


def test_finished_matches_are_kept_up_to_a_number(tmp_path: Path) -> None:
    keep = MatchKeep(tmp_path / "a.db", most_finished=2)

    async def played(hall: Hall) -> list[str]:
        found = []
        for minute in range(3):
            at = NOW + timedelta(minutes=minute)
            hall.now = lambda at=at: at  # type: ignore[misc]
            match_id = hall.open_match(scenario("market", ["scripted", "random"])).match_id
            while keep.told(match_id) is None:
                await asyncio.sleep(0)
            found.append(match_id)
        return found

    first, second, third = served(tmp_path / "a.db", played, keep=keep)
    again = MatchKeep(tmp_path / "a.db")
    (newest,), following = again.gallery("", "", 1)
    (older,), last = again.gallery("market", following, 1)
    assert [newest["match_id"], older["match_id"]] == [third, second]
    assert again.gallery("", last, 1) == ([], last)
    assert again.transcript(first) == []
    assert again.transcript(third)[-1].startswith('{"line":"outcome"')
    assert again.gallery("undercover", "", 10) == ([], "")
    assert {(game, contender, seats) for game, _, contender, _, seats in again.results()} == {
        ("market", "random", 1),
        ("market", "scripted", 1),
    }
    again.close()


def test_a_match_that_cannot_go_on_is_abandoned_and_the_others_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def before(hall: Hall) -> list[str]:
        found = [hall.open_match(scenario("market", ["open", "open"])).match_id for _ in range(2)]
        for match_id in found:
            hall.join(match_id)
            hall.join(match_id)
        return found

    broken, whole = served(tmp_path / "a.db", before)
    with sqlite3.connect(tmp_path / "a.db") as db:
        other = b'{"line":"event","seq":1,"kind":"x","visible_to":"all","text":"","data":{}}'
        change = "UPDATE lines SET line = ? WHERE match_id = ? AND number = 2"
        assert db.execute(change, (other, broken)).rowcount == 1
    db.close()

    async def after(hall: Hall) -> list[str]:
        return [hosted.status.value for match_id in (broken, whole) if (hosted := hall.store.get(match_id))]

    with caplog.at_level(logging.CRITICAL):
        assert served(tmp_path / "a.db", after) == ["abandoned", "started"]
    keep = MatchKeep(tmp_path / "a.db")
    assert keep.told(broken) is not None
    assert keep.told(whole) is None
    keep.close()


def test_the_file_is_private_of_one_server_at_a_time_and_never_another_programs(tmp_path: Path) -> None:
    path = tmp_path / "new" / "arena.db"
    with kept_matches(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(ConfigError, match=r"--keep: .*is in use by process \d+; name another file, or none"):
            kept_matches(path).__enter__()
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(ConfigError, match="it is another program's database"):
        MatchKeep(tmp_path / "other.db")
    (tmp_path / "text.db").write_text("no database at all, but long enough to look like a file of a header" * 20)
    with pytest.raises(ConfigError, match="cannot be used: file is not a database; name another file, or none"):
        MatchKeep(tmp_path / "text.db")


def test_a_file_that_cannot_be_written_ends_no_match(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keep = MatchKeep(tmp_path / "a.db")

    async def played(hall: Hall) -> str:
        match_id = hall.open_match(scenario("market", ["scripted", "open"], config={"max_rounds": 1})).match_id
        keep._db.execute("PRAGMA query_only = ON")
        hall.join(match_id)
        table = hall.tables.get(match_id)
        assert table is not None
        assert table.session is not None
        table.session.submit("agent_2", Action(type="submit_price", data={"price": 40}))
        while (hosted := hall.store.get(match_id)) is not None and hosted.ended_at is None:
            await asyncio.sleep(0)
        return hosted.status.value if hosted else ""

    assert served(tmp_path / "a.db", played, keep=keep) == "ended"
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.endswith("nothing more is kept, and a restart goes back to here")
