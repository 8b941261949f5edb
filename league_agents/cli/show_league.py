"""``python -m league_agents.cli.show_league``: four processes play one match over local Gmail, and show it."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import click

from league_agents.cli.numbers import FiniteRange
from league_agents.cli.screen import console, document_text
from league_agents.config.rules import rules_named
from league_agents.kit.errors import LeagueError
from league_agents.kit.printable import of, printable
from league_agents.kit.private_file import replace_private
from league_agents.local_league.league import LocalLeague, four_seats
from league_agents.local_league.machine_clock import MachineClock
from league_agents.report.match import match_document
from league_agents.report.transcript import transcript

RECORD = "match.json"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--referee", default="offline", metavar="SPEC", show_default=True, help="Who judges.")
@click.option("--player-a", default="offline", metavar="SPEC", show_default=True, help="Who plays for the falcons.")
@click.option("--player-b", default="offline", metavar="SPEC", show_default=True, help="Who plays for the otters.")
@click.option("--rules", default="prd", metavar="NAME|FILE", show_default=True, help="prd, course, or your own file.")
@click.option("--folder", type=click.Path(path_type=Path), metavar="DIR", help="Where journals and logs go.")
@click.option("--minutes", type=FiniteRange(0.2, 60), default=5.0, show_default=True, help="Give up after this time.")
@click.option("--transcript", "shows_transcript", is_flag=True, help="Tell the whole match.")
def main(
    *,
    referee: str,
    player_a: str,
    player_b: str,
    rules: str,
    folder: Path | None,
    minutes: float,
    shows_transcript: bool,
) -> None:
    """Run a league manager, a referee and two players as four processes of their own, with a local Gmail between them,
    and show how their match ended. Everything that was started is stopped again, also when this program is killed."""
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise click.BadParameter(f"{folder} is not empty; name a new folder", param_hint="'--folder'")
    chosen = Path(tempfile.mkdtemp(prefix="league-")) if folder is None else folder
    # SIGTERM ends this program as Ctrl-C does, so that the processes are stopped too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    seats = four_seats(referee=_seen_from_anywhere(referee), player_a=_seen_from_anywhere(player_a),
                       player_b=_seen_from_anywhere(player_b))  # fmt: skip
    rule_set = rules_named(rules)
    rules_file = Path(rules)
    league = LocalLeague(
        folder=chosen.resolve(),
        seats=seats,
        rules=str(rules_file.resolve()) if rules_file.is_file() else rules,
        registration=timedelta(minutes=2),
        clock=MachineClock(chosen.resolve()),  # nobody waits for the end of the registration
    )
    try:
        with league:
            click.echo(f"Local Gmail: {league.sandbox.url}   files: {chosen}", err=True)
            league.start_all()
            for name, process in league.processes.items():
                click.echo(f"started {name} (process {process.pid})", err=True)
            season = league.wait_for_season(60 * minutes)
            codes = league.stop()
            click.echo(f"stopped {len(codes)} processes", err=True)
            spent = league.sandbox.report()
    except LeagueError as error:
        click.echo(f"league: {printable(str(error), 1000)}; the logs are in {chosen}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo(f"league: stopped; the logs are in {chosen}", err=True)
        sys.exit(130)
    participants = league.participants()
    try:
        manager, judge, *players = participants
        document = match_document(
            "0101001", seed=0, rules=rule_set.name, manager=manager, referee=judge, players=players
        )
    finally:
        for participant in participants:
            participant.journal.close()
    record = chosen / RECORD
    replace_private(record, document_text(document))
    screen = console(sys.stdout)
    if shows_transcript:
        screen.print(transcript(document, rule_set))
    rows = document["standings"]
    assert isinstance(rows, list)
    click.echo(f"\n{of(season.facts.get('season_name'), 80)}: the season is over")
    for row in rows:
        rank, name, points = (of(row.get(key), 40) for key in ("rank", "display_name", "total_points"))
        click.echo(f"  {rank:>2}  {name:<24} {points:>3} points")
    click.echo(f"Quota units: {_units(spent)}")
    click.echo(f"Match record: {record}   journals and logs: {chosen}")
    if folder is None:
        click.echo(f"(remove them with: rm -r {chosen})" if shutil.which("rm") else "")


def _units(report: Mapping[str, object]) -> str:
    accounts = report.get("accounts")
    if not isinstance(accounts, Mapping):
        return "?"
    used = {address: account.get("units") for address, account in accounts.items() if isinstance(account, Mapping)}
    return ", ".join(f"{address.partition('@')[0]} {units}" for address, units in used.items() if units)


def _seen_from_anywhere(spec: str) -> str:
    """``file.py:Class`` with the whole path: the processes run in a folder of their own."""
    file, colon, name = spec.rpartition(":")
    return f"{Path(file).resolve()}:{name}" if colon and file.endswith(".py") else spec


if __name__ == "__main__":
    main()
