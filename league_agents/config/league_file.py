"""``league.yaml``: the daemon's configuration by a team, parsed strictly.

Rule 1: an unknown key is an error, and so is an impossible value: both are reported at the start, not in the third
week of the season.
Rule 2: the environment overrides the file, under the names that deployed referees and players use (protocol 8). A name
that fits more than one role of this process is refused as ambiguous.
Rule 3: file names are relative to the folder of the league file.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from league_agents.config.environment import Environment
from league_agents.config.league_divisions import teams_of, with_teams
from league_agents.config.league_settings import (
    DEFAULT_FILE,
    ROLES,
    GmailSettings,
    LeagueSettings,
    LogSettings,
    MetricsSettings,
    PushSettings,
    RoleName,
    RoleSettings,
    SeasonSettings,
)
from league_agents.config.mapping_file import read_mapping
from league_agents.config.model_settings import read_models
from league_agents.config.rules import rules_named
from league_agents.config.storage_url import JOURNAL_VARIABLE, JournalPlace, journal_place
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import no_such_key, not_one_of, wrong_value
from league_agents.kit.values import evolve
from league_agents.league.season.schedule import ScheduleKind
from league_agents.league.wire.address import address_key, same_address
from league_agents.mail.gmail.mailbox import ENDPOINT_VARIABLE
from league_agents.mail.quota import PRICES_2026, PRICES_BEFORE_2026, QuotaLimits
from league_agents.runner.pace import Pace

if TYPE_CHECKING:
    from league_agents.config.league_keys import (
        WrittenGmail,
        WrittenLog,
        WrittenPoll,
        WrittenPush,
        WrittenRole,
        WrittenSeason,
        WrittenWaits,
    )

_NOT_IN_A_FILE_NAME = re.compile(r"[^\w.@+-]", re.ASCII)

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def find_league_file(named: Path | None) -> Path:
    """The given file, or ``league.yaml`` in the current folder. Raises ``ConfigError``."""
    path = Path(DEFAULT_FILE) if named is None else named
    if not path.is_file():
        raise ConfigError(
            str(path),
            "is a folder; name one file of it with --config"
            if path.is_dir()
            else "there is no such file; begin one with 'league-agents config init player', name yours with --config,"
            " or convert the settings of another client with 'league-agents config import FILE'",
        )
    return path


def environment_of(path: Path, process: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The process's environment, over the ``.env`` files beside the league file and in the current folder. Raises
    ``ConfigError``."""
    from dotenv import dotenv_values

    found: dict[str, str] = {}
    for place in (Path(), path.resolve().parent):
        try:
            values = dotenv_values(place / ".env", interpolate=False) if (place / ".env").is_file() else {}
        except (OSError, UnicodeDecodeError) as error:
            why = type(error).__name__
            raise ConfigError(str(place / ".env"), f"cannot be read ({why}); save it as UTF-8") from None
        found.update({name: value for name, value in values.items() if value is not None})
    return {**found, **process}


