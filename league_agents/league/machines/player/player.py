"""The player of a league, which answers every request of its referees, in several games at once if necessary.

Rule 1: a game belongs to one referee: the one in the assignment table, or without a table the first one that sent a
request. A game that another sender began before the table arrived ends when it arrives (protocol 2.6).
Rule 2: all data are keyed by game id; games are independent of each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec import Struct

from league_agents.games.q21.callbacks import CallbackSpec, callback_specs
from league_agents.games.q21.model import Termination
from league_agents.kit.ids import GameId, round_of
from league_agents.kit.tables import Transition
from league_agents.kit.values import evolve
from league_agents.league.machines.config import PlayerConfig
from league_agents.league.machines.effects import Effect
from league_agents.league.machines.events import (
    CallbackFailed,
    CallbackReturned,
    DeadlinePassed,
    Event,
    MessageArrived,
    OperatorCommand,
    SentLate,
    Started,
)
from league_agents.league.machines.participant.desk import GameOrder, Ordered
from league_agents.league.machines.participant.held import Held, hold, load_held, participant_parts
from league_agents.league.machines.participant.league_state import Fixture, League, LeagueState, load_league, state_name
from league_agents.league.machines.participant.participant import LEAGUE, manager_message
from league_agents.league.machines.player.game_end import close_game, forget_game
from league_agents.league.machines.player.game_messages import PlayerTurn
from league_agents.league.machines.player.game_play import (
    call_ended,
    deadline_passed,
    game_transitions,
    message_arrived,
)
from league_agents.league.machines.player.game_state import LeagueGame
from league_agents.league.machines.stored import add_apart, changed, dump, load, rejoined, with_entry
from league_agents.league.wire.address import address_key
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import AssignmentRole

REFEREE_TYPES = frozenset(
    {
        MessageType.Q21WARMUPCALL,
        MessageType.Q21ROUNDSTART,
        MessageType.Q21ANSWERSBATCH,
        MessageType.Q21SCOREFEEDBACK,
        MessageType.Q21_QUESTIONS_CALL,
        MessageType.Q21_GUESS_CALL,
        MessageType.Q21_HINTS,
        MessageType.Q21_GUESS_RESULT,
    }
)
"""The types that a referee may send to a player (protocol 2.6 and 4.6)."""

OPENING_TYPES = frozenset({MessageType.Q21WARMUPCALL, MessageType.Q21ROUNDSTART, MessageType.Q21ANSWERSBATCH})
"""The requests that open a game that was not announced (protocol 5.6)."""


class PlayerState(Struct, frozen=True, kw_only=True):
    """The whole state of a player."""

    league: League
    games: Mapping[GameId, LeagueGame]
    """The open games, and the closed games of the current round, because their replies may be requested again. Never
    changed in place."""

    held: tuple[Held, ...] = ()
    """The events that arrived during a pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerMachine:
    """The player's machine (``machine.Machine[PlayerState]``)."""

    config: PlayerConfig
    _specs: Mapping[str, CallbackSpec] = field(init=False, repr=False, compare=False)
    _manager_key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_specs", callback_specs(self.config.rules))
        object.__setattr__(self, "_manager_key", address_key(self.config.manager_email))

    @property
    def role(self) -> str:
        return "player"

    def initial(self) -> PlayerState:
        return PlayerState(league=League(), games={})

    def state_name(self, state: PlayerState) -> LeagueState:
        """The name of the state, derived from the data."""
        is_in_game = any(game.is_open for game in state.games.values())
        return state_name(state.league, Role.PLAYER, is_in_game=is_in_game)

    def step(self, state: PlayerState, event: Event, now: datetime) -> tuple[PlayerState, Sequence[Effect]]:
        turn = PlayerTurn(
            identity=self.config.identity,
            role=Role.PLAYER,
            manager_email=self.config.manager_email,
            now=now,
            is_paused=state.league.paused_at is not None,
            config=self.config,
            specs=self._specs,
        )
        return self._step(turn, state, event), turn.effects

    def parts(self, state: PlayerState, since: PlayerState | None = None) -> Mapping[str, object | None]:
        parts = participant_parts(state, since)
        for game_id, game, former in changed(state.games, since.games if since is not None else {}):
            parts[f"game/{game_id}"] = game
            add_apart(parts, game, former, game_id)
        return parts

    def dump_part(self, name: str, part: object) -> str:
        return dump(part)

    def load(self, parts: Mapping[str, str]) -> PlayerState:
        games: dict[GameId, LeagueGame] = {}
        for name in sorted(parts):
            if name.startswith("game/"):
                game: LeagueGame = load(LeagueGame, parts[name], name)
                games[game.game_id] = rejoined(game, parts, game.game_id)
        return PlayerState(
            league=load_league(parts),
            games=games,
            held=load_held(parts),
        )

    # Events.

    def _step(self, turn: PlayerTurn, state: PlayerState, event: Event) -> PlayerState:
        if isinstance(event, MessageArrived):
            return self._message(turn, state, event)
        if isinstance(event, CallbackReturned | CallbackFailed):
            return self._callback(turn, state, event)
        if isinstance(event, DeadlinePassed):
            game = state.games.get(GameId(event.name.partition(":")[2].partition(":")[0]))
            if game is None or turn.is_paused:
                return state
            return _with_game(state, deadline_passed(turn, game, event.name))
        if isinstance(event, OperatorCommand):
            turn.warn("not_for_players", f"{event.command.value} is a command for the league manager")
        elif not isinstance(event, Started | SentLate):
            turn.warn("unknown_event", f"a player knows no {type(event).__name__}")
        return state

    def _message(self, turn: PlayerTurn, state: PlayerState, event: MessageArrived) -> PlayerState:
        envelope = event.envelope
        kind = envelope.message_type
        sender = address_key(envelope.sender.email)
        if kind in REFEREE_TYPES:
            return self._referee_message(turn, state, event, sender)
        if sender != self._manager_key:
            code = "error_response" if kind is MessageType.ERROR_RESPONSE else "wrong_sender"
            turn.warn(code, f"{kind.value} of {envelope.sender.email[:254]} is ignored")
            return state
        open_games = sorted(game_id for game_id, game in state.games.items() if game.is_open)
        league, ordered = manager_message(turn, self.config, state.league, envelope, open_games)
        if league is not state.league:
            before, state = state.league, evolve(state, league=league)
            if league.fixtures is not before.fixtures:
                state = _as_the_table_says(turn, before, state)
        return state if ordered is None else self._obey(turn, state, ordered)

    def _referee_message(self, turn: PlayerTurn, state: PlayerState, event: MessageArrived, sender: str) -> PlayerState:
        envelope = event.envelope
        game = _game_of(state, envelope, sender)
        if game is None:
            game = self._opened(turn, state, envelope, sender)
            if game is None:
                return state
        elif address_key(game.referee_email) != sender:
            what = f"{envelope.message_type.value} of {envelope.sender.email[:254]}"
            turn.warn("wrong_sender", f"{what}: game {game.game_id} has another referee")
            return state
        if turn.is_paused:
            return evolve(state, held=hold(turn, self.config, state.held, event))
        return _with_game(state, message_arrived(turn, game, envelope))

    def _opened(self, turn: PlayerTurn, state: PlayerState, envelope: Envelope, sender: str) -> LeagueGame | None:
        """The game that this request opens; ``None``, with a warning, if it opens none."""
        what = f"{envelope.message_type.value} of {envelope.sender.email[:254]}"
        game_id, league = envelope.game_id, state.league
        if game_id is None:
            turn.warn("unclear_game", f"{what} names no game, and the sender has not exactly one open with us")
            return None
        number = round_of(game_id)
        if league.is_completed or (number in league.rounds and number != league.current_round):
            turn.warn("past_round", f"{what}: game {game_id} belongs to a round that is over")
            return None
        if envelope.message_type not in OPENING_TYPES:
            turn.warn("unknown_game", f"{what}: game {game_id} is not open")
            return None
        fixture = league.fixture(game_id)
        if fixture is not None and fixture.referee_email:
            if address_key(fixture.referee_email) == sender:
                return _new_game(turn, league, game_id, fixture, envelope)
            turn.warn("wrong_sender", f"{what}: the assignment table names another referee for game {game_id}")
            return None
        if fixture is None and league.has_table:
            turn.warn("unknown_game", f"{what}: the assignment table has no game {game_id} for us")
            return None
        if envelope.sender.role is not Role.REFEREE:
            turn.warn("wrong_sender", f"{what}: the sender does not say that it is a referee")
            return None
        unassigned = sum(game.own_role is None for game in state.games.values())
        if fixture is None and unassigned >= self.config.unassigned_limit:
            turn.warn("unassigned_limit", f"{what}: {unassigned} games that no table names are known already")
            return None
        return _new_game(turn, league, game_id, fixture, envelope)

    def _callback(self, turn: PlayerTurn, state: PlayerState, event: CallbackReturned | CallbackFailed) -> PlayerState:
        game = state.games.get(GameId(event.call_id.partition(":")[0]))
        asked = next((asked for asked in game.asked if asked.call_id == event.call_id), None) if game else None
        if game is None or asked is None:
            _warn_of_late(turn, event)
            return state
        if turn.is_paused:
            return evolve(state, held=hold(turn, self.config, state.held, event))
        if isinstance(event, CallbackReturned):
            return _with_game(state, call_ended(turn, game, asked, event.result, None))
        return _with_game(state, call_ended(turn, game, asked, None, f"{event.failure.value}: {event.detail}"))

    # Orders of the league level.

    def _obey(self, turn: PlayerTurn, state: PlayerState, ordered: Ordered) -> PlayerState:
        if ordered.order is GameOrder.START_ROUND:
            return _start_round(turn, state, ordered.round_number)
        if ordered.order is GameOrder.END_ROUND:
            games = {
                game_id: close_game(turn, game, Termination.END_ROUND_RECEIVED)
                if game.is_open and game.round_number == ordered.round_number
                else game
                for game_id, game in state.games.items()
            }
            return evolve(state, games=games)
        if ordered.order is GameOrder.END_SEASON:
            for game in state.games.values():
                _drop(turn, game, Termination.LEAGUE_COMPLETED)
            return evolve(state, games={})
        if ordered.order is GameOrder.PAUSE:
            for game in state.games.values():
                turn.stop_timers(game.timers)
            return state
        if ordered.order is GameOrder.CONTINUE:
            return self._continue(turn, state, ordered)
        for game in state.games.values():
            _drop(turn, game, Termination.RESET)
        return evolve(state, games={}, held=())

    def _continue(self, turn: PlayerTurn, state: PlayerState, ordered: Ordered) -> PlayerState:
        """Resume the deadlines with the time they had left, then process the held events in order of arrival."""
        turn.is_paused = False
        games = {
            game_id: evolve(game, timers=turn.resume_timers(game.timers, ordered.paused_for)) if game.timers else game
            for game_id, game in state.games.items()
        }
        held = state.held
        state = evolve(state, games=games, held=())
        for event in held:
            state = self._step(turn, state, event)
        return state


