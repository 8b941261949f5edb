"""``league-agents evaluate``: how well an agent plays or judges, in seeded games by direct calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from league_agents.cli.numbers import FiniteRange, WholeRange
from league_agents.cli.options import DASK, SPECS, local_workers
from league_agents.cli.own_code import in_process_option
from league_agents.cli.record_file import FileToWrite, RecordKind, check_record, write_record
from league_agents.cli.run import read_seed
from league_agents.cli.screen import bar, console, document_text, own_stdout, print_document
from league_agents.kit.errors import ConfigError, LeagueError, shortened
from league_agents.kit.values import evolve

if TYPE_CHECKING:
    from league_agents.app.agents import AgentRole
    from league_agents.app.evaluation import EvaluationSettings
    from league_agents.app.evaluation_models import Traffic
    from league_agents.config.model_settings import ModelSettings
    from league_agents.evaluation.casting import Part
    from league_agents.evaluation.figures import EvaluationReport
    from league_agents.evaluation.lost_games import LostGame
    from league_agents.evaluation.results import PlayerGame
    from league_agents.llm.cassette import Cassette, CassettePlayer

TIMING_FORM = "league-agents evaluation timing"
TIMING = RecordKind(
    option="--timing", what="file of callback times", is_one=lambda found: found.get("form") == TIMING_FORM
)

WORKERS = (
    "Games at the same time: in processes; on threads with llm agents, which wait for models, and with --in-process."
)
MOST_GAMES, MOST_WORKERS = 50_000, 64

EPILOG = """\b
What the figures mean:
  95 %% interval     where the true figure lies; Wilson's for shares, Student's for means. Where one
                    game has many trials, whole games are resampled: what belongs to one game goes
                    right or wrong together
  difference        own minus opponent, taken game by game: both had the same target
  bits possible     what the brief leaves open: entropy over all opening sentences of the book and
                    words of the domain, as hint and domain weigh them
  bits gained       how much of that is gone after the answers; questions in free words that code
                    cannot read count as nothing, so for models it is a lower bound

\b
Examples:
  league-agents evaluate player offline --games 200 --rules course
  league-agents evaluate player my_player:MyPlayerAI --noise 0.15 --out mine.jsonl
  league-agents evaluate player llm --games 20 --workers 4 --record llm.tape --json > paid.json
  league-agents evaluate player llm --games 20 --replay llm.tape --json | cmp - paid.json
  league-agents evaluate referee my_referee:MyRefereeAI --games 50 --timing times.json

