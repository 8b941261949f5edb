"""What holds for every match of every game on every protocol, played at random."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league_agents.arena.agents.random_agent import random_action
from league_agents.games.game import HOST, SPECTATOR, Action, ForfeitCause, IllegalAction
from league_agents.games.registry import game_of
from league_agents.kit.draw import Draw
from league_agents.turns import (
    BroadcastDeliberation,
    InformationFlowConfig,
    InteractionProtocol,
    MarketTurnBased,
    SequentialHandoff,
)
from league_agents.turns.match import Match

AGENTS = ("a", "b", "c", "d")

BROKEN = (
    Action(type="shout"),
    Action(type="submit_price", data={"price": -1}),
    Action(type="guess", data={"guess": True}),
    Action(type="describe", data={"description": ""}),
    Action(type="vote", data={"vote_number": 99, "reason": "x"}),
    Action(type="state_report", data={"sender": "a"}),
    Action(type="pass", version="7.0.0"),
)


@dataclass(frozen=True)
class Case:
    game: str
    config: dict[str, Any]
    protocol: Callable[[], InteractionProtocol]
    most_actions: int
    """More than any match of this configuration can take."""


def stages() -> InformationFlowConfig:
    return InformationFlowConfig(flow_order=["c", ["d", "a"], "b"])


CASES = {
    "market": Case("market", {"max_rounds": 4}, lambda: MarketTurnBased(AGENTS), 16),
    "market in turn": Case(
        "market", {"max_rounds": 4}, lambda: MarketTurnBased(AGENTS, flow=stages(), simultaneous=False), 16
    ),
    "guess_number": Case("guess_number", {"num_choices": 5, "max_steps": 3}, lambda: BroadcastDeliberation(AGENTS), 36),
    "guess_number in stages": Case(
        "guess_number",
        {"num_choices": 5, "max_steps": 3, "win": "any"},
        lambda: SequentialHandoff(AGENTS, flow=stages(), carry_over=True),
        36,
    ),
    "undercover": Case("undercover", {"max_rounds": 3, "lang": "en"}, lambda: BroadcastDeliberation(AGENTS), 36),
    "undercover in turn": Case(
        "undercover", {"max_rounds": 3, "tie": "revote", "reveal": "role"}, lambda: SequentialHandoff(AGENTS), 48
    ),
    "stopped": Case(
        "guess_number",
        {"num_choices": 100},
        lambda: BroadcastDeliberation(
            AGENTS, flow=InformationFlowConfig(stop_conditions=[{"type": "max_messages", "value": 10}])
        ),
        36,
    ),
}


def new_match(case: Case, seed: int) -> Match[Any]:
    return Match(game_of(case.game), config=case.config, agent_ids=AGENTS, seed=seed, protocol=case.protocol())


def play(
    match: Match[Any], draw: Draw, most: int, check: Callable[[], None]
) -> list[tuple[str, Action | ForfeitCause]]:
    """Legal actions, refused ones and forfeits, drawn; gives what was accepted."""
    moves: list[tuple[str, Action | ForfeitCause]] = []
    while active := match.active():
        agent = draw.choice(active)
        if draw.chance(0.3):
            refused(match, draw)
        if draw.chance(0.15):
            cause = draw.choice(tuple(ForfeitCause))
            match.forfeit(agent, cause)
            moves.append((agent, cause))
        else:
            moves.append((agent, accepted(match, agent, draw)))
        assert len(moves) <= most
        check()
    return moves


def accepted(match: Match[Any], agent: str, draw: Draw) -> Action:
    for _ in range(50):
        action = random_action(match.legal(agent), draw)
        try:
            match.act(agent, action)
        except IllegalAction:
            continue
        return action
    raise AssertionError(f"no drawn action of {agent} was accepted")


def refused(match: Match[Any], draw: Draw) -> None:
    """Try something that may be refused; where it is, everything is as it was."""
    before = (json.dumps(match.game.dump(match.state)), len(match.events), match.active(), len(match.protocol.skips))
    idle = [agent for agent in AGENTS if agent not in match.active()]
    tries = [(draw.choice(AGENTS), BROKEN[0]), (draw.choice(match.active()), BROKEN[-1])]
    tries += [(agent, draw.choice(BROKEN)) for agent in (*idle, "ghost")]
    if draw.chance(0.5):
        tries.append((draw.choice(match.active()), draw.choice(BROKEN[1:-1])))
    for agent, action in tries:
        try:
            match.act(agent, action)
        except IllegalAction:
            pass
        else:
            raise AssertionError(f"{action} of {agent} was taken")
    after = (json.dumps(match.game.dump(match.state)), len(match.events), match.active(), len(match.protocol.skips))
    assert after == before


def told(match: Match[Any]) -> str:
    return repr((match.events, match.outcome(), match.game.dump(match.state)))


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**64 - 1))
def test_a_match_ends_in_bounds_survives_nonsense_and_can_be_played_again(name: str, seed: int) -> None:
    case = CASES[name]
    match = new_match(case, seed)

    def check() -> None:
        dumped = json.loads(json.dumps(match.game.dump(match.state)))
        assert match.game.load(dumped) == match.state
        seen(match)

    moves = play(match, Draw(seed, name), case.most_actions, check)
    assert match.outcome() is not None
    assert [event.seq for event in match.events] == list(range(1, len(match.events) + 1))
    again = new_match(case, seed)
    replay(again, moves)
    assert told(again) == told(match)


def seen(match: Match[Any]) -> None:
    """Views and progress can be had by everybody at every moment, and are JSON."""
    for viewer in (*AGENTS, SPECTATOR, HOST):
        json.dumps(match.view(viewer), allow_nan=False)
        progress = match.info(viewer)
        assert progress.active_agent_ids == match.active()
        assert (progress.status == "ended") == match.is_over
        if viewer in AGENTS:
            is_asked = viewer in match.active()
            assert bool(match.legal(viewer)) == is_asked
            assert (progress.stage in ("wait", "done", "watch")) != is_asked


def replay(match: Match[Any], moves: Sequence[tuple[str, Action | ForfeitCause]]) -> None:
    for agent, what in moves:
        if isinstance(what, ForfeitCause):
            match.forfeit(agent, what)
        else:
            match.act(agent, what)


@settings(max_examples=25, deadline=None)
@given(prices=st.lists(st.integers(10, 100), min_size=4, max_size=4), order=st.permutations(AGENTS))
def test_who_answers_first_in_a_sealed_phase_changes_nothing_public(prices: list[int], order: list[str]) -> None:
    matches = [new_match(CASES["market"], 1) for _ in range(2)]
    for match, agents in zip(matches, (AGENTS, order), strict=True):
        for agent in agents:
            amount = prices[AGENTS.index(agent)]
            match.act(agent, Action(type="submit_price", data={"price": amount}))
    public = [[(event.kind, event.data) for event in match.events_for(SPECTATOR)] for match in matches]
    assert public[0] == public[1]
    assert matches[0].state == matches[1].state
