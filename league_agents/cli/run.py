"""``league-agents run``: play."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import Any, TextIO

import click

from league_agents.cli.daemon import EPILOG as DAEMON_EPILOG
from league_agents.cli.daemon import DaemonChoice, daemon_options, run_on_mail
from league_agents.cli.options import SPECS
from league_agents.cli.own_code import in_process_option
from league_agents.cli.record_file import FileToWrite, check_record, write_record
from league_agents.cli.screen import console, document_text, own_stdout, print_document
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.errors import shortened

LARGEST_SEED = 2**63 - 1
DRAWN_SEEDS = 1_000_000
"""Few enough to be typed again, many enough that one hardly ever comes twice."""

SPEC_HELP = f"{SPECS}.  [default: offline]"


def read_seed(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    text = value.strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) <= LARGEST_SEED):
        raise click.BadParameter(f"{text[:40]!r} is no whole number from 0 to {LARGEST_SEED}")
    return int(text)


EPILOG = """\b
Agents (SPEC):
  offline           plays from the built-in books and your own (league-agents corpus)
  llm               asks language models: LEAGUE_LLM_PROVIDER, LEAGUE_LLM_MODEL and a key say
                    which ('config init env'); where none answers in time, it goes on offline
  scripted          fixed texts; scripted:NAME misbehaves in one way: late, silent, malformed, …
                    (a wrong NAME lists them all)
  module:Class      your class with the four callbacks of its role, inheriting or not;
                    path/to/file.py:Class works too. It runs in a process of its own, with your
                    environment; what it prints goes to stderr
  a2a:URL           an agent elsewhere that speaks A2A, by its address; needs the extra a2a

\b
Examples:
  league-agents run --single-game
  league-agents run --single-game --seed 7 --rules course
  league-agents run --single-game --player-a my_player:MyPlayerAI
  league-agents run --single-game --referee my_referee.py:MyRefereeAI --json | jq .match
  league-agents run --single-game --player-b scripted:stuffing --record match.json

