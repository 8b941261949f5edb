"""``league-agents manage``: what the league manager is told to do, while its daemon runs or before it is started."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

import click

from league_agents.cli.numbers import FiniteRange, WholeRange
from league_agents.cli.options import CONFIG, MAILBOX
from league_agents.games.q21.model import MOST_POINTS
from league_agents.league.season.orders import LONGEST_EXTENSION, Command, OrderSubject, SettlementOrder

COMMANDS: Mapping[str, Command] = MappingProxyType({command.word: command for command in Command})
WITH_TEXT = ", ".join(word for word, command in COMMANDS.items() if command.takes_text)
SETTLING = ", ".join(word for word, command in COMMANDS.items() if command.settles)
MOST_MINUTES = LONGEST_EXTENSION / timedelta(minutes=1)
LONGEST_TEXT, LONGEST_REASON, LONGEST_NAME = 2_000, 1_000, 200
LOOK_EVERY_S = 0.2
RELOAD = "reload"
"""An order to the process instead of to the league manager."""

NEXT = "next-season"
"""An order to the league: to all of its managers, through its file."""

EPILOG = (
    "\b\nCommands:\n"
    + "\n".join(f"  {word:<20} {command.meaning}" for word, command in COMMANDS.items())
    + f"\n  {NEXT:<20} say who rises and falls; with ABOUT begin the season of this id (--text is its name)"
    + f"\n  {RELOAD:<20} read the league files again: for a process of many mailboxes"
    + """

\b
Settling needs --why. It is announced to those concerned, and 'show log' lists it.
  league-agents manage annul 0201001 --why "the referee used a wrong book"
  league-agents manage correct 0201001 --points 3 0 --why "agreed by both teams"
  league-agents manage reinstate 0201001 --why "the protest was withdrawn"
  league-agents manage replay 0201001 --why "the referee used a wrong book"
  league-agents manage substitute-referee 0203002 otters --why "their mailbox is full"
  league-agents manage withdraw ravens --why "they do not answer"

\b
After the season:
  league-agents manage next-season                who rises, who falls
  league-agents manage next-season AUTUMN-2031    begin the next one with them
