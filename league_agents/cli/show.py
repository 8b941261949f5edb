"""``league-agents show``: a season as tables, from whatever holds it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from league_agents.cli.numbers import WholeRange
from league_agents.cli.options import CONFIG, FROM, SEASON
from league_agents.cli.screen import print_document, print_documents, print_whole
from league_agents.cli.season_source import VIEWERS, opened

if TYPE_CHECKING:
    from league_agents.report.records import MatchRecord, Viewer
    from league_agents.report.sources import SeasonSource
    from league_agents.report.tables import Column

EPILOG = """\b
Examples:
  league-agents show matches --round 3
  league-agents show match 0201001 --transcript
  league-agents show standings --from season/ --csv > standings.csv
  league-agents show match 0101001 --from match.json --as public
  league-agents show disputes 0201001
  league-agents show log

Without --from the journals of the league file are read, of every role in it. --from names a journal, a season's folder,
the file of 'run --single-game --record', or an export. What is secret stays so until the match is over: a player's
journal shows that player's own game, a referee's the matches that it judges; --as narrows that further.
"""

F = TypeVar("F", bound=Callable[..., Any])


def _options(function: F) -> F:
    for option in reversed(
        (
            FROM,
            CONFIG,
            SEASON,
            click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
            click.option("--csv", "as_csv", is_flag=True, help="Print a table for spreadsheets."),
        )
    ):
        function = option(function)
    return function


@click.group(name="show", short_help="Matches, standings, schedule, disputes and audit trail.", epilog=EPILOG)
def command() -> None:
    """Look at a season: its matches, one match whole, standings, schedule, teams, disputes, and the audit trail."""


def narrowed(match: MatchRecord, viewer: Viewer | None, team: str) -> MatchRecord:
    """The match as ``--as`` wants it."""
    from league_agents.report.records import visible

    return match if viewer is None else visible(match, viewer, team)


def _check_team(source: SeasonSource, team: str | None) -> None:
    """Raises ``ConfigError`` for a team that is not in the season; a source may know no teams."""
    from league_agents.kit.errors import ConfigError
    from league_agents.kit.printable import of, printable

    known = [each.participant_id for each in source.season().teams] if team is not None else []
    if known and team not in known:
        listed = printable(", ".join(known[:40]), 600)
        more = f" and {len(known) - 40} others" if len(known) > 40 else ""
        raise ConfigError(f"--team {of(team, 60)}", f"is not in this season; its teams are {listed}{more}")


def _print(columns: Sequence[Column], rows: Iterable[Any], *, as_json: bool, as_csv: bool, empty: str) -> int:
    from msgspec import to_builtins

    from league_agents.report.tables import csv_lines, text_table

    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two forms; give one of them")
    if as_json:
        print_documents((to_builtins(row) for row in rows), sys.stdout)
    elif as_csv:
        for line in csv_lines(columns, rows):
            click.echo(line, nl=False)
    else:
        table = text_table(columns, rows)
        if table.row_count:
            print_whole(table, sys.stdout)
        else:
            click.echo(empty, err=True)
    return 0


@command.command(name="matches")
@click.option("--round", "round_number", type=WholeRange(1, 99), metavar="N", help="This round only.")
@click.option("--team", metavar="T", help="Matches that this team plays or judges.")
@click.option("--as", "viewer", type=click.Choice(VIEWERS), help="Show no more than this reader may see.")
@_options
def matches(
    *,
    round_number: int | None,
    team: str | None,
    viewer: Viewer | None,
    source: Path | None,
    config: Path | None,
    season: str | None,
    as_json: bool,
    as_csv: bool,
) -> int:
    """The matches, one a line: who played, who judged, how it ended and why."""
    from league_agents.report.tables import MATCHES

    with opened(source, config, season) as found:
        _check_team(found, team)
        rounds = {each.round_number for each in found.season().schedule} if round_number is not None else set()
        if rounds and round_number not in rounds:
            raise click.UsageError(f"there is no round {round_number}; the last one is round {max(rounds)}")
        wanted = found.matches(round_number=round_number, team=team)
        rows = (narrowed(match, viewer, found.team) for match in wanted)
        return _print(MATCHES, rows, as_json=as_json, as_csv=as_csv, empty="there are no such matches")


@command.command(name="match")
@click.argument("game_id", metavar="MATCH")
@click.option("--transcript", is_flag=True, help="Every question, answer and guess, and the feedback.")
@click.option("--as", "viewer", type=click.Choice(VIEWERS), help="Show no more than this reader may see.")
@click.option("--team", metavar="T", help="With --as player: whose eyes.")
@_options
def match(
    *,
    game_id: str,
    transcript: bool,
    viewer: Viewer | None,
    team: str | None,
    source: Path | None,
    config: Path | None,
    season: str | None,
    as_json: bool,
    as_csv: bool,
) -> int:
    """One match: how it ended, the players side by side, every mail with its deadline, and what was settled."""
    from msgspec import to_builtins

    from league_agents.report.match_page import match_page
    from league_agents.report.tables import MESSAGES

    if team is not None and viewer != "player":
        raise click.UsageError("--team says whose eyes '--as player' means; give both")
    with opened(source, config, season) as found:
        _check_team(found, team)
        told = narrowed(found.match(game_id), viewer, team or found.team)
        if as_csv:
            return _print(MESSAGES, told.messages, as_json=as_json, as_csv=True, empty="")
        if as_json:
            print_document(to_builtins(told), sys.stdout)
        else:
            print_whole(match_page(told, is_whole=transcript), sys.stdout)
    return 0


@command.command(name="standings")
@click.option("--round", "round_number", type=WholeRange(1, 99), metavar="N", help="As they stood after this round.")
@_options
def standings(
    *,
    round_number: int | None,
    source: Path | None,
    config: Path | None,
    season: str | None,
    as_json: bool,
    as_csv: bool,
) -> int:
    """The standings with their tie-breaks, and how much they can mean after so few matches."""
    from league_agents.report.match_page import uncertainty
    from league_agents.report.tables import standings_columns

    with opened(source, config, season) as found:
        told = found.season()
        rows = told.standings(round_number)
        if round_number is not None and not rows:
            last = max(told.standings_after, default=0)
            raise click.UsageError(
                f"there are no standings after round {round_number}; the latest are after round {last}"
            )
        result = _print(
            standings_columns(rows),
            rows,
            as_json=as_json,
            as_csv=as_csv,
            empty="no round is over: there are no standings"
            if told.schedule
            else "a source without a schedule has no standings; 'show matches' lists its matches",
        )
        if rows and not as_json and not as_csv:
            number = max(told.standings_after) if round_number is None else round_number
            if (whole := told.whole_standings.get(number)) is not None:
                said = f"{len(rows)} of {whole} teams, as the league manager sent them to this member"
                click.echo(f"\n{said}; the manager's journal and the published page have all of them")
            click.echo(f"\n{uncertainty(rows)}")
        return result


@command.command(name="disputes")
@click.argument("game_id", metavar="[MATCH]", required=False)
@_options
def disputes(
    *, game_id: str | None, source: Path | None, config: Path | None, season: str | None, as_json: bool, as_csv: bool
) -> int:
    """Reports that contradict each other, are late, missing, unreadable or not the referee's; objections of members.

    With MATCH also the evidence: what the league manager received, and what the journals of the referee and both
    players say, if they are in the same folder. --json and --csv always hold it.
    """
    from msgspec import to_builtins

    from league_agents.kit.printable import of
    from league_agents.report.sources import division_meant
    from league_agents.report.tables import DISPUTES, EVIDENCE, dispute_lines, text_table

    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two forms; give one of them")
    with opened(source, config, season) as found:
        written, _, number = (game_id or "").rpartition("/")
        division = division_meant(written, found.season().divisions) if written else ""
        wanted = (
            each
            for each in found.disputes()
            if game_id is None or (each.game_id == number and division in ("", each.division))
        )
        if as_json:
            print_documents((to_builtins(each) for each in wanted), sys.stdout)
        elif as_csv:
            for line in dispute_lines(wanted):
                click.echo(line, nl=False)
        elif rows := list(wanted):
            print_whole(text_table(DISPUTES, rows), sys.stdout)
            if game_id is not None:
                print_whole(text_table(EVIDENCE, rows[0].evidence), sys.stdout)
            else:
                click.echo("'show disputes MATCH' shows the evidence; 'manage --help' how a match is settled", err=True)
        else:
            about = "" if game_id is None else f" about match {of(game_id, 40)}"
            elsewhere = "" if found.has_reports else " here; only the league manager's journal has them"
            click.echo(f"there are no disputes{about}{elsewhere}", err=True)
    return 0


def _of_season(name: str, empty: str, help_text: str) -> None:
    """One more command that lists a field of the season."""

    @command.command(name=name, help=help_text)
    @_options
    def listing(*, source: Path | None, config: Path | None, season: str | None, as_json: bool, as_csv: bool) -> int:
        from league_agents.report import tables

        columns = {"schedule": tables.SCHEDULE, "teams": tables.TEAMS, "log": tables.LOG}[name]
        with opened(source, config, season) as found:
            return _print(columns, getattr(found.season(), name), as_json=as_json, as_csv=as_csv, empty=empty)


_of_season("schedule", "there is no schedule yet", "Who plays whom in which round, who judges, and what is over.")
_of_season("teams", "there are no teams yet", "The teams, their divisions and their mailboxes.")
_of_season("log", "nothing was ordered and nothing was odd",
           "The audit trail: orders of the operator, settlements, refusals, warnings, ends of rounds.")  # fmt: skip