def _start_round(turn: PlayerTurn, state: PlayerState, round_number: int) -> PlayerState:
    """End the games of other rounds; this player's games of the new round wait for their referees."""
    games: dict[GameId, LeagueGame] = {}
    for game_id, game in state.games.items():
        is_of_this_season = game.season_id in (state.league.season_id, "")
        if game.round_number == round_number and is_of_this_season:
            games[game_id] = game
        else:
            _drop(turn, game, Termination.NEW_ROUND_STARTED)
    for fixture in state.league.fixtures_of_round(round_number):
        if fixture.game_id not in games:
            games[fixture.game_id] = _new_game(turn, state.league, fixture.game_id, fixture, None)
    return evolve(state, games=games)


def _warn_of_late(turn: PlayerTurn, event: CallbackReturned | CallbackFailed) -> None:
    """Warn of a callback that ended after its game, except if the last callback of a game succeeded."""
    if not event.call_id.endswith(":on_score_received"):
        turn.warn("late_result", f"nobody waits for {event.call_id[:100]} any more")
    elif isinstance(event, CallbackFailed):
        why = f"{event.failure.value}: {event.detail}"
        turn.warn("callback_failed", f"{event.call_id[:100]}: {why[:400]}; the game is over all the same")


def _as_the_table_says(turn: PlayerTurn, before: League, state: PlayerState) -> PlayerState:
    """Apply a changed assignment table: games whose referee no table had named get the referee of this table."""
    league, games = state.league, dict(state.games)
    for game_id, game in state.games.items():
        fixture, former = league.fixture(game_id), before.fixture(game_id)
        if fixture is None or not fixture.referee_email or not game.last_received:
            continue  # a game without a request takes its referee from the table at the first request
        if game.own_role is not None and (former is None or former.referee_email):
            continue  # a game that began with the referee of a table keeps it (protocol 4.1.4)
        if address_key(fixture.referee_email) == address_key(game.referee_email):
            is_first = fixture.own_role is AssignmentRole.PLAYER1
            opponent = fixture.player2_email if is_first else fixture.player1_email
            games[game_id] = evolve(game, own_role=fixture.own_role, opponent_email=opponent)
            continue
        turn.warn("game_reopened", f"game {game_id} was begun by {game.referee_email}, who is not its referee")
        turn.clear_timers(game.timers)
        forget_game(turn, game)
        del games[game_id]
        if game.round_number == league.current_round:
            games[game_id] = _new_game(turn, league, game_id, fixture, None)
    return evolve(state, games=games)


