"""What holds for every configuration, every table and every order of actions of undercover."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from league_agents.games.game import HOST, SPECTATOR, Action, Event, ForfeitCause, IllegalAction
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.own_word import reveals
from league_agents.games.undercover.record import replayed
from league_agents.games.undercover.scripted import scripted
from league_agents.kit.draw import Draw
from league_agents.kit.likeness import comparable

GAME = Undercover()
FEW = settings(max_examples=40, deadline=None)

SETUPS = st.integers(3, 12).flatmap(
    lambda players: st.tuples(
        st.just([f"p{seat}" for seat in range(1, players + 1)]),
        st.fixed_dictionaries(
            {
                "num_undercover": st.integers(1, (players - 1) // 2),
                "max_rounds": st.integers(1, 4),
                "tie": st.sampled_from(["no_elimination", "random", "revote"]),
                "reveal": st.sampled_from(["none", "role"]),
                "reveal_at_end": st.booleans(),
                "know_own_role": st.booleans(),
                "announce_counts": st.booleans(),
                "speaking_order": st.sampled_from(["fixed", "rotate", "random"]),
                "allow_abstain": st.booleans(),
                "lang": st.sampled_from(["zh", "en"]),
            }
        ),
        st.integers(0, (1 << 64) - 1),
    )
)

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["橙子", "violin"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def play(setup: Any, moves: Draw, arrival: Draw) -> tuple[Any, list[Event], int]:
    """A whole match of random legal moves. ``moves`` decides what each player does, ``arrival`` who comes first in a
    vote; descriptions come in speaking order."""
    agents, config, seed = setup
    state = GAME.setup(config, agents, seed)
    events = list(GAME.opening(state))
    taken = 0
    while pending := GAME.pending(state):
        is_vote = state.phase == "voting"
        agent = arrival.choice(pending) if is_vote else pending[0]
        own = moves.fork(f"{agent}:{state.round}:{state.ballot}:{is_vote}")
        (legal,) = GAME.legal(state, agent)
        if own.chance(0.1):
            step = GAME.forfeit(state, agent, own.choice(tuple(ForfeitCause)))
        elif is_vote:
            target = own.choice(legal.schema["properties"]["vote_number"]["enum"])
            data = {"vote_number": target, "reason": f"reason {own.below(100)}"}
            Draft202012Validator(legal.schema).validate(data)
            step = GAME.apply(state, agent, Action(type="vote", data=data))
        else:
            heard_by = own.sample(agents, own.below(len(agents))) if own.chance(0.3) else None
            data = {"description": f"remark {own.below(1 << 40)}"}
            step = GAME.apply(state, agent, Action(type="describe", data=data), heard_by)
        state, taken = step.state, taken + 1
        events += step.events
    return state, events, taken


@FEW
@given(setup=SETUPS, moves=st.integers(0, 1 << 32))
def test_every_match_ends_within_its_bound_with_a_whole_side_winning(setup: Any, moves: int) -> None:
    state, events, taken = play(setup, Draw(moves, "moves"), Draw(moves, "arrival"))
    agents, config, _ = setup
    assert taken <= config["max_rounds"] * 3 * len(agents)
    outcome = GAME.outcome(state)
    assert outcome is not None
    roles = {player.agent_id: player.role.value for player in state.deal.players}
    assert len({roles[agent] for agent in outcome.winners}) == 1
    assert set(outcome.winners) == {agent for agent, role in roles.items() if role == state.winner}
    assert outcome.scores == {agent: float(agent in outcome.winners) for agent in agents}
    assert [event.kind for event in events].count("game_over") == 1
    assert GAME.pending(state) == ()
    assert all(GAME.legal(state, agent) == () for agent in agents)
    json.dumps([GAME.dump(state), outcome.metrics, [event.data for event in events]], allow_nan=False)


@FEW
@given(setup=SETUPS, moves=st.integers(0, 1 << 32))
def test_the_same_moves_give_the_same_events_and_the_record_replays_them(setup: Any, moves: int) -> None:
    one = play(setup, Draw(moves, "moves"), Draw(moves, "arrival"))
    two = play(setup, Draw(moves, "moves"), Draw(moves, "arrival"))
    assert one == two
    state, events = replayed(json.loads(json.dumps(GAME.dump(one[0]))))
    assert state == one[0]
    public = [(event.kind, event.text, event.data) for event in one[1] if event.visible_to == "all"]
    assert [(event.kind, event.text, event.data) for event in events if event.visible_to == "all"] == public


@FEW
@given(setup=SETUPS, moves=st.integers(0, 1 << 32), other=st.integers(0, 1 << 32))
def test_the_order_in_which_votes_arrive_changes_nothing(setup: Any, moves: int, other: int) -> None:
    one = play(setup, Draw(moves, "moves"), Draw(moves, "arrival"))
    two = play(setup, Draw(moves, "moves"), Draw(other, "another arrival"))
    assert one[0] == two[0]
    assert [event for event in one[1] if event.kind != "vote_accepted"] == [
        event for event in two[1] if event.kind != "vote_accepted"
    ]


@FEW
@given(setup=SETUPS, moves=st.integers(0, 1 << 32), stop=st.integers(0, 60), data=st.data())
def test_whatever_is_sent_is_taken_or_refused_and_a_refusal_changes_nothing(
    setup: Any, moves: int, stop: int, data: st.DataObject
) -> None:
    agents, config, seed = setup
    state = GAME.setup(config, agents, seed)
    draw = Draw(moves, "moves")
    for _ in range(stop):
        pending = GAME.pending(state)
        if not pending:
            break
        view, legal = GAME.view(state, pending[0]), GAME.legal(state, pending[0])
        state = GAME.apply(state, pending[0], scripted(view, legal, draw)).state
    before = GAME.dump(state)
    assert GAME.load(json.loads(json.dumps(before))) == state
    for _ in range(5):
        agent = data.draw(st.sampled_from([*agents, "stranger"]))
        kind = data.draw(st.sampled_from(["describe", "vote", "shout", ""]))
        body = data.draw(
            st.fixed_dictionaries(
                {}, optional={"description": ANYTHING, "vote_number": ANYTHING, "reason": ANYTHING, "more": ANYTHING}
            )
        )
        try:
            step = GAME.apply(state, agent, Action(type=kind, data=body))
        except IllegalAction as refused:
            json.dumps([refused.code, refused.message, refused.data])
        else:
            assert agent in GAME.pending(state)
            assert step.state != state
        assert GAME.dump(state) == before


@FEW
@given(setup=SETUPS, moves=st.integers(0, 1 << 32))
def test_views_are_json_for_everybody_and_the_hosts_is_the_record(setup: Any, moves: int) -> None:
    state, _, _ = play(setup, Draw(moves, "moves"), Draw(moves, "arrival"))
    for viewer in (*setup[0], SPECTATOR):
        view = GAME.view(state, viewer)
        assert json.loads(json.dumps(view, allow_nan=False)) == view
    assert GAME.view(state, HOST) == GAME.dump(state)


@FEW
@given(text=st.text(max_size=80), word=st.text(min_size=1, max_size=12))
def test_comparing_and_searching_take_any_text(text: str, word: str) -> None:
    assert comparable(comparable(text)) == comparable(text)
    if comparable(word):
        assert reveals(word, word)
        assert reveals(word, word.upper().lower()) or word.upper().lower().casefold() != word.casefold()


@pytest.mark.parametrize("players", range(3, 13))
def test_every_size_of_table_can_be_played_by_scripted_players(players: int) -> None:
    agents = [f"p{seat}" for seat in range(players)]
    state = GAME.setup({"num_undercover": (players - 1) // 2, "tie": "revote"}, agents, players)
    draw = Draw(players, "play")
    while pending := GAME.pending(state):
        action = scripted(GAME.view(state, pending[0]), GAME.legal(state, pending[0]), draw)
        state = GAME.apply(state, pending[0], action).state
    assert GAME.outcome(state) is not None
