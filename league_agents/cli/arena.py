"""``league-agents arena``: other games, between agents, people and models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from league_agents.cli.arena_join import join
from league_agents.cli.arena_mail import mail_host, mail_seat
from league_agents.cli.arena_seat import seat_group
from league_agents.cli.arena_serve import serve
from league_agents.cli.arena_settings import configured
from league_agents.cli.numbers import FiniteRange, WholeRange
from league_agents.cli.own_code import in_process_option
from league_agents.cli.record_file import FileToWrite
from league_agents.cli.screen import console, own_stdout, print_document
from league_agents.cli.transcript_file import open_record
from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import printable

if TYPE_CHECKING:
    from league_agents.agents.asking import Models
    from league_agents.app.agent_wanted import Company
    from league_agents.arena.scenario import Scenario
    from league_agents.arena.session import Recorder, Session
    from league_agents.games.person import Reader

LONGEST_TURN_S = 30 * 86_400.0

EPILOG = """\b
Examples:
  league-agents arena games
  league-agents arena play undercover --lang en
  league-agents arena play undercover --agents human,scripted
  league-agents arena play q21 --agents offline --config rules=course
  league-agents config init arena --scenario guess_number     writes the file of a match
  league-agents arena play guess_number --scenario guess_number.yaml --record game.jsonl
  league-agents arena replay game.jsonl
  league-agents arena redact game.jsonl --viewer spectator
  league-agents arena serve
  league-agents arena seat take http://127.0.0.1:8765 --game market --key my.seat
  league-agents arena join http://127.0.0.1:8765 --agent my_agent:MyAgent --game undercover
  league-agents arena mail-host --scenario undercover.yaml --seats p1=ann@example.com --journal m.db \\
      --account referee
