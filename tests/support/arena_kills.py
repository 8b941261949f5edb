"""A server of the arena that dies again and again in the middle of matches, and what its clients saw of it.

``play_through_deaths`` ends halls in this process at chosen commits, so that nothing depends on time.
``play_through_kills`` ends real processes by SIGKILL, in the middle of requests.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from league_agents.app.arena_server import arena_house
from league_agents.arena.agents.random_agent import instance_of
from league_agents.arena.scenario import Scenario, match_of
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.keep import MatchKeep
from league_agents.arena.server.limits import ServerLimits
from league_agents.arena.server.outbox import SocketOutbox
from league_agents.arena.transcript import read_transcript, replay
from league_agents.games.registry import game_of
from league_agents.kit.draw import Draw
from league_agents.kit.errors import LeagueError
from tests.support import ROOT
from tests.support.arena_wire import Wire

Ask = Callable[[Mapping[str, Any], str], dict[str, Any]]
"""Sends an envelope with a token, and returns its answer."""

QUICK = ServerLimits(house_pause=timedelta(0), house_actions_per_s=1_000_000)


class Killed(BaseException):
    """The process is gone."""


class MortalKeep(MatchKeep):
    """A keep whose process dies at a commit."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.commits = 0
        self.is_dead = False
        self.dies: Callable[[int], str | None] = lambda _number: None
        """Number of a commit -> ``before`` or ``after`` it; ``None`` to live on."""

    def commit(self, now: datetime, *, beat: bool = False) -> None:
        if self.is_dead:
            raise Killed
        if not self._is_open:
            super().commit(now, beat=beat)
            return
        self.commits += 1
        when = self.dies(self.commits)
        if when == "before":
            self.is_dead = True
            raise Killed
        super().commit(now, beat=beat)
        if when == "after":
            self.is_dead = True
            raise Killed

    def _write(self, statement: str, *values: object) -> None:
        if self.is_dead:
            raise Killed
        super()._write(statement, *values)


@dataclass(slots=True, kw_only=True)
class SeatedClient:
    """A program on a seat: it repeats a request until it is answered, and counts what it was sent."""

    agent_id: str
    token: str
    draw: Draw
    sent: int = 0
    waiting: dict[str, Any] | None = None
    """The request that was not answered yet."""

    accepted: list[dict[str, Any]] = field(default_factory=list)
    heard: list[dict[str, Any]] = field(default_factory=list)
    outbox: SocketOutbox = field(default_factory=lambda: SocketOutbox(10_000))

    @property
    def last_seq(self) -> int:
        return max((_seq(push) for push in self.heard), default=0)

    def connect(self, hall: Hall, match_id: str) -> None:
        """Show the token and take what was missed, as a socket does."""
        claim = hall.tokens.claim_of(self.token)
        assert claim is not None, "the token of a seat is valid after a restart"
        assert (claim.match_id, claim.agent_id) == (match_id, self.agent_id)
        self.listen()  # to what left before the server died
        hall.attach(match_id, self.agent_id, self.outbox)
        self.heard += hall.service.pushes_after(match_id, self.agent_id, self.last_seq)

    def listen(self) -> None:
        self.heard += [json.loads(text) for text in self.outbox.drain()]

    def go(self, ask: Ask, match_id: str, game: str) -> bool:
        """One request, if there is one to make; whether the match is over."""
        head = {"version": "1.0.0", "game": game, "match_id": match_id, "agent_id": self.agent_id}
        version = game_of(game).version
        if self.waiting is None:
            state = ask({**head, "type": "get_state", "state": {"version": version}}, self.token)
            assert state["type"] == "get_state_response", state
            if state["status"] in ("ended", "abandoned"):
                return True
            legal = state["state"]["data"]["legal"]
            if not legal:
                return False
            chosen = self.draw.choice(legal)
            if "choices" in chosen:
                data = self.draw.choice(chosen["choices"])
            else:
                data = instance_of(chosen["schema"], self.draw)
            self.sent += 1
            action = {"version": version, "type": chosen["type"], "data": data}
            self.waiting = {**head, "type": "perform_action", "request_id": f"r{self.sent}", "action": action}
        answer = ask(self.waiting, self.token)
        assert answer["type"] == "perform_action_response", answer
        if answer["action_response"]["status"] == "success":
            self.accepted.append(self.waiting["action"]["data"])
        self.waiting = None
        return False


