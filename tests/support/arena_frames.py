"""Noise for a server of the arena: frames that are nearly right, in every game, over real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from websockets.exceptions import ConnectionClosed

from league_agents.arena.agents.random_agent import random_action
from league_agents.games.game import LegalAction
from league_agents.kit.draw import Draw
from tests.support.arena_leaks import GAMES
from tests.support.arena_wire import Place, Wire, WireSocket

_ODD: tuple[Any, ...] = (
    *(None, 0, -1.5, True, 10**30, "", "a" * 70, "\u202e\x00", [], {}, [[[[]]]], {"version": "1.0.0"}),
)


def noise(draw: Draw, place: Place, legal: dict[str, Any] | None = None) -> bytes | str:
    """One frame: bytes, a text that is cut or none at all, an envelope or an action with something odd in it.

    ``legal``: an action that was allowed when the place was last asked for one.
    """
    kind = draw.below(7)
    envelope: dict[str, Any] = place.get_state() if draw.below(2) or legal is None else dict(legal)
    text = json.dumps(envelope)
    if kind == 0:
        return bytes(draw.below(256) for _ in range(draw.below(60)))
    if kind == 1:
        return text[: draw.below(len(text))]
    if kind == 2:
        return "".join(chr(1 + draw.below(0x2FF)) for _ in range(1 + draw.below(80)))
    if kind == 3:
        envelope["agent_id"] = draw.choice(("spectator-7", "host", "nobody", ""))
        return json.dumps(envelope)
    if kind == 4 and legal is not None:
        data = {**legal["action"]["data"], draw.choice((*legal["action"]["data"], "surplus")): draw.choice(_ODD)}
        return json.dumps({**legal, "action": {**legal["action"], "data": data}})
    key = draw.choice(tuple(key for key in envelope if key != "request_id"))
    if kind == 5:
        del envelope[key]
    else:
        envelope[key] = draw.choice(_ODD)
    return json.dumps(envelope)


def throw_frames(count: int, games: tuple[str, ...] = tuple(GAMES)) -> Iterator[tuple[str, list[str]]]:
    """For each game: what went wrong while ``count`` frames were thrown at a match, in words."""
    from league_agents.app.arena_server import arena_server
    from tests.support.arena_load import LOAD_LIMITS

    with arena_server(limits=LOAD_LIMITS) as server:
        wire = Wire(server.url)
        for game in games:
            yield game, _thrown(wire, game, count)


def _thrown(wire: Wire, game: str, count: int) -> list[str]:
    draw = Draw(count, f"frames/{game}")
    wrong: list[str] = []
    match_id = wire.open(game, agents=["open"] * len(GAMES[game]), clock={"turn_timeout_s": 3600, "max_invalid": 20})
    places = [wire.join(match_id) for _ in GAMES[game]]
    active = wire.state(places[0])["active_agent_id"]
    actor = next(place for place in places if place.agent_id == active)
    other = next(place for place in places if place is not actor)
    with wire.socket(actor) as socket:
        legal = _legal(socket, actor, draw)
        socket.ask(legal)
        # Having acted, it owes nothing: whatever it sends from now on changes nothing.
        before = wire.state(other)
        for _ in range(count):
            frame = noise(draw, actor, legal)
            try:
                answer = socket.ask(frame)
            except (ConnectionClosed, TimeoutError) as error:
                return [*wrong, f"{frame!r} ended the connection: {error}"]
            code = answer.get("error", {}).get("data", {}).get("code")
            if code == "internal":
                wrong.append(f"{frame!r} was answered {answer}")
            if answer["type"] == "perform_action_response" and answer["action_response"]["status"] == "success":
                wrong.append(f"{frame!r} was taken")
    if wire.state(other) != before:
        wrong.append("the match is another one")
    return wrong


def _legal(socket: WireSocket, place: Place, draw: Draw) -> dict[str, Any]:
    state = socket.ask(place.get_state())
    legal = [
        LegalAction(type=each["type"], schema=each["schema"], choices=each.get("choices"))
        for each in state["state"]["data"]["legal"]
    ]
    action = random_action(legal, draw)
    return place.action(action.type, action.data)
