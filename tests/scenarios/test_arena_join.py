"""``league-agents arena join``: an agent of this process plays at a server, and hostile servers are bounded."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from websockets.sync.server import Server, ServerConnection, serve

from league_agents.app.arena_server import arena_server
from league_agents.arena import seat_line
from league_agents.arena.client import Client, ServerLost, ServerRefused
from league_agents.arena.remote_seat import RemoteSeat
from league_agents.arena.seat_line import SeatKey
from league_agents.arena.server.serving import ArenaServer
from league_agents.cli import Exit, command_line
from tests.support.arena_wire import QUICK

OWN = """
class Calm:
    def act(self, view, legal, deadline):
        return {"type": "submit_price", "data": {"price": 20}}

class Broken:
    def act(self, view, legal, deadline):
        raise ValueError("oh")
"""


@pytest.fixture(scope="module")
def arena() -> Iterator[ArenaServer]:
    with arena_server(limits=QUICK) as server:
        yield server


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "joining.py").write_text(OWN, encoding="utf-8")


def join(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(command_line, ["arena", "join", url, *arguments])


def test_an_own_class_takes_a_seat_and_plays_to_the_end(arena: ArenaServer) -> None:
    with Client(arena.url) as client:
        match_id = client.create("market", {"max_rounds": 2}, ["scripted", "open"])
    shown = join(f"{arena.url}/#/match/{match_id}", "--agent", "joining:Calm", "--name", "Ann", "--json")
    assert shown.exit_code == 0, shown.stderr
    told = json.loads(shown.stdout)
    assert (told["match_id"], told["status"], told["decisions"]) == (match_id, "ended", 2)
    with Client(arena.url) as client:
        assert [seat["name"] for seat in client.match(match_id)["seats"]][1] == "Ann"


def test_a_kept_key_lets_another_process_go_on(arena: ArenaServer, tmp_path: Path) -> None:
    with Client(arena.url) as client:
        match_id = client.create("market", {"max_rounds": 2}, ["scripted", "open"])
        seat = client.join(match_id, name="Ann")
        key = {"arena_seat": 1, "url": client.url, "game": "market", "match_id": match_id, "agent_id": seat.agent_id}
        (tmp_path / "seat.json").write_text(json.dumps({**key, "token": seat.token}), encoding="utf-8")
    shown = join(arena.url, "--agent", "random", "--key", "seat.json", "--json")
    assert shown.exit_code == 0, shown.stderr
    assert json.loads(shown.stdout)["agent_id"] == seat.agent_id
    assert not (tmp_path / "seat.json").exists(), "the match is over"


def test_an_agent_that_fails_three_times_in_a_row_leaves(arena: ArenaServer, caplog: pytest.LogCaptureFixture) -> None:
    shown = join(arena.url, "--agent", "joining:Broken", "--game", "market")
    assert shown.exit_code == Exit.FAILED
    assert "failed 3 times in a row and left match" in shown.stderr
    assert sum("oh" in each.getMessage() for each in caplog.records) == 3


def test_what_is_wrong_is_said_before_a_seat_is_taken(arena: ArenaServer, tmp_path: Path) -> None:
    with Client(arena.url) as client:
        match_id = client.create("market", {}, ["scripted", "open"])
        for arguments in (("--agent", "joining:None_"), ("--agent", "human"), ("--agent", "scripted", "--game", "q21")):
            assert join(arena.url, "--match", match_id, *arguments).exit_code == Exit.CONFIGURATION
        assert client.match(match_id)["open_seats"] == 1
    assert "name a game" in join(arena.url, "--agent", "scripted").stderr
    (tmp_path / "odd.json").write_text("[" * 9000, encoding="utf-8")
    assert "is no key of a seat" in join(arena.url, "--agent", "scripted", "--key", "odd.json").stderr
    for url in ("http://127.0.0.1:99999", "http://[", "ftp://127.0.0.1"):
        assert join(url, "--agent", "scripted", "--game", "market").exit_code == Exit.CONFIGURATION


# Hostile servers.


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Iterator[str]:
    """A server that gives every request the same answer."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"\xff<html>"),
        (200, b"[1]"),
        (200, b"{}"),
        (200, b'{"matches": [7]}'),
        (200, b'{"matches": [{}]}'),
        (200, b"[" * 100_000),
        (200, b"9" * 10_000),
    ],
)
def test_an_answer_of_another_form_is_one_error(status: int, body: bytes) -> None:
    with answering(status, body) as url:
        shown = join(url, "--agent", "scripted", "--game", "market")
    assert shown.exit_code == Exit.UNAVAILABLE
    assert shown.stderr.count("\n") == 1
    assert "is this the address of an arena?" in shown.stderr


def test_no_redirect_is_followed(arena: ArenaServer) -> None:
    with answering(302, b"", Location=arena.url + "/games") as url, Client(url) as client:
        with pytest.raises(ServerRefused) as refused:
            client.games()
        assert refused.value.code == "302"


@contextmanager
def talking(say: Callable[[ServerConnection, dict[str, Any]], None]) -> Iterator[RemoteSeat]:
    """A seat at a server that accepts it, and then says what it likes."""

    def speak(socket: ServerConnection) -> None:
        for text in socket:
            message = json.loads(text)
            if message["type"] == "authenticate":
                socket.send('{"type": "authenticated"}')
            else:
                say(socket, message)

    server: Server
    with serve(speak, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        key = SeatKey(
            url=f"ws://127.0.0.1:{server.socket.getsockname()[1]}", game="market", match_id="m", agent_id="a", token="t"
        )
        try:
            with RemoteSeat(key, patience_s=0.5, proxy=False) as seat:
                yield seat
        finally:
            server.shutdown()
            thread.join()


def state(message: dict[str, Any], **parts: Any) -> str:
    data = {"seq": 0, "view": {}, "legal": [{"type": "x", "schema": {}}], "rules": "", **parts}
    answer = {"type": "s", "status": "started", "phase": "p", "turn": 1, "stage": "", "agents": []}
    return json.dumps({**answer, "request_id": message["request_id"], "state": {"data": data}})


@pytest.mark.parametrize(
    "parts", [{"legal": 7}, {"legal": [{}]}, {"view": [1]}, {"deadline": "soon"}, {"seq": None}, {"deadline": 7}]
)
def test_a_state_of_another_form_is_one_error(parts: dict[str, Any]) -> None:
    odd = talking(lambda socket, message: socket.send(state(message, **parts)))
    with odd as seat, pytest.raises(ServerLost, match="not of the protocol"):
        seat.state()


def test_a_server_that_asks_without_end_is_left() -> None:
    def ask(socket: ServerConnection, message: dict[str, Any]) -> None:
        success = {"status": "success", "data": {"seq": 0}}
        done = {"type": "r", "request_id": message["request_id"], "action_response": success}
        socket.send(state(message) if message["type"] == "get_state" else json.dumps(done))

    with talking(ask) as seat:
        with pytest.raises(ServerLost, match="more than 5 decisions"):
            seat.play(lambda _state: ("x", {}), most_decisions=5)
        assert seat.decisions == 5


def test_events_without_end_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat_line, "MOST_UNREAD", 10_000)

    def flood(socket: ServerConnection, message: dict[str, Any]) -> None:
        for seq in range(1, 1000):
            event = {"data": {"event": "e", "seq": seq, "message": "x" * 1000}}
            socket.send(json.dumps({"type": "push_event", "match_id": "m", "agent_id": "a", "event": event}))

    with talking(flood) as seat, pytest.raises(ServerLost, match="characters of events at once"):
        seat.state()
