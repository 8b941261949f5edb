"""The records of a season for display: one model for tables, pages, exports and comparisons.

Rule 1: a record is derived from journals, by a reader of ``report.sources``, and decides nothing.
Rule 2: secrets of a match are hidden until it is over: ``visible`` narrows a record to a viewer, and removes too much
rather than too little.
Rule 3: texts in a record are untrusted. Code that displays one escapes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal

import msgspec
from msgspec import Struct

from league_agents.kit.values import evolve

RECORD_VERSION = 1
"""Version of this model, and so of an export. It grows when a field changes its meaning or is removed, not for a new
field with a default."""

Viewer = Literal["player", "referee", "public"]
JsonObject = Mapping[str, object]
ResultKind = Literal["won", "drawn", "lost", "nobody", "open", "unplayed", "annulled", "replayed"]
"""The result of a match for one of its players. ``nobody``: the match is over, has no winner and is no draw."""

PLANNED, OPEN, OVER, ANNULLED, REPLAYED = "planned", "open", "over", "annulled", "replayed"
"""Progress of a match. ``status`` of a match that is over is its termination, as in reports (protocol 4.5.1)."""

RESET = "reset"
"""The status of a match that was cut off by a reset of the league."""

NOT_PLAYED = "not_played"
"""The status of a match that was still planned when its season ended."""

NOT_BEGUN = (PLANNED, NOT_PLAYED)
_NOT_OVER = (*NOT_BEGUN, OPEN)
_LOG_FOR_EVERYBODY = frozenset({"settlement", "round", "season"})
UNKNOWN = "unknown"
"""The status of a match that is over, in a journal without its result: a player's own."""


class MessageRecord(Struct, frozen=True, kw_only=True):
    """One mail of a match. Its contents are in the match's other fields."""

    at: datetime
    """For a sent mail, when it was written; for a received mail, when it arrived."""

    sender: str
    """The address, or the participant's id if addresses are removed."""

    to: tuple[str, ...]
    message_type: str
    message_id: str
    deadline: datetime | None = None
    """The deadline of the requested answer; ``None`` when it requests none."""

    late_by_s: float | None = None
    """Delay after the deadline; ``None`` when it was in time or had no deadline."""


class PlayerRecord(Struct, frozen=True, kw_only=True):
    """One player's run in a match."""

    participant_id: str
    display_name: str = ""
    email: str = ""
    """Empty if addresses are removed."""

    role: str = ""
    """``PLAYER1`` or ``PLAYER2``."""

    termination: str = ""
    """The reason why the match ended for this player; empty while it goes on."""

    phase: str = ""
    league_points: float | None = None
    """The referee's score; ``None`` before."""

    counted_points: float | None = None
    """The points that the league manager counts; ``None`` if it has not reported them."""

    private_score: float | None = None
    warmup_answer: str | None = None
    questions: tuple[JsonObject, ...] = ()
    answers: tuple[JsonObject, ...] = ()
    candidates_left: tuple[float, ...] = ()
    """The number of candidates that the player's agent had after each answer, in the order of the questions. Empty if
    it stated none, before the score, in a source without its journal, and for its opponent."""

    guess: JsonObject | None = None
    scorecard: JsonObject | None = None
    own_report: str | None = None
    """The player's own report of the match; kept as evidence, never scored."""

    notes: tuple[str, ...] = ()
    models: tuple[JsonObject, ...] = ()
    """Steps of a language model's work (``kit.model_work``)."""


class Settlement(Struct, frozen=True, kw_only=True):
    """A change to a match by the organiser after the fact."""

    at: datetime
    order: str
    """``annul``, ``correct``, ``replay`` …"""

    why: str
    by: str = ""
    before: JsonObject = msgspec.field(default_factory=dict)
    after: JsonObject = msgspec.field(default_factory=dict)
    withdrawn: bool = False

    @property
    def words(self) -> str:
        """The order, and the match that this one replays or the referee who steps in."""
        first, referee = self.after.get("replay_of"), self.after.get("referee")
        return f"{self.order} of {first}" if first else f"{self.order} {referee}" if referee else self.order


