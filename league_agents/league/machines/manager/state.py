"""The league manager's state of its season.

Rule 1: each fact is stored once. The standings cover the closed rounds; ``games`` are those of the current round.
Rule 2: the state consists of small parts, so that a report rewrites one match and not the season.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec
from msgspec import Struct

from league_agents.kit.values import evolve
from league_agents.league.machines.manager.config import ManagerConfig, Roster
from league_agents.league.machines.stored import changed
from league_agents.league.machines.turn import Timer
from league_agents.league.season.schedule import Pairing, Schedule
from league_agents.league.season.standings import MatchOutcome, MatchStatus, Standings
from league_agents.league.wire.messages import PlayerReportStatus


class SeasonPhase(StrEnum):
    """The phase of the season (protocol 5.1). ``ROUND(n)`` of the protocol is a phase and a round number here."""

    SETUP = "setup"
    REGISTRATION = "registration"
    ASSIGNED = "assigned"
    ROUND = "round"
    """A round is being played."""
    CLOSING = "closing"
    """The round has ended, and reports of matches that were cut off are awaited."""
    BETWEEN = "between"
    """The round is over, the next one is not started."""
    FINISHED = "finished"


class OrderedReplay(Struct, frozen=True, kw_only=True):
    """A match that is to be played again, in an extra round that is not drawn up yet."""

    match: str
    referee: str
    """The group id of the referee of the replay."""

    why: str
    """The organiser's reason."""


class Season(Struct, frozen=True, kw_only=True):
    """The progress of the season."""

    season_id: str
    phase: SeasonPhase = SeasonPhase.SETUP
    resets: int = 0
    """How often the league was reset. Ids are derived from it, so that messages from before a reset do not count."""

    round_number: int = 0
    """The current or last round; 0 before the first."""

    paused_at: datetime | None = None
    """The start of the pause; ``None`` if the league is not paused."""

    timers: tuple[Timer, ...] = ()
    """The deadline of the phase, if it has one. During a pause it is stored here but does not run."""

    registration_deadline: datetime | None = None
    """The announced deadline, later by the length of each pause."""

    registration_closed_at: datetime | None = None
    table_sent_at: datetime | None = None
    withdrawn: tuple[str, ...] = ()
    """Group ids of withdrawn teams, whose unplayed games are walkovers."""

    is_finishing: bool = False
    """Whether the season ends with this round, because the operator said so."""

    replays: tuple[OrderedReplay, ...] = ()
    """Replays that wait for an extra round, in the order of the commands."""

    is_table_due: bool = False
    """Whether the organiser changed the schedule after its table was sent. The next table has the change."""

    is_round_ordered: bool = False
    """Whether the operator ordered the next round, which begins when everybody has acknowledged its table."""

    amendments: int = 0
    """How many tables were sent because the organiser changed the schedule."""

    @property
    def label(self) -> str:
        """The state's name for people: ``ROUND(3)``, ``paused`` where it is."""
        name = self.phase.value.upper()
        if self.phase in (SeasonPhase.ROUND, SeasonPhase.CLOSING, SeasonPhase.BETWEEN):
            name = f"{name}({self.round_number})"
        return f"{name}, paused" if self.paused_at is not None else name


class Attendance(Struct, frozen=True, kw_only=True):
    """The messages of one roster member in this season."""

    is_heard: bool = False
    registered_at: datetime | None = None
    takes_own_rows: bool = False
    """Whether its last registration request said that it needs its own rows of tables only."""

    registration_answers: int = 0
    """How many answers to its registration requests were sent."""

    has_acknowledged: bool = False
    """Whether it has the assignment table."""

    extras: int = 0
    """How many errors and repeated tables were sent to it."""


UNHEARD = Attendance()


class GameRecord(Struct, frozen=True, kw_only=True):
    """The reports and the settlement of one game."""

    outcome: MatchOutcome | None = None
    """The reported outcome; ``None`` without a report."""

    reported_at: datetime | None = None
    settled: MatchOutcome | None = None
    """What counts in place of the report: the organiser's settlement, or what counted before a report that came after
    the season. ``None`` if the report counts."""

    player_reports: tuple[PlayerReportStatus | None, PlayerReportStatus | None] = (None, None)
    """The reports of player 1 and player 2 before the referee's report. Never scored (protocol 4.5.2)."""

    @property
    def counted(self) -> MatchOutcome | None:
        """The outcome that counts; ``None`` if there is none yet."""
        return self.settled or self.outcome


NOTHING_YET = GameRecord()


