"""Check everything that a season needs: one line for each check, with its remedy.

Rule: every check reports its measurement, and a check that is impossible reports the reason. The checks cost one mail
to oneself per mailbox and one word of each model, which is in the ledger, and have no other effect.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.app.agents import LLM, OFFLINE, SCRIPTED
from league_agents.app.journals import is_begun, journals_of, look_at_journal, state_in
from league_agents.app.live_machine import agent_of, machine_of
from league_agents.app.live_mailbox import QUOTA, login_command
from league_agents.app.peers import game_wait
from league_agents.app.sends import book_of
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.kit.clock import Clock
from league_agents.kit.errors import AuthorizationExpired, ConfigError, LeagueError, MailError
from league_agents.league.wire.address import same_address
from league_agents.llm.exchange import Rejected
from league_agents.llm.registry import all_providers
from league_agents.mail.gmail import SELF_TEST_PATIENCE, GmailMailbox, SelfTest
from league_agents.mail.oauth import load_client_secret, missing_scopes, token_status, wider_mode
from league_agents.mail.quota import MATCH_MAILS, QuotaLedger, SendKind
from league_agents.mail.service_clock import LARGEST_ERROR, clock_trouble
from league_agents.report.status import TokenState, token_words

MODEL_TIMEOUT = timedelta(seconds=30)
LEAST_FREE_BYTES = 200_000_000
_OTHER_KEYS = ("ANTHROPIC_API_KEY",)
"""Keys of services that agents of the user's own may ask besides the declared providers."""


class Trouble(StrEnum):
    """Kind of failure, the gravest first."""

    AUTHORIZATION = "authorization"
    CONFIGURATION = "configuration"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check."""

    role: str
    """Empty for a check that concerns all roles."""

    name: str
    said: str
    trouble: Trouble | None = None
    """``None`` when the check succeeded."""

    is_warning: bool = False
    """Whether the check succeeded, but a person should act on it."""


Awaiting = Callable[[str, str], object]
"""Called with the role's name and a line that names the awaited server and the time limit."""


def check_everything(
    settings: LeagueSettings, clock: Clock, *, awaiting: Awaiting = lambda _role, _who: None
) -> Iterator[Check]:
    """Yield all checks, in the order in which a person would repair things. ``awaiting`` is called before each wait."""
    roles = ", ".join(role.role for role in settings.roles)
    yield Check(role="", name="configuration", said=f"{settings.path} is right: {roles}, rules {settings.rules.name}")
    yield _credentials(settings.gmail.credentials)
    for role in settings.roles:
        yield from _role(settings, role, clock, awaiting)


def _role(settings: LeagueSettings, role: RoleSettings, clock: Clock, awaiting: Awaiting) -> Iterator[Check]:
    yield _agent(settings, role)
    yield from _models(settings, role, awaiting)
    yield from _journal(settings, role)
    is_authorized = True
    for check in _token(settings, role, clock):
        is_authorized = is_authorized and check.trouble is not Trouble.AUTHORIZATION
        yield check
    if not is_authorized:
        yield Check(
            role=role.role,
            name="mailbox",
            said=f"not tried: {role.address} is not authorized; run '{login_command(settings, role)}'",
            trouble=Trouble.AUTHORIZATION,
        )
        return
    yield from _mailbox(settings, role, clock, awaiting)


def _credentials(path: Path) -> Check:
    try:
        client = load_client_secret(path)
    except ConfigError as error:
        return Check(role="", name="credentials", said=str(error), trouble=Trouble.CONFIGURATION)
    mode = wider_mode(path)
    if mode is not None:
        return Check(role="", name="credentials", said=mode, trouble=Trouble.CONFIGURATION)
    return Check(role="", name="credentials", said=f"{path}: a desktop client; tokens come from {client['token_uri']}")


def _agent(settings: LeagueSettings, role: RoleSettings) -> Check:
    try:
        machine_of(settings, role, "check")
        said = "a league manager has none"
        if role.role != "manager":
            said = f"{agent_of(settings, role, 'check').spec} can be loaded"
    except LeagueError as error:
        return Check(role=role.role, name="agent", said=str(error), trouble=Trouble.CONFIGURATION)
    return Check(role=role.role, name="agent", said=said)


