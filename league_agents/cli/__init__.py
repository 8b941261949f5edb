"""The command ``league-agents``.

Rule 1: a command's module is imported when it is used, so that ``--help`` answers at once.
Rule 2: errors become lines and exit codes here and nowhere else. Whoever can do something about an error reads one
line that names the thing and the remedy; a traceback is for those who ask for it.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NoReturn

import click

from league_agents import __version__
from league_agents.kit.errors import (
    AuthorizationExpired,
    ConfigError,
    JournalError,
    JournalUnusable,
    LeagueError,
    MailboxUnavailable,
    QuotaExhausted,
    WorkerLost,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "league-agents"
DEBUG_VARIABLE = "LEAGUE_AGENTS_DEBUG"
VARIABLE_OF_COMPLETION = "_LEAGUE_AGENTS_COMPLETE"
"""Set by the scripts of 'completion'; click's name for this program."""

COMMANDS = {
    "run": ("Play: one match here, or a season on real mail.", "league_agents.cli.run"),
    "season": ("Play a whole season here, in seconds.", "league_agents.cli.season"),
    "status": ("What a running daemon does, and what it waits for.", "league_agents.cli.status"),
    "show": ("Matches, standings, schedule and audit trail of a season.", "league_agents.cli.show"),
    "report": ("A season as pages for a browser.", "league_agents.cli.report"),
    "dashboard": ("The pages of a season, live.", "league_agents.cli.dashboard"),
    "export": ("Write the matches of a season to a file.", "league_agents.cli.export"),
    "import": ("Check a file of match records, and keep it.", "league_agents.cli.import_records"),
    "manage": ("Tell the league manager what to do.", "league_agents.cli.manage"),
    "auth": ("Authorize a mailbox, or see how long it still is.", "league_agents.cli.auth"),
    "config": ("Begin, check or convert a league file.", "league_agents.cli.config"),
    "check": ("Try out your own agent on every callback.", "league_agents.cli.check"),
    "evaluate": ("Measure how well an agent plays or judges.", "league_agents.cli.evaluate"),
    "compare": ("Which of several players is the strongest.", "league_agents.cli.compare"),
    "validate": ("Check a message of guess-number.", "league_agents.cli.validate"),
    "corpus": ("Your own books for the offline agents.", "league_agents.cli.corpus"),
    "arena": ("Other games, between agents, people and models.", "league_agents.cli.arena"),
    "a2a": ("Agents of this program for others that speak A2A.", "league_agents.cli.a2a"),
    "mcp": ("The commands as tools of an assistant (MCP).", "league_agents.cli.mcp"),
    "journal": ("Move and look after the journals of roles.", "league_agents.cli.journal"),
    "costs": ("What language models were asked, and what it cost.", "league_agents.cli.costs"),
    "rules": ("Show a rule set, to read or to copy.", "league_agents.cli.rules"),
    "sandbox": ("A local Gmail to play in.", "league_agents.cli.sandbox"),
    "completion": ("Completion of commands in your shell.", "league_agents.cli.completion"),
    "manual": ("All of the help as one page for man.", "league_agents.cli.manual"),
}
"""Name -> (short help, module whose ``command`` it is). The help text must not need the module."""


class Exit(IntEnum):
    """What the process's exit code says."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CONFIGURATION = 3
    UNAVAILABLE = 4
    AUTHORIZATION = 5
    BUG = 70
    """As in ``sysexits.h``: internal software error."""
    INTERRUPTED = 130
    """128 and the number of SIGINT, as shells say it."""


HELP = f"""An email-driven league of AI agents that play the 21 questions book game.

\b
Examples:
  {PROGRAM} run --single-game                      one match, offline, no key needed
  {PROGRAM} run --single-game --player-a my_player:MyPlayerAI
  {PROGRAM} season --teams 6                       a whole season, offline
  {PROGRAM} check my_player:MyPlayerAI             before you send it into a match
  {PROGRAM} show match 0101001 --transcript         one match of a season, question by question
  {PROGRAM} corpus add my-novel.txt                one more book to play with
