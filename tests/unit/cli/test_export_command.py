"""``league-agents export`` and ``import``: what goes out can be checked, and what comes in is."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.app.offline import play_single_game
from league_agents.app.records import open_season
from league_agents.cli import command_line
from league_agents.games.q21.rules import PRD

GAME = "0101001"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journals of one match."""
    place = tmp_path_factory.mktemp("match")
    play_single_game(
        seed=3, rules=PRD, referee="scripted", player_a="scripted", player_b="scripted", journal=place / "m.db"
    )
    return place


def run(*words: str) -> Result:
    return CliRunner().invoke(command_line, words)


def test_an_export_is_read_as_the_journals_are(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "spring.jsonl"
    assert run("export", "--from", str(folder), "--out", str(out)).exit_code == 0
    journals, file = open_season(folder), open_season(out)
    assert list(file.matches()) == list(journals.matches())
    assert file.season() == journals.season()
    assert out.stat().st_mode & 0o077 == 0
    checked = run("import", str(out))
    assert (checked.exit_code, checked.stdout) == (0, "")
    assert "Offline league: 1 match, nothing was changed since it was written" in checked.stderr
    # The same journals give the same bytes, on stdout as in the file; and an export may be written anew.
    assert run("export", "--from", str(folder)).stdout_bytes == out.read_bytes()
    assert run("export", "--from", str(folder), "--out", str(out)).exit_code == 0


def test_no_file_is_called_like_the_sign_for_stdout(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run("export", "--from", str(folder), "--out", "-")
    assert (refused.exit_code, list(tmp_path.iterdir())) == (3, [])
    assert "--out -: names no file" in refused.stderr


def test_a_changed_match_is_named_with_its_line(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "spring.jsonl"
    run("export", "--from", str(folder), "--out", str(out))
    text = out.read_text("utf-8")
    changed = text.replace('"counted_points":3', '"counted_points":2', 1)
    assert changed != text
    out.write_text(changed, "utf-8")
    refused = run("import", str(out), "--out", str(tmp_path / "kept.jsonl"))
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (3, 1)
    assert f"line 2: was changed, or a line before it is missing (match {GAME})" in refused.stderr
    assert not (tmp_path / "kept.jsonl").exists()
    shown = run("show", "matches", "--from", str(out))
    assert shown.exit_code == 3
    assert f"match {GAME}" in shown.stderr


def test_what_is_kept_of_a_stranger_s_file_is_what_this_version_knows(folder: Path, tmp_path: Path) -> None:
    kept, mine = tmp_path / "kept.jsonl", tmp_path / "mine.jsonl"
    run("export", "--from", str(folder), "--out", str(mine))
    assert run("import", str(mine), "--out", str(kept)).exit_code == 0
    assert kept.read_bytes() == mine.read_bytes()


def test_an_export_for_the_public_names_no_mailbox(folder: Path) -> None:
    exported = run("export", "--from", str(folder), "--as", "public")
    assert exported.exit_code == 0
    assert "Call me Ishmael." in exported.stdout
    assert "@" not in exported.stdout


def test_an_export_of_a_player_s_journal_holds_no_more_than_the_player_knows(folder: Path) -> None:
    exported = run("export", "--from", str(folder / "m.player-b.db")).stdout
    match = json.loads(exported.splitlines()[1])["match"]
    assert match["target"] is None
    assert [len(player["questions"]) for player in match["players"]] == [0, 20]


def test_a_table_for_spreadsheets(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "matches.csv"
    assert run("export", "--from", str(folder), "--csv", "--out", str(out)).exit_code == 0
    (row,) = csv.DictReader(io.StringIO(out.read_text("utf-8")))
    assert (row["game_id"], row["player1"], row["points1"]) == (GAME, "player-a", "3")


@pytest.mark.parametrize("form", [[], ["--csv"]])
def test_another_file_is_never_replaced(form: list[str], folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "thesis.tex"
    out.write_text("years of work")
    refused = run("export", "--from", str(folder), "--out", str(out), *form)
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (3, 1)
    assert out.read_text() == "years of work"
