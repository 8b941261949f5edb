"""``league-agents auth``: authorize mailboxes, see how long they are, give them back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.options import CONFIG, MAILBOXES, ROLES

if TYPE_CHECKING:
    from league_agents.config.league_settings import LeagueSettings, RoleSettings

EPILOG = """\b
Examples:
  league-agents auth login                            every role of league.yaml that needs it
  league-agents auth login --role player
  league-agents auth login --role player --no-browser on a server: open the address elsewhere
  league-agents auth status
"""


@click.group(name="auth", short_help="Authorize a mailbox, or see how long it still is.", epilog=EPILOG)
def command() -> None:
    """Authorizations of the mailboxes that the league file names. Tokens are written for you alone (mode 0600)."""


def _settings(config: Path | None, roles: tuple[str, ...], mailboxes: tuple[str, ...]) -> LeagueSettings:
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file

    path = find_league_file(config)
    return read_league_file(path, environment_of(path), only=roles, mailboxes=mailboxes)


@command.command()
@CONFIG
@ROLES
@MAILBOXES
@click.option("--no-browser", is_flag=True, help="Show the address; paste back where the browser was sent to.")
def login(*, config: Path | None, roles: tuple[str, ...], mailboxes: tuple[str, ...], no_browser: bool) -> None:
    """Let a person agree in a browser, once for each mailbox.

    Without --role and --mailbox it is done for every role whose token is missing or cannot be used.
    """
    from league_agents.mail.oauth import load_client_secret

    settings = _settings(config, roles, mailboxes)
    load_client_secret(settings.gmail.credentials)
    chosen = [role for role in settings.roles if roles or mailboxes or _needs_login(settings, role)]
    if not chosen:
        click.echo("every mailbox is authorized; name one with --role to do it again", err=True)
    for role in chosen:
        _login(settings, role, no_browser=no_browser)


def _needs_login(settings: LeagueSettings, role: RoleSettings) -> bool:
    from league_agents.kit.errors import AuthorizationExpired, MailError

    try:
        _profile(settings, role)
    except AuthorizationExpired:
        return True
    except MailError:
        return False  # whoever cannot be reached may be authorized all the same
    return False


def _profile(settings: LeagueSettings, role: RoleSettings) -> str:
    from league_agents.app.live_mailbox import login_command
    from league_agents.mail.gmail import GmailMailbox

    click.echo(f"{role.label}: {settings.gmail.awaited}", err=True)
    mailbox = GmailMailbox(
        role.token,
        endpoint=settings.gmail.endpoint,
        timeout=settings.gmail.timeout,
        login_command=login_command(settings, role),
    )
    try:
        return mailbox.profile().address
    finally:
        mailbox.close()


def _login(settings: LeagueSettings, role: RoleSettings, *, no_browser: bool) -> None:
    from league_agents.app.role_files import refuse_missing_folder
    from league_agents.kit.errors import AuthorizationExpired, MailboxUnavailable
    from league_agents.league.wire.address import same_address
    from league_agents.mail.oauth import login as log_in
    from league_agents.mail.oauth import login_pasted

    refuse_missing_folder(role.token)
    click.echo(f"{role.label}: log in as {role.address} and allow everything that is asked for:", err=True)

    def show(address: str) -> None:
        click.echo(address)

    if no_browser:
        click.echo("Open the address below in any browser. At the end it cannot open a page of 'localhost':", err=True)
        click.echo("copy the address of that page and paste it here.", err=True)
        login_pasted(
            settings.gmail.credentials,
            role.token,
            show=show,
            ask=_pasted_line,
        )
    else:
        log_in(settings.gmail.credentials, role.token, show=show)
    try:
        address = _profile(settings, role)
    except MailboxUnavailable as error:
        click.echo(f"{role.label}: authorized, and not yet tried: {error}", err=True)
        return
    if not same_address(address, role.address):
        raise AuthorizationExpired(
            f"{role.token}: you logged in as {address}, and {role.section}.address is {role.address};"
            " log in again with the right account, or correct the league file"
        )
    if address != role.address:
        click.echo(f"{role.label}: Gmail spells the address {address}; write it so in the league file", err=True)
    click.echo(f"{role.label}: {address} is authorized; {role.token} is written", err=True)


def _pasted_line() -> str:
    """The line that a person pastes; empty when there is nobody to paste one."""
    click.echo("address: ", nl=False, err=True)
    if sys.stdin is None:  # closed by whoever started us
        return ""
    try:
        return input()
    except (EOFError, UnicodeDecodeError):
        click.echo(err=True)
        return ""


@command.command()
@CONFIG
@ROLES
@MAILBOXES
def status(*, config: Path | None, roles: tuple[str, ...], mailboxes: tuple[str, ...]) -> int:
    """How old each token is, when it ends and what is wrong with it, without asking Google."""
    from league_agents.app.live_mailbox import login_command, missing_client
    from league_agents.cli import Exit
    from league_agents.kit.clock import SystemClock
    from league_agents.kit.errors import AuthorizationExpired
    from league_agents.mail.oauth import token_status
    from league_agents.report.status import TokenState, token_words

    settings = _settings(config, roles, mailboxes)
    is_missing = False
    for role in settings.roles:
        now = SystemClock().now()
        no_client = missing_client(settings, role)
        if no_client is not None:
            click.echo(f"{role.label} {role.address}: {no_client}")
            is_missing = True
            continue
        try:
            found = token_status(role.token, now=now, login_command=login_command(settings, role))
        except AuthorizationExpired as error:
            click.echo(f"{role.label} {role.address}: {error}")
            is_missing = True
            continue
        words = token_words(TokenState(age=found.age, ends_at=found.expires_at, may_end_at=found.testing_ends_at))
        click.echo(f"{role.label} {role.address}: {words}")
        for warning in found.warnings:
            click.echo(f"  {warning}")
        has_ended = found.expires_at is not None and found.expires_at <= now
        is_missing = is_missing or has_ended or bool(found.missing_scopes)
    return Exit.AUTHORIZATION.value if is_missing else Exit.OK.value


@command.command()
@CONFIG
@ROLES
@MAILBOXES
def logout(*, config: Path | None, roles: tuple[str, ...], mailboxes: tuple[str, ...]) -> None:
    """Give the authorization back to Google and delete the token of the named roles."""
    from league_agents.mail.oauth import logout as give_back

    if not roles and not mailboxes:
        raise click.UsageError(
            "name the mailbox with --role or --mailbox; its daemon cannot go on without the authorization"
        )
    settings = _settings(config, roles, mailboxes)
    for role in settings.roles:
        confirmed = give_back(role.token)
        unsure = "deleted here; Google did not confirm it, see https://myaccount.google.com/permissions"
        said = "given back" if confirmed else unsure
        click.echo(f"{role.label} {role.address}: {said}", err=True)
