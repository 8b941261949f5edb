"""Check that a readable league file is also complete, and matches the existing journals.

Rule 1: an incomplete file is refused before anything is created from it. A journal belongs permanently to the address
of its first start, even to a placeholder.
Rule 2: the check fails whenever a start would, because both use the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from league_agents.app.journals import DatabasesAway, look_at_journal, state_in
from league_agents.app.live_machine import agent_of, machine_of
from league_agents.app.live_mailbox import login_command, refuse_missing_client
from league_agents.app.role_files import refuse_missing_folder
from league_agents.config.league_mistakes import mistakes_in
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.config.migrate import MISSING_ADDRESS
from league_agents.config.new_file import MISSING_WORD
from league_agents.kit.errors import AuthorizationExpired, ConfigError, LeagueError
from league_agents.league.machines.manager.config import ROUND_WAIT
from league_agents.league.wire.address import same_address
from league_agents.mail.oauth import token_status

_EXAMPLE_TEAMS = ("falcons", "otters", "herons")
EXAMPLE_ADDRESSES = (
    MISSING_ADDRESS,
    "league-office@example.com",
    *(f"{team}.{role}@gmail.com" for team in _EXAMPLE_TEAMS for role in ("referee", "player")),
)
"""The importer's placeholder for an unknown address, and the invented mailboxes of the example file."""

_OWN = "write your own mailbox there, spelled exactly as Gmail shows it"
_OFFICE = "write the address of the league office there"
_GROUP = "write the name of your group there, as the league office spells it"
_TEAM = "write the team's own mailbox there"


def refuse_unfinished(settings: LeagueSettings) -> None:
    """Raises ``ConfigError`` that names the first key that a person must still fill in, and holds the others."""
    if found := list(_unfinished(settings)):
        raise ConfigError(found[0].path, found[0].message, found[1:])


def _unfinished(settings: LeagueSettings) -> Iterator[ConfigError]:
    for key, address, remedy in _addresses(settings):
        if any(same_address(address, example) for example in EXAMPLE_ADDRESSES):
            yield ConfigError(f"{settings.path}.{key}", f"still says the example's address {address}; {remedy}")
    for role in settings.roles:
        if role.role == "player" and not role.group_id:
            yield ConfigError(f"{role.where}.group_id", f"is empty; {_GROUP}")
        if role.group_id == MISSING_WORD:
            yield ConfigError(f"{role.where}.group_id", f"still says {MISSING_WORD!a}; {_GROUP}")
        if role.role == "referee" and role.participant_id == MISSING_WORD:
            yield ConfigError(
                f"{role.where}.id", f"still says {MISSING_WORD!a}; write your referee's id in the league there"
            )


def season_warnings(settings: LeagueSettings) -> Iterator[str]:
    """Yield a line for each setting of the season that makes innocent players lose."""
    season, rules = settings.season, settings.rules
    if season is None or not season.is_automatic:
        return
    wait = season.waits.get("round_wait", ROUND_WAIT)
    longest = max(rules.warmup_wait, rules.questions_wait, rules.guess_wait)
    if wait < longest:
        yield (
            f"{settings.path}.season.round_seconds: {wait.total_seconds():g} s is less than a player has for one step"
            f" ({longest.total_seconds():g} s by the rules): matches are cut off before somebody silent is named, and"
            " nobody wins them; write more"
        )


def _addresses(settings: LeagueSettings) -> Iterator[tuple[str, str, str]]:
    """Yield each key, its address, and the remedy."""
    for role in settings.roles:
        yield f"{role.section}.address", role.address, _OWN
    yield "league.manager_email", settings.manager_email, _OFFICE
    for role in settings.roles:
        section = "season" if role.division is None else role.section
        for place, team in enumerate(role.teams):
            yield f"{section}.teams[{place}].player", team.player_email, _TEAM
            yield f"{section}.teams[{place}].referee", team.referee_email, _TEAM


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyRole:
    """A role that is ready to run, as far as files can tell."""

    agent: str
    """The resolved name; empty for a league manager, which has no agent."""

    has_journal: bool
    needs_login: str
    """The problem with the token; empty when it is usable."""


def check_file(settings: LeagueSettings, *, now: datetime) -> Iterator[tuple[RoleSettings, ReadyRole]]:
    """Check everything that a start checks, role by role, and create nothing.

    Raises ``ConfigError`` that names the key, and ``JournalError``.
    """
    refuse_unfinished(settings)
    if settings.log.file is not None:
        refuse_missing_folder(settings.log.file)
    away = DatabasesAway()
    for role in settings.roles:
        yield role, _check_role(settings, role, now=now, away=away)


class CheckedFile(Struct, frozen=True, kw_only=True):
    """A league file, everything that is wrong with it, and its roles that are right."""

    settings: LeagueSettings | None
    """``None`` if it cannot be read."""

    ready: tuple[tuple[RoleSettings, ReadyRole], ...] = ()
    mistakes: tuple[LeagueError, ...] = ()


def checked_file(path: Path, read: Callable[[], LeagueSettings], *, now: datetime) -> CheckedFile:
    """Check everything that a start checks, and go on after a mistake."""
    try:
        settings = read()
    except ConfigError as error:
        return CheckedFile(settings=None, mistakes=tuple(_distinct([error, *error.others, *mistakes_in(path)])))
    mistakes: list[LeagueError] = list(_unfinished(settings))
    ready: list[tuple[RoleSettings, ReadyRole]] = []
    is_filled_in = not mistakes
    try:
        if settings.log.file is not None:
            refuse_missing_folder(settings.log.file)
    except ConfigError as error:
        mistakes.append(error)
    away = DatabasesAway()
    for role in settings.roles if is_filled_in else ():
        try:
            ready.append((role, _check_role(settings, role, now=now, away=away)))
        except LeagueError as error:
            mistakes.append(error)
    return CheckedFile(settings=settings, ready=tuple(ready), mistakes=tuple(_distinct(mistakes)))


def _distinct(mistakes: Iterable[LeagueError]) -> Iterator[LeagueError]:
    return iter({str(error): error for error in mistakes}.values())


def _check_role(settings: LeagueSettings, role: RoleSettings, *, now: datetime, away: DatabasesAway) -> ReadyRole:
    for path in (role.journal, role.token):
        if isinstance(path, Path):
            refuse_missing_folder(path)
    machine = machine_of(settings, role, "check")
    with away.asked(role):
        journal = look_at_journal(role)
    if journal is not None:
        try:
            state_in(role, machine, journal.load_parts())
        finally:
            journal.close()
    agent = "" if role.role == "manager" else agent_of(settings, role, "check").spec
    refuse_missing_client(settings, role)
    try:
        token_status(role.token, now=now, login_command=login_command(settings, role))
    except AuthorizationExpired as error:
        return ReadyRole(agent=agent, has_journal=journal is not None, needs_login=str(error))
    return ReadyRole(agent=agent, has_journal=journal is not None, needs_login="")
