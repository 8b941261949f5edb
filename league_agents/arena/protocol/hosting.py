"""The matches that a server keeps: their seats, spectators and drivers.

Rule: this module reads no clock; the caller passes every instant.
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
"""Answers kept per agent, to be repeated for the same ``request_id`` (arena 5.3)."""

_SPECTATOR_ID = re.compile(r"spectator-[0-9]{1,9}")


class Status(StrEnum):
    """The status of a match."""

    WAITING = "waiting"
    STARTED = "started"
    ENDED = "ended"
    ABANDONED = "abandoned"


class Profile(StrEnum):
    """The published form of the protocol that a server sends. The two forms differ; both are 1.0.0."""

    SEED = "seed"
    """The protocol's own page, with ``push_message``."""

    SCHEMAS = "schemas"
    """The organisation's schemas, with ``push_event`` (arena 5.3)."""


class NoSeat(LeagueError):
    """The match has no free seat of this kind."""


class HostedSeat(Struct, frozen=True, kw_only=True):
    """One seat of a match."""

    agent_id: str
    name: str = ""
    """Display name; ``""`` while the seat is free."""

    kind: Literal["human", "ai"] = "ai"
    is_taken: bool = False
    by_account: bool = False
    """Whether the seat was taken from the lobby by the account of the same name, and so has no token of its own."""


class Driver(Protocol):
    """Applies actions to a match, keeps its clocks and counts refusals. A session brings its own."""

    def act(self, agent_id: str, action: Action, now: datetime, /) -> object:
        """Take an action. Raises ``IllegalAction``, with ``attempts_left`` in its data if refusals are counted; if the
        refusal costs the decision, it is forfeited before the exception is raised."""
        ...

    def forfeit(self, agent_id: str, cause: ForfeitCause, now: datetime, /) -> object:
        """Forfeit the action that the agent owes."""
        ...

    def deadline(self, agent_id: str, /) -> datetime | None:
        """The deadline of the action that the agent owes; ``None`` without a clock."""
        ...


class UntimedDriver:
    """A driver without a clock: allows ``max_invalid`` refusals in one decision; the next one forfeits it (arena 6)."""

    def __init__(self, match: Match[Any], max_invalid: int | None = 2) -> None:
        """``max_invalid=None`` allows any number of refusals."""
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
    """One match on this server. Only the service changes it."""

    match_id: str
    match: Match[Any]
    created_at: datetime
    seats: tuple[HostedSeat, ...] = ()
    """One for each agent of the match, in the same order. If none are given, all seats are free."""

    status: Status = Status.WAITING
    started_at: datetime | None = None
    ended_at: datetime | None = None
    """When the match ended or was abandoned; ``None`` before that."""

    profile: Profile = Profile.SEED
    is_listed: bool = True
    """Whether ``get_matches`` lists it."""

    is_open: bool = True
    """Whether spectators may watch."""

    driver: Driver = None  # type: ignore[assignment]
    """Applies actions to the match; an ``UntimedDriver`` if none is given."""

    pushed: int = 0
    """How many of the match's events have been pushed."""

    counted: int = 0
    """How many of the match's events ``seen`` accounts for."""

    seen: dict[str, int] = field(default_factory=dict)
    """Viewer -> the number of the last event visible to it."""

    spectators: dict[str, None] = field(default_factory=dict)
    """Spectators who get pushes, in order of arrival."""

    last_spectator: int = 0
    answers: dict[str, OrderedDict[str, OutgoingFrame]] = field(default_factory=dict)
    """Agent -> ``request_id`` -> answer; the last ``MOST_ANSWERS_KEPT`` of each agent."""

    closing: Event | None = None
    """Says why the match was abandoned; numbered one after the match's last event. ``None`` if it was not abandoned."""

    rules: str | None = None
    """The rules in words; ``None`` until first requested."""

    def __post_init__(self) -> None:
        self.seats = self.seats or free_seats(self.match.agent_ids)
        if tuple(seat.agent_id for seat in self.seats) != self.match.agent_ids:
            raise ValueError("a match has one seat for each of its agents, in their order")
        if self.driver is None:
            self.driver = UntimedDriver(self.match)

    def seat_of(self, agent_id: str) -> HostedSeat | None:
        """The seat with that id, taken or free."""
        return next((seat for seat in self.seats if seat.agent_id == agent_id), None)

    def take(self, seat: HostedSeat) -> None:
        """Replace the seat with the same id."""
        self.seats = tuple(seat if old.agent_id == seat.agent_id else old for old in self.seats)

    @property
    def open_seats(self) -> int:
        """The number of free seats."""
        return sum(not seat.is_taken for seat in self.seats)


def free_seats(agent_ids: Iterable[str]) -> tuple[HostedSeat, ...]:
    """One free seat for each agent."""
    return tuple(HostedSeat(agent_id=agent_id) for agent_id in agent_ids)


def agents_of(seats: Iterable[HostedSeat]) -> list[dict[str, str]]:
    """The agents of the taken seats, in seat order."""
    return [
        {"id": seat.agent_id, "name": seat.name or seat.agent_id, "type": seat.kind} for seat in seats if seat.is_taken
    ]


def freed(seat: HostedSeat) -> HostedSeat:
    """A free copy of the seat."""
    return evolve(seat, name="", kind="ai", is_taken=False, by_account=False)


def is_spectator(agent_id: str) -> bool:
    """Whether the id is that of a spectator: ``spectator-<n>``."""
    return _SPECTATOR_ID.fullmatch(agent_id) is not None


def viewer_of(agent_id: str) -> str:
    """The viewer whose view an agent or spectator is shown."""
    return SPECTATOR if is_spectator(agent_id) else agent_id


class MatchStore(Protocol):
    """Storage for the matches of a server."""

    def get(self, match_id: str) -> Hosted | None:
        """The match; ``None`` if the store does not hold it."""
        ...

    def add(self, hosted: Hosted) -> None:
        """Store a new match. Raises ``LeagueError`` if its id is in use."""
        ...

    def remove(self, match_id: str) -> None:
        """Remove a match; no-op if the store does not hold it."""
        ...

    def all(self) -> Sequence[Hosted]:
        """All matches, oldest first."""
        ...


class MemoryStore:
    """A store in memory."""

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