"""


@click.group(name="arena", short_help="Other games, other ways of taking turns, people welcome.", epilog=EPILOG)
def command() -> None:
    """Games between agents, people and language models, in this process, on the web or by mail."""


command.add_command(serve)
command.add_command(join)
command.add_command(mail_host)
command.add_command(mail_seat)
command.add_command(seat_group)


@command.command(name="games")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="The language of the rules.")
def games(as_json: bool, lang: str) -> int:
    """List the games, with their rules and the keys of their configuration."""
    from league_agents.cli import PROGRAM, Exit
    from league_agents.games.registry import declared, game_of, game_source, usable_games

    codes, wrong = usable_games()
    found: list[dict[str, Any]] = [
        {
            "game": code,
            "title": declared(code).title[lang],
            "about": declared(code).about[lang],
            "source": game_source(code),
            "version": game_of(code).version,
            "agents": [game_of(code).min_agents, game_of(code).max_agents],
            "usual_seats": list(declared(code).usual_seats),
            "rules": game_of(code).rules_text({}, lang),
            "config": game_of(code).config_schema,
            "actions": dict(game_of(code).action_schemas),
        }
        for code in codes
    ]
    if as_json:
        print_document({"games": found}, sys.stdout)
    else:
        screen = console(sys.stdout)
        for game in found:
            least, most = game["agents"]
            seats = f"{least if least == most else f'{least} to {most}'} agents"
            screen.print(f"{game['game']}: {printable(game['title'], 80)}, {seats} ({game['source']})", style="bold")
            screen.print(game["rules"])
            for key, schema in game["config"].get("properties", {}).items():
                default = schema.get("default")
                said = schema.get("description", "")
                screen.print(f"  {key}{'' if default is None else f' = {default}'}{f'  {said}' if said else ''}")
            screen.print()
    for error in wrong:
        click.echo(f"{PROGRAM}: {printable(str(error), 600)}", err=True)
    return Exit.CONFIGURATION if wrong else Exit.OK


@command.command(name="protocols")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", help="The language of the rules.")
def protocols(as_json: bool, lang: str) -> None:
    """List the interaction protocols, with the keys that a scenario may give them."""
    from league_agents.games.registry import game_of, usable_games
    from league_agents.turns.load import PROTOCOL_TYPES

    games_of = {code: game_of(code).protocol for code in usable_games()[0]}
    found: list[dict[str, Any]] = [
        {
            "type": name,
            "rules": each.make(("a", "b")).rule_text(lang),
            "keys": dict(each.keys),
            "best_for": each.best_for,
            "risk": each.risk,
            "is_in_files": each.is_in_files,
            "games": [code for code, own in games_of.items() if own == name or (own is None and each.make.is_for_talk)],
        }
        for name, each in PROTOCOL_TYPES.items()
    ]
    if as_json:
        print_document({"protocols": found}, sys.stdout)
        return
    screen = console(sys.stdout)
    for protocol in found:
        screen.print(protocol["type"] + ("" if protocol["is_in_files"] else " (from Python only)"), style="bold")
        screen.print(protocol["rules"])
        screen.print(f"  Best for {protocol['best_for']}; watch out for {protocol['risk']}.")
        if protocol["games"]:
            screen.print(f"  Games: {', '.join(protocol['games'])}")
        for key, meaning in protocol["keys"].items():
            screen.print(f"  {key}  {meaning}")
        screen.print()


@command.command(name="play")
@click.argument("game", required=False)
@click.option(
    "--agents",
    "agents",
    multiple=True,
    metavar="SPEC[,SPEC…]",
    help="Who plays, seat by seat; the last one takes all seats that are left: scripted, random, llm, human, offline "
    "(q21 only), a2a:URL, module:Class. Default: scripted.",
)
@click.option("--scenario", type=click.Path(path_type=Path), metavar="FILE", help="A YAML file of the whole match.")
@click.option("--seats", type=WholeRange(1, 64), help="How many agents play; default: as is usual for the game.")
@click.option("--config", "settings", multiple=True, metavar="KEY=VALUE", help="A key of the game's configuration.")
@click.option("--lang", type=click.Choice(["en", "zh"]), help="The language of the match.")
@click.option("--seed", type=WholeRange(0, 2**64 - 1), help="Repeats a match; default: drawn.")
@click.option("--turn-timeout", type=FiniteRange(0.05), metavar="SECONDS", help="For each decision; default: 60.")
@click.option("--record", type=FileToWrite(), help="Write the transcript to this file, line by line.")
@in_process_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, with every event.")
def play(
    game: str | None,
    agents: tuple[str, ...],
    scenario: Path | None,
    seats: int | None,
    settings: tuple[str, ...],
    lang: str | None,
    seed: int | None,
    turn_timeout: float | None,
    record: Path | None,
    in_process: bool,
    as_json: bool,
) -> int:
    """Play one match. GAME is one that 'league-agents arena games' lists."""
    from league_agents.app.arena import usual_scenario, with_agents

    if turn_timeout is not None and not turn_timeout <= LONGEST_TURN_S:  # NaN is within any range
        raise click.UsageError(f"--turn-timeout must be 0.05 to {LONGEST_TURN_S:g} seconds")
    specs = [spec.strip() for each in agents for spec in each.split(",")]
    if scenario is not None:
        from league_agents.arena.own_protocol import protocol_loader
        from league_agents.arena.scenario import read_scenario

        if seats is not None or settings or lang is not None:
            raise click.UsageError("--scenario says it all: leave --seats, --config and --lang out")
        wanted = with_agents(read_scenario(scenario, protocol_loader(in_process=in_process)), specs)
        if game is not None and game != wanted.game:
            raise click.UsageError(f"{scenario} is a scenario of {wanted.game}, not of {game}")
    elif game is None:
        raise click.UsageError("name a game (league-agents arena games), or a --scenario")
    else:
        wanted = usual_scenario(game, agents=specs or ["scripted"], seats=seats, config=configured(settings), lang=lang)
    with own_stdout() as out:
        return _play(wanted, seed, turn_timeout, record, in_process=in_process, as_json=as_json, out=out)


def _play(
    scenario: Scenario,
    seed: int | None,
    turn_timeout: float | None,
    record: Path | None,
    *,
    in_process: bool,
    as_json: bool,
    out: TextIO,
) -> int:
    import asyncio
    import secrets
    from dataclasses import replace
    from datetime import timedelta

    from league_agents.app.arena import HUMAN, reader_of, session_of
    from league_agents.app.own_seat import closing_agents
    from league_agents.arena.model_tally import ModelTally
    from league_agents.arena.transcript import TranscriptWriter, event_dict, public_config
    from league_agents.cli import Exit
    from league_agents.games.game import HOST
    from league_agents.kit.model_work import ModelWorkUse, counted, sentence, together

    drawn = seed if seed is not None else scenario.seed if scenario.seed is not None else secrets.randbits(63)
    clock = scenario.clock
    if turn_timeout is not None:
        clock = replace(clock, turn_timeout=timedelta(seconds=turn_timeout))
    has_person = any(seat.agent == HUMAN for seat in scenario.seats)
    if has_person and turn_timeout is None:
        clock = replace(clock, turn_timeout=None)  # nobody is hurried at his own terminal
    screen = console(sys.stderr if as_json else out)
    show = _Show(lambda text: screen.print(text), reader_of(scenario, HOST), is_silent=as_json or has_person)
    with ExitStack() as stack:
        tally = ModelTally()
        recorders: list[Recorder] = [tally]
        if record is not None:
            file = stack.enter_context(open_record(record))
            names = {seat.id: seat.agent for seat in scenario.seats}
            recorders.append(TranscriptWriter(file, protocol=scenario.interaction, names=names))
        session = session_of(
            scenario,
            seed=drawn,
            company=replace(_company(lambda text: screen.print(text)), in_process=in_process),
            recorders=recorders,
            clock_rules=clock,
            on_change=show,
        )
        stack.enter_context(closing_agents(session.agents.values()))
        for warning in session.match.warnings:
            console(sys.stderr).print(f"league-agents: {printable(warning, 300)}")
        if not as_json:
            screen.print(f"{scenario.game}: {', '.join(f'{s.name} ({s.agent})' for s in scenario.seats)}; seed {drawn}")
        if has_person:
            screen.print(f"\n{session.rules_text}\n")
        asyncio.run(session.run())
    outcome = session.match.outcome()
    if as_json:
        document = {
            "game": scenario.game,
            "seed": drawn,
            "config": public_config(session.match.game, session.match.config),
            "agents": [{"id": seat.id, "name": seat.name, "agent": seat.agent} for seat in scenario.seats],
            "status": session.status,
            "outcome": None
            if outcome is None
            else {
                "winners": list(outcome.winners),
                "scores": dict(outcome.scores),
                "reason": outcome.reason,
                "metrics": outcome.metrics,
            },
            "models": {
                agent: {**counted(steps), "decisions": [step.to_json() for step in steps]}
                for agent, steps in tally.steps.items()
            },
            "events": [event_dict(event) for event in session.match.events],
        }
        print_document(document, out)
    else:
        _print_outcome(session, scenario, screen.print)
    for seat in scenario.seats:
        steps = tally.steps.get(seat.id, [])
        # A program that reads the document is not to think that a model played, either.
        if steps and (not as_json or together(steps) is not ModelWorkUse.USED):
            screen.print(printable(f"{seat.name}: {sentence(steps, what='decision')}", 600))
    return Exit.OK if outcome is not None else Exit.FAILED


class _Show:
    """Prints what happens as it happens, for somebody who watches everything."""

    def __init__(self, show: Callable[[str], None], reader: Reader, *, is_silent: bool) -> None:
        self._show = show
        self._reader = reader
        self._is_silent = is_silent
        self._seen = 0

    def __call__(self, session: Session) -> None:
        from league_agents.arena.agents.human_agent import told

        if self._is_silent:
            return
        for event in session.match.events_for(self._reader.viewer, after=self._seen):
            self._seen = event.seq
            for line in told(session.match.game.code, event, self._reader):
                self._show(line)


def _company(show: Callable[[str], None]) -> Company:
    from league_agents.app.agent_wanted import Company
    from league_agents.arena.agents.human_agent import Terminal
    from league_agents.knowledge.corpus import default_index_path

    def ask(question: str) -> str:
        print(question, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)
            raise EOFError("the input has ended")
        return line.rstrip("\n")

    def models() -> Models:
        from league_agents.app.models import arena_models

        return arena_models(lambda text: print(f"league-agents: {text}", file=sys.stderr, flush=True))

    return Company(models=models, index_path=default_index_path, terminal=Terminal(ask=ask, show=show, edit=click.edit))


def _print_outcome(session: Session, scenario: Scenario, show: Callable[[str], None]) -> None:
    outcome = session.match.outcome()
    if outcome is None:
        show("The match was abandoned.")
        return
    names = {seat.id: seat.name for seat in scenario.seats}
    won = ", ".join(names[agent] for agent in outcome.winners) or "nobody"
    show(f"Won: {won} ({outcome.reason})")
    show("Scores: " + ", ".join(f"{names[agent]} {score:g}" for agent, score in outcome.scores.items()))
    if outcome.metrics:
        show("Measured: " + ", ".join(f"{key} {_shown(value)}" for key, value in outcome.metrics.items()))


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(each)}" for key, each in value.items()) or "none"
    return "none" if value is None else printable(str(value), 200)


def _lines_of(path: Path) -> list[dict[str, Any]]:
    from league_agents.arena.transcript import LONGEST_LINE, read_transcript

    try:
        with _named(path), sys.stdin if str(path) == "-" else path.open(encoding="utf-8") as file:
            # A line that never ends is not read to its end.
            return read_transcript(iter(lambda: file.readline(LONGEST_LINE + 1), ""))
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(str(path), "is not UTF-8 text") from None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """An error that names a line or a key of a file names the file as well."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{path}, {error.path}", str(error).removeprefix(f"{error.path}: ")) from None


