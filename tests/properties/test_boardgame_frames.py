"""Frames of any kind never break the service, and change a match only where an action is taken.

``python tests/properties/test_boardgame_frames.py 10000`` is the same with as many frames as one likes, and plays 200
matches for the leak test.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from league_agents.arena.agents.random_agent import random_action
from league_agents.arena.protocol.access import Principal
from league_agents.arena.protocol.envelope import OutgoingFrame
from league_agents.arena.protocol.hosting import Hosted, MemoryStore, Profile, UntimedDriver
from league_agents.arena.protocol.json_text import LARGEST
from league_agents.arena.protocol.refusals import http_status
from league_agents.arena.protocol.requests import check_message
from league_agents.arena.protocol.service import MatchService
from league_agents.arena.protocol.shapes import SHAPES
from league_agents.games.registry import game_codes, game_of
from league_agents.games.undercover.scripted import scripted
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match

NOW = datetime(2025, 5, 5, 10, tzinfo=UTC)
AGENTS = ("agent_1", "agent_2", "agent_3")


def service_of(match: Match[Any], profile: Profile = Profile.SEED) -> tuple[MatchService, Hosted]:
    store = MemoryStore()
    hosted = Hosted(match_id="m-1", match=match, created_at=NOW, profile=profile, driver=UntimedDriver(match, None))
    store.add(hosted)
    service = MatchService(store)
    for agent in match.agent_ids:
        service.join("m-1", agent_id=agent)
    return service, hosted


_names = st.sampled_from(
    [*AGENTS, "m-1", "m-2", "undercover", "market", "chess", "spectator-1", "host", "", "a b", "x" * 65]
)
_versions = st.sampled_from(["1.0.0", "1.0.0", "1.0.0", "1.9.9", "2.0.0", "0.0.0", "1", "", "one"])
_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), _names, _versions),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_inner = st.fixed_dictionaries(
    {},
    optional={
        "version": _versions | _values,
        "type": st.sampled_from(["describe", "vote", "dance", "get_state"]) | _values,
        "data": st.fixed_dictionaries(
            {}, optional=dict.fromkeys(["description", "vote_number", "reason", "config", "agents"], _values)
        )
        | _values,
    },
)
_nearly = st.fixed_dictionaries(
    {},
    optional={
        "version": _versions | _values,
        "type": st.sampled_from(sorted(SHAPES)) | _values,
        "game": st.just("undercover") | _names | _values,
        "match_id": st.just("m-1") | _names | _values,
        "agent_id": st.just("agent_1") | _names | _values,
        "request_id": st.text(max_size=3) | _values,
        "action": _inner | _values,
        "state": _inner | _values,
        "settings": _inner | _values,
    },
)


@dataclass(frozen=True)
class Attempt:
    """An action that the game itself gets to see: a legal one as it is drawn when it is sent, or one that is spoilt."""

    seed: int
    spoilt: tuple[str, int, Any] | None
    """What is done to which of the places in its data, and the value that is put there."""

    agent: str | None
    """``None``: whose turn it is."""

    type: str | None
    """``None``: the legal one."""

    def envelope(self, match: Match[Any]) -> dict[str, Any]:
        turn = match.active()[0]
        action = random_action(match.legal(turn), Draw(self.seed, "frames"))
        data = json.loads(json.dumps(action.data))
        if self.spoilt is not None:
            data = spoilt(data, *self.spoilt)
        return {
            "version": "1.0.0",
            "type": "perform_action",
            "game": match.game.code,
            "match_id": "m-1",
            "agent_id": self.agent or turn,
            "action": {"version": "1.0.0", "type": self.type or action.type, "data": data},
        }


def spoilt(data: Any, how: str, place: int, value: Any) -> Any:
    """Data with one of its values replaced or removed, or with one more."""
    holders: list[tuple[Any, Any]] = []
    waiting = [data]
    while waiting:
        each = waiting.pop()
        inner = list(each) if isinstance(each, dict) else list(range(len(each)))
        holders += [(each, key) for key in inner]
        waiting += [each[key] for key in inner if isinstance(each[key], dict | list)]
    if not holders or how == "join":
        data["joined"] = value
        return data
    holder, key = holders[place % len(holders)]
    if how == "remove":
        del holder[key]
    else:
        holder[key] = value
    return data


attempts = st.builds(
    Attempt,
    seed=st.integers(0, 10**6),
    spoilt=st.none() | st.tuples(st.sampled_from(["replace", "remove", "join"]), st.integers(0, 200), _values),
    agent=st.none() | st.sampled_from([*AGENTS, None, None, None]),
    type=st.none() | st.sampled_from(["describe", "vote", "guess", "pass", "ask", "dance", None, None, None]),
)


def _text(value: Any) -> str:
    return json.dumps(value)  # with NaN, infinities and lone surrogates where the value has them


@st.composite
def broken(draw: st.DrawFn) -> str:
    """The text of an envelope with a piece of it cut out or put in."""
    text = _text(draw(_nearly))
    place = draw(st.integers(0, len(text)))
    if draw(st.booleans()):
        return text[:place] + text[place + draw(st.integers(1, 9)) :]
    piece = draw(st.sampled_from(['"', "{", "[", "]}", ",", "\\ud800", "\x00", "NaN", ":", "1e999"]))
    return text[:place] + piece + text[place:]


frames = st.one_of(
    st.text(max_size=40),
    st.binary(max_size=40),
    broken(),
    _nearly.map(_text),
    _nearly.map(_text).map(str.encode),
    _values.map(_text),
    st.integers(1, LARGEST).map(lambda levels: "[" * levels),
    st.integers(1, 40).map(lambda levels: '{"a":' * levels + "1" + "}" * levels),
    st.sampled_from([" " * (LARGEST + 1), '"' + "é" * LARGEST + '"', b"\xff" * 9, "{}", "[]", ""]),
)
_everybody = Principal(seats=frozenset(("m-1", agent) for agent in AGENTS))
principals = st.one_of(
    st.none(),
    *[st.just(_everybody)] * 4,
    st.just(Principal.of_seat("m-2", "agent_1")),
    st.just(Principal(accounts=frozenset({"agent_1", "stranger"}))),
)


class Played:
    """Matches of all games, one after the other, at one service."""

    def __init__(self) -> None:
        self.count = 0
        self.answered: Counter[str] = Counter()
        self.deal()

    def deal(self) -> None:
        """Begin the next match."""
        code = game_codes()[self.count % len(game_codes())]
        self.game = game_of(code)
        self.match: Match[Any] = Match(self.game, config={}, agent_ids=AGENTS, seed=self.count)
        self.service, self.hosted = service_of(self.match)
        self.service.start("m-1", NOW)
        self.count += 1

    def send(self, frame: Any, principal: Principal | None) -> None:
        """Hand in a frame. Only an action that is taken may change the match."""
        match = self.match
        before, seen = self.game.dump(match.state), len(match.events)
        out = self.service.handle(frame, principal, NOW)
        (_, answer), *pushed = out
        body = answer.get("error") or answer.get("action_response") or {"data": {"code": answer["type"]}}
        self.answered[body["data"].get("code", "success")] += 1
        is_taken = answer["type"] == "perform_action_response" and body["status"] == "success"
        if not is_taken:
            assert self.game.dump(match.state) == before
            assert len(match.events) == seen
            assert pushed == []
        for _, each in out:
            assert check_message(each) == []
            each.text.encode()
        assert http_status(answer) in (200, 400, 401, 403, 404, 409, 413)
        assert list(self.service.store.all()) == [self.hosted]
        # A match of guess number would outlast the test; every game has its share of it.
        if match.is_over or sum(self.answered.values()) % 100 == 0:
            self.deal()


def check_frames(count: int) -> Played:
    """Send ``count`` frames of any kind and as many attempts to act."""
    played = Played()

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(frames, principals, attempts, principals)
    def check(frame: Any, principal: Principal | None, attempt: Attempt, actor: Principal | None) -> None:
        played.send(frame, principal)
        played.send(attempt.envelope(played.match), actor)

    check()
    return played


def test_no_frame_breaks_the_service_or_changes_a_match() -> None:
    answered = check_frames(500).answered
    # Frames of every kind got as far as they should: not all of them broke at the first check.
    assert {"malformed_json", "invalid_envelope", "unauthorized", "success"} <= set(answered)


def check_leaks(games: int) -> None:
    """Random matches with words that nobody guesses, through envelopes: nobody is told more than his own word."""
    words = ("w-5f1c0a77", "w-9be23d41")
    for number in range(games):
        draw = Draw(number, "leaks")
        agents = [f"agent_{seat}" for seat in range(1, 4 + draw.below(6))]
        seed = 10**15 + number
        config = {"word_pairs": [list(words)], "lang": "en", "tie": "random", "reveal_at_end": False}
        match: Match[Any] = Match(game_of("undercover"), config=config, agent_ids=agents, seed=seed)
        profile = draw.choice(list(Profile))
        service, _ = service_of(match, profile)
        spectator = service.watch("m-1")
        own = {agent: match.view(agent)["me"]["word"] for agent in agents} | {spectator: None}
        out: list[tuple[str, OutgoingFrame]] = service.start("m-1", NOW)
        while not match.is_over:
            for viewer in own:
                heading = {"version": "1.0.0", "game": "undercover", "match_id": "m-1", "agent_id": viewer}
                question = {**heading, "type": "get_state", "state": {"version": "1.0.0"}}
                principal = Principal.of_seat("m-1", viewer)
                out += [(viewer, each) for _, each in service.handle(question, principal, NOW)]
            agent = draw.choice(match.active())
            action = scripted({**match.view(agent)}, match.legal(agent), draw)
            # Its texts draw on its word; numbers tell nothing.
            data: dict[str, Any] = {"description": f"thing {draw.below(10**9)}"}
            if action.type == "vote":
                data = {**action.data, "reason": f"reason {agent}"}
            acting = {**heading, "agent_id": agent, "type": "perform_action"}
            acting["action"] = {"version": "1.0.0", "type": action.type, "data": data}  # type: ignore[assignment]
            done = service.handle(acting, Principal.of_seat("m-1", agent), NOW)
            assert done[0][1]["action_response"]["status"] == "success"
            out += done
        for recipient, each in out:
            text = each.text
            assert not [word for word in words if word in text and word != own[recipient]], text
            assert '"role"' not in text
            assert str(seed) not in text
            others = [f"reason {agent}" for agent in agents if agent != recipient]
            assert not [reason for reason in others if reason in text]


def test_no_envelope_tells_another_s_word_a_role_or_the_seed() -> None:
    check_leaks(12)


if __name__ == "__main__":
    done = check_frames(int(sys.argv[1]))
    print(done.count, "matches", done.answered)
    check_leaks(200)
