"""Convert right-to-left lines to reading order.

A page stores positioned characters, not ordered words. Hebrew and Arabic run from the right, Latin words and numbers
inside them from the left. Rule: the positions decide, because PDF writers store such lines in any order.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from statistics import median
from typing import NamedTuple

MIN_SHARE = 0.3
"""Minimum share of right-to-left letters in a book; below it all lines run from the left, and right-to-left words
stay in stored order."""


_GAP = 0.25
"""Share of a letter's width: a wider gap between two letters is a space. In print, word gaps are 0.4 and more."""


class Sign(NamedTuple):
    """One character and its position."""

    character: str
    left: float
    right: float


@lru_cache(maxsize=4096)
def is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


@lru_cache(maxsize=4096)
def _class(character: str) -> str:
    """``R`` Hebrew and Arabic, ``L`` other letters, ``N`` digits, ``m`` a mark on a letter, ``s`` a sign that joins
    digits, ``t`` a sign next to a number, ``-`` the rest.
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
    """Return whether the lines of a text run from the right, by the share of its letters."""
    from_right = sum(map(is_right_to_left, text))
    return from_right > 0 and from_right >= MIN_SHARE * sum(map(str.isalpha, text))


def logical(signs: Iterable[Sign]) -> str:
    """Return a line of a right-to-left book in reading order, with correctly paired brackets.

    Programs store a bracket by meaning or by appearance, and readers mirror some of them, so that is ignored.
    A bracket opens after a space and before a letter, and closes the other way round.
    """
    cells = _in_reading_order(_cells(signs))
    return "".join(_righted(cells) if any(cell in _PAIR_OF for cell in cells) else cells)


_PAIR_OF = {character: pair for pair in ("()", "[]", "{}", "«»") for character in pair}
_BEHIND_CLOSED = frozenset(".,;:!?\"'׳״-–")


def _righted(cells: Sequence[str]) -> Iterator[str]:
    """Yield the cells, each bracket turned to fit its neighbours."""
    opened: list[str] = []
    for i, cell in enumerate(cells):
        pair = _PAIR_OF.get(cell)
        if pair is None:
            yield cell
            continue
        before = cells[i - 1] if i else " "
        after = cells[i + 1] if i + 1 < len(cells) else " "
        may_open, may_close = before.isspace(), after.isspace() or after in _BEHIND_CLOSED
        opens = may_open if may_open != may_close else pair not in opened
        if opens:
            opened.append(pair)
        elif pair in opened:
            opened.remove(pair)
        yield pair[0] if opens else pair[1]


def _in_reading_order(cells: Sequence[str]) -> list[str]:
    """Return the cells from the right edge to the left, with left-to-right runs reversed."""
    classes = [_class(cell[0]) for cell in cells]
    _join(classes)
    read: list[str] = []
    i = 0
    while i < len(cells):
        end = i
        while end < len(cells) and classes[end] in "LN":
            end += 1
        if end == i:
            read.append(cells[i])
            i += 1
            continue
        first, last = _with_its_brackets(cells, i, end)
        del read[len(read) - (i - first) :]
        read += reversed(cells[first:last])
        i = last
    return read


def _with_its_brackets(cells: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Extend a Latin phrase by the bracket that closes one inside it: ``f(x)`` is extended, ``(UDP)`` is not."""
    inside = [cell for cell in cells[start:end] if cell in _PAIR_OF]
    for pair in {_PAIR_OF[cell] for cell in inside}:
        if sum(_PAIR_OF[cell] == pair for cell in inside) % 2:
            if start and _PAIR_OF.get(cells[start - 1]) == pair:
                return start - 1, end
            if end < len(cells) and _PAIR_OF.get(cells[end]) == pair:
                return start, end + 1
    return start, end


def _cells(signs: Iterable[Sign]) -> list[str]:
    """Return letters with their marks, from right to left, with a space for each gap.

    Zero-width spaces are dropped: the PDF reader inserted them without knowing the order of the words.
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
    """Mark the signs between the parts of a Latin phrase or of a number as belonging to it.

    ``TCP 3`` inside Hebrew is ambiguous; the more common reading is used: the number belongs to the word before it.
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
