"""``league.yaml``: what a team tells the daemon, read strictly.

Rule 1: a key that nobody knows is a mistake, and so is a value that cannot be right: it is said at the start, not in
the third week of the season.
Rule 2: the environment wins over the file, under the names that deployed referees and players use (protocol 8). A name
that fits more than one role of this process is refused, because nobody could tell which one it means.
Rule 3: file names are seen from the file's own folder.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path

from league_agents.errors import ConfigError
from league_agents.games.q21.rules import RuleSet, rule_set_from
from league_agents.league.manager_config import LookupTable
from league_agents.league.schedule import Team
from league_agents.mail.gmail.mailbox import ENDPOINT_VARIABLE, GMAIL_ENDPOINT
from league_agents.mail.identity import GMAIL, Require
from league_agents.mail.quota import PRICES_2026, PRICES_BEFORE_2026, Limits
from league_agents.protocol.league.address import same_address
from league_agents.runner.pace import Pace
from league_agents.settings.league_settings import (
    DEFAULT_FILE,
    ROLES,
    GmailSettings,
    LeagueSettings,
    LogSettings,
    RoleName,
    RoleSettings,
    SeasonSettings,
)
from league_agents.settings.mapping_file import read_mapping
from league_agents.settings.model_settings import read_models
from league_agents.settings.rules import rules_named
from league_agents.settings.sections import Environment, Section
from league_agents.settings.storage import file_of
from league_agents.values import evolve

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

_TOP = ("league", "rules", "waits", "demo", "poll", "gmail", "log", "roles", "season", "models")
_LEAGUE = ("manager_email", "league_id")
_WAITS = ("warmup_seconds", "questions_seconds", "guess_seconds", "grace_seconds")
_POLL = ("active_seconds", "idle_seconds")
_GMAIL = (
    "credentials",
    "endpoint",
    "sender_check",
    "mail_server",
    "timeout_seconds",
    "look_into_spam",
    "price_table",
    "prices",
    "quota",
)
_LOG = ("level", "json", "file")
_ROLE = ("address", "journal", "token")
_PARTICIPANT = (*_ROLE, "id", "group_id", "display_name", "agent")
_REFEREE = (*_PARTICIPANT, "target", "assignment_table_id", "avoid_not_relevant")
_SEASON = (
    "id",
    "name",
    "number",
    "opens_by_itself",
    "is_automatic",
    "meet_twice",
    "registration_seconds",
    "start_delay_seconds",
    "round_seconds",
    "end_of_round_grace_seconds",
    "round_gap_seconds",
    "presence_seconds",
    "results_broadcast",
    "lookup_table",
    "core_only",
    "teams",
)
_TEAM = ("group_id", "player", "referee", "name")


def find_league_file(named: Path | None) -> Path:
    """The file that was named, or ``league.yaml`` in the current folder. Raises ``ConfigError``."""
    path = Path(DEFAULT_FILE) if named is None else named
    if not path.is_file():
        raise ConfigError(
            str(path),
            "there is no such file; copy config/league.example.yaml and fill it in, name yours with --config, or"
            " convert the settings of another client with 'league-agents config import FILE'",
        )
    return path


def environment_of(path: Path) -> dict[str, str]:
    """The process's environment, and below it the ``.env`` files beside the league file and in the current folder."""
    from dotenv import dotenv_values

    found: dict[str, str] = {}
    for place in (Path.cwd(), path.resolve().parent):
        try:
            values = dotenv_values(place / ".env", interpolate=False) if (place / ".env").is_file() else {}
        except (OSError, UnicodeDecodeError) as error:
            why = type(error).__name__
            raise ConfigError(str(place / ".env"), f"cannot be read ({why}); save it as UTF-8") from None
        found.update({name: value for name, value in values.items() if value is not None})
    return {**found, **os.environ}


def read_league_file(
    path: Path, environment: Mapping[str, str], *, only: Sequence[str] = (), is_demo: bool = False
) -> LeagueSettings:
    """The settings of a league file. ``only`` names the roles that will run; all of the file when it is empty.

    Raises ``ConfigError`` that names the key or the environment variable.
    """
    mapping = read_mapping(path)
    _refuse_files_of_others(mapping, path)
    keys = Section(mapping, str(path), _TOP)
    env = Environment(environment)
    folder = path.resolve().parent
    demo = env.truth("DEMO_MODE")
    settings = LeagueSettings(
        path=path,
        manager_email="",
        league_id="",
        rules=_rules(keys, folder),
        is_demo=is_demo or (keys.boolean("demo", False) if demo is None else demo),
        pace=_pace(keys.section("poll", _POLL), env),
        gmail=_gmail(keys.section("gmail", _GMAIL), env, folder),
        log=_log(keys.section("log", _LOG), env, folder),
        roles=_roles(keys, env, folder, only),
        season=None,
        models=read_models(mapping.get("models"), environment, folder, path=f"{path}.models"),
    )
    league = keys.section("league", _LEAGUE)
    manager = next((role for role in settings.roles if role.role == "manager"), None)
    manager_email = env.text("LEAGUE_MANAGER_EMAIL") or league.address(
        "manager_email", manager.address if manager is not None else None
    )
    if manager is not None and not same_address(manager_email, manager.address):
        raise ConfigError(
            f"{path}.league.manager_email", f"is {manager_email}, but roles.manager.address is {manager.address}"
        )
    league_id = env.text("LEAGUE_ID") or league.line("league_id", "LEAGUE001")
    season = None
    if manager is not None:
        if "season" not in keys:
            raise ConfigError(f"{path}.season", "is missing: a league manager needs a season with its teams")
        season = _season(keys.section("season", _SEASON))
    settings = evolve(settings, manager_email=manager_email, league_id=league_id, season=season)
    _check_files(settings)
    return settings


