"""What is kept of a match beside the lines of its transcript.

Rule: these values are read by later versions of this program. A new field needs a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from league_agents.arena.decisions import ClockRules, ClockState
from league_agents.arena.protocol.hosting import Hosted, HostedSeat, Profile, Status
from league_agents.arena.scenario import Scenario, ScenarioSeat
from league_agents.turns.match import Match

NO_CLOCKS = ClockState(open={}, bank={}, forfeits={}, gone_since={}, left=[])


class OpenedMatch(Struct, frozen=True, kw_only=True):
    """How a match was opened."""

    game: str
    config: dict[str, Any]
    agents: tuple[ScenarioSeat, ...]
    lang: str
    clock: ClockRules
    interaction: dict[str, Any] | None
    seed: int
    house_seed: int
    opener: str
    pause_s: float
    profile: str
    is_listed: bool
    is_open: bool
    created_at: datetime

    def hosted(self, match_id: str, match: Match[Any], play: MatchInPlay) -> Hosted:
        """The match for the protocol's service."""
        return Hosted(
            match_id=match_id,
            match=match,
            created_at=self.created_at,
            seats=play.seats,
            status=Status(play.status),
            started_at=play.started_at,
            ended_at=play.ended_at,
            profile=Profile(self.profile),
            is_listed=self.is_listed,
            is_open=self.is_open,
            last_spectator=play.last_spectator,
        )

    @property
    def scenario(self) -> Scenario:
        """The scenario; a server's names no classes of users."""
        return Scenario(
            game=self.game,
            config=self.config,
            seats=self.agents,
            lang=self.lang,
            clock=self.clock,
            interaction=self.interaction,
        )


class MatchInPlay(Struct, frozen=True, kw_only=True):
    """How far a match is, beside its decisions."""

    seats: tuple[HostedSeat, ...]
    status: str
    started_at: datetime | None
    ended_at: datetime | None
    last_spectator: int = 0
    reason: str | None = None
    """Why it was abandoned; ``None`` if it was not."""

    @classmethod
    def of(cls, hosted: Hosted) -> MatchInPlay:
        """How far this match is."""
        return cls(
            seats=hosted.seats,
            status=hosted.status.value,
            started_at=hosted.started_at,
            ended_at=hosted.ended_at,
            last_spectator=hosted.last_spectator,
            reason=None if hosted.closing is None else hosted.closing.text,
        )


class SeatResult(Struct, frozen=True, kw_only=True):
    """What one seat of a finished match achieved."""

    agent_id: str
    contender: str
    is_winner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMatch:
    """One match as the file holds it."""

    match_id: str
    opened: OpenedMatch
    play: MatchInPlay
    clocks: ClockState
    is_finished: bool
    lines: list[str]
    tokens: list[tuple[str, str, bytes]]
    """Agent, public half of its token, digest of the secret half."""

    answers: list[tuple[str, str, str]]
    """Agent, ``request_id``, answer; oldest first."""

    @property
    def text(self) -> str:
        """The transcript so far."""
        return "".join(f"{line}\n" for line in self.lines)


def written_blob(value: Struct) -> bytes:
    """A value as it is kept."""
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"cannot keep a {type(value).__name__}")
