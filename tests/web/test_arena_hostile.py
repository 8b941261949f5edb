"""Whatever a peer does costs its own connection at most: the others play on and hear nothing of it."""

from __future__ import annotations

import json
import socket as sockets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from league_agents.arena.protocol.requests import check_message
from league_agents.arena.server.serving import ArenaServer
from league_agents.local_league.patience import LIMIT_S, until
from tests.support.arena_frames import throw_frames
from tests.support.arena_leaks import GAMES
from tests.support.arena_wire import QUICK, Place, Wire

SOON = timedelta(seconds=0.5)
"""When the server has waited long enough for a peer that never does what it should."""

HANDSHAKE = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)

Starter = Callable[..., ArenaServer]


def seated(wire: Wire) -> tuple[Place, Place]:
    match_id = wire.open("market", agents=["open", "open"], config={"max_rounds": 100})
    return wire.join(match_id), wire.join(match_id)


def price(place: Place, amount: int = 50, **more: Any) -> dict[str, Any]:
    return place.action("submit_price", {"price": amount}, **more)


def raw(server: ArenaServer) -> sockets.socket:
    found = sockets.create_connection((server.host, server.port), timeout=LIMIT_S)
    found.settimeout(LIMIT_S)
    return found


def read_to_end(connection: sockets.socket) -> bytes:
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


def close_code(frames: bytes) -> int | None:
    """Of a close frame at the end of what a server sent."""
    place = frames.rfind(b"\x88")
    return int.from_bytes(frames[place + 2 : place + 4], "big") if place >= 0 else None


