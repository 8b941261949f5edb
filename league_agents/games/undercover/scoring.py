"""The winners and the metrics of a match (arena 3.2).

Rule: all players of the winning side win, eliminated ones included.
"""

from __future__ import annotations

from league_agents.games.game import ForfeitCause, JsonObject, Outcome
from league_agents.games.undercover.state import GameState, WordRole


def outcome_of(state: GameState) -> Outcome | None:
    """Return the outcome; ``None`` until the match is over."""
    if state.winner is None or state.reason is None:
        return None
    players = state.deal.players
    winners = tuple(player.agent_id for player in players if player.role is state.winner)
    return Outcome(
        winners=winners,
        scores={player.agent_id: 1.0 if player.role is state.winner else 0.0 for player in players},
        reason=state.reason.value,
        metrics=metrics_of(state),
    )


def metrics_of(state: GameState) -> JsonObject:
    """Return the metrics of a match, finished or not. Refusals are not part of a state; the runner counts them."""
    role = {player.player_id: player.role for player in state.deal.players}
    votes = [vote for ballot in state.ballots for vote in ballot.votes]
    aimed = [vote for vote in votes if vote.target_id is not None and role[vote.voter_id] is WordRole.CIVILIAN]
    right = sum(vote.target_id is not None and role[vote.target_id] is WordRole.UNDERCOVER for vote in aimed)
    found = [b.round for b in state.ballots if b.eliminated is not None and role[b.eliminated] is WordRole.UNDERCOVER]
    causes = [entry.cause for entry in state.said] + [vote.cause for vote in votes]
    return {
        "rounds": state.round,
        "civilian_votes_on_undercover": round(right / len(aimed), 4) if aimed else None,
        "first_undercover_out_round": min(found, default=None),
        "blanks": sum(not entry.description for entry in state.said),
        "abstentions": sum(vote.target_id is None for vote in votes),
        "forfeits": {cause.value: causes.count(cause) for cause in ForfeitCause if cause in causes},
    }