"""

EXIT_MEANINGS = {
    Exit.OK: "done",
    Exit.FAILED: "the command ran and failed, 'check' found a broken contract, 'validate' a wrong message, or nobody "
    "read all of the output ('| head')",
    Exit.USAGE: "the command line is wrong",
    Exit.CONFIGURATION: "a file, a key, an agent or a book that was named is wrong, a journal damaged or gone",
    Exit.UNAVAILABLE: "something that is needed is not available at the moment",
    Exit.AUTHORIZATION: f"a person must authorize a mailbox: {PROGRAM} auth login",
    Exit.BUG: f"a bug; {DEBUG_VARIABLE}=1 shows the traceback",
    Exit.INTERRUPTED: "interrupted from the keyboard",
}
"""As ``--help`` and ``docs/reference/commands.md`` tell them."""

EPILOG = "\b\nExit codes:\n" + "".join(f"  {code.value:<4} {meaning}\n" for code, meaning in EXIT_MEANINGS.items())


class CommandLine(click.Group):
    """A group whose commands are imported when they are used, and the place where every error ends."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name][1]).command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands by their table: a completion imports none of them, unless it is inside one."""
        from click.shell_completion import CompletionItem

        named = [CompletionItem(name, help=text) for name, (text, _) in COMMANDS.items() if name.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (text, _) in COMMANDS.items()])

    def main(  # type: ignore[override]  # the same parameters, without the overloads' fuss
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run one command line and leave the process with its exit code."""
        extra["standalone_mode"] = False
        try:
            result = super().main(args=args, prog_name=prog_name or PROGRAM, **extra)
            sys.stdout.flush()
            sys.exit(result if isinstance(result, int) else Exit.OK)
        except click.exceptions.Exit as done:
            sys.exit(done.exit_code)
        except (KeyboardInterrupt, click.Abort) as stopped:
            if isinstance(stopped, click.Abort) and stopped.__cause__ is None:
                click.echo(err=True)  # a question was interrupted; everywhere else click ends the line itself
            leave("interrupted", Exit.INTERRUPTED)
        except BrokenPipeError:
            # Whoever read has seen enough (``… | head``). Python would complain when it closes the stream on its own.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.exit(Exit.FAILED)
        except click.ClickException as error:
            leave(_usage(error), Exit.USAGE)
        except LeagueError as error:
            leave(str(error), exit_code_of(error))
        except OSError as error:
            # A full disk, a file that went away: the machine's fault, not this program's.
            _trace()
            named = f"{error.filename}: " if error.filename else ""
            leave(f"{named}{error.strerror or error}; see to it and run the command again", Exit.UNAVAILABLE)
        except Exception as error:
            # The edge of the program: whatever comes here was not foreseen.
            hint = "" if _trace() else f"; {DEBUG_VARIABLE}=1 shows where"
            leave(f"this is a bug in {PROGRAM}: {type(error).__name__}: {error}{hint}", Exit.BUG)


def exit_code_of(error: LeagueError) -> Exit:
    """The code for a failure that has a name."""
    if isinstance(error, ConfigError | JournalUnusable):
        return Exit.CONFIGURATION
    if isinstance(error, AuthorizationExpired):
        return Exit.AUTHORIZATION
    unavailable = (MailboxUnavailable, QuotaExhausted, JournalError, WorkerLost)
    if isinstance(error, unavailable):
        return Exit.UNAVAILABLE
    from league_agents.arena.seat_line import ServerLost
    from league_agents.knowledge.failures import KnowledgeError

    if isinstance(error, ServerLost):
        return Exit.UNAVAILABLE
    return Exit.CONFIGURATION if isinstance(error, KnowledgeError) else Exit.FAILED


def leave(message: str, code: Exit) -> NoReturn:
    """End the process with one line on stderr. Raises ``SystemExit``."""
    from league_agents.kit.printable import printable
    from league_agents.report.secret_texts import SecretTexts

    # A message may quote a file or an agent: it stays one line, moves no cursor and shows no token.
    click.echo(f"{PROGRAM}: {printable(SecretTexts().hide(message), 2000)}", err=True)
    sys.exit(code)


def _trace() -> bool:
    """Show the traceback to those who asked for it. Whether it was shown."""
    is_wanted = os.environ.get(DEBUG_VARIABLE) == "1"
    if is_wanted:
        traceback.print_exc()
    return is_wanted


def _usage(error: click.ClickException) -> str:
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        # A group without a command: its help is the answer, not a line about it.
        click.echo(error.format_message(), err=True)
        sys.exit(Exit.USAGE)
    message = error.format_message().rstrip(".")
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    is_unknown = message.startswith("No such command") and "Did you mean" not in message
    if is_unknown and ctx is not None and ctx.parent is not None and isinstance(ctx.command, click.Group):
        # A group within the program has few commands: 'evaluate offline' lacks one of two words.
        message += f"; choose {', '.join(ctx.command.list_commands(ctx))}"
    return f"{message}; see '{ctx.command_path if ctx is not None else PROGRAM} --help'"


def _show_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if not is_asked:
        return
    from league_agents.arena.protocol.refusals import PROTOCOL_VERSION
    from league_agents.league.wire.kinds import Protocol

    click.echo(f"{PROGRAM} {__version__}")
    click.echo(f"protocols: {', '.join(Protocol)}, Boardgame {PROTOCOL_VERSION}")
    ctx.exit()


@click.command(
    name=PROGRAM,
    cls=CommandLine,
    help=HELP,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the versions and exit.",
)
def command_line() -> None:
    """Everything is in the commands."""


def main() -> NoReturn:
    """The entry point of ``league-agents`` and of ``python -m league_agents``."""
    if sys.stdout is None or sys.stderr is None:  # closed by whoever started us
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123
            sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
            _take_folders_from_dotenv()
            command_line.main()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows no Hebrew shows question marks instead of ending the match.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    _take_folders_from_dotenv()
    command_line.main()


_FOLDERS = ("LEAGUE_AGENTS_DATA", "LEAGUE_AGENTS_CACHE")


def _take_folders_from_dotenv() -> None:
    """Where files are kept is asked in places that read the environment alone, so what ``.env`` says goes there."""
    try:
        with open(".env", encoding="utf-8") as file:  # noqa: PTH123
            is_named = "LEAGUE_AGENTS_" in file.read(1_000_000)
    except (OSError, UnicodeDecodeError):
        return  # whoever needs the file says what is wrong with it
    if not is_named:
        return
    from dotenv import dotenv_values

    for name, value in dotenv_values(".env", interpolate=False).items():
        if name in _FOLDERS and value:
            os.environ.setdefault(name, value)