def read_league_file(
    path: Path,
    environment: Mapping[str, str],
    *,
    only: Sequence[str] = (),
    mailboxes: Sequence[str] = (),
    is_demo: bool = False,
    is_one_of_many: bool = False,
) -> LeagueSettings:
    """The settings of a league file. ``only`` names the kinds of roles that will run, ``mailboxes`` their addresses or
    names; empty means all of the file. ``is_one_of_many``: one process runs several files.

    Raises ``ConfigError`` that names the key or the environment variable.
    """
    from league_agents.config import league_keys as known
    from league_agents.kit.written import read_written

    mapping = read_mapping(path)
    _refuse_files_of_others(mapping, path)
    written = read_written(known.WrittenFile, mapping, str(path))
    env = Environment(environment)
    folder = path.resolve().parent
    demo = env.truth("DEMO_MODE")
    roles = _roles(written.roles, f"{path}.roles", env, folder, only, is_one_of_many)
    season = _season_of_managers(written.season, path, roles)
    if season is not None:
        roles = with_teams(season, path, roles)
    settings = LeagueSettings(
        path=path,
        manager_email="",
        league_id="",
        rules=_rules(written.rules, read_written(known.WrittenWaits, written.waits, f"{path}.waits"), path, folder),
        is_demo=is_demo or (written.demo if demo is None else demo),
        pace=_pace(read_written(known.WrittenPoll, written.poll, f"{path}.poll"), env),
        gmail=_gmail(read_written(known.WrittenGmail, written.gmail, f"{path}.gmail"), f"{path}.gmail", env, folder),
        log=_log(read_written(known.WrittenLog, written.log, f"{path}.log"), env, folder),
        roles=_chosen(roles, mailboxes, path),
        season=None if season is None else _season(season),
        models=read_models(written.models, environment, folder, path=f"{path}.models"),
        metrics=_metrics(written.metrics, f"{path}.metrics", is_for_others=written.metrics_for_others),
        metrics_for_others=written.metrics_for_others,
        archive_after=None if written.archive_after_days is None else timedelta(days=written.archive_after_days),
    )
    league = read_written(known.WrittenLeague, written.league, f"{path}.league")
    managers = [role.address for role in roles if role.role == "manager"]
    default = managers[0] if managers and (len(managers) == 1 or len(managers) == len(roles)) else None
    manager_email = _needed(
        env.text("LEAGUE_MANAGER_EMAIL") or league.manager_email or default, f"{path}.league.manager_email"
    )
    if managers and not any(same_address(manager_email, each) for each in managers):
        raise ConfigError(
            f"{path}.league.manager_email",
            f"is {manager_email}, but roles.manager.address is {' or '.join(managers[:5])}",
        )
    league_id = env.text("LEAGUE_ID") or league.league_id
    settings = evolve(settings, manager_email=manager_email, league_id=league_id)
    Claims().take(settings)
    return settings


def _refuse_files_of_others(mapping: Mapping[str, object], path: Path) -> None:
    is_referees = "referee_id" in mapping or "league_manager_email" in mapping
    is_players = isinstance(mapping.get("app"), Mapping) or isinstance(mapping.get("player"), Mapping)
    if is_referees or is_players:
        raise ConfigError(
            str(path),
            f"is the settings file of another client; convert it: league-agents config import {shlex.quote(str(path))}",
        )


def _needed(value: str | None, path: str) -> str:
    if value is None:
        raise ConfigError(path, "is missing")
    return value


def _rules(written: object, waits: WrittenWaits, path: Path, folder: Path) -> RuleSet:
    if isinstance(written, Mapping):
        from league_agents.games.q21.rule_file import rule_set_from

        rules = rule_set_from(written, path=f"{path}.rules")
    elif written is not None and not isinstance(written, str):
        raise wrong_value(f"{path}.rules", "the name of a rule set, a file or a mapping of rules", written)
    else:
        name = "prd" if written is None else written
        near = folder / name
        rules = rules_named(str(near) if near.is_file() else name)

    def wait(seconds: float | None, default: timedelta) -> timedelta:
        return default if seconds is None else timedelta(seconds=seconds)

    return evolve(
        rules,
        warmup_wait=wait(waits.warmup_seconds, rules.warmup_wait),
        questions_wait=wait(waits.questions_seconds, rules.questions_wait),
        guess_wait=wait(waits.guess_seconds, rules.guess_wait),
        grace=wait(waits.grace_seconds, rules.grace),
    )


def _pace(written: WrittenPoll, env: Environment) -> Pace:
    default = Pace()
    active = default.active if written.active_seconds is None else timedelta(seconds=written.active_seconds)
    idle = default.idle if written.idle_seconds is None else timedelta(seconds=written.idle_seconds)
    # The deployed clients' poll interval becomes the pause of an idle league; it is too slow while a game is open
    # (protocol 9).
    named = env.seconds("POLL_INTERVAL_SECONDS") or env.seconds("POLL_INTERVAL_SEC")
    if named is not None:
        idle = timedelta(seconds=named)
        active = min(active, idle)
    return Pace(active=active, idle=idle)