def frame(opcode: int, payload: bytes, *, is_last: bool = True) -> bytes:
    """A client's frame, masked with zeros."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return bytes([(0x80 if is_last else 0) | opcode]) + length + bytes(4) + payload


def handshaken(server: ArenaServer) -> sockets.socket:
    connection = raw(server)
    connection.sendall(HANDSHAKE.format(port=server.port).encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(4096)
    assert answer.startswith(b"HTTP/1.1 101")
    return connection


# Tokens.


def test_a_connection_without_a_valid_token_is_closed(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, token_wait=SOON))
    with Wire(server.url).socket() as socket:
        with suppress(ConnectionClosed):
            socket.send({"type": "authenticate", "token": "wrong"})
        assert socket.closed_with() == 4401


def test_a_connection_with_a_valid_token_stays(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, token_wait=SOON))
    wire = Wire(server.url)
    ann, _ = seated(wire)
    with wire.socket(additional_headers={"authorization": f"Bearer {ann.token}"}) as socket:
        assert socket.answer()["type"] == "authenticated"
        with wire.socket() as later:
            assert later.closed_with() == 4401
        assert socket.ask(ann.get_state())["status"] == "started"


def test_tokens_cannot_be_guessed_for_ever(arena: ArenaServer) -> None:
    with Wire(arena.url).socket() as socket:
        for number in range(arena.call(lambda: arena.hall and arena.hall.limits.token_tries)):
            socket.send({"type": "authenticate", "token": f"guess-{number}"})
        assert socket.closed_with() == 4401


def test_a_token_in_the_handshake_is_as_good_as_one_in_a_frame(arena: ArenaServer) -> None:
    wire = Wire(arena.url)
    ann, ben = seated(wire)
    with wire.socket(additional_headers={"authorization": f"Bearer {ann.token}"}) as socket:
        answer = socket.answer()
        assert datetime.fromisoformat(answer.pop("now")).tzinfo is UTC
        core = {"version": "1.0.0", "game": ann.game, "match_id": ann.match_id, "agent_id": ann.agent_id}
        assert answer == {"type": "authenticated", **core}
        assert socket.ask(ann.get_state())["agent_id"] == ann.agent_id
        assert socket.authenticate(ben.token)["agent_id"] == ben.agent_id
        assert socket.ask(ben.get_state())["agent_id"] == ben.agent_id


@pytest.mark.parametrize(
    ("odd", "code"),
    [
        ({"token": 7}, "invalid_envelope"),
        ({}, "invalid_envelope"),
        ({"token": "x", "more": 1}, "invalid_envelope"),
        ({"token": "x", "after": -1}, "invalid_envelope"),
        ({"token": "x", "after": True}, "invalid_envelope"),
        ({"token": "x", "game": 7}, "invalid_envelope"),
        ({"token": "x", "match_id": "a b"}, "invalid_envelope"),
        ({"token": "x", "version": "one"}, "invalid_envelope"),
        ({"token": "x", "version": "2.0.0"}, "unsupported_version"),
    ],
)
def test_an_odd_authentication_is_refused(arena: ArenaServer, odd: dict[str, Any], code: str) -> None:
    with Wire(arena.url).socket() as socket:
        answer = socket.ask({"type": "authenticate", "request_id": "r-1", **odd})
        assert (answer["error"]["data"]["code"], answer["request_id"]) == (code, "r-1")
        assert check_message(answer) == []


def test_the_first_frames_have_the_core_fields_both_ways(arena: ArenaServer) -> None:
    wire = Wire(arena.url)
    ann, ben = seated(wire)
    account = Place(match_id="", game="", **wire.send("POST", "/accounts", {}).fields)
    with wire.socket() as socket:
        for place in (ann, ben, account):
            frame = place.envelope("authenticate", token=place.token, request_id="r-1")
            assert check_message(frame) == []
            answer = socket.ask(frame)
            assert check_message(answer) == []
            assert answer.pop("now")
            core = {"game": place.game, "match_id": place.match_id, "agent_id": place.agent_id}
            assert answer == {"version": "1.0.0", "type": "authenticated", **core, "request_id": "r-1"}
        assert socket.ask(ann.get_state())["status"] == "started"


@pytest.mark.parametrize("field", ["game", "match_id", "agent_id"])
def test_a_token_opens_nothing_under_another_heading(arena: ArenaServer, field: str) -> None:
    wire = Wire(arena.url)
    ann, _ = seated(wire)
    with wire.socket() as socket:
        answer = socket.ask({**ann.envelope("authenticate", token=ann.token), field: "another"})
        assert answer["error"]["data"]["code"] == "forbidden"
        assert ann.token not in json.dumps(answer)
        assert socket.ask(ann.get_state())["error"]["data"]["code"] == "unauthorized"
        assert socket.authenticate(ann.token)["agent_id"] == ann.agent_id


def test_a_seat_that_was_left_is_not_open_to_its_former_token(arena: ArenaServer) -> None:
    wire = Wire(arena.url)
    match_id = wire.open("market", agents=["open", "open"])
    first = wire.join(match_id, name="First")
    with wire.socket(first) as former:
        assert wire.send("POST", f"/matches/{match_id}/leave", {}, token=first.token).status == 200
        second = wire.join(match_id, name="Second")
        assert second.agent_id == first.agent_id
        wire.join(match_id)
        assert former.ask(price(first))["error"]["data"]["code"] == "unauthorized"
        assert wire.protocol(first.get_state(), first.token).status == 401
        assert wire.state(second)["status"] == "started"
        assert former.pushes == []


# Repeats.


def test_a_repeated_request_acts_once(arena: ArenaServer) -> None:
    wire = Wire(arena.url)
    ann, ben = seated(wire)
    with wire.socket(ann) as socket:
        first = socket.ask(price(ann, request_id="r-1"))
        assert socket.ask(price(ann, 70, request_id="r-1")) == first
    with wire.socket(ann) as again:
        assert again.ask(price(ann, 70, request_id="r-1")) == first
    assert wire.protocol(price(ann, 70, request_id="r-1"), ann.token).fields == first
    wire.protocol(price(ben), ben.token)
    told = wire.send("GET", f"/protocol/events?match_id={ann.match_id}", token=ben.token).fields["messages"]
    prices = [push["message_response"]["data"] for push in told if "prices" in json.dumps(push)]
    assert "70" not in json.dumps(prices)


# Floods.


def test_who_asks_too_often_is_told_so_and_then_cut_off(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, requests_per_s=1e-6, burst=5, patience=10, outbox=10_000))
    wire = Wire(server.url)
    ann, ben = seated(wire)
    with wire.socket(ann) as flood, wire.socket(ben) as quiet:
        flood.send(ann.get_state(request_id="r-0"))
        with suppress(ConnectionClosed):  # it may be cut off before all is asked
            for number in range(30):
                flood.send(ann.get_state(request_id=f"r-{number}"))
        assert flood.closed_with() == 1008
        refused = [json.loads(text) for text in flood.texts if "rate_limited" in text]
        assert len(refused) == 10
        assert refused[0]["request_id"].startswith("r-")
        assert refused[0]["error"]["data"]["retry_after_s"] > 0
        assert quiet.ask(ben.get_state())["status"] == "started"


def test_http_requests_in_too_great_a_number_are_put_off(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, requests_per_s=1e-6, burst=5))
    wire = Wire(server.url)
    answers = [wire.send("GET", "/games") for _ in range(8)]
    assert [answer.status for answer in answers][:5] == [200] * 5
    assert (answers[-1].status, answers[-1].code) == (429, "rate_limited")
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_nobody_opens_more_matches_than_the_server_bears(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, matches=3))
    wire = Wire(server.url)
    for _ in range(3):
        wire.open("market", agents=["open", "open"])
    full = wire.send("POST", "/matches", {"game": "market"})
    assert (full.status, full.code) == (429, "rate_limited")


def test_an_ended_match_makes_room_for_a_new_one(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, matches=2))
    wire = Wire(server.url)
    ended = wire.open("market", agents=["scripted", "scripted"])
    wire.until(ended, "ended")
    wire.open("market", agents=["open", "open"])
    wire.open("market", agents=["open", "open"])
    assert wire.send("GET", f"/matches/{ended}").status == 404


def test_too_many_connections_of_one_address_are_not_let_in(start_server: Starter) -> None:
    from websockets.exceptions import InvalidStatus

    server = start_server(limits=replace(QUICK, sockets_of_address=2))
    wire = Wire(server.url)
    with wire.socket(), wire.socket():
        with pytest.raises(InvalidStatus) as refused, wire.socket():
            pass
        assert refused.value.response.status_code == 503


def test_too_many_http_connections_of_one_address_are_cut_off(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, http_of_address=3))
    wire = Wire(server.url)
    with raw(server) as one, raw(server) as two:
        assert wire.send("GET", "/games").status == 200
        with raw(server), raw(server) as last:
            assert read_to_end(last) == b""
            one.sendall(b"GET /games HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert read_to_end(one).startswith(b"HTTP/1.1 200")
            assert two.fileno() > 0
    # WebSockets are counted apart, and what was closed makes room.
    with wire.socket(), wire.socket(), wire.socket(), wire.socket():
        assert wire.send("GET", "/games").status == 200


def ask_for_ever(connection: sockets.socket) -> None:
    while True:  # until the socket's own time limit at the longest
        connection.sendall(b"GET /games HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)


def test_an_answer_that_nobody_reads_is_not_kept_for_ever(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, request_wait=SOON))
    with raw(server) as unread:
        unread.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            ask_for_ever(unread)
    assert Wire(server.url).send("GET", "/games").status == 200


# Broken peers.


def test_a_request_that_never_ends_is_cut_off(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, request_wait=SOON))
    with raw(server) as silent, raw(server) as slow, raw(server) as half:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        half.sendall(b"POST /protocol HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        assert read_to_end(silent) == b""
        assert read_to_end(slow) == b""
        assert half.recv(4096).startswith(b"HTTP/1.1 400")


def test_a_peer_that_answers_no_ping_is_gone_after_a_while(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, ping_every=timedelta(seconds=0.2)))
    with handshaken(server) as half_open:
        frames = read_to_end(half_open)
    assert close_code(frames) == 1011


def test_fragments_without_end_close_the_connection(arena: ArenaServer) -> None:
    with handshaken(arena) as endless:
        endless.sendall(frame(1, b"{", is_last=False))
        endless.sendall(frame(0, b"", is_last=False) * 2000)
        assert close_code(read_to_end(endless)) == 1009


def test_a_text_that_is_no_utf_8_closes_the_connection(arena: ArenaServer) -> None:
    with handshaken(arena) as broken:
        broken.sendall(frame(1, b"\xff\xfe"))
        assert close_code(read_to_end(broken)) == 1007


def test_frames_that_are_none_close_the_connection(arena: ArenaServer) -> None:
    with handshaken(arena) as broken:
        broken.sendall(b"\xf3\x80\x00\x00\x00\x00")
        assert close_code(read_to_end(broken)) == 1002


def test_a_request_that_is_no_http_is_answered_as_such(arena: ArenaServer) -> None:
    with raw(arena) as broken:
        broken.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert read_to_end(broken).startswith(b"HTTP/1.1 400")


def test_a_reader_that_does_not_read_never_holds_up_a_match(start_server: Starter) -> None:
    server = start_server(limits=replace(QUICK, outbox=20, farewell=timedelta(seconds=0.1)))
    wire = Wire(server.url)
    ann, ben = seated(wire)
    watcher = wire.watch(ann.match_id)
    with handshaken(server) as slow, wire.socket(ann) as first, wire.socket(ben) as second:
        slow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        slow.sendall(frame(1, json.dumps({"type": "authenticate", "token": watcher.token}).encode()))
        speech = "x" * 200
        ask = watcher.get_state()
        with suppress(OSError):  # it is cut off before all is asked
            for _ in range(2000):
                slow.sendall(frame(1, json.dumps(ask).encode()))
        for number in range(100):
            data = {"price": 10 + number % 50, "speech": speech}
            assert first.ask(ann.action("submit_price", data))["action_response"]["status"] == "success"
            assert second.ask(ben.action("submit_price", data))["action_response"]["status"] == "success"
        assert wire.until(ann.match_id, "ended")
        # It is cut although it takes no close frame.
        until(lambda: wire.send("GET", f"/matches/{ann.match_id}").fields["watching"] == 0, "the reader is cut off")


@pytest.mark.parametrize("game", GAMES)
def test_noise_changes_nothing_and_ends_nothing(game: str) -> None:
    """The soak ``arena-frames`` throws 10,000 of them at every game."""
    assert list(throw_frames(150, (game,))) == [(game, [])]
