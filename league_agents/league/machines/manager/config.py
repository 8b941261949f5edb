"""The configuration of the league manager, and its roster.

Rule: only members of the roster take part. Members are identified by their address, without regard to letter case;
every other id that a message states is a label (protocol 1.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from league_agents.games.q21.rules import RuleSet
from league_agents.kit.errors import ConfigError
from league_agents.league.machines.events import Identity
from league_agents.league.season.pairings import drawn_up
from league_agents.league.season.schedule import (
    MOST_SEASON,
    Schedule,
    ScheduleKind,
    Team,
    check_schedule,
    check_teams,
)
from league_agents.league.season.tie_breaks import TieBreak, check_tie_breaks, usual_tie_breaks
from league_agents.league.wire.address import address_key, read_address
from league_agents.league.wire.kinds import Role
from league_agents.league.wire.reading import id_of

_LONGEST_SEASON_ID = 180
"""Characters of a season id. Round ids contain it, and an id has at most 200 characters."""


class LookupTable(StrEnum):
    """Whether round broadcasts say who is present."""

    OFF = "off"
    """Broadcasts carry no table: all members count as present (protocol 5.4)."""

    SEEN = "seen"
    """Broadcasts list the members that were heard in this season, once they had enough time to be heard. A member that
    is left out loses its match, so an address is left out only if it was silent for the whole season."""


ROUND_WAIT = timedelta(minutes=30)
"""The length of a round whose configuration states none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerConfig:
    """The settings of one season of one league."""

    identity: Identity
    season_id: str
    season_name: str
    league_id: str
    season_number: int
    """The first two digits of game ids, 0 to 99."""

    teams: tuple[Team, ...]
    rules: RuleSet
    schedule: Schedule | None = None
    """The schedule; ``None`` to draw one up for the registered teams when registration closes."""

    schedule_kind: ScheduleKind = ScheduleKind.ROUND_ROBIN
    """The kind of a schedule that is drawn up."""

    rounds: int | None = None
    """The rounds of a Swiss season; ``None`` for as many as determine one winner."""

    games_at_once: int = 1
    """How many games a mailbox may have in a round, each with deadlines of its own."""

    tie_breaks: tuple[TieBreak, ...] = ()
    """The tie-breaks that decide the standings, in this order; empty for the default of the kind of schedule."""

    lot_seed: str = ""
    """The seed of drawn lots; if empty, the season's id."""

    registration_wait: timedelta = timedelta(minutes=10)
    start_delay: timedelta = timedelta(seconds=10)
    """The time from the assignment table to the first round, which starts earlier if all members acknowledge."""

    round_wait: timedelta = ROUND_WAIT
    end_of_round_grace: timedelta = timedelta(minutes=2)
    """How long the manager waits for the reports of matches that were cut off."""

    round_gap: timedelta = timedelta(0)
    """The time from the end of a round to the start of the next."""

    presence_wait: timedelta = timedelta(minutes=1)
    """How long a keep-alive must have been out before silence counts as absence."""

    is_automatic: bool = True
    """Whether the season proceeds automatically once it is opened. If not, every step waits for the operator."""

    results_broadcast: bool = True
    lookup_table: LookupTable = LookupTable.OFF
    core_only: frozenset[str] = frozenset()
    """Addresses of players that understand the five core messages only (protocol 9)."""

    part_teams: int = 25
    """A league with more teams sends each member that understands it the rows of its own games and rank only. Each mail
    of results is then for this many teams: fewer cost more of the day's sends, more cost more bytes."""

    answer_limit: int = 10
    """How many registration answers, tables and errors one participant is sent in a season. A client that is stuck must
    not make the manager write for ever."""

    def __post_init__(self) -> None:
        check_teams(self.teams, least=3)
        if not 0 <= self.season_number <= MOST_SEASON:
            raise ConfigError("season_number", f"must be 0 to {MOST_SEASON}, found {self.season_number}")
        for key, text in (("season_id", self.season_id), ("league_id", self.league_id)):
            if id_of(text) != text or len(text) > _LONGEST_SEASON_ID:
                raise ConfigError(key, f"must be one line of 1 to {_LONGEST_SEASON_ID} visible characters")
        for team in self.teams:
            if id_of(team.group_id) != team.group_id or id_of(team.name) != team.name:
                raise ConfigError("teams", f"{team.group_id[:40]!a}: ids and names are one line of 1 to 200 characters")
        own = address_key(self.identity.email)
        if read_address(self.identity.email) is None:
            raise ConfigError("identity", f"{self.identity.email[:60]!a} is not a mail address")
        if any(own in (address_key(team.player_email), address_key(team.referee_email)) for team in self.teams):
            raise ConfigError("teams", f"{self.identity.email} is the league manager's own mailbox")
        waits = ("registration_wait", "start_delay", "round_wait", "end_of_round_grace", "round_gap", "presence_wait")
        for key in waits:
            if getattr(self, key) < timedelta(0):
                raise ConfigError(key, "must not be negative")
        players = {address_key(team.player_email) for team in self.teams}
        stray = next((address for address in sorted(self.core_only) if address_key(address) not in players), None)
        if stray is not None:
            # A referee must get the end of a round, or it does not send its report (protocol 4.5.1).
            raise ConfigError("core_only", f"{stray[:60]!a} is not a player's address of this league")
        if self.part_teams < 1:
            raise ConfigError("part_teams", f"must be 1 or more, found {self.part_teams}")
        if self.answer_limit < 1:
            raise ConfigError("answer_limit", f"must be 1 or more, found {self.answer_limit}")
        check_tie_breaks(self.table_order, self.schedule_kind if self.schedule is None else self.schedule.kind)
        if self.schedule is None:
            self.whole_schedule()
        else:
            violations = check_schedule(self.schedule, season=self.season_number, games_at_once=self.games_at_once)
            if violations:
                raise ConfigError("schedule", str(violations[0]))
            known = set(self.teams)
            for pairing in self.schedule:
                for team in (pairing.player1, pairing.player2, pairing.referee):
                    if team not in known:
                        raise ConfigError("schedule", f"{pairing.game_id}: {team.group_id} is not one of the teams")

    @property
    def table_order(self) -> tuple[TieBreak, ...]:
        """The tie-breaks in use."""
        kind = self.schedule_kind if self.schedule is None else self.schedule.kind
        return self.tie_breaks or usual_tie_breaks(kind)

    def whole_schedule(self) -> Schedule:
        """The schedule if all teams take part. Raises ``ConfigError``."""
        return self.schedule_of(self.teams)

    def schedule_of(self, players: Sequence[Team], referees: Sequence[Team] | None = None) -> Schedule:
        """The schedule of these teams. Raises ``ConfigError``."""
        return self.schedule or drawn_up(
            self.schedule_kind,
            players,
            season=self.season_number,
            rounds=self.rounds,
            referees=referees,
            games_at_once=self.games_at_once,
        )


