"""A server of the arena that dies again and again in the middle of matches, and what its clients saw of it.

``play_through_deaths`` ends halls in this process at chosen commits, so that nothing depends on time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
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
        self.outbox.drain()
        hall.attach(match_id, self.agent_id, self.outbox)
        self.heard += hall.service.pushes_after(match_id, self.agent_id, self.last_seq)

    def listen(self) -> None:
        self.heard += [json.loads(text) for text in self.outbox.drain()]

    def go(self, hall: Hall, match_id: str, game: str) -> bool:
        """One request, if there is one to make; whether the match is over."""
        head = {"version": "1.0.0", "game": game, "match_id": match_id, "agent_id": self.agent_id}
        claim = hall.tokens.claim_of(self.token)
        assert claim is not None
        answers: list[dict[str, Any]] = []
        ask = partial(hall.handle, principal=claim.principal, answer=answers.append)
        if self.waiting is None:
            ask(json.dumps({**head, "type": "get_state", "state": {"version": game_of(game).version}}))
            state = answers.pop()
            assert state["type"] == "get_state_response", state
            if state["status"] == "ended":
                return True
            legal = state["state"]["data"]["legal"]
            if not legal:
                return False
            chosen = self.draw.choice(legal)
            data = (
                self.draw.choice(chosen["choices"]) if "choices" in chosen else instance_of(chosen["schema"], self.draw)
            )
            self.sent += 1
            action = {"version": game_of(game).version, "type": chosen["type"], "data": data}
            self.waiting = {**head, "type": "perform_action", "request_id": f"r{self.sent}", "action": action}
        ask(json.dumps(self.waiting))
        answer = answers.pop()
        assert answer["type"] == "perform_action_response", answer
        if answer["action_response"]["status"] == "success":
            self.accepted.append(self.waiting["action"]["data"])
        self.waiting = None
        return False


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
                over = [client.go(hall, match_id, scenario.game) for client in clients]
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
    return Survived(deaths=deaths, lines=lines, wrongs=list(_wrongs(lines, scenario, clients)))


def _wrongs(lines: list[dict[str, Any]], scenario: Scenario, clients: list[SeatedClient]) -> list[str]:
    found = []
    difference = replay(lines, game_of(scenario.game), match_of).difference
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
