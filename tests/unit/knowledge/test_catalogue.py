"""The works that come with the package, and the rules they keep."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.catalogue.checks import check_catalogue

ENTRY: dict[str, Any] = {
    "title": "Moby-Dick",
    "author": "Herman Melville",
    "year": 1851,
    "language": "en",
    "opening_sentence": "Call me Ishmael.",
    "hint": "A vengeful captain hunts a pale giant of the sea.",
    "facts": [f"Fact number {number} is true." for number in range(5)],
    "words": [{"word": "harpoon", "domain": "weapon"}],
    "checked": None,
}
DOMAINS = {"weapon": ["harpoon", "sword"]}


def problems_with(**changes: Any) -> list[str]:
    entry = {key: value for key, value in {**deepcopy(ENTRY), **changes}.items() if value is not ...}
    return check_catalogue({"domains.json": DOMAINS, "works_a.json": [entry]})


def test_the_catalogue_of_the_package_breaks_no_rule() -> None:
    assert check_catalogue() == []


def test_the_catalogue_holds_at_least_150_works_with_openings_and_words() -> None:
    works = Catalogue.load().works
    assert len(works) >= 150
    assert len({work.opening_sentence for work in works}) == len(works)
    assert {"en", "he", "zh"} <= {work.language for work in works}


def test_the_catalogue_is_read_once() -> None:
    assert Catalogue.load() is Catalogue.load()


def test_a_sound_entry_has_no_problem() -> None:
    assert problems_with() == []
    assert problems_with(checked="exact: some-package 1.0", english_title="The Whale", year=-700) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"hint": "word " * 15 + "word"}, "16 words, the limit is 15"),
        ({"hint": "He is called something."}, "shares call with the opening sentence"),
        ({"hint": "The moby of all fishes."}, "shares mobi with the title"),
        ({"english_title": "The Sea", "title": "X"}, "shares sea with the english title"),
        ({"facts": ["Same."] * 5}, "1 different facts"),
        ({"facts": ["One.", "Two.", " ", "Four.", "Five."]}, "a fact is empty"),
        ({"year": 1929}, "not before 1929"),
        ({"year": "1851"}, "year is missing or of the wrong type"),
        ({"author": ...}, "author is missing"),
        ({"colour": "white"}, "colour is no field"),
        ({"language": "English"}, "no ISO 639"),
        ({"opening_sentence": "Call me Ishmael. Some years ago."}, "2 sentences"),
        ({"opening_sentence": "Call  me Ishmael."}, "stray white space"),
        ({"words": []}, "no associative word"),
        ({"words": [{"word": "axe", "domain": "weapon"}]}, "not among the words of 'weapon'"),
        ({"words": [{"word": "harpoon", "domain": "tool"}]}, "not in domains.json"),
        ({"words": [{"word": "harpoon", "domain": "weapon"}] * 2}, "there twice"),
        ({"words": ["harpoon"]}, "not a word with its domain"),
        ({"words": [{"word": ["x"], "domain": {}}]}, "not a word with its domain"),
        ({"checked": "yes"}, "neither null nor"),
        ({"english_title": 3}, "english_title is no text"),
    ],
)
def test_each_broken_rule_is_named(changes: dict[str, Any], says: str) -> None:
    problems = problems_with(**changes)
    assert any(says in problem for problem in problems), problems
    assert all(problem.startswith("works_a.json: ") for problem in problems)


def test_all_problems_are_listed_not_the_first() -> None:
    assert len(problems_with(year=2000, words=[], facts=[])) == 3


def test_titles_and_openings_that_come_twice_are_found_across_files() -> None:
    other = {**ENTRY, "title": "MOBY DICK"}
    third = {**ENTRY, "title": "Another"}
    files = {"domains.json": DOMAINS, "works_a.json": [ENTRY], "works_b.json": [other, third]}
    assert [problem.split(": ", 2)[1:] for problem in check_catalogue(files)] == [
        ["MOBY DICK", "the title is also in works_a.json"],
        ["MOBY DICK", "has the opening sentence of Moby-Dick"],
        ["Another", "has the opening sentence of Moby-Dick"],
    ]


@pytest.mark.parametrize("content", [None, 3, "x", [], [None], [[]], {"a": 1}])
def test_files_of_the_wrong_shape_are_problems_not_crashes(content: Any) -> None:
    assert check_catalogue({"domains.json": DOMAINS, "works_a.json": content})
    assert check_catalogue({"domains.json": content, "works_a.json": [ENTRY]})


@pytest.mark.parametrize(
    ("name", "author", "title"),
    [
        ("Pride & Prejudice", None, "Pride and Prejudice"),
        ("Emma", None, "Emma"),
        ("Emma by Jane Austen", None, "Emma"),
        ("Emma (Austen)", None, "Emma"),
        ("Jane Austen: Emma", None, "Emma"),
        ("Emma (1815)", None, "Emma"),
        ("Emma", "Austen, Jane", "Emma"),
        ("Emma", "Lord Byron", None),
        ("Emma by Lord Byron", None, None),
        ("Emma by Jane Austen", "Lord Byron", None),
        ("Moby Dick; or, The Whale", None, "Moby-Dick"),
        ("Alice in Wonderland", None, "Alice's Adventures in Wonderland"),
        ("A book that nobody wrote", None, None),
        ("", None, None),
        ("by", None, None),
        ("x by " * 50_000, None, None),
    ],
)
def test_a_work_is_found_by_title_and_author_or_not_at_all(name: str, author: str | None, title: str | None) -> None:
    found = Catalogue.load().find(name, author)
    assert (found.title if found else None) == title


def test_every_work_is_found_by_its_own_title() -> None:
    catalogue = Catalogue.load()
    assert [work.title for work in catalogue.works if catalogue.find(work.title, work.author) is not work] == []


def test_words_of_a_domain_whatever_its_case() -> None:
    catalogue = Catalogue.load()
    domain = catalogue.works[0].words[0].domain
    assert catalogue.works[0].words[0].word in catalogue.words_of(domain.upper())
    assert catalogue.words_of("no such domain") == ()
