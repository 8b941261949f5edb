"""The state of one game of guess number (arena 2.2).

Rule: states are frozen and every change makes a new one. Messages are frozen JSON, so views share them with the state.
"""

from __future__ import annotations

from msgspec import Struct

from league_agents.games.game import JsonObject
from league_agents.games.guess_number.config import Config
from league_agents.games.guess_number.protocol import STATE_REPORT
from league_agents.kit.frozen import FrozenDict


class GuesserRecord(Struct, frozen=True, kw_only=True):
    """One agent's guesses, feedback and messages."""

    guesses: tuple[int, ...] = ()
    """Its judged guesses, the initial one first."""

    feedback: tuple[bool, ...] = ()
    """Whether each guess was right. Only the last one can be: an agent that is right stops guessing."""

    last_guess: int | None = None
    """Subject of its next observation; ``None`` if it made no guess in the previous step."""

    said_wrong: frozenset[int] = frozenset()
    """Numbers that reports it heard call wrong."""

    said_right: frozenset[int] = frozenset()
    """Numbers that reports it heard call right."""

    heard: tuple[JsonObject, ...] = ()
    """The messages that it heard or sent in completed steps."""

    @property
    def is_correct(self) -> bool:
        """Whether it has guessed the target."""
        return bool(self.feedback) and self.feedback[-1]


class Utterance(Struct, frozen=True, kw_only=True):
    """A report or a proposal."""

    sender: str
    message: JsonObject
    """The message as it was sent."""

    shown: JsonObject
    """The message as others hear it: without the reasoning if that is private."""

    heard_by: tuple[str, ...] | None
    """Hearers in the order of the agents, without the sender; ``None``: everybody, spectators included."""


class GameTally(Struct, frozen=True, kw_only=True):
    """Counters of one game."""

    total_guesses: int = 0
    """Guesses of the action phases; initial ones do not count."""

    redundant_guesses: int = 0
    """Guesses that were in the agent's known-wrong set."""

    collisions: int = 0
    """Guesses of a wrong number that another agent guessed in the same step, not counting the first guess of it."""

    deviations: int = 0
    """Guesses other than the reported ``next_guess``."""

    missing_reports: int = 0
    report_mismatches: int = 0
    """Reports whose history contradicts the actual one."""


class State(Struct, frozen=True, kw_only=True):
    """The state of one game."""

    config: Config
    agent_ids: tuple[str, ...]
    target: int
    step: int
    """Counts from 0."""

    phase: str
    """``reporting``, ``reasoning``, ``action`` or ``end``; no agent acts in ``observation``."""

    owing: tuple[str, ...]
    """Agents that owe an action, in the order of the agents."""

    seats: tuple[GuesserRecord, ...]
    """In the order of the agents, as are ``reported`` and ``sealed``."""

    log: tuple[Utterance, ...] = ()
    """The messages of completed steps."""

    public: tuple[JsonObject, ...] = ()
    """Messages of ``log`` that everybody heard, as spectators see them."""

    said: tuple[Utterance, ...] = ()
    """The messages of this step."""

    reported: tuple[int | None, ...]
    """The ``next_guess`` of this step's reports."""

    sealed: tuple[int | None, ...]
    """The guesses submitted so far in this step."""

    steps_used: int = 0
    """Steps in which guesses were made."""

    reason: str | None = None
    """``success`` or ``failure``; ``None`` until the game is over."""

    tally: GameTally = GameTally()


SUCCESS = "success"
FAILURE = "failure"


def shown_of(message: JsonObject, config: Config) -> JsonObject:
    """Return a message as others hear it; the same object if nothing in it is private."""
    if config.share_reasoning or "reasoning" not in message or message["type"] != STATE_REPORT:
        return message
    return FrozenDict({key: value for key, value in message.items() if key != "reasoning"})


def heard_of(said: tuple[Utterance, ...], agent: str) -> list[JsonObject]:
    """Return the messages that an agent heard or sent, in order."""
    return [
        each.message if each.sender == agent else each.shown
        for each in said
        if each.heard_by is None or each.sender == agent or agent in each.heard_by
    ]


def heard_by_all(said: tuple[Utterance, ...]) -> list[JsonObject]:
    """Return the messages that everybody heard, in order."""
    return [each.shown for each in said if each.heard_by is None]
