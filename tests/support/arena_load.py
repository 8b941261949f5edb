"""Many matches at once at one server: how long an action takes, and whether memory stays flat.

The server is a process of its own; the clients are this one. ``python -m tests.support.arena_load`` alone, or
as a part of ``scripts/bench``.
"""

from __future__ import annotations

import asyncio
import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from league_agents.arena.agents.random_agent import random_action
from league_agents.arena.server.limits import ServerLimits
from league_agents.games.game import LegalAction
from league_agents.kit.clock import monotonic_s
from league_agents.kit.draw import Draw
from league_agents.local_league.patience import LIMIT_S
from tests.support import ROOT
from tests.support.arena_wire import Place, Wire

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

SEATS, WATCHERS = 4, 1
"""Of each match: five sockets."""

LOAD_LIMITS = ServerLimits(
    sockets_of_address=5000,
    tables_of_address=5000,
    requests_per_s=100_000,
    burst=100_000,
    new_matches_per_s=100_000,
    new_matches_burst=100_000,
    ended_kept=timedelta(seconds=20),
)
"""A server that is asked by one address alone, as much as it bears."""

GAMES: Sequence[tuple[str, dict[str, Any]]] = (
    ("undercover", {"max_rounds": 20, "reject_repeats": False}),
    ("market", {"max_rounds": 20}),
)


