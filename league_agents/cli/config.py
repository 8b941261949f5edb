"""``league-agents config``: begin a league file, check one, convert another client's, or list model providers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from league_agents.cli.options import CONFIGS, ROLE_NAMES, ROLES
from league_agents.config.examples import ENVIRONMENT, PRICES, SYSTEMD_UNIT, example_text

if TYPE_CHECKING:
    from league_agents.app.finished import CheckedFile

EPILOG = """\b
Examples:
  league-agents config init player                         a league file of your own, asked for step by step
  league-agents config check                               is league.yaml right?
  league-agents config providers                           which services language models can be asked at
  league-agents config import js/config.json               a player's settings, shown as a league file
  league-agents config import config.json -o league.yaml   a referee's settings, kept
  league-agents config import config.json js/config.json -o league.yaml   both in one league file
"""


@click.group(name="config", short_help="Begin, check or convert a league file.", epilog=EPILOG)
def command() -> None:
    """The league file says who you are and how you play; 'config init' writes one that explains every key."""


_COMMENTED = {
    "prices": (PRICES, "prices.yaml"),
    "env": (ENVIRONMENT, ".env"),
    "systemd": (SYSTEMD_UNIT, "league-agents.service"),
}
"""Kind -> (the example, the file that is written by default). Nothing in them is filled in."""

FORCE = click.option("--force", is_flag=True, help="Replace FILE if it exists.")


@command.command(name="init")
@click.argument(
    "kind",
    metavar="[player|referee|manager|arena|prices|env|systemd]",
    type=click.Choice((*ROLE_NAMES, "arena", *_COMMENTED)),
)
@click.option("-o", "--out", "output", type=click.Path(path_type=Path), metavar="FILE", help="[default: league.yaml]")
@FORCE
@click.option("--address", metavar="MAIL", help="Your mailbox, as Gmail spells it.")
@click.option("--manager", "manager_email", metavar="MAIL", help="The league manager's address.")
@click.option("--id", metavar="ID", help="A referee's id in the league.")
@click.option("--group", "group_id", metavar="ID", help="Your group, as the league office spells it.")
@click.option("--agent", metavar="AGENT", help="Who plays: offline, llm, a2a:URL, module:Class or file.py:Class.")
@click.option("--season-id", metavar="ID", help="Of a manager's season.")
@click.option("--season-name", metavar="NAME", help="Of a manager's season.")
@click.option("--scenario", metavar="NAME", help="With arena: the example.  [default: the first]")
def init(*, kind: str, output: Path | None, force: bool, scenario: str | None, **given: str | None) -> None:
    """Write the commented league file of one role, and a .env beside it unless there is one.

    A terminal is asked for what the options leave open; without one, the file says what must still be filled in. With
    arena it is the file of a match, to change and to play; with prices that of what language models cost; with env the
    settings and keys alone; with systemd the unit that runs the roles as a service.
    """
    from league_agents.config.league_settings import DEFAULT_FILE, command_with
    from league_agents.config.new_file import new_league_file

    if kind == "arena":
        _init_arena(scenario, output, is_replaced=force)
        return
    if kind in _COMMENTED:
        example, name = _COMMENTED[kind]
        into = output or Path(name)
        _write(into, example_text(example), is_replaced=force)
        click.echo(f"wrote {into}; its comments say how it is used", err=True)
        return
    into = output or Path(DEFAULT_FILE)
    if into.exists() and not force:  # before anybody is asked
        raise _exists(into)
    made = new_league_file(kind, _answers(kind, given))
    _write(into, made.text, is_replaced=force)
    click.echo(f"wrote {into}", err=True)
    environment = into.parent / ".env"
    if not environment.exists():
        _write(environment, example_text(ENVIRONMENT), is_replaced=False)
        click.echo(f"wrote {environment}: keys of language models and other settings, all of them comments", err=True)
    for line in made.to_do:
        click.echo(f"to do: {line}", err=True)
    click.echo(f"next: {command_with(into, 'config', 'check')}", err=True)


def _answers(role: str, given: dict[str, str | None]) -> dict[str, str]:
    """What the options say, and what a person at the terminal answers to the rest."""
    from league_agents.config.new_file import FileQuestion, check_answer, questions_for
    from league_agents.kit.errors import ConfigError

    questions = questions_for(role)
    needed = {question.option for question in questions}
    for option, value in given.items():
        if value is not None and option not in needed:
            raise click.UsageError(f"the league file of a {role} has no {option.replace('_', ' ')}")

    def answer_to(question: FileQuestion) -> str:
        def checked(value: str) -> str:
            if value:
                try:
                    check_answer(question, value)
                except ConfigError as error:
                    raise click.BadParameter(error.message) from None
            return value

        answer: str = click.prompt(
            question.text, default=question.default, show_default=bool(question.default), value_proc=checked, err=True
        )
        return answer

    is_asked = is_terminal()
    answers = {question.option: given.get(question.option) for question in questions}
    if is_asked and None in answers.values():
        click.echo("Enter leaves a question open; the file then says where to fill it in.", err=True)
    return {
        question.option: (answer_to(question) if is_asked else "")
        if answers[question.option] is None
        else answers[question.option] or ""
        for question in questions
    }


def is_terminal() -> bool:
    """Whether a person can be asked."""
    import sys

    return sys.stdin is not None and sys.stdin.isatty()


def _init_arena(named: str | None, output: Path | None, *, is_replaced: bool) -> None:
    from league_agents.config.examples import scenario_names

    scenario = named or scenario_names()[0]
    if scenario not in scenario_names():
        raise click.BadParameter(f"choose {', '.join(scenario_names())}", param_hint="--scenario")
    into = output or Path(f"{scenario}.yaml")
    _write(into, example_text(f"arena/{scenario}.yaml"), is_replaced=is_replaced)
    click.echo(f"wrote {into}; next: league-agents arena play --scenario {into}", err=True)


def _write(output: Path, text: str, *, is_replaced: bool) -> None:
    """A file of the user's own: people write targets into it. Raises ``ConfigError``."""
    from league_agents.kit.errors import ConfigError
    from league_agents.kit.private_file import open_private

    try:
        with open_private(output, "w" if is_replaced else "x") as file:
            file.write(text)
    except FileExistsError:
        raise _exists(output) from None
    except OSError as error:
        raise ConfigError(str(output), f"cannot be written: {error.strerror}") from None


