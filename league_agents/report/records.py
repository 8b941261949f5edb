"""What people see of a season: one model for tables, pages, exports and comparisons.

Rule 1: a record is derived from journals, by a reader of ``report.sources``, and decides nothing.
Rule 2: nobody sees what is secret before the match is over: ``visible`` narrows a record to a reader, and takes out too
much rather than too little.
Rule 3: texts in a record are those of strangers. Whoever shows one escapes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from league_agents.kit.values import evolve

RECORD_VERSION = 1
"""Of this model, and so of an export. It grows when a field changes its meaning or goes; a new field with a default
keeps it."""

Viewer = Literal["player", "referee", "public"]
JsonObject = Mapping[str, object]

PLANNED, OPEN, OVER, ANNULLED = "planned", "open", "over", "annulled"
"""How far a match is. ``status`` of a match that is over says how it ended, as in reports (protocol 4.5.1)."""

RESET = "reset"
"""The status of a match that a reset of the league cut off."""

_NOT_OVER = (PLANNED, OPEN)
_LOG_FOR_EVERYBODY = frozenset({"settlement", "round", "season"})
UNKNOWN = "unknown"
"""The status of a match that is over, in a journal that does not say how: a player's own."""


class MessageRecord(Struct, frozen=True, kw_only=True):
    """One mail of a match. What it says is in the match's other fields."""

    at: datetime
    """Of a mail sent: when it was written. Of a mail received: when it arrived."""

    sender: str
    """The address, or the participant's id where addresses are taken out."""

    to: tuple[str, ...]
    message_type: str
    message_id: str
    deadline: datetime | None = None
    """Until when an answer was wanted; ``None`` when it asked for nothing."""

    late_by_s: float | None = None
    """How much later than asked for it arrived; ``None`` when it was in time or nobody waited for it."""


class PlayerRecord(Struct, frozen=True, kw_only=True):
    """One player's run in a match."""

    participant_id: str
    display_name: str = ""
    email: str = ""
    """Empty where addresses are taken out."""

    role: str = ""
    """``PLAYER1`` or ``PLAYER2``."""

    termination: str = ""
    """Why the match ended for this player; empty while it goes on."""

    phase: str = ""
    league_points: float | None = None
    """As the referee scored; ``None`` before."""

    counted_points: float | None = None
    """What the league manager counts; ``None`` if it has not said."""

    private_score: float | None = None
    warmup_answer: str | None = None
    questions: tuple[JsonObject, ...] = ()
    answers: tuple[JsonObject, ...] = ()
    guess: JsonObject | None = None
    scorecard: JsonObject | None = None
    own_report: str | None = None
    """What the player itself reported of the match; kept as evidence, never scored."""

    notes: tuple[str, ...] = ()
    models: tuple[JsonObject, ...] = ()
    """Steps of a language model's work (``kit.model_work``)."""


class Settlement(Struct, frozen=True, kw_only=True):
    """What the organiser changed in a match after the fact."""

    at: datetime
    order: str
    """``annul``, ``correct``, ``replay`` …"""

    why: str
    by: str = ""
    before: JsonObject = msgspec.field(default_factory=dict)
    after: JsonObject = msgspec.field(default_factory=dict)
    withdrawn: bool = False


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
    """``planned``, ``open``, or how it ended."""

    winner_id: str | None = None
    is_draw: bool = False
    abort_reason: str | None = None
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
        """Whether nothing of the match is secret any more."""
        return self.status not in _NOT_OVER

    def names(self) -> dict[str, str]:
        """What those who take part are called, by their addresses."""
        found = {player.email: player.participant_id for player in self.players if player.email}
        return found | ({self.referee_email: f"referee {self.referee_id}".strip()} if self.referee_email else {})

    def player(self, participant_id: str) -> PlayerRecord | None:
        """The player of this id."""
        return next((player for player in self.players if player.participant_id == participant_id), None)


