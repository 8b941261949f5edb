"""The interface of a game: a pure state machine that takes actions, returns views, and knows when it is over.

Rule 1: a game knows no clock, no file and no agent. Same configuration, agents, seed and ordered actions give the same
states and events, byte for byte.
Rule 2: nothing here changes its argument. After ``IllegalAction`` the caller's state is as it was.
Rule 3: a view is built field by field from what its viewer may know; it is never the state with things removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct

from league_agents.kit.errors import LeagueError

AgentId = str
"""``[A-Za-z0-9_.:-]{1,64}``, and none of the reserved names (arena 1.4)."""

JsonObject = Mapping[str, Any]
"""A JSON value: texts, numbers, truth values, ``None``, lists and mappings of these."""

HOST: Final = "host"
"""The viewer who sees everything: the session and its transcript."""

SPECTATOR: Final = "spectator"
"""The viewer who takes no part and sees only what is public."""

ALL: Final = "all"
"""The visibility of an event that everybody sees."""

Visibility = Literal["all", "host"] | tuple[AgentId, ...]

GAME_VERSION: Final = "1.0.0"

S = TypeVar("S")


class Mode(StrEnum):
    """How the actions of a phase are taken."""

    SPOKEN = "spoken"
    """In turn, as the interaction protocol allows; listeners hear each action at once."""

    SEALED = "sealed"
    """Simultaneously; nothing is shown until the last action is in."""


class ForfeitCause(StrEnum):
    """Why an agent forfeits a decision."""

    TIMEOUT = "timeout"
    INVALID = "invalid"
    DISCONNECTED = "disconnected"
    ERROR = "error"


class IllegalAction(LeagueError):
    """The action is not allowed."""

    def __init__(self, code: str, message: str, data: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code = code
        """One of the codes of the game's specification: ``not_pending``, ``invalid_data``, ``self_vote`` …"""

        self.message = message
        self.data: JsonObject = data or {}
        """Details as JSON values; ``{"errors": [{"path", "code", "message"}]}`` for ``invalid_data``."""


class Action(Struct, frozen=True, kw_only=True):
    """An action of an agent."""

    type: str
    data: JsonObject = msgspec.field(default_factory=dict)
    version: str = GAME_VERSION
    """The version of the game that the sender implements."""


class Event(Struct, frozen=True, kw_only=True):
    """Something that happened in a match, visible to some viewers."""

    kind: str
    visible_to: Visibility
    text: str
    """One line for people, in the match's language."""

    data: JsonObject = msgspec.field(default_factory=dict)

    seq: int = 0
    """From 1 in a match, without gaps for the host; games leave it at 0, the match assigns numbers."""


def is_visible(event: Event, viewer: str) -> bool:
    """Whether a viewer (an agent id, ``SPECTATOR`` or ``HOST``) may see an event."""
    return viewer == HOST or event.visible_to == ALL or (event.visible_to != HOST and viewer in event.visible_to)


class Step(Struct, Generic[S], frozen=True, kw_only=True):
    """The result of an action or of a forfeit."""

    state: S
    events: tuple[Event, ...] = ()


class LegalAction(Struct, frozen=True, kw_only=True):
    """An action that an agent may take now."""

    type: str
    schema: JsonObject
    """JSON Schema (2020-12) of the action's data."""

    choices: tuple[JsonObject, ...] | None = None
    """Every legal ``data`` if they are few enough to list; otherwise ``None``."""


class Progress(Struct, frozen=True, kw_only=True):
    """The progress of a game, as far as one viewer may know it."""

    status: Literal["started", "ended"]
    phase: str
    turn: int
    """Counts from 1: step + 1, round, or market round + 1 (arena 5.1)."""

    stage: str
    """The viewer's own stage: wait, report, propose, guess, describe, vote, revote, price, done, watch (arena 5.1)."""

    active_agent_ids: tuple[AgentId, ...]
    """Agents that owe an action, in the game's order."""


class Outcome(Struct, frozen=True, kw_only=True):
    """How a game ended."""

    winners: tuple[AgentId, ...]
    scores: Mapping[AgentId, float]
    reason: str
    metrics: JsonObject = msgspec.field(default_factory=dict)


class Game(Protocol[S]):
    """The rules of one game. Instances hold no state of any match and may be shared."""

    code: str
    version: str
    min_agents: int
    max_agents: int
    config_schema: JsonObject
    """JSON Schema (2020-12) of the configuration; every property has its ``default`` and ``description``."""

    action_schemas: Mapping[str, JsonObject]
    """Action type to JSON Schema of its data, loose enough for every match; ``legal`` gives the exact schema."""

    protocol: str | None
    """The type of the only interaction protocol that fits the game; ``None``: any protocol in which agents talk."""

    def setup(self, config: JsonObject, agent_ids: Sequence[AgentId], seed: int) -> S:
        """Return the first state. Raises ``ConfigError`` with the key path for a configuration that cannot be
        played."""
        ...

    def opening(self, state: S) -> tuple[Event, ...]:
        """Return the events before the first action, for a new state from ``setup``."""
        ...

    def pending(self, state: S) -> tuple[AgentId, ...]:
        """Return the agents that owe an action, in the game's preferred order; empty only when the game is over."""
        ...

    def phase_mode(self, state: S) -> Mode:
        """Return how the actions that are owed now are taken."""
        ...

    def legal(self, state: S, agent: AgentId) -> tuple[LegalAction, ...]:
        """Return the actions that the agent may take now; empty if it owes none."""
        ...

    def apply(self, state: S, agent: AgentId, action: Action, heard_by: Sequence[AgentId] | None = None) -> Step[S]:
        """Take an action. ``heard_by`` are the hearers of its public utterance; ``None`` means everybody.

        Raises ``IllegalAction``.
        """
        ...

    def forfeit(self, state: S, agent: AgentId, cause: ForfeitCause) -> Step[S]:
        """Go on without the action that the agent owes. Raises ``IllegalAction`` (``not_pending``) if it owes none."""
        ...

    def view(self, state: S, viewer: str) -> dict[str, Any]:
        """Return what a viewer (an agent id, ``SPECTATOR`` or ``HOST``) may know."""
        ...

    def info(self, state: S, viewer: str) -> Progress:
        """Return the progress of the game for a viewer."""
        ...

    def outcome(self, state: S) -> Outcome | None:
        """Return the outcome; ``None`` until the game is over."""
        ...

    def rounds(self, config: JsonObject) -> tuple[str, int] | None:
        """Return the configuration key that limits a match and the rounds of the protocol until the limit; ``None``: no
        limit."""
        ...

    def rules_text(self, config: JsonObject, lang: str = "en") -> str:
        """Return the rules as text, for the configuration in force. Languages: ``en``, ``zh``."""
        ...

    def dump(self, state: S) -> dict[str, Any]:
        """Return the whole state as JSON values; ``load(dump(state)) == state``."""
        ...

    def load(self, dumped: JsonObject) -> S:
        """Return the dumped state. Raises ``ConfigError`` for anything else."""
        ...