def _asking(hall: Hall) -> Ask:
    def ask(envelope: Mapping[str, Any], token: str) -> dict[str, Any]:
        claim = hall.tokens.claim_of(token)
        assert claim is not None
        answers: list[dict[str, Any]] = []
        try:
            hall.handle(json.dumps(envelope), claim.principal, answers.append)
        except Killed:
            if not answers:
                raise  # else the answer left before the server died
        return answers.pop()

    return ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """A match that was played through deaths."""

    deaths: int
    lines: list[dict[str, Any]]
    wrongs: list[str]


def play_through_deaths(
    scenario: Scenario, path: Path, now: Callable[[], datetime], dies: Callable[[int, int], str | None]
) -> Survived:
    """Play a scenario, whose open seats are clients, to its end. ``dies``: (life, commit in it) -> as for a keep."""
    clients: list[SeatedClient] = []
    match_id, life = "", 0
    while True:
        life += 1
        keep = MortalKeep(path)
        if clients:
            keep.dies = partial(dies, life)

        async def living(keep: MortalKeep = keep, life: int = life) -> bool:
            nonlocal match_id
            asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
            hall = Hall(arena_house(), limits=QUICK, now=now, keep=keep)
            if not clients:
                match_id = hall.open_match(scenario).match_id
                for seat in scenario.seats:
                    if seat.agent == "open":
                        _, token = hall.join(match_id, agent_id=seat.id)
                        clients.append(SeatedClient(agent_id=seat.id, token=token, draw=Draw(7, seat.id)))
                keep.dies = partial(dies, life)
            else:
                hall.reopen()
            for client in clients:
                client.connect(hall, match_id)
            while not keep.is_dead:
                over = [client.go(_asking(hall), match_id, scenario.game) for client in clients]
                await asyncio.sleep(0)
                for client in clients:
                    client.listen()
                if all(over) and keep.told(match_id) is not None:
                    await hall.close()
                    return True
            return False

        try:
            is_over = asyncio.run(living())
        except Killed:
            is_over = False
        keep.close()
        if is_over:
            return _judged(path, match_id, scenario, clients, life - 1)


def _judged(path: Path, match_id: str, scenario: Scenario, clients: list[SeatedClient], deaths: int) -> Survived:
    keep = MatchKeep(path)
    lines = read_transcript(keep.transcript(match_id))
    keep.close()
    return Survived(deaths=deaths, lines=lines, wrongs=_wrongs(lines, scenario.game, clients))


def _wrongs(lines: list[dict[str, Any]], game: str, clients: Sequence[SeatedClient]) -> list[str]:
    found = []
    difference = replay(lines, game_of(game), match_of).difference
    if difference is not None:
        found.append(f"the transcript cannot be replayed: {difference}")
    for client in clients:
        own = [
            line["action"]["data"]
            for line in lines
            if line["line"] == "decision" and line["agent"] == client.agent_id and line["action"]
        ]
        if own != client.accepted:
            found.append(f"{client.agent_id}: {len(client.accepted)} actions were accepted, {len(own)} are recorded")
        seen = [
            line["seq"]
            for line in lines
            if line["line"] == "event" and (line["visible_to"] == "all" or client.agent_id in line["visible_to"])
        ]
        heard = [_seq(push) for push in client.heard]
        if heard != seen:
            found.append(f"{client.agent_id}: heard events {heard}, the match has {seen}")
    return found


def _seq(push: dict[str, Any]) -> int:
    return int(push["message_response"]["data"]["seq"])


class ServerGone(Exception):
    """No answer came: the server was killed."""


