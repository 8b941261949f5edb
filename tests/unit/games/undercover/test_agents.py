"""Agents with a memory that describe and vote, in a seat of a match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from league_agents.games.game import ForfeitCause
from league_agents.games.undercover.agents import ScriptedUndercoverAgent, Seated, UndercoverAgent, ask
from league_agents.games.undercover.game import Undercover
from league_agents.kit.draw import Draw
from league_agents.kit.errors import CallbackInvalid
from league_agents.turns.match import Match

GAME = Undercover()


class Recorder(UndercoverAgent):
    """Writes down what it is asked with."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Any, ...]] = []

    def generate_description(self, round_num: int) -> str:
        self.asked.append(("describe", round_num, self.word, self.memory.heard_in(round_num)))
        return f"remark {self.player_id} of round {round_num}"

    def vote(
        self, alive_players: list[dict[str, Any]], current_descriptions: list[dict[str, Any]], round_num: int
    ) -> Mapping[str, Any]:
        self.asked.append(("vote", round_num, alive_players, [each["player_id"] for each in current_descriptions]))
        return {"reason": "by number", "vote_number": alive_players[0]["player_id"], "mood": "good"}


def play(agents: Mapping[str, Seated], config: dict[str, Any], seed: int = 1) -> Match[Any]:
    match = Match(GAME, config=config, agent_ids=list(agents), seed=seed)
    told = dict.fromkeys(agents, 0)

    def tell() -> None:
        for agent_id, agent in agents.items():
            for event in match.events_for(agent_id, told[agent_id]):
                agent.observe(event)
                told[agent_id] = event.seq

    tell()
    while match.active():
        agent_id = match.active()[0]
        action = agents[agent_id](match.view(agent_id), match.legal(agent_id), Draw(seed, agent_id))
        match.act(agent_id, action)
        tell()
    return match


def test_an_agent_is_asked_with_what_it_needs_and_remembers_what_it_heard() -> None:
    recorders = {f"a{seat}": Recorder() for seat in (1, 2, 3)}
    match = play({name: Seated(agent) for name, agent in recorders.items()}, {"lang": "en", "max_rounds": 1})
    second = recorders["a2"]
    assert (second.player_id, second.name, second.lang) == (2, "a2", "en")
    assert second.asked == [
        ("describe", 1, match.state.deal.players[1].word, ["remark 1 of round 1"]),
        ("vote", 1, [{"player_id": 1, "name": "a1"}, {"player_id": 3, "name": "a3"}], [1, 2, 3]),
    ]
    assert second.memory.voting_history[0]["vote_number"] == 1


def test_scripted_agents_play_whole_matches_from_memory() -> None:
    for lang in ("zh", "en"):
        for seed in range(6):
            agents = {f"a{seat}": Seated(ScriptedUndercoverAgent(seed)) for seat in range(6)}
            assert play(agents, {"lang": lang, "tie": "revote"}, seed).is_over


def test_a_reset_agent_begins_a_new_match_with_nothing_in_mind() -> None:
    agent = ScriptedUndercoverAgent()
    seat = Seated(agent)
    agents = {"a1": seat, "a2": Seated(ScriptedUndercoverAgent()), "a3": Seated(ScriptedUndercoverAgent())}
    play(agents, {})
    assert agent.memory.all_descriptions
    seat.reset()
    assert agent.memory.as_json() == {
        "all_descriptions": [],
        "voting_history": [],
        "reasoning_history": [],
        "all_votes_history": [],
    }


class OnlyTheTwoMethods:
    """An agent that knows nothing of this package, but has the memory call of its own."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, dict[str, Any]]] = []

    def add_to_memory(self, round_num: int, **what: Any) -> None:
        self.notes.append((round_num, what))

    def generate_description(self, round_num: int) -> str:
        return f"remark {len(self.notes)} of {id(self)} in round {round_num}"

    def vote(
        self, alive_players: list[dict[str, Any]], current_descriptions: list[dict[str, Any]], round_num: int
    ) -> Any:
        return {"reason": "so", "vote_number": alive_players[-1]["player_id"]}


def test_an_agent_with_only_the_two_methods_plays_and_its_memory_is_filled() -> None:
    agents = {f"a{seat}": OnlyTheTwoMethods() for seat in (1, 2, 3, 4)}
    seats = {name: Seated(agent) for name, agent in agents.items()}
    assert play(seats, {"lang": "en", "max_rounds": 1}).is_over
    kinds = [sorted(what) for _, what in agents["a1"].notes]
    assert kinds == [["descriptions"]] * 4 + [["reasoning", "vote_record"], ["all_votes"]]
    seats["a1"].reset()  # nothing to reset, and no fault


@pytest.mark.parametrize("answer", [None, 3, "two", [("vote_number", 2)]])
def test_a_vote_that_is_no_mapping_is_a_fault_of_the_agent(answer: Any) -> None:
    class Odd(Recorder):
        def vote(self, *question: Any) -> Any:
            return answer

    match = Match(GAME, config={"lang": "en"}, agent_ids=["a", "b", "c"], seed=1)
    for agent in ("a", "b", "c"):
        match.forfeit(agent, ForfeitCause.TIMEOUT)
    with pytest.raises(CallbackInvalid, match="mapping with reason and vote_number"):
        ask(Odd(), match.view("a"), match.legal("a"))


def test_the_base_class_has_no_opinion() -> None:
    agent = UndercoverAgent()
    with pytest.raises(NotImplementedError):
        agent.generate_description(1)
    with pytest.raises(NotImplementedError):
        agent.vote([], [], 1)