class RosterMember(Struct, frozen=True, kw_only=True):
    """One mailbox of the roster."""

    index: int
    """Its place in the roster and in the state's list of members."""

    email: str
    key: str
    """The ``address_key`` by which the address is compared."""

    role: Role
    team: Team
    is_core_only: bool


@dataclass(frozen=True, slots=True)
class Roster:
    """The members with whom the league manager exchanges mail: the players and referees of all teams."""

    members: tuple[RosterMember, ...]
    _by_key: Mapping[str, RosterMember] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {member.key: member for member in self.members})

    def member(self, address: str) -> RosterMember | None:
        """The member with this address; ``None`` for a stranger."""
        return self._by_key.get(address_key(address))


def roster_of(config: ManagerConfig) -> Roster:
    """The roster, team by team."""
    core_only = {address_key(address) for address in config.core_only}
    mailboxes = [
        (email, role, team)
        for team in config.teams
        for email, role in ((team.player_email, Role.PLAYER), (team.referee_email, Role.REFEREE))
    ]
    return Roster(
        tuple(
            RosterMember(
                index=index,
                email=email,
                key=address_key(email),
                role=role,
                team=team,
                is_core_only=address_key(email) in core_only,
            )
            for index, (email, role, team) in enumerate(mailboxes)
        )
    )
