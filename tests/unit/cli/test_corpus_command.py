"""``league-agents corpus``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import command_line

TALE = """# A Tale

It was a quiet evening in the village and nobody spoke. The old man sat by the fire and told us about the sea that he
had crossed when he was young. We listened until the lamp went out and the storm came over the hills.
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tale.md").write_text(TALE, "utf-8")
    return tmp_path


def corpus(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, ["corpus", *arguments])


def test_a_book_is_added_listed_shown_and_removed(folder: Path) -> None:
    added = corpus("add", "tale.md").stdout
    assert added.startswith("added A Tale: 1 passage")
    assert "its opening (It was a quiet evening in the village and nobody…) and its passages can be targets" in added
    assert "A Tale" in corpus("list").stdout
    assert "It was a quiet evening" in corpus("show", "a tale").stdout
    assert corpus("remove", "A TALE").stdout == "removed A Tale\n"
    assert "No books yet" in corpus("list").stdout


def test_a_book_that_is_added_twice_is_said_to_be_known(folder: Path) -> None:
    corpus("add", "tale.md")
    again = corpus("add", "tale.md")
    assert again.exit_code == 0
    assert "known already, as A Tale" in again.stdout


def test_a_broken_file_is_named_and_the_others_are_added(folder: Path) -> None:
    (folder / "bad.txt").write_bytes(b"\x00\xff\x00")
    shown = corpus("add", "missing.txt", "bad.txt", "tale.md")
    assert shown.exit_code == 3
    assert "added A Tale" in shown.stdout
    first, second = shown.stderr.splitlines()
    assert "missing.txt" in first
    assert "bad.txt" in second


def test_a_title_is_for_one_file(folder: Path) -> None:
    assert corpus("add", "tale.md", "tale.md", "--title", "Mine").exit_code == 2
    assert "added Mine" in corpus("add", "tale.md", "--title", "Mine").stdout


def test_lists_and_books_as_json(folder: Path) -> None:
    assert json.loads(corpus("list", "--json").stdout) == {"books": []}
    corpus("add", "tale.md", "--author", "Nobody")
    (book,) = json.loads(corpus("list", "--json").stdout)["books"]
    assert (book["title"], book["author"], book["passages"]) == ("A Tale", "Nobody", 1)
    shown = json.loads(corpus("show", "A Tale", "--json").stdout)
    assert shown["first_passages"][0]["opening_sentence"] == "It was a quiet evening in the village and nobody spoke."


def test_a_title_with_escape_sequences_is_shown_without_them(folder: Path) -> None:
    corpus("add", "tale.md", "--title", "Evil \x1b[31m[bold]tale")
    for arguments in (["list"], ["show", "Evil [bold]tale"]):
        assert "\x1b" not in corpus(*arguments).output
    assert "[bold]tale" in corpus("list").stdout


@pytest.mark.parametrize("command", ["show", "remove"])
def test_an_unknown_book_suggests_a_near_one(folder: Path, command: str) -> None:
    corpus("add", "tale.md")
    shown = corpus(command, "a tail")
    assert (shown.exit_code, len(shown.stderr.splitlines())) == (3, 1)
    assert "A Tale" in shown.stderr


def test_a_text_without_passages_is_told_what_passages_are(folder: Path) -> None:
    (folder / "short.txt").write_text("Too short.", "utf-8")
    shown = corpus("add", "short.txt")
    assert shown.exit_code == 3
    assert "needs paragraphs of 25 words or more and 2 sentences, with empty lines between them" in shown.stderr
