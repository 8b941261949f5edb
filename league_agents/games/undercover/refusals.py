"""The refusals of forbidden actions, and their texts (arena 3.2).

Rule: a refusal reveals nothing beyond the receiver's view: repeats are compared with what he heard, words with his own.
"""

from __future__ import annotations

from typing import Any, Final

from league_agents.games.entry import EntryReader
from league_agents.games.game import AgentId, IllegalAction, JsonObject
from league_agents.games.undercover.own_word import reveals
from league_agents.games.undercover.state import GameState, PlayerId, RoundPhase
from league_agents.games.undercover.texts import said
from league_agents.kit.likeness import comparable

LONGEST_REASON: Final = 4000

_OWED: Final = {RoundPhase.DESCRIPTION: "describe", RoundPhase.VOTING: "vote"}
_DESCRIBE_KEYS: Final = ("description",)
_VOTE_KEYS: Final = ("vote_number", "reason")


def refused(state: GameState, code: str, sentence: str | None = None, **values: object) -> IllegalAction:
    """Return the refusal ``code`` in the match's language."""
    return IllegalAction(code, said(state.deal.settings.lang, f"refused.{sentence or code}", **values))


def seat_that_owes(state: GameState, agent: AgentId, action: str | None) -> PlayerId:
    """Return the seat of an agent that owes this action, or any action for ``None``. Raises ``IllegalAction``."""
    if state.winner is not None:
        raise refused(state, "match_over")
    player_id = state.deal.seats.get(agent)
    if player_id is None:
        raise refused(state, "not_pending", "not_a_player")
    if player_id not in state.due or (action is not None and _OWED.get(state.phase) != action):
        raise refused(state, "not_pending", "not_now" if player_id in state.living else "dead")
    return player_id


def read_description(state: GameState, player_id: PlayerId, given: JsonObject) -> str:
    """Return a permitted description. Raises ``IllegalAction``."""
    settings = state.deal.settings
    raw = given.get("description")
    # A text that is far too long is refused before any slower check.
    if isinstance(raw, str) and len(raw) > 4 * settings.max_description + 64:
        raise refused(state, "too_long", most=settings.max_description)
    entry = EntryReader(given)
    text = entry.text("description", most=10 * settings.max_description + 1000)
    if len(given) > 1:
        entry.only(_DESCRIBE_KEYS)
    entry.done()
    description = (text or "").strip()
    key = comparable(description)
    if not key:
        raise refused(state, "empty_description")
    if len(description) > settings.max_description:
        raise refused(state, "too_long", most=settings.max_description)
    player = state.deal.players[player_id - 1]
    if settings.reject_own_word and reveals(player.word, description):
        raise refused(state, "reveals_own_word")
    if settings.reject_repeats and any(
        entry.key == key
        and (entry.heard_by is None or entry.player_id == player_id or player.agent_id in entry.heard_by)
        for entry in state.said
    ):
        raise refused(state, "repeated_description")
    return description


def read_vote(state: GameState, player_id: PlayerId, given: JsonObject) -> tuple[PlayerId | None, str]:
    """Return the target (``None`` to abstain) and the reason. Raises ``IllegalAction``."""
    entry = EntryReader(given)
    number: Any = None
    if given.get("vote_number", player_id) is not None:
        number = entry.integer("vote_number")
    reason = entry.text("reason", most=LONGEST_REASON, default="")
    if len(given) > 2:
        entry.only(_VOTE_KEYS)
    entry.done()
    wrong = _wrong_target(state, player_id, number)
    if wrong is not None:
        numbers = [str(choice) for choice in vote_choices(state, player_id) if choice is not None]
        if state.deal.settings.allow_abstain:
            numbers.append("null")
        raise refused(state, wrong, choices=", ".join(numbers))
    reason = (reason or "").strip()
    if not reason:
        raise refused(state, "missing_reason")
    return number, reason


def vote_choices(state: GameState, player_id: PlayerId) -> list[PlayerId | None]:
    """Return the players that a player may vote for, in seat order, and ``None`` at the end if abstaining is
    allowed."""
    choices: list[PlayerId | None] = [other for other in state.candidates or state.living if other != player_id]
    if state.deal.settings.allow_abstain:
        choices.append(None)
    return choices


def _wrong_target(state: GameState, player_id: PlayerId, target_id: int | None) -> str | None:
    if target_id is None:
        return None if state.deal.settings.allow_abstain else "abstain_not_allowed"
    if not 1 <= target_id <= len(state.deal.players):
        return "unknown_target"
    if target_id not in state.living:
        return "dead_target"
    if target_id == player_id:
        return "self_vote"
    if state.candidates and target_id not in state.candidates:
        return "not_a_candidate"
    return None
