"""The parts of the league manager's state as JSON texts, and back.

Rule: a part is read exactly as it was written. An unreadable part raises an error that names it and never becomes a
default, because standings must not be invented.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from league_agents.kit.errors import JournalUnusable
from league_agents.kit.ids import GameId
from league_agents.league.machines.manager.config import ManagerConfig, Roster
from league_agents.league.machines.manager.state import (
    NOTHING_YET,
    UNHEARD,
    Attendance,
    ClosedRound,
    GameRecord,
    ManagerState,
    ReplyRound,
    Season,
    SeasonPhase,
    initial_state,
)
from league_agents.league.machines.stored import dump, load
from league_agents.league.season.schedule import Pairing, Schedule, ScheduleKind, Team
from league_agents.league.season.standings import Standings

_REMEDY = "put a copy in its place, or name another journal"


class StoredGame(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pairing that names its teams by their index."""

    game_id: GameId
    player1: int
    player2: int
    referee: int
    replay_of: str = ""


class StoredSchedule(Struct, frozen=True, kw_only=True):
    """A schedule that contains each team once."""

    teams: tuple[Team, ...]
    rounds: tuple[tuple[StoredGame, ...], ...]
    kind: ScheduleKind = ScheduleKind.ROUND_ROBIN
    """The kind. Version 0.1.0 had round robins only, and stored neither this field nor those below."""

    planned: int = 0
    entrants: tuple[int, ...] = ()
    referees: tuple[int, ...] = ()


def dump_part(roster: Roster, part: object) -> str:
    """One part as JSON text."""
    if isinstance(part, Schedule):
        return dump(_stored(part))
    if isinstance(part, tuple):
        # Store by address, because the roster may be edited before the part is read again.
        pairs = zip(roster.members, part, strict=True)
        return dump({member.email: each for member, each in pairs if each != UNHEARD})
    return dump(part)


def load_state(config: ManagerConfig, roster: Roster, parts: Mapping[str, str]) -> ManagerState:
    """The state of these parts. It may belong to a season that is over, while ``config`` names the next one.

    Raises ``JournalUnusable`` when a part cannot be read, or is of another season that is not over.
    """
    if not parts:
        return initial_state(config, roster)
    missing = next((name for name in ("season", "attendance", "standings") if name not in parts), None)
    if missing is not None:
        raise JournalUnusable(f"the journal has no part {missing!r}; {_REMEDY}")
    season: Season = load(Season, parts["season"], "season")
    if season.season_id != config.season_id and season.phase is not SeasonPhase.FINISHED:
        raise JournalUnusable(
            f"the journal is of season {season.season_id[:60]!a}, which is not over, and season.id is"
            f" {config.season_id!a}; name another journal, or the season that this one was made for"
        )
    attendance: Mapping[str, Attendance] = load(Mapping[str, Attendance], parts["attendance"], "attendance")
    by_key = {member.key: attendance[email] for email in attendance if (member := roster.member(email)) is not None}
    schedule = _restored(load(StoredSchedule, parts["schedule"], "schedule")) if "schedule" in parts else None
    games = _games(season, schedule, parts)
    return ManagerState(
        season=season,
        attendance=tuple(by_key.get(member.key, UNHEARD) for member in roster.members),
        schedule=schedule,
        games=games,
        awaited=sum(record.counted is None for record in games),
        closed=_closed(parts),
        standings=load(Standings, parts["standings"], "standings"),
        inquiry=load(ReplyRound, parts["inquiry"], "inquiry") if "inquiry" in parts else None,
    )


def _games(season: Season, schedule: Schedule | None, parts: Mapping[str, str]) -> tuple[GameRecord, ...]:
    records: dict[str, GameRecord] = {
        name.removeprefix("game/"): load(GameRecord, text, name)
        for name, text in parts.items()
        if name.startswith("game/")
    }
    games: tuple[GameRecord, ...] = ()
    if season.phase in (SeasonPhase.ROUND, SeasonPhase.CLOSING):
        if schedule is None or not 1 <= season.round_number <= len(schedule.rounds):
            raise JournalUnusable(f"the journal is in round {season.round_number}, without a schedule; {_REMEDY}")
        pairings = schedule.round(season.round_number)
        games = tuple(records.pop(pairing.game_id, NOTHING_YET) for pairing in pairings)
    if records:
        name = f"game/{min(records)}"
        raise JournalUnusable(f"part {name!r} of the journal is of no game that is being played; {_REMEDY}")
    return games


def _closed(parts: Mapping[str, str]) -> tuple[ClosedRound, ...]:
    found: list[ClosedRound] = [
        load(ClosedRound, text, name) for name, text in parts.items() if name.startswith("round/")
    ]
    found.sort(key=lambda closed: closed.number)
    if [closed.number for closed in found] != list(range(1, len(found) + 1)):
        raise JournalUnusable(f"the journal lacks a round that is over; {_REMEDY}")
    return tuple(found)


def _stored(schedule: Schedule) -> StoredSchedule:
    teams: dict[Team, int] = {}

    def place(team: Team) -> int:
        return teams.setdefault(team, len(teams))

    rounds = tuple(
        tuple(
            StoredGame(
                game_id=pairing.game_id,
                player1=place(pairing.player1),
                player2=place(pairing.player2),
                referee=place(pairing.referee),
                replay_of=pairing.replay_of,
            )
            for pairing in pairings
        )
        for pairings in schedule.rounds
    )
    entrants, referees = tuple(map(place, schedule.entrants)), tuple(map(place, schedule.referees))
    return StoredSchedule(
        teams=tuple(teams),
        rounds=rounds,
        kind=schedule.kind,
        planned=schedule.planned,
        entrants=entrants,
        referees=referees,
    )


def _restored(stored: StoredSchedule) -> Schedule:
    teams = stored.teams
    places = range(len(teams))
    for game in (game for games in stored.rounds for game in games):
        if not all(place in places for place in (game.player1, game.player2, game.referee)):
            raise JournalUnusable(f"part 'schedule' of the journal names no team in game {game.game_id}; {_REMEDY}")
    if not all(place in places for place in (*stored.entrants, *stored.referees)):
        raise JournalUnusable(f"part 'schedule' of the journal names an entrant that is no team; {_REMEDY}")
    return Schedule(
        kind=stored.kind,
        planned=stored.planned,
        entrants=tuple(teams[place] for place in stored.entrants),
        referees=tuple(teams[place] for place in stored.referees),
        rounds=tuple(
            tuple(
                Pairing(
                    game_id=game.game_id,
                    player1=teams[game.player1],
                    player2=teams[game.player2],
                    referee=teams[game.referee],
                    replay_of=game.replay_of,
                )
                for game in games
            )
            for games in stored.rounds
        ),
    )
