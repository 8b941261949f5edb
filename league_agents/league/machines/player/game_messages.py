"""The messages that a player sends in a game, built from stored values only, so that they can be built again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from league_agents.games.q21.callbacks import CallbackSpec
from league_agents.games.q21.model import Guess
from league_agents.kit.values import evolve
from league_agents.league.machines.config import PlayerConfig
from league_agents.league.machines.player.game_state import OPEN_PHASES, GamePhase, LeagueGame, OpenRequest, SentReply
from league_agents.league.machines.turn import StepContext
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import GuessSubmission, Payload, QuestionsBatch, WarmupResponse


@dataclass(slots=True)
class PlayerTurn(StepContext):
    """The context of one step of a player."""

    config: PlayerConfig = field(kw_only=True)
    specs: Mapping[str, CallbackSpec] = field(kw_only=True)


_NO_GUESS = Guess(
    opening_sentence="", sentence_justification="", associative_word="", word_justification="", confidence=None
)


def resend_timer(game: LeagueGame) -> str:
    """The name of the deadline at which the guess is sent again."""
    return f"resend:{game.game_id}:"


def say(turn: PlayerTurn, game: LeagueGame, asked: OpenRequest, after: GamePhase) -> LeagueGame:
    """Send the reply to a request. The game never goes back to an earlier phase."""
    assert asked.reply is not None
    said = SentReply(
        kind=asked.reply,
        at=turn.now,
        auth_token=asked.auth_token,
        recipient_id=asked.recipient_id,
        deadline=asked.deadline,
        reply_to=asked.reply_to,
        correlation_id=asked.message_id,
    )
    phase = max(game.phase, after, key=OPEN_PHASES.index)
    game = evolve(game, phase=phase, said=(*game.said, said), last_sent=asked.reply.value)
    turn.send(game_message(turn, game, said), said.reply_to)
    return game


def say_again(turn: PlayerTurn, game: LeagueGame, kind: MessageType, request: Envelope | None) -> LeagueGame:
    """Send a stored reply again, in answer to the repeated ``request``; with ``None`` send the same message
    unprompted."""
    said = game.find_said(kind)
    if said is None:
        return game
    if request is None:
        turn.send(game_message(turn, game, said), said.reply_to, is_repeat=True)
        return evolve(game, resends=game.resends + 1)
    if said.repeats >= turn.config.repeat_limit:
        turn.warn("repeat_limit", f"{kind.value} of game {game.game_id} was repeated {said.repeats} times already")
        return game
    again = evolve(said, repeats=said.repeats + 1, reply_to=request.sender.email, correlation_id=request.message_id)
    turn.send(game_message(turn, game, again), again.reply_to, is_repeat=True)
    return evolve(game, said=tuple(again if each is said else each for each in game.said))


def game_message(turn: PlayerTurn, game: LeagueGame, said: SentReply) -> Envelope:
    """Build the reply that ``said`` describes."""
    return turn.envelope(
        said.kind,
        _payload(game, said),
        message_id=turn.uuid(said.kind.value, game.game_id, game.token),
        recipient_id=said.recipient_id,
        at=said.at,
        logical_id=game.own_group or None,
        correlation_id=said.correlation_id,
        game_id=game.game_id,
    )


def _payload(game: LeagueGame, said: SentReply) -> Payload:
    if said.kind is MessageType.Q21WARMUPRESPONSE:
        return WarmupResponse(answer=game.warmup_answer, auth_token=said.auth_token)
    if said.kind is MessageType.Q21QUESTIONSBATCH:
        return QuestionsBatch(questions=game.questions, auth_token=said.auth_token)
    return GuessSubmission(guess=game.guess or _NO_GUESS, auth_token=said.auth_token)