@dataclass(slots=True, kw_only=True)
class LoadResult:
    """What was measured."""

    seconds: float = 0.0
    sockets: int = 0
    most_sockets: int = 0
    matches_ended: int = 0
    actions: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    pushes: int = 0
    action_s: list[float] = field(default_factory=list)
    push_s: list[float] = field(default_factory=list)
    """From an action's sending to its first push at another socket."""

    rss_mb: list[float] = field(default_factory=list)
    """Of the server, every ten seconds or so."""

    server_cpu_s: float = 0.0
    server_waited_s: float = 0.0
    """What the server spent ready to run, on a machine that was busy with others: the time is theirs, not its own."""

    def quantile(self, times: Sequence[float], share: float) -> float:
        """In milliseconds."""
        ordered = sorted(times)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    def growth_mb(self) -> float:
        """Of the server's memory, from the second quarter of the time to the last: the first one fills its stores."""
        quarter = max(1, len(self.rss_mb) // 4)
        return statistics.median(self.rss_mb[-quarter:]) - statistics.median(self.rss_mb[quarter : 2 * quarter] or [0])


class _Socket:
    """One seat's connection."""

    def __init__(self, connection: ClientConnection, place: Place, result: LoadResult) -> None:
        self.place = place
        self._connection = connection
        self._result = result
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0
        self.sent_at: list[float] = []
        """When the match's last action was sent, until its push has come; shared by the sockets of the match."""

    async def read(self) -> None:
        async for text in self._connection:
            message = json.loads(text)
            kind = message["type"]
            if kind == "push_message":
                self._result.pushes += 1
                if self.sent_at:
                    self._result.push_s.append(time.perf_counter() - self.sent_at.pop())
            elif (request_id := message.get("request_id")) in self._answers:
                self._answers.pop(request_id).set_result(message)

    async def ask(self, envelope: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        request_id = f"r-{self._number}"
        answer = self._answers[request_id] = asyncio.get_running_loop().create_future()
        await self._connection.send(json.dumps({**envelope, "request_id": request_id}))
        return await asyncio.wait_for(answer, LIMIT_S)


class _Load:
    """Keeps a number of matches going."""

    def __init__(self, url: str, *, matches: int, actions_per_s: float, seconds: float) -> None:
        self._wire = Wire(url)
        self._url = f"ws{url.removeprefix('http')}/ws"
        self._matches = matches
        self._pause_s = matches / actions_per_s
        self._ends_at = math.inf
        self._seconds = seconds
        self._seated = asyncio.Barrier(matches)
        """Everybody begins when all are seated, and then the time is counted."""

        self.result = LoadResult()

    async def run(self, pid: int) -> LoadResult:
        begin, cpu, waited = monotonic_s(), _cpu_s(pid), _waited_s(pid)
        tables = [asyncio.create_task(self._table(number)) for number in range(self._matches)]
        watching = asyncio.create_task(self._watch_memory(pid))
        await asyncio.gather(*tables)
        watching.cancel()
        self.result.seconds = monotonic_s() - begin
        self.result.server_cpu_s = _cpu_s(pid) - cpu
        self.result.server_waited_s = _waited_s(pid) - waited
        return self.result

    async def _table(self, number: int) -> None:
        """One match after another, beginning a little later than the table before."""
        draw = Draw(number, "load")
        await asyncio.sleep(number * 0.02)
        while monotonic_s() < self._ends_at:
            game, config = GAMES[number % len(GAMES)]
            places = await asyncio.to_thread(self._places, game, config)
            async with AsyncExitStack() as stack:
                sockets = [await self._opened(stack, place) for place in places]
                if self._ends_at == math.inf:
                    await self._seated.wait()
                    self._ends_at = min(self._ends_at, monotonic_s() + self._seconds)
                await self._play(sockets, draw)
                self.result.sockets -= len(sockets)

    def _places(self, game: str, config: dict[str, Any]) -> list[Place]:
        wire = self._wire
        match_id = wire.open(game, agents=["open"] * SEATS, config=config)
        places = [wire.join(match_id) for _ in range(SEATS)]
        return [*places, *[wire.watch(match_id) for _ in range(WATCHERS)]]

    async def _opened(self, stack: AsyncExitStack, place: Place) -> _Socket:
        from websockets.asyncio.client import connect

        connection = await stack.enter_async_context(
            connect(self._url, compression=None, proxy=None, max_queue=1024, ping_interval=None, open_timeout=LIMIT_S)
        )
        found = _Socket(connection, place, self.result)
        await connection.send(json.dumps({"type": "authenticate", "token": place.token}))
        await connection.recv()
        reading = asyncio.create_task(found.read())
        stack.callback(reading.cancel)
        self.result.sockets += 1
        self.result.most_sockets = max(self.result.most_sockets, self.result.sockets)
        return found

    async def _play(self, sockets: Sequence[_Socket], draw: Draw) -> None:
        by_agent = {socket.place.agent_id: socket for socket in sockets}
        shared: list[float] = []
        for socket in sockets:
            socket.sent_at = shared
        next_at = monotonic_s() + draw.fraction() * self._pause_s
        while monotonic_s() < self._ends_at:
            state = await sockets[-1].ask(sockets[-1].place.get_state())
            if state["status"] != "started":
                self.result.matches_ended += 1
                return
            for agent_id in state["state"]["data"]["active_agent_ids"]:
                await asyncio.sleep(max(0.0, next_at - monotonic_s()))
                next_at = max(next_at, monotonic_s() - self._pause_s) + self._pause_s
                await self._act(by_agent[agent_id], draw, shared)

    async def _act(self, socket: _Socket, draw: Draw, shared: list[float]) -> None:
        state = await socket.ask(socket.place.get_state())
        legal = [
            LegalAction(type=each["type"], schema=each["schema"], choices=each.get("choices"))
            for each in state["state"]["data"]["legal"]
        ]
        if not legal:
            return
        action = random_action(legal, draw)
        begin = time.perf_counter()
        shared[:] = [begin]
        answer = await socket.ask(socket.place.action(action.type, action.data))
        self.result.action_s.append(time.perf_counter() - begin)
        self.result.actions += 1
        response = answer.get("action_response") or answer["error"]
        if response.get("status") != "success":
            self.result.refused[response["data"]["code"]] += 1

    async def _watch_memory(self, pid: int) -> None:
        while True:
            self.result.rss_mb.append(_rss_mb(pid))
            await asyncio.sleep(min(10.0, self._seconds / 20))


def _rss_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _waited_s(pid: int) -> float:
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread that has just ended, or a kernel that does not count
            found += int((task / "schedstat").read_text().split()[1])
    return found / 1e9


def measure_load(*, matches: int, seconds: float, actions_per_s: float) -> LoadResult:
    """Play at a server in a process of its own."""
    gc.collect()
    gc.freeze()  # this process must not be what the answers wait for
    command = [sys.executable, "-m", "tests.support.arena_load", "serve"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None, "it was asked for"
        try:
            url = server.stdout.readline().strip()
            load = _Load(url, matches=matches, actions_per_s=actions_per_s, seconds=seconds)
            return asyncio.run(load.run(server.pid))
        finally:
            assert server.stdin is not None, "it was asked for"
            server.stdin.close()


def told(found: LoadResult, matches: int) -> list[str]:
    """What was measured, in words."""
    lines = [
        f"{found.seconds:.0f} s, {matches} matches at once, {found.matches_ended} ended, {found.most_sockets} sockets",
        f"{found.actions} actions, {found.actions / found.seconds:.0f}/s, refused: {dict(found.refused)}",
        f"{found.pushes} pushes",
    ]
    for name, times in (("answer", found.action_s), ("first push", found.push_s)):
        p50, p99, most = (found.quantile(times, share) for share in (0.5, 0.99, 1.0))
        lines.append(f"{name}: median {p50:.1f} ms, p99 {p99:.1f} ms, most {most:.1f} ms")
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    cpu, waited = (100 * each / found.seconds for each in (found.server_cpu_s, found.server_waited_s))
    lines.append(f"server: {cpu:.0f} % of a core, and {waited:.0f} % waiting for one; load of the machine {load}")
    series = " ".join(f"{each:.0f}" for each in found.rss_mb[:: max(1, len(found.rss_mb) // 12)])
    lines.append(f"memory: {series} MB; growth from the second quarter to the last {found.growth_mb():+.1f} MB")
    return lines


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--matches", type=click.IntRange(1), default=200, show_default=True, help="At once; five sockets each.")
@click.option("--seconds", type=click.FloatRange(1), default=180, show_default=True)
@click.option("--actions-per-s", type=click.FloatRange(0.1), default=200, show_default=True, help="Of all matches.")
@click.pass_context
def main(context: click.Context, *, matches: int, seconds: float, actions_per_s: float) -> None:
    """Measure one server under load, on this machine."""
    if context.invoked_subcommand is not None:
        return
    found = measure_load(matches=matches, seconds=seconds, actions_per_s=actions_per_s)
    for line in told(found, matches):
        click.echo(line)


@main.command(hidden=True)
def serve() -> None:
    """A server with the limits of a load test, until stdin ends."""
    from league_agents.app.arena_server import arena_server
    from league_agents.arena.server.serving import settle_memory

    settle_memory()
    with arena_server(limits=LOAD_LIMITS) as server:
        click.echo(server.url)
        sys.stdin.read()


if __name__ == "__main__":
    main()
