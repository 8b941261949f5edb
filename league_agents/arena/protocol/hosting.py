"""The matches that a server keeps: who sits where, who watches, and through whom a match is moved.

Rule: nothing here knows the time; every instant is handed in.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from league_agents.arena.protocol.envelope import OutgoingFrame
from league_agents.games.game import SPECTATOR, Action, Event, ForfeitCause, IllegalAction
from league_agents.kit.errors import LeagueError
from league_agents.kit.values import evolve
from league_agents.turns.match import Match

MOST_ANSWERS_KEPT: Final = 64
"""Answers to actions that an agent can have repeated by their ``request_id`` (arena 5.3)."""

_SPECTATOR_ID = re.compile(r"spectator-[0-9]{1,9}")


class Status(StrEnum):
    """How far a match is."""

    WAITING = "waiting"
    STARTED = "started"
    ENDED = "ended"
    ABANDONED = "abandoned"


class Profile(StrEnum):
    """Which of the two published forms of the protocol goes out. They disagree; both are 1.0.0."""

    SEED = "seed"
    """The protocol's own page, with ``push_message``."""

    SCHEMAS = "schemas"
    """The organisation's schemas, with ``push_event`` (arena 5.3)."""


class NoSeat(LeagueError):
    """The match has no free seat of this kind."""


class HostedSeat(Struct, frozen=True, kw_only=True):
    """One place at the table."""

    agent_id: str
    name: str = ""
    """For people; ``""`` while the seat is free."""

    kind: Literal["human", "ai"] = "ai"
    is_taken: bool = False
    by_account: bool = False
    """Whether it answers to the account of the same name, which took it from the lobby, rather than to a token of its
    own."""


class Driver(Protocol):
    """Through whom a match is moved: what keeps the clocks and counts the refusals. A session brings its own."""

    def act(self, agent_id: str, action: Action, now: datetime, /) -> object:
        """Take an action. Raises ``IllegalAction``, with ``attempts_left`` in its data where refusals are counted; a
        decision that is forfeited for it has been forfeited before the exception leaves."""
        ...

    def forfeit(self, agent_id: str, cause: ForfeitCause, now: datetime, /) -> object:
        """Go on without the action that the agent owes."""
        ...

    def deadline(self, agent_id: str, /) -> datetime | None:
        """Until when the agent owes its action; ``None`` without a clock."""
        ...


class UntimedDriver:
    """A driver without a clock: ``max_invalid`` refusals in one decision are borne, the next one forfeits it
    (arena 6)."""

    def __init__(self, match: Match[Any], max_invalid: int | None = 2) -> None:
        """``None`` bears any number of refusals."""
        self._match = match
        self._max_invalid = max_invalid
        self._refusals: dict[str, int] = {}

    def act(self, agent_id: str, action: Action, now: datetime, /) -> None:
        try:
            self._match.act(agent_id, action)
        except IllegalAction as illegal:
            if self._max_invalid is None or agent_id not in self._match.active():
                raise
            count = self._refusals[agent_id] = self._refusals.get(agent_id, 0) + 1
            if count > self._max_invalid:
                self.forfeit(agent_id, ForfeitCause.INVALID, now)
            left = max(0, self._max_invalid + 1 - count)
            raise IllegalAction(illegal.code, illegal.message, {**illegal.data, "attempts_left": left}) from None
        self._refusals.pop(agent_id, None)

    def forfeit(self, agent_id: str, cause: ForfeitCause, now: datetime, /) -> None:
        self._match.forfeit(agent_id, cause)
        self._refusals.pop(agent_id, None)

    def deadline(self, agent_id: str, /) -> datetime | None:
        return None


