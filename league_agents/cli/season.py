"""``league-agents season``: a whole season on this machine."""

from __future__ import annotations

import secrets
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from click.core import ParameterSource

from league_agents.cli.numbers import WholeRange
from league_agents.cli.options import DASK, local_workers
from league_agents.cli.own_code import in_process_option
from league_agents.cli.run import DRAWN_SEEDS, read_seed
from league_agents.cli.screen import bar, console, own_stdout, print_document, print_whole

if TYPE_CHECKING:
    from rich.table import Table

    from league_agents.app.next_season import OverallRow
    from league_agents.app.season import DivisionEnd
    from league_agents.app.season_plan import SeasonPlan

SCHEDULES = ("round-robin", "double", "swiss", "knockout")
"""``league.season.schedule.ScheduleKind``, which takes longer to import."""

MOST_ROWS = 100
"""The table of a larger league is shown by its beginning."""

TOLD_EVERY_S = 5.0
"""How often a line is written where there is no screen."""

EPILOG = """\b
Agents (SPEC) are named as in 'league-agents run': offline, scripted, scripted:NAME, llm, a2a:URL, module:Class.
Several play for the teams in turn:
  league-agents season --teams 8 --agents offline --agents my_player.py:MyPlayerAI

\b
A roster is a YAML or JSON file; only group_id is needed:
  teams:
    - {group_id: falcons, name: Falcons, player: offline, referee: offline, division: north}

\b
Faults: none, light, heavy, or a file:
  weather: {delay_seconds: 60, loss: 0.03, duplication: 0.1, reordering: 0.2}
  players: {silent: 0.1, late: 0.05, malformed: 0.05}     # chance for each match
  referees: {silent: 0.05}
  timeouts: 0.05                                          # chance for each callback

A season that was interrupted or killed, or lost a worker (exit code 4), goes on with the same command. The same seed
gives the same season, whatever the number of workers, as far as your own code does.

\b
A league of divisions, and its next season:
  league-agents season --teams 60 --divisions 3 --promote 2 --agents scripted --out first
  league-agents season --after first --out second

\b
On a cluster (docs/how-to/scale.md) a division is one task, and is played again where a worker is lost:
  league-agents season --teams 1000 --divisions 90 --agents scripted --dask 10.0.0.5:8786
"""


@click.command(name="season", short_help="Play a whole season here, in seconds.", epilog=EPILOG)
@click.option("--teams", type=WholeRange(3, 10_000), metavar="N", help="So many teams, called team-01 and so on.")
@click.option("--roster", type=click.Path(path_type=Path), metavar="FILE", help="The teams and who plays for them.")
@click.option("--schedule", type=click.Choice(SCHEDULES), default="round-robin", show_default=True,
              help="Who meets whom.")  # fmt: skip
@click.option("--rounds", type=WholeRange(1, 99), metavar="N",
              help="Of a Swiss season; without it as many as find one winner.")  # fmt: skip
@click.option("--games-at-once", type=WholeRange(1, 20), default=1, show_default=True, metavar="N",
              help="Of each player in a round, which then has fewer rounds.")  # fmt: skip
@click.option("--tie-breaks", metavar="LIST",
              help="What decides: points, wins, private_score, head_to_head, lot, rounds_survived.")  # fmt: skip
@click.option("--divisions", type=WholeRange(1, 3_333), default=1, show_default=True, metavar="N",
              help="Deal the teams out; each division plays a season of its own.")  # fmt: skip
@click.option("--promote", type=WholeRange(1, 5_000), metavar="N",
              help="After the season so many teams of neighbouring divisions change places.")  # fmt: skip
@click.option("--after", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
              help="Play the season after the one in DIR, in the divisions that its tables say.")  # fmt: skip
@click.option("--agents", multiple=True, metavar="SPEC", help="Who plays; may be repeated.  [default: offline]")
@click.option("--referees", multiple=True, metavar="SPEC",
              help="Who judges; may be repeated.  [default: scripted beside scripted, else offline]")  # fmt: skip
@click.option("--rules", metavar="NAME|FILE", default="prd", show_default=True, help="prd, course, or your own file.")
@click.option("--faults", metavar="NAME|FILE", default="none", show_default=True, help="What goes wrong.")
@click.option("--seed", callback=read_seed, metavar="N",
              help="What every draw depends on. Without it one is drawn and printed.")  # fmt: skip
@click.option("--workers", type=WholeRange(1, 256), default=1, show_default=True, metavar="N",
              help="Processes. Each plays whole divisions, and a part of those that are left over.")  # fmt: skip
