"""The structure of a season, from the journals of its participants: teams, schedule, progress.

Rule 1: the assignment table defines the pairings, in any role's journal: one reader for all roles.
Rule 2: a journal may hold several seasons, and a season may have been reset. Notes from before do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from league_agents.journal.port import Journal, Note
from league_agents.kit.errors import RemoteProtocolError
from league_agents.kit.ids import is_game_id, round_of
from league_agents.kit.values import evolve
from league_agents.league.wire.address import address_key
from league_agents.league.wire.decode import decode
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    Assignment,
    AssignmentRole,
    AssignmentTable,
    NewRound,
)
from league_agents.report.records import ScheduledMatch, TeamRecord

RoleName = Literal["manager", "referee", "player"]

TABLES = (MessageType.BROADCAST_ASSIGNMENT_TABLE.value, MessageType.ASSIGNMENT_TABLE_RESPONSE.value)
STARTS = (MessageType.BROADCAST_NEW_LEAGUE_ROUND.value,)
RESETS = (MessageType.BROADCAST_CRITICAL_RESET.value,)
RESET_MARK = "@reset-"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleJournal:
    """One role's journal."""

    role: RoleName
    address: str
    journal: Journal


@dataclass(slots=True, kw_only=True)
class SeasonFrame:
    """One season as recorded in a set of journals."""

    season_id: str
    league_id: str = ""
    since: datetime | None = None
    """Instant of the reset before it; notes until then belong to none of its matches. ``None`` means never."""

    until: datetime | None = None
    """Instant of the reset that dropped it; later notes belong to none of its matches. ``None`` means never."""

    matches: dict[str, ScheduledMatch] = field(default_factory=dict)
    """By game id, in the order of the table. All have the status ``planned``."""

    teams: dict[str, TeamRecord] = field(default_factory=dict)
    round_number: int = 0
    """The latest announced round."""

    groups: dict[str, str] = field(default_factory=dict)
    """Group by ``address_key`` of its player or its referee."""

    def covers(self, note: Note) -> bool:
        """Whether a note is about this season."""
        if not self.lasts_at(note.at):
            return False
        named = note.facts.get("season_id")
        return not named or not self.season_id or named == self.season_id

    def lasts_at(self, at: datetime) -> bool:
        """Whether an instant lies between the resets before and after."""
        return (self.since is None or at > self.since) and (self.until is None or at <= self.until)

    def name(self, names: Mapping[str, str]) -> None:
        """Set the names of the teams, by group: the assignment table does not have them."""
        for group, team in self.teams.items():
            if names.get(group):
                self.teams[group] = evolve(team, display_name=names[group])

    def group_of(self, address: str) -> str:
        """The group of an address; the address itself if no table names it."""
        return self.groups.get(address_key(address), address)


def frames_of(journals: Sequence[RoleJournal], *, division: str = "") -> dict[str, SeasonFrame]:
    """The seasons by id, in the order of their first tables. At most one when there is no table at all.

    What was played of a season before its first reset has the id ``<season id>@reset-1``.
    """
    frames: dict[str, SeasonFrame] = {}
    for at, envelope in _messages(_best(journals)):
        payload, season_id = envelope.payload, envelope.season_id or ""
        frame = frames.get(season_id) or (next(reversed(frames.values()), None) if not season_id else None)
        if isinstance(payload, AssignmentTable):
            if frame is None:
                frame = frames.setdefault(season_id, SeasonFrame(season_id=season_id))
            frame.league_id = envelope.league_id or frame.league_id
            _take_table(frame, payload.assignments, division)
        elif frame is None:
            continue
        elif isinstance(payload, NewRound):
            frame.round_number = max(frame.round_number, payload.round_number)
        elif envelope.message_type == MessageType.BROADCAST_CRITICAL_RESET:
            if frame.matches:
                frame = _reset(frames, frame, at)
            frame.since, frame.round_number = at, 0
    return frames


def _reset(frames: dict[str, SeasonFrame], dropped: SeasonFrame, at: datetime) -> SeasonFrame:
    """Keep a dropped season under an id of its own. Return the frame of the season that may be opened again."""
    dropped.until = at
    del frames[dropped.season_id]
    again = sum(frame.season_id == dropped.season_id for frame in frames.values()) + 1
    frames[f"{dropped.season_id}{RESET_MARK}{again}"] = dropped
    opened = SeasonFrame(season_id=dropped.season_id, league_id=dropped.league_id)
    opened.teams, opened.groups = dict(dropped.teams), dict(dropped.groups)
    frames[opened.season_id] = opened
    return opened


def _best(journals: Sequence[RoleJournal]) -> RoleJournal:
    """The most complete journal of the season: the league manager's, else the first."""
    return next((each for each in journals if each.role == "manager"), journals[0])


def _messages(own: RoleJournal) -> Iterator[tuple[datetime, Envelope]]:
    """The messages that define a season, oldest first."""
    types = (*TABLES, *STARTS, *RESETS)
    found: Iterable[tuple[datetime, str, str, Mapping[str, object] | None, str]]
    if own.role == "manager":
        found = (
            (item.created_at, item.subject, own.address, item.document, item.transaction_id)
            for item in own.journal.outbox(types=types)
        )
    else:
        found = (
            (row.arrived_at, row.subject, row.sender, row.document, row.mail_id)
            for row in own.journal.inbox(types=types)
        )
    for at, subject, sender, document, mail_id in found:
        try:
            yield at, decode(subject=subject, from_header=sender, documents=[document], mail_id=mail_id)
        except RemoteProtocolError:
            continue


def _take_table(frame: SeasonFrame, rows: Sequence[Assignment], division: str) -> None:
    games: dict[str, dict[AssignmentRole, Assignment]] = {}
    for row in rows:
        games.setdefault(row.game_id, {})[row.role] = row
    for game_id, parts in games.items():
        known = {role: row.group_id or row.email for role, row in parts.items()}
        for role, row in parts.items():
            group = known[role]
            frame.groups[address_key(row.email)] = group
            team = frame.teams.get(group) or TeamRecord(participant_id=group, division=division)
            is_referee = role is AssignmentRole.REFEREE
            frame.teams[group] = evolve(
                team,
                player_email=team.player_email if is_referee else row.email,
                referee_email=row.email if is_referee else team.referee_email,
            )
        frame.matches[game_id] = ScheduledMatch(
            round_number=round_of(row.game_id) if is_game_id(game_id) else 0,
            game_id=game_id,
            player1=known.get(AssignmentRole.PLAYER1, ""),
            player2=known.get(AssignmentRole.PLAYER2, ""),
            referee=known.get(AssignmentRole.REFEREE, ""),
            division=division,
        )
