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
from league_agents.report.pages.season_values import LETTERS
from league_agents.report.pages.season_view import SeasonPages
from league_agents.report.records import ANNULLED, NOT_PLAYED, PLANNED, REPLAYED, MatchRecord, SeasonRecord
from league_agents.report.tables import MATCHES, csv_lines, standings_columns, text_table
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


def test_the_manager_s_journal_alone_tells_the_reported_points_from_those_that_count(
    corrected: tuple[MatchRecord, MatchRecord],
) -> None:
    whole, alone = corrected
    reported = [(player.league_points, player.private_score) for player in whole.players]
    assert [(player.league_points, player.private_score) for player in alone.players] == reported
    assert [points for points, _ in reported] != [1, 3]
    assert [player.counted_points for player in alone.players] == [1, 3]


def test_an_annulled_match_keeps_its_reported_points_until_it_counts_again() -> None:
    made = league()
    made.play()
    before = JournalSource(journals(made, "manager")).match("0102001")
    reported = [(player.league_points, player.private_score) for player in before.players]
    assert sum(points or 0 for points, _ in reported) > 0
    settle(made, Command.CORRECT, SettlementOrder(about="0102001", points=(0, 2), why="a typo"))
    settle(made, Command.ANNUL, SettlementOrder(about="0102001", why="a wrong book"))
    annulled = JournalSource(journals(made, "manager")).match("0102001")
    settle(made, Command.REINSTATE, SettlementOrder(about="0102001", why="it was right"))
    again = JournalSource(journals(made, "manager")).match("0102001")
    made.close()
    assert [(player.league_points, player.private_score) for player in annulled.players] == reported
    assert [player.counted_points for player in annulled.players] == [0, 0]
    assert [(player.league_points, player.private_score) for player in again.players] == reported
    assert [player.counted_points for player in again.players] == [points for points, _ in reported]


@pytest.fixture(scope="module")
def silent() -> Iterator[dict[str, MatchRecord]]:
    """A match that its referee broke off for an absent player, and one that its referee never reported."""
    made = league({"crows": "scripted:silent"}, wrens="scripted:silent-after-questions")
    made.play()
    yield {
        f"{match.game_id} {roles[-1]}": match
        for roles in (("manager",), ("manager", *GROUPS), ("manager", "referees", *GROUPS))
        for match in JournalSource(journals(made, *roles)).matches()
    }
    made.close()


def test_a_match_begins_before_its_end_or_at_an_unknown_instant(silent: dict[str, MatchRecord]) -> None:
    for name, match in silent.items():
        assert match.ended_at is not None
        if name.endswith("manager"):
            assert match.started_at is None, "reports do not tell when a match began"
            assert "Began" not in dict(match_page(match).facts)
        elif match.started_at is not None:
            assert match.started_at < match.ended_at
            assert match.started_at == match.messages[0].at
    assert silent["0102001 wrens"].started_at is not None


def test_what_only_the_referee_or_the_players_know_is_not_said_to_be_missing(silent: dict[str, MatchRecord]) -> None:
    alone = text_of(silent["0102001 manager"], is_whole=True)
    assert "Which book was announced is not known here." in alone
    assert "Target   not known here" in alone
    for untrue in ("No book was announced", "none was made known", "could not play on"):
        assert untrue not in alone
    whole = text_of(silent["0102001 wrens"], is_whole=True)
    assert "not known here" not in whole
    assert "crows could not play on" in whole or "crows played to the end" in whole


def test_annulled_and_replayed_matches_are_no_results_and_a_replay_that_was_cut_off_is_not_played() -> None:
    made = league()
    made.play()
    settle(made, Command.ANNUL, SettlementOrder(about="0102001", why="a wrong book"))
    order = SettlementOrder(about="0101001", why="a wrong book").to_text()
    made.manager.runner.command(OperatorCommand(command=Command.REPLAY, nonce="again", text=order))
    waiting = JournalSource(journals(made, "manager")).season()
    made.manager.runner.command(OperatorCommand(command=Command.FINISH_SEASON, nonce="finish"))
    made.simulation.run(lambda: False)
    source = JournalSource(journals(made, "manager"))
    season, matches = source.season(), list(source.matches())
    made.close()
    assert (waiting.is_over, season.is_over) == (False, True)
    cut_off = {match.game_id for match in season.schedule} - {"0101001", "0102001", "0103001"}
    assert {match.game_id: match.status for match in waiting.schedule if match.game_id in cut_off} == dict.fromkeys(
        cut_off, PLANNED
    )
    assert cut_off
    page = SeasonPages(season).season_page()
    assert dict(page.facts)["Matches"] == "1 of 2 played; 2 annulled or played again"
    (division,) = page.divisions
    rows = {row.game.text: row for round_ in division.schedule for row in round_.matches}
    assert {row.status for game_id, row in rows.items() if game_id in cut_off} == {"not played"}
    assert [(rows[each].score, rows[each].status) for each in ("0101001", "0102001")] == [
        ("", REPLAYED), ("", ANNULLED),
    ]  # fmt: skip
    assert [round_.over for round_ in division.schedule] == [0, 0, 1, 0]
    crossed = [result for _, cells in division.cross for cell in cells for result in cell or ()]
    assert {(LETTERS[each.kind], each.score) for each in crossed if each.kind in (ANNULLED, REPLAYED)} == {("–×", "")}
    assert {each.words.partition(" against")[0] for each in crossed if each.game.text in cut_off} == {"not played"}
    table = text_table(MATCHES, matches)
    points = next(column for column in table.columns if str(column.header) == "Points")
    assert [str(cell) for cell in points.cells][:2] == ["–", "–"]
    assert {match.status for match in matches if match.game_id in cut_off} == {NOT_PLAYED}
    assert "was not played: the season ended before" in text_of(next(each for each in matches if not each.is_over))
