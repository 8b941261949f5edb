"""The state of one game of guess number (arena 2.2).

Rule: frozen values, made anew for every change. Messages are frozen JSON, so the views share them with the state.
"""

from __future__ import annotations

from msgspec import Struct

from league_agents.games.game import JsonObject
from league_agents.games.guess_number.config import Config
from league_agents.games.guess_number.protocol import STATE_REPORT
from league_agents.kit.frozen import FrozenDict


class GuesserRecord(Struct, frozen=True, kw_only=True):
    """What one agent did, and what it was told."""

    guesses: tuple[int, ...] = ()
    """Its guesses that were answered, the initial one first."""

    feedback: tuple[bool, ...] = ()
    """Whether each of them was right. Only the last one can be: who is right guesses no more."""

    last_guess: int | None = None
    """What its next observation is about; ``None`` when it made no guess in the step before."""

    said_wrong: frozenset[int] = frozenset()
    """Numbers that reports it heard call wrong."""

    said_right: frozenset[int] = frozenset()
    """Numbers that reports it heard call right."""

    heard: tuple[JsonObject, ...] = ()
    """The messages that it heard or sent in the steps that are over."""

    @property
    def is_correct(self) -> bool:
        """Whether it has guessed the target."""
        return bool(self.feedback) and self.feedback[-1]


class Utterance(Struct, frozen=True, kw_only=True):
    """A report or a proposal."""

    sender: str
    message: JsonObject
    """As it was sent."""

    shown: JsonObject
    """As others hear it: without the reasoning where that is private."""

    heard_by: tuple[str, ...] | None
    """``None``: everybody, spectators included. Otherwise without its sender, in the order of the agents."""


class GameTally(Struct, frozen=True, kw_only=True):
    """What is counted during a game."""

    total_guesses: int = 0
    """Guesses of the action phases; initial ones do not count."""

    redundant_guesses: int = 0
    """Guesses that were in the agent's known-wrong set."""

    collisions: int = 0
    """Guesses of a step beyond the first of the same wrong number."""

    deviations: int = 0
    """Guesses other than the reported ``next_guess``."""

    missing_reports: int = 0
    report_mismatches: int = 0
    """Reports whose history contradicts what happened."""


class State(Struct, frozen=True, kw_only=True):
    """Everything about one game."""

    config: Config
    agent_ids: tuple[str, ...]
    target: int
    step: int
    """From 0."""

    phase: str
    """``reporting``, ``reasoning``, ``action`` or ``end``; nobody ever acts in ``observation``."""

    owing: tuple[str, ...]
    """Who owes an action, in the order of the agents."""

    seats: tuple[GuesserRecord, ...]
    """In the order of the agents, as are ``reported`` and ``sealed``."""

    log: tuple[Utterance, ...] = ()
    """The messages of the steps that are over."""

    public: tuple[JsonObject, ...] = ()
    """Those of them that everybody heard, as spectators see them."""

    said: tuple[Utterance, ...] = ()
    """The messages of this step."""

    reported: tuple[int | None, ...]
    """The ``next_guess`` of this step's reports."""

    sealed: tuple[int | None, ...]
    """The guesses of this step that are in."""

    steps_used: int = 0
    """Steps whose guesses were made."""

    reason: str | None = None
    """``success`` or ``failure``; ``None`` until the game is over."""

    tally: GameTally = GameTally()


SUCCESS = "success"
FAILURE = "failure"


def shown_of(message: JsonObject, config: Config) -> JsonObject:
    """A message as others hear it; the same object where nothing in it is private."""
    if config.share_reasoning or "reasoning" not in message or message["type"] != STATE_REPORT:
        return message
    return FrozenDict({key: value for key, value in message.items() if key != "reasoning"})


def heard_of(said: tuple[Utterance, ...], agent: str) -> list[JsonObject]:
    """What an agent heard or sent, in order."""
    return [
        each.message if each.sender == agent else each.shown
        for each in said
        if each.heard_by is None or each.sender == agent or agent in each.heard_by
    ]


def heard_by_all(said: tuple[Utterance, ...]) -> list[JsonObject]:
    """What everybody heard, in order."""
    return [each.shown for each in said if each.heard_by is None]
