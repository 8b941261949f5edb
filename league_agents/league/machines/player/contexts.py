"""The contexts of the player's callbacks (protocol 6.2). JSON values only: this is the border to user code."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from league_agents.games.q21.as_json import answers_as_json, brief_as_json, question_as_json
from league_agents.games.q21.callbacks import CallbackSpec
from league_agents.games.q21.model import NO_BRIEF, Scorecard
from league_agents.league.machines.player.game_state import LeagueGame
from league_agents.league.machines.reports import scorecard_as_json

Context = Mapping[str, object]


def player_context(
    spec: CallbackSpec,
    game: LeagueGame,
    *,
    left: timedelta | None,
    deadline: datetime | None,
    auth_token: str | None,
    required: int,
    scorecard: Scorecard | None = None,
) -> Context:
    """The context of a callback. ``left`` is the time that remains for it; ``None`` if no deadline was stated."""
    dynamic: dict[str, object] = {
        **_own(spec.name, game, required, scorecard),
        "match_id": game.game_id,
        "game_id": game.game_id,
        "season_id": game.season_id,
        "round_number": game.round_number,
        "referee_email": game.referee_email,
        "deadline": None if deadline is None else deadline.isoformat(),
        "auth_token": auth_token,
        "my_role": None if game.own_role is None else game.own_role.value.upper(),
        "opponent_email": game.opponent_email or None,
    }
    return {
        "dynamic": dynamic,
        "service": {**spec.service(left=left), "match_id": game.game_id, "game_id": game.game_id},
    }


def _own(callback: str, game: LeagueGame, required: int, scorecard: Scorecard | None) -> dict[str, object]:
    """The entries that only this callback gets."""
    if callback == "get_warmup_answer":
        return {"warmup_question": game.warmup_question}
    if callback == "on_score_received":
        return scorecard_as_json(scorecard) if scorecard else {}
    told: dict[str, object] = {**brief_as_json(game.brief or NO_BRIEF)}
    if callback == "get_questions":
        return {**told, "questions_required": required}
    return {
        **told,
        "answers": answers_as_json(game.answers),
        "questions_sent": [question_as_json(question) for question in game.questions],
    }
