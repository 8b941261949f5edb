"""The arena's agents by name, and who asks which model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.agent_wanted import Company
from league_agents.app.arena import arena_agent, session_of, usual_scenario, with_agents
from league_agents.arena.agents.callback_agent import CallbackAgent
from league_agents.arena.agents.human_agent import Terminal
from league_agents.arena.agents.llm_agent import LlmAgent
from league_agents.arena.model_tally import ModelTally
from league_agents.kit.errors import ConfigError, ModelUnavailable
from league_agents.kit.model_work import Why
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Patience
from league_agents.llm.port import ChatModel
from tests.support.scripted_model import ScriptedBackend


class Service:
    """Models that are down, and a note of who was asked for."""

    def __init__(self) -> None:
        self.made = 0
        self.wanted: list[str] = []
        self.backend = ScriptedBackend(lambda _request: ModelUnavailable("down"))

    def __call__(self) -> Any:
        self.made += 1

        def for_callback(callback: str) -> ChatModel | None:
            self.wanted.append(callback)
            return Chat(self.backend, Patience(retries=0))

        return for_callback


def made(spec: str, game: str = "undercover", *, company: Company | None = None, place: int = 0) -> object:
    scenario = usual_scenario(game, agents=[spec], lang="en" if game == "undercover" else None)
    return arena_agent(scenario.seats[place], scenario, company or Company(), seed=1, match_id="m", is_first=place == 0)


@pytest.mark.parametrize(
    ("game", "seats"),
    [
        ("guess_number", ["agent_0", "agent_1"]),
        ("market", ["s1", "s2", "s3"]),
        ("q21", ["referee", "player_a", "player_b"]),
        ("undercover", [f"agent_{seat}" for seat in range(1, 7)]),
    ],
)
def test_a_game_has_its_usual_seats(game: str, seats: list[str]) -> None:
    assert list(usual_scenario(game).agent_ids) == seats


@pytest.mark.parametrize(
    ("game", "seats", "first", "last"),
    [("guess_number", 1, "agent_0", "agent_0"), ("guess_number", 9, "agent_0", "agent_8"),
     ("market", 5, "s1", "s5"), ("undercover", 3, "agent_1", "agent_3"), ("undercover", 12, "agent_1", "agent_12")],
)  # fmt: skip
def test_other_numbers_of_seats_go_on_counting(game: str, seats: int, first: str, last: str) -> None:
    ids = usual_scenario(game, seats=seats).agent_ids
    assert (len(ids), ids[0], ids[-1]) == (seats, first, last)


@pytest.mark.parametrize(("game", "seats"), [("q21", 2), ("undercover", 13), ("market", 0)])
def test_a_number_of_seats_that_a_game_does_not_have_is_named(game: str, seats: int) -> None:
    with pytest.raises(ConfigError, match=f"{game} has"):
        usual_scenario(game, seats=seats)


def test_undercover_is_played_in_the_language_of_its_words() -> None:
    assert usual_scenario("undercover").lang == "zh"
    assert usual_scenario("undercover", config={"lang": "en"}).lang == "en"
    assert usual_scenario("undercover", lang="en").config["lang"] == "en"


def test_other_agents_take_the_seats_of_a_scenario() -> None:
    scenario = usual_scenario("market")
    assert [seat.agent for seat in with_agents(scenario, ["random", "llm"]).seats] == ["random", "llm", "llm"]
    assert with_agents(scenario, []) is scenario
    with pytest.raises(ConfigError, match="3 seats"):
        with_agents(scenario, ["random"] * 4)


def test_each_game_asks_for_its_own_model() -> None:
    for game in ("guess_number", "market", "undercover"):
        service = Service()
        agent = made("llm", game, company=Company(models=service))
        assert isinstance(agent, LlmAgent)
        assert service.wanted == [f"arena.{game}"]


def test_a_model_sits_at_q21_as_referee_and_as_player() -> None:
    service = Service()
    company = Company(models=service)
    for place in range(3):
        assert isinstance(made("llm", "q21", company=company, place=place), CallbackAgent)
    scenario = usual_scenario("q21", agents=["llm"])
    tally = ModelTally()
    session = session_of(scenario, seed=3, company=company, recorders=[tally])
    asyncio.run(session.run())
    assert session.match.outcome() is not None
    assert {"get_questions", "get_guess"} <= set(service.wanted)
    # What the callbacks say of their models goes with the decisions.
    assert set(tally.steps) == set(scenario.agent_ids)
    assert [step.callback for step in tally.steps["player_a"]] == ["get_questions", "get_guess"]
    assert {step.why for step in tally.steps["player_a"]} == {Why.UNAVAILABLE}


def test_the_models_are_made_once_for_a_match() -> None:
    service = Service()
    session_of(usual_scenario("undercover", agents=["llm"], lang="en"), seed=1, company=Company(models=service))
    assert service.made == 1


def test_a_company_without_models_says_how_to_get_one() -> None:
    for game in ("market", "q21"):
        with pytest.raises(ConfigError, match="LEAGUE_LLM_PROVIDER"):
            made("llm", game)


def test_nobody_sits_where_no_terminal_is() -> None:
    with pytest.raises(ConfigError, match="arena serve"):
        made("human")
    terminal = Terminal(ask=lambda _question: "", show=lambda _text: None)
    assert made("human", company=Company(terminal=terminal)) is not None


def test_the_name_of_a_match_says_nothing_of_its_seed() -> None:
    names = set()
    for seed in (1, 2):
        scenario = usual_scenario("undercover", agents=["llm"], lang="en")
        service = Service()
        session = session_of(scenario, seed=seed, company=Company(models=service))
        asyncio.run(session.run())
        names |= {request.prompt.purpose.match_id for request in service.backend.requests}
        assert not any(str(session.match.seed) == json.dumps(name) for name in names)
    assert len(names) == 1


def test_no_command_is_named_for_a_class_that_it_cannot_try_out(tmp_path: Path) -> None:
    text = "class Here:\n    def __init__(self): 1 / 0\n    def act(self, view, legal, deadline): ...\n"
    (tmp_path / "own_here.py").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"cannot be made: .*ZeroDivisionError.*; mend it$"):
        made(f"{tmp_path}/own_here.py:Here", "market", company=Company(in_process=True))
