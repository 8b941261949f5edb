"""The examples of the protocol's page and of its specification are read as they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from league_agents.arena.protocol.json_text import read_object
from league_agents.arena.protocol.requests import (
    GetState,
    PerformAction,
    RefusedRequest,
    RequestHeading,
    check_message,
    read_request,
)
from league_agents.games.game import Action

PAGE_STATE_RESPONSE = """{
  "version": "1.0.0", "type": "get_state_response", "game": "game_code", "match_id": "abc123", "agent_id": "agent_2",
  "status": "started", "phase": "main", "turn": 1, "stage": "draw",
  "started_at": "2025-05-05T10:00:00Z", "ended_at": null, "active_agent_id": "agent_2",
  "agents": [
    { "id": "agent_1", "name": "Agent One", "type": "human" },
    { "id": "agent_2", "name": "Agent Two", "type": "ai" }
  ],
  "state": { "version": "1.0.0", "data": { "example_property": "example_value" } }
}"""
PAGE_ACTION = """{
  "version": "1.0.0", "type": "perform_action", "game": "game_code", "match_id": "abc123", "agent_id": "agent_2",
  "action": { "version": "1.0.0", "type": "some_action", "data": { "example_property": "example_value" } }
}"""
PAGE_ACTION_RESPONSE = """{
  "version": "1.0.0", "type": "perform_action_response", "game": "game_code", "match_id": "abc123",
  "agent_id": "agent_2",
  "action_response": { "version": "1.0.0", "status": "success", "message": "Action performed successfully",
    "data": { "example_property": "example_value" } }
}"""
PAGE_PUSH = """{
  "version": "1.0.0", "type": "push_message", "game": "game_code", "match_id": "abc123", "agent_id": "agent_2",
  "message_response": { "version": "1.0.0", "message": "Agent 1 drew a card",
    "data": { "example_property": "example_value" } }
}"""
PAGE_ERROR = """{
  "version": "1.0.0", "type": "error", "game": "game_code", "match_id": "abc123", "agent_id": "agent_2",
  "error": { "version": "1.0.0", "message": "Unauthorized action", "data": { "example_property": "example_value" } }
}"""
PAGE_GET_STATE = """{
  "version": "1.0.0",
  "type": "get_state",
  "game": "game_code",
  "match_id": "abc123",
  "agent_id": "agent_2",
  "state": {
    "version:: "1.0.0"
  }
}"""


@pytest.mark.parametrize("text", [PAGE_STATE_RESPONSE, PAGE_ACTION, PAGE_ACTION_RESPONSE, PAGE_PUSH, PAGE_ERROR])
def test_the_five_whole_examples_of_the_page_are_valid(text: str) -> None:
    assert check_message(read_object(text)) == []


def test_the_sixth_is_not_json_and_is_read_once_it_is_repaired() -> None:
    with pytest.raises(RefusedRequest) as caught:
        read_request(PAGE_GET_STATE)
    assert caught.value.refused.code == "malformed_json"
    assert "line 8" in caught.value.refused.message
    assert caught.value.heading == RequestHeading()

    repaired = read_request(PAGE_GET_STATE.replace('"version:: "1.0.0"', '"version": "1.0.0"'))

    heading = RequestHeading(type="get_state", game="game_code", match_id="abc123", agent_id="agent_2")
    assert repaired == GetState(heading=heading, version="1.0.0")


def test_the_page_s_action_is_read_as_an_action_of_its_game() -> None:
    request = read_request(PAGE_ACTION)

    assert isinstance(request, PerformAction)
    assert request.action == Action(type="some_action", data={"example_property": "example_value"}, version="1.0.0")


STATE_RESPONSE: dict[str, Any] = {
    "version": "1.0.0", "type": "get_state_response", "game": "undercover", "match_id": "m-7f3a", "agent_id": "agent_2",
    "status": "started", "phase": "description", "turn": 1, "stage": "describe",
    "started_at": "2025-05-05T10:00:00Z", "ended_at": None, "active_agent_id": "agent_2",
    "agents": [{"id": "agent_1", "name": "Agent One", "type": "human"},
               {"id": "agent_2", "name": "Agent Two", "type": "ai"},
               {"id": "agent_3", "name": "Agent Three", "type": "ai"}],
    "winners": [],
    "state": {"version": "1.0.0", "data": {
        "seq": 4, "active_agent_ids": ["agent_2"], "deadline": "2025-05-05T10:01:00Z",
        "legal": [{"type": "describe", "schema": {
            "type": "object", "required": ["description"], "additionalProperties": False,
            "properties": {"description": {"type": "string", "minLength": 1, "maxLength": 200}}}}],
        "rules": "Three players ...",
        "view": {"round": 1, "phase": "description", "me": {"player_id": 2, "word": "橙子"}}}},
}  # fmt: skip
ACTED: dict[str, Any] = {
    "version": "1.0.0", "type": "perform_action", "game": "undercover", "match_id": "m-7f3a", "agent_id": "agent_2",
    "request_id": "r-19",
    "action": {"version": "1.0.0", "type": "describe", "data": {"description": "圆形的，可以直接吃"}},
}  # fmt: skip
EXAMPLES: list[dict[str, Any]] = [
    {"version": "1.0.0", "type": "get_state", "game": "undercover", "match_id": "m-7f3a", "agent_id": "agent_2",
     "state": {"version": "1.0.0"}},
    STATE_RESPONSE,
    ACTED,
    {"version": "1.0.0", "type": "perform_action_response", "game": "undercover", "match_id": "m-7f3a",
     "agent_id": "agent_2", "request_id": "r-19",
     "action_response": {"version": "1.0.0", "status": "success", "message": "Action performed successfully",
                         "data": {"seq": 5}}},
    {"version": "1.0.0", "type": "perform_action_response", "game": "undercover", "match_id": "m-7f3a",
     "agent_id": "agent_2",
     "action_response": {"version": "1.0.0", "status": "error", "message": "The description contains your own word.",
                         "data": {"code": "reveals_own_word", "attempts_left": 1}}},
    {"version": "1.0.0", "type": "push_message", "game": "undercover", "match_id": "m-7f3a", "agent_id": "agent_3",
     "message_response": {"version": "1.0.0", "message": "Agent Two: 圆形的，可以直接吃", "data": {
         "seq": 5, "event": "description", "round": 1, "player_id": 2, "description": "圆形的，可以直接吃"}}},
    {"version": "1.0.0", "type": "error", "game": "undercover", "match_id": "m-7f3a", "agent_id": "agent_2",
     "error": {"version": "1.0.0", "message": "Unauthorized action",
               "data": {"code": "forbidden", "request_type": "perform_action"}}},
    {"version": "1.0.0", "type": "perform_action", "game": "guess_number", "match_id": "m-01", "agent_id": "agent_0",
     "action": {"version": "1.0.0", "type": "state_report",
                "data": {"sender": "agent_0", "type": "state_report", "timestamp": 0, "next_guess": 3}}},
    {"version": "1.0.0", "type": "perform_action", "game": "market", "match_id": "m-02", "agent_id": "s1",
     "action": {"version": "1.0.0", "type": "submit_price", "data": {"price": 15, "speech": "Let us be reasonable."}}},
    {"version": "1.0.0", "type": "create_match", "game": "market", "agent_id": "s1",
     "settings": {"version": "1.0.0", "data": {}}},
    {"version": "1.0.0", "type": "create_match", "game": "market", "agent_id": "s1",
     "settings": {"version": "1.0.0", "data": {"agents": ["s1", {"id": "s2", "agent": "scripted", "name": "Two"}]}}},
    {"version": "1.0.0", "type": "authenticate", "game": "market", "match_id": "m-02", "agent_id": "s1",
     "token": "a1b2"},
    {"version": "1.0.0", "type": "authenticated", "game": "market", "match_id": "m-02", "agent_id": "s1",
     "now": "2025-05-05T10:00:00Z"},
    {"version": "1.0.0", "type": "create_match_response", "game": "market", "match_id": "m-02", "agent_id": "s1"},
    {"version": "1.0.0", "type": "get_matches", "agent_id": "s1"},
    {"version": "1.0.0", "type": "get_matches_response", "agent_id": "s1", "matches": []},
]  # fmt: skip


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["type"] for example in EXAMPLES])
def test_every_example_of_the_specification_is_valid(example: dict[str, Any]) -> None:
    assert check_message(read_object(json.dumps(example))) == []


@pytest.mark.parametrize("example", [each for each in EXAMPLES if "response" not in each["type"]])
def test_requests_are_read_and_what_servers_send_is_none(example: dict[str, Any]) -> None:
    if example["type"] in ("push_message", "error", "authenticate", "authenticated"):
        with pytest.raises(RefusedRequest) as caught:
            read_request(example)
        assert caught.value.refused.code == "unknown_type"
    else:
        assert read_request(example).heading.agent_id == example["agent_id"]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["type"] for example in EXAMPLES])
def test_a_message_that_lacks_any_one_of_its_fields_is_not_valid(example: dict[str, Any]) -> None:
    optional = {"request_id", "winners"}
    for name in example:
        if name not in optional:
            less = {key: value for key, value in example.items() if key != name}
            assert f"/{name}" in [fault["path"] for fault in check_message(less)], name
    assert [fault["code"] for fault in check_message({**example, "surprise": 1})] == ["unknown_field"]


def test_all_faults_are_told_in_the_order_of_their_paths() -> None:
    wrong = {**ACTED, "version": 1, "action": {"version": "1", "data": []}, "request_id": "", "more": 1}

    with pytest.raises(RefusedRequest) as caught:
        read_request(wrong)

    errors = caught.value.refused.data["errors"]
    assert [(error["path"], error["code"]) for error in errors] == [
        ("/action/data", "wrong_type"),
        ("/action/type", "missing_field"),
        ("/action/version", "wrong_form"),
        ("/more", "unknown_field"),
        ("/request_id", "too_short"),
        ("/version", "wrong_type"),
    ]


def test_of_a_thousand_faults_the_first_are_told() -> None:
    with pytest.raises(RefusedRequest) as caught:
        read_request({**ACTED, **{f"x{number}": number for number in range(1000)}})
    assert len(caught.value.refused.data["errors"]) == 32
