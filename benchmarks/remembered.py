"""Games about unknown books by a player whose model remembers openings, or invents them.

The model is scripted and does nothing but remember: in the pool of questions (step ``player_questions``), or when it is
asked again at the guess (``player_memory``). Every game has another target of the part ``held_out`` of
``benchmarks.unknown_books``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel

from benchmarks.strength import PlayedGame, play
from benchmarks.unknown_books import hidden_openings, players_library, referee_of
from league_agents.agents.llm_player import LlmPlayer
from league_agents.agents.player_chain.memory import RememberedWorks
from league_agents.agents.player_chain.writing import QuestionPool
from league_agents.games.q21.rules import COURSE, PRD, RuleSet, TargetKind
from league_agents.kit.errors import ModelRefused
from league_agents.kit.values import evolve
from league_agents.llm.port import Completion, Parsed, Prompt, Usage

M = TypeVar("M", bound=BaseModel)

PART = "held_out"
GAMES = 40
OPENINGS: Mapping[str, RuleSet] = {"course": evolve(COURSE, target_kind=TargetKind.BOOK_OPENING), "prd": PRD}
STEPS: Mapping[str, type[BaseModel]] = {"player_questions": QuestionPool, "player_memory": RememberedWorks}

Memory = Callable[[str, str], list[str]]
"""Function from the book's name and the whole prompt to the sentences that the model writes."""

_NAME = re.compile(r"<<name of the book \w+\n(.*?)\n")
_CONFIRMED = re.compile(r"“(\w+)”")


def half_of_the_openings() -> dict[str, str]:
    """Every other one of the part's openings by its title: those that a model remembers."""
    return dict(sorted(hidden_openings(PART).items())[::2])


def remembered(title: str, _told: str) -> list[str]:
    """The true opening of every other work; nothing of the others."""
    half = half_of_the_openings()
    return [half[title]] if title in half else []


def invented(_title: str, told: str) -> list[str]:
    """Three openings made up of the words that the prompt quotes."""
    words = _CONFIRMED.findall(told)
    return [f"It was {' and '.join(words[i::3][:9]) or 'late'} in the town that I had left." for i in range(3)]


def confused(title: str, _told: str) -> list[str]:
    """The true openings of three other works."""
    works = sorted(hidden_openings(PART).items())
    place = next((i for i, (name, _) in enumerate(works) if name == title), 0)
    return [works[(place + step) % len(works)][1] for step in (1, 7, 19)]


MEMORIES: Mapping[str, Memory] = {"remembers_half": remembered, "invents": invented, "confuses": confused}


@dataclass(slots=True)
class RememberingModel:
    """A model that answers one step with what it remembers and refuses the others."""

    memory: Memory
    step: str
    name: str = "memory:1"
    prompts: list[Prompt] = field(default_factory=list)
    """Those of the step."""

    def complete_json(
        self, prompt: Prompt, schema: type[M], *, timeout: timedelta, max_output_tokens: int
    ) -> Parsed[M]:
        """The remembered works."""
        if schema is not STEPS[self.step]:
            raise ModelRefused
        self.prompts.append(prompt)
        title = _NAME.search(prompt.user)
        lines = [
            f"Somebody | a town | 1800 | love | {each}" for each in self.memory(title[1] if title else "", prompt.user)
        ]
        value = schema.model_validate({"recalled": lines, "works": lines})
        text = value.model_dump_json()
        return Parsed(value=value, completion=Completion(text=text, model=self.name, usage=Usage(requests=1)))

    def complete_text(self, prompt: Prompt, *, timeout: timedelta, max_output_tokens: int) -> Completion:
        """Refused: the player asks for JSON only."""
        raise ModelRefused


def remembering_player(rules: RuleSet, model: RememberingModel, *, seed: int = 1) -> LlmPlayer:
    """A player that has the model and the player's share of the library."""
    return LlmPlayer(rules=rules, knowledge=players_library(), seed=seed, models=lambda _: model)


def memory_games(name: str, memory: str, *, step: str, games: int = GAMES) -> list[PlayedGame]:
    """Play games about as many different targets."""
    rules = OPENINGS[name]
    referee = referee_of(rules, PART, is_other_make=False)
    agent = remembering_player(rules, RememberingModel(MEMORIES[memory], step))
    played: dict[str, PlayedGame] = {}
    for number in range(20 * games):
        context = {"dynamic": {"match_id": f"U{number:05d}"}, "service": {"match_id": f"U{number:05d}"}}
        if str(referee.get_round_start_info(context)["book_name"]) not in played:
            game = play(referee, agent, match_id=f"U{number:05d}")
            played[game.book_name] = game
        if len(played) == games:
            break
    return list(played.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlay:
    """Result of a series of games by a player whose model remembers."""

    games: int
    remembered: int
    """Games whose opening the model remembers."""

    won: int
    """Those of them in which it was guessed."""

    most_confident: float
    """Highest confidence in a wrong sentence."""


def measure_memory(name: str, memory: str, *, step: str, games: int = GAMES) -> MemoryPlay:
    """One row of the benchmark."""
    played = memory_games(name, memory, step=step, games=games)
    own = [game for game in played if memory == "remembers_half" and game.book_name in half_of_the_openings()]
    return MemoryPlay(
        games=len(played),
        remembered=len(own),
        won=sum(game.is_sentence_right for game in own),
        most_confident=max((game.confidence for game in played if not game.is_sentence_right), default=0.0),
    )
