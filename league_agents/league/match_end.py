"""How a match ends: played out, aborted, or dropped (protocol 5.3.5).

Rule: a match that was started ends in exactly one report, unless the league is reset.
"""

from __future__ import annotations

from collections.abc import Sequence

from league_agents.games.q21.flow import SeatPhase
from league_agents.games.q21.model import UNSCORED, Termination
from league_agents.league.effects import Record, ReleaseAgent
from league_agents.league.match_state import Match, Seat
from league_agents.league.referee_messages import RefereeTurn, closing_timer, send_report, tell, with_seat
from league_agents.league.reports import abort_of, match_facts, match_report
from league_agents.protocol.league.kinds import MessageType
from league_agents.values import evolve

Next = Match | None
"""``None``: the match is closed, its report is sent, and nothing of it is kept."""


def abort_match(
    turn: RefereeTurn, match: Match, termination: Termination, *, culprits: Sequence[Seat] = (), callback: str = ""
) -> Next:
    """Freeze the match, score what is pending, report (protocol 5.3.5). An abort that is under way stays as it is."""
    if match.abort is not None:
        return match
    abort = abort_of(match, termination, culprits=culprits, callback=callback)
    calls = tuple(call for call in match.calls if call.callback == "get_score_feedback")
    match = evolve(match, abort=abort, calls=calls, timers=turn.clear_timers(match.timers))
    if is_over(match):
        close_match(turn, match)
        return None
    patience = 3 * turn.specs["get_score_feedback"].timeout
    return evolve(match, timers=turn.set_timer(match.timers, closing_timer(match), turn.now + patience))


def is_over(match: Match) -> bool:
    """Whether nothing more is to be played or scored."""
    if match.abort is not None:
        return all(seat.phase is not SeatPhase.GUESSED for seat in match.seats)
    return all(seat.phase is SeatPhase.SCORED for seat in match.present())


def close_match(turn: RefereeTurn, match: Match) -> None:
    """Report the match, record it, and set the agent free."""
    turn.clear_timers(match.timers)
    report = match_report(match, turn.config.rules)
    send_report(turn, report, match=match)
    termination = Termination.COMPLETED if match.abort is None else match.abort.termination
    facts = match_facts(match, report, turn.identity.participant_id)
    turn.effects.append(Record(kind="match", key=match.game_id, termination=termination, facts=facts))
    turn.effects.append(ReleaseAgent(game_id=match.game_id))


def stop_scoring(turn: RefereeTurn, match: Match) -> None:
    """The score of a pending guess never came: zeros, so that the league gets its report."""
    match = evolve(match, calls=())
    for seat in match.seats:
        if seat.phase is SeatPhase.GUESSED:
            turn.warn("callback_failed", f"get_score_feedback in game {match.game_id} never ended; zero points")
            scored = evolve(seat, scorecard=UNSCORED)
            match = tell(turn, with_seat(match, scored), scored, MessageType.Q21SCOREFEEDBACK)
    close_match(turn, match)


def drop_match(turn: RefereeTurn, match: Match) -> None:
    """The league was reset: the match ends without a report (protocol 4.3.2)."""
    turn.clear_timers(match.timers)
    facts = {"game_id": match.game_id, "season_id": match.season_id, "round_number": match.round_number}
    turn.effects.append(Record(kind="match", key=match.game_id, termination=Termination.RESET, facts=facts))
    turn.effects.append(ReleaseAgent(game_id=match.game_id))
