"""What people read about matches and standings, and what they must not read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from league_agents.journal.port import Note
from league_agents.report.results import match_words, results_of, standings_words

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
ROWS = [
    {"rank": 2, "participant_id": "owls", "display_name": "Ow\x1b[31mls", "total_points": 0},
    {"rank": 1, "participant_id": "falcons", "display_name": "", "total_points": 2.5},
]
OF_REFEREE = {
    "status": "COMPLETED",
    "winner_id": "falcons",
    "is_draw": False,
    "target": {"opening_sentence": "Call me."},
    "players": [{"id": "falcons", "league_points": 3, "guess": "Call me."}, {"id": "owls", "league_points": 0}],
}


def note(kind: str, key: str, facts: Mapping[str, object]) -> Note:
    return Note(at=NOON, kind=kind, key=key, facts=facts)


def test_a_match_is_told_with_points_and_winner_and_never_with_its_target() -> None:
    match = results_of([note("match", "0101001", OF_REFEREE)]).last_match
    assert match is not None
    assert match_words(match) == "0101001 COMPLETED, points falcons 3, owls 0; winner falcons"
    assert "Call me" not in json.dumps(match.to_json())


def test_the_points_that_count_are_told_where_the_manager_states_them() -> None:
    facts = {"status": "ABORTED", "is_draw": True, "players": [{"id": "a", "league_points": 3, "counted_points": 0}]}
    match = results_of([note("match", "0101001", facts)]).last_match
    assert match is not None
    assert match_words(match) == "0101001 ABORTED, points a 0; a draw"


def test_a_player_learns_the_winner_of_its_game_from_the_results_of_the_round() -> None:
    own = note("game", "0101001", {"termination": "completed", "scorecard": {"league_points": 2}})
    results = note("round", "1", {"results": [{"game_id": "0101001", "winner_id": "owls"}], "standings": ROWS})
    before = results_of([own]).last_match
    after = results_of([own, results]).last_match
    assert before is not None
    assert after is not None
    assert match_words(before) == "0101001 completed, points us 2"
    assert match_words(after) == "0101001 completed, points us 2; winner owls"


def test_the_latest_table_is_kept_when_the_end_of_the_season_brings_none() -> None:
    found = results_of([note("round", "3", {"standings": ROWS}), note("season", "SPRING", {"final_standings": []})])
    assert standings_words(found.standings) == "1. falcons 2.5, 2. Owls 0"
    assert found.standings_after == "round 3"
    assert results_of([note("season", "SPRING", {"final_standings": ROWS})]).standings_after == "season SPRING"


def test_ten_rows_of_a_long_table_are_told() -> None:
    rows = [{"rank": n, "participant_id": f"p{n}", "total_points": 30 - n} for n in range(30, 0, -1)]
    assert [row.rank for row in results_of([note("season", "S", {"standings": rows})]).standings] == list(range(1, 11))


def test_records_of_odd_form_are_no_trouble() -> None:
    odd = {"players": [3, {"id": [], "league_points": True}], "standings": [{"rank": "1"}, None], "results": {"a": "b"}}
    found = results_of([note("match", "0101001", odd), note("round", "1", odd)])
    assert found.last_match is not None
    assert (found.last_match.ended, found.last_match.points, found.standings) == ("unknown", (), ())