@dataclass(slots=True, kw_only=True)
class KilledServer:
    """``arena serve`` as a process on one port, which is killed after a drawn number of requests."""

    folder: Path
    draw: Draw
    kills_left: int
    process: subprocess.Popen[str] | None = None
    port: int = 0
    url: str = ""
    kills: int = 0
    requests_left: int = 0

    def start(self) -> None:
        """Start it, or start it again on the same port."""
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "league_agents", "arena", "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, "--keep", str(self.folder / "arena.db")],
            stdout=subprocess.PIPE,
            stderr=(self.folder / "stderr.txt").open("a"),
            text=True,
            cwd=ROOT,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise LeagueError(f"the server did not start: {(self.folder / 'stderr.txt').read_text()[-400:]}")
        self.requests_left = 5 + self.draw.below(60)

    def stop(self) -> None:
        """End it for good."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None, token: str | None = None) -> Any:
        """One request, which may be the last one of this process. Raises ``ServerGone``."""
        assert self.process is not None
        self.requests_left -= 1
        timer = None
        if self.requests_left == 0 and self.kills_left:
            # Before, during or after the answer.
            timer = threading.Timer(self.draw.below(8) / 1000, self.process.kill)
            timer.start()
            self.kills, self.kills_left = self.kills + 1, self.kills_left - 1
        try:
            while True:
                try:
                    answer = Wire(self.url).send(method, path, body, token=token)
                except (OSError, http.client.HTTPException) as lost:
                    raise ServerGone from lost
                if answer.status != 429:
                    break
                time.sleep(0.05)
            if answer.status >= 400:
                raise LeagueError(f"{method} {path}: {answer.status} {answer.body[:300]!r}")
            return answer.body if path.endswith("view=full") else answer.fields
        finally:
            if timer is not None:
                timer.join()
                self.process.wait()

    def ask(self, envelope: Mapping[str, Any], token: str) -> dict[str, Any]:
        """An envelope of a seat. Raises ``ServerGone``."""
        found: dict[str, Any] = self.send("POST", "/protocol", envelope, token)
        return found


@dataclass(slots=True, kw_only=True)
class KilledMatch:
    """One match at a server that is killed."""

    game: str
    match_id: str
    clients: list[SeatedClient]
    is_over: bool = False

    def go(self, server: KilledServer) -> None:
        """Let every client make a request, and hear what is new. Raises ``ServerGone``."""
        over = [client.go(server.ask, self.match_id, self.game) for client in self.clients]
        for client in self.clients:
            path = f"/protocol/events?match_id={self.match_id}&after={client.last_seq}"
            client.heard += server.send("GET", path, token=client.token)["messages"]
        self.is_over = all(over)


def play_through_kills(folder: Path, *, kills: int, seed: int = 1, matches: int = 4) -> tuple[int, int, list[str]]:
    """Play matches of every game at a server that is killed again and again; (kills, matches, what went wrong)."""
    server = KilledServer(folder=folder, draw=Draw(seed, "kills"), kills_left=kills)
    played: list[KilledMatch] = []
    try:
        server.start()
        while server.kills_left or not all(match.is_over for match in played):
            try:
                while server.kills_left and sum(not match.is_over for match in played) < matches:
                    played.append(_opened(server, len(played)))
                for match in played:
                    if not match.is_over:
                        match.go(server)
            except ServerGone:
                server.stop()
                server.start()
        wrongs = []
        for match in played:
            text = server.send("GET", f"/matches/{match.match_id}/transcript?view=full")
            lines = read_transcript(text.decode().split("\n")[:-1])
            wrongs += [
                f"{match.match_id} ({match.game}): {wrong}" for wrong in _wrongs(lines, match.game, match.clients)
            ]
    finally:
        server.stop()
    return server.kills, len(played), wrongs


def _opened(server: KilledServer, number: int) -> KilledMatch:
    """A new match with two guests. Opening and joining are not repeatable, so nobody is killed meanwhile."""
    kept, server.requests_left = server.requests_left, 1_000_000
    game, seats = (("undercover", 6), ("market", 3), ("guess_number", 3), ("q21", 3))[number % 4]
    agents = ["open", *["scripted"] * (seats - 2), "open"]
    config = {"max_rounds": 6} if game == "market" else {}
    match_id = server.send("POST", "/matches", {"game": game, "agents": agents, "config": config})["match_id"]
    clients = []
    for place in range(2):
        seat = server.send("POST", f"/matches/{match_id}/join", {"name": f"Guest {place}"})
        draw = Draw(number, seat["agent_id"])
        clients.append(SeatedClient(agent_id=seat["agent_id"], token=seat["token"], draw=draw))
    server.requests_left = max(1, kept)
    return KilledMatch(game=game, match_id=match_id, clients=clients)
