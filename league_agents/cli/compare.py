"""``league-agents compare``: which of several players is the strongest, and how sure that is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from league_agents.cli.evaluate import MOST_WORKERS, WORKERS, league_models
from league_agents.cli.evaluate_screen import print_parts
from league_agents.cli.numbers import FiniteRange, WholeRange
from league_agents.cli.options import DASK, SPECS, local_workers
from league_agents.cli.own_code import in_process_option
from league_agents.cli.record_file import FileToWrite
from league_agents.cli.run import read_seed
from league_agents.cli.screen import bar, console, own_stdout, print_document
from league_agents.kit.model_work import ModelWorkUse
from league_agents.kit.printable import printable

if TYPE_CHECKING:
    from league_agents.app.comparison import CompareSettings
    from league_agents.app.evaluation_models import Traffic
    from league_agents.evaluation.comparison import Comparison, PairResult
    from league_agents.evaluation.statistics import Estimate

MOST_PLAYERS = 12
MOST_GAMES = 20_000

EPILOG = """\b
What the figures mean:
  Elo               strength above the mean of those compared (Bradley and Terry); 400 points are
                    odds of 10 to 1. 95 % intervals, from resampling whole targets
  mirrored          each two play each target twice, once on each seat; both games are one
                    observation
  verdict           a sequential test, right with a probability of 95 % for all pairs together
                    however often it looks; 'alike' means closer than --margin
  stopped early     a pair that was decided before its last game: its verdict holds, but its
                    difference is too large on average, and its interval too narrow (in trials it
                    held the truth in about 90 of 100). For an estimate use --all-games
  severity          points of 100 that a referee gives less than all referees together
  inconsistency     points of 100 by which its scores on one target differ from seat to seat

\b
Examples:
  league-agents compare offline my_player:MyPlayerAI --games 200
  league-agents compare old.py:Me new.py:Me --games 1000 --workers 2 --out mine.jsonl
  league-agents compare offline llm --referee offline --referee my_referee:MyRefereeAI
  league-agents show match 0101001 --from mine.jsonl --transcript