The same seed gives the same bytes, as far as your own code does. How long callbacks took is no result: it goes to
stderr, and with --timing to a file of its own.
"""


@click.group(name="evaluate", short_help="Measure how well an agent plays or judges.", epilog=EPILOG.replace("%%", "%"))
def command() -> None:
    """Play seeded games by direct calls, without mail, and print every figure with its 95 % interval.

    The same seed gives the same targets to whoever is evaluated. Agents of this package begin each game anew; a class
    of your own is made once and serves all games, as in a season.
    """


def _shared(function: Callable[..., int]) -> Callable[..., int]:
    """The options that both commands have."""
    options = (
        click.argument("spec", metavar="SPEC"),
        click.option(
            "--games", type=WholeRange(1, MOST_GAMES), default=100, show_default=True, metavar="N", help="How many."
        ),
        click.option(
            "--noise",
            type=FiniteRange(0, 0.75),
            default=0.05,
            show_default=True,
            metavar="SHARE",
            help="Of the referee's answers, made wrong by a seeded draw before the players get them.",
        ),
        click.option(
            "--rules", metavar="NAME|FILE", default="prd", show_default=True, help="prd, course, or your own file."
        ),
        click.option(
            "--seed",
            callback=read_seed,
            metavar="S",
            default="1",
            show_default=True,
            help="What every draw depends on.",
        ),
        click.option(
            "--books",
            metavar="TITLE|K/N",
            help="Targets from these books only: part of a title, or part K of N of all (the same on every machine)."
            " The players keep all books.  [default: all]",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout and nothing else."),
        click.option(
            "--timing",
            type=FileToWrite(),
            metavar="FILE",
            help="Write there how long callbacks took, as one JSON document. It is never part of the results.",
        ),
        click.option(
            "--out",
            type=FileToWrite(),
            metavar="FILE",
            help="Append each game's result, one JSON line each; with the same settings a later run goes on with it.",
        ),
        click.option(
            "--record",
            type=FileToWrite(),
            metavar="FILE",
            help="Keep what models are asked and say; what FILE holds already is not paid for again.",
        ),
        click.option(
            "--replay",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help="Ask nobody: models answer from a recording. No key, no network, the same document.",
        ),
        click.option(
            "--workers",
            type=WholeRange(1, MOST_WORKERS),
            default=1,
            show_default=True,
            metavar="N",
            help=WORKERS,
        ),
        DASK,
        in_process_option,
        click.option(
            "--config",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            metavar="FILE",
            help="A league file whose section 'models' says which models llm asks.  [default: the environment]",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


@command.command(name="player", short_help="Win rate, accuracies, bits, points, money.")
@click.option("--opponent", metavar="SPEC", default="offline", show_default=True, help=f"Who plays against it: {SPECS}")
@click.option("--referee", metavar="SPEC", default="offline", show_default=True, help=f"Who judges: {SPECS}")
@click.option(
    "--show-losses",
    is_flag=True,
    help="Show each lost game whole after the figures: the truth beside wrong answers, and which answer lost the"
    " opening. With --json under 'losses'. Games of --out are played again.",
)
@_shared
def player(*, spec: str, opponent: str, referee: str, **options: Any) -> int:
    """Evaluate a player: SPEC is offline, llm, scripted, scripted:NAME, a2a:URL or module:Class.

    Both players of a game have the same target and the same errors in their answers, and change seats every game.
    """
    return _evaluate("player", {"player": spec, "opponent": opponent, "referee": referee}, Options(**options))


@command.command(name="referee", short_help="Answers, hints, scores, injections, money.")
@click.option(
    "--player", metavar="SPEC", default="offline", show_default=True, help=f"Who plays on both seats: {SPECS}"
)
@_shared
def referee(*, spec: str, player: str, **options: Any) -> int:
    """Evaluate a referee: SPEC is offline, llm, scripted, scripted:NAME, a2a:URL or module:Class.

    After each match it is asked questions about its own target whose answers code can check, is given the same guesses
    to score again and on the other seat, and meets one injection.
    """
    return _evaluate("referee", {"player": player, "opponent": player, "referee": spec}, Options(**options))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What both commands are told besides the agents."""

    games: int
    noise: float
    rules: str
    seed: int
    books: str | None
    as_json: bool
    timing: Path | None
    out: Path | None
    record: Path | None
    replay: Path | None
    workers: int
    dask: str | None
    config: Path | None
    in_process: bool
    show_losses: bool = False


def _evaluate(role: AgentRole, specs: dict[Part, str], options: Options) -> int:
    from league_agents.agents.library import Knowledge
    from league_agents.app.evaluation import EvaluationSettings
    from league_agents.cli import Exit
    from league_agents.cli.evaluate_screen import document_of, print_parts, print_report, print_timing, timing_of
    from league_agents.cli.lost_games_screen import lost_game_pages
    from league_agents.config.rules import rules_named
    from league_agents.evaluation.player_report import player_report
    from league_agents.evaluation.referee_report import referee_report
    from league_agents.evaluation.results import PlayerGame, RefereeGame
    from league_agents.knowledge.corpus import default_index_path

    settings = EvaluationSettings(
        role=role,
        specs=specs,
        rules=rules_named(options.rules),
        noise=options.noise,
        seed=options.seed,
        in_process=options.in_process,
        books=options.books,
    )
    _check_options(settings, options)
    timing = None if options.timing is None else check_record(options.timing, TIMING)
    with own_stdout() as stdout:
        knowledge = Knowledge.open(default_index_path())
        tape, traffic = _traffic(settings, options)
        series = _Series(settings, knowledge, traffic, options)
        losses: list[LostGame] = []
        unshown: Sequence[str] = ()
        try:
            document = settings.document(knowledge, traffic)
            if tape is not None and traffic is not None:
                _begin_tape(tape, traffic, document)
            report: EvaluationReport
            if role == "player":
                is_complete, games = series.play(PlayerGame, document, losses if options.show_losses else None)
                report = player_report(games, questions=settings.rules.questions_required, noise=settings.noise)
                unshown = series.play_again(games, losses) if options.show_losses and is_complete else ()
            else:
                is_complete, matches = series.play(RefereeGame, document, None)
                report = referee_report(matches)
        except LeagueError:
            if traffic is not None:
                traffic.discard()
            raise
        finally:
            if traffic is not None:
                traffic.close()
            knowledge.close()
        if options.as_json:
            found = document_of(document, report, wanted=options.games)
            print_document(found | _losses_document(losses, unshown) if options.show_losses else found, stdout)
        else:
            print_report(_title(settings, report), report, evaluated=role, stdout=stdout)
            print_parts(stdout, *lost_game_pages(losses, settings.rules))
            for why in unshown:
                click.echo(why, err=True)
            print_timing(report, sys.stderr)
        if timing is not None:
            times = {"form": TIMING_FORM, **timing_of(document, report)}
            write_record(timing, document_text(times), TIMING)
    if is_complete:
        return Exit.OK
    click.echo(_interrupted(report, options), err=True)
    return Exit.INTERRUPTED


