"""The Python client at a real server: it plays in ten lines, and keeps its seat through broken connections."""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from league_agents.arena import client as client_module
from league_agents.arena.agents.random_agent import RandomAgent, random_action
from league_agents.arena.agents.scripted_agent import ScriptedAgent
from league_agents.arena.client import ActionRefused, Client, SeatState, ServerLost, ServerRefused
from league_agents.arena.protocol.hosting import Profile
from league_agents.arena.server.serving import ArenaServer
from league_agents.games.game import Event
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S

GAMES = ("guess_number", "market", "q21", "undercover")

Starter = Callable[..., ArenaServer]


def anything(seed: int = 1) -> Callable[[SeatState], tuple[str, Any]]:
    """A function that decides: any legal action."""
    draw = Draw(seed, "client")

    def decide(state: SeatState) -> tuple[str, Any]:
        action = random_action(state.legal, draw)
        return action.type, action.data

    return decide


class Cutter:
    """A line to a server that can be cut: passes bytes on until it is told not to."""

    def __init__(self, server: ArenaServer) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.lines = 0
        """How many connections there have been."""

        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def cut(self) -> None:
        """End every connection without a word."""
        for each in self._open:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(5)

    def _start(self, function: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=function, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection((self._server.host, self._server.port))
            self.lines += 1
            self._open += [near, far]
            self._start(self._pass, near, far)
            self._start(self._pass, far, near)

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        finally:
            for each in (source, target):
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue
            source.close()


@pytest.mark.parametrize("game", GAMES)
def test_a_function_plays_every_game(arena: ArenaServer, game: str) -> None:
    with Client(arena.url) as client:
        seat = client.join(game=game, name="Ann")
        end = seat.play(anything())
        assert (end.status, end.stage, end.legal) == ("ended", "done", ())
        lines = client.transcript(seat.match_id, token=seat.token)
        assert lines[-1]["winners"] == list(end.winners)


@pytest.mark.parametrize("game", GAMES)
def test_an_agent_of_the_arena_plays_at_a_server_as_it_plays_here(arena: ArenaServer, game: str) -> None:
    with Client(arena.url) as client:
        end = client.join(game=game).play(ScriptedAgent(game, seed=1))
        assert end.status == "ended"


def test_an_agent_observes_everything_once_and_in_order(arena: ArenaServer) -> None:
    class Observer(RandomAgent):
        def __init__(self) -> None:
            super().__init__(seed=3)
            self.seen: list[Event] = []

        def observe(self, event: Event) -> None:
            self.seen.append(event)

    agent = Observer()
    with Client(arena.url) as client:
        seat = client.join(game="undercover")
        seat.play(agent)
        lines = client.transcript(seat.match_id, token=seat.token)
    own = [line["seq"] for line in lines if line["line"] == "event"]
    assert [event.seq for event in agent.seen] == own
    assert agent.seen[0].kind == "game_started"


def test_a_refused_agent_is_told_why_and_asked_again(arena: ArenaServer) -> None:
    told: list[Mapping[str, Any] | None] = []

    def stubborn(state: SeatState) -> tuple[str, dict[str, Any]]:
        told.append(state.refusal)
        return "submit_price", {"price": -1 if len(told) < 3 else 50}

    with Client(arena.url) as client:
        match_id = client.create("market", {"max_rounds": 1}, ["open", "scripted"])
        assert client.join(match_id).play(stubborn).status == "ended"
    assert told[0] is None
    assert [each["attempts_left"] for each in told[1:] if each] == [2, 1]


def test_a_seat_acts_by_itself_too(arena: ArenaServer) -> None:
    with Client(arena.url) as client:
        match_id = client.create("market", {"max_rounds": 1}, ["open", "open"], clock={"turn_timeout_s": 30})
        ann, ben = client.join(match_id, name="Ann"), client.join(match_id, name="Ben", agent_id="s2")
        watching = client.watch(match_id)
        with pytest.raises(ActionRefused) as refused:
            ann.act("submit_price", {"price": "much"})
        assert refused.value.code == "price_out_of_range"
        assert ann.act("submit_price", {"price": 20}) < ben.act("submit_price", {"price": 10})
        with pytest.raises(ServerRefused):
            watching.act("submit_price", {"price": 20})
        assert [event.kind for event in watching.events()][-1] == "market_closed"
        assert [agent["name"] for agent in watching.state().agents] == ["Ann", "Ben"]
        assert set(ben.state().winners) == {"s1", "s2"}


def test_two_clients_find_each_other_in_the_lobby(start_server: Starter) -> None:
    server = start_server()
    with Client(server.url) as one, Client(server.url) as two:
        match_id = one.create("market", {"max_rounds": 2}, ["open", "open"])
        first, second = one.join(game="market"), two.join(game="market")
        assert first.match_id == second.match_id == match_id
        playing = threading.Thread(target=first.play, args=(anything(1),))
        playing.start()
        assert second.play(anything(2)).status == "ended"
        playing.join(LIMIT_S)
        assert [match["status"] for match in two.matches()] == ["ended"]


def test_a_seat_is_kept_through_broken_connections(arena: ArenaServer) -> None:
    """Each decision comes over a connection that breaks before, or right after, it was sent."""
    line = Cutter(arena)
    draw = Draw(9, "cuts")

    class Unlucky(RandomAgent):
        def __init__(self) -> None:
            super().__init__(seed=5)
            self.seen: list[int] = []

        def observe(self, event: Event) -> None:
            self.seen.append(event.seq)

        async def act(self, view: Any, legal: Any, deadline: Any) -> Any:
            if draw.below(2):
                line.cut()
            else:
                asyncio.get_running_loop().call_later(0, line.cut)
            return await super().act(view, legal, deadline)

    agent = Unlucky()
    try:
        with Client(line.url) as client:
            match_id = client.create("market", {"max_rounds": 12}, ["open", "scripted"])
            seat = client.join(match_id)
            end = seat.play(agent)
    finally:
        line.close()
    assert end.status == "ended"
    assert line.lines > 12
    with Client(arena.url) as client:
        lines = client.transcript(seat.match_id, token=seat.token)
    own = [each for each in lines if each["line"] == "decision" and each["agent"] == seat.agent_id]
    assert len(own) == 12
    assert {each["cause"] for each in own} == {None}
    assert agent.seen == [each["seq"] for each in lines if each["line"] == "event"]


def test_a_client_understands_the_narrower_schemas(start_server: Starter) -> None:
    with Client(start_server(profile=Profile.SCHEMAS).url) as client:
        assert client.join(game="undercover").play(anything()).status == "ended"


def test_a_server_that_is_gone_is_named(arena: ArenaServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}", patience_s=0.2) as client:
        with pytest.raises(ServerLost, match="is the server running"):
            client.games()
        seat = client.seat(game="market", match_id="m-1", agent_id="s1", token="t")
        with pytest.raises(ServerLost, match="cannot be reached"):
            seat.state()


def test_a_refusal_of_the_lobby_is_an_error_with_its_code(arena: ArenaServer) -> None:
    with Client(arena.url) as client:
        with pytest.raises(ServerRefused) as refused:
            client.create("chess")
        assert refused.value.code == "invalid_request"
        with pytest.raises(ServerRefused) as unknown:
            client.join("m-none")
        assert unknown.value.code == "unknown_match"
        seat = client.seat(game="market", match_id="m-1", agent_id="s1", token="wrong")
        with pytest.raises(ServerRefused) as wrong:
            seat.state()
        assert wrong.value.code == "unauthorized"
        with pytest.raises(ConfigError):
            client.join()


def test_an_agents_own_error_reaches_whoever_runs_it(arena: ArenaServer) -> None:
    def broken(state: SeatState) -> tuple[str, dict[str, Any]]:
        raise ZeroDivisionError

    with Client(arena.url) as client:
        seat = client.join(game="market")
        with pytest.raises(ZeroDivisionError):
            seat.play(broken)
        with pytest.raises(TypeError, match="an agent gives"):
            seat.play(lambda _state: 7)
        client.leave(seat)


def test_the_modules_own_example_plays(start_server: Starter, capsys: pytest.CaptureFixture[str]) -> None:
    server = start_server()
    text = inspect.cleandoc((client_module.__doc__ or "").split("\n\n", 1)[1].rsplit("\n\n", 1)[0])
    exec(text.replace("http://127.0.0.1:8765", server.url), {})  # the code under test is that of a docstring
    assert capsys.readouterr().out.startswith("(")


@pytest.mark.parametrize("url", ["", "127.0.0.1:8765", "ftp://127.0.0.1", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="must be like"):
        Client(url)
