"""Files of strangers become documents, or one line that says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.kit.errors import LeagueError, LimitExceeded
from league_agents.knowledge import reading
from league_agents.knowledge.documents import document_of_parts, guess_language, make_document, read_document
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.layout import LineBlock
from league_agents.knowledge.reading import decode_text

CURLY = "“It’s a fine day,” she said – naïve as ever.\nHe nodded.\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)  # utf-16-le and -be carry no byte order mark
def test_a_text_is_read_in_every_common_encoding(encoding: str) -> None:
    text = "Plain words first, so that zeros show.\n" * 5 + "Café naïve.\n"
    assert decode_text(text.encode(encoding), source="book.txt") == text


def test_curly_quotes_of_old_windows_files_survive() -> None:
    assert decode_text(CURLY.encode("cp1252"), source="book.txt") == CURLY


def test_line_ends_accents_and_stray_control_characters_are_made_uniform() -> None:
    content = "One\r\ntwo\rthree\x0cfour e\u0301\x1a".encode()
    assert decode_text(content, source="book.txt") == "One\ntwo\nthree\nfour é"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \r\n ", "is empty"),
        (b"text with a \x00 in it", "is binary"),
        (bytes(range(1, 32)) * 40, "is binary"),
        (b"\x01\x02\x03\n", "is binary"),
        (b"%PDF-1.7 ...", "is a PDF file"),
        (b"PK\x03\x04...", "EPUB"),
        (b"<!DOCTYPE html><html><body>Hello</body></html>", "HTML"),
        (b'<?xml version="1.0"?>\n<html>', "HTML"),
        ("Белеет парус одинокий в тумане моря голубом.".encode("cp1251"), "unknown encoding"),
        ("בראשית ברא אלהים את השמים ואת הארץ".encode("cp1255"), "unknown encoding"),
        (b"\xff\xfea", "damaged"),
    ],
)
def test_what_is_no_text_is_refused_with_its_reason(content: bytes, says: str) -> None:
    with pytest.raises(DocumentRefused, match=says) as refusal:
        decode_text(content, source="book.txt")
    assert str(refusal.value).startswith("book.txt: ")
    assert "\n" not in str(refusal.value)


def test_a_file_above_the_limit_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_DOCUMENT_BYTES", 10)
    big = tmp_path / "big.txt"
    big.write_text("eleven bytes")
    with pytest.raises(LimitExceeded) as refusal:
        read_document(big)
    assert refusal.value.limit == 10


@pytest.mark.parametrize("name", ["missing.txt", "."])
def test_a_path_that_is_no_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(LeagueError) as refusal:
        read_document(tmp_path / name)
    assert "\n" not in str(refusal.value)


LIBRARY_FILE = """The Project Gutenberg EBook of A Tale, by A. Writer

Title: A Tale of Tests
Author: Ann Writer
Language: English

*** START OF THIS PROJECT GUTENBERG EBOOK A TALE ***

Produced by Somebody and
a friend

A TALE OF TESTS

CHAPTER I

It began. It went on.

*** END OF THIS PROJECT GUTENBERG EBOOK A TALE ***

