"""The state of one match of Q21 around a table.

Rule: the first seat is the referee's, the other two are the players'. One player's questions, answers and guess are
known to that player and the referee alone until the match is over; the target is known to the referee alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec
from pydantic import Field, WithJsonSchema

from league_agents.games.configuration import GameConfig
from league_agents.games.game import JsonObject
from league_agents.games.people import check_names
from league_agents.games.q21.flow import PlayerRun, RefereedMatch, SeatPhase
from league_agents.games.q21.rule_file import rule_set_from
from league_agents.games.q21.rules import BUILT_IN, PRD, RuleSet
from league_agents.kit.errors import ConfigError
from league_agents.kit.frozen import FrozenDict
from league_agents.kit.values import evolve


class TableConfig(GameConfig):
    """The configuration of a match."""

    rules: Annotated[
        Any,
        WithJsonSchema({"type": ["string", "object"]}),
    ] = Field(PRD.name, description="prd, course, or a mapping of rules (league-agents rules shows the keys)")

    def rule_set(self) -> RuleSet:
        """Return the rules that are named or described. Raises ``ConfigError``."""
        if not isinstance(self.rules, str):
            return rule_set_from(self.rules, path="rules")
        if self.rules not in BUILT_IN:
            raise ConfigError("rules", f"must be {' or '.join(BUILT_IN)}, or a mapping of rules")
        return BUILT_IN[self.rules]


class TablePhase(StrEnum):
    """The submissions that are owed."""

    BRIEF = "brief"
    QUESTIONS = "questions"
    ANSWERS = "answers"
    GUESSES = "guesses"
    OVER = "over"


class TablePlayer(PlayerRun, frozen=True, kw_only=True):
    """One player's game."""

    agent_id: str

    forfeit: str | None = None
    """Cause for which this player is out (a ``Cause``); ``None`` while it plays."""


class TableMatch(RefereedMatch, frozen=True, kw_only=True):
    """The whole match; only the host may see all of it."""

    rules: RuleSet
    referee: str
    player1: TablePlayer
    player2: TablePlayer
    lang: str = "en"
    names: Mapping[str, str] = msgspec.field(default_factory=FrozenDict)
    """Agent id to name for the events' texts; an agent without a name is shown by its id."""

    unanswered: tuple[str, ...] = ()
    """Players whose answers the referee forfeited: all of them count as Not Relevant."""

    reason: str = ""
    """How the match ended: ``completed`` or ``no_brief``; empty while it runs."""

    @property
    def phase(self) -> TablePhase:
        """The phase of the slower player: a phase closes when both players have completed it."""
        if self.reason:
            return TablePhase.OVER
        if self.brief is None:
            return TablePhase.BRIEF
        reached = {seat.phase for seat in self.seats}
        return next((phase for at, phase in _OWED if at in reached), TablePhase.OVER)

    @property
    def seats(self) -> tuple[TablePlayer, TablePlayer]:
        return (self.player1, self.player2)

    @property
    def players(self) -> tuple[str, str]:
        return (self.player1.agent_id, self.player2.agent_id)

    def called(self, agent_id: str) -> str:
        """Return an agent's name for texts."""
        return self.names.get(agent_id, agent_id)

    def place_of(self, agent_id: str) -> int | None:
        """Return 0 or 1 for a player, ``None`` for any other agent."""
        players = self.players
        return players.index(agent_id) if agent_id in players else None


_OWED: Final = (
    (SeatPhase.STARTED, TablePhase.QUESTIONS),
    (SeatPhase.QUESTIONED, TablePhase.ANSWERS),
    (SeatPhase.ANSWERED, TablePhase.GUESSES),
)


def table_from(config: JsonObject, referee: str, one: str, two: str) -> TableMatch:
    """Return a new table for a configuration. Raises ``ConfigError``."""
    found = TableConfig.read(config)
    check_names(found.names, (referee, one, two))
    # A table needs no warm-up.
    player1, player2 = (TablePlayer(agent_id=agent_id, phase=SeatPhase.WARMED_UP) for agent_id in (one, two))
    return TableMatch(
        rules=found.rule_set(),
        referee=referee,
        player1=player1,
        player2=player2,
        lang=found.lang,
        names=found.names,
    )


def dump_table(table: TableMatch) -> dict[str, Any]:
    """Return the match as JSON values."""
    dumped: dict[str, Any] = msgspec.to_builtins(table)
    return dumped


def load_table(dumped: JsonObject) -> TableMatch:
    """Return the dumped match. Raises ``ConfigError`` for anything else."""
    try:
        table = msgspec.convert(dumped, TableMatch)
    except msgspec.ValidationError as error:
        raise ConfigError("state", f"is no match of q21: {error}") from None
    return evolve(table, names=FrozenDict(table.names))
