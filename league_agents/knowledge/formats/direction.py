"""Lines that are written from right to left, in the order in which they are read.

A page holds signs at places, not words in order. Hebrew and Arabic run from the right, and the Latin words and numbers
inside them from the left. Rule: the places decide, because programs that write PDF files store such lines in any order.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
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


def logical(signs: Iterable[Sign]) -> str:
    """A line of a book that runs from the right, in reading order, with brackets that open and close.

    Programs store a bracket as it is meant or as it looks, and readers turn some of them round; so neither is believed.
    A bracket opens behind a space and in front of a letter, and closes the other way round.
    """
    cells = _in_reading_order(_cells(signs))
    return "".join(_righted(cells) if any(cell in _PAIR_OF for cell in cells) else cells)


_PAIR_OF = {character: pair for pair in ("()", "[]", "{}", "«»") for character in pair}
_BEHIND_CLOSED = frozenset(".,;:!?\"'׳״-–")


def _righted(cells: Sequence[str]) -> Iterator[str]:
    """The cells with every bracket turned as its neighbours want it."""
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
    """Cells from the right edge to the left, with what runs from the left turned round."""
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
    """A Latin phrase with the bracket that closes one inside it: ``f(x)`` ends in a bracket, ``(UDP)`` has none."""
    inside = [cell for cell in cells[start:end] if cell in _PAIR_OF]
    for pair in {_PAIR_OF[cell] for cell in inside}:
        if sum(_PAIR_OF[cell] == pair for cell in inside) % 2:
            if start and _PAIR_OF.get(cells[start - 1]) == pair:
                return start - 1, end
            if end < len(cells) and _PAIR_OF.get(cells[end]) == pair:
                return start, end + 1
    return start, end


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
