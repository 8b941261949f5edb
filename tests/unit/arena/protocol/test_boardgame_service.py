"""Matches through envelopes: who is told what, in which order, and what a repeated request does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from league_agents.arena.protocol.access import Principal
from league_agents.arena.protocol.envelope import instant
from league_agents.arena.protocol.hosting import Hosted, MemoryStore, NoSeat, Status, UntimedDriver
from league_agents.arena.protocol.refusals import Refused
from league_agents.arena.protocol.requests import CreateMatch
from league_agents.arena.protocol.service import MatchService
from league_agents.games.game import HOST, ForfeitCause, is_visible
from league_agents.games.registry import game_of
from league_agents.kit.errors import ConfigError, LeagueError
from league_agents.turns.match import Match


def told(out: list[tuple[str, Any]], recipient: str) -> list[dict[str, Any]]:
    """The data of the pushes for one recipient."""
    return [each["message_response"]["data"] for to, each in out if to == recipient and each["type"] == "push_message"]


def finish(table: Any) -> list[tuple[str, Any]]:
    """Play an undercover match of three to its end; everything that was sent."""
    out = list(table.opening)
    for agent, text in (("agent_1", "round"), ("agent_2", "small"), ("agent_3", "wooden")):
        out += table.act(agent, "describe", {"description": text})
    for voter, target in (("agent_1", 2), ("agent_2", 3), ("agent_3", 2)):
        out += table.act(voter, "vote", {"vote_number": target, "reason": f"because {voter}"})
    return out


# Seats and the beginning.


def test_a_match_waits_until_its_seats_are_taken(table: Callable[..., Any]) -> None:
    lobby = table("undercover", ["agent_1", "agent_2", "agent_3"], started=False)
    service = lobby.service
    assert service.join("m-1", name="Ann", kind="human") == "agent_1"
    assert service.join("m-1", agent_id="agent_3") == "agent_3"

    waiting = lobby.state("agent_1")

    assert (waiting["status"], waiting["phase"], waiting["stage"], waiting["turn"]) == ("waiting", "lobby", "wait", 0)
    assert (waiting["started_at"], waiting["ended_at"], waiting["active_agent_id"]) == (None, None, None)
    assert waiting["agents"] == [
        {"id": "agent_1", "name": "Ann", "type": "human"},
        {"id": "agent_3", "name": "agent_3", "type": "ai"},
    ]
    data = waiting["state"]["data"]
    assert (data["seq"], data["view"], data["legal"], data["deadline"]) == (0, {}, [], None)
    assert service.pushes_after("m-1", "agent_1", 0) == []
    with pytest.raises(NoSeat, match="waits for 1 more"):
        service.start("m-1", lobby.now)
    with pytest.raises(NoSeat, match="no free seat agent_1"):
        service.join("m-1", agent_id="agent_1")

    service.vacate("m-1", "agent_1")
    assert [service.join("m-1"), service.join("m-1")] == ["agent_1", "agent_2"]
    with pytest.raises(NoSeat, match="no free seat"):
        service.join("m-1")
    opening = service.start("m-1", lobby.now)

    assert lobby.state("agent_1")["status"] == "started"
    assert {recipient for recipient, _ in opening} == {"agent_1", "agent_2", "agent_3"}
    assert service.start("m-1", lobby.now) == []
    for too_late in (lambda: service.join("m-1"), lambda: service.vacate("m-1", "agent_1")):
        with pytest.raises(NoSeat):
            too_late()


def test_a_match_may_start_with_the_names_of_those_who_came(table: Callable[..., Any]) -> None:
    lobby = table("undercover", ["agent_1", "agent_2", "agent_3"], started=False)
    for name in ("Ann", "Bob", "Cleo"):
        lobby.service.join("m-1", name=name)
    named = Match(lobby.match.game, config={"num_undercover": 1, "lang": "en"}, agent_ids=lobby.match.agent_ids, seed=9)
    other = Match(lobby.match.game, config={}, agent_ids=["agent_1", "agent_2", "agent_4"], seed=9)

    with pytest.raises(LeagueError, match="agents that it was opened with"):
        lobby.service.start("m-1", lobby.now, match=other)
    lobby.service.start("m-1", lobby.now, match=named)

    lobby.act("agent_1", "describe", {"description": "round"})
    assert named.active() == ("agent_2",)


def test_seats_are_those_of_the_match(table: Callable[..., Any]) -> None:
    wrong = table("market", ["s1", "s2"], started=False).hosted.seats[:1]
    with pytest.raises(ValueError, match="one seat for each"):
        table("market", ["s1", "s2"], seats=wrong)


# Acting and being told.


def test_the_actor_is_answered_first_and_then_everybody_is_told_in_order(undercover: Any) -> None:
    out = undercover.act("agent_1", "describe", {"description": "round"}, request_id="r-1")

    (first, answer), *pushed = out
    assert first == "agent_1"
    assert answer["action_response"]["status"] == "success"
    assert answer["request_id"] == "r-1"
    assert [recipient for recipient, _ in pushed] == ["agent_1", "agent_2", "agent_3"]
    assert {each["type"] for _, each in pushed} == {"push_message"}
    [told_data] = told(out, "agent_2")
    assert told_data["event"] == "description"
    assert told_data["seq"] == answer["action_response"]["data"]["seq"]
    numbers = [each["message_response"]["data"]["seq"] for _, each in undercover.opening + pushed]
    assert numbers == sorted(numbers)


def test_every_push_names_its_recipient_and_what_differs_differs(undercover: Any) -> None:
    for recipient, each in undercover.opening:
        assert each["agent_id"] == recipient
    words = {}
    for agent in undercover.match.agent_ids:
        [dealt] = [data for data in told(undercover.opening, agent) if data["event"] == "word_dealt"]
        words[agent] = dealt["word"]
    assert len(set(words.values())) == 2
    assert words == {agent: undercover.match.view(agent)["me"]["word"] for agent in words}


def test_the_text_that_travels_says_what_the_fields_say(undercover: Any) -> None:
    for _, each in finish(undercover):
        assert json.loads(each.text) == json.loads(json.dumps(each))
        assert "\n" not in each.text


def test_a_sealed_vote_is_told_to_nobody_else(undercover: Any) -> None:
    for agent, text in (("agent_1", "round"), ("agent_2", "small"), ("agent_3", "wooden")):
        undercover.act(agent, "describe", {"description": text})
    spectator = undercover.service.watch("m-1")
    seq = undercover.state("agent_2")["state"]["data"]["seq"]

    out = undercover.act("agent_1", "vote", {"vote_number": 2, "reason": "too vague"})

    assert told(out, "agent_2") == told(out, "agent_3") == told(out, spectator) == []
    assert undercover.state("agent_2")["state"]["data"]["seq"] == seq
    assert "too vague" not in json.dumps(undercover.state("agent_2"))
    active = undercover.state("agent_2")["state"]["data"]["active_agent_ids"]
    assert active == ["agent_2", "agent_3"]


def test_the_state_names_the_asker_as_active_where_it_is(undercover: Any) -> None:
    assert undercover.state("agent_1")["active_agent_id"] == "agent_1"
    assert undercover.state("agent_2")["active_agent_id"] == "agent_1"
    mine, other = (undercover.state(agent)["state"]["data"] for agent in ("agent_1", "agent_2"))
    assert [each["type"] for each in mine["legal"]] == ["describe"]
    assert other["legal"] == []
    for agent, text in (("agent_1", "round"), ("agent_2", "small"), ("agent_3", "wooden")):
        undercover.act(agent, "describe", {"description": text})
    assert undercover.state("agent_3")["active_agent_id"] == "agent_3"
    assert undercover.state("agent_3")["stage"] == "vote"


def test_the_end_is_in_the_state_of_everybody(undercover: Any) -> None:
    undercover.now += timedelta(minutes=3)
    finish(undercover)

    state = undercover.state("agent_1")

    outcome = undercover.match.outcome()
    assert (state["status"], state["stage"], state["active_agent_id"]) == ("ended", "done", None)
    assert state["winners"] == list(outcome.winners) != []
    assert (state["started_at"], state["ended_at"]) == ("2025-05-05T10:00:00Z", "2025-05-05T10:03:00Z")
    assert undercover.state("spectator-5")["winners"] == state["winners"]


def test_the_rules_are_told_in_the_language_of_the_match(table: Callable[..., Any]) -> None:
    agents = ["agent_1", "agent_2", "agent_3"]
    for config, lang in (({}, "zh"), ({"lang": "en"}, "en")):
        found = table("undercover", agents, config)
        assert found.state("agent_1")["state"]["data"]["rules"] == found.match.game.rules_text(config, lang)


# Spectators and coming back.


def test_spectators_watch_without_a_token_and_see_no_word(undercover: Any) -> None:
    words = {undercover.match.view(agent)["me"]["word"] for agent in undercover.match.agent_ids}
    one, two = undercover.service.watch("m-1"), undercover.service.watch("m-1")
    assert (one, two) == ("spectator-1", "spectator-2")

    message = undercover.heading("get_state", one, state={"version": "1.0.0"})
    [(_, state)] = undercover.hand_in(message, None)
    out = undercover.act("agent_1", "describe", {"description": "round"})

    assert state["stage"] == "watch"
    assert [recipient for recipient, _ in out[-2:]] == [one, two]
    seen = json.dumps([state, told(out, one), undercover.service.pushes_after("m-1", one, 0)], ensure_ascii=False)
    assert [word for word in words if word in seen] == []

    undercover.service.unwatch("m-1", one)
    undercover.service.unwatch("m-9", one)
    assert "spectator-1" not in dict(undercover.act("agent_2", "describe", {"description": "small"}))
    assert undercover.service.watch("m-1") == "spectator-3"


def test_a_closed_match_is_watched_by_nobody(table: Callable[..., Any]) -> None:
    closed = table("market", ["s1", "s2"], is_open=False)
    message = closed.heading("get_state", "spectator-1", state={"version": "1.0.0"})

    [(_, answer)] = closed.hand_in(message, None)

    assert answer["error"]["data"]["code"] == "forbidden"
    with pytest.raises(Refused, match="not open to spectators"):
        closed.service.watch("m-1")
    with pytest.raises(Refused, match="not open"):
        closed.service.check_reader("m-1", "spectator-1", None)


@pytest.mark.parametrize("viewer", ["agent_1", "agent_2", "spectator-1"])
def test_who_comes_back_misses_nothing_and_gets_nothing_twice(undercover: Any, viewer: str) -> None:
    undercover.service.watch("m-1")
    sent = finish(undercover)
    everything = [each for to, each in sent if to == viewer and each["type"] == "push_message"]
    if viewer.startswith("spectator"):  # it came after the opening
        everything = undercover.service.pushes_after("m-1", viewer, 0)
        assert [each for to, each in sent if to == viewer] == everything[-len([1 for to, _ in sent if to == viewer]) :]

    assert undercover.service.pushes_after("m-1", viewer, 0) == everything
    for place, each in enumerate(everything):
        seq = each["message_response"]["data"]["seq"]
        assert undercover.service.pushes_after("m-1", viewer, seq) == everything[place + 1 :]
    seq = undercover.state(viewer)["state"]["data"]["seq"]
    assert undercover.service.pushes_after("m-1", viewer, seq) == []


def test_pushes_are_read_by_those_they_are_for(undercover: Any) -> None:
    check = undercover.service.check_reader
    assert check("m-1", "agent_1", Principal.of_seat("m-1", "agent_1")) is undercover.hosted
    assert check("m-1", "spectator-9", None) is undercover.hosted
    for match_id, agent, principal, code in (
        ("m-1", "agent_1", None, "unauthorized"),
        ("m-1", "agent_1", Principal.of_seat("m-1", "agent_2"), "forbidden"),
        ("m-1", "agent_1", Principal.of_seat("m-2", "agent_1"), "forbidden"),
        ("m-2", "agent_1", Principal.of_seat("m-2", "agent_1"), "unknown_match"),
        ("m-1", "host", Principal(accounts=frozenset({"host"})), "not_in_match"),
    ):
        with pytest.raises(Refused) as caught:
            check(match_id, agent, principal)
        assert caught.value.code == code


# Asking again.


def test_a_request_that_comes_twice_acts_once(undercover: Any) -> None:
    message = undercover.action("agent_1", "describe", {"description": "round"}, request_id="r-1")
    first = undercover.send(message)
    after = copy.deepcopy(undercover.dump())

    again = undercover.send(message)

    assert again == [first[0]]
    assert undercover.dump() == after
    assert undercover.send({**message, "request_id": "r-2"})[0][1]["action_response"]["data"]["code"] == "not_pending"


def test_a_refusal_that_comes_twice_costs_one_attempt(undercover: Any) -> None:
    wrong = undercover.action("agent_1", "describe", {"description": " "}, request_id="r-1")
    first = undercover.send(wrong)
    assert first[0][1]["action_response"]["data"] == {"code": "empty_description", "attempts_left": 2}
    assert undercover.send(wrong) == first
    assert undercover.send({**wrong, "request_id": "r-2"})[0][1]["action_response"]["data"]["attempts_left"] == 1


def test_the_same_request_id_of_another_agent_is_another_request(undercover: Any) -> None:
    for agent, text in (("agent_1", "round"), ("agent_2", "small")):
        out = undercover.act(agent, "describe", {"description": text}, request_id="r-1")
        assert (out[0][1]["agent_id"], out[0][1]["action_response"]["status"]) == (agent, "success")


def test_a_repeat_is_answered_after_the_match_has_ended(undercover: Any) -> None:
    for agent, text in (("agent_1", "round"), ("agent_2", "small"), ("agent_3", "wooden")):
        undercover.act(agent, "describe", {"description": text})
    for voter, target in (("agent_1", 2), ("agent_2", 3), ("agent_3", 2)):
        last = undercover.action(voter, "vote", {"vote_number": target, "reason": "so"}, request_id="v")
        out = undercover.send(last)
    assert undercover.hosted.status is Status.ENDED
    assert undercover.send(last) == out[:1]


def test_sixty_four_answers_of_each_agent_are_kept(undercover: Any) -> None:
    undercover.hosted.driver = UntimedDriver(undercover.match, None)
    first = undercover.act("agent_1", "describe", {"description": " "}, request_id="r-0")
    for number in range(1, 64):
        undercover.act("agent_1", "describe", {"description": " "}, request_id=f"r-{number}")
        undercover.act("agent_2", "describe", {"description": " "}, request_id=f"r-{number}")
    assert undercover.act("agent_1", "describe", {"description": "round"}, request_id="r-0") == first
    undercover.act("agent_1", "describe", {"description": " "}, request_id="r-64")
    [answer, *_] = undercover.act("agent_1", "describe", {"description": "round"}, request_id="r-0")
    assert answer[1]["action_response"]["status"] == "success"
    assert len(undercover.hosted.answers["agent_1"]) == 64


def test_an_error_is_not_kept_because_the_next_time_may_be_right(table: Callable[..., Any]) -> None:
    lobby = table("undercover", ["agent_1", "agent_2", "agent_3"], started=False)
    for agent in lobby.match.agent_ids:
        lobby.service.join("m-1", agent_id=agent)
    message = lobby.action("agent_1", "describe", {"description": "round"}, request_id="r-1")
    assert lobby.send(message)[0][1]["type"] == "error"
    lobby.service.start("m-1", lobby.now)
    assert lobby.send(message)[0][1]["action_response"]["status"] == "success"


# Attempts, forfeits, the end.


def test_the_third_refusal_forfeits_the_decision_and_everybody_is_told(undercover: Any) -> None:
    left = []
    for _ in range(3):
        out = undercover.act("agent_1", "describe", {"description": ""})
        left.append(out[0][1]["action_response"]["data"]["attempts_left"])
    assert left == [2, 1, 0]
    assert [data["event"] for data in told(out, "agent_2")] == ["description"]
    assert undercover.match.active() == ("agent_2",)
    late = undercover.act("agent_1", "describe", {"description": "round"})
    assert late[0][1]["action_response"]["data"] == {"code": "too_late"}


@pytest.mark.parametrize(
    ("game", "agents"),
    [("undercover", 4), ("guess_number", 2), ("market", 2), ("q21", 3)],
)
def test_the_number_that_an_agent_is_told_is_that_of_the_last_event_it_sees(
    table: Callable[..., Any], game: str, agents: int
) -> None:
    begun = table(game, [f"agent_{n}" for n in range(agents)])
    events = begun.match.events_for(HOST)
    for agent in begun.match.agent_ids:
        seen = [event.seq for event in events if is_visible(event, agent)]
        assert begun.state(agent)["state"]["data"]["seq"] == max(seen, default=0)


def test_an_accepted_action_gives_all_attempts_back(undercover: Any) -> None:
    undercover.act("agent_1", "describe", {"description": ""})
    for agent, text in (("agent_1", "round"), ("agent_2", "small"), ("agent_3", "wooden")):
        undercover.act(agent, "describe", {"description": text})
    [(_, answer)] = undercover.act("agent_1", "vote", {"vote_number": 1, "reason": "me"})
    assert answer["action_response"]["data"]["attempts_left"] == 2


def test_what_a_session_does_and_its_end_are_delivered_by_the_same_service(undercover: Any) -> None:
    service, now = undercover.service, undercover.now
    undercover.hosted.driver.forfeit("agent_1", ForfeitCause.TIMEOUT, now)
    out = service.deliver("m-1", now)
    assert [data["event"] for data in told(out, "agent_3")] == ["description"]
    assert service.deliver("m-1", now) == []

    (push, *_) = service.abandon("m-1", now + timedelta(seconds=30), "Everybody has left.")

    assert push[1]["message_response"]["message"] == "Everybody has left."
    assert push[1]["message_response"]["data"]["event"] == "match_abandoned"
    seq = push[1]["message_response"]["data"]["seq"]
    assert seq == len(undercover.match.events) + 1
    state = undercover.state("agent_2")
    assert (state["status"], state["stage"], state["winners"]) == ("abandoned", "done", [])
    assert (state["ended_at"], state["active_agent_id"]) == ("2025-05-05T10:00:30Z", None)
    assert state["state"]["data"]["seq"] == seq
    assert [each["agent_id"] for each in service.pushes_after("m-1", "agent_2", seq - 1)] == ["agent_2"]
    assert service.abandon("m-1", now, "again") == []
    [(_, answer)] = undercover.act("agent_2", "describe", {"description": "x"})
    assert answer["action_response"]["data"]["code"] == "match_over"


def test_a_match_that_is_abandoned_before_it_began_shows_nothing_that_was_dealt(table: Callable[..., Any]) -> None:
    lobby = table("undercover", ["agent_1", "agent_2", "agent_3"], started=False)
    lobby.service.join("m-1")
    lobby.service.abandon("m-1", lobby.now, "Nobody came.")

    state = lobby.state("agent_1")

    assert (state["status"], state["phase"], state["started_at"]) == ("abandoned", "lobby", None)
    assert state["state"]["data"]["view"] == {}
    [push] = lobby.service.pushes_after("m-1", "agent_1", 0)
    assert push["message_response"]["data"]["seq"] == state["state"]["data"]["seq"] == 1


def test_what_a_driver_did_by_itself_is_delivered_when_the_session_says_so(undercover: Any) -> None:
    undercover.match.forfeit("agent_1", ForfeitCause.TIMEOUT)
    out = undercover.service.deliver("m-1", undercover.now)
    assert [data["event"] for data in told(out, "agent_2")] == ["description"]
    assert undercover.service.deliver("m-1", undercover.now) == []


def test_a_driver_keeps_the_clock(undercover: Any) -> None:
    class Clock:
        def act(self, agent_id: str, action: Any, now: Any, /) -> None:
            undercover.match.act(agent_id, action)

        def forfeit(self, agent_id: str, cause: ForfeitCause, now: Any, /) -> None:
            undercover.match.forfeit(agent_id, cause)

        def deadline(self, agent_id: str, /) -> Any:
            return undercover.now + timedelta(seconds=60, milliseconds=250)

    undercover.hosted.driver = Clock()
    assert undercover.state("agent_1")["state"]["data"]["deadline"] == "2025-05-05T10:01:00.250Z"
    assert undercover.state("agent_2")["state"]["data"]["deadline"] is None
    assert undercover.state("spectator-1")["state"]["data"]["deadline"] is None


def test_an_instant_is_told_in_utc() -> None:
    assert instant(datetime(2025, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == "2025-01-01T00:00:00Z"
    with pytest.raises(ValueError, match="time zone"):
        instant(datetime(2025, 1, 1))  # noqa: DTZ001


# The lobby, over the protocol.


@pytest.fixture
def lobby() -> MatchService:
    def create(request: CreateMatch, now: Any) -> Hosted:
        agents = [seat.agent_id for seat in request.seats or ()] or [request.heading.agent_id, "guest"]
        match = Match(game_of(request.heading.game), config=request.config, agent_ids=agents, seed=1)
        return Hosted(match_id=f"m-{len(store.all()) + 1}", match=match, created_at=now)

    store = MemoryStore()
    return MatchService(store, create=create)


ANN = Principal(accounts=frozenset({"ann"}))
BOB = Principal(accounts=frozenset({"bob"}))


def opening_of(agent: str, **data: Any) -> dict[str, Any]:
    return {
        "version": "1.0.0",
        "type": "create_match",
        "game": "market",
        "agent_id": agent,
        "settings": {"version": "1.0.0", "data": data},
    }


def test_an_account_opens_a_match_sits_in_it_and_others_find_it(lobby: MatchService, undercover: Any) -> None:
    now = undercover.now
    [(to, made)] = lobby.handle(opening_of("ann", agents=["ann", "bob"]), ANN, now)
    assert (to, made) == (
        "ann",
        {
            "version": "1.0.0",
            "type": "create_match_response",
            "game": "market",
            "match_id": "m-1",
            "agent_id": "ann",
        },
    )

    [(_, found)] = lobby.handle({"version": "1.0.0", "type": "get_matches", "agent_id": "spectator-1"}, None, now)
    assert found["matches"] == [
        {
            "match_id": "m-1",
            "game": "market",
            "status": "waiting",
            "agents": [{"id": "ann", "name": "ann", "type": "ai"}],
            "seats": 2,
            "open_seats": 1,
            "created_at": "2025-05-05T10:00:00Z",
        }
    ]
    assert lobby.join("m-1", agent_id="bob") == "bob"
    lobby.start("m-1", now)
    state = {**opening_of("ann"), "type": "get_state", "match_id": "m-1", "state": {"version": "1.0.0"}}
    del state["settings"]
    [(_, answer)] = lobby.handle(state, ANN, now)
    assert answer["status"] == "started"
    # The account "bob" is not who took the seat "bob": that one has a token of its own.
    [(_, answer)] = lobby.handle({**state, "agent_id": "bob"}, BOB, now)
    assert answer["error"]["data"]["code"] == "forbidden"
    [(_, answer)] = lobby.handle({**state, "agent_id": "bob"}, Principal.of_seat("m-1", "bob") | BOB, now)
    assert answer["status"] == "started"


@pytest.mark.parametrize(
    ("change", "principal", "code"),
    [
        ({}, None, "unauthorized"),
        ({}, BOB, "forbidden"),
        ({}, Principal.of_seat("m-1", "ann"), "forbidden"),  # a seat is no account
        ({"game": "chess"}, ANN, "unknown_game"),
        ({"settings": {"version": "2.0.0", "data": {}}}, ANN, "unsupported_game_version"),
        ({"settings": {"version": "1.0.0", "data": {"agents": ["bob", "cleo"]}}}, ANN, "invalid_envelope"),
        ({"settings": {"version": "1.0.0", "data": {"agents": ["ann", "ann"]}}}, ANN, "invalid_envelope"),
        ({"settings": {"version": "1.0.0", "data": {"agents": ["ann", "host"]}}}, ANN, "invalid_envelope"),
        ({"settings": {"version": "1.0.0", "data": {"config": {"max_rounds": -1}}}}, ANN, "invalid_envelope"),
        ({"settings": {"version": "1.0.0", "data": {"seed": 5}}}, ANN, "invalid_envelope"),  # it tells the roles
        ({"match_id": "m-1"}, ANN, "invalid_envelope"),
    ],
)
def test_a_match_that_cannot_be_is_not_opened(
    lobby: MatchService, undercover: Any, change: dict[str, Any], principal: Principal | None, code: str
) -> None:
    [(to, answer)] = lobby.handle({**opening_of("ann"), **change}, principal, undercover.now)
    assert (to, answer["error"]["data"]["code"]) == ("", code)
    assert lobby.store.all() == ()


def test_opening_twice_with_one_request_id_opens_one_match(lobby: MatchService, undercover: Any) -> None:
    message = {**opening_of("ann"), "request_id": "r-1"}
    first = lobby.handle(message, ANN, undercover.now)
    assert lobby.handle(message, ANN, undercover.now) == first
    assert len(lobby.store.all()) == 1
    lobby.handle({**message, "request_id": "r-2"}, ANN, undercover.now)
    assert len(lobby.store.all()) == 2


def test_a_server_may_leave_the_lobby_to_its_other_doors(undercover: Any) -> None:
    [(_, answer)] = undercover.hand_in(opening_of("ann"), ANN)
    assert answer["error"]["data"]["code"] == "forbidden"


def test_a_match_that_is_not_listed_is_told_to_its_own_agents(undercover: Any) -> None:
    undercover.hosted.is_listed = False
    message = {"version": "1.0.0", "type": "get_matches", "agent_id": "agent_1", "request_id": "r"}
    [(_, mine)] = undercover.hand_in(message, Principal.of_seat("m-1", "agent_1"))
    [(_, others)] = undercover.hand_in(message, Principal(accounts=frozenset({"agent_1"})))
    assert [match["match_id"] for match in mine["matches"]] == ["m-1"]
    assert others["matches"] == []
    assert mine["request_id"] == "r"
    [(_, nobody)] = undercover.hand_in(message, None)
    assert nobody["error"]["data"]["code"] == "unauthorized"
    [(_, another)] = undercover.hand_in(message, Principal.of_seat("m-1", "agent_2"))
    assert another["error"]["data"]["code"] == "forbidden"


def test_a_store_keeps_one_match_of_an_id(undercover: Any) -> None:
    store = undercover.store
    with pytest.raises(LeagueError, match="already"):
        store.add(undercover.hosted)
    store.remove("m-1")
    store.remove("m-1")
    assert store.get("m-1") is None
    with pytest.raises(Refused):
        undercover.service.deliver("m-1", undercover.now)


def test_a_creator_s_own_refusal_is_told(undercover: Any) -> None:
    def full(request: CreateMatch, now: Any) -> Hosted:
        raise Refused("rate_limited", "there are enough matches")

    def wrong(request: CreateMatch, now: Any) -> Hosted:
        raise ConfigError("config.lang", "must be en or zh")

    for create, code in ((full, "rate_limited"), (wrong, "invalid_envelope")):
        service = MatchService(MemoryStore(), create=create)
        [(_, answer)] = service.handle(opening_of("ann"), ANN, undercover.now)
        assert answer["error"]["data"]["code"] == code
    assert answer["error"]["data"]["errors"][0]["message"] == "cannot be played: config.lang: must be en or zh"
