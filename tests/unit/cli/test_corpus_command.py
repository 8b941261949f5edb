"""``league-agents corpus``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import command_line
from tests.support.book_files import lines_of, pdf_bytes

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


RAFTS = "<h1>Rafts</h1><p>The raft lay on the sand. Nobody had used it since the winter, and the children sat on it and\
 told each other about the sea.</p>"


def test_a_folder_is_added_and_summed_up(folder: Path) -> None:
    shelf = folder / "shelf"
    shelf.mkdir()
    (shelf / "a.html").write_text(RAFTS)
    (shelf / "b.pdf").write_bytes(pdf_bytes([lines_of(["Nothing to play with."])]))
    (folder / "tale.md").rename(shelf / "tale.md")
    shown = corpus("add", "shelf")
    assert shown.exit_code == 0  # something was added, and what was not is named
    first, second, summary = shown.stdout.splitlines()
    assert first.startswith("added Rafts: 1 passage")
    assert second.startswith("added A Tale: 1 passage")
    assert summary == "3 files: 2 added, 1 not used"
    assert "b.pdf: has no paragraph to play with" in shown.stderr
    again = corpus("add", "shelf/tale.md", "shelf/a.html")
    assert again.stdout.splitlines()[-1] == "2 files: 2 known already"


def test_a_folder_without_anything_of_use_is_an_error(folder: Path) -> None:
    (folder / "shelf").mkdir()
    (folder / "shelf" / "bad.txt").write_text("Too short.", "utf-8")
    assert corpus("add", "tale.md", "shelf").exit_code == 3
    assert corpus("add", ".").exit_code == 0
    assert corpus("add", ".", "shelf/bad.txt").exit_code == 3  # a file that was named itself


def test_office_files_in_a_folder_are_named_with_the_remedy(folder: Path) -> None:
    for name in ("lecture.odt", "slides.PPT", "~$lecture.odt"):
        (folder / name).write_bytes(b"PK\x03\x04 and so on")
    shown = corpus("add", ".")
    assert shown.exit_code == 0
    first, second = shown.stderr.splitlines()
    remedy = "which cannot be read; export it as PDF or text"
    assert first.endswith(f"lecture.odt: is a text document of an office program, {remedy}")
    assert second.endswith(f"slides.PPT: is an old PowerPoint presentation, {remedy}")
    assert shown.stdout.splitlines()[-1] == "3 files: 1 added, 2 not used"


def test_a_title_is_honoured_for_a_text_that_is_known(folder: Path) -> None:
    corpus("add", "tale.md")
    assert "tale.md is known already, now as The Sea" in corpus("add", "tale.md", "--title", "The Sea").stdout
    (folder / "copy.md").write_text(TALE, "utf-8-sig")  # other bytes, the same text
    again = corpus("add", "copy.md", "--title", "The Storm", "--author", "Nobody", "--language", "de")
    assert "copy.md is known already, now as The Storm" in again.stdout
    (book,) = json.loads(corpus("list", "--json").stdout)["books"]
    assert (book["title"], book["author"], book["language"]) == ("The Storm", "Nobody", "de")
    assert "is known already, as The Storm" in corpus("add", "tale.md", "--title", "The Storm").stdout


def test_a_known_text_does_not_take_another_books_title(folder: Path) -> None:
    (folder / "rafts.html").write_text(RAFTS)
    corpus("add", "tale.md", "rafts.html")
    shown = corpus("add", "tale.md", "--title", "RAFTS")
    assert shown.exit_code == 3
    assert "tale.md: is known as A Tale, and another book has the title RAFTS" in shown.stderr
    assert {book["title"] for book in json.loads(corpus("list", "--json").stdout)["books"]} == {"A Tale", "Rafts"}


def test_what_was_added_as_json(folder: Path) -> None:
    (folder / "bad.epub").write_text("no archive")
    shown = corpus("add", "tale.md", "bad.epub", "--json")
    assert shown.exit_code == 3
    good, bad = json.loads(shown.stdout)["files"]
    assert (good["file"], good["outcome"], good["title"], good["format"]) == ("tale.md", "added", "A Tale", "markdown")
    assert (bad["outcome"], bad["reason"]) == ("refused", "bad.epub: is named like an EPUB file and is none")
    assert bad["reason"] in shown.stderr


def test_a_folder_has_no_title(folder: Path) -> None:
    shown = corpus("add", ".", "--title", "Mine")
    assert (shown.exit_code, "--title is for one file at a time, found a folder" in shown.stderr) == (2, True)


def test_passages_are_searched(folder: Path) -> None:
    assert corpus("search", "fire").exit_code == 1
    corpus("add", "tale.md")
    shown = corpus("search", "the FIRE and the lamp?")
    assert shown.exit_code == 0
    assert "A Tale, A Tale, passage 1  score " in shown.stdout
    assert "“It was a quiet evening in the village and nobody spoke.”" in shown.stdout
    assert corpus("search", "submarine").stdout.startswith("No passage of your books has any of these words")
    (hit,) = json.loads(corpus("search", "fire", "--json", "--limit", "1").stdout)["hits"]
    assert (hit["book"], hit["position"], hit["opening_sentence"][:18]) == ("A Tale", 1, "It was a quiet eve")
    assert hit["score"] > 0
    assert json.loads(corpus("search", "submarine", "--json").stdout) == {"query": "submarine", "hits": []}


@pytest.mark.parametrize("query", ['"', "fire OR *", "NEAR(fire lamp)", "passage_words:fire", "-fire", "^", "fire\x00"])
def test_a_query_is_never_syntax(folder: Path, query: str) -> None:
    corpus("add", "tale.md")
    assert corpus("search", query).exit_code in (0, 1)


def test_a_search_in_an_unknown_book_suggests_one_and_a_limit_is_a_number(folder: Path) -> None:
    corpus("add", "tale.md")
    assert "A Tale" in corpus("search", "fire", "--book", "a tail").stderr
    assert "passage 1" in corpus("search", "fire", "--book", "a tale").stdout
    assert corpus("search", "fire", "--limit", "0").exit_code == 2


def test_the_index_is_summed_up(folder: Path) -> None:
    assert "No books yet" in corpus("stats").stdout
    assert json.loads(corpus("stats", "--json").stdout)["books"] == 0
    corpus("add", "tale.md")
    shown = corpus("stats").stdout
    assert "en 1" in shown
    assert "markdown 1" in shown
    found = json.loads(corpus("stats", "--json").stdout)
    assert (found["books"], found["passages"], found["formats"]) == (1, 1, {"markdown": 1})
    assert found["schema"] >= 3
    assert found["size_bytes"] > 0
    assert found["path"] == str(folder / "data" / "knowledge.db")


def test_a_hit_with_escape_sequences_is_shown_without_them(folder: Path) -> None:
    (folder / "evil.html").write_text(RAFTS.replace("The raft", "The &#27;[31mraft &#x202e;[bold]"))
    corpus("add", "evil.html")
    shown = corpus("search", "winter").stdout
    assert "[bold]" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


BOAT = """THE BOAT