def _check_options(settings: EvaluationSettings, options: Options) -> None:
    if options.record is not None and options.replay is not None:
        raise click.UsageError("--record and --replay exclude each other")
    if not settings.asks_models and (options.record or options.replay):
        name = "--record" if options.record else "--replay"
        raise click.UsageError(f"{name} is about what models say, and no llm agent takes part")


def _traffic(settings: EvaluationSettings, options: Options) -> tuple[Cassette | CassettePlayer | None, Traffic | None]:
    """Where models are reached, and the recording if there is one."""
    if not settings.asks_models:
        return None, None
    from league_agents.app.evaluation_models import Traffic, played_settings
    from league_agents.llm.cassette import Cassette, CassettePlayer

    if options.replay is not None:
        player = CassettePlayer(options.replay)
        return player, Traffic(played_settings(player), replay=player)
    models = league_models(options.config)
    if options.record is None:
        return None, Traffic(models)
    tape = Cassette(options.record, goes_on=True)
    return tape, Traffic(models, record=tape)


def league_models(config: Path | None) -> ModelSettings:
    from league_agents.app.models import environment_models
    from league_agents.config.league_file import environment_of, read_league_file

    return environment_models() if config is None else read_league_file(config, environment_of(config)).models


def _begin_tape(tape: Cassette | CassettePlayer, traffic: Traffic, document: dict[str, object]) -> None:
    from league_agents.app.evaluation_models import begin_recording, check_recording
    from league_agents.llm.cassette import Cassette

    if isinstance(tape, Cassette):
        begin_recording(tape, traffic, document)
    else:
        check_recording(tape, document)


