"""Every refusal has its code, its carrier and its HTTP status, and has changed nothing (arena 5.2)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from league_agents.arena.protocol import envelope
from league_agents.arena.protocol.access import NOBODY, Principal
from league_agents.arena.protocol.hosting import UntimedDriver
from league_agents.arena.protocol.refusals import HTTP_STATUS, Refused, http_status, internal, rate_limited
from league_agents.arena.protocol.requests import RefusedRequest, RequestHeading, check_message, read_authentication
from league_agents.games.game import ForfeitCause

AGENT_1 = Principal.of_seat("m-1", "agent_1")
ANYBODY = Principal(accounts=frozenset({"agent_1", "stranger"}))

GET_STATE = {
    "version": "1.0.0",
    "type": "get_state",
    "game": "undercover",
    "match_id": "m-1",
    "agent_id": "agent_1",
    "state": {"version": "1.0.0"},
}
ACTION = {
    **{key: value for key, value in GET_STATE.items() if key != "state"},
    "type": "perform_action",
    "action": {"version": "1.0.0", "type": "describe", "data": {"description": "it rings"}},
}


@pytest.mark.parametrize(
    ("message", "principal", "code", "status"),
    [
        ("{", AGENT_1, "malformed_json", 400),
        (b"\xff\xfe", AGENT_1, "malformed_json", 400),
        ('{"type": 1, "type": 1}', AGENT_1, "duplicate_key", 400),
        ("[1]", AGENT_1, "not_an_object", 400),
        ({}, AGENT_1, "invalid_envelope", 400),
        ({**GET_STATE, "more": 1}, AGENT_1, "invalid_envelope", 400),
        ({**GET_STATE, "agent_id": "a b"}, AGENT_1, "invalid_envelope", 400),
        ({**GET_STATE, "request_id": "x" * 65}, AGENT_1, "invalid_envelope", 400),
        ({**GET_STATE, "version": "one"}, AGENT_1, "invalid_envelope", 400),
        ({**GET_STATE, "type": "leave"}, AGENT_1, "unknown_type", 400),
        ({**GET_STATE, "type": "push_message"}, AGENT_1, "unknown_type", 400),
        ({**GET_STATE, "version": "2.0.0"}, AGENT_1, "unsupported_version", 400),
        ({**GET_STATE, "version": "0.9.0"}, AGENT_1, "unsupported_version", 400),
        ({**GET_STATE, "state": {"version": "2.0.0"}}, AGENT_1, "unsupported_game_version", 400),
        (GET_STATE, NOBODY, "unauthorized", 401),
        (GET_STATE, None, "unauthorized", 401),
        ({**GET_STATE, "agent_id": "host"}, None, "unauthorized", 401),
        (GET_STATE, Principal.of_seat("m-1", "agent_2"), "forbidden", 403),
        (GET_STATE, Principal.of_seat("m-2", "agent_1"), "forbidden", 403),  # its own seat, of another match
        ({**GET_STATE, "agent_id": "host"}, AGENT_1, "forbidden", 403),
        (GET_STATE, ANYBODY, "forbidden", 403),  # a seat of the same name that was taken by somebody else
        (ACTION, Principal.of_seat("m-1", "agent_2"), "forbidden", 403),
        ({**GET_STATE, "agent_id": "stranger"}, ANYBODY, "not_in_match", 403),
        ({**ACTION, "agent_id": "spectator-1"}, None, "not_in_match", 403),
        ({**ACTION, "agent_id": "spectator-1"}, AGENT_1, "not_in_match", 403),
        ({**GET_STATE, "agent_id": "spectator-x"}, None, "unauthorized", 401),  # no spectator's name
        ({**GET_STATE, "game": "chess", "match_id": "m-9"}, ANYBODY, "unknown_game", 404),
        ({**GET_STATE, "game": "chess"}, AGENT_1, "unknown_game", 404),
        ({**GET_STATE, "game": "market"}, AGENT_1, "unknown_match", 404),  # that match plays another game
        ({**GET_STATE, "match_id": "m-9"}, ANYBODY, "unknown_match", 404),
        ({**GET_STATE, "match_id": "m-9"}, AGENT_1, "forbidden", 403),  # a token tells nothing of other matches
        ({**GET_STATE, "match_id": "m-9", "agent_id": "spectator-1"}, None, "unknown_match", 404),
        ("x" * 70_000, AGENT_1, "too_large", 413),
    ],
)
def test_what_no_game_has_seen_is_refused_by_an_error(
    undercover: Any, message: Any, principal: Principal | None, code: str, status: int
) -> None:
    before = copy.deepcopy(undercover.dump())

    [(recipient, answer)] = undercover.hand_in(message, principal)

    assert (answer["type"], answer["error"]["data"]["code"], http_status(answer)) == ("error", code, status)
    assert recipient == ""
    assert undercover.dump() == before


@pytest.mark.parametrize(
    ("message", "principal", "named"),
    [
        ({**GET_STATE, "game": "chess"}, AGENT_1, "chess"),
        ({**GET_STATE, "match_id": "m-9"}, ANYBODY, "m-9"),
        ({**GET_STATE, "type": "leave"}, AGENT_1, "leave"),
        ({**GET_STATE, "version": "2.0.0"}, AGENT_1, "2.0.0"),
        ({**GET_STATE, "state": {"version": "2.0.0"}}, AGENT_1, "2.0.0"),
        ({**GET_STATE, "agent_id": "stranger"}, ANYBODY, "stranger"),
    ],
)
def test_a_refusal_names_what_is_wrong(undercover: Any, message: Any, principal: Principal, named: str) -> None:
    [(_, answer)] = undercover.hand_in(message, principal)
    assert named in answer["error"]["message"]


def test_a_refused_token_is_answered_under_the_heading_of_its_frame() -> None:
    heading = {"type": "authenticate", "game": "undercover", "match_id": "m-1", "agent_id": "agent_1"}
    with pytest.raises(RefusedRequest) as caught:
        read_authentication({**heading, "version": "2.0.0", "token": "t"})
    assert caught.value.refused.code == "unsupported_version"
    assert caught.value.heading == RequestHeading(**heading)


def test_before_the_start_there_is_nothing_to_act_in(table: Callable[..., Any]) -> None:
    waiting = table("undercover", ["agent_1", "agent_2", "agent_3"], started=False)
    for agent in waiting.match.agent_ids:
        waiting.service.join("m-1", agent_id=agent)

    [(_, answer)] = waiting.send(ACTION)

    assert (answer["error"]["data"]["code"], http_status(answer)) == ("match_not_started", 409)


def test_the_first_check_that_fails_is_the_one_that_is_told(undercover: Any) -> None:
    """Size, JSON, envelope, version, token, match, membership, status, game: each request below has mended one more."""
    stranger = Principal(accounts=frozenset({"stranger"}))
    version_2 = {**ACTION, "version": "2.0.0", "agent_id": "stranger", "match_id": "m-9", "game": "chess"}
    rows: list[tuple[Any, Principal, str]] = [
        ('{"a": NaN' + " " * 70_000, NOBODY, "too_large"),
        ('{"a": NaN, "type": "leave"}', NOBODY, "malformed_json"),
        ({**version_2, "more": 1}, NOBODY, "invalid_envelope"),
        (version_2, NOBODY, "unsupported_version"),
        ({**version_2, "version": "1.9.0"}, NOBODY, "unauthorized"),
        ({**version_2, "version": "1.9.0"}, stranger, "unknown_game"),
        ({**version_2, "version": "1.9.0", "game": "market"}, stranger, "unknown_match"),
        ({**version_2, "version": "1.9.0", "game": "undercover", "match_id": "m-1"}, stranger, "not_in_match"),
    ]
    for message, principal, code in rows:
        [(_, answer)] = undercover.hand_in(message, principal)
        assert answer["error"]["data"]["code"] == code


def test_an_unusable_version_says_which_one_is_spoken(undercover: Any) -> None:
    [(_, answer)] = undercover.send({**GET_STATE, "version": "3.0.0"})
    assert answer["error"]["data"]["supported"] == ["1.0.0"]
    [(_, newer)] = undercover.send({**GET_STATE, "version": "1.7.2"})
    assert newer["type"] == "get_state_response"


@pytest.mark.parametrize(
    ("message", "echoed"),
    [
        ({**GET_STATE, "more": 1, "request_id": "r"}, ("undercover", "m-1", "agent_1", "r")),
        ({**GET_STATE, "game": 5, "match_id": "m 1", "more": 1}, ("", "", "agent_1", None)),
        ({**GET_STATE, "agent_id": "\n\u202e", "request_id": 7}, ("undercover", "m-1", "", None)),
        ({**GET_STATE, "agent_id": "x" * 65, "request_id": "x" * 65}, ("undercover", "m-1", "", None)),
        ("not json", ("", "", "", None)),
    ],
)
def test_an_error_repeats_what_was_usable_of_the_heading(
    undercover: Any, message: Any, echoed: tuple[str, str, str, str | None]
) -> None:
    [(_, answer)] = undercover.hand_in(message, AGENT_1)
    found = (answer["game"], answer["match_id"], answer["agent_id"], answer.get("request_id"))
    assert found == echoed


def test_the_request_id_is_repeated_if_and_only_if_it_was_sent(undercover: Any) -> None:
    for more in ({}, {"request_id": "r-1"}):
        for message in ({**GET_STATE, **more}, {**ACTION, **more}, {**ACTION, **more, "game": "chess"}):
            answer = undercover.send(message)[0][1]
            assert answer.get("request_id") == more.get("request_id")
            assert ("request_id" in answer) == bool(more)


def undercover_code(undercover: Any, agent: str, kind: str, data: dict[str, Any], **action: str) -> dict[str, Any]:
    message = undercover.action(agent, kind, data)
    message["action"].update(action)
    before = copy.deepcopy(undercover.dump())
    [(recipient, answer)] = undercover.send(message)
    assert recipient == agent
    assert (answer["type"], answer["action_response"]["status"], http_status(answer)) == (
        "perform_action_response",
        "error",
        200,
    )
    assert undercover.dump() == before
    found: dict[str, Any] = answer["action_response"]["data"]
    return found


def test_what_the_rules_forbid_is_refused_by_the_action_s_answer(undercover: Any) -> None:
    word = undercover.match.view("agent_1")["me"]["word"]

    def code(agent: str, kind: str, data: dict[str, Any], **action: str) -> str:
        found: str = undercover_code(undercover, agent, kind, data, **action)["code"]
        return found

    undercover.hosted.driver = UntimedDriver(undercover.match, None)
    assert code("agent_2", "describe", {"description": "mine"}) == "not_pending"
    assert code("agent_1", "dance", {}) == "unknown_action"
    assert code("agent_1", "describe", {"description": 5}) == "invalid_data"
    assert code("agent_1", "describe", {"description": "x"}, version="2.0.0") == "unsupported_game_version"
    assert code("agent_1", "describe", {"description": "  "}) == "empty_description"
    assert code("agent_1", "describe", {"description": "x" * 201}) == "too_long"
    assert code("agent_1", "describe", {"description": f"a {word} it is"}) == "reveals_own_word"
    undercover.hosted.driver.forfeit("agent_1", ForfeitCause.TIMEOUT, undercover.now)
    undercover.service.deliver("m-1", undercover.now)
    assert code("agent_1", "describe", {"description": "late"}) == "too_late"
    undercover.act("agent_2", "describe", {"description": "small"})
    assert code("agent_3", "describe", {"description": "Small!"}) == "repeated_description"
    undercover.act("agent_3", "describe", {"description": "wooden"})
    assert code("agent_1", "vote", {"vote_number": 1, "reason": "me"}) == "self_vote"
    assert code("agent_1", "vote", {"vote_number": 9, "reason": "who"}) == "unknown_target"
    assert code("agent_1", "vote", {"vote_number": 2, "reason": ""}) == "missing_reason"
    for voter, target in (("agent_1", 2), ("agent_2", 3), ("agent_3", 2)):
        undercover.act(voter, "vote", {"vote_number": target, "reason": "so"})
    assert undercover.match.is_over
    assert code("agent_1", "vote", {"vote_number": 2, "reason": "again"}) == "match_over"


def test_a_message_of_guess_number_travels_whole(table: Callable[..., Any]) -> None:
    guess = table("guess_number", ["agent_0", "agent_1"])
    report = {"sender": "agent_0", "type": "state_report", "timestamp": 0, "next_guess": 3}

    def errors(data: dict[str, Any]) -> list[tuple[str, str]]:
        [(_, answer)] = guess.act("agent_0", "state_report", data)
        told = answer["action_response"]["data"]
        assert told["code"] == "invalid_data"
        return [(error["path"], error["code"]) for error in told["errors"]]

    guess.hosted.driver = UntimedDriver(guess.match, None)
    assert errors({**report, "sender": "agent_1"}) == [("/sender", "sender_mismatch")]
    assert [path for path, _ in errors({**report, "type": "proposal", "content": {}})] == ["/type"]
    everything = errors(
        {"sender": "ghost", "type": "state_report", "timestamp": -1, "next_guess": 10, "confidence": True}
    )
    assert {
        ("/confidence", "wrong_type"),
        ("/next_guess", "guess_out_of_range"),
        ("/sender", "unknown_sender"),
        ("/timestamp", "negative_timestamp"),
    } <= set(everything)
    assert everything == sorted(everything)

    out = guess.act("agent_0", "state_report", report)

    assert out[0][1]["action_response"]["status"] == "success"
    heard = [each["message_response"]["data"] for recipient, each in out if recipient == "agent_1"]
    assert [each["message"] for each in heard if each["event"] == "state_report"] == [report]


def test_what_only_a_transport_knows_has_its_refusal_too() -> None:
    heading = RequestHeading(type="get_state", agent_id="agent_1")
    for refused, status in ((rate_limited(1.5), 429), (internal("i-7"), 500), (Refused("unauthorized", "no"), 401)):
        answer = envelope.error(refused, heading)
        assert check_message(answer) == []
        assert http_status(answer) == status
        assert answer["error"]["data"]["request_type"] == "get_state"
    assert envelope.error(internal("i-7"), heading)["error"]["data"]["incident"] == "i-7"


def test_every_code_has_the_status_that_the_specification_names() -> None:
    assert {code: HTTP_STATUS[code] for code in ("unauthorized", "not_in_match", "unknown_match", "too_large")} == {
        "unauthorized": 401,
        "not_in_match": 403,
        "unknown_match": 404,
        "too_large": 413,
    }
    assert http_status({"type": "perform_action_response"}) == 200
