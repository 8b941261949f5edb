"""What stands behind ``league-agents corpus``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.knowledge.corpus import add_files, default_index_path, list_books, remove_book, show_book
from league_agents.knowledge.failures import DocumentRefused, UnknownBook
from league_agents.knowledge.index import AddOutcome

TEXT = """# On Boats

The boat lay on the sand with its keel in the air. Nobody had sailed it since the winter, and the children used it as
a house, a castle and a shop.

## Sails

A sail is a wing that stands upright in the wind. It pulls more than it is pushed, which surprises everyone who has
only ever watched from the shore.
"""


@pytest.fixture
def boats(tmp_path: Path) -> Path:
    path = tmp_path / "boats.md"
    path.write_text(TEXT)
    return path


@pytest.fixture
def index_path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "knowledge.db"


def test_books_are_added_listed_shown_and_removed(boats: Path, index_path: Path) -> None:
    (report,) = add_files([boats], index_path)
    assert report.error is None
    assert report.added is not None
    assert (report.added.outcome, report.added.title, report.added.passages) == (AddOutcome.ADDED, "On Boats", 2)
    assert [book.title for book in list_books(index_path)] == ["On Boats"]
    shown = show_book("on boats", index_path, first=1)
    assert [(chapter.heading, chapter.passages) for chapter in shown.chapters] == [("On Boats", 1), ("Sails", 1)]
    assert [p.opening_sentence for p in shown.first_passages] == ["The boat lay on the sand with its keel in the air."]
    assert remove_book("On Boats", index_path).title == "On Boats"
    assert list_books(index_path) == []


def test_a_file_that_is_refused_does_not_keep_the_others_out(tmp_path: Path, boats: Path, index_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    reports = add_files([empty, boats, tmp_path / "missing.txt", boats], index_path)
    assert [report.added and report.added.outcome for report in reports] == [
        None,
        AddOutcome.ADDED,
        None,
        AddOutcome.UNCHANGED,
    ]
    assert [type(report.error) for report in reports] == [DocumentRefused, type(None), DocumentRefused, type(None)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names themselves")
def test_a_file_whose_name_is_no_text_is_added_under_the_title_that_is_given(
    tmp_path: Path, boats: Path, index_path: Path
) -> None:
    odd = tmp_path / os.fsdecode(b"\xff\xfe.txt")
    paragraphs = boats.read_text(encoding="utf-8").splitlines()[2:]
    odd.write_text("\n".join(paragraphs), encoding="utf-8")
    (refused,) = add_files([odd], index_path)
    assert "has no title; give one with --title" in str(refused.error)
    (report,) = add_files([odd], index_path, title="On Boats")
    assert report.added is not None
    assert report.added.title == "On Boats"


def test_title_and_author_can_be_given_for_one_file(boats: Path, index_path: Path) -> None:
    add_files([boats], index_path, title="My Boats", author="Ann")
    assert [(book.title, book.author) for book in list_books(index_path)] == [("My Boats", "Ann")]
    with pytest.raises(ConfigError, match="one file"):
        add_files([boats, boats], index_path, title="My Boats")


def test_looking_creates_nothing(index_path: Path) -> None:
    assert list_books(index_path) == []
    with pytest.raises(UnknownBook):
        show_book("Emma", index_path)
    with pytest.raises(UnknownBook):
        remove_book("Emma", index_path)
    assert not index_path.parent.exists()


def test_an_unknown_book_is_answered_with_near_titles(boats: Path, index_path: Path) -> None:
    add_files([boats], index_path)
    with pytest.raises(UnknownBook, match="did you mean On Boats"):
        show_book("On Goats", index_path)
    with pytest.raises(UnknownBook, match="did you mean On Boats"):
        remove_book("Boat", index_path)


def test_the_index_lies_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "mine"))
    assert default_index_path() == tmp_path / "mine" / "knowledge.db"
    (tmp_path / "mine").write_text("a file")
    with pytest.raises(ConfigError, match="name a folder"):
        default_index_path()
    monkeypatch.delenv("LEAGUE_AGENTS_DATA")
    assert default_index_path().name == "knowledge.db"