@DASK
@click.option("--out", type=click.Path(path_type=Path), default=Path("season"), show_default=True, metavar="DIR",
              help="Where the season is kept.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document to stdout and nothing else.")
@in_process_option
def command(
    *,
    teams: int | None,
    roster: Path | None,
    schedule: str,
    rounds: int | None,
    games_at_once: int,
    tie_breaks: str | None,
    divisions: int,
    promote: int | None,
    after: Path | None,
    agents: tuple[str, ...],
    referees: tuple[str, ...],
    rules: str,
    faults: str,
    seed: int | None,
    workers: int,
    dask: str | None,
    out: Path,
    as_json: bool,
    in_process: bool,
) -> None:
    """Play a whole season on this machine: the league manager, the referees and the players of the live league, on a
    clock that is set by hand. No account, no key, no network."""
    from league_agents.app.faults import faults_named
    from league_agents.app.next_season import next_season
    from league_agents.app.season import ends, play_season
    from league_agents.app.season_plan import numbered_roster, plan_of, read_plan, roster_file
    from league_agents.kit.errors import ConfigError
    from league_agents.kit.mistakes import not_one_of
    from league_agents.league.season.schedule import ScheduleKind
    from league_agents.league.season.tie_breaks import TieBreak

    if teams is not None and roster is not None:
        raise click.UsageError("--teams and --roster cannot be used together: the roster says which teams there are")
    if after is not None:
        _refuse_beside_after()
    processes = local_workers(dask, workers)
    known = read_plan(out)
    drawn = known.seed if known is not None else secrets.randbelow(DRAWN_SEEDS)
    if after is not None:
        plan = next_season(after, drawn if seed is None else seed)
    elif teams is None and roster is None:
        if known is None:
            raise click.UsageError("say who plays: --teams N or --roster FILE")
        plan = known
    else:
        order = [] if tie_breaks is None else [word.strip() for word in tie_breaks.split(",") if word.strip()]
        wrong = next((word for word in order if word not in list(TieBreak)), None)
        if wrong is not None:
            raise not_one_of("--tie-breaks", [each.value for each in TieBreak], wrong)
        plan = plan_of(
            roster_file(roster) if roster is not None else numbered_roster(teams or 0),
            seed=drawn if seed is None else seed,
            schedule=ScheduleKind(schedule),
            rounds=rounds,
            tie_breaks=[TieBreak(word) for word in order],
            divisions=divisions,
            agents=agents,
            referees=referees,
            rules=rules,
            faults=faults_named(faults),
            in_process=in_process,
            promoted=promote or 0,
            games_at_once=games_at_once,
        )
    with own_stdout() as stdout:
        if not as_json:
            click.echo(_title(plan), err=True)
        over = 0
        with _progress(plan.matches, is_quiet=as_json) as show:

            def told(count: int) -> None:
                nonlocal over
                over = count
                show(count)

            try:
                play_season(plan, out, workers=processes, cluster=dask, progress=told)
            except KeyboardInterrupt:
                click.echo(f"{over} of {plan.matches} matches were played; the same command goes on", err=True)
                raise
        found = list(ends(plan, out))
        if not found:
            raise ConfigError(str(out), "holds no division that is over")
        if as_json:
            print_document(_document(plan, found, out), stdout)
        else:
            _print_summary(plan, found, out, stdout)


_OF_A_PLAN = (
    *("teams", "roster", "schedule", "rounds", "games_at_once", "tie_breaks", "divisions", "promote", "agents"),
    *("referees", "rules", "faults", "in_process"),
)
"""The options that a season after another one takes over from it."""


def _refuse_beside_after() -> None:
    source_of = click.get_current_context().get_parameter_source
    given = next((name for name in _OF_A_PLAN if source_of(name) is ParameterSource.COMMANDLINE), None)
    if given is not None:
        option = f"--{given.replace('_', '-')}"
        raise click.UsageError(f"--after takes teams, agents and rules from the season before; leave out {option}")


def _title(plan: SeasonPlan) -> str:
    teams = sum(len(division.teams) for division in plan.divisions)
    parts = [f"{teams} teams", plan.schedule.value, f"{plan.matches} matches", f"rules {plan.rules}"]
    if len(plan.divisions) > 1:
        parts.insert(1, f"{len(plan.divisions)} divisions")
    if plan.faults.name != "none":
        parts.append(f"faults {plan.faults.name}")
    season = f"Season {plan.season}, seed" if plan.season > 1 else "Seed"
    return f"{season} {plan.seed}: {', '.join(parts)}; times are simulated"


