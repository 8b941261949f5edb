"""Lines that are written from right to left, in the order in which they are read.

A page holds signs at places, not words in order. Hebrew and Arabic run from the right, and the Latin words and numbers
inside them from the left. Rule: the places decide, because programs that write PDF files store such lines in any order.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import median
from typing import NamedTuple

MIN_SHARE = 0.3
"""Of a book's letters: with fewer right-to-left ones its lines run from the left, and words in between are left as
they come."""


_GAP = 0.25
"""Of a letter's width: more between two letters is a space. Print has 0.4 and more between words."""


class Sign(NamedTuple):
    """One character at its place."""

    character: str
    left: float
    right: float


@lru_cache(maxsize=4096)
def is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


@lru_cache(maxsize=4096)
def _class(character: str) -> str:
    """``R`` Hebrew and Arabic, ``L`` other letters, ``N`` digits, ``m`` a mark on a letter, ``s`` what joins digits,
    ``t`` what stands at a number, ``-`` the rest.
    """
    kind = unicodedata.bidirectional(character)
    if kind in ("R", "AL"):
        return "R"
    if kind == "L":
        return "L"
    if kind in ("EN", "AN"):
        return "N"
    if unicodedata.combining(character):
        return "m"
    return "s" if character in ".,:/-" else "t" if kind == "ET" else "-"


def runs_from_right(text: str) -> bool:
    """Whether a text's lines begin at the right, by the share of its letters."""
    from_right = sum(map(is_right_to_left, text))
    return from_right > 0 and from_right >= MIN_SHARE * sum(map(str.isalpha, text))


def logical(lines: Sequence[Sequence[Sign]]) -> list[str]:
    """Lines of a book that runs from the right, in reading order, with brackets that open and close.

    Some programs store a bracket as it looks, others as it is meant. Where most lines would close one before they open
    one, they are as they look and are turned round, except inside Latin phrases.
    """
    read = [_line(line) for line in lines]
    first = [next((c for c, is_latin in line if not is_latin and c in _OPENING + _CLOSING), "") for line in read]
    closes = sum(c != "" and c in _CLOSING for c in first)
    is_as_seen = closes * 2 > sum(c != "" for c in first)
    return [
        "".join(c.translate(_MIRRORED) if is_as_seen and not is_latin else c for c, is_latin in line) for line in read
    ]


_OPENING, _CLOSING = "([{<«", ")]}>»"
_MIRRORED = str.maketrans(_OPENING + _CLOSING, _CLOSING + _OPENING)


def _line(signs: Iterable[Sign]) -> list[tuple[str, bool]]:
    """Each letter with its marks, and whether it belongs to what runs from the left."""
    cells = _cells(signs)
    classes = [_class(cell[0]) for cell in cells]
    _join(classes)
    read: list[tuple[str, bool]] = []
    i = 0
    while i < len(cells):
        end = i
        while end < len(cells) and classes[end] in "LN":
            end += 1
        if end > i:
            read += [(cell, True) for cell in reversed(cells[i:end])]
            i = end
        else:
            read.append((cells[i], False))
            i += 1
    return read


def _cells(signs: Iterable[Sign]) -> list[str]:
    """Letters with their marks, from the right edge to the left, and a space wherever there is a gap.

    Spaces without a width were put in by the program that read the page, which did not know the order of the words.
    """
    bases: list[tuple[Sign, list[str]]] = []
    marks: list[Sign] = []
    for sign in signs:
        if unicodedata.combining(sign.character):
            marks.append(sign)
        elif not (sign.character.isspace() and sign.right - sign.left <= 0):
            bases.append((sign, [sign.character]))
    bases.sort(key=lambda base: -_centre(base[0]))
    for mark in marks:
        letters = [base for base in bases if base[0].character.isalpha()] or bases
        if letters:
            min(letters, key=lambda base: abs(_centre(base[0]) - _centre(mark)))[1].append(mark.character)
    wide = _GAP * median([base[0].right - base[0].left for base in bases] or [0.0])
    found: list[str] = []
    right: Sign | None = None
    for sign, cell in bases:
        has_space = sign.character.isspace() or (right is not None and right.character.isspace())
        if right is not None and not has_space and right.left - sign.right > wide:
            found.append(" ")
        found.append("".join(cell))
        right = sign
    return found


def _centre(sign: Sign) -> float:
    return (sign.left + sign.right) / 2


def _join(classes: list[str]) -> None:
    """Marks what stands between the parts of a Latin phrase or of a number as belonging to it.

    Of two ways to read ``TCP 3`` inside Hebrew the commoner is taken: the number belongs to the word before it.
    """
    for i, kind in enumerate(classes):
        if kind == "t" and (classes[i - 1 : i] == ["N"] or classes[i + 1 : i + 2] == ["N"]):
            classes[i] = "N"
    i = 0
    while i < len(classes):
        if classes[i] not in "LN":
            i += 1
            continue
        end = i + 1
        while end < len(classes) and classes[end] in "-st":
            end += 1
        if end < len(classes) and classes[end] in "LN" and end > i + 1:
            both = classes[i] + classes[end]
            if "L" in both or (end == i + 2 and classes[i + 1] == "s"):
                classes[i + 1 : end] = "L" * (end - i - 1)
        i = end