"""
)


@click.command(name="manage", short_help="Tell the league manager what to do.", epilog=EPILOG)
@click.argument("order", metavar="COMMAND", type=click.Choice([*COMMANDS, NEXT, RELOAD]))
@click.option("--text", default="", help=f"The reason, or the text to send. For {WITH_TEXT}.")
@click.argument("about", metavar="[ABOUT]", default="")
@click.argument("team", metavar="[TEAM]", default="")
@click.option("--why", default="", help="The reason of a settlement or a reset. Everybody concerned reads it.")
@click.option(
    "--points",
    type=(WholeRange(0, MOST_POINTS), WholeRange(0, MOST_POINTS)),
    metavar="N N",
    help="For correct: the league points of player 1 and player 2.",
)
@click.option(
    "--scores",
    type=(FiniteRange(0, 100), FiniteRange(0, 100)),
    metavar="X X",
    help="For correct: their private scores.  [default: as reported]",
)
@click.option(
    "--minutes",
    type=FiniteRange(1, MOST_MINUTES),
    metavar="M",
    help="For extend-round: how much later.",
)
@MAILBOX
@CONFIG
@click.option(
    "--wait",
    type=FiniteRange(0, 3_600),
    default=30.0,
    show_default=True,
    metavar="S",
    help="Seconds to wait until a running manager has done it.",
)
def command(
    *,
    order: str,
    text: str,
    about: str,
    team: str,
    why: str,
    points: tuple[int, int] | None,
    scores: tuple[float, float] | None,
    minutes: float | None,
    mailbox: str | None,
    config: Path | None,
    wait: float,
) -> int:
    """Hand one command to the league manager.

    The manager's journal takes it down, so it is carried out once whatever happens: by the daemon that runs now, with
    its next look, or by the next one that is started. While none runs, a settlement that is impossible by the journal
    is refused at once; 'show log' lists the others as done, waiting or refused. A league file that 'config check'
    rejects is refused.
    """
    from league_agents.app.finished import check_file
    from league_agents.app.journals import journals_of
    from league_agents.app.orders import give, is_table_out, new_nonce, outcome_of, refusal_of
    from league_agents.cli import Exit
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file
    from league_agents.journal.port import Order
    from league_agents.kit.clock import SystemClock

    if order == RELOAD:
        if about or team or text or why or points or scores or minutes or mailbox:
            raise click.UsageError(f"'{RELOAD}' takes only --config, with a league file or a folder of them")
        return _reload(config)
    if order == NEXT:
        from league_agents.cli.next_season import turn_over

        if team or why or points or scores or minutes or mailbox:
            raise click.UsageError(
                f"'{NEXT}' is about all divisions, and takes the new season's id, --text and --config"
            )
        return turn_over(config, season_id=about, name=text, wait=wait)
    for name, words in (("ABOUT", about), ("TEAM", team), ("--text", text), ("--why", why)):
        if not _is_unicode(words):
            raise click.UsageError(f"{name} cannot be written as UTF-8; write it in the terminal's own encoding")
    wanted = COMMANDS[order]
    if text and not wanted.takes_text:
        raise click.UsageError(f"'{order}' says nothing; --text is for {WITH_TEXT}")
    if wanted is Command.FREE_TEXT and not text.strip():
        raise click.UsageError("'free-text' needs what is to be said: --text '…'")
    if len(text) > LONGEST_TEXT:
        raise click.UsageError(f"the text has {len(text)} characters, at most {LONGEST_TEXT} are sent")
    if wanted.settles is not None:
        _check_settlement(wanted, about, team, why)
        _check_figures(wanted, points, scores, minutes)
        text = SettlementOrder(
            about=about, why=why.strip(), points=points, private_scores=scores, minutes=minutes, referee=team
        ).to_text()
    elif about or (why and not wanted.takes_why) or points or scores or minutes:
        raise click.UsageError(f"'{order}' settles nothing; ABOUT and its options are for {SETTLING}")
    elif why:
        _check_length(why)
        text = why.strip()
    path = find_league_file(config)
    chosen = () if mailbox is None else (mailbox,)
    settings = read_league_file(path, environment_of(path), only=("manager",), mailboxes=chosen)
    role = settings.role("manager")
    clock = SystemClock()
    for _ in check_file(settings, now=clock.now()):
        pass
    given = Order(nonce=new_nonce(), command=wanted.value, text=text, at=clock.now())
    if not journals_of(role).is_worked_on():
        if (refused := refusal_of(settings, role, given, clock.now())) is not None:
            click.echo(f"{refused}; it is not taken down", err=True)
            return Exit.FAILED
        give(role, given)
        click.echo(f"{order}: taken down; no manager is running, the next one that is started will do it", err=True)
        return Exit.OK
    give(role, given)
    ends_at_s = clock.monotonic_s() + wait
    while (outcome := outcome_of(role, given)) is None:
        if clock.monotonic_s() >= ends_at_s:
            click.echo(f"{order}: taken down; the manager has not come to it yet", err=True)
            return Exit.OK
        clock.sleep(timedelta(seconds=LOOK_EVERY_S))
    said = outcome.removeprefix(f"{order}: ") or "done"
    if not outcome and wanted is Command.START_ROUND and is_table_out(settings, role):
        said = "the new assignment table is out; the round begins when everybody has it, or with 'start-round' again"
    click.echo(f"{order}: {said}", err=True)
    return Exit.FAILED if outcome else Exit.OK


def _reload(config: Path | None) -> int:
    from league_agents.app.reload import ask_to_reload, processes_of
    from league_agents.cli import Exit
    from league_agents.config.league_file import environment_of, read_league_file
    from league_agents.config.league_folder import are_many, league_files, read_league_files
    from league_agents.kit.errors import ConfigError

    named = () if config is None else (config,)
    is_many = are_many(named)
    files = read_league_files(
        league_files(named), lambda path: read_league_file(path, environment_of(path), is_one_of_many=is_many)
    )
    for error in files.wrong.values():
        click.echo(f"league-agents: {error}; what runs from this file stays as it is", err=True)
    if not is_many and not any(settings.lists_several for settings in files.read):
        path = league_files(named)[0]
        raise ConfigError(
            str(path), "is read at the start of its process only, which has one role of a kind; restart it"
        )
    processes = processes_of(files.read)
    if not processes:
        click.echo("no process of this machine works on these mailboxes; start it with 'run --watch'", err=True)
        return Exit.FAILED
    for pid in processes:
        ask_to_reload(pid)
        click.echo(f"process {pid} reads its league files again; its log says what has changed", err=True)
    return Exit.CONFIGURATION if files.wrong else Exit.OK


def _is_unicode(words: str) -> bool:
    try:
        words.encode()
    except UnicodeEncodeError:  # bytes of another encoding, as the system hands them over
        return False
    return True


def _check_settlement(command: Command, about: str, team: str, why: str) -> None:
    order = command.word
    if not why.strip():
        raise click.UsageError(f"'{order}' needs a reason: --why '…'")
    _check_length(why, ABOUT=about, TEAM=team)
    if command.settles is OrderSubject.ROUND and about:
        raise click.UsageError(f"'{order}' is about the round that is played: {_usage(command)}")
    if command.settles is not OrderSubject.ROUND and not about:
        raise click.UsageError(f"'{order}' needs the {command.settles}: {_usage(command)}")
    if command is Command.SUBSTITUTE_REFEREE and not team:
        raise click.UsageError(f"'{order}' needs the team whose referee steps in: {_usage(command)}")
    if command is not Command.SUBSTITUTE_REFEREE and team:
        raise click.UsageError(f"'{order}' is about one {command.settles} and takes no further TEAM: {_usage(command)}")


def _usage(command: Command) -> str:
    """The command as it is to be typed."""
    about = {OrderSubject.MATCH: "0101001", OrderSubject.TEAM: "TEAM"}.get(command.settles or OrderSubject.ROUND)
    figures = {
        Command.SUBSTITUTE_REFEREE: "TEAM", Command.CORRECT: "--points 3 0", Command.EXTEND_ROUND: "--minutes 30"
    }.get(command)  # fmt: skip
    return " ".join(word for word in (command.word, about, figures, "--why '…'") if word)


def _check_length(why: str, **names: str) -> None:
    if len(why) > LONGEST_REASON:
        raise click.UsageError(f"the reason has {len(why)} characters, at most {LONGEST_REASON} are sent")
    for name, words in names.items():
        if len(words) > LONGEST_NAME:
            raise click.UsageError(f"{name} has {len(words)} characters; no match or team has more than {LONGEST_NAME}")


def _check_figures(
    command: Command, points: tuple[int, int] | None, scores: tuple[float, float] | None, minutes: float | None
) -> None:
    if scores is not None and command is not Command.CORRECT:
        raise click.UsageError("--scores is for 'correct' only")
    if (command is Command.CORRECT) != (points is not None):
        raise click.UsageError("'correct' needs --points N N, and no other command has them")
    if (command is Command.EXTEND_ROUND) != (minutes is not None):
        raise click.UsageError("'extend-round' needs --minutes M, and no other command has them")
