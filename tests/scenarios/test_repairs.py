"""What a match makes of an agent's results, and what the author is told of it: by ``run`` and by ``check`` alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import command_line

FILE = Path(__file__).with_name("checked_agents.py")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))


def run(name: str, *options: str) -> Result:
    role = "--referee" if name.endswith("Referee") else "--player-a"
    seats = {"--referee": "scripted", "--player-a": "scripted", "--player-b": "scripted"} | {role: f"{FILE}:{name}"}
    words = [word for pair in seats.items() for word in pair]
    return CliRunner().invoke(command_line, ["run", "--single-game", "--seed", "7", *words, *options])


def played(name: str) -> Any:
    shown = run(name, "--json")
    assert shown.exit_code == 0, shown.stderr
    return json.loads(shown.stdout)


def notes(name: str) -> list[str]:
    document = played(name)
    holder = document["match"] if name.endswith("Referee") else document["players"][0]
    return list(holder["notes"])


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("GoodPlayer", "kept"),
        ("GoodReferee", "kept"),
        ("DocumentPlayer", "kept"),
        ("DocumentReferee", "repaired"),
        ("WrongKeyPlayer", "repaired"),
        ("BriefPlayer", "repaired"),
        ("EmptyPlayer", "broken"),
        ("UnscoringReferee", "broken"),
    ],
)
def test_check_says_what_a_match_does(name: str, verdict: str) -> None:
    checked = CliRunner().invoke(command_line, ["check", f"{FILE}:{name}", "--valid-only", "--json"])
    report = json.loads(checked.stdout)
    assert report["verdict"] == verdict
    assert checked.exit_code == (1 if verdict == "broken" else 0)
    found = [finding for each in report["callbacks"] for finding in each["findings"]]
    told = notes(name)
    assert bool(told) == (verdict != "kept")
    for note in told:
        # Each note of the match is a finding of the check, in the same words.
        assert any(finding["rule"] in note and finding["done"] in note for finding in found), note


def test_a_referee_of_the_product_document_gives_points() -> None:
    document = played("DocumentReferee")
    assert document["match"]["status"] == "completed"
    cards = [player["scorecard"] for player in document["players"]]
    for card in cards:
        assert (card["league_points"], card["private_score"], card["is_judged"]) == (3, 90.0, True)
    text = run("DocumentReferee").stdout
    assert "both got 90.0 of 100, and the referee did not say for what" in " ".join(text.split())
    assert "neither found" not in text


def test_a_failed_scoring_is_told_as_one() -> None:
    document = played("UnscoringReferee")
    assert [player["scorecard"]["is_judged"] for player in document["players"]] == [False, False]
    text = " ".join(run("UnscoringReferee").stdout.split())
    assert "neither was judged: the referee's scoring failed" in text
    assert "neither found" not in text
    assert "get_score_feedback: league_points: must be a whole number from 0 to 3 (protocol 6.1), found 4" in text


def test_every_change_of_a_players_texts_is_told_to_its_author() -> None:
    told = " | ".join(notes("BriefPlayer"))
    assert "found 34 words; it is lengthened to 50 by neutral sentences" in told
    assert "found 't is a long sentence' at its end; it ends in '?' now" in told
    assert "must be exactly 20 questions (protocol 6.2), found 25; 5 of them are not asked" in told
    shown = run("BriefPlayer")
    assert "Notes on the agents" in shown.stdout
    assert "it is lengthened to 50" in " ".join(shown.stdout.split())
    assert "it is lengthened to 50" in " ".join(shown.stderr.split())