def _refuse_files_of_others(mapping: Mapping[str, object], path: Path) -> None:
    is_referees = "referee_id" in mapping or "league_manager_email" in mapping
    is_players = isinstance(mapping.get("app"), Mapping) or isinstance(mapping.get("player"), Mapping)
    if is_referees or is_players:
        raise ConfigError(
            str(path),
            f"is the settings file of another client; convert it: league-agents config import {shlex.quote(str(path))}",
        )


def _rules(keys: Section, folder: Path) -> RuleSet:
    value = keys.at("rules") if "rules" in keys else "prd"
    if isinstance(value, Mapping):
        rules = rule_set_from(value, path=f"{keys.path}.rules")
    else:
        name = keys.line("rules", "prd", most=4_000)
        near = folder / name
        rules = rules_named(str(near) if near.is_file() else name)
    waits = keys.section("waits", _WAITS)
    return evolve(
        rules,
        warmup_wait=waits.seconds("warmup_seconds", rules.warmup_wait),
        questions_wait=waits.seconds("questions_seconds", rules.questions_wait),
        guess_wait=waits.seconds("guess_seconds", rules.guess_wait),
        grace=waits.seconds("grace_seconds", rules.grace, least=0),
    )


def _pace(keys: Section, env: Environment) -> Pace:
    default = Pace()
    active = keys.seconds("active_seconds", default.active, least=0.2)
    idle = keys.seconds("idle_seconds", default.idle, least=0.2)
    # What the deployed clients call their poll interval is the pause when nothing happens; with a game open they are
    # too slow (protocol 9).
    named = env.seconds("POLL_INTERVAL_SECONDS") or env.seconds("POLL_INTERVAL_SEC")
    if named is not None:
        idle = timedelta(seconds=named)
        active = min(active, idle)
    return Pace(active=active, idle=idle)


def _gmail(keys: Section, env: Environment, folder: Path) -> GmailSettings:
    named = env.text("GMAIL_CREDENTIALS_PATH")
    credentials = folder / named if named else keys.file("credentials", "client_secret.json", folder)
    quota = keys.section("quota", tuple(each.name for each in fields(Limits)))
    default = Limits()
    limits = Limits(
        **{each.name: quota.integer(each.name, getattr(default, each.name), 0, 10**9) for each in fields(Limits)}
    )
    table = keys.word("price_table", ("2026", "before_2026"), "2026")
    prices = dict(PRICES_2026 if table == "2026" else PRICES_BEFORE_2026)
    own = keys.section("prices", tuple(prices))
    prices = {method: own.integer(method, units, 0, 10_000) for method, units in prices.items()}
    return GmailSettings(
        credentials=credentials,
        endpoint=env.text(ENDPOINT_VARIABLE) or keys.web_address("endpoint", GMAIL_ENDPOINT),
        sender_check=keys.member("sender_check", Require, Require.PASS),
        mail_server=keys.line("mail_server", GMAIL),
        timeout=keys.seconds("timeout_seconds", timedelta(seconds=30), least=1),
        looks_into_spam=keys.boolean("look_into_spam", True),
        prices=prices,
        limits=limits,
    )


def _log(keys: Section, env: Environment, folder: Path) -> LogSettings:
    level = (env.text("LOG_LEVEL") or keys.line("level", "INFO")).upper()
    if level not in LEVELS:
        where = "LOG_LEVEL" if env.text("LOG_LEVEL") else f"{keys.path}.level"
        raise ConfigError(where, f"must be one of {', '.join(LEVELS)}, found {level[:40]!a}")
    file = keys.file("file", "", folder) if keys.given("file") else None
    return LogSettings(level=level, is_json=keys.boolean("json", False), file=file)


def _roles(keys: Section, env: Environment, folder: Path, only: Sequence[str]) -> tuple[RoleSettings, ...]:
    section = keys.section("roles", ROLES)
    named = [role for role in ROLES if role in section]
    if not named:
        raise keys.error("roles", f"must have one of {', '.join(ROLES)}")
    for role in only:
        if role not in named:
            why = "; only the league manager's own league file can do this" if role == "manager" else ""
            raise keys.error(f"roles.{role}", f"is not in the file, which has {', '.join(named)}{why}")
    chosen = [role for role in named if not only or role in only]
    return tuple(_role(section, role, _RoleEnvironment(env, role, chosen), folder) for role in chosen)