@contextmanager
def _progress(matches: int, *, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    """What is told how many matches are over."""
    screen = console(sys.stderr)
    if is_quiet:
        yield lambda _: None
        return
    if screen.is_terminal:
        from rich.progress import ProgressColumn, Task
        from rich.text import Text

        class Rate(ProgressColumn):
            """Matches per second."""

            def render(self, task: Task) -> Text:
                speed = task.finished_speed or task.speed
                return Text("" if speed is None else f"{speed:.1f} matches/s")

        with bar(screen, "matches", matches, beside=[Rate()]) as show:
            yield show
        return
    from league_agents.kit.clock import monotonic_s

    began_s = told_s = monotonic_s()
    first: int | None = None

    def told(count: int) -> None:
        nonlocal first, told_s
        first, now_s = count if first is None else first, monotonic_s()
        if now_s - told_s >= TOLD_EVERY_S and count > first:
            told_s = now_s
            rate = (count - first) / (now_s - began_s)
            left_s = (matches - count) / rate
            click.echo(f"{count} of {matches} matches, {rate:.1f} matches/s, {left_s:.0f} s left", err=True)

    yield told


def _terminations(found: Sequence[DivisionEnd]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for division in found:
        counted.update(division.terminations)
    return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))


def _document(plan: SeasonPlan, found: Sequence[DivisionEnd], out: Path) -> Mapping[str, object]:
    return {
        "season_id": plan.season_id,
        "seed": plan.seed,
        "schedule": plan.schedule.value,
        "tie_breaks": [each.value for each in plan.tie_breaks],
        "matches": plan.matches,
        "terminations": _terminations(found),
        "divisions": [{"name": each.name, "standings": list(each.standings)} for each in found],
        **_overall(plan, found),
        "folder": str(out),
    }


def _overall(plan: SeasonPlan, found: Sequence[DivisionEnd]) -> Mapping[str, object]:
    from msgspec import to_builtins

    if len(plan.divisions) < 2:
        return {}
    return {"season": plan.season, "promoted": plan.promoted, "table": to_builtins(_overall_rows(plan, found))}


def _overall_rows(plan: SeasonPlan, found: Sequence[DivisionEnd]) -> list[OverallRow]:
    from league_agents.app.next_season import overall_table

    return list(overall_table([division.name for division in plan.divisions], plan.promoted, found))


def _print_summary(plan: SeasonPlan, found: Sequence[DivisionEnd], out: Path, stdout: TextIO) -> None:
    import shlex

    from league_agents.kit.printable import of

    screen = console(stdout)
    print_whole(_table(plan, found), stdout)
    teams = sum(len(division.standings) for division in found)
    if teams > MOST_ROWS:
        screen.print(f"{teams - MOST_ROWS:,} more teams: --json has all")
    ended = ", ".join(f"{count} {name}" for name, count in _terminations(found).items())
    screen.print(f"{plan.matches} matches: {ended}")
    screen.print(f"The season is in {of(str(out), 200)}", soft_wrap=True)
    screen.print(f"Next: {shlex.join(('league-agents', 'show', 'standings', '--from', str(out)))}", soft_wrap=True)


def _table(plan: SeasonPlan, found: Sequence[DivisionEnd]) -> Table:
    """One table over all divisions, the highest first."""
    from league_agents.kit.json_values import mapping, number
    from league_agents.kit.printable import of
    from league_agents.league.season.divisions import Move
    from league_agents.report.tables import Column, text_table

    always = ("points", "wins", "private_score")
    rows = [(division.name, row) for division in found for row in division.standings]
    moves = [each.move for each in _overall_rows(plan, found)]

    def shown(place: int) -> tuple[str, Mapping[str, object], str]:
        return (*rows[place], "" if moves[place] is Move.STAYS else moves[place].value)

    def figure(key: str, title: str = "") -> Column:
        return Column(key=key, title=title or key, value=lambda row: number(row[1].get(key)), is_number=True)

    def tie_break(key: str) -> Column:
        title = key.replace("_", " ")
        return Column(
            key=key, title=title, value=lambda row: number(mapping(row[1].get("tie_breaks")).get(key)), is_number=True
        )

    columns = (
        Column(key="division", title="division", value=lambda row: of(row[0], 60)),
        figure("rank"),
        Column(key="team", title="team", value=lambda row: of(row[1].get("display_name"), 60)),
        figure("games_played", "played"),
        figure("games_won", "wins"),
        figure("total_points", "points"),
        figure("private_score", "private score"),
        *(tie_break(each.value) for each in plan.tie_breaks if each.value not in always),
        Column(key="move", title="next season", value=lambda row: row[2]),
    )
    return text_table(columns, [shown(place) for place in range(min(len(rows), MOST_ROWS))])
