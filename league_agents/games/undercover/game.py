"""Undercover on the ``Game`` protocol.

Rule: this class has no rules of its own. The rules are in ``moves``, ``flow`` and ``tally``, the views in ``view``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from league_agents.games.entry import check_agent_ids
from league_agents.games.game import (
    GAME_VERSION,
    HOST,
    SPECTATOR,
    Action,
    AgentId,
    Event,
    ForfeitCause,
    JsonObject,
    LegalAction,
    Mode,
    Outcome,
    Progress,
    Step,
)
from league_agents.games.undercover import record
from league_agents.games.undercover.announce import opening
from league_agents.games.undercover.config import (
    CONFIG_SCHEMA,
    LONGEST_DESCRIPTION,
    MAX_AGENTS,
    MIN_AGENTS,
    Settings,
)
from league_agents.games.undercover.flow import check, deal
from league_agents.games.undercover.moves import give_up, take
from league_agents.games.undercover.refusals import LONGEST_REASON, vote_choices
from league_agents.games.undercover.rules_text import rules_text
from league_agents.games.undercover.scoring import outcome_of
from league_agents.games.undercover.state import REVOTE_BALLOT, GameState, RoundPhase
from league_agents.games.undercover.view import view_for


class Undercover:
    """Who is the undercover."""

    code: str = "undercover"
    version: str = GAME_VERSION
    min_agents: int = MIN_AGENTS
    max_agents: int = MAX_AGENTS
    config_schema: JsonObject = CONFIG_SCHEMA
    protocol: str | None = None
    action_schemas: Mapping[str, JsonObject] = {
        "describe": {
            "type": "object",
            "required": ["description"],
            "additionalProperties": False,
            "properties": {"description": {"type": "string", "minLength": 1, "maxLength": LONGEST_DESCRIPTION}},
        },
        "vote": {
            "type": "object",
            "required": ["vote_number", "reason"],
            "additionalProperties": False,
            "properties": {
                "vote_number": {"type": ["integer", "null"]},
                "reason": {"type": "string", "minLength": 1, "maxLength": LONGEST_REASON},
            },
        },
    }

    def setup(self, config: JsonObject, agent_ids: Sequence[AgentId], seed: int) -> GameState:
        ids = check_agent_ids(agent_ids, MIN_AGENTS, MAX_AGENTS)
        return deal(Settings.read(config), ids, record.seed_from(seed))

    def opening(self, state: GameState) -> tuple[Event, ...]:
        return opening(state)

    def pending(self, state: GameState) -> tuple[AgentId, ...]:
        players = state.deal.players
        return tuple([players[player_id - 1].agent_id for player_id in state.due])

    def phase_mode(self, state: GameState) -> Mode:
        return Mode.SPOKEN if state.phase is RoundPhase.DESCRIPTION else Mode.SEALED

    def legal(self, state: GameState, agent: AgentId) -> tuple[LegalAction, ...]:
        player_id = state.deal.seats.get(agent)
        if player_id is None or player_id not in state.due:
            return ()
        # Built anew each time, because an agent in the same process may modify it.
        if state.phase is RoundPhase.DESCRIPTION:
            most = state.deal.settings.max_description
            properties: dict[str, Any] = {"description": {"type": "string", "minLength": 1, "maxLength": most}}
            required, kind = ["description"], "describe"
        else:
            properties = {
                "vote_number": {"enum": vote_choices(state, player_id)},
                "reason": {"type": "string", "minLength": 1, "maxLength": LONGEST_REASON},
            }
            required, kind = ["vote_number", "reason"], "vote"
        schema = {"type": "object", "required": required, "additionalProperties": False, "properties": properties}
        return (LegalAction(type=kind, schema=schema),)

    def apply(
        self, state: GameState, agent: AgentId, action: Action, heard_by: Sequence[AgentId] | None = None
    ) -> Step[GameState]:
        return _counted(take(state, agent, action, heard_by))

    def forfeit(self, state: GameState, agent: AgentId, cause: ForfeitCause) -> Step[GameState]:
        return _counted(give_up(state, agent, cause))

    def view(self, state: GameState, viewer: str) -> dict[str, Any]:
        return record.dump(state) if viewer == HOST else view_for(state, viewer)

    def info(self, state: GameState, viewer: str) -> Progress:
        return Progress(
            status="started" if state.winner is None else "ended",
            phase=state.phase.value,
            turn=state.round,
            stage=_stage(state, viewer),
            active_agent_ids=self.pending(state),
        )

    def outcome(self, state: GameState) -> Outcome | None:
        return outcome_of(state)

    def rounds(self, config: JsonObject) -> tuple[str, int]:
        return "max_rounds", Settings.read(config).max_rounds

    def rules_text(self, config: JsonObject, lang: str = "en") -> str:
        return rules_text(Settings.read(config), lang)

    def dump(self, state: GameState) -> dict[str, Any]:
        return record.dump(state)

    def load(self, dumped: JsonObject) -> GameState:
        return record.load(dumped)


def _counted(step: Step[GameState]) -> Step[GameState]:
    """Return the step followed by the check, if all votes are submitted."""
    if step.state.phase is not RoundPhase.CHECK:
        return step
    after = check(step.state)
    return Step(state=after.state, events=step.events + after.events)


def _stage(state: GameState, viewer: str) -> str:
    if state.winner is not None:
        return "done"
    player_id = None if viewer in (HOST, SPECTATOR) else state.deal.seats.get(viewer)
    if player_id is None or player_id not in state.living:
        return "watch"
    if player_id not in state.due:
        return "wait"
    if state.phase is RoundPhase.DESCRIPTION:
        return "describe"
    return "revote" if state.ballot == REVOTE_BALLOT else "vote"