Licence and more licence.
"""


def test_a_librarys_header_footer_and_credits_are_no_part_of_the_book() -> None:
    document = make_document(LIBRARY_FILE, source="tale.txt")
    assert (document.title, document.author) == ("A Tale of Tests", "Ann Writer")
    assert document.text.strip().startswith("A TALE OF TESTS")
    assert "Licence" not in document.text
    assert "Produced" not in document.text


def test_a_book_that_only_speaks_of_the_library_keeps_its_words() -> None:
    text = "Chapter 1\n\nThe title was this.\nTitle: no header at all.\n\n" + "It went on and on. And on.\n\n" * 20
    document = make_document(text, source="own-book.txt")
    assert document.title == "own-book.txt"
    assert document.text == text


@pytest.mark.parametrize(
    ("text", "title", "author"),
    [
        ("PRIDE AND PREJUDICE\n\nBy Jane Austen\n\nChapter 1\n", "Pride and Prejudice", "Jane Austen"),
        ("NORTHANGER ABBEY\n\n\nby\n\nJane Austen (1803)\n", "Northanger Abbey", "Jane Austen"),
        ("One day by the sea she sat.\nShe was glad.\n", "file", None),
        (
            "Title: The Project Gutenberg eBook of Emma by Jane Austen\n*** START OF THE PROJECT GUTENBERG ***\n\nShe.",
            "Emma",
            "Jane Austen",
        ),
        ("Title: Death by Water\n*** START OF THE PROJECT GUTENBERG EBOOK ***\n\nShe sat.", "Death by Water", None),
    ],
)
def test_title_and_author_come_from_the_title_page_or_the_file_name(
    tmp_path: Path, text: str, title: str, author: str | None
) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text)
    document = read_document(path)
    assert (document.title, document.author) == (title, author)


@pytest.mark.parametrize(
    ("title", "author", "bare", "named"),
    [
        (
            "The Project Gutenberg eBook of Pride and Prejudice, by Jane Austen",
            None,
            "Pride and Prejudice",
            "Jane Austen",
        ),
        ("The Project Gutenberg E-text of Emma by Jane Austen", None, "Emma", "Jane Austen"),
        ("Project Gutenberg's Emma", None, "Emma", None),
        ("Emma | Project Gutenberg", None, "Emma", None),
        ("Emma by Jane Austen", "Austen, Jane", "Emma", None),
        ("Emma, by Jane Austen", None, "Emma", "Jane Austen"),
        ("Death by Water", None, "Death by Water", None),
        ("Death by Water", "Kerry Greenwood", "Death by Water", None),
        ("Project Gutenberg", None, "Project Gutenberg", None),
    ],
)
def test_a_librarys_name_and_the_author_are_no_part_of_a_title(
    title: str, author: str | None, bare: str, named: str | None
) -> None:
    found = document_of_parts([LineBlock("paragraph", "She sat.")], source="s", title=title, author=author)
    assert (found.title, found.author) == (bare, author or named)


def test_what_the_caller_says_wins(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(LIBRARY_FILE)
    document = read_document(path, title=" My\n Title ", author="Me", language="fr")
    assert (document.title, document.author, document.language) == ("My Title", "Me", "fr")


def test_markdown_is_told_by_the_ending_and_titled_by_its_first_heading(tmp_path: Path) -> None:
    path = tmp_path / "notes_on-things.MD"
    path.write_text("<!-- draft -->\n\n# On Things #\n\nText.\n")
    document = read_document(path)
    assert (document.title, document.markup) == ("On Things", "markdown")


def test_front_matter_names_title_and_author_and_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text('---\ntitle: "On Things"\nauthor: Ann\n---\n\nText. More text.\n')
    document = read_document(path)
    assert (document.title, document.author, document.text.strip()) == ("On Things", "Ann", "Text. More text.")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("It is a truth universally acknowledged, that the man was in want of a wife.", "en"),
        ("Longtemps, je me suis couché de bonne heure et les yeux se fermaient.", "fr"),
        ("Als Gregor Samsa eines Morgens erwachte, fand er sich und das Bett nicht.", "de"),
        ("En un lugar de la Mancha, de cuyo nombre no quiero acordarme, los hombres y el rocín.", "es"),
        ("בראשית ברא אלהים את השמים ואת הארץ", "he"),
        ("話說天下大勢，分久必合，合久必分。", "zh"),
        ("吾輩は猫である。名前はまだ無い。", "ja"),
        ("Все счастливые семьи похожи друг на друга", "ru"),
        ("12345 -- 67890", "und"),
    ],
)
def test_the_language_is_guessed_by_script_and_common_words(text: str, language: str) -> None:
    assert guess_language(text) == language
