"""What people read about matches that have no winner or that the organiser settled."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from league_agents.app.offline import OfflineLeague
from league_agents.league.machines.events import Command, OperatorCommand
from league_agents.league.season.orders import SettlementOrder
from league_agents.report.journal_source import JournalSource
from league_agents.report.match_page import match_page as match_text
from league_agents.report.pages.match_view import match_page
from league_agents.report.pages.season_view import SeasonPages
from league_agents.report.records import MatchRecord, SeasonRecord
from league_agents.report.tables import csv_lines, standings_columns, text_table
from tests.support.small_league import GROUPS, journals, league


def text_of(match: MatchRecord, *, is_whole: bool = False) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(match_text(match, is_whole=is_whole))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def settle(made: OfflineLeague, command: Command, order: SettlementOrder) -> None:
    made.manager.runner.command(OperatorCommand(command=command, nonce=f"{command}", text=order.to_text()))
    made.simulation.run(lambda: False)


@pytest.fixture(scope="module")
def unreported() -> Iterator[SeasonRecord]:
    """A season in which the referee of one match is silent: 3 points for both players, and no winner."""
    made = league({"crows": "scripted:silent"})
    made.play()
    yield JournalSource(journals(made, "manager")).season()
    made.close()


def test_a_match_that_nobody_won_is_no_loss(unreported: SeasonRecord) -> None:
    rows = {row.participant_id: row for row in unreported.standings()}
    (silent,) = [match for match in unreported.schedule if match.referee == "crows"]
    assert (silent.winner_id, silent.is_draw, silent.points) == (None, False, (3, 3))
    pages = SeasonPages(unreported)
    for team, row in rows.items():
        results = [match.result_of(team) for match in unreported.schedule if team in (match.player1, match.player2)]
        assert row.draws == results.count("drawn")
        assert row.losses == results.count("lost")
        assert row.without_result == results.count("nobody") == (team != "crows")
        meetings = pages.team_page(team).meetings
        assert sum(meeting.losses for meeting in meetings) == row.losses
        assert row.played == row.wins + row.draws + row.losses + row.without_result


def test_matches_without_a_result_have_their_column(unreported: SeasonRecord) -> None:
    rows = unreported.standings()
    header, *lines = (line.rstrip().split(",") for line in csv_lines(standings_columns(rows), rows))
    cells = [dict(zip(header, line, strict=True)) for line in lines]
    assert {each["participant_id"]: each["no_result"] for each in cells} == {"crows": "", "owls": "1", "wrens": "1"}
    (division,) = SeasonPages(unreported).season_page().divisions
    place = division.headings.index("No result")
    assert {each.team.text.casefold(): each.cells[place] for each in division.places} == {
        "crows": "0", "owls": "1", "wrens": "1",
    }  # fmt: skip
    words = [result.words for result in SeasonPages(unreported).team_page("owls").results]
    assert any(each.startswith("no result against") for each in words)


def test_a_season_in_which_every_match_has_a_result_has_no_such_column() -> None:
    made = league()
    made.play()
    season = JournalSource(journals(made, "manager")).season()
    made.close()
    assert "No result" not in [
        str(column.header) for column in text_table(standings_columns(()), season.standings()).columns
    ]
    (division,) = SeasonPages(season).season_page().divisions
    assert "No result" not in division.headings


@pytest.fixture(scope="module")
def corrected() -> Iterator[tuple[MatchRecord, MatchRecord]]:
    """A match after ``correct``: from all journals, and from the league manager's alone."""
    made = league()
    made.play()
    settle(made, Command.CORRECT, SettlementOrder(about="0102001", points=(1, 3), why="feedback was misread"))
    yield (
        JournalSource(journals(made, "manager", "referees", *GROUPS)).match("0102001"),
        JournalSource(journals(made, "manager")).match("0102001"),
    )
    made.close()


def test_the_result_of_a_settled_match_is_told_with_the_points_that_count(
    corrected: tuple[MatchRecord, MatchRecord],
) -> None:
    for match in corrected:
        winner = match.players[1].participant_id
        assert match.winner_id == winner
        assert match_page(match).outcome.casefold() == f"{winner} wins with 3 points to 1"
        assert "private scores decide" not in match_page(match).reason
        assert f"{winner} wins with 3 points to 1" in text_of(match, is_whole=True)


def test_a_settlement_states_the_points_of_both_players(corrected: tuple[MatchRecord, MatchRecord]) -> None:
    whole, _ = corrected
    reported = "–".join(f"{player.league_points:g}" for player in whole.players if player.league_points is not None)
    (settled,) = match_page(whole).settlements
    changes = {key: (before, after) for key, before, after in settled.changes}
    assert changes["league points"] == (reported, "1–3")
    assert all(" " not in value and value.count("–") == 1 for value in changes["private scores"])
