"""A title finds its book or none: a wrong book is worse than no book."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league_agents.knowledge.titles import Named, best_book, best_title, near_titles, same_author, title_key

SHELF = [
    "Pride and Prejudice",
    "Emma",
    "The Prince",
    "Moby-Dick; or, The Whale",
    "Alice's Adventures in Wonderland",
    "The Adventures of Sherlock Holmes",
    "The Memoirs of Sherlock Holmes",
    "King Henry IV, Part 1",
    "King Henry IV, Part 2",
    "Lecture 1: Protocols and Envelopes",
    "Lecture 2: Sorting",
    "Wuthering Heights",
    "Les Misérables",
    "Don Quixote",
    "紅樓夢",
    "בראשית",
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("Pride and Prejudice", "Pride and Prejudice"),
        ("pride & prejudice", "Pride and Prejudice"),
        ("  PRIDE_AND_PREJUDICE ", "Pride and Prejudice"),
        ("Pride and Predjudice", "Pride and Prejudice"),
        ("prince, the", None),
        ("Prince", "The Prince"),
        ("Moby Dick", "Moby-Dick; or, The Whale"),
        ("Moby-Dick: The Whale", "Moby-Dick; or, The Whale"),
        ("Alice in Wonderland", "Alice's Adventures in Wonderland"),
        ("Alice’s Adventures in Wonderland", "Alice's Adventures in Wonderland"),
        ("Henry IV, Part 2", "King Henry IV, Part 2"),
        ("Henry the Fourth, Part II", None),
        ("Lecture 2", "Lecture 2: Sorting"),
        ("Lecture 1: Protocols & Envelopes", "Lecture 1: Protocols and Envelopes"),
        ("Wuthering Hights", "Wuthering Heights"),
        ("Les Miserables", "Les Misérables"),
        ("紅樓夢", "紅樓夢"),
        ("בְּרֵאשִׁית", "בראשית"),
        # nothing, rather than the wrong book
        ("", None),
        ("?!", None),
        ("Gemma", None),
        ("The Princess", None),
        ("Sherlock Holmes", None),  # two books would do
        ("King Henry IV", None),  # two parts
        ("King Henry IV, Part 3", None),
        ("Lecture 3: Sorting", None),
        ("Lecture", None),
        ("Pride", None),
        ("Sense and Sensibility", None),
        ("The Adventures of Huckleberry Finn", None),
        ("Prejudice and Pride and Zombies", None),
        ("x" * 100_000, None),
    ],
)
def test_a_name_finds_its_book_or_none(wanted: str, found: str | None) -> None:
    index = best_title(wanted, SHELF)
    assert (None if index is None else SHELF[index]) == found


@given(st.text(max_size=40))
def test_any_title_finds_itself_when_it_is_alone(title: str) -> None:
    assert (best_title(title, [title]) == 0) == bool(title_key(title))


EMMA = Named("Emma", "Jane Austen")
BOOKS = [EMMA, Named("Alice's Adventures in Wonderland", "Lewis Carroll"), Named("Lecture 2: Sorting", None)]


@pytest.mark.parametrize(
    ("cover", "found"),
    [
        ("Emma, by Jane Austen", "Emma"),
        ("EMMA (J. Austen)", "Emma"),
        ("Jane Austen: Emma", "Emma"),
        ("Jane Austen's Emma", "Emma"),
        ("Jane Austen’s Emma", "Emma"),
        ("The Project Gutenberg eBook of Emma, by Jane Austen", "Emma"),
        ("Emma: A Novel (Illustrated Edition)", "Emma"),
        ("Emma, by Lord Byron", None),
        ("Lord Byron's Emma", None),
        ("Emma's Wedding", None),
        ("Alice's Adventures in Wonderland", "Alice's Adventures in Wonderland"),
        ("Lecture 3: Sorting", None),  # no author: what stands before the colon is a part of the title
        ("", None),
    ],
)
def test_a_cover_may_name_author_and_edition(cover: str, found: str | None) -> None:
    index = best_book(cover, BOOKS)
    assert (None if index is None else BOOKS[index].title) == found


@pytest.mark.parametrize("cover", ["Jane Austen's Emma", "Emma by Jane Austen", "The Project Gutenberg eBook of Emma"])
def test_a_stored_cover_with_its_author_is_found_by_the_bare_title(cover: str) -> None:
    assert best_book("Emma", [Named("Persuasion", "Jane Austen"), Named(cover, "Jane Austen")]) == 1


def test_a_slip_that_fits_two_books_equally_finds_none() -> None:
    assert best_title("The Lost Worlds", ["The Lost Worlda", "The Lost Worldb"]) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Jane Austen", "Austen", True),
        ("Austen, Jane", "Jane Austen", True),
        ("Fyodor Dostoevsky", "F. M. Dostoyevsky", True),
        ("Charlotte Brontë", "C. Bronte", True),
        ("Charlotte Brontë", "Lord Byron", False),
        ("Mark Twain", "Jane Austen", False),
        (None, "Jane Austen", True),
        ("?", "Jane Austen", True),
    ],
)
def test_authors_are_compared_by_their_last_names(one: str | None, other: str | None, same: bool) -> None:
    assert same_author(one, other) is same


def test_suggestions_are_looser_than_matches_and_best_first() -> None:
    assert near_titles("Princess", SHELF)[0] == "The Prince"
    assert near_titles("zzzz", SHELF) == ()
