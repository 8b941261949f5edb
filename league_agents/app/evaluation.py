"""Evaluations: the participants, the settings, and the files of results and recordings.

Rule 1: a game depends on the settings and on its number only. Agents of this package are new in every game, with a seed
of their own for it, so games can be played in any order, concurrently, or on another day. A class of the user's own
is instantiated once and serves all games, as in a season; its memory is its own business.
Rule 2: targets follow from the seed and the referee, so all evaluations with the same seed have the same ones.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from league_agents import __version__
from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.agents.difficulty import Difficulty
from league_agents.app.agents import (
    A2A,
    LLM,
    OFFLINE,
    AgentRole,
    ChosenAgent,
    choose_agent,
    difficulty_of,
    is_own,
    own_agent,
    try_making,
)
from league_agents.evaluation.book_filter import book_filter
from league_agents.evaluation.casting import Part
from league_agents.evaluation.contexts import START
from league_agents.games.q21.rules import RuleSet, digest
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.ids import derive_hex
from league_agents.user_code.instances import InstanceMaker

if TYPE_CHECKING:
    from league_agents.agents.library import Knowledge
    from league_agents.app.evaluation_models import Traffic
    from league_agents.app.models import Models

_OWN_SHARE = 1.0
"""Share of targets from the user's own books, if there are any: the bundled texts are too short to tell players
apart."""

PARTS: tuple[Part, ...] = ("player", "opponent", "referee")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings:
    """The settings of an evaluation."""

    role: AgentRole
    specs: Mapping[Part, str]
    """Names of agents. When a referee is evaluated, ``player`` and ``opponent`` are the players that it judges."""

    rules: RuleSet
    noise: float
    """The share of answers that are falsified, 0 to 1."""

    seed: int

    in_process: bool = False
    """Whether classes of the user's own run in this process."""

    books: str | None = None
    """Which books the offline and llm referees choose targets from (``book_filter``); ``None`` for all."""

    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Names of the agents on this machine by their names, for files that were sent here from another one."""

    _own: dict[Part, ChosenAgent] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def asks_models(self) -> bool:
        """Whether an llm agent takes part."""
        return any(kind_of(spec) == LLM for spec in self.specs.values())

    @property
    def stays_here(self) -> bool:
        """Whether the games cannot be played in other processes: models are asked here, and debuggers look here."""
        return self.asks_models or self.in_process

    def document(self, knowledge: Knowledge, traffic: Traffic | None) -> dict[str, object]:
        """Everything that a game depends on besides its number, as JSON values. Raises ``ConfigError``."""
        classes = {part: self._source_of(part) for part in self.specs}
        models = {
            part: traffic.names(REFEREE_CALLBACKS if part == "referee" else PLAYER_CALLBACKS)
            for part, spec in self.specs.items()
            if kind_of(spec) == LLM and traffic is not None
        }
        return {
            "evaluated": self.role,
            "agents": dict(self.specs),
            "rules": {"name": self.rules.name, "digest": digest(self.rules)},
            "noise": self.noise,
            "seed": self.seed,
            "books": _digest(sorted((book.title, book.is_own) for book in knowledge.shelf)),
            **self._targets(knowledge),
            "classes": {part: source for part, source in classes.items() if source is not None},
            "models": models,
            "version": __version__,
        }

    def _targets(self, knowledge: Knowledge) -> dict[str, object]:
        if self.books is not None:
            return {"targets": self.books}
        return {"targets": "own books"} if any(book.is_own for book in knowledge.shelf) else {}

    def own_agent(self, part: Part) -> ChosenAgent:
        """A class of the user's own, loaded once. Raises ``ConfigError``."""
        if part not in self._own:
            self._own[part], _ = own_agent(
                self.places.get(self.specs[part], self.specs[part]), (_role_of(part),), in_process=self.in_process
            )
        return self._own[part]

    def _source_of(self, part: Part) -> str | None:
        """A digest of a user's file, so that results of two versions are not mixed. ``None`` for built-in agents."""
        spec = self.specs[part]
        if not is_own(spec):
            return None
        source = self.own_agent(part).source
        try:
            return None if source is None else hashlib.sha256(Path(source).read_bytes()).hexdigest()[:16]
        except OSError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes one participant of a game."""

    spec: str
    make: Callable[[int], object]
    """Makes an agent in this process for the game with the given number."""

    is_inline: bool
    """Whether it returns by itself; any other agent is called with a time limit."""

    kept: InstanceMaker | None = None
    """Makes the one instance that serves all games; ``None`` if each game has its own."""


def maker_of(
    settings: EvaluationSettings, part: Part, knowledge: Knowledge, models: Callable[[Part, AgentRole], Models]
) -> Maker:
    """The maker of a participant. Raises ``ConfigError`` for an invalid name."""
    spec, role, rules = settings.specs[part], _role_of(part), settings.rules

    def seed_of(game: int) -> str:
        return derive_hex(str(settings.seed), "evaluation", part, game, digits=16)

    kind, _, name = spec.partition(":")
    if part == "referee" and settings.books is not None:
        knowledge = knowledge.only(book_filter(settings.books))
        if not knowledge.shelf and not knowledge.catalogue.works:
            raise ConfigError("--books", f"no book or work is chosen by {shortened(settings.books)!r}")
    if kind in (OFFLINE, LLM):
        difficulty = difficulty_of(spec, name, role)
        if kind == OFFLINE:
            make = _offline(role, rules, knowledge, seed_of, difficulty)
            return Maker(spec=spec, make=make, is_inline=True)
        make = _llm(role, rules, knowledge, seed_of, difficulty, models(part, role))
        return Maker(spec=spec, make=make, is_inline=False)
    if is_own(spec) or kind == A2A:
        chosen = settings.own_agent(part) if is_own(spec) else choose_agent(spec, role, rules=rules, seed=seed_of(0))
        try_making(chosen)
        return Maker(spec=spec, make=lambda _game: chosen.factory(), is_inline=False, kept=chosen.instances)
    chosen = choose_agent(spec, role, rules=rules, seed=seed_of(0))
    if chosen.conduct is not None:
        raise ConfigError(
            spec, "misbehaves by mail, and an evaluation has none; play against it with 'run --single-game'"
        )
    return Maker(spec=spec, make=lambda _game: chosen.factory(), is_inline=True)


def kind_of(spec: str) -> str:
    """``offline``, ``llm``, ``scripted``, or the module of a user's class."""
    return spec.partition(":")[0]


