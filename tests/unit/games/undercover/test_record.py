"""A match as JSON values, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from league_agents.games.game import HOST
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.record import dump, load, replayed
from league_agents.kit.errors import ConfigError

GAME = Undercover()


def test_every_state_of_a_match_survives_json(table: Any) -> None:
    t = table(5, (3,), tie="revote", speaking_order="rotate", names={"a1": "Ann"})
    t.say(1, "grey", heard_by=[3])
    states = [t.state]
    t.forfeit(2)
    t.say_all()
    states.append(t.state)
    t.vote(5, None)
    t.forfeit(3)
    states.append(t.state)
    t.vote_all({1: 2, 2: 1, 4: 1})
    states.append(t.state)
    t.round({2: 4, 3: 2, 4: 2, 5: 2})
    states.append(t.state)
    for state in states:
        dumped = json.loads(json.dumps(dump(state)))
        assert load(dumped) == state
        assert dump(load(dumped)) == dumped


def test_replaying_a_record_gives_the_events_again_numbered(table: Any) -> None:
    t = table()
    t.round({1: 2, 2: 1, 3: 1, 4: 2})
    t.say(3)
    state, events = replayed(dump(t.state))
    assert state == t.state
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [(event.kind, event.text) for event in events] == [(event.kind, event.text) for event in t.events]


def test_the_host_sees_roles_words_and_everything_that_was_said(table: Any) -> None:
    t = table()
    t.round({1: 3, 2: 3, 3: 1, 4: 3})
    seen = GAME.view(t.state, HOST)
    assert seen == dump(t.state)
    assert [player["role"] for player in seen["players"]] == ["civilian", "civilian", "undercover", "civilian"]
    assert seen["current_descriptions"][2]["role"] == "undercover"
    assert [entry["kind"] for entry in seen["conversation_history"]] == [
        *["description"] * 4,
        *["vote"] * 4,
        "votes_revealed",
    ]
    assert seen["elimination_history"] == [
        {"round": 1, "player_id": 3, "votes": 3, "how": "plurality", "role": "undercover"}
    ]
    assert (seen["winner"], seen["game_over"], seen["seed"]) == ("civilian", True, t.seed)


def spoiled(dumped: dict[str, Any], *path: Any, value: Any) -> dict[str, Any]:
    copy = json.loads(json.dumps(dumped))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copy


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("round",), 7, "round"),
        (("winner",), "civilian", "winner"),
        (("seed",), "1", "seed"),
        (("seed",), 1 << 70, "seed"),
        (("config",), None, "config"),
        (("config", "tie"), "revote", "conversation_history[9]"),  # there a second vote would follow
        (("config", "pair"), ["sun", "moon"], "players"),
        (("players",), {}, "players"),
        (("players", 0, "agent_id"), "host", "agents[0]"),
        (("players", 0, "agent_id"), 7, "players[0].agent_id"),
        (("players", 0), 7, "players[0]"),
        (("players", 0, "role"), "nobody", "players"),
        (("conversation_history",), 1, "conversation_history"),
        (("conversation_history", 0), 1, "conversation_history[0]"),
        (("conversation_history", 0, "kind"), "speech", "conversation_history[0].kind"),
        (("conversation_history", 0, "kind"), ["vote"], "conversation_history[0].kind"),
        (("conversation_history", 0, "player_id"), 99, "conversation_history[0].player_id"),
        (("conversation_history", 0, "player_id"), True, "conversation_history[0].player_id"),
        (("conversation_history", 0, "player_id"), 2, "conversation_history[1]"),  # who speaks twice
        (("conversation_history", 0, "description"), "", "conversation_history[0]"),
        (("conversation_history", 0, "heard_by"), "a1", "conversation_history[0].heard_by"),
        (("conversation_history", 0, "cause"), "boredom", "conversation_history[0].cause"),
        (("conversation_history", 4, "target_id"), 1, "conversation_history[4]"),
        (("conversation_history", 8, "kind"), "description", "conversation_history[8].player_id"),
        (("conversation_history", 8, "tally"), {}, "conversation_history"),
        (("mood",), 1, "mood"),
    ],
)
def test_a_record_that_is_not_of_a_match_is_refused(table: Any, path: Any, value: Any, named: str) -> None:
    t = table()
    t.round({1: 2, 2: 1, 3: 1, 4: 2})
    t.say(1)
    with pytest.raises(ConfigError) as caught:
        load(spoiled(dump(t.state), *path, value=value))
    assert caught.value.path == named


@pytest.mark.parametrize("nothing", [None, [], "state", {}, {"seed": 1}])
def test_what_is_no_record_at_all_is_refused(nothing: Any) -> None:
    with pytest.raises(ConfigError):
        load(nothing)
