"""The report on how a book was read, and openings that a person sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.knowledge.corpus import add_files, list_books, remove_book, set_opening, show_book
from league_agents.knowledge.failures import OpeningUnknown, UnknownBook
from league_agents.knowledge.index import AddOutcome, KnowledgeIndex

BOOK = """THE BOAT

Printed for A. Binder and Sons, London, 1871.

PREFACE

I wrote this book in the winter of the great frost. My friends asked me for it so often that I gave way in the end.

CHAPTER I

The boat lay on the sand with its keel in the air. Nobody had sailed it since the winter, and the children used it as
a house, a castle and a shop.

Nobody came.

CHAPTER II

A sail is a wing that stands upright in the wind. It pulls more than it is pushed, which surprises everyone who has
only ever watched from the shore.
"""
FOUND = "The boat lay on the sand with its keel in the air."
PREFACE = "I wrote this book in the winter of the great frost."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "boat.txt"
    path.write_text(BOOK, "utf-8")
    return path


@pytest.fixture
def index_path(tmp_path: Path, path: Path) -> Path:
    index_path = tmp_path / "data" / "knowledge.db"
    add_files([path], index_path, title="The Boat")
    return index_path


def opening(index_path: Path) -> str:
    with KnowledgeIndex(index_path) as index:
        found = index.opening("The Boat")
    return found.opening_sentence if found else ""


def test_the_report_names_what_was_passed_over_and_why(index_path: Path) -> None:
    reading = show_book("The Boat", index_path).reading
    assert reading is not None
    assert [(part.number, part.skipped) for part in reading.first_parts] == [
        (1, "printer's line"),
        (2, "front matter"),
        (3, None),
        (4, None),
        (5, None),
    ]
    assert reading.opens_at == 3
    assert reading.first_parts[1].heading == "PREFACE"
    assert (reading.parts, reading.passages, reading.too_short) == (5, 3, 1)
    assert reading.skipped == {"printer's line": 1, "front matter": 1}


@pytest.mark.parametrize("which", ["2", "I wrote this", "  i WROTE\tthis book "])
def test_a_person_sets_the_opening_by_number_or_by_first_words(index_path: Path, which: str) -> None:
    assert set_opening("boat", which, index_path).opening_sentence == PREFACE
    assert opening(index_path) == PREFACE
    assert [book.opening_sentence for book in list_books(index_path)] == [PREFACE]


def test_a_sentence_within_a_passage_can_be_the_opening(index_path: Path) -> None:
    set_opening("The Boat", "It pulls more", index_path)
    assert opening(index_path).startswith("It pulls more than it is pushed")


def test_the_same_file_keeps_its_opening_when_it_is_added_again(index_path: Path, path: Path) -> None:
    set_opening("The Boat", "2", index_path)
    (again,) = add_files([path], index_path)
    assert again.added is not None
    assert (again.added.outcome, again.added.opening_sentence) == (AddOutcome.UNCHANGED, PREFACE)
    remove_book("The Boat", index_path)
    (again,) = add_files([path], index_path, title="The Boat")
    assert again.added is not None
    assert (again.added.outcome, again.added.opening_sentence) == (AddOutcome.ADDED, PREFACE)


def test_a_later_version_that_divides_the_file_otherwise_keeps_the_opening(
    index_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_opening("The Boat", "2", index_path)
    for module in ("files", "index"):
        monkeypatch.setattr(f"league_agents.knowledge.{module}.DIVISION_VERSION", 99)
    (again,) = add_files([path], index_path, title="The Boat")
    assert again.added is not None
    assert (again.added.outcome, again.added.opening_sentence) == (AddOutcome.REPLACED, PREFACE)


def test_the_opening_that_was_found_can_be_had_back(index_path: Path, path: Path) -> None:
    set_opening("The Boat", "2", index_path)
    assert set_opening("The Boat", None, index_path).opening_sentence == FOUND
    remove_book("The Boat", index_path)
    add_files([path], index_path, title="The Boat")
    assert opening(index_path) == FOUND


def test_a_changed_file_is_another_text_and_opens_as_found(index_path: Path, path: Path) -> None:
    set_opening("The Boat", "2", index_path)
    path.write_text(BOOK.replace("a castle", "a tower"), "utf-8")
    add_files([path], index_path, title="The Boat")
    assert opening(index_path) == FOUND


@pytest.mark.parametrize(
    ("which", "reason"),
    [
        ("99", "has no part 99 in its list"),
        ("0", "has no part 0 in its list"),
        ("Call me Ishmael", "has no sentence that begins so"),
        ("wrote this book", "has no sentence that begins so"),
    ],
)
def test_an_opening_that_the_book_does_not_have_is_refused(index_path: Path, which: str, reason: str) -> None:
    with pytest.raises(OpeningUnknown, match=reason):
        set_opening("The Boat", which, index_path)
    assert opening(index_path) == FOUND


def test_an_unknown_book_has_no_opening_to_set(tmp_path: Path) -> None:
    with pytest.raises(UnknownBook):
        set_opening("The Boat", "1", tmp_path / "none.db")