class StandingRow(Struct, frozen=True, kw_only=True):
    """One row of the standings after a round."""

    rank: int
    """Within the division. Players who are equal after all tie-breaks share it."""

    participant_id: str
    display_name: str = ""
    division: str = ""
    played: int = 0
    wins: int = 0
    draws: int | None = None
    """``None`` when the source does not count them, and so for losses."""

    losses: int | None = None
    points: float = 0
    private_score: float | None = None
    """The sum of the private scores; ``None`` when the source is not told it."""

    tie_breaks: Mapping[str, float] = msgspec.field(default_factory=dict)


class ScheduledMatch(Struct, frozen=True, kw_only=True):
    """One match of the schedule, by group ids."""

    round_number: int
    game_id: str
    player1: str
    player2: str
    referee: str
    division: str = ""
    status: str = PLANNED
    """``planned``, ``open``, ``over`` or ``annulled``."""

    winner_id: str | None = None
    is_draw: bool = False
    points: tuple[float | None, float | None] = (None, None)
    """What the league manager counts for ``player1`` and ``player2``; ``None`` while it has not said."""


class TeamRecord(Struct, frozen=True, kw_only=True):
    """One group that takes part."""

    participant_id: str
    display_name: str = ""
    division: str = ""
    withdrawn: bool = False
    player_email: str = ""
    referee_email: str = ""


class LogEntry(Struct, frozen=True, kw_only=True):
    """One line of the audit trail."""

    at: datetime
    kind: str
    """``order``, ``settlement``, ``refusal``, ``warning``, ``notice``, ``round``, ``season``."""

    text: str
    by: str = ""
    """Whose journal it is from: role and address, or the division."""


class SeasonRecord(Struct, frozen=True, kw_only=True):
    """A season without its matches: those are read one at a time."""

    version: int = RECORD_VERSION
    season_id: str = ""
    name: str = ""
    league_id: str = ""
    rules: str = ""
    tie_breaks: tuple[str, ...] = ()
    divisions: tuple[str, ...] = ()
    """Empty for a season that has none."""

    teams: tuple[TeamRecord, ...] = ()
    schedule: tuple[ScheduledMatch, ...] = ()
    standings_after: Mapping[int, tuple[StandingRow, ...]] = msgspec.field(default_factory=dict)
    """By round; of all divisions one after the other."""

    is_over: bool = False
    log: tuple[LogEntry, ...] = ()

    def standings(self, round_number: int | None = None) -> tuple[StandingRow, ...]:
        """The table after a round, by default the latest; empty when there is none."""
        rounds = self.standings_after
        wanted = max(rounds, default=0) if round_number is None else round_number
        return rounds.get(wanted, ())


def visible(match: MatchRecord, viewer: Viewer, team: str = "") -> MatchRecord:
    """What a reader may see of a match.

    ``player`` and ``team``: of an open match that player's own questions, answers, guess and feedback, and what both
    players were told. ``referee``: also what both players asked. ``public``: of an open match that it is played, and
    never an address. The target, and the guesses and scores of others, which may tell it, are seen when the match is
    over.
    """
    if viewer == "public":
        return _without_addresses(match if match.is_over else _bare(match))
    players = tuple(
        player if viewer == "player" and player.participant_id == team else _seen_by_others(match, player, viewer)
        for player in match.players
    )
    if viewer == "player":
        # Warnings are for the person whose agent they are about.
        match = evolve(match, notes=(), models=match.models if match.is_over else ())
    return evolve(match, players=players, target=match.target if match.is_over else None)


def visible_season(season: SeasonRecord, viewer: Viewer) -> SeasonRecord:
    """What a reader other than the league manager may see of a season: the results, and what was settled.

    ``public``: without addresses, and so without what the audit trail says of them.
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
    """Who plays and how far the game is."""
    return PlayerRecord(
        participant_id=player.participant_id,
        display_name=player.display_name,
        email=player.email,
        role=player.role,
        phase=player.phase,
    )


def _seen_by_others(match: MatchRecord, player: PlayerRecord, viewer: Viewer) -> PlayerRecord:
    if match.is_over:
        return evolve(player, notes=()) if viewer == "player" else player
    if viewer == "player":
        return _stripped(player)
    # A guess and what it scored may tell what the other player still seeks.
    return evolve(
        player,
        guess=None,
        scorecard=None,
        league_points=None,
        counted_points=None,
        private_score=None,
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
