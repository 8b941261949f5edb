"""``league-agents show``: tables for people, JSON and CSV, from whatever holds a season."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.app.offline import play_single_game
from league_agents.app.storage import STORAGE
from league_agents.cli import command_line
from league_agents.cli.screen import document_text
from league_agents.games.q21.rules import PRD
from league_agents.journal.port import Note, StepCause, StepCommit
from league_agents.kit.clock import utc_now
from league_agents.report.records import MatchRecord, PlayerRecord
from league_agents.report.tables import MATCHES, csv_lines

GAME = "0101001"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journals and the record of one match, which player-b leaves before it guesses."""
    place = tmp_path_factory.mktemp("match")
    document = play_single_game(
        seed=3,
        rules=PRD,
        referee="scripted",
        player_a="scripted",
        player_b="scripted:silent-after-questions",
        journal=place / "m.db",
    )
    (place / "match.json").write_text(document_text(document), "utf-8")
    return place


def show(*words: str) -> Result:
    return CliRunner().invoke(command_line, ["show", *words], env={"COLUMNS": "120"})


SOURCES = ("m.league-office.db", "m.referee.house.db", "m.player-a.db", "match.json", ".")


@pytest.mark.parametrize("source", SOURCES)
def test_matches_are_listed_from_whatever_holds_them(source: str, folder: Path) -> None:
    shown = show("matches", "--from", str(folder / source))
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert all(word in shown.stdout for word in (GAME, "player-a", "player-b"))
    assert "player_timeout" in shown.stdout or "aborted" in shown.stdout  # a player's journal has no reason
    found = json.loads(show("matches", "--from", str(folder / source), "--json").stdout)
    assert [match["game_id"] for match in found] == [GAME]
    rows = list(csv.DictReader(io.StringIO(show("matches", "--from", str(folder / source), "--csv").stdout)))
    assert [(row["game_id"], row["player1"], row["status"]) for row in rows] == [(GAME, "player-a", "aborted")]


def test_one_match_is_shown_with_its_mails_and_their_deadlines(folder: Path) -> None:
    shown = show("match", GAME, "--from", str(folder / "m.referee.house.db"))
    assert shown.exit_code == 0
    assert "Why: player_timeout:player-b@league.test, caused by player-b" in shown.stdout
    assert "Q21WARMUPCALL" in shown.stdout
    assert "Answer until" in shown.stdout


def test_a_transcript_is_the_one_that_run_prints(folder: Path) -> None:
    shown = show("match", GAME, "--transcript", "--from", str(folder / "m.referee.house.db")).stdout
    assert "player-a asked 20 questions." in shown
    assert "Call me Ishmael." in shown
    assert "Scorecards" in shown


def test_a_player_sees_its_own_game_and_not_its_opponent_s(folder: Path) -> None:
    shown = show("match", GAME, "--transcript", "--from", str(folder / "m.player-a.db")).stdout
    assert "player-a asked 20 questions." in shown
    assert "How the game of player-b ended is not known here." in shown


def test_the_public_sees_no_address(folder: Path) -> None:
    shown = show("match", GAME, "--as", "public", "--from", str(folder), "--json").stdout
    assert json.loads(shown)["target"]["opening_sentence"] == "Call me Ishmael."
    assert "@" not in shown


@pytest.mark.parametrize("what", ["schedule", "teams", "standings", "log"])
def test_the_season_is_shown_as_a_table_as_json_and_as_csv(what: str, folder: Path) -> None:
    source = ("--from", str(folder / "m.league-office.db"))
    people, machine, sheet = (show(what, *source, *form) for form in ((), ("--json",), ("--csv",)))
    assert {people.exit_code, machine.exit_code, sheet.exit_code} == {0}
    rows = json.loads(machine.stdout)
    assert len(rows) == len(list(csv.reader(io.StringIO(sheet.stdout)))) - 1 > 0
    assert people.stdout.count("\n") > len(rows)


def test_standings_say_how_little_one_match_means(folder: Path) -> None:
    shown = show("standings", "--from", str(folder / "m.league-office.db"))
    assert "After 1 match a team's share of wins is known to ±50 percentage points" in shown.stdout


