"""Every refusal of the protocol, over HTTP with its status and over WebSocket (arena 5.2)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from league_agents.arena.protocol.json_text import LARGEST
from league_agents.arena.protocol.refusals import HTTP_STATUS
from league_agents.arena.server.serving import ArenaServer
from tests.support.arena_wire import Place, Wire


@dataclass(frozen=True)
class Table:
    """A match that runs, two of its seats, and one that waits."""

    wire: Wire
    ann: Place
    ben: Place
    waiting: Place


@pytest.fixture(scope="module")
def table(arena: ArenaServer) -> Table:
    wire = Wire(arena.url)
    match_id = wire.open("market", agents=["open", "open"])
    ann, ben = wire.join(match_id), wire.join(match_id)
    waiting = wire.join(wire.open("market", agents=["open", "open"]))
    return Table(wire=wire, ann=ann, ben=ben, waiting=waiting)


def price(place: Place, **more: Any) -> dict[str, Any]:
    return place.action("submit_price", {"price": 50}, **more)


def changed(envelope: dict[str, Any], **fields: Any) -> str:
    return json.dumps({**envelope, **fields})


REFUSALS: dict[str, Callable[[Table], str]] = {
    "malformed_json": lambda t: "{",
    "duplicate_key": lambda t: '{"type": 1, "type": 2}',
    "not_an_object": lambda t: "[]",
    "invalid_envelope": lambda t: changed(price(t.ann), surplus=1),
    "unknown_type": lambda t: changed(price(t.ann), type="dance"),
    "unsupported_version": lambda t: changed(price(t.ann), version="2.0.0"),
    "unsupported_game_version": lambda t: changed(t.ann.get_state(), state={"version": "2.0.0"}),
    "forbidden": lambda t: json.dumps(price(t.ben)),
    "not_in_match": lambda t: changed(price(t.ann), agent_id="spectator-1"),
    "unknown_game": lambda t: changed(price(t.ann), game="chess"),
    "unknown_match": lambda t: changed(price(t.ann), game="undercover"),
}
"""Code -> what Ann sends to be refused with it."""


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_has_its_status_over_http(table: Table, code: str) -> None:
    answer = table.wire.protocol(REFUSALS[code](table), table.ann.token)
    assert (answer.code, answer.status) == (code, HTTP_STATUS[code])
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_leaves_the_web_socket_open(table: Table, code: str) -> None:
    with table.wire.socket(table.ann) as socket:
        answer = socket.ask(REFUSALS[code](table))
        assert (answer["type"], answer["error"]["data"]["code"]) == ("error", code)
        assert socket.ask(table.ann.get_state())["status"] == "started"


@pytest.mark.parametrize(
    "token", [None, "", "wrong", "0123456789abcdef.wrong", "w~m~spectator-1~00", "é" * 9, "x" * 999]
)
def test_without_a_valid_token_nobody_acts(table: Table, token: str | None) -> None:
    headers = {} if token is None else {"authorization": f"Bearer {token}".encode().decode("latin-1")}
    answer = table.wire.send("POST", "/protocol", price(table.ann), headers=headers)
    assert (answer.status, answer.code) == (401, "unauthorized")
    with table.wire.socket() as socket:
        if token is not None:
            assert socket.authenticate(token)["error"]["data"]["code"] == "unauthorized"
        assert socket.ask(price(table.ann))["error"]["data"]["code"] == "unauthorized"


def test_a_match_that_waits_takes_no_actions(table: Table) -> None:
    place = table.waiting
    answer = table.wire.protocol(price(place), place.token)
    assert (answer.status, answer.code) == (409, "match_not_started")
    with table.wire.socket(place) as socket:
        assert socket.ask(price(place))["error"]["data"]["code"] == "match_not_started"


def test_a_token_of_another_match_opens_nothing_here(table: Table) -> None:
    """Seats of two matches may have the same name."""
    assert table.waiting.agent_id == table.ann.agent_id
    answer = table.wire.protocol(price(table.ann), table.waiting.token)
    assert (answer.status, answer.code) == (403, "forbidden")
    with table.wire.socket(table.waiting) as socket:
        assert socket.ask(price(table.ann))["error"]["data"]["code"] == "forbidden"


def test_what_the_rules_forbid_is_an_answer_to_the_action(table: Table) -> None:
    illegal = table.ann.action("submit_price", {}, request_id="r-1")
    answer = table.wire.protocol(illegal, table.ann.token)
    response = answer.fields["action_response"]
    assert (answer.status, response["status"], response["data"]["code"]) == (200, "error", "invalid_data")
    assert answer.fields["request_id"] == "r-1"


def test_a_message_that_is_too_large_is_refused_or_closes_the_connection(table: Table) -> None:
    large = price(table.ann)
    large["action"]["data"]["speech"] = "x" * LARGEST
    answer = table.wire.protocol(large, table.ann.token)
    assert (answer.status, answer.code) == (413, "too_large")
    with table.wire.socket(table.ann) as socket:
        socket.send(large)
        assert socket.closed_with() == 1009


def test_a_binary_frame_is_no_json(table: Table) -> None:
    with table.wire.socket(table.ann) as socket:
        assert socket.ask(json.dumps(table.ann.get_state()).encode())["error"]["data"]["code"] == "malformed_json"
        assert socket.ask(table.ann.get_state())["type"] == "get_state_response"


def test_a_refused_request_is_told_to_its_sender_alone(table: Table) -> None:
    with table.wire.socket(table.ann) as ann, table.wire.socket(table.ben) as ben:
        ann.ask(price(table.ben))
        before = ben.ask(table.ben.get_state())["state"]["data"]["seq"]
        assert [text for text in ben.texts if "forbidden" in text] == []
        assert before == table.wire.state(table.ben)["state"]["data"]["seq"]