Printed for A. Binder and Sons, London, 1871.

CHAPTER I

It was a quiet evening in the village and nobody spoke. The old man sat by the fire and told us about the sea that he
had crossed when he was young.

We listened until the lamp went out and the storm came over the hills.
"""


def test_the_quality_of_a_book_names_what_was_passed_over_and_its_opening_is_corrected(folder: Path) -> None:
    (folder / "boat.txt").write_text(BOAT, "utf-8")
    corpus("add", "boat.txt", "--title", "The Boat")
    shown = corpus("show", "boat", "--quality").stdout
    assert "opens with “It was a quiet evening" in shown
    assert "   1  [printer's line] Printed for A. Binder" in shown
    assert "→   2  It was a quiet evening" in shown
    assert json.loads(corpus("show", "boat", "--json").stdout)["reading"]["skipped"] == {"printer's line": 1}
    assert corpus("set-opening", "boat", "3").stdout.startswith("The Boat opens with “We listened until the lamp")
    shown = corpus("show", "boat", "--quality").stdout
    assert "opens with “We listened" in shown
    assert [line[1:5].strip() for line in shown.splitlines() if line.startswith("→")] == ["3"]
    assert corpus("set-opening", "boat", "--found").stdout.startswith("The Boat opens with “It was a quiet")


@pytest.mark.parametrize("arguments", [(), ("3", "--found"), (" ",)])
def test_an_opening_is_set_to_one_thing(folder: Path, arguments: tuple[str, ...]) -> None:
    corpus("add", "tale.md")
    shown = corpus("set-opening", "tale", *arguments)
    assert shown.exit_code == 2
    assert "say where the book opens" in shown.stderr


def test_an_opening_that_the_book_does_not_have_is_refused_in_one_line(folder: Path) -> None:
    corpus("add", "tale.md")
    shown = corpus("set-opening", "tale", "Call me Ishmael")
    assert shown.exit_code == 3
    (line,) = shown.stderr.splitlines()
    assert "A Tale: has no sentence that begins so" in line
