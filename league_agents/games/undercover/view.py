"""The views of a player, an eliminated player and a spectator (arena 3.3).

Rule: a view is built field by field. It contains only the parts of the state named here, lists are in seat order, and
every part is a copy that the receiver may modify.
"""

from __future__ import annotations

from typing import Any

from league_agents.games.undercover.announce import public_votes
from league_agents.games.undercover.state import Description, GameState, PlayerId


def view_for(state: GameState, viewer: str) -> dict[str, Any]:
    """Return the view of an agent; any other name gets the spectator's view."""
    deal, settings = state.deal, state.deal.settings
    open_at_end = state.winner is not None and settings.reveal_at_end
    me = deal.seats.get(viewer)
    heard = [
        entry
        for entry in state.said
        if entry.heard_by is None or entry.player_id == me or (me is not None and viewer in entry.heard_by)
    ]
    histories: list[list[str]] = [[] for _ in deal.players]
    for entry in heard:
        histories[entry.player_id - 1].append(entry.description)
    received = [0] * (len(deal.players) + 1)
    for ballot in state.ballots:
        for player_id, count in ballot.tally:
            received[player_id] += count
    living = state.living
    players: list[dict[str, Any]] = [
        {
            "player_id": (player_id := player.player_id),
            "agent_id": player.agent_id,
            "name": player.name,
            "alive": player_id in living,
            "description_history": histories[player_id - 1],
            "votes_received": received[player_id],
        }
        for player in deal.players
    ]
    view: dict[str, Any] = {
        "round": state.round,
        "phase": state.phase.value,
        "lang": settings.lang,
        "max_rounds": settings.max_rounds,
        "me": None if me is None else _own(state, me, open_at_end),
        "players": players,
        "num_players": len(deal.players),
        "current_descriptions": _current(state, heard),
        "candidates": list(state.candidates),
        "votes_in": len(state.current_votes),
        "all_votes_history": _votes_history(state, open_at_end),
        "eliminated_players": list(state.eliminated),
        "elimination_history": elimination_history(state, show_roles=settings.reveal == "role" or open_at_end),
        "winner": None if state.winner is None else state.winner.value,
        "game_over": state.winner is not None,
    }
    if settings.announce_counts:
        view["num_undercover"] = settings.num_undercover
    if open_at_end:
        for shown, player in zip(players, deal.players, strict=True):
            shown["role"] = player.role.value
            shown["word"] = player.word
        view["word_pair"] = {role.value: word for role, word in deal.words.items()}
    return view


def elimination_history(state: GameState, *, show_roles: bool) -> list[dict[str, Any]]:
    """Return the result of each round's vote; ``player_id`` is ``None`` if nobody is out. A tie that led to a revote is
    not final and is left out."""
    history = []
    for ballot in state.ballots:
        if ballot.how == "revote":
            continue
        out = ballot.eliminated
        entry: dict[str, Any] = {
            "round": ballot.round,
            "player_id": out,
            "votes": max([count for _, count in ballot.tally], default=0),
            "how": ballot.how.value,
        }
        if show_roles and out is not None:
            entry["role"] = state.deal.players[out - 1].role.value
        history.append(entry)
    return history


def _own(state: GameState, me: PlayerId, open_at_end: bool) -> dict[str, Any]:
    player = state.deal.players[me - 1]
    votes = [
        {"round": ballot.round, "ballot": ballot.number, "target_id": vote.target_id, "reason": vote.reason}
        for ballot in state.ballots
        for vote in ballot.votes
        if vote.voter_id == me
    ]
    votes += [
        {"round": state.round, "ballot": state.ballot, "target_id": vote.target_id, "reason": vote.reason}
        for vote in state.current_votes
        if vote.voter_id == me
    ]
    own: dict[str, Any] = {
        "player_id": me,
        "name": player.name,
        "word": player.word,
        "alive": me in state.living,
        "votes_cast": votes,
    }
    if state.deal.settings.know_own_role or open_at_end:
        own["role"] = player.role.value
    return own


def _current(state: GameState, heard: list[Description]) -> list[dict[str, Any]]:
    players, now = state.deal.players, state.round
    current = []
    for entry in reversed(heard):
        if entry.round != now:
            break
        current.append(
            {
                "round": now,
                "player_id": entry.player_id,
                "name": players[entry.player_id - 1].name,
                "description": entry.description,
            }
        )
    current.reverse()
    return current


def _votes_history(state: GameState, open_at_end: bool) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = []
    for ballot in state.ballots:
        votes = public_votes(state.deal, ballot)
        if open_at_end:
            for shown, vote in zip(votes, ballot.votes, strict=True):
                shown["reason"] = vote.reason
        history.append({"round": ballot.round, "ballot": ballot.number, "votes": votes})
    return history