class MatchRecord(Struct, frozen=True, kw_only=True):
    """One match."""

    game_id: str
    season_id: str = ""
    round_number: int = 0
    division: str = ""
    referee_id: str = ""
    """The referee's group id."""

    referee_email: str = ""
    rules: str = ""
    status: str
    """``planned``, ``not_played``, ``open``, or the termination."""

    winner_id: str | None = None
    is_draw: bool = False
    abort_reason: str | None = None
    absent: tuple[str, ...] = ()
    """Who did not do their part: ``player1``, ``player2``, ``referee``. Only the league manager's journal says it."""

    is_walkover: bool = False
    """Whether points were given for the absence of somebody, and not for a game."""

    caused_by: str | None = None
    """The participant who caused the abort."""

    warmup_question: str | None = None
    brief: JsonObject | None = None
    target: JsonObject | None = None
    """``None`` unless the match is over and the source knows it."""

    players: tuple[PlayerRecord, ...] = ()
    messages: tuple[MessageRecord, ...] = ()
    notes: tuple[str, ...] = ()
    models: tuple[JsonObject, ...] = ()
    settlements: tuple[Settlement, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tokens: int | None = None
    cost_usd: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether all secrets of the match are revealed."""
        return self.status not in _NOT_OVER

    def names(self) -> dict[str, str]:
        """The names of the participants, by their addresses."""
        found = {player.email: player.participant_id for player in self.players if player.email}
        return found | ({self.referee_email: f"referee {self.referee_id}".strip()} if self.referee_email else {})

    def absence(self) -> str:
        """Who was absent, and what that counted for each player; empty if everybody was there.

        ``otters; by walkover: falcons 3, otters 0``
        """
        seats = {"referee": f"referee {self.referee_id}".strip()}
        seats |= {player.role: player.participant_id for player in self.players}
        points = [
            f"{player.participant_id} {player.counted_points:g}"
            for player in self.players
            if player.counted_points is not None
        ]
        counted = f"; {'by walkover' if self.is_walkover else 'counted'}: {', '.join(points)}" if points else ""
        return f"{' and '.join(seats.get(each, each) for each in self.absent)}{counted}" if self.absent else ""

    def player(self, participant_id: str) -> PlayerRecord | None:
        """The player with this id; ``None`` if there is none."""
        return next((player for player in self.players if player.participant_id == participant_id), None)


class StandingRecord(Struct, frozen=True, kw_only=True):
    """One row of the standings after a round."""

    rank: int
    """Rank within the division. Players who are equal after all tie-breaks share it."""

    participant_id: str
    display_name: str = ""
    division: str = ""
    played: int = 0
    wins: int = 0
    draws: int | None = None
    """``None`` when the source does not count them; the same for losses."""

    losses: int | None = None
    """Matches that another player won. A match without a winner is no loss."""

    points: float = 0
    private_score: float | None = None
    """The sum of the private scores; ``None`` when the source does not know it."""

    tie_breaks: Mapping[str, float] = msgspec.field(default_factory=dict)
    move: str = ""
    """``promoted`` or ``relegated`` if the season ends like this; empty for a team that stays in its division."""

    @property
    def without_result(self) -> int:
        """Matches that were counted although nobody won and that are no draws; 0 if the source does not know."""
        if self.draws is None or self.losses is None:
            return 0
        return max(0, self.played - self.wins - self.draws - self.losses)


class ScheduledMatch(Struct, frozen=True, kw_only=True):
    """One match of the schedule, by group ids."""

    round_number: int
    game_id: str
    player1: str
    player2: str
    referee: str
    division: str = ""
    status: str = PLANNED
    """``planned``, ``not_played``, ``open``, ``over``, ``annulled`` or ``replayed``."""

    winner_id: str | None = None
    is_draw: bool = False
    is_walkover: bool = False
    """Whether the winner won without a game. Such a match says nothing of anybody's strength."""

    replay_of: str = ""
    """The id of the match that this one replays; empty for any other match."""

    points: tuple[float | None, float | None] = (None, None)
    """The league manager's points for ``player1`` and ``player2``; ``None`` until it reports them."""

    def result_of(self, participant_id: str) -> ResultKind:
        """The result for one of the players. Standings, pages and cross tables count by it."""
        if self.status == ANNULLED:
            return "annulled"
        if self.status == REPLAYED:
            return "replayed"
        if self.status == NOT_PLAYED:
            return "unplayed"
        if self.status != OVER:
            return "open"
        if self.winner_id is None:
            return "drawn" if self.is_draw else "nobody"
        return "won" if self.winner_id == participant_id else "lost"


class TeamRecord(Struct, frozen=True, kw_only=True):
    """One participating group."""

    participant_id: str
    display_name: str = ""
    division: str = ""
    withdrawn: bool = False
    player_email: str = ""
    referee_email: str = ""


class AuditEntry(Struct, frozen=True, kw_only=True):
    """One line of the audit trail."""

    at: datetime
    kind: str
    """``order``, ``waiting`` for an order that is not carried out yet, ``refusal`` for one that was refused,
    ``settlement``, ``warning``, ``notice``, ``round``, ``season``."""

    text: str
    by: str = ""
    """The journal it is from: role and address, or the division."""


class DisputeKind(StrEnum):
    """What a person must look at in a match."""

    CONTRADICTORY = "contradictory"
    """Its referee sent reports that differ."""
    UNREADABLE = "unreadable"
    """A report of its referee cannot be read."""
    LATE = "late"
    """Its referee reported after the end of the round."""
    MISSING = "missing"
    """Its referee never reported."""
    NOT_THE_REFEREE = "not-the-referee"
    """Somebody reported it who does not judge it."""
    PLAYER_DIFFERS = "player-differs"
    """A player's own report states other points than its referee."""
    OBJECTION = "objection"
    """A member named the match in a free text."""


class DisputeEvidence(Struct, frozen=True, kw_only=True):
    """One thing that somebody sent or received."""

    at: datetime
    by: str
    """Who sent it, or whose journal it is from."""

    text: str


class DisputeRecord(Struct, frozen=True, kw_only=True):
    """Something for the organiser to settle in one match."""

    game_id: str
    round_number: int = 0
    division: str = ""
    kind: DisputeKind
    text: str
    counts: str = ""
    """What counts now: ``completed 3:0``; empty before anything does."""

    settled: str = ""
    """The settlement that holds: ``annul``; empty if there is none."""

    evidence: tuple[DisputeEvidence, ...] = ()


class SeasonRecord(Struct, frozen=True, kw_only=True):
    """A season without its matches, which are read one at a time."""

    version: int = RECORD_VERSION
    season_id: str = ""
    name: str = ""
    league_id: str = ""
    rules: str = ""
    tie_breaks: tuple[str, ...] = ()
    divisions: tuple[str, ...] = ()
    """Empty for a season without divisions."""

    teams: tuple[TeamRecord, ...] = ()
    schedule: tuple[ScheduledMatch, ...] = ()
    standings_after: Mapping[int, tuple[StandingRecord, ...]] = msgspec.field(default_factory=dict)
    """By round; the divisions follow one another."""

    whole_standings: Mapping[int, int] = msgspec.field(default_factory=dict)
    """The number of rows of the whole table, by the rounds of which the source was sent its own rows only."""

    is_over: bool = False
    log: tuple[AuditEntry, ...] = ()

    def standings(self, round_number: int | None = None) -> tuple[StandingRecord, ...]:
        """The table after a round, by default the latest; empty when there is none."""
        rounds = self.standings_after
        wanted = max(rounds, default=0) if round_number is None else round_number
        return rounds.get(wanted, ())


def visible(match: MatchRecord, viewer: Viewer, team: str = "") -> MatchRecord:
    """Narrow a match to what a viewer may see.

    ``player`` and ``team``: of an open match that player's own questions, answers, guess and feedback, and the messages
    to both players. ``referee``: also the questions of both players. ``public``: of an open match only that it is
    played, and never an address. The target, and the guesses and scores of others, which may reveal it, are visible
    when the match is over.
    """
    if viewer == "public":
        return _without_addresses(match if match.is_over else _bare(match))
    players = tuple(
        player if viewer == "player" and player.participant_id == team else _seen_by_others(match, player, viewer)
        for player in match.players
    )
    if viewer == "player":
        # Warnings are for the owner of the agent only.
        match = evolve(match, notes=(), models=match.models if match.is_over else ())
    return evolve(match, players=players, target=match.target if match.is_over else None)


def visible_season(season: SeasonRecord, viewer: Viewer) -> SeasonRecord:
    """Narrow a season to a viewer other than the league manager: the results and the settlements.

    ``public``: without addresses, and so without the parts of the audit trail that contain them.
    """
    log = tuple(evolve(entry, by="") for entry in season.log if entry.kind in _LOG_FOR_EVERYBODY)
    if viewer != "public":
        return evolve(season, log=log)
    teams = tuple(evolve(team, player_email="", referee_email="") for team in season.teams)
    return evolve(season, log=log, teams=teams)


def _bare(match: MatchRecord) -> MatchRecord:
    return evolve(
        match,
        warmup_question=None,
        brief=None,
        target=None,
        notes=(),
        models=(),
        players=tuple(_stripped(player) for player in match.players),
    )


def _stripped(player: PlayerRecord) -> PlayerRecord:
    """A player's identity and progress only."""
    return PlayerRecord(
        participant_id=player.participant_id,
        display_name=player.display_name,
        email=player.email,
        role=player.role,
        phase=player.phase,
    )


def _seen_by_others(match: MatchRecord, player: PlayerRecord, viewer: Viewer) -> PlayerRecord:
    if match.is_over:
        return evolve(player, notes=(), candidates_left=()) if viewer == "player" else player
    if viewer == "player":
        return _stripped(player)
    # A guess and its score may reveal the target that the other player still seeks.
    return evolve(
        player,
        guess=None,
        scorecard=None,
        league_points=None,
        counted_points=None,
        private_score=None,
        candidates_left=(),
        notes=(),
        models=(),
    )


def _without_addresses(match: MatchRecord) -> MatchRecord:
    names = {address.casefold(): name for address, name in match.names().items()}

    def named(address: str) -> str:
        known = names.get(address.casefold())
        return known if known is not None else "" if "@" in address else address

    reason, colon, who = (match.abort_reason or "").partition(":")
    return evolve(
        match,
        referee_email="",
        abort_reason=None if match.abort_reason is None else f"{reason}{colon}{named(who)}".rstrip(":"),
        players=tuple(evolve(player, email="", notes=()) for player in match.players),
        messages=tuple(
            evolve(message, sender=named(message.sender), to=tuple(named(each) for each in message.to))
            for message in match.messages
        ),
        notes=(),
    )