"""


@click.command(name="compare", short_help="Which of several players is the strongest.", epilog=EPILOG)
@click.argument("specs", metavar="SPEC SPEC...", nargs=-1, required=True)
@click.option(
    "--games",
    type=WholeRange(2, MOST_GAMES),
    default=200,
    show_default=True,
    metavar="N",
    help="Between each two, at most; an odd number is rounded up.",
)
@click.option(
    "--referee",
    "referees",
    metavar="SPEC",
    multiple=True,
    help=f"Who judges, several take turns: {SPECS}.  [default: offline]",
)
@click.option(
    "--noise",
    type=FiniteRange(0, 0.75),
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="Of the referee's answers, made wrong by a seeded draw before the players get them.",
)
@click.option("--rules", metavar="NAME|FILE", default="prd", show_default=True, help="prd, course, or your own file.")
@click.option(
    "--seed", callback=read_seed, metavar="S", default="1", show_default=True, help="What every draw depends on."
)
@click.option(
    "--margin",
    type=FiniteRange(5, 400),
    default=35.0,
    show_default=True,
    metavar="ELO",
    help="Two that are closer than this count as alike.",
)
@click.option("--all-games", is_flag=True, help="Play all games, also between those whose order is decided.")
@click.option(
    "--out",
    type=FileToWrite(),
    metavar="FILE",
    help="Keep every game as a record, for 'show' and 'report'; with the same settings a later run goes on with it.",
)
@click.option(
    "--workers",
    type=WholeRange(1, MOST_WORKERS),
    default=1,
    show_default=True,
    metavar="N",
    help=WORKERS,
)
@DASK
@in_process_option
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="A league file whose section 'models' says which models llm asks.  [default: the environment]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout and nothing else.")
def command(
    *,
    specs: tuple[str, ...],
    games: int,
    referees: tuple[str, ...],
    noise: float,
    rules: str,
    seed: int,
    margin: float,
    all_games: bool,
    out: Path | None,
    workers: int,
    dask: str | None,
    in_process: bool,
    config: Path | None,
    as_json: bool,
) -> int:
    """Play the players against each other by direct calls, and rate them. Stops as soon as every pair is decided.

    SPEC is offline, llm, scripted, scripted:NAME, a2a:URL or module:Class; two or more, and one may be named twice.
    """
    from league_agents.agents.library import Knowledge
    from league_agents.app.comparison import Compared, CompareSettings
    from league_agents.cli import Exit
    from league_agents.config.rules import rules_named
    from league_agents.knowledge.corpus import default_index_path
    from league_agents.league.season.ratings import score_of_elo

    if not 2 <= len(specs) <= MOST_PLAYERS:
        raise click.UsageError(f"name 2 to {MOST_PLAYERS} players, found {len(specs)}")
    processes = local_workers(dask, workers)
    settings = CompareSettings(
        players=specs,
        referees=referees or ("offline",),
        rules=rules_named(rules),
        noise=noise,
        seed=seed,
        games=games + games % 2,
        margin=score_of_elo(margin) - 0.5,
        stops_early=not all_games,
        in_process=in_process,
    )
    with own_stdout() as stdout:
        knowledge = Knowledge.open(default_index_path())
        traffic: Traffic | None = None
        if settings.asks_models:
            from league_agents.app.evaluation_models import Traffic

            traffic = Traffic(league_models(config))
        compared: Compared | None = None
        is_complete = True
        try:
            compared = Compared(settings, knowledge, traffic, out)
            with _progress(settings, is_quiet=as_json) as told:
                try:
                    result = compared.play(processes, told, cluster=dask)
                except KeyboardInterrupt:
                    is_complete, result = False, compared.result()
        finally:
            if traffic is not None:
                traffic.close()
            knowledge.close()
            if compared is not None:
                compared.close()
        if as_json:
            print_document(document_of(settings, result, is_complete=is_complete), stdout)
        else:
            _print(settings, result, out, stdout)
    if not is_complete:
        kept = "" if out is None else "; the same command goes on with it"
        click.echo(f"interrupted after {len(compared.scores)} games{kept}", err=True)
        return Exit.INTERRUPTED
    return Exit.OK


@contextmanager
def _progress(settings: CompareSettings, *, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    screen = console(sys.stderr)
    if is_quiet or not screen.is_terminal:
        yield lambda _games: None
        return
    with bar(screen, "games, at most", settings.games * settings.pairs) as show:
        yield show


def document_of(settings: CompareSettings, found: Comparison, *, is_complete: bool) -> dict[str, object]:
    """JSON values."""
    names = settings.players
    return {
        "players": [
            {
                "group": row.group,
                "player": int(row.participant_id),
                "spec": names[int(row.participant_id)],
                "elo": round(row.elo, 2),
                "low": round(row.low, 2),
                "high": round(row.high, 2),
                "games": row.games,
                "score": row.score,
            }
            for row in found.ratings.rows
        ],
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "games": pair.games,
                "half_scored": pair.half_scored,
                "stopped_early": _stopped_early(settings, pair),
                "wins": pair.wins,
                "draws": pair.draws,
                "losses": pair.losses,
                "verdict": pair.test.verdict.value,
                "more_games": pair.more_games,
                **_difference(found, pair.first, pair.second),
            }
            for pair in found.pairs
        ],
        "conduct": [
            {
                "player": each.player,
                "games": each.games,
                "games_with_complaints": each.with_complaints,
                "complaint": each.complaint or None,
                "models": {use.value: count for use, count in each.models.items()},
            }
            for each in found.conduct
        ],
        "referees": [
            {
                "referee": each.referee,
                "spec": settings.referees[each.referee],
                "games": each.games,
                "severity": _estimate(each.severity),
                "inconsistency": _estimate(each.inconsistency),
                "not_scored": each.not_scored,
            }
            for each in found.referees
        ],
        "not_scored": found.not_scored,
        "half_scored": sum(pair.half_scored for pair in found.pairs),
        "stopped_early": any(_stopped_early(settings, pair) for pair in found.pairs),
        "rules": settings.rules.name,
        "noise": settings.noise,
        "seed": settings.seed,
        "most_games": settings.games,
        "is_complete": is_complete,
    }


def _stopped_early(settings: CompareSettings, pair: PairResult) -> bool:
    """Whether the verdict ended the games of this pair: its difference and interval are biased."""
    from league_agents.league.season.sequential import Verdict

    return settings.stops_early and pair.test.verdict is not Verdict.OPEN and pair.played < settings.games


def _estimate(found: Estimate | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {"value": found.value, "low": found.low, "high": found.high, "count": found.count}


def _difference(found: Comparison, first: int, second: int) -> dict[str, object]:
    """How much stronger ``first`` is."""
    for each in found.ratings.differences:
        if (each.first, each.second) == (str(first), str(second)):
            return {"elo": round(each.elo, 2), "low": round(each.low, 2), "high": round(each.high, 2)}
        if (each.first, each.second) == (str(second), str(first)):
            return {"elo": round(-each.elo, 2), "low": round(-each.high, 2), "high": round(-each.low, 2)}
    return {"elo": None, "low": None, "high": None}


def _print(settings: CompareSettings, found: Comparison, out: Path | None, stdout: TextIO) -> None:
    from rich import box
    from rich.table import Table

    names = [f"{number + 1} {printable(spec, 60)}" for number, spec in enumerate(settings.players)]

    def table(*columns: str) -> Table:
        made = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
        for number, column in enumerate(columns):
            is_text = number == 0 or column == "Verdict"
            made.add_column(column, justify="left" if number == 0 else "right", no_wrap=not is_text)
        return made

    ranked = table("Player", "Elo", "95 % interval", "Games", "Score")
    for row in found.ratings.rows:
        interval = f"{row.low:+.0f} to {row.high:+.0f}"
        ranked.add_row(names[int(row.participant_id)], f"{row.elo:+.0f}", interval, f"{row.games:,}", f"{row.score:g}")

    def pairs(between: str) -> Table:
        made = table("Pair", "Won", "Drawn", "Lost", "Difference", "Verdict")
        for pair in found.pairs:
            gap = _difference(found, pair.first, pair.second)
            shown = "" if gap["elo"] is None else f"{gap['elo']:+.0f}{between}({gap['low']:+.0f} to {gap['high']:+.0f})"
            made.add_row(
                f"{names[pair.first]} -{between}{names[pair.second]}",
                *(f"{count:,}" for count in (pair.wins, pair.draws, pair.losses)),
                shown,
                _verdict(pair, names),
            )
        return made

    def judges(between: str) -> Table:
        made = table("Referee", "Games", "Severity", "Inconsistency")
        for each in found.referees:
            spec = printable(settings.referees[each.referee], 60)
            made.add_row(spec, f"{each.games:,}", _cell(each.severity, between), _cell(each.inconsistency, between))
        return made

    parts: list[Table | str | Callable[[str], Table]] = [ranked, "", pairs]
    if len(settings.referees) > 1:
        parts += ["", judges]
    parts += _remarks(settings, found, names)
    if out is None:
        parts.append("With --out FILE every game is kept, for 'league-agents show match' and 'report'.")
    print_parts(stdout, *parts)


def _verdict(pair: PairResult, names: Sequence[str]) -> str:
    from league_agents.league.season.sequential import Verdict

    verdict = pair.test.verdict
    if verdict is Verdict.OPEN:
        return "open" if pair.more_games is None else f"open; about {pair.more_games:,} more games would tell"
    return "alike" if verdict is Verdict.ALIKE else f"{names[pair.first if verdict is Verdict.FIRST else pair.second]}"


def _cell(found: Estimate | None, between: str) -> str:
    if found is None or found.low is None or found.high is None:
        return "" if found is None else f"{found.value:.1f}"
    return f"{found.value:.1f}{between}({found.low:.1f} to {found.high:.1f})"


def _remarks(settings: CompareSettings, found: Comparison, names: Sequence[str]) -> list[str]:
    remarks = []
    if early := sum(_stopped_early(settings, pair) for pair in found.pairs):
        pairs = "1 pair was" if early == 1 else f"{early:,} pairs were"
        remarks.append(f"- {pairs} stopped early: the verdict holds; for an estimate of the difference use --all-games")
    if found.not_scored:
        remarks.append(f"- {found.not_scored:,} matches did not come to scores; they count for nobody")
    if half := sum(pair.half_scored for pair in found.pairs):
        games = "1 game was" if half == 1 else f"{half:,} games were"
        remarks.append(f"- {games} left out: the mirrored game did not come to scores")
    for each in found.conduct:
        if each.models:
            whole, partly = each.models.get(ModelWorkUse.USED, 0), each.models.get(ModelWorkUse.PARTLY_USED, 0)
            remarks.append(
                f"- {names[each.player]}: its language models' work was used in {whole:,} of {each.games:,} games,"
                f" partly in {partly:,}; the rest is code's"
            )
        if each.with_complaints:
            remarks.append(
                f"- {names[each.player]}: callbacks failed or broke their contract in {each.with_complaints:,} of"
                f" {each.games:,} games, first: {printable(each.complaint, 200)}"
            )
    return ["", *remarks] if remarks else []