def _models(settings: LeagueSettings, role: RoleSettings, awaiting: Awaiting) -> Iterator[Check]:
    spec = SCRIPTED if settings.is_demo else role.agent
    if spec.partition(":")[0] != LLM or role.role == "manager":
        yield _no_model(role, spec)
        return
    from league_agents.app.models import ask_for_a_word

    callbacks = REFEREE_CALLBACKS if role.role == "referee" else PLAYER_CALLBACKS
    asked = dict.fromkeys(entry.name for callback in callbacks for entry in settings.models.chain(callback))
    for entry in settings.models.entries:
        if entry.name not in asked:
            continue
        limit_s = min(MODEL_TIMEOUT, entry.patience.timeout).total_seconds()
        awaiting(role.role, f"waiting for the model {entry.full_name}, at most {limit_s:g} s")
        try:
            took = ask_for_a_word(settings.models, entry, timeout=MODEL_TIMEOUT)
        except LeagueError as error:
            is_ours = isinstance(error, ConfigError | Rejected)
            trouble = Trouble.CONFIGURATION if is_ours else Trouble.UNAVAILABLE
            yield Check(role=role.role, name="model", said=str(error), trouble=trouble)
        else:
            said = f"{entry.full_name} answered within {took.total_seconds():.1f} s"
            yield Check(role=role.role, name="model", said=said)


def _no_model(role: RoleSettings, spec: str) -> Check:
    if role.role == "manager" or spec.partition(":")[0] in (OFFLINE, SCRIPTED):
        return Check(role=role.role, name="model", said="not configured: offline agents need none")
    try:
        declared = [name for provider in all_providers() for name in provider.key_variables]
    except ConfigError as error:
        return Check(role=role.role, name="model", said=str(error), trouble=Trouble.CONFIGURATION)
    keys = [name for name in (*_OTHER_KEYS, *declared) if os.environ.get(name)]
    said = f"{spec} speaks to its model itself; in the environment: {', '.join(keys) or 'no key'}"
    return Check(role=role.role, name="model", said=said)


def _disk(role: RoleSettings, folder: Path) -> Check:
    try:
        free = shutil.disk_usage(folder).free
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        said = f"{folder}: cannot be written ({error.strerror}); name another folder with {role.section}.journal"
        return Check(role=role.role, name="disk", said=said, trouble=Trouble.CONFIGURATION)
    is_short = free < LEAST_FREE_BYTES
    return Check(
        role=role.role,
        name="disk",
        said=f"{folder}: {free // 1_000_000:,} MB free" + ("; make room before the season" if is_short else ""),
        trouble=Trouble.UNAVAILABLE if is_short else None,
    )


def _journal(settings: LeagueSettings, role: RoleSettings) -> Iterator[Check]:
    if isinstance(role.journal, Path):
        disk = _disk(role, role.journal.parent)
        yield disk
        if disk.trouble is Trouble.CONFIGURATION:
            return
    try:
        journal = look_at_journal(role)
        if journal is not None:
            with closing(journal):
                state_in(role, machine_of(settings, role, "check"), journal.load_parts())
    except LeagueError as error:
        yield Check(role=role.role, name="journal", said=str(error), trouble=Trouble.CONFIGURATION)
        return
    if journal is None:
        yield Check(role=role.role, name="journal", said=f"{role.journal}: will be made at the first start")
    elif isinstance(role.journal, Path) and not os.access(role.journal, os.W_OK):
        said = f"{role.journal}: may not be written; run 'chmod u+w {role.journal}'"
        yield Check(role=role.role, name="journal", said=said, trouble=Trouble.CONFIGURATION)
    else:
        used = "in use by a running daemon" if journals_of(role).is_worked_on() else "free to use"
        yield Check(role=role.role, name="journal", said=f"{role.journal}: can be read and written, {used}")


def _token(settings: LeagueSettings, role: RoleSettings, clock: Clock) -> Iterator[Check]:
    now = clock.now()
    try:
        found = token_status(role.token, now=now, login_command=login_command(settings, role))
    except AuthorizationExpired as error:
        yield Check(role=role.role, name="token", said=str(error), trouble=Trouble.AUTHORIZATION)
        return
    except LeagueError as error:
        yield Check(role=role.role, name="token", said=str(error), trouble=Trouble.CONFIGURATION)
        return
    mode = wider_mode(role.token)
    yield Check(
        role=role.role,
        name="token file",
        said=mode or f"{role.token}: only you can read it",
        trouble=None if mode is None else Trouble.CONFIGURATION,
    )
    has_ended = found.expires_at is not None and found.expires_at <= now
    words = token_words(TokenState(age=found.age, ends_at=found.expires_at, may_end_at=found.testing_ends_at))
    yield Check(
        role=role.role,
        name="token age",
        said=f"{words}; run '{login_command(settings, role)}'" if has_ended else words,
        trouble=Trouble.AUTHORIZATION if has_ended else None,
    )
    missing = missing_scopes(found.scopes)
    said = ", ".join(found.scopes) if found.scopes else "the file does not say"
    if missing:
        said = f"not granted: {', '.join(missing)}; run '{login_command(settings, role)}' and tick every box"
    yield Check(
        role=role.role,
        name="scopes",
        said=said,
        trouble=Trouble.AUTHORIZATION if missing else None,
    )