class _Series:
    """All games of one evaluation."""

    def __init__(self, settings: EvaluationSettings, knowledge: Any, traffic: Traffic | None, options: Options) -> None:
        self._settings = settings
        self._knowledge = knowledge
        self._traffic = traffic
        self._options = options
        self._here: Callable[[Sequence[int]], Iterator[Any]] = lambda _: iter(())
        """Plays games in this process."""

    def play(
        self, kind: type[Any], document: dict[str, object], losses: list[LostGame] | None
    ) -> tuple[bool, list[Any]]:
        """Whether all games were played, and those that were. ``losses`` receives lost games."""
        from league_agents.app.evaluation import PARTS, maker_of
        from league_agents.app.evaluation_series import models_of, play_of, remote_games
        from league_agents.app.evaluation_stage import Stage, play_all
        from league_agents.evaluation.results_file import ResultsFile

        options, traffic, settings = self._options, self._traffic, self._settings
        makers = {part: maker_of(settings, part, self._knowledge, models_of(traffic)) for part in PARTS}
        play = play_of(settings, self._knowledge, losses)
        workers = local_workers(options.dask, options.workers)

        def again(numbers: Sequence[int]) -> Iterator[Any]:
            return play_all(numbers, lambda: Stage(makers, traffic), play, workers=options.workers)

        self._here = again
        file = None if options.out is None else ResultsFile(options.out, kind, document)
        done = {} if file is None else {number: game for number, game in file.games.items() if number <= options.games}
        left = [number for number in range(1, options.games + 1) if number not in done]
        try:
            self._check_recorded(done)
            with _progress(options.games, len(done), is_quiet=options.as_json) as told:
                is_here = options.dask is None and (workers == 1 or settings.stays_here)
                if is_here:
                    games = again(left)
                else:
                    games = remote_games(settings, document, left, losses=losses, workers=workers, cluster=options.dask)
                for game in games:
                    if traffic is not None:
                        game = evolve(game, behaviour=traffic.ended(game.game, game.behaviour))
                    if file is not None:
                        file.add(game)
                    done[game.game] = game
                    told()
        except KeyboardInterrupt:
            return False, list(done.values())
        finally:
            if file is not None:
                file.close()
        return True, list(done.values())

    def play_again(self, games: Sequence[PlayerGame], losses: list[LostGame]) -> list[str]:
        """Play lost games of an earlier run once more, and say which of them cannot be shown.

        Files of results hold no targets. ``losses`` is completed and put in order.
        """
        shown = {each.game for each in losses}
        earlier = {each.game: each for each in games if each.is_lost and each.game not in shown}
        unshown = []
        if earlier and self._settings.asks_models and self._options.replay is None:
            numbers = ", ".join(map(str, sorted(earlier)))
            unshown.append(f"lost before this run: {numbers}; to see them, --replay a recording, which costs nothing")
            earlier = {}
        for game in self._here(sorted(earlier)):
            first = earlier[game.game]
            if (game.book, game.player, game.opponent) != (first.book, first.player, first.opponent):
                losses[:] = [each for each in losses if each.game != game.game]
                unshown.append(f"game {game.game} ended otherwise when it was played again, so it is not shown")
        losses.sort(key=lambda each: each.game)
        return sorted(unshown)

    def _check_recorded(self, done: dict[int, Any]) -> None:
        """A recording that lacks games of the file of results would not be worth its name."""
        options, traffic = self._options, self._traffic
        if traffic is None or options.record is None:
            return
        lacking = next((number for number in sorted(done) if not traffic.has_recorded(number)), None)
        if lacking is not None:
            raise ConfigError(
                str(options.out),
                f"has game {lacking}, which {shortened(str(options.record))} has not recorded; begin both anew, or"
                " go on without --record",
            )


def _losses_document(losses: Sequence[LostGame], unshown: Sequence[str]) -> dict[str, object]:
    from msgspec import to_builtins

    from league_agents.cli.lost_games_screen import course_in_words, reason_of

    shown = [{**to_builtins(each), "why": reason_of(each), "course": course_in_words(each)} for each in losses]
    return {"losses": shown, "losses_not_shown": list(unshown)}


@contextmanager
def _progress(games: int, done: int, *, is_quiet: bool) -> Iterator[Callable[[], None]]:
    """What is called after each game."""
    screen, count = console(sys.stderr), done

    def in_lines(count: int) -> None:
        if not is_quiet and (count * 10) // games > ((count - 1) * 10) // games:
            click.echo(f"{count} of {games} games", err=True)

    with bar(screen, "games", games, done=done) if screen.is_terminal else nullcontext(in_lines) as show:

        def told() -> None:
            nonlocal count
            count += 1
            show(count)

        yield told


def _title(settings: EvaluationSettings, report: EvaluationReport) -> str:
    specs = {part: shortened(spec, 80) for part, spec in settings.specs.items()}
    if settings.role == "player":
        who = f"{specs['player']} against {specs['opponent']}, judged by {specs['referee']}"
    else:
        who = f"{specs['referee']} judges {specs['player']}"
    games = "1 game" if report.games == 1 else f"{report.games:,} games"
    return (
        f"{who}: {games}, rules {settings.rules.name}, {100 * settings.noise:g} % wrong answers, seed {settings.seed}"
    )


def _interrupted(report: EvaluationReport, options: Options) -> str:
    said = f"interrupted after {report.games} of {options.games} games"
    if options.out is not None:
        return f"{said}; the same command goes on where it stopped"
    return f"{said}; with --out FILE a second run would go on where it stopped"
