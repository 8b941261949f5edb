"""One decision of one player: read the action, then refuse or apply it.

Rule: a refused decision changes nothing. Counting the votes is not part of the last vote; ``flow.check`` does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from league_agents.games.game import GAME_VERSION, Action, AgentId, ForfeitCause, Step
from league_agents.games.undercover.flow import cast, describe
from league_agents.games.undercover.refusals import read_description, read_vote, refused, seat_that_owes
from league_agents.games.undercover.state import GameState, RoundPhase

ACTIONS: Final = ("describe", "vote")

_MAJOR: Final = GAME_VERSION.split(".", maxsplit=1)[0]


def take(
    state: GameState, agent: AgentId, action: Action, heard_by: Sequence[AgentId] | None = None
) -> Step[GameState]:
    """Apply an action. Raises ``IllegalAction``."""
    if action.version.split(".", maxsplit=1)[0] != _MAJOR:
        raise refused(state, "unsupported_game_version", version=GAME_VERSION)
    if action.type not in ACTIONS:
        raise refused(state, "unknown_action")
    player_id = seat_that_owes(state, agent, action.type)
    if action.type == "describe":
        return describe(state, player_id, read_description(state, player_id, action.data), heard_by)
    target_id, reason = read_vote(state, player_id, action.data)
    return cast(state, player_id, target_id, reason)


def give_up(state: GameState, agent: AgentId, cause: ForfeitCause) -> Step[GameState]:
    """Replace a missing action by silence or an abstention. Raises ``IllegalAction`` if none is owed."""
    player_id = seat_that_owes(state, agent, None)
    if state.phase is RoundPhase.DESCRIPTION:
        return describe(state, player_id, "", None, cause)
    return cast(state, player_id, None, "", cause)
