"""Difficulty levels of a referee's matches.

Rule: difficulty affects the choice of the target and how much the hint reveals. It never affects answers or points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Difficulty(StrEnum):
    """Difficulty as written in a configuration."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """Requirements of a difficulty for the target and its hint."""

    candidates: int
    """Number of targets drawn, of which the one with the most, or least, distinct opening is taken."""

    prefers_distinct: bool
    """Whether the target with the most distinct opening is taken."""

    is_famous: bool | None
    """Whether to choose only from famous works (true) or only from others (false); ``None``: from all works."""

    hint_ranks: tuple[int, int | None]
    """First and last rank, counted from 1, at which a search with the hint must find the target in its book. A last
    rank of ``None`` also allows that it is not found.
    """

    hint_style: str
    """Instruction to a model about the style of the hint."""


DEMANDS: Mapping[Difficulty, Demands] = {
    Difficulty.EASY: Demands(
        candidates=4,
        prefers_distinct=True,
        is_famous=True,
        hint_ranks=(1, 10),
        hint_style="generous: say plainly what happens or what is explained there",
    ),
    Difficulty.MEDIUM: Demands(
        candidates=1,
        prefers_distinct=True,
        is_famous=None,
        hint_ranks=(1, 40),
        hint_style="fair: say what it is about without its particulars",
    ),
    Difficulty.HARD: Demands(
        candidates=4,
        prefers_distinct=False,
        is_famous=False,
        hint_ranks=(5, None),
        hint_style="sparing: name only the mood or the theme, so that several places of the book come to mind",
    ),
}

FAMOUS = frozenset(
    {
        "Pride and Prejudice", "Moby-Dick", "Adventures of Huckleberry Finn", "The Adventures of Tom Sawyer",
        "Alice's Adventures in Wonderland", "Frankenstein", "A Christmas Carol", "A Tale of Two Cities", "Macbeth",
        "Hamlet", "Romeo and Juliet", "Jane Eyre", "Wuthering Heights", "David Copperfield", "Great Expectations",
        "Oliver Twist", "Dracula", "The Picture of Dorian Gray", "Strange Case of Dr Jekyll and Mr Hyde",
        "Treasure Island", "The Time Machine", "The War of the Worlds", "Peter and Wendy", "The Wind in the Willows",
        "The Secret Garden", "Little Women", "The Wonderful Wizard of Oz", "Anne of Green Gables", "The Jungle Book",
        "The Call of the Wild", "Heart of Darkness", "The Scarlet Letter", "The Great Gatsby", "Robinson Crusoe",
        "The Hound of the Baskervilles", "Gulliver's Travels", "Ulysses", "Winnie-the-Pooh", "The Tale of Peter Rabbit",
        "The Tell-Tale Heart", "Mrs Dalloway", "El ingenioso hidalgo don Quijote de la Mancha",
        "Du côté de chez Swann", "Madame Bovary", "Les Misérables", "Les Trois Mousquetaires",
        "Le Comte de Monte-Cristo", "Die Verwandlung", "Der Prozess", "La divina commedia", "Анна Каренина",
        "Преступление и наказание", "בראשית",
    }
)  # fmt: skip
"""Titles in the catalogue whose first lines many readers know."""
