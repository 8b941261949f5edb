"""``league-agents compare``: games, figures, and the file that they lie in."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import Exit, command_line
from league_agents.report.records_file import RecordsFile

BROKEN = """
class Guesser:
    def get_warmup_answer(self, ctx):
        return {"answer": "4"}

    def get_questions(self, ctx):
        raise RuntimeError("no idea")

    def get_guess(self, ctx):
        return {}

    def on_score_received(self, ctx):
        pass
"""


def program(*words: str) -> Result:
    return CliRunner().invoke(command_line, words)


def compared(*words: str) -> dict[str, Any]:
    found = program("compare", *words, "--json")
    assert found.exit_code == 0, found.stderr
    document = json.loads(found.stdout)
    assert isinstance(document, dict)
    return document


def test_the_stronger_one_is_named_and_the_rest_is_not_played() -> None:
    found = compared("offline", "scripted", "--games", "60")
    first, second = found["players"]
    assert (first["spec"], second["spec"]) == ("offline", "scripted")
    assert first["low"] > second["high"]
    (pair,) = found["pairs"]
    assert pair["verdict"] == "first"
    assert pair["games"] < 60
    assert compared("offline", "scripted", "--games", "30", "--all-games")["pairs"][0]["games"] == 30


def test_equals_stay_open_with_a_forecast() -> None:
    (pair,) = compared("scripted", "scripted", "--games", "10")["pairs"]
    assert (pair["verdict"], pair["draws"]) == ("open", 10)
    assert pair["more_games"] > 0


def test_mirrored_games_have_one_target_and_swapped_seats(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    compared("offline", "scripted", "--games", "4", "--out", str(out))
    records = list(RecordsFile(out).matches())
    assert len(records) == len({record.game_id for record in records}) == 4
    for one, other in zip(records[::2], records[1::2], strict=True):
        assert one.target is not None
        assert one.target == other.target
        assert [each.participant_id for each in one.players] == ["player-1", "player-2"]
        assert [each.participant_id for each in other.players] == ["player-2", "player-1"]
        assert one.players[0].display_name == "offline"


@pytest.mark.parametrize("torn", [0, 25])
def test_an_interrupted_comparison_ends_with_the_same_bytes(tmp_path: Path, torn: int) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "again.jsonl"
    words = ("offline", "scripted", "scripted", "--games", "8")
    expected = compared(*words, "--out", str(whole))
    lines = whole.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:6]) + lines[6][:torn])
    assert compared(*words, "--workers", "3", "--out", str(out)) == expected
    assert out.read_bytes() == whole.read_bytes()
    assert compared(*words, "--out", str(out)) == expected  # nothing is left to play
    assert out.read_bytes() == whole.read_bytes()


def test_games_of_other_settings_are_not_mixed_in(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    compared("scripted", "scripted", "--games", "4", "--out", str(out))
    before = out.read_bytes()
    found = program("compare", "scripted", "scripted", "--games", "4", "--seed", "2", "--out", str(out))
    assert found.exit_code == Exit.CONFIGURATION
    assert "name another file" in found.stderr
    assert out.read_bytes() == before


def test_more_games_go_on_with_the_same_file(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    compared("scripted", "scripted", "--games", "4", "--out", str(out))
    assert compared("scripted", "scripted", "--games", "8", "--out", str(out))["pairs"][0]["games"] == 8


def test_the_file_of_a_comparison_becomes_pages_though_its_games_had_no_mails(tmp_path: Path) -> None:
    out, pages = tmp_path / "games.jsonl", tmp_path / "pages"
    compared("scripted", "scripted", "--games", "2", "--out", str(out))
    done = program("report", "--from", str(out), "--out", str(pages))
    assert done.exit_code == Exit.OK, done.stderr
    assert sorted(page.stem for page in (pages / "matches").glob("*.html")) == ["0101001", "0101002"]
    assert "have no page" not in done.stdout + done.stderr
    assert "matches/0101002.html" in (pages / "index.html").read_text(encoding="utf-8")


def test_what_fallbacks_did_is_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guesser.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = program("compare", "scripted", "guesser.py:Guesser", "--games", "2", "--in-process")
    assert found.exit_code == 0, found.stderr
    assert "callbacks failed or broke their contract in 2 of 2 games" in found.stdout
    assert "no idea" in found.stdout


def test_referees_take_turns_and_are_rated() -> None:
    found = compared(
        "offline", "scripted", "--games", "8", "--referee", "offline", "--referee", "scripted", "--all-games"
    )
    assert [each["games"] for each in found["referees"]] == [4, 4]
    assert all(each["severity"] is not None for each in found["referees"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["offline"], "name 2 to 12 players, found 1"),
        (["offline", "nobody"], "nobody"),
        (["offline", "scripted", "--games", "1"], "--games"),
        (["scripted", "scripted:silent"], "misbehaves by mail"),
    ],
)
def test_what_cannot_be_compared_is_named(words: list[str], said: str) -> None:
    found = program("compare", *words)
    assert found.exit_code in (Exit.USAGE, Exit.CONFIGURATION)
    assert said in found.stderr