@dataclass(slots=True, kw_only=True, eq=False)
class Hosted:
    """One match at this server. Only the service changes it."""

    match_id: str
    match: Match[Any]
    created_at: datetime
    seats: tuple[HostedSeat, ...] = ()
    """In the order of the match's agents, one for each; all free where none are given."""

    status: Status = Status.WAITING
    started_at: datetime | None = None
    ended_at: datetime | None = None
    """When it ended or was abandoned."""

    profile: Profile = Profile.SEED
    is_listed: bool = True
    """Whether ``get_matches`` tells strangers of it."""

    is_open: bool = True
    """Whether spectators may watch."""

    driver: Driver = None  # type: ignore[assignment]
    """Through whom the match is moved; an ``UntimedDriver`` where none is given."""

    pushed: int = 0
    """How many of the match's events have been pushed."""

    counted: int = 0
    """How many of them are in ``seen``."""

    seen: dict[str, int] = field(default_factory=dict)
    """Viewer -> the number of the last event that it may know."""

    spectators: dict[str, None] = field(default_factory=dict)
    """Who gets pushes without a seat, in the order of their coming."""

    last_spectator: int = 0
    answers: dict[str, OrderedDict[str, OutgoingFrame]] = field(default_factory=dict)
    """Agent -> ``request_id`` -> what it was answered; the last ``MOST_ANSWERS_KEPT`` of each agent."""

    closing: Event | None = None
    """Why the match was abandoned: one number after the match's own last event."""

    rules: str | None = None
    """The rules in words, once somebody has asked."""

    def __post_init__(self) -> None:
        self.seats = self.seats or free_seats(self.match.agent_ids)
        if tuple(seat.agent_id for seat in self.seats) != self.match.agent_ids:
            raise ValueError("a match has one seat for each of its agents, in their order")
        if self.driver is None:
            self.driver = UntimedDriver(self.match)

    def seat_of(self, agent_id: str) -> HostedSeat | None:
        """The seat of that name, taken or not."""
        return next((seat for seat in self.seats if seat.agent_id == agent_id), None)

    def take(self, seat: HostedSeat) -> None:
        """Put a seat, taken or free, in the place of the one of its name."""
        self.seats = tuple(seat if old.agent_id == seat.agent_id else old for old in self.seats)

    @property
    def open_seats(self) -> int:
        """How many seats are free."""
        return sum(not seat.is_taken for seat in self.seats)


def free_seats(agent_ids: Iterable[str]) -> tuple[HostedSeat, ...]:
    """One free seat for each agent."""
    return tuple(HostedSeat(agent_id=agent_id) for agent_id in agent_ids)


def agents_of(seats: Iterable[HostedSeat]) -> list[dict[str, str]]:
    """Who sits at the table, in the order of the seats; free ones are left out."""
    return [
        {"id": seat.agent_id, "name": seat.name or seat.agent_id, "type": seat.kind} for seat in seats if seat.is_taken
    ]


def freed(seat: HostedSeat) -> HostedSeat:
    """The seat without who sat there."""
    return evolve(seat, name="", kind="ai", is_taken=False, by_account=False)


def is_spectator(agent_id: str) -> bool:
    """Whether this is the name of somebody who only watches: ``spectator-<n>``."""
    return _SPECTATOR_ID.fullmatch(agent_id) is not None


def viewer_of(agent_id: str) -> str:
    """As whom somebody sees a match."""
    return SPECTATOR if is_spectator(agent_id) else agent_id


class MatchStore(Protocol):
    """Where a server keeps its matches."""

    def get(self, match_id: str) -> Hosted | None:
        """``None`` when there is no such match, or no more."""
        ...

    def add(self, hosted: Hosted) -> None:
        """Keep a new match. Raises ``LeagueError`` for an id that is in use."""
        ...

    def remove(self, match_id: str) -> None:
        """Forget a match; nothing happens for one that is not there."""
        ...

    def all(self) -> Sequence[Hosted]:
        """Every match, the newest last."""
        ...


class MemoryStore:
    """A store that lives as long as its process."""

    def __init__(self) -> None:
        self._matches: dict[str, Hosted] = {}

    def get(self, match_id: str) -> Hosted | None:
        return self._matches.get(match_id)

    def add(self, hosted: Hosted) -> None:
        if hosted.match_id in self._matches:
            raise LeagueError(f"there is a match {hosted.match_id} already; give the new one another id")
        self._matches[hosted.match_id] = hosted

    def remove(self, match_id: str) -> None:
        self._matches.pop(match_id, None)

    def all(self) -> Sequence[Hosted]:
        return tuple(self._matches.values())
