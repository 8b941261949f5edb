"""What holds for every match of Q21 around a table, however it is played, and what nobody learns before its end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league_agents.arena.agents.random_agent import random_action
from league_agents.arena.agents.scripted_agent import script_of
from league_agents.games.game import HOST, SPECTATOR, Action, ForfeitCause, IllegalAction, is_visible
from league_agents.games.q21.game import Q21
from league_agents.games.q21.seats import TableMatch
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.turns.match import Match

FEW = settings(max_examples=40, deadline=None)
SEATS = ("ref", "ann", "ben")
GAME = Q21()

rule_sets = st.sampled_from(["prd", "course", {"extends": "course", "questions_required": 3}])
seeds = st.integers(0, 2**64 - 1)
causes = st.sampled_from(list(ForfeitCause))
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)
spoilt = st.tuples(st.sampled_from(["announce", "ask", "answer", "guess", "vote", ""]), junk)


def new_match(rules: object = "prd", seed: int = 1) -> Match[TableMatch]:
    return Match(GAME, config={"rules": rules}, agent_ids=SEATS, seed=seed)


def steps(match: Match[TableMatch], seed: int) -> Iterator[tuple[str, Action]]:
    """Random legal play: who is next in a drawn order, and what it does."""
    draw = Draw(seed, "play")
    while not match.is_over:
        agent = draw.choice(match.active())
        yield agent, random_action(match.legal(agent), draw)


def plain(value: object) -> Any:
    return json.loads(json.dumps(value))


@FEW
@given(rules=rule_sets, seed=seeds)
def test_random_legal_play_ends_after_seven_actions(rules: object, seed: int) -> None:
    match = new_match(rules)
    played = 0
    for agent, action in steps(match, seed):
        match.act(agent, action)
        played += 1
    assert played == 7  # the brief, two batches, two sets of answers, two guesses
    outcome = match.outcome()
    assert outcome is not None
    assert outcome.reason == "completed"


@FEW
@given(rules=rule_sets, seed=seeds, lost=st.lists(causes | st.none(), min_size=7, max_size=7))
def test_a_match_with_any_forfeits_ends_too(rules: object, seed: int, lost: list[ForfeitCause | None]) -> None:
    match, draw = new_match(rules), Draw(seed, "play")
    for cause in lost:
        if match.is_over:
            break
        agent = draw.choice(match.active())
        if cause is None:
            match.act(agent, random_action(match.legal(agent), draw))
        else:
            match.forfeit(agent, cause)
    assert match.is_over
    assert [event.seq for event in match.events] == list(range(1, len(match.events) + 1))


@FEW
@given(rules=rule_sets, seed=seeds)
def test_a_dumped_state_is_loaded_equal_and_plays_on_equally(rules: object, seed: int) -> None:
    match = new_match(rules)
    for agent, action in steps(match, seed):
        dumped = plain(GAME.dump(match.state))
        loaded = GAME.load(dumped)
        assert loaded == match.state
        assert plain(GAME.dump(loaded)) == dumped
        after = GAME.apply(loaded, agent, action)
        events = match.act(agent, action)
        assert after.state == match.state
        assert [(event.kind, event.data) for event in after.events] == [(event.kind, event.data) for event in events]


@FEW
@given(rules=rule_sets, seed=seeds)
def test_a_replayed_match_is_equal(rules: object, seed: int) -> None:
    first, second = new_match(rules), new_match(rules)
    for agent, action in steps(first, seed):
        first.act(agent, action)
        second.act(agent, Action(type=action.type, data=plain(action.data)))
    assert first.events == second.events
    assert first.outcome() == second.outcome()


@FEW
@given(rules=rule_sets, seed=seeds, actions=st.lists(spoilt, min_size=1, max_size=4))
def test_what_is_refused_changes_nothing(rules: object, seed: int, actions: list[tuple[str, Any]]) -> None:
    match = new_match(rules)
    for agent, action in steps(match, seed):
        before, events = plain(GAME.dump(match.state)), match.events
        for other in SEATS:
            for kind, data in actions:
                with pytest.raises(IllegalAction) as caught:
                    match.act(other, Action(type=kind, data=data if isinstance(data, dict) else {"x": data}))
                assert "\n" not in caught.value.message
        for intruder in ("nobody", HOST, SPECTATOR):
            with pytest.raises(IllegalAction):
                match.act(intruder, action)
        assert plain(GAME.dump(match.state)) == before
        assert match.events == events
        match.act(agent, action)


@FEW
@given(seed=seeds)
def test_the_order_in_which_players_act_shows_nowhere(seed: int) -> None:
    matches = [new_match(), new_match()]
    draw = Draw(seed, "play")
    while not matches[0].is_over:
        chosen = {agent: random_action(matches[0].legal(agent), draw) for agent in matches[0].active()}
        for match, turn in zip(matches, (1, -1), strict=True):
            for agent in list(chosen)[::turn]:
                # A drawn announcement may break a rule, such as a word that stands in its own hint: both refuse it.
                with contextlib.suppress(IllegalAction):
                    match.act(agent, chosen[agent])
        assert matches[0].events == matches[1].events
        for viewer in (*SEATS, SPECTATOR, HOST):
            assert matches[0].view(viewer) == matches[1].view(viewer)


@FEW
@given(seed=seeds)
def test_views_are_json_and_nobody_can_reach_into_the_match(seed: int) -> None:
    match = new_match()
    for agent, action in steps(match, seed):
        match.act(agent, action)
        before = plain(GAME.dump(match.state))
        for viewer in (*SEATS, SPECTATOR, HOST):
            view = match.view(viewer)
            assert plain(view) == json.loads(json.dumps(view))
            view.clear()
            told = match.view(viewer).get("me") or {}
            for value in told.values():
                if isinstance(value, list):
                    with pytest.raises(TypeError):
                        value.append("mine")
        assert plain(GAME.dump(match.state)) == before


def secret_announcement(seed: int) -> dict[str, str]:
    """A target that nobody can guess or write by chance."""
    word = f"w-{Draw(seed, 'word').below(16**12):012x}"
    return {
        "book_name": "A book",
        "book_hint": "Something happens to somebody",
        "association_word": "things",
        "actual_opening_sentence": f"{word} began on a day like any other day.",
        "actual_associative_word": f"{word}-thing",
    }


@pytest.mark.parametrize("rules", ["prd", "course"])
def test_nobody_learns_the_target_or_the_others_game_before_the_end(rules: str) -> None:
    for seed in range(25):
        match = new_match(rules, seed)
        told = secret_announcement(seed)
        word = told["actual_associative_word"].removesuffix("-thing")
        rules_text = GAME.rules_text(match.config) + GAME.rules_text(match.config, "zh")
        assert word not in rules_text
        match.act("ref", Action(type="announce", data=told))
        draw = Draw(seed, "play")
        scripted = script_of("q21")
        marks = {agent: f"m-{Draw(seed, agent).below(16**12):012x}" for agent in ("ann", "ben")}
        seen = 0
        while not match.is_over:
            for viewer in ("ann", "ben", SPECTATOR):
                texts = [json.dumps(match.view(viewer)), repr(match.info(viewer))]
                texts += [
                    f"{event.text} {json.dumps(event.data)}"
                    for event in match.events[seen:]
                    if is_visible(event, viewer)
                ]
                if viewer in SEATS:
                    texts += [json.dumps(each.schema) for each in match.legal(viewer)]
                    texts += refusals(match, viewer, word)
                for text in texts:
                    assert word not in text
                    for agent, mark in marks.items():
                        assert agent == viewer or mark not in text
            seen = len(match.events)
            agent = draw.choice(match.active())
            if agent == "ref":
                match.act(agent, scripted(match.view("ref"), match.legal("ref"), draw))
            else:
                match.act(agent, marked(random_action(match.legal(agent), draw), marks[agent]))
        assert word in json.dumps(match.view(SPECTATOR))


def marked(action: Action, mark: str) -> Action:
    """The action with the player's own mark in its texts."""
    if action.type == "ask":
        questions = [{**each, "question_text": f"{mark} {each['question_text']}"} for each in action.data["questions"]]
        return Action(type="ask", data={"questions": questions})
    return Action(type=action.type, data={**action.data, "opening_sentence": f"{mark} is how it begins"})


def refusals(match: Match[TableMatch], agent: str, word: str) -> list[str]:
    """What an agent is told about actions that are none, among them a guess that holds the target."""
    found = []
    for kind in ("announce", "ask", "answer", "guess", "nonsense"):
        for data in ({}, {"player_id": "ann", "answers": []}, {"opening_sentence": f"{word} began", "confidence": 7}):
            try:
                match.act(agent, Action(type=kind, data=data))
            except IllegalAction as refused:
                found.append(f"{refused.message} {json.dumps(dict(refused.data))}")
    return found


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"rules": "chess"}, "rules"),
        ({"rules": 3}, "rules"),
        ({"rule": "prd"}, "configuration"),
        ({"rules": {"extends": "prd", "questions_required": 0}}, "rules.questions_required"),
    ],
)
def test_a_configuration_that_cannot_be_played_names_its_key(config: dict[str, Any], path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GAME.setup(config, SEATS, 1)
    assert caught.value.path == path
