"""A whole match as JSON values, and back (arena 3.2).

Rule: a record is read by replaying it. The result has therefore kept every rule of the game, and a record that differs
from the replayed match is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from league_agents.games.entry import check_agent_ids
from league_agents.games.game import Event, ForfeitCause, IllegalAction, JsonObject, Step
from league_agents.games.undercover.announce import opening, public_votes
from league_agents.games.undercover.config import MAX_AGENTS, MIN_AGENTS, Settings
from league_agents.games.undercover.flow import cast, check, deal, describe
from league_agents.games.undercover.refusals import read_description, read_vote, seat_that_owes
from league_agents.games.undercover.state import Ballot, Description, GameState, RoundPhase, Vote
from league_agents.games.undercover.view import elimination_history
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.kit.written import WrittenMapping, read_written


def dump(state: GameState) -> dict[str, Any]:
    """Return the whole state, host-only parts included, under the game's public key names."""
    table, settings = state.deal, state.deal.settings
    return {
        "config": settings.as_json(),
        "seed": table.seed,
        "round": state.round,
        "phase": state.phase.value,
        "ballot": state.ballot,
        "candidates": list(state.candidates),
        "speaking_order": list(state.order),
        "players": [
            {
                "player_id": player.player_id,
                "agent_id": player.agent_id,
                "name": player.name,
                "role": player.role.value,
                "word": player.word,
                "alive": player.player_id in state.living,
                "description_history": [
                    entry.description for entry in state.said if entry.player_id == player.player_id
                ],
                "votes_received": sum(
                    count for ballot in state.ballots for target, count in ballot.tally if target == player.player_id
                ),
            }
            for player in table.players
        ],
        "num_players": len(table.players),
        "num_undercover": settings.num_undercover,
        "word_pair": {role.value: word for role, word in table.words.items()},
        "current_descriptions": [_said(state, entry) for entry in state.said if entry.round == state.round],
        "current_votes": [_vote(vote) for vote in state.current_votes],
        "all_votes_history": [_ballot(state, ballot) for ballot in state.ballots],
        "eliminated_players": list(state.eliminated),
        "elimination_history": elimination_history(state, show_roles=True),
        "winner": None if state.winner is None else state.winner.value,
        "reason": None if state.reason is None else state.reason.value,
        "game_over": state.winner is not None,
        "conversation_history": _conversation(state),
    }


class StoredPart(WrittenMapping):
    """The fields that reading needs; the other fields of a record follow from them and are compared."""

    model_config = ConfigDict(extra="ignore")


class StoredPlayer(StoredPart):
    """The stored form of one seat."""

    agent_id: str


class StoredEntry(StoredPart):
    """The stored form of a description, a vote or a result of a vote."""

    kind: Literal["description", "vote", "votes_revealed"]
    player_id: int = 0
    voter_id: int = 0
    description: Any = ""
    target_id: Any = None
    reason: Any = ""
    heard_by: list[str] | None = None
    cause: Annotated[ForfeitCause, Field(strict=False)] | None = None


class StoredMatch(StoredPart):
    """The stored form of a match."""

    config: Any
    seed: Annotated[int, Field(ge=-(1 << 63), le=(1 << 64) - 1)]
    players: list[StoredPlayer]
    conversation_history: list[StoredEntry]


def load(dumped: JsonObject) -> GameState:
    """Return the dumped state. Raises ``ConfigError`` for anything else."""
    return replayed(dumped)[0]


def replayed(dumped: JsonObject) -> tuple[GameState, tuple[Event, ...]]:
    """Return the dumped state and the events that led to it, numbered from 1. Raises ``ConfigError``."""
    stored = read_written(StoredMatch, dumped, "")
    settings = Settings.read(stored.config)
    agent_ids = check_agent_ids([player.agent_id for player in stored.players], MIN_AGENTS, MAX_AGENTS)
    state = deal(settings, agent_ids, stored.seed)
    events = list(opening(state))

    def take(step: Step[GameState]) -> GameState:
        events.extend(step.events)
        return step.state

    for place, entry in enumerate(stored.conversation_history):
        path = f"conversation_history[{place}]"
        try:
            if entry.kind == "description":
                state = take(_described(state, path, entry))
            elif entry.kind == "vote":
                state = take(_voted(state, path, entry))
            elif state.phase is RoundPhase.CHECK:
                state = take(check(state))
            else:
                raise ConfigError(f"{path}.kind", f"does not follow there: {shown(entry.kind)}")
        except IllegalAction as refused:
            raise ConfigError(path, f"breaks the rules: {refused}") from refused
    made = dump(state)
    for key, value in made.items():
        if dumped.get(key) != value:
            raise ConfigError(key, "is not what the conversation_history of this state leads to")
    for key in dumped:
        if key not in made:
            raise ConfigError(shown(key).strip("'"), "is unknown in a state of undercover")
    return state, tuple(evolve(event, seq=number) for number, event in enumerate(events, 1))