def _gmail(written: WrittenGmail, path: str, env: Environment, folder: Path) -> GmailSettings:
    prices = PRICES_2026 if written.price_table == "2026" else PRICES_BEFORE_2026
    for method in written.prices:
        if method not in prices:
            raise no_such_key(f"{path}.prices", method, tuple(prices))
    return GmailSettings(
        credentials=_file(env.text("GMAIL_CREDENTIALS_PATH") or written.credentials, folder),
        endpoint=env.text(ENDPOINT_VARIABLE) or written.endpoint,
        sender_check=written.sender_check,
        mail_server=written.mail_server,
        timeout=timedelta(seconds=written.timeout_seconds),
        looks_into_spam=written.look_into_spam,
        prices={**prices, **written.prices},
        limits=QuotaLimits(**written.quota.model_dump()),
        push=_push(written.push, f"{path}.push", folder),
    )


def _push(written: WrittenPush, path: str, folder: Path) -> PushSettings | None:
    if written.topic is None and written.subscription is None:
        return None
    return PushSettings(
        topic=_needed(written.topic, f"{path}.topic"),
        subscription=_needed(written.subscription, f"{path}.subscription"),
        endpoint=written.endpoint,
        credentials=None if written.credentials is None else _file(written.credentials, folder),
    )


def _log(written: WrittenLog, env: Environment, folder: Path) -> LogSettings:
    level = (env.text("LOG_LEVEL") or written.level).upper()
    if level not in LEVELS:
        raise not_one_of("LOG_LEVEL", LEVELS, level)
    file = None if written.file is None else _file(written.file, folder)
    return LogSettings(level=level, is_json=written.is_json, file=file)


def _metrics(written: str | None, path: str, *, is_for_others: bool) -> MetricsSettings | None:
    from league_agents.config.league_keys import host_and_port

    if written is None:
        return None
    host, port = host_and_port(written)
    if not is_for_others and not ip_address(host).is_loopback:
        raise ConfigError(
            path,
            f"{host} can be reached by others; use 127.0.0.1, or write metrics_for_others: true if they may read it",
        )
    return MetricsSettings(host=host, port=port)


def _file(name: str, folder: Path) -> Path:
    """Resolve a file name relative to the league file's folder."""
    return folder / Path(name).expanduser()


def _roles(
    written: object, path: str, env: Environment, folder: Path, only: Sequence[str], is_one_of_many: bool
) -> tuple[RoleSettings, ...]:
    from league_agents.config.league_keys import ROLE_KEYS, WrittenRoles
    from league_agents.kit.written import read_written

    sections = read_written(WrittenRoles, written, path)
    named = [role for role in ROLES if isinstance(written, Mapping) and role in written]
    if not named:
        raise ConfigError(path, f"must have one of {', '.join(ROLES)}")
    for role in only:
        if role not in named:
            why = "; only the league manager's own league file can do this" if role == "manager" else ""
            raise ConfigError(f"{path}.{role}", f"is not in the file, which has {', '.join(named)}{why}")
    chosen = [role for role in named if not only or role in only]
    entries: list[tuple[RoleName, str, object]] = []
    for role in chosen:
        where, section = f"{path}.{role}", getattr(sections, role)
        if not isinstance(section, list):
            entries.append((role, where, section))
            continue
        if not section:
            raise ConfigError(where, f"must have at least one {role}, found an empty list")
        entries += [(role, f"{where}[{place}]", each) for place, each in enumerate(section)]
    found = []
    for role, where, section in entries:
        keys = read_written(ROLE_KEYS[role], section, where)
        is_listed = isinstance(getattr(sections, role), list)
        runs_with = _RunsWith(
            kinds=tuple(chosen),
            of_a_kind=sum(each == role for each, _, _ in entries),
            is_listed=is_listed,
            is_one_of_many=is_one_of_many,
        )
        found.append(_role(keys, where, role, _RoleEnvironment(env, role, runs_with), folder))
    return tuple(found)