def _exists(output: Path) -> Exception:
    from league_agents.kit.errors import ConfigError

    return ConfigError(str(output), "exists already; name another file or use --force")


@command.command(name="check")
@CONFIGS
@ROLES
def check(*, config: tuple[Path, ...], roles: tuple[str, ...]) -> int:
    """Read the league files with the environment laid over them, load the agents, look at the journals and tokens, and
    say what was understood and what to do next, or all that is wrong. What stops 'run' stops this command: the exit
    code is 3."""
    from league_agents.app.finished import checked_file
    from league_agents.cli import Exit
    from league_agents.cli.screen import own_stdout
    from league_agents.config.league_file import environment_of, read_league_file
    from league_agents.config.league_folder import are_many, league_files, read_league_files
    from league_agents.config.league_settings import LeagueSettings
    from league_agents.kit.clock import SystemClock

    def read(path: Path) -> LeagueSettings:
        return read_league_file(path, environment_of(path), only=roles, is_one_of_many=are_many(config))

    paths = league_files(config)
    shared = read_league_files(paths, read).wrong if len(paths) > 1 else {}
    is_wrong = False
    with own_stdout() as stdout:
        for path in paths:
            found = checked_file(path, partial(read, path), now=SystemClock().now())
            mistakes = {str(error): None for error in (*found.mistakes, *filter(None, [shared.get(path)]))}
            is_wrong = is_wrong or bool(mistakes)
            _tell_checked(path, found, stdout, is_right=not mistakes)
            for mistake in mistakes:
                click.echo(f"league-agents: {mistake}", err=True)
    return Exit.CONFIGURATION if is_wrong else Exit.OK


def _tell_checked(path: Path, checked: CheckedFile, stdout: TextIO, *, is_right: bool) -> None:
    from league_agents.app.finished import season_warnings
    from league_agents.app.live_mailbox import login_command
    from league_agents.app.secret_files import readable_by_others

    settings = checked.settings
    if settings is None:
        return
    logins: list[str] = []
    for role, found in checked.ready:
        agent = f", agent {found.agent}" if found.agent else ""
        journal = f"journal {role.journal} ({'its own' if found.has_journal else 'not made yet'})"
        click.echo(f"{role.label}: {role.address}{agent}, {journal}, token {role.token}", file=stdout)
        if found.needs_login:
            click.echo(f"{role.label}: {found.needs_login}", file=stdout)
            logins.append(login_command(settings, role))
    for warning in (*readable_by_others(settings), *season_warnings(settings)):
        click.echo(warning, err=True)
    if not is_right:
        return
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
@click.option(
    "-o", "--out", "output", type=click.Path(path_type=Path), metavar="FILE", help="Write here, not to stdout."
)
@FORCE
def import_(*, sources: tuple[Path, ...], output: Path | None, force: bool) -> None:
    """Convert the settings of the deployed clients: a referee's config.json or a player's js/config.json.
    One of each become one league file with two roles, each with a token of its own.

    What was not taken over is said, and why; values are not repeated.
    """
    from league_agents.config.league_settings import DEFAULT_FILE, command_with
    from league_agents.config.migrate import import_together

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
    _write(output, text, is_replaced=force)
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