def _mailbox(settings: LeagueSettings, role: RoleSettings, clock: Clock, awaiting: Awaiting) -> Iterator[Check]:
    gmail = settings.gmail
    sends = book_of(settings, role)
    ledger = QuotaLedger(clock, limits=gmail.limits, prices=gmail.prices, sends=sends, state=_spent(role))
    mailbox = GmailMailbox(
        role.token,
        endpoint=gmail.endpoint,
        clock=clock,
        ledger=ledger,
        spam_every=None,
        timeout=gmail.timeout,
        login_command=login_command(settings, role),
    )
    try:
        awaiting(role.role, gmail.awaited)
        address = mailbox.profile().address
        if not same_address(address, role.address):
            said = f"the token belongs to {address}, and {role.section}.address is {role.address}; correct one"
            yield Check(role=role.role, name="profile", said=said, trouble=Trouble.CONFIGURATION)
            return
        spelled = address == role.address
        said = f"Gmail knows {address}"
        if not spelled:
            said += f", and {role.section}.address spells it {role.address}; spell it as Gmail does"
        yield Check(role=role.role, name="profile", said=said, trouble=None if spelled else Trouble.CONFIGURATION)
        patience_s = SELF_TEST_PATIENCE.total_seconds()
        awaiting(role.role, f"waiting for a mail to itself, at most {patience_s:g} s after it was sent")
        test = mailbox.self_test_send(secrets.token_hex(6))
        yield _round_trip(role, test)
        yield _clock(role, test)
        yield _quota(settings, role, ledger)
    except AuthorizationExpired as error:
        yield Check(role=role.role, name="mailbox", said=str(error), trouble=Trouble.AUTHORIZATION)
    except MailError as error:
        yield Check(role=role.role, name="mailbox", said=str(error), trouble=Trouble.UNAVAILABLE)
    finally:
        mailbox.close()
        sends.close()


def _round_trip(role: RoleSettings, test: SelfTest) -> Check:
    said = f"a mail to itself came back in {test.round_trip.total_seconds():.1f} s"
    if test.was_spam:
        said += f", in the spam folder; mark it as no spam there and put {role.address} into its own contacts"
    return Check(role=role.role, name="round trip", said=said, is_warning=test.was_spam)


def _clock(role: RoleSettings, test: SelfTest) -> Check:
    if abs(test.date_error) > LARGEST_ERROR:
        off = f"{abs(test.date_error.total_seconds()):,.0f} s"
        said = f"the mail service dates mails {off} apart from the time that it names, so nobody can tell who is late"
        return Check(role=role.role, name="clock", said=said, trouble=Trouble.UNAVAILABLE)
    off_s = test.machine_error.total_seconds()
    said = f"this machine's clock is {abs(off_s):.1f} s {'ahead of' if off_s > 0 else 'behind'} Gmail's"
    trouble = clock_trouble(test.machine_error)
    return Check(role=role.role, name="clock", said=trouble or said, is_warning=trouble is not None)


def _quota(settings: LeagueSettings, role: RoleSettings, ledger: QuotaLedger) -> Check:
    left = ledger.sends_left()
    resets_at = ledger.resets_at(SendKind.RUNNING_GAME)
    said = f"{left} sends left today"
    if role.role in MATCH_MAILS:
        wait = game_wait(settings.rules)
        forecast = ledger.forecast(MATCH_MAILS[role.role], look_every=settings.pace.active, shortest_wait=wait)
        said += f", enough for about {left // forecast.sends} matches of a {role.role} ({forecast.units} units each)"
        said += f"; looking for mail takes {forecast.looking_per_minute} of"
        said += f" {ledger.limits.units_per_minute} units a minute"
    if resets_at is not None:
        said += f"; sending goes on at {resets_at:%Y-%m-%d %H:%M} UTC"
    return Check(role=role.role, name="quota", said=said, trouble=None if resets_at is None else Trouble.UNAVAILABLE)


def _spent(role: RoleSettings) -> dict[str, object] | None:
    """The quota that the daemon has spent within this minute."""
    try:
        if not is_begun(role):
            return None
        with closing(journals_of(role).look()) as journal:
            kept = journal.kept(QUOTA)
    except LeagueError:
        return None  # the check of the journal reports this error
    return kept if isinstance(kept, dict) else None
