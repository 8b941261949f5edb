"""Matches over real sockets: the lobby, pushes, polls, reconnects, the end."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from league_agents.arena.protocol.hosting import Profile
from league_agents.arena.protocol.requests import check_message
from league_agents.arena.server import web_api
from league_agents.arena.server.serving import ArenaServer
from league_agents.local_league.patience import LIMIT_S
from tests.support.arena_wire import QUICK, HttpAnswer, Place, Wire

Starter = Callable[..., ArenaServer]


@pytest.fixture
def wire(arena: ArenaServer) -> Wire:
    return Wire(arena.url)


def seated(wire: Wire, **wanted: Any) -> tuple[Place, Place]:
    match_id = wire.open("market", agents=["open", "open"], **wanted)
    return wire.join(match_id, name="Ann"), wire.join(match_id, name="Ben")


def price(place: Place, amount: int = 50, **more: Any) -> dict[str, Any]:
    return place.action("submit_price", {"price": amount}, **more)


def events(wire: Wire, place: Place, after: int = 0, wait: float = 0, token: str | None = "own") -> HttpAnswer:
    path = f"/protocol/events?match_id={place.match_id}&after={after}&wait={wait}"
    return wire.send("GET", path, token=place.token if token == "own" else token)


def seqs(pushes: list[dict[str, Any]]) -> list[int]:
    return [push["message_response"]["data"]["seq"] for push in pushes]


# The lobby.


def test_the_lobby_tells_what_is_played_here(wire: Wire) -> None:
    games = {game["game"]: game for game in wire.send("GET", "/games").fields["games"]}
    assert set(games) == {"guess_number", "market", "q21", "undercover"}
    undercover = games["undercover"]
    assert undercover["agents"] == [3, 12]
    assert len(undercover["usual_seats"]) == 6
    assert undercover["rules"]["zh"] != undercover["rules"]["en"]
    assert "num_undercover" in undercover["config"]["properties"]
    assert not {"pair", "word_pairs"} & set(undercover["config"]["properties"])
    assert games["q21"]["house"] == ["offline", "scripted", "random"]
    assert undercover["house"] == ["scripted", "random"]


def test_a_server_says_that_it_is_well_and_shows_its_icon(wire: Wire) -> None:
    well = wire.send("GET", "/healthz")
    assert (well.status, well.body) == (200, b"ok\n")
    icon = wire.send("GET", "/page/icon.svg")
    assert icon.headers["content-type"] == "image/svg+xml"
    assert b'href="/page/icon.svg"' in wire.send("GET", "/").body


def test_a_match_waits_for_its_seats_and_then_begins(wire: Wire) -> None:
    match_id = wire.open("undercover", lang="en")
    waiting = wire.send("GET", f"/matches/{match_id}").fields
    assert (waiting["status"], waiting["open_seats"], waiting["lang"]) == ("waiting", 1, "en")
    assert [seat["house"] for seat in waiting["seats"]] == [None] + ["scripted"] * 5
    ann = wire.join(match_id, name="Ann", type="human")
    state = wire.state(ann)
    assert (state["status"], state["stage"]) == ("started", "describe")
    assert state["agents"][0] == {"id": ann.agent_id, "name": "Ann", "type": "human"}
    assert state["state"]["data"]["view"]["me"]["name"] == "Ann"
    assert match_id in [match["match_id"] for match in wire.send("GET", "/matches").fields["matches"]]


@pytest.mark.parametrize("game", ["market", "q21"])
def test_the_rules_are_told_in_the_match_s_language_before_and_after_the_start(wire: Wire, game: str) -> None:
    match_id = wire.open(game, agents=["open", "open", "open"], lang="zh")
    first = wire.join(match_id, name="Ann")
    told = [wire.state(first)["state"]["data"]["rules"]]
    wire.join(match_id, name="Ben")
    wire.join(match_id, name="Cleo")
    state = wire.state(first)
    assert state["status"] == "started"
    told.append(state["state"]["data"]["rules"])
    assert all(re.search("[\u4e00-\u9fff]", rules) for rules in told)


def test_in_q21_people_play_and_the_house_referees(wire: Wire) -> None:
    place = wire.join(wire.open("q21"))
    assert place.agent_id == "player_a"


def test_an_unlisted_match_is_found_by_those_who_know_it(wire: Wire) -> None:
    match_id = wire.open("market", listed=False, watchable=False)
    assert match_id not in [match["match_id"] for match in wire.send("GET", "/matches").fields["matches"]]
    assert wire.send("POST", f"/matches/{match_id}/watch", {}).code == "forbidden"
    assert wire.join(match_id).match_id == match_id


def test_no_two_at_a_table_read_alike(wire: Wire) -> None:
    match_id = wire.open("undercover", agents=["open"] * 4)
    names = ["Ann", "ANN!", "agent_4", "\u202eAnn\u0007" * 30]
    places = [wire.join(match_id, name=name) for name in names]
    told = [agent["name"] for agent in wire.state(places[0])["agents"]]
    assert told[:3] == ["Ann", "ANN! (2)", "agent_4 (2)"]
    assert len({name.casefold() for name in told}) == 4
    assert all(name.isprintable() and len(name) <= 40 for name in told)


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ({}, "game"),
        ({"game": "chess"}, "game"),
        ({"game": "market", "seed": 7}, "configuration"),  # who fixes the seed knows what is dealt
        ({"game": "undercover", "config": {"pair": ["cat", "dog"]}}, "config.pair"),
        ({"game": "guess_number", "config": {"target": 3}}, "config.target"),
        ({"game": "market", "config": {"max_rounds": -1}}, "config.max_rounds"),
        ({"game": "market", "config": []}, "config"),
        ({"game": "market", "agents": ["scripted"]}, "agents"),
        ({"game": "market", "agents": ["open", "os:system"]}, "agents[1].agent"),
        ({"game": "market", "agents": ["open", "human"]}, "agents[1].agent"),
        ({"game": "market", "agents": ["open", "llm"]}, "agents[1].agent"),
        ({"game": "market", "agents": ["open", "offline"]}, "agents[1].agent"),
        ({"game": "market", "agents": ["open", {"id": "host"}]}, "agents[1]"),
        ({"game": "market", "agents": ["open", "open"], "seats": 2}, "seats"),
        ({"game": "market", "clock": {"turn_timeout_s": None}}, "clock.turn_timeout_s"),
        ({"game": "market", "clock": {"turn_timeout_s": 1e5}}, "clock.turn_timeout_s"),
        ({"game": "market", "pause_s": 11}, "pause_s"),
        ({"game": "market", "protocol": {"type": "no such"}}, "protocol.type"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(wire: Wire, wanted: dict[str, Any], path: str) -> None:
    answer = wire.send("POST", "/matches", wanted)
    assert (answer.status, answer.code) == (400, "invalid_request")
    error = answer.fields["error"]
    assert error["path"] == path
    assert "\n" not in error["message"]


@pytest.mark.parametrize("body", ["{", "[]", '{"game": 1, "game": 2}', b"\xff", "[" * 5000])
def test_a_lobby_reads_no_broken_json(wire: Wire, body: str | bytes) -> None:
    answer = wire.send("POST", "/matches", body)
    assert answer.status == 400
    assert answer.code != "internal"


def test_seats_are_taken_once(wire: Wire) -> None:
    match_id = wire.open("market", agents=["open", "scripted"])
    assert wire.send("POST", f"/matches/{match_id}/join", {"agent_id": "s2"}).code == "no_seat"
    assert wire.send("POST", f"/matches/{match_id}/join", {"agent_id": "../x"}).code == "invalid_request"
    wire.join(match_id, agent_id="s1")
    assert wire.send("POST", f"/matches/{match_id}/join", {}).status == 409
    assert wire.send("POST", "/matches/m-none/join", {}).status == 404
    assert wire.send("GET", "/matches/m-none").status == 404


# Pushes.


def test_everybody_is_pushed_what_concerns_him_after_the_actors_answer(wire: Wire) -> None:
    ann, ben = seated(wire)
    watcher = wire.watch(ann.match_id)
    with wire.socket(ann) as first, wire.socket(ann) as same, wire.socket(ben) as second, wire.socket(watcher) as third:
        first.ask(price(ann))
        second.send(price(ben, 60))
        assert second.next()["type"] == "perform_action_response"
        told = [socket.push("market_result") for socket in (first, same, second, third)]
        assert [push["agent_id"] for push in told] == [ann.agent_id, ann.agent_id, ben.agent_id, watcher.agent_id]
        assert len(set(seqs(told))) == 1
        assert not [fault for push in told for fault in check_message(push)]


def test_one_connection_serves_several_matches(wire: Wire) -> None:
    (ann, ben), (cat, dan) = seated(wire), seated(wire)
    with wire.socket(ann, cat) as socket:
        wire.protocol(price(ben), ben.token)
        wire.protocol(price(dan), dan.token)
        assert socket.ask(price(ann))["match_id"] == ann.match_id
        assert socket.ask(price(cat))["match_id"] == cat.match_id
        while len(socket.pushes) < 4:
            socket.next()
        assert {push["match_id"] for push in socket.pushes} == {ann.match_id, cat.match_id}


def test_a_reconnect_loses_nothing(wire: Wire) -> None:
    ann, ben = seated(wire, config={"max_rounds": 6})
    whole: list[dict[str, Any]] = []
    with wire.socket(ann, after=0) as steady:
        known, pushes = 0, []
        for number in range(6):
            with wire.socket(ben, after=known) as ben_now:
                state = ben_now.ask(ben.get_state())["state"]["data"]
                pushes += ben_now.pushes
                ben_now.ask(price(ben, 40 + number))
                pushes = [*pushes, *[push for push in ben_now.pushes if push not in pushes]]
                known = max([known, *seqs(pushes)])
                assert known >= state["seq"]
            steady.ask(price(ann))
        pushes += events(wire, ben, after=known).fields["messages"]
        whole = events(wire, ben, after=0).fields["messages"]
    assert seqs(pushes) == seqs(whole) == sorted(set(seqs(whole)))
    assert wire.state(ben)["status"] == "ended"


def test_a_long_match_is_told_again_in_full(start_server: Starter) -> None:
    """More than an outbox holds of what happens now."""
    wire = Wire(start_server(limits=replace(QUICK, outbox=10)).url)
    ann, ben = seated(wire, config={"max_rounds": 30})
    for number in range(30):
        wire.protocol(price(ann, 10 + number), ann.token)
        wire.protocol(price(ben, 20 + number), ben.token)
    whole = seqs(events(wire, ann).fields["messages"])
    assert len(whole) > 50
    with wire.socket(ann, after=0) as socket:
        while len(socket.pushes) < len(whole):
            socket.next()
        assert seqs(socket.pushes) == whole
        assert socket.ask(ann.get_state())["status"] == "ended"


def test_a_long_poll_ends_with_what_happens(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_api, "LONGEST_WAIT_S", 2 * LIMIT_S)
    ann, ben = seated(wire)
    known = events(wire, ann).fields["seq"]
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(events, wire, ann, known, 2 * LIMIT_S)
        wire.protocol(price(ann), ann.token)
        wire.protocol(price(ben), ben.token)
        found = waiting.result().fields
    assert found["seq"] > known
    assert seqs(found["messages"])[-1] == found["seq"]


def test_a_long_poll_waits_for_its_time(wire: Wire) -> None:
    ann, _ = seated(wire)
    begin = time.monotonic()
    assert events(wire, ann, 10_000, 0.2).fields == {"messages": [], "seq": 10_000}
    assert time.monotonic() - begin >= 0.2


@pytest.mark.parametrize(("after", "wait"), [(-1, 0), ("x", 0), (0, 31), (0, "nan"), (0, -1), (1.5, 0)])
def test_an_odd_poll_is_refused(wire: Wire, after: Any, wait: Any) -> None:
    ann, _ = seated(wire)
    answer = events(wire, ann, after, wait)
    assert (answer.status, answer.code) == (400, "invalid_envelope")


def test_a_poll_shows_no_more_than_its_token(wire: Wire) -> None:
    match_id = wire.open("undercover")
    ann = wire.join(match_id)
    told = events(wire, ann).fields["messages"]
    public = events(wire, ann, token=None).fields["messages"]
    assert [push["agent_id"] for push in public] == ["spectator-0"] * len(public)
    assert "word_dealt" in json.dumps(told)
    assert "word_dealt" not in json.dumps(public)
    assert events(wire, ann, token="wrong").status == 401
    other, _ = seated(wire)
    assert events(wire, ann, token=other.token).status == 403
    assert events(wire, replace(ann, match_id="m-none")).status == 404


# Time.


def test_a_decision_that_nobody_takes_is_forfeited_in_time(wire: Wire) -> None:
    slow, _ = seated(wire, clock={"turn_timeout_s": 3000}, config={"max_rounds": 1})
    assert wire.state(slow)["state"]["data"]["deadline"] is not None
    ann, ben = seated(wire, clock={"turn_timeout_s": 0.2}, config={"max_rounds": 1})
    with wire.socket(ann) as socket:
        socket.ask(price(ann))
        found = wire.until(ann.match_id, "ended")
        assert found["ended_at"] is not None
        late = socket.ask(price(ann))
        assert late["action_response"]["data"]["code"] == "match_over"
    assert wire.protocol(price(ben), ben.token).fields["action_response"]["data"]["code"] == "match_over"


def test_a_seat_that_loses_its_connection_has_a_time_of_grace(wire: Wire) -> None:
    ann, ben = seated(wire, clock={"disconnect_grace_s": 0.2}, config={"max_rounds": 1})
    begin = time.monotonic()
    with wire.socket(ben):
        pass
    with wire.socket(ann) as socket:
        socket.ask(price(ann))
        wire.until(ann.match_id, "ended")
    assert time.monotonic() - begin >= 0.2


def test_a_seat_that_speaks_http_only_is_never_disconnected(wire: Wire) -> None:
    ann, ben = seated(wire, clock={"disconnect_grace_s": 0}, config={"max_rounds": 2})
    wire.protocol(price(ann), ann.token)
    assert wire.state(ben)["status"] == "started"
    assert wire.protocol(price(ben), ben.token).fields["action_response"]["status"] == "success"
    # One that had a connection, and asks over HTTP instead, is there as well.
    with wire.socket(ben):
        wire.state(ben)
    wire.state(ben)
    assert wire.state(ben)["status"] == "started"


def test_when_everybody_leaves_the_match_is_abandoned(wire: Wire) -> None:
    ann, ben = seated(wire)
    watcher = wire.watch(ann.match_id)
    with wire.socket(watcher) as socket:
        for place in (ann, ben):
            assert wire.send("POST", f"/matches/{ann.match_id}/leave", {}, token=place.token).status == 200
        assert socket.push("match_abandoned")["agent_id"] == watcher.agent_id
    assert wire.until(ann.match_id, "abandoned")["ended_at"] is not None
    assert wire.state(ann)["winners"] == []
    assert wire.protocol(price(ann), ann.token).fields["action_response"]["data"]["code"] == "match_over"


def test_nobody_leaves_for_somebody_else(wire: Wire) -> None:
    ann, _ = seated(wire)
    other, _ = seated(wire)
    path = f"/matches/{ann.match_id}/leave"
    assert wire.send("POST", path, {}).status == 401
    assert wire.send("POST", path, {}, token=other.token).status == 403
    assert wire.state(ann)["status"] == "started"


def test_a_match_that_nobody_comes_to_is_given_up_and_forgotten(start_server: Starter) -> None:
    limits = replace(QUICK, waiting_kept=timedelta(0), ended_kept=timedelta(0))
    server = start_server(limits=limits)
    wire = Wire(server.url)
    place = wire.join(wire.open("market", agents=["open", "open"]))
    assert server.hall is not None
    sweep = server.hall.sweep
    with wire.socket(place) as socket:
        server.call(sweep)
        assert socket.push("match_abandoned")["message_response"]["message"] == "Not everybody came."
        server.call(sweep)
        assert wire.send("GET", f"/matches/{place.match_id}").status == 404
        assert socket.ask(place.get_state())["error"]["data"]["code"] == "unauthorized"


# The end.


def test_the_transcript_can_be_had_after_the_end_as_each_may_have_it(wire: Wire) -> None:
    match_id = wire.open("undercover", config={"max_rounds": 1})
    ann = wire.join(match_id)
    path = f"/matches/{match_id}/transcript"
    assert wire.send("GET", path).code == "match_not_over"
    with wire.socket(ann, after=0) as socket:
        word = socket.push("word_dealt")["message_response"]["data"]["word"]
        socket.ask(ann.action("describe", {"description": "zhè shì yí jiàn dōngxi"}))
        while socket.ask(ann.get_state())["stage"] != "vote":
            socket.next()
        socket.ask(ann.action("vote", {"vote_number": 2, "reason": "own reason"}))
    wire.until(match_id, "ended")
    public, own = wire.send("GET", path), wire.send("GET", path, token=ann.token)
    lines = [json.loads(line) for line in own.body.decode().splitlines()]
    assert (lines[0]["line"], lines[-1]["line"], lines[-1]["status"]) == ("header", "outcome", "ended")
    assert lines[-1]["seed"] is not None
    assert len(public.body) < len(own.body)
    assert word in own.body.decode()
    assert wire.send("GET", path, token="wrong").status == 401


def test_what_was_agreed_to_stay_secret_stays_out_of_the_transcript(wire: Wire) -> None:
    match_id = wire.open("undercover", agents=["scripted"] * 4, config={"reveal_at_end": False, "max_rounds": 2})
    wire.until(match_id, "ended")
    lines = [json.loads(line) for line in wire.send("GET", f"/matches/{match_id}/transcript").body.splitlines()]
    assert lines[-1]["seed"] is None
    assert "pair" not in lines[0]["config"]
    assert "word_dealt" not in json.dumps(lines)


def test_the_house_plays_whole_matches_by_itself(wire: Wire) -> None:
    counts = {"undercover": 6, "market": 3, "guess_number": 2, "q21": 3}
    for game, seats in counts.items():
        for agent in ("scripted", "random"):
            match_id = wire.open(game, agents=[agent] * seats)
            assert wire.until(match_id, "ended", "abandoned")["status"] == "ended"


# Over the protocol itself.


def test_matches_are_opened_over_the_protocol_with_an_account(wire: Wire) -> None:
    account = Place(match_id="", game="market", **wire.send("POST", "/accounts", {}).fields)
    create = {
        "version": "1.0.0",
        "type": "create_match",
        "game": "market",
        "agent_id": account.agent_id,
        "request_id": "r-1",
        "settings": {"version": "1.0.0", "data": {"agents": ["guest", account.agent_id], "config": {"max_rounds": 1}}},
    }
    with wire.socket(account) as socket:
        created = socket.ask(create)
        assert (created["type"], socket.ask(create)) == ("create_match_response", created)
        own = replace(account, match_id=created["match_id"])
        listed = socket.ask({"version": "1.0.0", "type": "get_matches", "agent_id": account.agent_id})["matches"]
        assert own.match_id in [match["match_id"] for match in listed]
        guest = wire.join(own.match_id)
        assert guest.agent_id == "guest"
        assert wire.protocol(price(guest), guest.token).status == 200
        assert socket.ask(price(own))["action_response"]["status"] == "success"
        assert socket.push("market_result")["agent_id"] == own.agent_id
    with wire.socket(account, after=0) as again:
        assert again.next()["match_id"] == own.match_id


def test_agents_of_the_server_take_seats_of_a_match_that_is_opened_over_the_protocol(wire: Wire) -> None:
    account = Place(match_id="", game="market", **wire.send("POST", "/accounts", {}).fields)
    seats = [
        {"id": "first", "agent": "scripted", "name": "Seller One"},
        {"id": account.agent_id, "agent": "open"},
        {"id": "third", "agent": "random"},
    ]
    data = {"agents": seats, "config": {"max_rounds": 1, "simultaneous": False}}
    with wire.socket(account) as socket:
        created = socket.ask(
            {
                "version": "1.0.0",
                "type": "create_match",
                "game": "market",
                "agent_id": account.agent_id,
                "settings": {"version": "1.0.0", "data": data},
            }
        )
        assert created["type"] == "create_match_response"
        own = replace(account, match_id=created["match_id"])
        named = socket.push("market_opened")
        assert named["match_id"] == own.match_id
        socket.push("price_submitted")  # the first seller did not wait for anybody else
        state = socket.ask(own.get_state())
        assert state["active_agent_id"] == own.agent_id
        assert [agent["name"] for agent in state["agents"]] == ["Seller One", own.agent_id, "third"]
        assert socket.ask(price(own))["action_response"]["status"] == "success"
        socket.push("market_closed")
    shown = wire.until(own.match_id, "ended")
    assert [seat["house"] for seat in shown["seats"]] == ["scripted", None, "random"]


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"agents": ["guest", "other"]}, "invalid_envelope"),
        ({"config": {"max_rounds": -1}}, "invalid_envelope"),
        ({"config": {"nonsense": 1}}, "invalid_envelope"),
        ({"agents": ["me", {"id": "x", "agent": "human"}]}, "invalid_envelope"),
        ({"agents": ["me", {"id": "x", "agent": "os.path:join"}]}, "invalid_envelope"),
        ({"agents": [{"id": "me", "agent": "scripted"}, "x"]}, "invalid_envelope"),
        ({"agents": ["me", {"id": "x", "agent": "scripted", "name": "me"}]}, "invalid_envelope"),
    ],
)
def test_a_match_that_cannot_be_played_is_not_created(wire: Wire, settings: dict[str, Any], code: str) -> None:
    account = wire.send("POST", "/accounts", {}).fields
    settings = json.loads(json.dumps(settings).replace('"me"', json.dumps(account["agent_id"])))
    before = len(wire.send("GET", "/matches").fields["matches"])
    create = {
        "version": "1.0.0",
        "type": "create_match",
        "game": "market",
        "agent_id": account["agent_id"],
        "settings": {"version": "1.0.0", "data": settings},
    }
    assert wire.protocol(create, account["token"]).code == code
    assert wire.protocol(create).code == "unauthorized"
    assert len(wire.send("GET", "/matches").fields["matches"]) == before


def test_a_match_that_nobody_has_joined_is_found_with_the_narrower_schemas_too(start_server: Starter) -> None:
    wire = Wire(start_server(profile=Profile.SCHEMAS).url)
    match_id = wire.open("market", agents=["open", "open"])
    account = Place(match_id="", game="", **wire.send("POST", "/accounts", {}).fields)
    with wire.socket(account) as socket:
        asked = {"version": "1.0.0", "type": "get_matches", "agent_id": account.agent_id}
        [match] = socket.ask(asked)["matches"]
    assert (match["match_id"], match["open_seats"], match["status"]) == (match_id, 2, "waiting")
    assert [agent["id"] for agent in match["agents"]] == ["s1", "s2"]  # the schema wants at least one


def test_a_server_speaks_the_narrower_schemas_where_it_is_told_to(start_server: Starter) -> None:
    wire = Wire(start_server(profile=Profile.SCHEMAS).url)
    ann, ben = seated(wire)
    with wire.socket(ann) as socket:
        state = socket.ask(ann.get_state())
        assert not {"agent_id", "ended_at"} & set(state)
        wire.protocol(price(ben), ben.token)
        socket.ask(price(ann))
        push = socket.next()
        assert (push["type"], push["agent_id"]) == ("push_event", ann.agent_id)
    found = events(wire, ann).fields
    assert found["seq"] == found["messages"][-1]["event"]["data"]["seq"]


def test_a_server_that_stops_says_good_bye(start_server: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_api, "LONGEST_WAIT_S", 2 * LIMIT_S)
    server = start_server()
    wire = Wire(server.url)
    ann, _ = seated(wire)
    with wire.socket(ann) as socket, ThreadPoolExecutor() as pool:
        polling = pool.submit(events, wire, ann, 10_000, 2 * LIMIT_S)
        socket.ask(ann.get_state())
        server.stop()
        with pytest.raises(ConnectionClosed):
            socket.next()
        assert polling.result().fields["messages"] == []
