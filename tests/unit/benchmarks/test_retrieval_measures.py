"""What measures the knowledge measures what it says."""

from __future__ import annotations

import pytest

from benchmarks.retrieval import (
    FORMATS,
    HINTS,
    invented_document,
    measure_ingestion,
    measure_recall,
    measure_search,
    printed,
)
from league_agents.kit.draw import Draw
from league_agents.knowledge.passages import passages
from league_agents.knowledge.words import content_words

BOOKS = [invented_document(f"Book {number}", 40, "test") for number in range(2)]


def test_an_invented_book_is_the_same_every_time_and_all_of_it_can_be_played() -> None:
    assert invented_document("Book 0", 40, "test") == BOOKS[0]
    assert len(passages(BOOKS[0])) == 40


@pytest.mark.parametrize("name", ["shortened", "paraphrased"])
def test_hints_share_words_with_their_passage_and_none_with_its_opening_sentence(name: str) -> None:
    found = passages(BOOKS[0])
    hint = HINTS[name](found, 7, Draw("test", name))
    assert hint is not None
    assert content_words(hint) & content_words(found[7].text)
    assert not content_words(hint) & content_words(found[7].opening_sentence)
    assert HINTS[name](found, 7, Draw("test", name)) == hint


def test_a_passage_is_found_by_its_own_words() -> None:
    found = measure_recall(BOOKS, HINTS["shortened"], hints_per_book=10, knows_book=False)
    assert found.hints == 20
    assert found.at[1] >= 0.9
    assert found.at[1] <= found.at[5] <= found.at[10] <= 1


def test_the_same_pages_are_read_from_every_format() -> None:
    assert len(printed(BOOKS[0])) > 3
    speeds = {ending: measure_ingestion(BOOKS[0], ending, copies=1) for ending in FORMATS}
    assert all(speed > 0 for speed in speeds.values())


def test_searches_are_timed() -> None:
    middle, slow = measure_search(passage_count=200, searches=20)
    assert 0 < middle <= slow < 1