@command.command(name="replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--protocol",
    "own_protocol",
    metavar="MODULE:CLASS",
    help="The interaction protocol of your own that the transcript names: it runs only if you name it too.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def replay_(file: Path, own_protocol: str | None, as_json: bool) -> int:
    """Play the decisions of a transcript again and compare every event. FILE may be - for stdin."""
    from functools import partial

    from league_agents.arena.scenario import match_of
    from league_agents.arena.transcript import replay
    from league_agents.cli import PROGRAM, Exit
    from league_agents.games.registry import game_of

    lines = _lines_of(file)
    with _named(file):
        game = game_of(str(lines[0].get("game")))
        found = replay(lines, game, partial(match_of, load_class=partial(_named_protocol, own_protocol)))
    if as_json:
        print_document(
            {"decisions": found.decisions, "events": found.events, "difference": found.difference}, sys.stdout
        )
    elif found.difference is None:
        click.echo(f"{found.decisions} decisions, {found.events} events: all as recorded")
    else:
        click.echo(f"{PROGRAM}: {file}: {printable(found.difference, 400)}", err=True)
    return Exit.OK if found.difference is None else Exit.FAILED


def _named_protocol(own: str | None, spec: str) -> type:
    """The protocol class of a transcript, if the user names it as well: transcripts come from anybody."""
    from league_agents.arena.own_protocol import protocol_loader

    if spec != own:
        raise ConfigError(spec, f"is not run because a transcript names it; if it is yours, add --protocol {spec}")
    return protocol_loader(in_process=False)(spec)


@command.command(name="redact")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--viewer", metavar="SEAT", required=True, help="spectator, or the id of an agent of the match.")
def redact_(file: Path, viewer: str) -> None:
    """Print a transcript as one viewer may have it. FILE may be - for stdin."""
    import json

    from league_agents.arena.transcript import redact

    for line in redact(_lines_of(file), viewer):
        click.echo(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace"))