class ClosedRound(Struct, frozen=True, kw_only=True):
    """A round that is over. Every game has an outcome, which may be that no report arrived."""

    number: int
    closed_at: datetime
    games: tuple[GameRecord, ...]
    """The games in the order of the schedule."""


class ReplyRound(Struct, frozen=True, kw_only=True):
    """The last broadcast that asks for replies, and the members that replied."""

    broadcast_id: str
    asked_at: datetime
    is_keep_alive: bool
    replied: tuple[str, ...] = ()
    """Addresses, in the order of the replies."""


class ManagerState(Struct, frozen=True, kw_only=True):
    """The whole state of the league manager."""

    season: Season
    attendance: tuple[Attendance, ...]
    """The attendance of each member, in the order of the roster."""

    schedule: Schedule | None = None
    """The schedule; ``None`` before registration is closed."""

    games: tuple[GameRecord, ...] = ()
    """The games of the current round; empty between rounds."""

    awaited: int = 0
    """The number of ``games`` without an outcome."""

    closed: tuple[ClosedRound, ...] = ()
    """The closed rounds, from round 1."""

    standings: Standings = msgspec.field(default_factory=Standings)
    """The standings over the closed rounds."""

    inquiry: ReplyRound | None = None

    @property
    def total_rounds(self) -> int:
        """The number of rounds of the season, with one more if replays wait; 0 before there is a schedule."""
        return (self.schedule.total_rounds if self.schedule is not None else 0) + bool(self.season.replays)


def initial_state(config: ManagerConfig, roster: Roster, resets: int = 0) -> ManagerState:
    """The state before the season opens."""
    season = Season(season_id=config.season_id, resets=resets)
    return ManagerState(season=season, attendance=(UNHEARD,) * len(roster.members))


_PARTS = ("season", "attendance", "standings", "schedule", "inquiry")
"""Fields of the state that are stored as separate parts, unless they are ``None``."""


def parts_of(state: ManagerState, since: ManagerState | None = None) -> Mapping[str, object | None]:
    """The changed parts of the state. A game without data has no part; the games of a closed round share one."""
    parts: dict[str, object | None] = {}
    for name in _PARTS:
        value = getattr(state, name)
        if value is not getattr(since, name, None):
            parts[name] = value
    if since is None or state.closed is not since.closed:
        for number, closed, _ in changed(_closed_rounds(state), {} if since is None else _closed_rounds(since)):
            parts[f"round/{number}"] = closed
    if since is None or state.games is not since.games or state.season is not since.season:
        for game_id, record, _ in changed(_heard_games(state), {} if since is None else _heard_games(since)):
            parts[f"game/{game_id}"] = record
    return parts


def _closed_rounds(state: ManagerState) -> dict[int, ClosedRound]:
    return {closed.number: closed for closed in state.closed}


def _heard_games(state: ManagerState) -> dict[str, GameRecord]:
    """The games of the current round that have a report or a settlement."""
    if state.schedule is None or not state.games:
        return {}
    pairings = state.schedule.round(state.season.round_number)
    games = zip(pairings, state.games, strict=True)
    return {pairing.game_id: record for pairing, record in games if record is not NOTHING_YET}


def record_of(state: ManagerState, number: int, index: int) -> GameRecord:
    """The record of a game of a started round, by its place in the schedule."""
    if number <= len(state.closed):
        return state.closed[number - 1].games[index]
    return state.games[index]


def record_at(state: ManagerState, game: str) -> GameRecord:
    """The record of a game of a started round, by its id. Raises ``KeyError``."""
    place = state.schedule.place(game) if state.schedule is not None else None
    if place is None:
        raise KeyError(game)
    return record_of(state, *place)


def is_taken_back(state: ManagerState, pairing: Pairing) -> bool:
    """Whether a game is a replay that cannot count: its first match counts, or is to be replayed once more."""
    first, schedule = pairing.replay_of, state.schedule
    if not first or schedule is None:
        return False
    if schedule.replay(first) != pairing.game_id or any(each.match == first for each in state.season.replays):
        return True
    settled = record_at(state, first).settled
    return settled is None or settled.status is not MatchStatus.REPLAYED


def with_record(state: ManagerState, number: int, index: int, record: GameRecord) -> ManagerState:
    """The state with the record of a game replaced."""
    if number <= len(state.closed):
        closed = state.closed[number - 1]
        closed = evolve(closed, games=(*closed.games[:index], record, *closed.games[index + 1 :]))
        return evolve(state, closed=(*state.closed[: number - 1], closed, *state.closed[number:]))
    games = state.games
    awaited = state.awaited + (record.counted is None) - (games[index].counted is None)
    return evolve(state, games=(*games[:index], record, *games[index + 1 :]), awaited=awaited)
