"""Where the books come from, and what happens to those that are not there."""

from __future__ import annotations

import weakref
from pathlib import Path

from league_agents.agents.library import Knowledge
from league_agents.knowledge.documents import Document, make_document
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.lectures import lectures


def test_without_an_index_there_are_the_lectures_and_the_catalogue() -> None:
    knowledge = Knowledge.open(None)
    assert {book.title for book in knowledge.shelf} == {document.title for document in lectures()}
    assert knowledge.work("Emma by Jane Austen") is not None


def test_an_index_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    knowledge = Knowledge.open(tmp_path / "knowledge.db")
    assert knowledge.shelf
    assert list(tmp_path.iterdir()) == []


def test_a_book_of_the_index_stands_beside_the_lectures(tmp_path: Path, village: Document) -> None:
    path = tmp_path / "knowledge.db"
    with KnowledgeIndex(path) as index:
        index.add(village)
    knowledge = Knowledge.open(path)
    volume = knowledge.volume("the village book")
    assert volume is not None
    assert volume.author == "Jo Reed"
    assert len(volume.passages) == len(volume.readings) == 150
    assert len(knowledge.shelf) == 1 + len(lectures())
    knowledge.close()


def test_a_title_of_another_author_is_no_short_form() -> None:
    hidden = "The Good Soldier"
    novel = make_document(
        "It rained.\n\nHe sat.", source="a.txt", title="The Good Soldier Švejk", author="Jaroslav Hašek"
    )
    knowledge = Knowledge(documents=[novel])
    assert knowledge.volume(hidden) is None
    named = knowledge.work(hidden)
    assert named is not None
    assert named.author == "Ford Madox Ford"
    without = knowledge.only(lambda title: title != hidden)
    assert without.work(hidden) is None
    assert without.volume(hidden) is None
    assert knowledge.volume("Good Soldier Svejk") is not None
    # Exactly this title is the shelf's own: the catalogue's longer one is another work.
    stranger = make_document("It rained.\n\nHe sat.", source="b.txt", title="Good Soldier", author="Ann Reed")
    assert Knowledge(documents=[stranger]).only(lambda title: title != hidden).work("Good Soldier") is None


def test_agents_of_one_process_share_their_books_until_the_index_is_changed(tmp_path: Path, village: Document) -> None:
    path = tmp_path / "knowledge.db"
    without = Knowledge.shared(path)
    assert Knowledge.shared(path) is without
    assert Knowledge.shared(None) is not without
    with KnowledgeIndex(path) as index:
        index.add(village)
    changed = Knowledge.shared(path)
    assert changed.volume("the village book") is not None
    assert Knowledge.shared(path) is changed
    assert without.volume("the village book") is None
    last = weakref.ref(changed)
    del changed
    assert last() is None, "nobody holds it any more"


def test_a_name_that_is_no_book_names_none() -> None:
    knowledge = Knowledge.open(None)
    assert knowledge.volume("") is None
    assert knowledge.volume("x" * 100_000) is None
    assert knowledge.work("A book nobody wrote") is None


def test_a_domain_is_found_in_other_spellings() -> None:
    knowledge = Knowledge.open(None)
    assert knowledge.domain("Colour") == "colour"
    assert knowledge.domain("color") == "colour"
    assert knowledge.domain("colours") == "colour"
    assert knowledge.domain("qwzx vrtk") is None
    assert "red" in knowledge.words_of("Colours")
    assert knowledge.words_of("") == ()


def test_a_hint_is_looked_up_in_the_index_the_lectures_and_the_catalogue(tmp_path: Path, village: Document) -> None:
    path = tmp_path / "knowledge.db"
    with KnowledgeIndex(path) as index:
        index.add(village)
    knowledge = Knowledge.open(path)
    volume = knowledge.volume(village.title)
    assert volume is not None
    passage = volume.passages[40]
    (found,) = knowledge.retrieve(passage.text, limit=1)
    assert (found.book, found.opening_sentence) == (volume.title, passage.opening_sentence)
    assert knowledge.retrieve("Ishmael goes to sea and meets a whale", 1)[0].opening_sentence == "Call me Ishmael."
    assert {each.book for each in knowledge.retrieve("a list is sorted", book="Lecture 2 sorting")} == {
        "Lecture 2: Sorting"
    }
    knowledge.close()