def seed_from(given: object) -> int:
    """Return a seed: any 64-bit integer. Raises ``ConfigError``."""
    if type(given) is not int or not -(1 << 63) <= given < 1 << 64:
        raise ConfigError("seed", f"must be a 64-bit integer, found {shown(given)}")
    return given


def _described(state: GameState, path: str, entry: StoredEntry) -> Step[GameState]:
    player_id = _seated(state, f"{path}.player_id", entry.player_id, "describe")
    if entry.cause is not None:
        return describe(state, player_id, "", None, entry.cause)
    description = read_description(state, player_id, {"description": entry.description})
    return describe(state, player_id, description, entry.heard_by)


def _voted(state: GameState, path: str, entry: StoredEntry) -> Step[GameState]:
    voter_id = _seated(state, f"{path}.voter_id", entry.voter_id, "vote")
    if entry.cause is not None:
        return cast(state, voter_id, None, "", entry.cause)
    target_id, reason = read_vote(state, voter_id, {"vote_number": entry.target_id, "reason": entry.reason})
    return cast(state, voter_id, target_id, reason)


def _seated(state: GameState, path: str, seat: int, action: str) -> int:
    if not 1 <= seat <= len(state.deal.players):
        raise ConfigError(path, f"must be the number of a seat, found {seat}")
    return seat_that_owes(state, state.deal.players[seat - 1].agent_id, action)


def _conversation(state: GameState) -> list[dict[str, Any]]:
    """Return every message of the match as announced, each round's descriptions before its votes."""
    spoken = iter(state.said)
    waiting = next(spoken, None)
    history: list[dict[str, Any]] = []
    for ballot in state.ballots:
        while waiting is not None and waiting.round <= ballot.round:
            history.append({"kind": "description", **_said(state, waiting)})
            waiting = next(spoken, None)
        history += ({"kind": "vote", "round": ballot.round, "ballot": ballot.number, **_vote(v)} for v in ballot.votes)
        revealed = _ballot(state, ballot)
        del revealed["votes"]
        history.append({"kind": "votes_revealed", **revealed})
    while waiting is not None:
        history.append({"kind": "description", **_said(state, waiting)})
        waiting = next(spoken, None)
    history += (
        {"kind": "vote", "round": state.round, "ballot": state.ballot, **_vote(vote)} for vote in state.current_votes
    )
    return history


def _said(state: GameState, entry: Description) -> dict[str, Any]:
    player = state.deal.players[entry.player_id - 1]
    return {
        "round": entry.round,
        "player_id": entry.player_id,
        "name": player.name,
        "role": player.role.value,
        "description": entry.description,
        "heard_by": None if entry.heard_by is None else list(entry.heard_by),
        "cause": None if entry.cause is None else entry.cause.value,
    }


def _vote(vote: Vote) -> dict[str, Any]:
    cause = None if vote.cause is None else vote.cause.value
    return {"voter_id": vote.voter_id, "target_id": vote.target_id, "reason": vote.reason, "cause": cause}


def _ballot(state: GameState, ballot: Ballot) -> dict[str, Any]:
    votes = public_votes(state.deal, ballot)
    for shown_vote, vote in zip(votes, ballot.votes, strict=True):
        shown_vote["reason"] = vote.reason
        shown_vote["cause"] = None if vote.cause is None else vote.cause.value
    return {
        "round": ballot.round,
        "ballot": ballot.number,
        "votes": votes,
        "tally": {str(player_id): count for player_id, count in ballot.tally},
        "how": ballot.how.value,
        "eliminated": ballot.eliminated,
    }
