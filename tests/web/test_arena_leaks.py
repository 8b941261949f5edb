"""Nobody is told before the end what he may not know: neither by the hall nor over a socket, a poll or the lobby."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import timedelta

import pytest

from league_agents.app.arena_server import arena_house
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.limits import ServerLimits
from league_agents.arena.server.serving import ArenaServer
from league_agents.games.game import SPECTATOR, Action
from league_agents.games.registry import game_of
from league_agents.games.undercover.scripted import scripted
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match
from tests.support.arena_leaks import GAMES, Leaks, all_leaks, hidden_from
from tests.support.arena_wire import Place, Wire, WireSocket


def test_the_search_finds_what_is_hidden() -> None:
    match = Match(game_of("undercover"), config={}, agent_ids=("a", "b", "c"), seed=10**12 + 3)
    words = {agent: match.view(agent)["me"]["word"] for agent in match.agent_ids}
    other = next(agent for agent in match.agent_ids if words[agent] != words["a"])
    assert words[other] in hidden_from(match, "a")
    assert words["a"] not in hidden_from(match, "a")
    assert set(words.values()) <= hidden_from(match, SPECTATOR)
    leaks = Leaks(match=match, seeds=[987654321])
    leaks.tell("a", json.dumps({"word": words["a"]}, ensure_ascii=False))
    leaks.settle()
    assert leaks.found() == []
    leaks.tell("a", json.dumps({"word": words[other]}, ensure_ascii=False))
    leaks.tell("b", '{"role":"civilian"}')
    leaks.tell("spectator-3", '{"house":987654321}')
    leaks.settle()
    assert [found.split(":")[0].split(" was")[0] for found in leaks.found()] == ["a", "b", "spectator"]


@pytest.mark.parametrize(("game", "count"), [("undercover", 8), ("q21", 5), ("guess_number", 3), ("market", 2)])
def test_a_hall_tells_nobody_what_is_hidden(game: str, count: int) -> None:
    """The soak ``arena-leaks`` plays 200 matches of undercover and 50 of q21."""

    async def play() -> list[str]:
        hall = Hall(arena_house(), limits=ServerLimits(house_pause=timedelta(0)))
        return [leak for _, _, found in all_leaks(hall, [(game, GAMES[game], count)]) for leak in found]

    assert asyncio.run(play()) == []


@pytest.mark.parametrize("number", range(3))
def test_no_socket_poll_or_lobby_tells_what_is_hidden(arena: ArenaServer, number: int) -> None:
    """Two people and four agents of the house play undercover; everything that the server says is searched."""
    wire, draw = Wire(arena.url), Draw(number, "wire")
    match_id = wire.open("undercover", agents=["open", "open", *["scripted"] * 4])
    watcher = wire.watch(match_id)
    with wire.socket(watcher) as third:
        ann, ben = wire.join(match_id, name="Ann"), wire.join(match_id, name="Ben")
        match, seeds = arena.call(_inside, arena, match_id)
        leaks = Leaks(match=match, seeds=seeds)
        with wire.socket(ann, after=0) as first, wire.socket(ben, after=0) as second:
            sockets = {ann.agent_id: (ann, first), ben.agent_id: (ben, second), watcher.agent_id: (watcher, third)}
            for _ in range(200):
                for place, socket in sockets.values():
                    socket.ask(place.get_state())
                _search(arena, wire, leaks, sockets)
                actors = [agent for agent in match.active() if agent in sockets]
                if match.is_over:
                    break
                if actors:
                    place, socket = sockets[actors[0]]
                    view, legal = match.view(place.agent_id), match.legal(place.agent_id)
                    if legal:
                        action = scripted(view, legal, draw)
                        leaks.say(place.agent_id, action)
                        socket.ask(place.action(action.type, action.data))
        assert match.is_over
    assert len(leaks.told) > 20
    assert leaks.found() == []


def _inside(arena: ArenaServer, match_id: str) -> tuple[Match[object], list[int]]:
    assert arena.hall is not None
    hosted, table = arena.hall.store.get(match_id), arena.hall.tables.get(match_id)
    assert hosted is not None
    assert table is not None
    return hosted.match, [table.seed, table.house_seed]


def _search(arena: ArenaServer, wire: Wire, leaks: Leaks, sockets: Mapping[str, tuple[Place, WireSocket]]) -> None:
    match_id = next(iter(sockets.values()))[0].match_id
    for path in ("/matches", f"/matches/{match_id}", f"/protocol/events?match_id={match_id}"):
        leaks.tell(SPECTATOR, wire.send("GET", path).body.decode())
    transcript = wire.send("GET", f"/matches/{match_id}/transcript")
    if transcript.status != 200:
        leaks.tell(SPECTATOR, transcript.body.decode())
    for agent_id, (place, socket) in sockets.items():
        leaks.tell(agent_id, wire.send("GET", f"/protocol/events?match_id={match_id}", token=place.token).body.decode())
        for text in socket.texts:
            leaks.tell(agent_id, text)
        socket.texts.clear()
    # On the server's thread, where nothing happens meanwhile.
    arena.call(leaks.settle)


def test_an_action_is_told_to_its_sender() -> None:
    match = Match(game_of("q21"), config={}, agent_ids=("judge", "ann", "ben"), seed=4)
    leaks = Leaks(match=match)
    said = Action(type="announce", data={"actual_opening_sentence": "Call me something else."})
    leaks.say("judge", said)
    leaks.tell("judge", json.dumps(said.data))
    leaks.settle()
    assert leaks.found() == []
