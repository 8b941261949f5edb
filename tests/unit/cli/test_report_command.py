"""``league-agents report`` and ``dashboard``, on what a match left behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.app.offline import play_single_game
from league_agents.cli import command_line
from league_agents.cli.dashboard import TOKEN_VARIABLE
from league_agents.cli.screen import document_text
from league_agents.games.q21.rules import PRD

GAME = "0101001"
SOURCES = ("m.league-office.db", "m.referee.house.db", "match.json", ".")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journals and the record of one match."""
    place = tmp_path_factory.mktemp("match")
    document = play_single_game(
        seed=3, rules=PRD, referee="scripted", player_a="scripted", player_b="scripted", journal=place / "m.db"
    )
    (place / "match.json").write_text(document_text(document), "utf-8")
    return place


def run(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(command_line, list(words), env=environment)


@pytest.mark.parametrize("source", SOURCES)
def test_a_season_is_published_from_whatever_holds_it(source: str, folder: Path, tmp_path: Path) -> None:
    ran = run("report", "--from", str(folder / source), "--out", str(tmp_path / "out"))
    assert (ran.exit_code, ran.stderr, ran.stdout) == (0, "", f"{tmp_path / 'out' / 'index.html'}\n")
    season, match = ((tmp_path / "out" / name).read_text("utf-8") for name in ("index.html", f"matches/{GAME}.html"))
    assert f'href="matches/{GAME}.html"' in season
    assert "player-a against player-b" in match or "Player A against Player B" in match
    assert "league.test" not in season + match
    if source != "m.league-office.db":  # the league manager does not know what was asked
        assert "Call me Ishmael." in match


def test_one_match_is_published(folder: Path, tmp_path: Path) -> None:
    ran = run("report", GAME, "--from", str(folder), "--out", str(tmp_path))
    assert ran.stdout == f"{tmp_path / 'matches' / GAME}.html\n"
    ran = run("report", "0101009", "--from", str(folder), "--out", str(tmp_path))
    assert (ran.exit_code, ran.stderr.count("\n")) == (3, 1)
    assert "0101009" in ran.stderr


def test_pages_of_matches_can_be_left_out(folder: Path, tmp_path: Path) -> None:
    ran = run("report", "--no-matches", "--from", str(folder), "--out", str(tmp_path))
    assert ran.stderr == "1 match has no page; --matches writes them all\n"
    assert not (tmp_path / "matches").exists()


def test_what_is_wrong_with_a_dashboard_is_one_line(folder: Path, tmp_path: Path) -> None:
    ran = run("dashboard", "--from", str(tmp_path / "nothing"))
    assert (ran.exit_code, ran.stderr.count("\n")) == (3, 1)
    ran = run("dashboard", "--from", str(folder), "--host", "0.0.0.0", "--port", "0")
    assert "add --public if everybody who has its token may look" in ran.stderr
    ran = run("dashboard", "--from", str(folder), "--public", "--port", "0", **{TOKEN_VARIABLE: "short"})
    assert (ran.exit_code, "20 to 400 printable ASCII characters" in ran.stderr) == (3, True)
    assert "short" not in ran.stderr


@pytest.mark.parametrize(("words", "chosen"), [((), ""), (("--public",), ""), (("--public",), "x" * 30)])
def test_the_token_of_a_public_dashboard_is_shown_unless_it_was_chosen(
    words: tuple[str, ...], chosen: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signal.signal", lambda number, stop: stop(number, None))  # stop as soon as it has started
    ran = run("dashboard", "--from", str(folder), "--port", "0", *words, **{TOKEN_VARIABLE: chosen})
    assert ran.exit_code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", ran.stdout)
    token = r"token: [\w-]{32}\n" if words and not chosen else ""
    reach = "everybody who has the token" if words else "this machine only"
    assert re.fullmatch(rf"serving {reach}; stop it with Ctrl-C\n{token}stopped\n", ran.stderr)


def test_a_dashboard_may_be_started_before_its_season(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signal.signal", lambda number, stop: stop(number, None))
    ran = run("dashboard", "--from", str(tmp_path), "--port", "0")
    assert ran.exit_code == 0
    assert ran.stderr.startswith("nothing to show yet: ")
