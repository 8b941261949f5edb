"""From paths to documents: folders, false names, files of every format, hostile ones among good ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from league_agents.knowledge import files
from league_agents.knowledge.corpus import (
    AddingWatcher,
    FileReport,
    add_each,
    add_files,
    corpus_statistics,
    remove_book,
    search_books,
    show_book,
)
from league_agents.knowledge.failures import DocumentRefused, UnknownBook
from league_agents.knowledge.files import files_in
from league_agents.knowledge.index import AddOutcome
from tests.support.book_files import epub_bytes, lines_of, pdf_bytes

WORDS = (
    "The {} lay on the sand with its keel in the air. Nobody had sailed it since the winter, and the children used it "
    "as a house, a castle and a shop."
)
LINES = [
    "The harbour lay quiet in the early light, and nobody was to be seen on the long",
    "wooden pier except for an old man who mended his nets with great patience. He did",
    "not look up when the strangers came.",
]


def told(report: FileReport) -> str:
    """What became of a file, in a word or with its reason."""
    return report.added.outcome.value if report.added else str(report.error).partition(": ")[2]


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with a book of every format, and things that are none."""
    folder = tmp_path / "shelf"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "a.txt").write_text(WORDS.format("boat"))
    (folder / "b.md").write_text(f"# Ships\n\n{WORDS.format('ship')}")
    (folder / "deep" / "c.html").write_text(f"<h1>Rafts</h1><p>{WORDS.format('raft')}</p>")
    (folder / "deep" / "d.epub").write_bytes(epub_bytes({"a.xhtml": f"<p>{WORDS.format('canoe')}</p>"}, title="Canoes"))
    (folder / "deep" / "er" / "e.pdf").write_bytes(pdf_bytes([lines_of(LINES)], fields={"Title": "Harbours"}))
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.txt").write_text(WORDS.format("ghost"))
    (folder / ".git").mkdir()
    (folder / ".git" / "f.txt").write_text(WORDS.format("ghost"))
    return folder


def test_a_folder_is_added_with_all_that_it_holds(shelf: Path, tmp_path: Path) -> None:
    reports = add_files([shelf], tmp_path / "k.db")
    assert [(report.path.name, told(report), report.format) for report in reports] == [
        ("a.txt", "added", "text"),
        ("b.md", "added", "markdown"),
        ("c.html", "added", "html"),
        ("d.epub", "added", "epub"),
        ("e.pdf", "added", "pdf"),
    ]
    assert [report.pages for report in reports] == [None, None, None, None, 1]
    found = corpus_statistics(tmp_path / "k.db")
    assert found is not None
    assert (found.books, found.passages, found.languages) == (5, 5, {"en": 5})
    assert found.formats == {"epub": 1, "html": 1, "markdown": 1, "pdf": 1, "text": 1}
    assert [hit.passage.book for hit in search_books("canoes", tmp_path / "k.db")] == ["Canoes"]


def test_a_known_file_is_not_read_again_even_under_another_name(shelf: Path, tmp_path: Path) -> None:
    add_files([shelf], tmp_path / "k.db")
    moved = shelf / "deep" / "er" / "e.pdf"
    moved.rename(tmp_path / "renamed.pdf")
    assert {told(report) for report in add_files([shelf, tmp_path / "renamed.pdf"], tmp_path / "k.db")} == {"unchanged"}
    (report,) = add_files([tmp_path / "renamed.pdf"], tmp_path / "k.db")
    assert report.added is not None
    assert (report.added.title, report.format) == ("Harbours", None)  # the bytes were enough


