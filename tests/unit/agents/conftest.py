"""A book that is small, deterministic and ours: every paragraph is put together from lists of words."""

from __future__ import annotations

import pytest

from league_agents.agents.library import Knowledge
from league_agents.kit.draw import Draw
from league_agents.knowledge.documents import Document, make_document

WHO = (
    "The miller",
    "Old Anna",
    "A sailor",
    "My brother",
    "The widow Grant",
    "Captain Reed",
    "Nobody",
    "Every child",
    "She",
    "He",
)
DID = ("carried", "sold", "forgot", "painted", "buried", "found", "lost", "praised", "mended", "stole")
WHAT = (
    "a lantern",
    "the red boat",
    "two geese",
    "an iron kettle",
    "the violin",
    "her blue coat",
    "his knife",
    "a rose",
    "the letter",
    "much bread",
)
WHERE = (
    "by the river",
    "under the oak",
    "behind the church",
    "in the snow",
    "near the harbour",
    "at the fair",
    "on the stairs",
    "beyond the hill",
)
WHEN = ("at dawn", "last winter", "before supper", "without a word", "for three days", "again", "too late", "on Sunday")
SPEECH = (
    "“Who is there?” asked a voice.",
    "It was quiet.",
    "Nobody laughed; the wind rose.",
    "“Never!” cried Tom.",
    "Then rain fell, and the road was empty.",
)


def paragraph(draw: Draw) -> str:
    parts = [
        f"{draw.choice(WHO)} {draw.choice(DID)} {draw.choice(WHAT)} {draw.choice(WHERE)} {draw.choice(WHEN)}."
        for _ in range(3)
    ]
    return " ".join([parts[0], draw.choice(SPEECH), parts[1], draw.choice(SPEECH), parts[2]])


@pytest.fixture(scope="session")
def village() -> Document:
    """A book of 150 paragraphs in three chapters."""
    draw = Draw(5, "village")
    chapters = (f"## Chapter {n}\n\n" + "\n\n".join(paragraph(draw) for _ in range(50)) for n in (1, 2, 3))
    return make_document(
        "# The Village Book\n\n" + "\n\n".join(chapters), source="village.md", markup="markdown", author="Jo Reed"
    )


@pytest.fixture(scope="session")
def knowledge(village: Document) -> Knowledge:
    """The village book and the bundled catalogue."""
    return Knowledge(documents=[village])