Progress goes to stderr and the result to stdout. The exit code is 0 when the match came to any end, an aborted one
included: "status" and "termination" say which. The same seed gives the same match, as far as your own code does.
"""


@click.command(
    name="run", short_help="Play: one match here, or a season on real mail.", epilog=f"{EPILOG}\n{DAEMON_EPILOG}"
)
@click.option("--single-game", is_flag=True, help="One match on this machine: no account, no key, no network.")
@click.option(
    "--seed",
    callback=read_seed,
    metavar="N",
    help="What every draw depends on. Without it one is drawn and printed.",
)
@click.option("--rules", metavar="NAME|FILE", default="prd", show_default=True, help="prd, course, or your own file.")
@click.option("--referee", metavar="SPEC", help=f"Who judges: {SPEC_HELP}")
@click.option("--player-a", metavar="SPEC", help=f"Who plays as player A: {SPEC_HELP}")
@click.option("--player-b", metavar="SPEC", help=f"Who plays as player B: {SPEC_HELP}")
@click.option("--demo", is_flag=True, help="Everybody is scripted, with fixed texts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout and nothing else.")
@click.option(
    "--record",
    type=FileToWrite(),
    metavar="FILE",
    help="Keep the same document in FILE; an earlier record is replaced, any other file is not.",
)
@click.option(
    "--journal",
    type=FileToWrite(),
    metavar="FILE",
    help="Keep the journals: FILE with each mailbox's name before its ending, as in match.player-a.db.",
)
@in_process_option
@daemon_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    single_game: bool,
    seed: int | None,
    rules: str,
    referee: str | None,
    player_a: str | None,
    player_b: str | None,
    demo: bool,
    as_json: bool,
    record: Path | None,
    journal: Path | None,
    in_process: bool,
    **daemon: Any,
) -> int | None:
    """Play one match between a referee and two players on this machine, through the same mail and the same rules as in
    the league; or work on real mail for a whole season, as a league file says."""
    choice = DaemonChoice(**daemon)
    if choice.mode is not None:
        wrong = [option for option, name in _OF_A_SINGLE_GAME.items() if _is_typed(ctx, name)]
        if wrong:
            raise click.UsageError(f"{' and '.join(wrong)} cannot be used with {choice.mode}: the league file says it")
        return run_on_mail(choice, is_demo=demo, in_process=in_process)
    if not single_game:
        raise click.UsageError(
            "choose what to run: --single-game plays one match on this machine; --watch, --scan and"
            " --test-connectivity work on real mail"
        )
    if choice.given():
        raise click.UsageError(f"{' and '.join(choice.given())} cannot be used with --single-game")
    specs = {"--referee": referee, "--player-a": player_a, "--player-b": player_b}
    given = [option for option, spec in specs.items() if spec is not None]
    if demo and given:
        raise click.UsageError(f"--demo chooses all three agents; leave out {' and '.join(given)} or --demo")
    from league_agents.config.rules import rules_named

    place = check_record(record) if record is not None else None
    chosen_rules = rules_named(rules)
    chosen_seed = secrets.randbelow(DRAWN_SEEDS) if seed is None else seed
    default = "scripted" if demo else "offline"
    with own_stdout() as stdout:
        document = _play(
            seed=chosen_seed,
            rules=chosen_rules,
            specs={option: default if spec is None else spec for option, spec in specs.items()},
            journal=journal,
            is_quiet=as_json,
            in_process=in_process,
        )
        if place is not None:
            write_record(place, document_text(document))
        if as_json:
            print_document(document, stdout)
        else:
            _print_transcript(document, chosen_rules, stdout)
    return None


_OF_A_SINGLE_GAME = {
    "--single-game": "single_game",
    "--seed": "seed",
    "--rules": "rules",
    "--referee": "referee",
    "--player-a": "player_a",
    "--player-b": "player_b",
    "--json": "as_json",
    "--record": "record",
    "--journal": "journal",
}


def _is_typed(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _play(
    *, seed: int, rules: RuleSet, specs: dict[str, str], journal: Path | None, is_quiet: bool, in_process: bool
) -> dict[str, object]:
    from league_agents.app.offline import play_single_game
    from league_agents.cli.progress import ProgressPrinter
    from league_agents.kit.model_work import ModelWorkUse, sentence, together
    from league_agents.knowledge.corpus import default_index_path
    from league_agents.report.models import models_of

    judge, one, other = (shortened(specs[option], 80) for option in ("--referee", "--player-a", "--player-b"))
    progress = ProgressPrinter(
        console(sys.stderr),
        f"Seed {seed}, rules {rules.name}: {one} against {other}, judged by {judge}; times are simulated",
    )
    document = play_single_game(
        seed=seed,
        rules=rules,
        referee=specs["--referee"],
        player_a=specs["--player-a"],
        player_b=specs["--player-b"],
        journal=journal,
        index_path=default_index_path,
        watch=None if is_quiet else progress.of,
        in_process=in_process,
    )
    for who, steps in models_of(document):
        # A program that reads the document is not to think that a model played, either.
        if not is_quiet or together(steps) not in (ModelWorkUse.USED, ModelWorkUse.NOT_ASKED):
            click.echo(f"{who.replace('the', 'The', 1)}: {sentence(steps)}", err=True)
    return document


def _print_transcript(document: dict[str, object], rules: RuleSet, stdout: TextIO) -> None:
    from league_agents.report.transcript import transcript

    screen = console(stdout)
    if screen.is_terminal:
        screen.print()
        screen.print(transcript(document, rules))
        return
    with screen.capture() as told:
        screen.print(transcript(document, rules))
    # Tables are padded to their width, which is only in the way of whoever compares two files.
    stdout.write("".join(f"{line.rstrip()}\n" for line in told.get().splitlines()))
    stdout.flush()