def test_the_same_text_in_another_format_is_known_too(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<h1>Boats</h1><p>{WORDS.format('boat')}</p>")
    (tmp_path / "b.epub").write_bytes(epub_bytes({"a.xhtml": f"<h1>Boats</h1><p>{WORDS.format('boat')}</p>"}))
    assert [told(report) for report in add_files([tmp_path], tmp_path / "k.db")] == ["added", "unchanged"]


def test_a_changed_file_replaces_what_it_was_even_under_another_title(tmp_path: Path) -> None:
    path, index = tmp_path / "a.md", tmp_path / "k.db"
    path.write_text(f"# Boats\n\n{WORDS.format('boat')}")
    add_files([path], index)
    path.write_text(f"# Rafts\n\n{WORDS.format('raft')}")
    (report,) = add_files([path], index)
    assert report.added is not None
    assert (report.added.outcome, report.added.title) == (AddOutcome.REPLACED, "Rafts")
    assert search_books("boat", index) == []
    path.write_text(f"# Boats\n\n{WORDS.format('boat')}")
    assert [told(report) for report in add_files([path], index)] == ["replaced"]


def test_a_book_that_another_file_holds_as_well_outlives_the_change_of_one(tmp_path: Path) -> None:
    one, two, index = tmp_path / "a.md", tmp_path / "b.md", tmp_path / "k.db"
    for path in (one, two):
        path.write_text(f"# Boats\n\n{WORDS.format('boat')}")
    two.write_text(two.read_text() + "\n")  # other bytes, the same text but for a line's end
    add_files([one, two], index)
    one.write_text(f"# Rafts\n\n{WORDS.format('raft')}")
    add_files([one], index)
    assert [hit.passage.book for hit in search_books("boat", index)] == ["Boats"]
    assert [hit.passage.book for hit in search_books("raft", index)] == ["Rafts"]


def test_hostile_files_are_named_and_the_others_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    (folder / "b.epub").write_bytes(epub_bytes({"a.xhtml": "<p>Words.</p>"})[:200])
    (folder / "c.pdf").write_text("<html>Please log in</html>")
    (folder / "d.html").write_text("<script>only()</script>")
    (folder / "e.txt").write_bytes(b"\x00\xff\x00")
    (folder / "f.md").write_text("")
    (folder / "g.txt").symlink_to(folder / "g.txt")
    (folder / "h.txt").symlink_to(folder / "nowhere.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "z.txt").write_text(WORDS.format("boat"))
    reports = add_files([folder], tmp_path / "k.db")
    assert [(report.path.name, told(report)) for report in reports] == [
        ("a.pdf", "is a broken PDF file"),
        ("b.epub", "is a broken EPUB (its archive cannot be read)"),
        ("c.pdf", "is named like a PDF file and is none"),
        ("d.html", "holds no text"),
        ("e.txt", "is binary (it holds NUL bytes), not text; save the book as plain text in UTF-8"),
        ("f.md", "is empty"),
        ("g.txt", "cannot be read: too many levels of symbolic links"),
        ("h.txt", "cannot be read: no such file or directory"),
        ("z.txt", "added"),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no names that are no text")
def test_a_name_that_is_no_text_does_no_harm(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 \xff.txt"))
    path.write_text(WORDS.format("boat"))
    (report,) = add_files([path], tmp_path / "k.db")
    assert report.added is not None
    assert report.added.title == "caf� �"
    assert [told(again) for again in add_files([path], tmp_path / "k.db")] == ["unchanged"]


def test_a_folder_without_books_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (refused,) = files_in([tmp_path / "empty"])
    assert isinstance(refused, DocumentRefused)
    assert ".epub" in str(refused)


def test_a_folder_of_too_many_files_is_cut_and_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.txt").touch()
    found = list(files_in([tmp_path]))
    assert [type(each).__name__ for each in found][-1] == "DocumentRefused"
    assert len(found) == 4


def test_folders_deeper_than_any_shelf_are_not_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_DEPTH", 2)
    deep = tmp_path / "1" / "2" / "3"
    deep.mkdir(parents=True)
    (deep / "a.txt").touch()
    (tmp_path / "1" / "b.txt").touch()
    assert [each.name for each in files_in([tmp_path]) if isinstance(each, Path)] == ["b.txt"]


def test_what_was_added_stays_when_whoever_adds_stops(shelf: Path, tmp_path: Path) -> None:
    adding = add_each([shelf], tmp_path / "k.db")
    assert told(next(adding)) == "added"
    adding.close()
    found = corpus_statistics(tmp_path / "k.db")
    assert found is not None
    assert found.books == 1


def test_a_watcher_is_told_of_every_file_and_page(shelf: Path, tmp_path: Path) -> None:
    events: list[str] = []

    class Notes(AddingWatcher):
        def begins(self, files: int) -> None:
            events.append(f"begins {files}")

        def opens(self, path: Path) -> None:
            events.append(f"opens {path.name}")

        def reads(self, pages: int) -> None:
            events.append(f"reads {pages}")

        def is_done_with(self, path: Path) -> None:
            events.append(f"done with {path.name}")

    list(add_each([shelf / "deep" / "er"], tmp_path / "k.db", watcher=Notes()))
    assert events == ["begins 1", "opens e.pdf", "reads 1", "done with e.pdf"]


def test_searching_and_counting_create_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data" / "k.db"
    assert search_books("boat", path) == []
    assert corpus_statistics(path) is None
    with pytest.raises(UnknownBook):
        search_books("boat", path, book="Boats")
    assert not path.parent.exists()


def test_a_search_in_a_book_that_is_not_there_suggests_one(shelf: Path, tmp_path: Path) -> None:
    add_files([shelf], tmp_path / "k.db")
    assert [hit.passage.book for hit in search_books("winter", tmp_path / "k.db", book="ships")] == ["Ships"]
    with pytest.raises(UnknownBook, match="did you mean Ships"):
        search_books("winter", tmp_path / "k.db", book="Shops")


def test_what_the_caller_says_and_what_the_letters_say_beat_what_a_page_says(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    hebrew = "הסירה שכבה על החול ואיש לא הפליג בה מאז החורף. הילדים השתמשו בה כבית, כטירה וכחנות. " * 3
    path.write_text(f'<html lang="en"><meta name="author" content="Ann"><h1>סירות</h1><p>{hebrew}</p></html>')
    add_files([path], tmp_path / "one.db")
    found = corpus_statistics(tmp_path / "one.db")
    assert found is not None
    assert found.languages == {"he": 1}
    add_files([path], tmp_path / "two.db", title="Mine", author="Bob", language="yi")
    (hit,) = search_books("סירה", tmp_path / "two.db")
    assert hit.passage.book == "Mine"


def test_two_files_that_begin_with_the_same_heading_are_two_books(tmp_path: Path) -> None:
    one, two, index = tmp_path / "l1.md", tmp_path / "l2.md", tmp_path / "k.db"
    one.write_text(f"# Introduction\n\n{WORDS.format('boat')}")
    two.write_text(f"# Introduction\n\n{' '.join(LINES)}")
    titles = [report.added.title for report in add_files([one, two], index) if report.added]
    assert titles == ["Introduction", "Introduction (l2)"]
    assert [hit.passage.book for hit in search_books("boat", index)] == ["Introduction"]
    two.write_text(two.read_text().replace("harbour", "haven"))
    (report,) = add_files([two], index)
    assert report.added is not None
    assert (report.added.outcome, report.added.title) == (AddOutcome.REPLACED, "Introduction (l2)")


def test_namesakes_in_folders_of_the_same_names_are_told_apart_by_number(tmp_path: Path) -> None:
    carts = (
        "The carts stood on the road all day long. Nobody had driven one since the war was lost, and the farmers kept "
        "their hens and their rakes in them."
    )
    for number, text in enumerate((WORDS.format("boat"), carts, " ".join(LINES))):
        (tmp_path / f"f{number}").mkdir()
        (tmp_path / f"f{number}" / "a.md").write_text(f"# Overview\n\n{text}")
    reports = add_files([tmp_path / f"f{number}" for number in range(3)], tmp_path / "k.db")
    assert [report.added.title for report in reports if report.added] == ["Overview", "Overview (a)", "Overview (a 2)"]


def test_a_later_version_under_another_name_replaces_the_book(tmp_path: Path) -> None:
    one, two, index = tmp_path / "v1.md", tmp_path / "v2.md", tmp_path / "k.db"
    one.write_text(f"# Boats\n\n{WORDS.format('boat')}")
    two.write_text(f"# Boats\n\n{WORDS.format('boat')}\n\n{' '.join(LINES)}")
    assert [told(report) for report in add_files([one, two], index)] == ["added", "replaced"]


def test_a_page_whose_first_heading_only_counts_is_called_what_it_says_of_itself(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<title>Boats</title><h1>Chapter 1</h1><p>{WORDS.format('boat')}</p>")
    (report,) = add_files([tmp_path / "a.html"], tmp_path / "k.db")
    assert report.added is not None
    assert report.added.title == "Boats"


def test_a_book_is_found_by_the_name_of_its_file_too(tmp_path: Path) -> None:
    path, index = tmp_path / "novel.md", tmp_path / "k.db"
    path.write_text(f"# Boats\n\n{WORDS.format('boat')}")
    add_files([path], index)
    assert [show_book(name, index).book.title for name in ("novel", "novel.md")] == ["Boats", "Boats"]
    with pytest.raises(UnknownBook):
        remove_book("nove", index)
    assert remove_book("novel", index).title == "Boats"


def test_a_file_s_name_that_two_books_have_names_neither(tmp_path: Path) -> None:
    for folder, word in (("a", "boat"), ("b", "raft")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "novel.md").write_text(f"# The {word}\n\n{WORDS.format(word)}")
    add_files([tmp_path / "a", tmp_path / "b"], tmp_path / "k.db")
    with pytest.raises(UnknownBook):
        remove_book("novel", tmp_path / "k.db")
