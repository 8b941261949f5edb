"""What a player may see, and that nothing else gets out (arena 3.3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from league_agents.games.game import ALL, HOST, SPECTATOR, Action, Event, ForfeitCause, IllegalAction
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.state import GameState, WordRole
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match
from league_agents.turns.sequential import SequentialHandoff

GAME = Undercover()


def test_a_view_holds_these_keys_and_no_others(table: Any) -> None:
    t = table(names={"a2": "Bob"})
    t.say(1, "grey")
    view = t.view(2)
    assert view == {
        "round": 1,
        "phase": "description",
        "lang": "en",
        "max_rounds": 10,
        "me": {"player_id": 2, "name": "Bob", "word": t.word(2), "alive": True, "votes_cast": []},
        "players": [
            {
                "player_id": seat,
                "agent_id": f"a{seat}",
                "name": "Bob" if seat == 2 else f"a{seat}",
                "alive": True,
                "description_history": ["grey"] if seat == 1 else [],
                "votes_received": 0,
            }
            for seat in (1, 2, 3, 4)
        ],
        "num_players": 4,
        "num_undercover": 1,
        "current_descriptions": [{"round": 1, "player_id": 1, "name": "a1", "description": "grey"}],
        "candidates": [],
        "votes_in": 0,
        "all_votes_history": [],
        "eliminated_players": [],
        "elimination_history": [],
        "winner": None,
        "game_over": False,
    }


def test_a_spectator_sees_the_same_without_a_seat_and_who_has_no_seat_is_one(table: Any) -> None:
    t = table()
    t.say(1, "grey")
    seen, watched = t.view(2), GAME.view(t.state, SPECTATOR)
    assert watched == {**seen, "me": None}
    assert GAME.view(t.state, "spectator-3") == watched


def test_whoever_is_out_sees_the_same_and_keeps_its_word(table: Any) -> None:
    t = table(5, (5,))
    t.round({1: 2, 2: 1, 3: 2, 4: 2, 5: 2})
    t.say(1, "grey")
    dead, living = t.view(2), t.view(3)
    assert (dead["me"]["alive"], dead["me"]["word"]) == (False, t.word(2))
    assert {**dead, "me": None} == {**living, "me": None}
    assert dead["players"][1]["votes_received"] == 4


def test_an_open_vote_shows_its_own_voter_and_a_count(table: Any) -> None:
    t = table()
    t.say_all()
    t.vote(2, 3, "a thought")
    assert t.view(2)["me"]["votes_cast"] == [{"round": 1, "ballot": 1, "target_id": 3, "reason": "a thought"}]
    for seat in (1, 3, 4):
        view = t.view(seat)
        assert (view["votes_in"], view["me"]["votes_cast"], view["all_votes_history"]) == (1, [], [])
        assert [player["votes_received"] for player in view["players"]] == [0, 0, 0, 0]
        assert "thought" not in json.dumps(view)
    t.vote_all({1: 2, 3: 1, 4: 2})
    assert t.view(1)["all_votes_history"][0]["votes"][1] == {
        "voter_id": 2,
        "target_id": 3,
        "voter_name": "a2",
        "target_name": "a3",
    }


def test_what_was_not_heard_is_nowhere_in_a_view(table: Any) -> None:
    t = table(5, (5,))
    t.say(1, "whispered", heard_by=[3, 4])
    event = t.events[-1]
    assert event.visible_to == ("a1", "a3", "a4")
    knowing = {seat for seat in (1, 2, 3, 4, 5) if "whispered" in json.dumps(t.view(seat))}
    assert knowing == {1, 3, 4}
    assert "whispered" not in json.dumps(GAME.view(t.state, SPECTATOR))
    assert t.view(3)["players"][0]["description_history"] == ["whispered"]
    assert t.view(2)["current_descriptions"] == []


def test_what_all_the_living_hear_is_public(table: Any) -> None:
    t = table(5, (5,))
    t.round({1: 2, 2: 1, 3: 2, 4: 2, 5: 2})
    t.say(1, "grey", heard_by=[3, 4, 5])  # seat 2 is out
    assert t.events[-1].visible_to == ALL
    assert "grey" in json.dumps(GAME.view(t.state, SPECTATOR))
    assert "grey" in json.dumps(t.view(2))


def test_changing_a_view_changes_nothing(table: Any) -> None:
    t = table()
    t.round({1: 2, 2: 1, 3: 1, 4: 2})
    before = json.dumps(t.view(1))

    def spoil(value: Any) -> None:
        children = list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
        for child in children:
            spoil(child)
        if isinstance(value, dict | list):
            value.clear()

    spoil(t.view(1))
    spoil(GAME.view(t.state, HOST))
    spoil(GAME.legal(t.state, "a1")[0].schema)
    for event in t.events:
        spoil(event.data)
    assert json.dumps(t.view(1)) == before
    assert GAME.load(GAME.dump(t.state)) == t.state


def secret_words(seed: int) -> tuple[str, str]:
    draw = Draw(seed, "words")
    kind = draw.below(3)
    code, other = (f"{draw.below(1 << 32):08x}" for _ in range(2))
    return (f"w-{code}", f"w-{other}") if kind else (f"秘{code}", f"密{other}")


def random_config(seed: int) -> tuple[dict[str, Any], list[str]]:
    draw = Draw(seed, "config")
    players = 3 + draw.below(4)
    config = {
        "lang": draw.choice(("zh", "en")),
        "pair": list(secret_words(seed)),
        "num_undercover": 1 + draw.below((players - 1) // 2),
        "max_rounds": 1 + draw.below(3),
        "tie": draw.choice(("no_elimination", "random", "revote")),
        "speaking_order": draw.choice(("fixed", "rotate", "random")),
        "announce_counts": draw.chance(0.7),
        "allow_abstain": draw.chance(0.7),
        "reveal_at_end": draw.chance(0.5),
    }
    return config, [f"p{seat}" for seat in range(players)]


def steps(
    state: GameState, draw: Draw
) -> Iterator[tuple[GameState, tuple[Event, ...], list[tuple[str, IllegalAction]]]]:
    """Random play, with forfeits, private utterances and refused actions; no agent writes a word of the match."""
    agents = [player.agent_id for player in state.deal.players]
    yield state, GAME.opening(state), []
    while pending := GAME.pending(state):
        agent = draw.choice(pending)
        refusals = []
        words = list(state.deal.words.values())
        for action in (
            Action(type="describe", data={"description": draw.choice(words)}),
            Action(type="describe", data={"description": ""}),
            Action(type="vote", data={"vote_number": draw.below(14) - 1, "reason": ""}),
        ):
            try:
                GAME.apply(state, agent, action)
            except IllegalAction as refused:
                refusals.append((agent, refused))
        (legal,) = GAME.legal(state, agent)
        if draw.chance(0.1):
            step = GAME.forfeit(state, agent, draw.choice(tuple(ForfeitCause)))
        elif legal.type == "describe":
            heard_by = draw.sample(agents, draw.below(len(agents))) if draw.chance(0.5) else None
            text = f"remark {draw.below(1 << 40)}"
            step = GAME.apply(state, agent, Action(type="describe", data={"description": text}), heard_by)
        else:
            choice = draw.choice(legal.schema["properties"]["vote_number"]["enum"])
            step = GAME.apply(state, agent, Action(type="vote", data={"vote_number": choice, "reason": "so it seems"}))
        state = step.state
        yield state, step.events, refusals


def values_of(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for child in value.values():
            yield from values_of(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from values_of(child)
    else:
        yield value


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_no_view_event_or_refusal_of_two_hundred_games_tells_a_secret(first: int) -> None:
    looked_at = 0
    for number in range(first, first + 25):
        config, agents = random_config(number)
        seed = Draw(number, "seed").below(1 << 64)
        start = GAME.setup(config, agents, seed)
        words = {player.agent_id: player.word for player in start.deal.players}
        rules = GAME.rules_text(config, "zh") + GAME.rules_text(config, "en")
        assert not any(word in rules for word in words.values())
        for state, events, refusals in steps(start, Draw(number, "play")):
            is_secret = state.winner is None or not config["reveal_at_end"]
            for viewer in (*agents, SPECTATOR):
                unknown = set(words.values()) - {words.get(viewer)}
                told: list[Any] = [GAME.view(state, viewer)]
                told += [[action.type, action.schema] for action in GAME.legal(state, viewer)]
                told += [
                    [event.kind, event.text, event.data]
                    for event in events
                    if event.visible_to == ALL or viewer in event.visible_to
                    if is_secret or event.kind != "game_over"
                ]
                if not is_secret:
                    told = told[1:]  # the view of an open end
                told += [
                    [refused.code, refused.message, refused.data] for agent, refused in refusals if agent == viewer
                ]
                text = json.dumps(told, ensure_ascii=False)
                looked_at += 1
                assert not any(word in text for word in unknown), (number, viewer)
                assert '"role"' not in text
                assert str(seed) not in text
                assert state.winner is not None or not {"undercover", "civilian"} & set(map(str, values_of(told)))
    assert looked_at > 25 * 40


@pytest.mark.parametrize("seed", range(12))
def test_a_player_cannot_tell_who_of_the_others_is_undercover(seed: int) -> None:
    """Two deals that give a player the same word and differ in who else is undercover look the same to that player, as
    long as the match goes on."""
    config = {"lang": "en", "pair": ["wolf", "fox"], "num_undercover": 2, "tie": "revote"}
    agents = [f"a{seat}" for seat in range(1, 8)]
    one = GAME.setup(config, agents, seed)
    other = next(
        state
        for candidate in range(1000, 9000)
        if (state := GAME.setup(config, agents, candidate)).deal.players[0] == one.deal.players[0]
        and [p.role for p in state.deal.players] != [p.role for p in one.deal.players]
    )
    assert one.deal.players[0].role in (WordRole.CIVILIAN, WordRole.UNDERCOVER)
    draw = Draw(seed, "same moves")
    compared = 0
    while one.winner is None and other.winner is None:
        for viewer in ("a1", SPECTATOR):
            assert GAME.view(one, viewer) == GAME.view(other, viewer)
            assert GAME.info(one, viewer) == GAME.info(other, viewer)
            assert GAME.legal(one, viewer) == GAME.legal(other, viewer)
            compared += 1
        agent = GAME.pending(one)[0]
        (legal,) = GAME.legal(one, agent)
        if legal.type == "describe":
            data: dict[str, Any] = {"description": f"remark {draw.below(1 << 40)}"}
        else:
            choice = draw.choice(legal.schema["properties"]["vote_number"]["enum"])
            data = {"vote_number": choice, "reason": "so it seems"}
        steps_taken = [GAME.apply(state, agent, Action(type=legal.type, data=data)) for state in (one, other)]
        one, other = (step.state for step in steps_taken)
        if one.winner is None and other.winner is None:
            assert steps_taken[0].events == steps_taken[1].events
    assert compared >= 28


@pytest.mark.parametrize("seed", range(10))
def test_under_a_sequential_protocol_nobody_learns_more_than_was_heard(seed: int) -> None:
    config, agents = random_config(seed)
    match = Match(GAME, config=config, agent_ids=agents, seed=seed, protocol=SequentialHandoff(agents))
    draw = Draw(seed, "sequential")
    knowing: dict[str, set[str]] = {}
    while match.active():
        agent = match.active()[0]
        (legal,) = match.legal(agent)
        if legal.type == "describe":
            text = f"remark {draw.below(1 << 40)}"
            hearers = {agent, *match.protocol.get_listeners(agent)}
            living = {agents[player_id - 1] for player_id in match.state.living}
            knowing[text] = {*agents, SPECTATOR} if hearers >= living else hearers
            data: dict[str, Any] = {"description": text}
        else:
            data = {"vote_number": draw.choice(legal.schema["properties"]["vote_number"]["enum"]), "reason": "so"}
        match.act(agent, Action(type=legal.type, data=data))
        for viewer in (*agents, SPECTATOR):
            told = json.dumps([match.view(viewer), [[event.text, event.data] for event in match.events_for(viewer)]])
            assert {text for text in knowing if text in told} == {text for text in knowing if viewer in knowing[text]}
    assert any(len(hearers) == 1 for hearers in knowing.values())  # the last speaker of a round is heard by nobody