def _season_of_managers(written: object, path: Path, roles: Sequence[RoleSettings]) -> WrittenSeason | None:
    """The season, if a league manager runs."""
    from league_agents.config.league_keys import WrittenSeason
    from league_agents.kit.written import read_written

    if not any(role.role == "manager" for role in roles):
        return None
    if written is None:
        raise ConfigError(f"{path}.season", "is missing: a league manager needs a season with its teams")
    return read_written(WrittenSeason, written, f"{path}.season")


def _chosen(roles: Sequence[RoleSettings], mailboxes: Sequence[str], path: Path) -> tuple[RoleSettings, ...]:
    """The roles with one of these addresses or names; all if there are none. Raises ``ConfigError``."""
    for each in mailboxes:
        if not any(_is_called(role, each) for role in roles):
            raise ConfigError(f"{path}.roles", f"have no mailbox {each[:320]!a}")
    return tuple(role for role in roles if not mailboxes or any(_is_called(role, each) for each in mailboxes))


def _is_called(role: RoleSettings, mailbox: str) -> bool:
    return mailbox == role.name or same_address(mailbox, role.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunsWith:
    """What runs in the same process as a role."""

    kinds: Sequence[str]
    """The kinds of roles of the file that run."""

    of_a_kind: int
    """How many roles of the same kind the file has."""

    is_listed: bool
    """Whether its section is in a list."""

    is_one_of_many: bool
    """Whether other league files run too."""

    def refuse_shared(self, variable: str, role: RoleName) -> None:
        """Raises ``ConfigError`` for a variable of one mailbox where several roles of its kind run."""
        if self.of_a_kind > 1 or self.is_one_of_many:
            several = "several league files" if self.is_one_of_many else f"several {role}s"
            raise ConfigError(variable, f"names one {role}, but {several} run together; use the league file's keys")


@dataclass(frozen=True, slots=True)
class _RoleEnvironment:
    """The environment variables for one of the roles that will run."""

    env: Environment
    role: RoleName
    runs_with: _RunsWith

    def of_participant(self, name: str) -> str | None:
        """The variable for referee and player alike. Raises ``ConfigError`` when several of the kind run."""
        return None if self.role == "manager" else self._unshared(name)

    def of(self, name: str, role: str) -> str | None:
        """The variable for one kind of role. Raises ``ConfigError`` when several of the kind run."""
        return self._unshared(name) if self.role == role else None

    def _unshared(self, name: str) -> str | None:
        value = self.env.text(name)
        if value is not None:
            self.runs_with.refuse_shared(name, self.role)
        return value

    def alone(self, name: str) -> str | None:
        """The variable of a setting that belongs to one mailbox. Raises ``ConfigError`` when several roles run."""
        value = self._unshared(name)
        kinds = self.runs_with.kinds
        if value is not None and len(kinds) > 1:
            raise ConfigError(
                name, f"names one mailbox, but {' and '.join(kinds)} run together; use the league file's keys"
            )
        return value


def _journal(written: WrittenRole, path: str, stem: str, env: _RoleEnvironment, folder: Path) -> JournalPlace:
    if written.journal is not None:
        return journal_place(written.journal, f"{path}.journal", folder)
    shared = env.env.text(JOURNAL_VARIABLE)
    return folder / f"{stem}.db" if shared is None else journal_place(shared, JOURNAL_VARIABLE, folder)


def _role(written: WrittenRole, path: str, role: RoleName, env: _RoleEnvironment, folder: Path) -> RoleSettings:
    from league_agents.config.league_keys import WrittenManager, WrittenPlayer, WrittenReferee

    address = _needed(env.of("GMAIL_ACCOUNT", "player") or written.address, f"{path}.address")
    name = written.name or address
    stem = f"{role}-{_NOT_IN_A_FILE_NAME.sub('_', name)}" if env.runs_with.is_listed else role
    base = RoleSettings(
        role=role,
        address=address,
        name=name if written.name or env.runs_with.is_listed or env.runs_with.is_one_of_many else "",
        journal=_journal(written, path, stem, env, folder),
        token=_file(env.alone("GMAIL_TOKEN_PATH") or written.token or f"token_{stem}.json", folder),
        participant_id="LM001",
        where=path,
    )
    if isinstance(written, WrittenManager):
        base = evolve(base, teams=teams_of(written.teams))
    if isinstance(written, WrittenPlayer):
        group_id = env.of_participant("GROUP_ID") or written.group_id
        own_id = env.of("REFEREE_ID", "referee") or written.id
        base = evolve(
            base,
            participant_id=_needed(own_id if role == "referee" else own_id or group_id, f"{path}.id"),
            group_id=group_id,
            display_name=env.of_participant("DISPLAY_NAME") or written.display_name,
            agent=written.agent,
        )
    if isinstance(written, WrittenReferee):
        base = evolve(
            base,
            opening_sentence=written.target.opening_sentence,
            associative_word=written.target.associative_word,
            assignment_table_id=written.assignment_table_id,
            avoid_not_relevant=written.avoid_not_relevant,
        )
    return base


_SEASON_WAITS = {
    "registration_seconds": "registration_wait",
    "start_delay_seconds": "start_delay",
    "round_seconds": "round_wait",
    "end_of_round_grace_seconds": "end_of_round_grace",
    "round_gap_seconds": "round_gap",
    "presence_seconds": "presence_wait",
}


def _season(written: WrittenSeason) -> SeasonSettings:
    seconds = {name: getattr(written, key) for key, name in _SEASON_WAITS.items()}
    return SeasonSettings(
        season_id=written.id,
        name=written.name or written.id,
        number=written.number,
        follows=written.follows,
        promoted=written.promoted,
        opens_by_itself=written.opens_by_itself,
        is_automatic=written.is_automatic,
        schedule_kind=_schedule_kind(written),
        rounds=written.rounds,
        games_at_once=written.games_at_once,
        tie_breaks=tuple(written.tie_breaks),
        lot_seed=written.lot_seed,
        results_broadcast=written.results_broadcast,
        lookup_table=written.lookup_table,
        core_only=tuple(written.core_only),
        waits={name: timedelta(seconds=each) for name, each in seconds.items() if each is not None},
    )


def _schedule_kind(written: WrittenSeason) -> ScheduleKind:
    if written.schedule is None:
        return ScheduleKind.DOUBLE if written.meet_twice else ScheduleKind.ROUND_ROBIN
    if written.meet_twice and written.schedule is not ScheduleKind.DOUBLE:
        raise ConfigError("season.meet_twice", f"does not go with schedule: {written.schedule}; leave one of them out")
    return written.schedule


class Claims:
    """The mailboxes, names and files of league files that one process runs: each belongs to one role."""

    def __init__(self) -> None:
        self._claims: dict[tuple[str, object], tuple[Path, str]] = {}

    def take(self, settings: LeagueSettings) -> None:
        """Claim everything of a file. Raises ``ConfigError``, and claims nothing, if something has been claimed."""
        taken = dict(self._claims)
        for role in settings.roles:
            where = role.section
            for key, claim, remedy in _claims_of(role):
                path, other = taken.setdefault(claim, (settings.path, f"{where}.{key}"))
                if (path, other) != (settings.path, f"{where}.{key}"):
                    other = other if path == settings.path else f"{path}.{other}"
                    what = {"mailbox": "address", "file": "file", "name": "name"}[claim[0]]
                    raise ConfigError(f"{role.where}.{key}", f"is the same {what} as {other}; {remedy}")
        self._claims = taken


def _claims_of(role: RoleSettings) -> Iterator[tuple[str, tuple[str, object], str]]:
    """Yield each key, what it claims, and the remedy when that belongs to another role."""
    yield "address", ("mailbox", address_key(role.address)), "every role needs a mailbox of its own"
    if role.name:
        yield "name", ("name", (role.role, role.name)), f"every {role.role} needs a name of its own"
    for key, path in (("journal", role.journal), ("token", role.token)):
        if isinstance(path, Path):  # a database keeps a journal for each mailbox
            # Not Path.resolve, which raises for links that lead in a circle.
            yield key, ("file", os.path.realpath(path)), "every role needs its own"
