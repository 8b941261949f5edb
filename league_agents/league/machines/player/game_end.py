"""The end of a game for a player: scored, cut off, or dropped (protocol 4.5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from league_agents.games.q21.as_json import answers_as_json, guess_as_json, question_as_json
from league_agents.games.q21.model import Termination
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Record, ReleaseAgent
from league_agents.league.machines.player.game_messages import PlayerTurn
from league_agents.league.machines.player.game_state import GamePhase, LeagueGame
from league_agents.league.machines.reports import scorecard_as_json
from league_agents.league.machines.turn import MANAGER_ID, for_an_id
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import PlayerReport, PlayerReportStatus

_REASONS: Mapping[Termination, str] = MappingProxyType(
    {
        Termination.COMPLETED: "GAME_COMPLETED",
        Termination.NEW_ROUND_STARTED: "NEW_ROUND_STARTED",
        Termination.END_ROUND_RECEIVED: "END_ROUND_RECEIVED",
        Termination.LEAGUE_COMPLETED: "LEAGUE_COMPLETED",
    }
)


def close_game(turn: PlayerTurn, game: LeagueGame, termination: Termination) -> LeagueGame:
    """Close an open game, report it to the league manager, and record it. A scored game keeps its agent for the last
    callback."""
    before = game.phase
    is_completed = termination is Termination.COMPLETED
    closed = evolve(
        game,
        phase=GamePhase.COMPLETED if is_completed else GamePhase.TERMINATED,
        asked=(),
        timers=turn.clear_timers(game.timers),
    )
    # A game that no assignment table names is not reported: a stranger may have invented it.
    if turn.config.sends_player_report and termination in _REASONS and game.own_role is not None:
        _report(turn, closed, before, termination)
    facts = _facts(closed, before)
    turn.effects.append(Record(kind="game", key=game.game_id, termination=termination, facts=facts))
    if not is_completed:
        turn.effects.append(ReleaseAgent(game_id=game.game_id))
    return closed


def forget_game(turn: PlayerTurn, game: LeagueGame) -> None:
    """Drop a closed game."""
    if game.asked:
        turn.effects.append(ReleaseAgent(game_id=game.game_id))


def _report(turn: PlayerTurn, game: LeagueGame, before: GamePhase, termination: Termination) -> None:
    is_completed = termination is Termination.COMPLETED
    card = game.scorecard
    has_acted = not is_completed and before is not GamePhase.INITIALIZED
    report = PlayerReport(
        status=PlayerReportStatus.COMPLETED if is_completed else PlayerReportStatus.TERMINATED,
        phase_at_termination=(GamePhase.COMPLETED if is_completed else before).value,
        last_actor="PLAYER" if has_acted else "NONE",
        reason=_REASONS[termination],
        round_number=game.round_number,
        last_message_sent=game.last_sent,
        last_message_received=game.last_received,
        reported_at=turn.now,
        league_points=card.league_points if card else None,
        private_score=card.private_score if card else None,
        breakdown=card.breakdown if card else None,
    )
    tail = turn.hex("preport", game.game_id, game.token)
    turn.tell_manager(
        turn.envelope(
            MessageType.MATCH_RESULT_REPORT,
            report,
            message_id=f"preport-{game.game_id}-{for_an_id(game.own_group or turn.identity.participant_id)}-{tail}",
            recipient_id=MANAGER_ID,
            logical_id=game.own_group or None,
            league_id=game.league_id or None,
            season_id=game.season_id or None,
            game_id=game.game_id,
        ),
        game_id=game.game_id,
    )


def _facts(game: LeagueGame, before: GamePhase) -> Mapping[str, object]:
    brief, card = game.brief, game.scorecard
    return {
        "game_id": game.game_id,
        "season_id": game.season_id,
        "round_number": game.round_number,
        "role": None if game.own_role is None else game.own_role.value,
        "referee_email": game.referee_email,
        "opponent_email": game.opponent_email,
        "phase": before.value,
        "book_name": brief.book_name if brief else None,
        "questions": [question_as_json(question) for question in game.questions],
        "answers": answers_as_json(game.answers),
        "guess": None if game.guess is None else guess_as_json(game.guess),
        "scorecard": None if card is None else scorecard_as_json(card),
    }
