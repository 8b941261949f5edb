"""From a hint to passages and works."""

from __future__ import annotations

import pytest

from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.documents import make_document
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.lectures import lectures
from league_agents.knowledge.passages import Passage, passages
from league_agents.knowledge.retrieval import MAX_HINT_CHARACTERS, Retriever

BOAT = """# On Boats

The boat lay on the sand with its keel in the air. Nobody had sailed it since the winter, and the children used it as
a house, a castle and a shop.

In the evening all of them went home and had their supper in silence. What they had done that day was never spoken of,
because their aunt did not approve of it in the least.

A sail is a wing that stands upright in the wind. It pulls more than it is pushed, which surprises everyone who has
only ever watched from the shore.
"""


def lecture_pages() -> list[Passage]:
    return [page for lecture in lectures() for page in passages(lecture)]


@pytest.fixture
def boats() -> KnowledgeIndex:
    index = KnowledgeIndex()
    index.add(make_document(BOAT, source="boats.md", markup="markdown"))
    return index


def test_a_hint_finds_passages_of_the_index_and_of_books_in_memory_and_works_on_one_scale(
    boats: KnowledgeIndex,
) -> None:
    retriever = Retriever(index=boats, passages=lecture_pages(), works=Catalogue.load().works)
    assert retriever.retrieve("a wing upright in the wind")[0].book == "On Boats"
    assert retriever.retrieve("the pivot of quicksort")[0].book == "Lecture 2: Sorting"
    whale = retriever.retrieve("a novel of Melville's about a whale")[0]
    assert (whale.book, whale.opening_sentence) == ("Moby-Dick", "Call me Ishmael.")
    scores = [found.score for found in retriever.retrieve("a whale in the wind, sorted")]
    assert scores == sorted(scores, reverse=True)


def test_a_passage_is_found_by_what_stands_on_the_pages_around_it(boats: KnowledgeIndex) -> None:
    found = Retriever(index=boats).retrieve("after the boat and the castle, before the wind and the shore")
    assert "In the evening all of them went home and had their supper in silence." in [
        each.opening_sentence for each in found
    ]


def test_a_search_can_be_kept_to_one_book(boats: KnowledgeIndex) -> None:
    retriever = Retriever(index=boats, passages=lecture_pages(), works=Catalogue.load().works)
    assert {found.book for found in retriever.retrieve("wind, list, pivot, whale", 50, book="On Boats")} == {"On Boats"}
    assert {found.book for found in retriever.retrieve("wind, list, pivot", 50, book="Lecture 2: Sorting")} == {
        "Lecture 2: Sorting"
    }


@pytest.mark.parametrize("hint", ["", "the of and", "zzzyx", '" OR *', "NEAR(", "\x00", "^ - + :", "()" * 5_000])
def test_a_hint_of_nothing_finds_nothing_whatever_it_is_made_of(boats: KnowledgeIndex, hint: str) -> None:
    assert Retriever(index=boats).retrieve(hint) == []


def test_an_overlong_hint_is_cut(boats: KnowledgeIndex) -> None:
    retriever = Retriever(index=boats)
    assert retriever.retrieve("x" * MAX_HINT_CHARACTERS + " keel") == []
    assert retriever.retrieve("keel " + "word " * 100_000, 1)[0].book == "On Boats"
    assert retriever.retrieve("keel", 0) == []
