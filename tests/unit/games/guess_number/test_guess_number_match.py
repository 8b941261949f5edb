"""Guess number under the interaction protocols that it allows (arena 4.5)."""

from __future__ import annotations

import pytest

from league_agents.games.game import HOST, SPECTATOR, IllegalAction
from league_agents.games.guess_number.game import GuessNumber
from league_agents.games.guess_number.scripted import scripted
from league_agents.games.registry import game_of
from league_agents.turns.load import load_protocol
from league_agents.turns.match import Match

AGENTS = ("a", "b", "c")


def played(kind: str) -> Match[object]:
    match: Match[object] = Match(
        game_of("guess_number"),
        config={"num_choices": 12, "max_steps": 12, "target": 7},
        agent_ids=AGENTS,
        seed=3,
        protocol=load_protocol({"protocol": {"type": kind}}, AGENTS),
    )
    while match.active():
        agent = match.active()[0]
        match.act(agent, scripted(match.view(agent), match.legal(agent)))
    return match


def test_the_registry_knows_the_game() -> None:
    assert isinstance(game_of("guess_number"), GuessNumber)


@pytest.mark.parametrize("kind", ["broadcast", "sequential"])
def test_scripted_agents_win_under_either_protocol(kind: str) -> None:
    outcome = played(kind).outcome()
    assert outcome is not None
    assert (outcome.reason, outcome.winners) == ("success", AGENTS)


def test_under_broadcast_spectators_hear_what_is_said() -> None:
    match = played("broadcast")
    kinds = {each.kind for each in match.events_for(SPECTATOR)}
    assert kinds == {"phase", "state_report", "proposal", "end"}
    assert [each.seq for each in match.events_for(HOST)] == list(range(1, len(match.events) + 1))


def test_in_a_sequence_the_first_hears_nobody() -> None:
    match = played("sequential")
    heard = {agent: {each["sender"] for each in match.view(agent)["messages"]} for agent in AGENTS}
    assert heard == {"a": {"a"}, "b": {"a", "b"}, "c": {"a", "b", "c"}}


def test_nobody_speaks_out_of_turn() -> None:
    match: Match[object] = Match(game_of("guess_number"), config={}, agent_ids=AGENTS, seed=3)
    assert match.active() == ("a",)
    assert (match.info("a").stage, match.info("b").stage) == ("report", "wait")
    with pytest.raises(IllegalAction) as caught:
        match.act("b", scripted(match.view("b"), match.game.legal(match.state, "b")))
    assert caught.value.code == "not_pending"
