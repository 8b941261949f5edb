"""The league level that a referee and a player share: the effect of each message of the league manager.

Rule: a message without a row in the table below has no effect here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from league_agents.kit.ids import GameId
from league_agents.kit.tables import Rule, TransitionTable
from league_agents.kit.values import evolve
from league_agents.league.machines.config import ParticipantConfig
from league_agents.league.machines.participant.desk import (
    REMEMBERED_ORDERS,
    REMEMBERED_WORDS,
    Desk,
    Ordered,
    reply_again,
)
from league_agents.league.machines.participant.league_state import League, LeagueState
from league_agents.league.machines.participant.season import (
    assignment_table,
    end_round,
    end_season,
    new_round,
    registration_response,
    round_results,
    start_season,
)
from league_agents.league.machines.participant.service import (
    echo,
    error_response,
    free_text,
    keep_alive,
    pause,
    reset,
    resume,
)
from league_agents.league.machines.turn import StepContext
from league_agents.league.wire.catalogue import DECLARATIONS
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    BrokenPayload,
)


def manager_message(
    turn: StepContext, config: ParticipantConfig, league: League, envelope: Envelope, open_games: Sequence[GameId]
) -> tuple[League, Ordered | None]:
    """Process a message of the league manager. The caller has checked the sender."""
    kind = envelope.message_type
    action = LEAGUE.action(ANY, kind)
    if action is None:
        turn.warn("unexpected_type", f"{kind.value} of the league manager asks for nothing here")
        return league, None
    key = f"{kind.value}:{envelope.broadcast_id or envelope.message_id}"[:300]
    if key in league.heard or key in league.obeyed:
        return reply_again(turn, config, league, envelope, key), None
    payload = envelope.payload
    if not isinstance(payload, DECLARATIONS[kind].kind):
        why = str(payload.violations[0]) if isinstance(payload, BrokenPayload) and payload.violations else "no content"
        turn.warn("unusable_message", f"{kind.value} of the league manager: {why}"[:400])
        return league, None
    desk = Desk(turn=turn, config=config, envelope=envelope, open_games=open_games, key=key)
    league = action(desk, league)
    if kind in _WORDS:
        return evolve(league, heard=(*league.heard[1 - REMEMBERED_WORDS :], key)), desk.order
    return evolve(league, obeyed=(*league.obeyed[1 - REMEMBERED_ORDERS :], key)), desk.order


_WORDS = frozenset(
    {
        MessageType.BROADCAST_KEEP_ALIVE,
        MessageType.BROADCAST_FREE_TEXT,
        MessageType.BROADCAST_ROUND_RESULTS,
        MessageType.ERROR_RESPONSE,
        MessageType.CONNECTIVITY_TEST_CALL,
    }
)
"""Messages that are answered or shown and order nothing. Any other message would do harm if it were obeyed twice."""


ANY = "any"
_DATA = ("the state of the data",)
Action = Callable[[Desk, League], League]


def _rule(kind: MessageType, action: Action, effects: str, *following: LeagueState) -> Rule[Action]:
    return Rule(phase=ANY, event=kind, action=action, next=tuple(following) or _DATA, effects=effects)


LEAGUE: TransitionTable[Action] = TransitionTable(
    "participant",
    (
        _rule(
            MessageType.BROADCAST_START_SEASON,
            start_season,
            "SEASON_REGISTRATION_REQUEST; another season's assignments are forgotten",
        ),
        _rule(
            MessageType.BROADCAST_START_SEASON_REGISTRATION,
            start_season,
            "the older name of BROADCAST_START_SEASON",
        ),
        _rule(
            MessageType.SEASON_REGISTRATION_RESPONSE,
            registration_response,
            "remember whether we are in; already_registered means that we are",
        ),
        _rule(
            MessageType.BROADCAST_ASSIGNMENT_TABLE,
            assignment_table,
            "replace the assignments of the season; RESPONSE_GROUP_ASSIGNMENT; games go on with the referee of a table",
        ),
        _rule(
            MessageType.ASSIGNMENT_TABLE_RESPONSE,
            assignment_table,
            "the same, sent to this participant alone",
        ),
        _rule(
            MessageType.BROADCAST_NEW_LEAGUE_ROUND,
            new_round,
            "end open games of other rounds (new_round_started), start the own games of this one; known round: nothing",
        ),
        _rule(
            MessageType.BROADCAST_END_LEAGUE_ROUND,
            end_round,
            "end open games of this round (end_round_received)",
        ),
        _rule(MessageType.BROADCAST_ROUND_RESULTS, round_results, "record them"),
        _rule(
            MessageType.BROADCAST_END_SEASON,
            end_season,
            "end all open games (league_completed)",
            LeagueState.COMPLETED,
        ),
        _rule(
            MessageType.LEAGUE_COMPLETED,
            end_season,
            "end all open games (league_completed)",
            LeagueState.COMPLETED,
        ),
        _rule(MessageType.BROADCAST_KEEP_ALIVE, keep_alive, "RESPONSE_KEEP_ALIVE"),
        _rule(
            MessageType.BROADCAST_CRITICAL_PAUSE,
            pause,
            "stop all deadlines, hold game messages and results; CRITICAL_PAUSE_RESPONSE",
            LeagueState.PAUSED,
        ),
        _rule(
            MessageType.BROADCAST_CRITICAL_CONTINUE,
            resume,
            "run on with the remaining times, then handle what was held; CRITICAL_CONTINUE_RESPONSE",
        ),
        _rule(
            MessageType.BROADCAST_CRITICAL_RESET,
            reset,
            "drop open games without a report, forget season, assignments and rounds; CRITICAL_RESET_RESPONSE",
            LeagueState.INIT_START_STATE,
        ),
        _rule(MessageType.BROADCAST_FREE_TEXT, free_text, "show it; FREE_TEXT_RESPONSE"),
        _rule(MessageType.ERROR_RESPONSE, error_response, "show it; never answered"),
        _rule(MessageType.CONNECTIVITY_TEST_CALL, echo, "CONNECTIVITY_TEST_ECHO"),
    ),
)
"""The effect of each message of the league manager, in any state. ``state_name`` derives the next state."""
