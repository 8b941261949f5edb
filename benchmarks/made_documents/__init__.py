"""Documents in the layouts of real files, each with the sentence it opens with: material of ``benchmarks.documents``.

Rule: the layouts are those of digital libraries, word processors and course pages; the texts are in the public domain
or made for this. Part ``tuned`` was looked at while the code was written; ``held_out`` and ``later_layouts`` were
written afterwards. Names say the kind of file; ``kinds`` writes those that are no text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PARTS = ("tuned", "held_out", "later_layouts")
STILL_WRONG = frozenset(("play-brackets.txt", "play-caps-line.txt", "play-german.txt"))
"""Excerpts of plays with fewer than six speeches, which are too few to tell a play from other text."""

_HEAD = re.compile(r"^===== (?P<name>\S+) opens: (?P<opening>[^\n]+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MadeDocument:
    """A file's name and text."""

    name: str
    text: str
    opening: str
    """The first words of the sentence that it opens with."""


def made_documents(part: str) -> list[MadeDocument]:
    """The documents of one of ``PARTS``: text files, one below the other."""
    text = (Path(__file__).parent / f"{part}.txt").read_text(encoding="utf-8")
    fields = _HEAD.split(text)[1:]
    return [
        MadeDocument(name, content.rstrip("\n") + "\n", opening)
        for name, opening, content in zip(fields[::3], fields[1::3], fields[2::3], strict=True)
    ]