@dataclass(frozen=True, slots=True)
class _RoleEnvironment:
    """What the environment says to one of the roles that will run."""

    env: Environment
    role: RoleName
    chosen: Sequence[str]

    def of_participant(self, name: str) -> str | None:
        """For referee and player alike."""
        return None if self.role == "manager" else self.env.text(name)

    def of(self, name: str, role: str) -> str | None:
        """For one kind of role."""
        return self.env.text(name) if self.role == role else None

    def alone(self, name: str) -> str | None:
        """A name that can mean only one mailbox. Raises ``ConfigError``."""
        value = self.env.text(name)
        if value is not None and len(self.chosen) > 1:
            raise ConfigError(
                name, f"names one mailbox, but {' and '.join(self.chosen)} run together; use the league file's keys"
            )
        return value


def _journal(keys: Section, default: str, folder: Path) -> Path:
    written = keys.line("journal", default, most=4_000)
    return folder / Path(file_of(written, keys.below("journal"))).expanduser()


def _role(section: Section, role: RoleName, env: _RoleEnvironment, folder: Path) -> RoleSettings:
    keys = section.section(role, {"referee": _REFEREE, "player": _PARTICIPANT, "manager": _ROLE}[role])
    token = env.alone("GMAIL_TOKEN_PATH")
    base = RoleSettings(
        role=role,
        address=env.of("GMAIL_ACCOUNT", "player") or keys.address("address"),
        journal=_journal(keys, f"{role}.db", folder),
        token=folder / token if token else keys.file("token", f"token_{role}.json", folder),
        participant_id="LM001",
        where=keys.path,
    )
    if role == "manager":
        return base
    group_id = env.of_participant("GROUP_ID") or keys.line("group_id", "")
    participant_id = env.of("REFEREE_ID", "referee") or keys.line("id", None if role == "referee" else group_id)
    base = evolve(
        base,
        participant_id=participant_id,
        group_id=group_id,
        display_name=env.of_participant("DISPLAY_NAME")
        or keys.line("display_name", "Q21 Referee" if role == "referee" else "Player"),
        agent=keys.line("agent", "offline", most=1_000),
    )
    if role == "player":
        return base
    target = keys.section("target", ("opening_sentence", "associative_word"))
    return evolve(
        base,
        opening_sentence=target.line("opening_sentence", "", most=5_000) or None,
        associative_word=target.line("associative_word", "", most=100) or None,
        assignment_table_id=keys.line("assignment_table_id", "") or None,
        avoid_not_relevant=keys.boolean("avoid_not_relevant", False),
    )


_SEASON_WAITS = {
    "registration_seconds": "registration_wait",
    "start_delay_seconds": "start_delay",
    "round_seconds": "round_wait",
    "end_of_round_grace_seconds": "end_of_round_grace",
    "round_gap_seconds": "round_gap",
    "presence_seconds": "presence_wait",
}


def _season(keys: Section) -> SeasonSettings:
    waits = {
        name: timedelta(seconds=keys.number(key, None, 0, 400 * 86_400))
        for key, name in _SEASON_WAITS.items()
        if key in keys
    }
    teams = tuple(
        Team(
            group_id=item.line("group_id"),
            player_email=item.address("player"),
            referee_email=item.address("referee"),
            display_name=item.line("name", ""),
        )
        for item in keys.items("teams", _TEAM)
    )
    season_id = keys.line("id", most=180)
    return SeasonSettings(
        season_id=season_id,
        name=keys.line("name", season_id),
        number=keys.integer("number", 1, 0, 99),
        teams=teams,
        opens_by_itself=keys.boolean("opens_by_itself", True),
        is_automatic=keys.boolean("is_automatic", True),
        is_double=keys.boolean("meet_twice", False),
        results_broadcast=keys.boolean("results_broadcast", True),
        lookup_table=keys.member("lookup_table", LookupTable, LookupTable.OFF),
        core_only=keys.addresses("core_only"),
        waits=waits,
    )


def _check_files(settings: LeagueSettings) -> None:
    """Every role has files and a mailbox of its own."""
    used: dict[Path, str] = {}
    for role in settings.roles:
        for key, path in (("journal", role.journal), ("token", role.token)):
            name = f"roles.{role.role}.{key}"
            other = used.setdefault(path.resolve(), name)
            if other != name:
                raise ConfigError(f"{settings.path}.{name}", f"is the same file as {other}; every role needs its own")
    for one in settings.roles:
        for other_role in settings.roles:
            if one is not other_role and same_address(one.address, other_role.address):
                raise ConfigError(
                    f"{settings.path}.roles.{one.role}.address",
                    f"is the address of the {other_role.role} too; every role needs a mailbox of its own",
                )
