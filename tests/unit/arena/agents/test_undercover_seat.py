"""A class with two methods plays undercover in the arena."""

from __future__ import annotations

import asyncio
from typing import Any

from league_agents.app.arena import usual_scenario
from league_agents.arena.agents.scripted_agent import ScriptedAgent
from league_agents.arena.session import Session
from league_agents.games.undercover.agents import ScriptedUndercoverAgent, UndercoverSeat


class TwoMethods:
    """All that an agent must have."""

    def __init__(self) -> None:
        self.rounds: list[int] = []

    def generate_description(self, round_num: int) -> str:
        self.rounds.append(round_num)
        return f"a thing of round {round_num}"

    def vote(self, alive_players: Any, current_descriptions: Any, round_num: int) -> dict[str, Any]:
        return {"reason": "a feeling", "vote_number": alive_players[0]["player_id"]}


class Telling(ScriptedUndercoverAgent):
    """Says its own word until it is refused."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    def generate_description(self, round_num: int) -> str:
        self.seen.append(len(self.refusals))
        return self.word if not self.refusals else super().generate_description(round_num)


def played(agent: object) -> Any:
    scenario = usual_scenario("undercover", lang="en")
    match = scenario.new_match(2)
    agents: dict[str, object] = {seat: ScriptedAgent("undercover", seed=2, agent_id=seat) for seat in match.agent_ids}
    agents["agent_1"] = UndercoverSeat(agent)  # type: ignore[arg-type]
    asyncio.run(Session(match, agents).run())
    assert match.outcome() is not None
    return match


def test_two_methods_are_enough() -> None:
    agent = TwoMethods()
    match = played(agent)
    said = match.view("host")["players"][0]["description_history"]
    assert said[0] == "a thing of round 1"
    assert agent.rounds == list(range(1, len(said) + 1))


def test_an_agent_remembers_what_it_was_told() -> None:
    agent = ScriptedUndercoverAgent(seed=1)
    match = played(agent)
    view = match.view("agent_1")
    assert agent.word == view["me"]["word"]
    rounds = {each["round"] for each in agent.memory.all_descriptions}
    assert rounds >= {1}
    assert len(agent.memory.all_descriptions) >= len(match.agent_ids)


def test_an_agent_hears_why_it_was_refused_and_each_question_begins_without_refusals() -> None:
    agent = Telling()
    match = played(agent)
    assert agent.seen[:2] == [0, 1]
    told = len(match.view("host")["players"][0]["description_history"])
    assert agent.seen == [0, 1] * told
