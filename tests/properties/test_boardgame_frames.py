"""Frames of any kind never break the service, and change a match only where an action is taken.

``python tests/properties/test_boardgame_frames.py 10000`` is the same with as many frames as one likes, and plays 200
matches for the leak test.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from league_agents.core.draw import Draw
from league_agents.games.registry import game_of
from league_agents.games.undercover.scripted import scripted
from league_agents.match import Match
from league_agents.protocol.boardgame.access import Principal
from league_agents.protocol.boardgame.envelope import Envelope
from league_agents.protocol.boardgame.hosting import Hosted, MemoryStore, Profile, UntimedDriver
from league_agents.protocol.boardgame.json_text import LARGEST
from league_agents.protocol.boardgame.refusals import http_status
from league_agents.protocol.boardgame.requests import check_message
from league_agents.protocol.boardgame.service import MatchService
from league_agents.protocol.boardgame.shapes import SHAPES

NOW = datetime(2025, 5, 5, 10, tzinfo=UTC)
AGENTS = ("agent_1", "agent_2", "agent_3")
WHOSE_TURN = "whose-turn"
"""Stands for the agent whose turn it is when the frame is sent."""


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


_described = st.fixed_dictionaries(
    {"type": st.just("describe"), "data": st.fixed_dictionaries({"description": st.text(min_size=1, max_size=9)})}
)
_voted = st.fixed_dictionaries(
    {
        "type": st.just("vote"),
        "data": st.fixed_dictionaries({"vote_number": st.none() | st.integers(0, 4), "reason": st.text(max_size=9)}),
    }
)
_anything = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["describe", "vote", "dance"]),
        "data": st.dictionaries(st.sampled_from(["description", "vote_number", "reason", "more"]), _values),
    }
)


@st.composite
def actions(draw: st.DrawFn) -> dict[str, Any]:
    """An envelope that the game itself gets to see."""
    return {
        "version": "1.0.0",
        "type": "perform_action",
        "game": "undercover",
        "match_id": "m-1",
        "agent_id": draw(st.sampled_from([*AGENTS, WHOSE_TURN, WHOSE_TURN, WHOSE_TURN])),
        "action": {
            "version": draw(st.sampled_from(["1.0.0", "1.0.0", "1.0.0", "2.0.0"])),
            **draw(_described | _voted | _anything),
        },
    }


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


def check_frames(count: int) -> Counter[str]:
    """Send ``count`` frames to a match that goes on as far as they bring it. How often which answer came."""
    answered: Counter[str] = Counter()
    game = game_of("undercover")
    match: Match[Any] = Match(game, config={"lang": "en", "max_rounds": 50}, agent_ids=AGENTS, seed=3)
    service, hosted = service_of(match)
    service.start("m-1", NOW)

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(frames, principals, actions(), principals)
    def check(frame: Any, principal: Principal | None, action: dict[str, Any], actor: Principal | None) -> None:
        sent(frame, principal)
        sent(action, actor)

    def sent(frame: Any, principal: Principal | None) -> None:
        if isinstance(frame, dict) and frame["agent_id"] == WHOSE_TURN and match.active():
            frame = {**frame, "agent_id": match.active()[0]}
        before, seen = game.dump(match.state), len(match.events)
        out = service.handle(frame, principal, NOW)
        (_, answer), *pushed = out
        body = answer.get("error") or answer.get("action_response") or {"data": {"code": answer["type"]}}
        answered[body["data"].get("code", "success")] += 1
        is_taken = answer["type"] == "perform_action_response" and body["status"] == "success"
        if not is_taken:
            assert game.dump(match.state) == before
            assert len(match.events) == seen
            assert pushed == []
        for _, each in out:
            assert check_message(each) == []
            each.text.encode()
        assert http_status(answer) in (200, 400, 401, 403, 404, 409, 413)
        assert list(service.store.all()) == [hosted]

    check()
    return answered


def test_no_frame_breaks_the_service_or_changes_a_match() -> None:
    answered = check_frames(600)
    # Frames of every kind got as far as they should: not all of them broke at the first check.
    assert {"malformed_json", "invalid_envelope", "unauthorized", "not_pending", "success"} <= set(answered)


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
        out: list[tuple[str, Envelope]] = service.start("m-1", NOW)
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
    print(check_frames(int(sys.argv[1])))
    check_leaks(200)
