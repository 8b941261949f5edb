"""The event that a league waits for, and the command that continues without it."""

from __future__ import annotations

from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.report.status import Awaited


def awaited(machine: object, state: object) -> Awaited | None:
    """The event that a league manager waits for; ``None`` for every other role."""
    if not isinstance(machine, Manager) or not isinstance(state, ManagerState):
        return None
    season, config = state.season, machine.config
    due_at = next((timer.at for timer in season.timers), None) if season.paused_at is None else None

    replays = ", ".join(each.match for each in season.replays)

    def waiting(what: str, command: Command | None, also: str = "") -> Awaited:
        also = also or (f"in an extra round {replays} is played again" if replays else "")
        return Awaited(what=what, command="" if command is None else f"manage {command.word}", also=also, due_at=due_at)

    if season.season_id != config.season_id:
        return waiting(f"the order to begin season {config.season_id}: {season.season_id} is over", Command.NEW_SEASON)
    if season.paused_at is not None:
        return waiting("the order to go on after the pause", Command.CONTINUE)
    members = list(zip(machine.roster.members, state.attendance, strict=True))
    match season.phase:
        case SeasonPhase.SETUP:
            return waiting("the order to invite everybody", Command.OPEN_SEASON)
        case SeasonPhase.REGISTRATION:
            missing = sum(attendance.registered_at is None for _, attendance in members)
            if not missing:
                return waiting("your order: everybody has registered", Command.CLOSE_REGISTRATION)
            return waiting(f"{missing} of {len(members)} to register", Command.CLOSE_REGISTRATION)
        case SeasonPhase.ASSIGNED:
            schedule = state.schedule
            audience = [
                attendance
                for member, attendance in members
                if attendance.registered_at is not None or (schedule is not None and schedule.involves(member.key))
            ]
            missing = sum(not attendance.has_acknowledged for attendance in audience)
            if not missing:
                return waiting("your order: everybody has acknowledged the assignment table", Command.START_ROUND)
            return waiting(f"{missing} of {len(audience)} to acknowledge the assignment table", Command.START_ROUND)
        case SeasonPhase.ROUND:
            if not state.awaited:
                return waiting(f"your order: every report of round {season.round_number} is in", Command.END_ROUND)
            told = f"{state.awaited} of {len(state.games)} reports of round {season.round_number}"
            return waiting(told, Command.END_ROUND)
        case SeasonPhase.CLOSING:
            told = f"{state.awaited} late reports of round {season.round_number}, which was ended"
            return waiting(told, Command.END_ROUND)
        case SeasonPhase.BETWEEN:
            total = state.total_rounds
            if season.round_number >= total:
                return waiting("the order to end the season: every round was played", Command.FINISH_SEASON)
            return waiting(f"round {season.round_number + 1} of {total} to begin", Command.START_ROUND)
        case SeasonPhase.FINISHED:
            next_one = "the next one begins with 'manage next-season'"
            return waiting("nothing: the season is over", None, next_one)
