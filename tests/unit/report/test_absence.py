"""Who was absent from a match, and what that counted, wherever people read it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from league_agents.kit.values import evolve
from league_agents.report.match_page import match_page as match_text
from league_agents.report.pages.match_view import match_page
from league_agents.report.pages.season_view import SeasonPages
from league_agents.report.records import OVER, MatchRecord, PlayerRecord, ScheduledMatch, SeasonRecord, TeamRecord
from league_agents.report.tables import MATCHES, csv_lines

ABORTED = MatchRecord(
    game_id="0101001",
    round_number=1,
    referee_id="crows",
    status="aborted",
    winner_id="owls",
    abort_reason="player_timeout:wrens@league.test",
    absent=("player2",),
    is_walkover=True,
    players=(
        PlayerRecord(participant_id="owls", role="player1", counted_points=3),
        PlayerRecord(participant_id="wrens", role="player2", counted_points=0),
    ),
)
UNREPORTED = evolve(
    ABORTED,
    status="no_report",
    winner_id=None,
    abort_reason=None,
    absent=("referee",),
    players=tuple(evolve(player, counted_points=3.0) for player in ABORTED.players),
)


def text_of(match: MatchRecord) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(match_text(match, is_whole=False))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("match", "absence", "result"),
    [
        (ABORTED, "wrens; by walkover: owls 3, wrens 0", "owls won by walkover"),
        (UNREPORTED, "referee crows; by walkover: owls 3, wrens 3", "walkover"),
        (evolve(ABORTED, is_walkover=False), "wrens; counted: owls 3, wrens 0", "owls won"),
        (evolve(ABORTED, absent=(), is_walkover=False), "", "owls won"),
    ],
)
def test_it_is_said_in_the_match_its_page_and_every_table(match: MatchRecord, absence: str, result: str) -> None:
    assert match.absence() == absence
    assert (f"Absent: {absence}\n" in text_of(match)) is bool(absence)
    assert dict(match_page(match).facts).get("Absent", "") == (absence[:1].upper() + absence[1:])
    header, row = (line.rstrip().split(",") for line in csv_lines(MATCHES, [match]))
    cells = dict(zip(header, row, strict=True))
    assert cells["absent"] == absence.partition(";")[0]
    assert cells["result"] == result


def test_a_hostile_name_of_an_absent_team_is_one_line_of_text() -> None:
    rows = (evolve(ABORTED.players[0], participant_id="<b>\x1b[31m\n=1+1"), ABORTED.players[1])
    match = evolve(ABORTED, players=rows, absent=("player1",))
    assert "\x1b" not in text_of(match)
    (line,) = [line for line in text_of(match).splitlines() if "Absent" in line]
    assert "wrens 0" in line
    assert "\n" not in dict(match_page(match).facts)["Absent"]


@pytest.mark.parametrize("is_walkover", [False, True])
def test_a_walkover_rates_nobody(is_walkover: bool) -> None:
    game = ScheduledMatch(
        round_number=1, game_id="0101001", player1="owls", player2="wrens", referee="crows", status=OVER,
        winner_id="owls", is_walkover=is_walkover, points=(3, 0),
    )  # fmt: skip
    teams = tuple(TeamRecord(participant_id=name) for name in ("owls", "wrens"))
    (division,) = SeasonPages(SeasonRecord(teams=teams, schedule=(game,))).season_page().divisions
    assert bool(division.rating_rows) is not is_walkover
    ((row,),) = [each.matches for each in division.schedule]
    assert row.status == ("walkover" if is_walkover else "over")