def _offline(
    role: AgentRole, rules: RuleSet, knowledge: Knowledge, seed_of: Callable[[int], str], difficulty: Difficulty
) -> Callable[[int], object]:
    from league_agents.agents.offline_player import OfflinePlayer
    from league_agents.agents.offline_referee import OfflineReferee

    if role == "player":
        return lambda game: OfflinePlayer(rules=rules, knowledge=knowledge, seed=seed_of(game))
    return lambda game: OfflineReferee(
        rules=rules, knowledge=knowledge, seed=seed_of(game), difficulty=difficulty, own_share=_OWN_SHARE
    )


def _llm(
    role: AgentRole,
    rules: RuleSet,
    knowledge: Knowledge,
    seed_of: Callable[[int], str],
    difficulty: Difficulty,
    models: Models,
) -> Callable[[int], object]:
    from league_agents.agents.llm_player import LlmPlayer
    from league_agents.agents.llm_referee import LlmReferee

    ask = models.for_callback

    # Their clock stands still: their calls must not depend on the speed of this machine, or no recording would match.
    # Models keep their time limits by the real clock.
    def make_player(game: int) -> object:
        clock = ManualClock(START)
        return LlmPlayer(rules=rules, knowledge=knowledge, seed=seed_of(game), models=ask, clock=clock)

    def make_referee(game: int) -> object:
        return LlmReferee(
            rules=rules,
            knowledge=knowledge,
            seed=seed_of(game),
            models=ask,
            difficulty=difficulty,
            own_share=_OWN_SHARE,
            clock=ManualClock(START),
        )

    return make_referee if role == "referee" else make_player


def _role_of(part: Part) -> AgentRole:
    return "referee" if part == "referee" else "player"


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