REFUSED = {
    "a match that is not there": (("match", "0909009"), "match 0909009: is not in this season"),
    "a season that is not there": (("matches", "--season", "WINTER"), "season WINTER: is not in this journal"),
    "matches of a round that there is not": (("matches", "--round", "9"), "there is no round 9; the last one is round"),
    "a round that was not played": (("standings", "--round", "9"), "no standings after round 9"),
    "two forms at once": (("matches", "--json", "--csv"), "give one of them"),
    "a team that does not play": (("matches", "--team", "owls"), "--team owls: is not in this season; its teams are"),
    "the eyes of nobody": (("match", GAME, "--as", "player", "--team", "owls"), "its teams are"),
    "a team without --as player": (("match", GAME, "--team", "player-a"), "--as player"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_shown_is_named_in_one_line(name: str, folder: Path) -> None:
    words, told = REFUSED[name]
    refused = show(*words, "--from", str(folder / "m.league-office.db"))
    assert refused.exit_code != 0
    assert told in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_source_without_seasons_to_choose_from_has_no_other_season(folder: Path) -> None:
    refused = show("matches", "--from", str(folder / "match.json"), "--season", "WINTER")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "season WINTER: is not in" in refused.stderr


def test_a_source_that_is_not_there_is_named_with_what_can_be_named(tmp_path: Path) -> None:
    refused = show("matches", "--from", str(tmp_path / "none.db"))
    assert refused.exit_code == 3
    assert "cannot be read: No such file or directory; name a journal, a season's folder" in refused.stderr


def test_a_recorded_match_is_no_file_of_records(folder: Path) -> None:
    refused = CliRunner().invoke(command_line, ["import", str(folder / "match.json")])
    assert refused.exit_code == 3
    assert "is no file of records; name one that 'export'" in refused.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "neither a journal nor records"),
        (b"[1]", "neither a journal nor records"),
        (b'{"a": 1}', "neither a journal nor records"),
        (b"[" * 100_000, "neither a journal nor records"),
        (b"SQLite format 3\0" + b"x" * 200, "x.db"),
    ],
)
def test_a_file_of_another_kind_is_named(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    refused = show("matches", "--from", str(path))
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (3, 1)
    assert told in refused.stderr


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\n=1"])
def test_a_cell_of_a_spreadsheet_is_never_a_formula(name: str) -> None:
    match = MatchRecord(
        game_id=GAME, status="completed", players=(PlayerRecord(participant_id=name, private_score=-1.5),)
    )
    _, row = csv.reader(io.StringIO("".join(csv_lines(MATCHES, [match]))))
    assert row[3].startswith("'")
    assert "-1.5" in row, "a number stays a number"


def test_a_name_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    from league_agents.report.tables import text_table

    players = (PlayerRecord(participant_id="\x1b[2J[bold]owls[/bold]\u202e"),)
    match = MatchRecord(game_id=GAME, status="open", players=players)
    Console(width=200).print(text_table(MATCHES, [match]))
    shown = capsys.readouterr().out
    assert "[bold]owls[/bold]" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize(("is_terminal", "columns"), [(True, 80), (True, 60), (False, 80)])
def test_no_word_is_divided_and_nothing_at_all_in_a_pipe(
    is_terminal: bool, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from league_agents.cli.screen import print_whole
    from league_agents.report.tables import text_table

    monkeypatch.setenv("COLUMNS", str(columns))
    players = (
        PlayerRecord(participant_id="mountain-otters", email="otters@league.example", role="player_a"),
        PlayerRecord(participant_id="falcons", email="falcons@league.example", role="player_b"),
    )
    match = MatchRecord(
        game_id=GAME,
        status="aborted",
        players=players,
        referee_id="wrens",
        winner_id="falcons",
        is_walkover=True,
        absent=("player_a",),
        abort_reason="player_timeout:otters@league.example",
    )
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    print_whole(text_table(MATCHES, [match]), stream)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()
    words = set(" ".join(lines).split())
    assert {GAME, "mountain-otters", "falcons", "wrens", "won", "walkover", "player_timeout:"} <= words
    assert "example" not in stream.getvalue()
    assert (len(lines) == 3) == (not is_terminal)
    if columns == 80 and is_terminal:
        assert max(map(len, lines)) <= 84  # as wide as its words


def test_a_list_is_printed_one_element_at_a_time_as_if_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    from league_agents.cli.screen import print_documents

    for documents in ([], [1], [{"a": ["line\nbreak", {}]}, [], "\ud800"]):
        drawn = []
        print_documents((drawn.append(each) or each for each in documents), sys.stdout)
        assert capsys.readouterr().out == document_text(documents)
        assert drawn == documents


def test_disputes_are_listed_with_their_evidence_in_every_form(tmp_path: Path) -> None:
    play_single_game(
        seed=3,
        rules=PRD,
        referee="scripted:silent",
        player_a="scripted",
        player_b="scripted",
        journal=tmp_path / "m.db",
    )
    source = ("--from", str(tmp_path))
    listed = show("disputes", *source)
    assert listed.exit_code == 0
    assert all(word in listed.stdout for word in (GAME, "missing", "no_report 3:3"))
    assert "its journal" not in listed.stdout
    whole = show("disputes", GAME, *source)
    assert "player player-a: its journal" in whole.stdout
    (document,) = json.loads(show("disputes", "--json", *source).stdout)
    assert (document["game_id"], document["kind"]) == (GAME, "missing")
    rows = list(csv.DictReader(io.StringIO(show("disputes", "--csv", *source).stdout)))
    assert len(rows) == len(document["evidence"])
    assert {row["kind"] for row in rows} == {"missing"}
    nothing = show("disputes", "0909009", *source)
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert nothing.stderr == "there are no disputes about match 0909009\n"
    alone = show("disputes", "0909009", "--from", str(tmp_path / "m.league-office.db"))
    assert alone.stderr == nothing.stderr, "the manager's own journal does not name the manager's as the remedy"


def test_a_player_s_own_journal_has_no_disputes(folder: Path) -> None:
    shown = show("disputes", "--from", str(folder / "m.player-a.db"))
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "only the league manager's journal has them" in shown.stderr


def test_standings_of_which_a_member_was_sent_its_own_rows_are_not_taken_for_the_whole(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.player-a.db"
    shutil.copy(folder / path.name, path)
    rows = [{"rank": 70, "participant_id": "player-a", "display_name": "A", "total_points": 2}]
    facts = {"season_id": "SEASON_2031-05-02", "round_number": 1, "standings": rows}
    with contextlib.closing(
        STORAGE.journal(path, role="player", address="player-a@league.test", dump=lambda _name, _part: "")
    ) as journal:
        for number, whole in enumerate(({"whole": {"rows": 100, "digest": "sha256:0"}}, {}), start=1):
            note = Note(at=utc_now(), kind="round", key=str(number), facts={**facts, "round_number": number, **whole})
            journal.commit(StepCommit(cause=StepCause.COMMAND, key=f"n{number}", at=note.at, notes=[note]))
    part = show("standings", "--from", str(path), "--round", "1").stdout
    assert "1 of 100 teams, as the league manager sent them" in part
    assert "teams, as the league manager" not in show("standings", "--from", str(path), "--round", "2").stdout
