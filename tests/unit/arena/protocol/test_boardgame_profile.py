"""With the profile ``schemas`` everything that goes out keeps the rules of the organisation's own schemas.

Those rules are written here as checks of ours: which fields there must be, which there may be, and of which kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pytest

from league_agents.arena.protocol.access import Principal
from league_agents.arena.protocol.envelope import PushBody
from league_agents.arena.protocol.hosting import MemoryStore, Profile
from league_agents.arena.protocol.service import MatchService
from league_agents.games.game import Event

Rule = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_version(value: Any) -> bool:
    return is_text(value) and re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", value) is not None


def is_instant(value: Any) -> bool:
    return is_text(value) and datetime.fromisoformat(value).tzinfo is not None


def is_turn(value: Any) -> bool:
    return type(value) is int and value >= 0


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def one_of(*allowed: str) -> Rule:
    return lambda value: value in allowed


def list_of(rule: Rule, least: int = 0) -> Rule:
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(rule, value))


def closed(required: Mapping[str, Rule], optional: Mapping[str, Rule] | None = None, *, is_open: bool = False) -> Rule:
    every = {**required, **(optional or {})}

    def holds(value: Any) -> bool:
        if not isinstance(value, dict) or not set(required) <= set(value):
            return False
        if not is_open and not set(value) <= set(every):
            return False
        return all(every[name](value[name]) for name in value if name in every)

    return holds


AGENT = closed({"id": is_text, "name": is_text})
STATE = closed(
    {
        "version": is_version,
        "game": is_text,
        "match_id": is_text,
        "status": is_text,
        "phase": is_text,
        "turn": is_turn,
        "stage": is_text,
        "state": closed({"version": is_version, "data": is_object}, is_open=True),
        "active_agent_id": is_text,  # no null
        "agents": list_of(AGENT, 1),  # no type, and at least one
        "started_at": is_instant,  # no null, and never left out
    },
    {
        "type": one_of("get_state_response"),
        "winners": list_of(is_text),
        "ended_at": is_instant,  # no null: left out instead
    },  # and no agent_id
)
ACTED = closed(
    {
        "version": is_version,
        "type": one_of("perform_action_response"),
        "game": is_text,
        "match_id": is_text,
        "agent_id": is_text,
        "action_response": closed(
            {"version": is_version, "status": one_of("success", "error"), "message": is_text, "data": is_object}
        ),
    }
)
PUSHED = closed(
    {
        "version": is_version,
        "type": one_of("push_event"),
        "game": is_text,
        "match_id": is_text,
        "agent_id": is_text,
        "event": closed({"version": is_version, "data": closed({"message": is_text}, is_open=True)}),
    }
)
MADE = closed(
    {
        "version": is_version,
        "type": one_of("create_match_response"),
        "game": is_text,
        "match_id": is_text,
        "agent_id": is_text,
    }
)
MATCHES = closed(
    {
        "version": is_version,
        "type": one_of("get_matches_response"),
        "agent_id": is_text,
        "matches": list_of(
            closed(
                {
                    "match_id": is_text,
                    "agents": list_of(closed({"id": is_text, "name": is_text}, is_open=True), 1),
                    "status": one_of("waiting", "started", "ended"),  # never abandoned
                },
                is_open=True,
            )
        ),
    }
)
RULES = {
    "get_state_response": STATE,
    "perform_action_response": ACTED,
    "push_event": PUSHED,
    "create_match_response": MADE,
    "get_matches_response": MATCHES,
}


@pytest.fixture
def market(table: Callable[..., Any]) -> Any:
    return table("market", ["s1", "s2"], {"max_rounds": 1}, profile=Profile.SCHEMAS, started=False)


def test_a_whole_match_keeps_to_the_schemas(market: Any) -> None:
    service = market.service
    seen = [market.state("spectator-1")]  # nobody has joined yet, and the schema wants an agent
    market.service.join("m-1", name="Ann", kind="human")
    seen.append(market.state("s1"))
    market.service.join("m-1", name="Bob")
    service.watch("m-1")
    seen += [each for _, each in service.start("m-1", market.now)]
    seen += [market.state("s1"), market.state("spectator-1")]
    for agent, price in (("s1", 5), ("s1", 15), ("s2", 12)):
        seen += [each for _, each in market.act(agent, "submit_price", {"price": price})]
    assert market.match.is_over
    seen += [market.state("s1"), *service.pushes_after("m-1", "s2", 0)]
    seen += [each for _, each in market.hand_in(listing("s1"), Principal.of_seat("m-1", "s1"))]

    assert [each for each in seen if not RULES[each["type"]](dict(each))] == []
    kinds = {each["type"] for each in seen}
    assert kinds == {"get_state_response", "perform_action_response", "push_event", "get_matches_response"}
    assert seen[0]["started_at"] == "2025-05-05T10:00:00Z"
    assert seen[0]["active_agent_id"] == ""
    assert "ended_at" not in seen[0]
    assert "ended_at" in market.state("s1")


def listing(agent: str) -> dict[str, Any]:
    return {"version": "1.0.0", "type": "get_matches", "agent_id": agent}


def test_the_page_s_own_form_does_not_keep_to_them(table: Callable[..., Any]) -> None:
    """Else the checks above would prove nothing."""
    page = table("market", ["s1", "s2"], {"max_rounds": 1})
    seen = [page.state("s1"), *(each for _, each in page.opening)]
    assert not STATE(dict(seen[0]))
    assert {each["type"] for each in seen[1:]} == {"push_message"}
    assert not any(PUSHED(dict(each)) for each in seen[1:])


def test_the_list_of_matches_has_no_abandoned_one_and_none_without_agents(market: Any) -> None:
    [(_, empty)] = market.hand_in(listing("spectator-1"), None)
    market.service.join("m-1")
    market.service.abandon("m-1", market.now, "Nobody else came.")
    [(_, ended)] = market.hand_in(listing("spectator-1"), None)

    assert [agent["id"] for agent in empty["matches"][0]["agents"]] == ["s1", "s2"]  # who will sit there
    assert empty["matches"][0]["open_seats"] == 2
    assert MATCHES(dict(empty))
    assert [match["status"] for match in ended["matches"]] == ["ended"]
    assert MATCHES(dict(ended))
    assert STATE(dict(market.state("s1")))
    assert market.state("s1")["status"] == "abandoned"  # there the schema takes any text


def test_a_match_that_is_opened_is_told_in_their_form(market: Any) -> None:
    service = MatchService(MemoryStore(), create=lambda _request, _now: market.hosted, profile=Profile.SCHEMAS)
    message = {
        "version": "1.0.0",
        "type": "create_match",
        "game": "market",
        "agent_id": "s1",
        "settings": {"version": "1.0.0", "data": {}},
    }
    [(_, made)] = service.handle(message, Principal(accounts=frozenset({"s1"})), market.now)
    assert MADE(dict(made))


def test_what_a_game_says_never_hides_what_the_protocol_says() -> None:
    event = Event(kind="report", visible_to="all", text="Ann reports.", data={"message": {"a": 1}, "seq": 99}, seq=4)

    def data(*, as_event: bool) -> Any:
        body = PushBody(event, game="g", game_version="1.0.0", match_id="m", as_event=as_event).to("ann")
        return body["event" if as_event else "message_response"]["data"]

    assert data(as_event=True) == {
        "seq": 4,
        "event": "report",
        "message": "Ann reports.",
        "game_message": {"a": 1},
        "game_seq": 99,
    }
    assert data(as_event=False) == {"seq": 4, "event": "report", "message": {"a": 1}, "game_seq": 99}
