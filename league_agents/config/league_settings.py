"""The values of a league file: the roles, the Gmail connection, the season, the log.

Rule: these values have been checked; code that uses them need not check again.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from league_agents.config.model_settings import ModelSettings
from league_agents.config.storage_url import JournalPlace
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.errors import ConfigError
from league_agents.league.machines.manager.config import LookupTable
from league_agents.league.season.divisions import DivisionPlace
from league_agents.league.season.schedule import ScheduleKind, Team
from league_agents.league.season.tie_breaks import TieBreak
from league_agents.league.wire.address import address_key
from league_agents.mail.gmail.failures import server_named
from league_agents.mail.identity import Require
from league_agents.mail.quota import QuotaLimits
from league_agents.runner.pace import Pace

DEFAULT_FILE = "league.yaml"
"""The league file of a command that is given none."""

RoleName = Literal["referee", "player", "manager"]
ROLES: tuple[RoleName, ...] = ("manager", "referee", "player")
"""The order in which the roles' lines are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """One role and its mailbox."""

    role: RoleName
    address: str
    """The address as Gmail spells it: deployed clients compare addresses case-sensitively (protocol 1.1)."""

    journal: JournalPlace
    token: Path
    participant_id: str
    name: str = ""
    """What distinguishes it from others of its kind in one process; empty where there is one of a kind."""

    where: str = ""
    """Its section of the league file, for error messages: ``league.yaml.roles.player``."""

    teams: tuple[Team, ...] = ()
    """Those of a league manager, and of nobody else."""

    division: DivisionPlace | None = None
    """A league manager's, where each division has one."""

    group_id: str = ""
    display_name: str = ""
    agent: str = ""
    """``offline``, ``scripted:NAME``, ``module:Class``; empty for the league manager, which has no agent."""

    opening_sentence: str | None = field(default=None, repr=False)
    associative_word: str | None = field(default=None, repr=False)
    """The target, when the league file fixes it instead of the referee's agent."""

    assignment_table_id: str | None = None
    avoid_not_relevant: bool = False

    @property
    def label(self) -> str:
        """The role as logs and commands name it: ``referee``, or ``referee NAME`` where several run together."""
        return f"{self.role} {self.name}" if self.name else self.role

    @property
    def section(self) -> str:
        """Its section within the league file: ``roles.player``, ``roles.player[2]``."""
        return self.where[self.where.rindex("roles.") :] if "roles." in self.where else f"roles.{self.role}"

    @property
    def identity(self) -> tuple[str, str]:
        """The kind and the mailbox: the same role in every version of a league file."""
        return self.role, address_key(self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonSettings:
    """The season that a league manager runs. All divisions have the same."""

    season_id: str
    name: str
    number: int
    follows: str
    """The id of the season whose tables made the divisions; empty for one that an order begins."""

    promoted: int
    """How many teams rise from each division after the season, and fall into it."""

    opens_by_itself: bool
    is_automatic: bool
    schedule_kind: ScheduleKind
    rounds: int | None
    games_at_once: int
    tie_breaks: tuple[TieBreak, ...]
    lot_seed: str
    results_broadcast: bool
    lookup_table: LookupTable
    core_only: tuple[str, ...]
    waits: Mapping[str, timedelta]
    """Durations by the names of ``ManagerConfig``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushSettings:
    """Where Gmail publishes that mail has arrived."""

    topic: str
    subscription: str
    endpoint: str
    credentials: Path | None
    """Key file of a service account; ``None`` for the application default credentials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GmailSettings:
    """The connection to Gmail."""

    credentials: Path
    endpoint: str
    sender_check: Require
    mail_server: str
    """The name of our receiving server in ``Authentication-Results``."""

    timeout: timedelta
    looks_into_spam: bool
    prices: Mapping[str, int]
    limits: QuotaLimits
    push: PushSettings | None = None
    """``None``: new mail is found by polling alone."""

    @property
    def awaited(self) -> str:
        """The server that is awaited and the time limit, in words."""
        address = urlsplit(self.endpoint)
        server = server_named(address.hostname or "", address.port)
        return f"waiting for {server}, at most {self.timeout.total_seconds():g} s for each answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """The settings of the log."""

    level: str
    is_json: bool
    file: Path | None
    """``None`` means stderr."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    """Where figures of the running process are served."""

    host: str
    """An IP address."""

    port: int
    """0: any free port."""


def command_with(path: Path, *words: str) -> str:
    """A command line that reads this league file, with ``--config`` if it is needed."""
    named = () if path == Path(DEFAULT_FILE) else ("--config", str(path))
    return shlex.join(("league-agents", *words, *named))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeagueSettings:
    """All values of a league file, overridden by the environment."""

    path: Path
    manager_email: str
    league_id: str
    rules: RuleSet
    is_demo: bool
    pace: Pace
    gmail: GmailSettings
    log: LogSettings
    roles: tuple[RoleSettings, ...]
    season: SeasonSettings | None
    """``None`` without a league manager."""

    models: ModelSettings = field(default_factory=lambda: ModelSettings(where="models"))
    """Language models, for agents that use them."""

    archive_after: timedelta | None = None
    """Age at which closed matches are archived; ``None`` for never."""

    metrics: MetricsSettings | None = None
    """``None``: figures are not served."""

    metrics_for_others: bool = False
    """Whether the figures may be served where other machines reach them."""

    in_process: bool = False
    """Whether classes of the user's own run in the daemon's process."""

    @property
    def lists_several(self) -> bool:
        """Whether several roles of a kind run."""
        return len({role.role for role in self.roles}) < len(self.roles)

    def command(self, *words: str) -> str:
        """A command line that reads the same league file."""
        return command_with(self.path, *words)

    def role(self, name: str) -> RoleSettings:
        """The settings of the only role of a kind. Raises ``ConfigError``."""
        found = [role for role in self.roles if role.role == name]
        if not found:
            has = ", ".join(dict.fromkeys(role.role for role in self.roles))
            raise ConfigError(f"{self.path}.roles.{name}", f"is not in the file, which has {has}")
        if len(found) > 1:
            names = ", ".join(role.name for role in found[:10])
            raise ConfigError(
                f"{self.path}.roles.{name}",
                f"lists {len(found)} mailboxes, and one is needed here: name one with --mailbox ({names})",
            )
        return found[0]
