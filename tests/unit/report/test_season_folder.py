"""A season's folder: divisions together, journals before records that are not whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.records import make_season
from league_agents.app.records import open_division, open_season
from league_agents.app.season_files import JOURNALS, RECORDS
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.report.records import SeasonRecord
from league_agents.report.records_file import record_lines
from league_agents.report.season_folder import Division, SeasonFolder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two divisions of three teams, the second a copy of the first."""
    make_season(tmp_path, matches=12, teams=3)
    return tmp_path


def test_divisions_are_told_one_after_the_other(folder: Path) -> None:
    source = open_season(folder)
    season = source.season()
    assert (season.divisions, season.is_over) == (("d01", "d02"), True)
    assert [(row.division, row.rank) for row in season.standings()] == [
        (division, row.rank) for division in ("d01", "d02") for row in season.standings()[:3]
    ]
    assert [(match.division, match.game_id) for match in source.matches(round_number=1)] == [
        ("d01", "0101001"), ("d02", "0101001"),
    ]  # fmt: skip
    assert {match.target is not None for match in source.matches()} == {True}


def test_a_match_that_two_divisions_have_is_asked_for_by_its_division(folder: Path) -> None:
    source = open_season(folder)
    with pytest.raises(ConfigError, match="d01/0102001, d02/0102001"):
        source.match("0102001")
    assert source.match("d02/0102001").division == "d02"
    assert source.match("d2/0102001").division == "d02", "zeros before a number need not be written"
    with pytest.raises(ConfigError, match="d03/0102001"):
        source.match("d03/0102001")


def test_the_table_of_a_league_has_every_division_s_latest_rows_and_who_would_move(folder: Path) -> None:
    whole = {name: open_division(folder / JOURNALS / name, name) for name in ("d01", "d02")}
    seasons = {name: source.season() for name, source in whole.items()}
    last = max(seasons["d01"].standings_after)
    # The first division is a round behind.
    seasons["d01"] = evolve(
        seasons["d01"],
        standings_after={each: rows for each, rows in seasons["d01"].standings_after.items() if each < last},
        is_over=False,
    )

    class Told:
        def __init__(self, name: str) -> None:
            self.name = name

        def season(self) -> SeasonRecord:
            return seasons[self.name]

        def close(self) -> None: ...

    def opener(name: str) -> Callable[[bool], Any]:
        return lambda _is_whole: Told(name)

    planned = {"promoted": 1, "divisions": [{"name": "d02"}, {"name": "d01"}]}
    season = SeasonFolder([Division(name, opener(name)) for name in seasons], planned).season()
    rows = season.standings()
    assert [row.division for row in rows] == ["d01"] * 3 + ["d02"] * 3
    # d02 is the highest, so its last falls and the first of d01 rises.
    assert [row.move for row in rows] == ["promoted", "", "", "", "", "relegated"]
    for source in whole.values():
        source.close()


def test_records_are_read_in_the_place_of_journals_only_when_they_hold_every_match(folder: Path) -> None:
    source = open_season(folder)
    season, matches = source.season(), list(source.matches())
    marked = [evolve(match, notes=("from the records",)) for match in matches]
    (folder / RECORDS).write_bytes(b"".join(record_lines(season, marked)))
    assert {match.notes for match in open_season(folder).matches()} == {("from the records",)}
    # Settled after the records were written: the log of the journals has more.
    (folder / RECORDS).write_bytes(b"".join(record_lines(evolve(season, log=season.log[:-1]), marked)))
    assert list(open_season(folder).matches()) == matches
    (folder / RECORDS).write_bytes(b"".join(record_lines(season, marked[:5])))
    assert list(open_season(folder).matches()) == matches


def test_a_folder_of_records_alone_is_a_season(folder: Path, tmp_path: Path) -> None:
    source = open_season(folder)
    alone = tmp_path / "published"
    alone.mkdir()
    (alone / RECORDS).write_bytes(b"".join(record_lines(source.season(), source.matches())))
    assert open_season(alone).season() == source.season()
    assert not (alone / JOURNALS).exists()


def test_a_folder_of_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ConfigError, match="holds neither journals nor records"):
        open_season(tmp_path)
