"""Divide lines that run across two columns of a page.

PDFium follows the order in which a file draws its text. A file that draws row by row gives lines of both columns, which
no later step could tell from lines of one.

Rule 1: a page has columns if most of its long lines have a wide gap at the same place with words on both sides.
Rule 2: few lines are looked at before that is known, because each place on a page is asked of PDFium.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

Span = tuple[int, int]
"""The first character of a line, and the one behind its last."""

Sides = Callable[[int], tuple[float, float]]
"""Where a character begins and ends on the page, in points."""

_LEAST_LINES = 5
_SAMPLE = 8
_LONG_LINE = 40
_LEAST_WORDS = 2
"""Words on either side of a gap; a table of names and numbers has fewer."""

_LEAST_CHARACTERS = 12
_WIDE_GAP = 9.0
"""Points; a space in justified text is narrower."""

_SAME_PLACE = 8.0
_MOST_OF_THEM = 0.6


def in_columns(text: str, spans: Sequence[Span], sides: Sides) -> list[Span]:
    """Return the lines with those across two columns divided, the left column before the right one."""
    long_lines = [span for span in spans if span[1] - span[0] >= _LONG_LINE]
    if len(long_lines) < _LEAST_LINES:
        return list(spans)
    step = max(1, len(long_lines) // _SAMPLE)
    sample = long_lines[::step][:_SAMPLE]
    gaps = [gap for span in sample if (gap := _gap(text, span, sides)) is not None]
    if len(gaps) < _MOST_OF_THEM * len(sample):
        return list(spans)
    gutter = median(place for _, place in gaps)
    if sum(abs(place - gutter) <= _SAME_PLACE for _, place in gaps) < _MOST_OF_THEM * len(sample):
        return list(spans)
    return _ordered(text, spans, sides, gutter)


def _gap(text: str, span: Span, sides: Sides, gutter: float | None = None) -> tuple[int, float] | None:
    """Return the space at a wide gap, and where the right column begins; ``None`` without one."""
    start, stop = span
    at = text.find(" ", start + _LEAST_CHARACTERS if gutter is None else start + 1, stop)
    while at != -1:
        after = at + 1
        while after < stop and text[after] == " ":
            after += 1
        if after >= stop:
            return None
        left, right = sides(at - 1)[1], sides(after)[0]
        if gutter is None:
            is_gap = right - left >= _WIDE_GAP and _has_words(text, span, at)
        else:
            is_gap = right - left >= _WIDE_GAP / 2 and abs(right - gutter) <= _SAME_PLACE
        if is_gap:
            return at, right
        at = text.find(" ", after, stop)
    return None


def _has_words(text: str, span: Span, at: int) -> bool:
    sides = text[span[0] : at], text[at : span[1]]
    return all(len(side.split()) >= _LEAST_WORDS and len(side.strip()) >= _LEAST_CHARACTERS for side in sides)


def _ordered(text: str, spans: Sequence[Span], sides: Sides, gutter: float) -> list[Span]:
    """Divide the lines at the gutter; a line across it ends the columns above."""
    found: list[Span] = []
    left: list[Span] = []
    right: list[Span] = []
    for span in spans:
        gap = _gap(text, span, sides, gutter)
        if gap is not None:
            left.append((span[0], gap[0]))
            right.append((gap[0] + 1, span[1]))
            continue
        line = text[span[0] : span[1]]
        first = span[0] + len(line) - len(line.lstrip())
        last = max(first, span[0] + len(line.rstrip()) - 1)
        if sides(first)[0] >= gutter - _SAME_PLACE:
            right.append(span)
        elif sides(last)[1] <= gutter:
            left.append(span)
        else:
            found += [*left, *right, span]
            left, right = [], []
    return [*found, *left, *right]
