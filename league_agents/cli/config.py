"""``league-agents config``: check a league file, make one from another client's settings, or list model providers."""

from __future__ import annotations

from pathlib import Path

import click

from league_agents.cli.options import CONFIG, ROLES

EPILOG = """\b
Examples:
  league-agents config check                               is league.yaml right?
  league-agents config providers                           which services language models can be asked at
  league-agents config import js/config.json               a player's settings, shown as a league file
  league-agents config import config.json -o league.yaml   a referee's settings, kept
  league-agents config import config.json js/config.json -o league.yaml   both in one league file
"""


@click.group(name="config", short_help="Check a league file, or convert older settings.", epilog=EPILOG)
def command() -> None:
    """The league file says who you are and how you play; config/league.example.yaml explains every key."""


@command.command(name="check")
@CONFIG
@ROLES
def check(*, config: Path | None, roles: tuple[str, ...]) -> None:
    """Read the league file with the environment laid over it, load the agents, look at the journals and tokens, and say
    what was understood and what to do next. What stops 'run' stops this command: the exit code is 3."""
    from league_agents.app.finished import check_file, season_warnings
    from league_agents.app.live_mailbox import login_command
    from league_agents.app.secret_files import readable_by_others
    from league_agents.cli.screen import own_stdout
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file
    from league_agents.kit.clock import SystemClock

    path = find_league_file(config)
    settings = read_league_file(path, environment_of(path), only=roles)
    logins: list[str] = []
    with own_stdout() as stdout:
        for role, found in check_file(settings, now=SystemClock().now()):
            agent = f", agent {found.agent}" if found.agent else ""
            journal = f"journal {role.journal} ({'its own' if found.has_journal else 'not made yet'})"
            click.echo(f"{role.label}: {role.address}{agent}, {journal}, token {role.token}", file=stdout)
            if found.needs_login:
                click.echo(f"{role.label}: {found.needs_login}", file=stdout)
                logins.append(login_command(settings, role))
        for warning in (*readable_by_others(settings), *season_warnings(settings)):
            click.echo(warning, err=True)
        active, idle = (each.total_seconds() for each in (settings.pace.active, settings.pace.idle))
        click.echo(
            f"league manager {settings.manager_email}, rules {settings.rules.name}, a look every {active:g} s"
            f" (idle: {idle:g} s), {settings.gmail.endpoint}",
            file=stdout,
        )
        if len(logins) > 1:  # without --role it is done for every role that needs it
            logins = [settings.command("auth", "login")]
        next_command = logins[0] if logins else settings.command("run", "--test-connectivity")
        click.echo(f"{path} is right; next: {next_command}", file=stdout)


@command.command(name="import")
@click.argument("sources", metavar="FILE [FILE]", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write here, not to stdout.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def import_(*, sources: tuple[Path, ...], output: Path | None, force: bool) -> None:
    """Convert the settings of the deployed clients: a referee's config.json or a player's js/config.json.
    One of each become one league file with two roles, each with a token of its own.

    What was not taken over is said, and why; values are not repeated.
    """
    from league_agents.config.league_settings import DEFAULT_FILE, command_with
    from league_agents.config.migrate import import_together
    from league_agents.kit.errors import ConfigError
    from league_agents.kit.private_file import open_private

    into = output or Path(DEFAULT_FILE)
    imported = import_together(sources, into=into)
    for line in imported.taken:
        click.echo(f"taken: {line}", err=True)
    for line in imported.dropped:
        click.echo(f"not taken over: {line}", err=True)
    for line in imported.to_do:
        click.echo(f"to do: {line}", err=True)
    text = imported.text(" and ".join(str(source) for source in sources))
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with open_private(output, "w" if force else "x") as file:  # people write targets into it
            file.write(text)
    except FileExistsError:
        raise ConfigError(str(output), "exists already; name another file or use --force") from None
    except OSError as error:
        raise ConfigError(str(output), f"cannot be written: {error.strerror}") from None
    next_command = command_with(into, "config", "check")
    click.echo(f"wrote {output}; files in it are seen from its folder; next: {next_command}", err=True)


@command.command(name="providers")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def providers(*, as_json: bool) -> int:
    """List the providers of language models, built in and installed: what LEAGUE_LLM_PROVIDER and 'provider' may name.

    A provider that is installed and cannot be used is named on stderr; the exit code is then 3.
    """
    import sys

    from league_agents.app.providers import list_providers
    from league_agents.cli import Exit
    from league_agents.cli.screen import print_document
    from league_agents.config.league_file import environment_of

    listed, unusable = list_providers(environment_of(Path.cwd() / "league.yaml"))
    if as_json:
        document = {"providers": [each.to_json() for each in listed], "unusable": [str(error) for error in unusable]}
        print_document(document, sys.stdout)
    else:
        for each in listed:
            for line in each.lines():
                click.echo(line)
    for error in unusable:
        click.echo(str(error), err=True)
    return Exit.CONFIGURATION if unusable else Exit.OK