def _drop(turn: PlayerTurn, game: LeagueGame, termination: Termination) -> None:
    if game.is_open:
        close_game(turn, game, termination)
    else:
        forget_game(turn, game)


def _game_of(state: PlayerState, envelope: Envelope, sender: str) -> LeagueGame | None:
    """The known game to which a message belongs; ``None`` if there is none."""
    if envelope.game_id is None:
        games = [game for game in state.games.values() if game.is_open and address_key(game.referee_email) == sender]
        return games[0] if len(games) == 1 else None
    game = state.games.get(envelope.game_id)
    fixture = state.league.fixture(envelope.game_id)
    if game is not None and fixture is not None and game.is_open and not game.last_received:
        # The game is announced and has no request yet, so the current assignment table names its referee.
        return evolve(game, referee_email=fixture.referee_email) if fixture.referee_email else None
    return game


def _new_game(
    turn: PlayerTurn, league: League, game_id: GameId, fixture: Fixture | None, envelope: Envelope | None
) -> LeagueGame:
    is_first = fixture is None or fixture.own_role is AssignmentRole.PLAYER1
    referee = fixture.referee_email if fixture else ""
    opponent = "" if fixture is None else fixture.player2_email if is_first else fixture.player1_email
    group = "" if fixture is None else fixture.player1_group if is_first else fixture.player2_group
    # Include the sender: replies to a stranger that reuses a referee's message id differ from replies to the referee.
    cause = (envelope.message_id, address_key(envelope.sender.email)) if envelope else league.obeyed[-1:]
    return LeagueGame(
        game_id=game_id,
        token=turn.hex("game", game_id, league.season_id, cause),
        season_id=league.season_id,
        league_id=league.league_id,
        round_number=round_of(game_id),
        own_role=fixture.own_role if fixture else None,
        own_group=group or turn.identity.group_id,
        referee_email=referee or (envelope.sender.email if envelope else ""),
        opponent_email=opponent,
        opened_at=turn.now,
    )


def _with_game(state: PlayerState, game: LeagueGame) -> PlayerState:
    if state.games.get(game.game_id) is game:
        return state
    return evolve(state, games=with_entry(state.games, game.game_id, game))


def transition_table() -> list[Transition]:
    """All rows of the player's tables: the league level, then one game."""
    return [*LEAGUE.transitions(), *game_transitions()]
