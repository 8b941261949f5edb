"""Divide the lines of a plain text into groups: one paragraph, heading or other block each.

Rule 1: a blank line ends a group. What else does is measured on the whole text: indentation, lines of any length, or
lines that end although the next word would have fitted.
Rule 2: a rule of dashes or stars is a group of its own, also if it touches a paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

_LONG_LINE = 160
"""A file whose typical line is longer has one paragraph per line."""

_FEWEST_BLANKS = 25
"""Fewer than one blank line in so many: paragraphs are marked otherwise."""

_INDENTED_AFTER_SENTENCE = 0.7
"""Share of the indented lines that follow a complete sentence; in verse, lists and tables it is lower."""

_LEAST_WIDTH = 40
_COMPLETE = re.compile(r"[.!?…:。！？；’”\"'»)\]_*—-]$")
_SENTENCE_END = re.compile(r"(?:[.!?…。！？:]|--|—)[\"'”’»)\]_*」』]*$")
_BEGINS = re.compile(r"[\"'“‘„«»「『(\[_*—–-]*[A-ZÀ-ÞА-Я\u05d0-\u05ea\u3400-\u9fff\d]")
_OPENING_QUOTE = ('"', "“", "«", "„", "「", "‘")
_CLOSING_QUOTE = ('"', "”", "»", "“", "」", "’")
_RULE = re.compile(r"[-_=~*#+•·. \t—–]{3,200}$")
_PICTURE = re.compile(r"\[Illustration(?::[^\]]{0,500})?\]", re.IGNORECASE)
_SOURCE = re.compile(r"(?:^|[.!?…\"”»'’_])\s?(?:—|--)\s?_?(?=[A-Z., ]{3})[A-Z]+(?:[ ,.]{1,2}[A-Z]+){0,5}[.,_]{0,3}\s*$")
_EPIGRAPH_LINES = 8
_SPACES = " \u3000"


class _Style(NamedTuple):
    """How a text marks its paragraphs."""

    a_line_each: bool
    has_few_blanks: bool
    margin: int
    """The usual number of spaces before a line."""

    width: int
    """The column at which lines are wrapped."""


def line_groups(text: str, is_heading: Callable[[str], bool]) -> Iterator[list[str]]:
    """Yield the lines that belong together. ``is_heading`` tells headings where blank lines do not."""
    text = _PICTURE.sub("", text)
    text = text.strip("\r\n")
    lines = text.expandtabs(8).split("\n") if "\t" in text and "|" not in text[:2000] else text.split("\n")
    style = _style(lines)
    for group in _between_blanks(lines):
        if len(group) == 1:
            yield group
        elif style.a_line_each:
            yield from ([line] for line in group)
        else:
            yield from _divided(group, style, is_heading)


def _style(lines: list[str]) -> _Style:
    filled = [line for line in lines if line.strip()]
    lengths = sorted(len(line.rstrip()) for line in filled)
    blank = len(lines) - len(filled)
    long_lines = sum(length > _LONG_LINE for length in lengths)
    margins = Counter(_indent(line) for line in filled)
    # One line in fifty may be longer than the column: a row of a table, a line that was corrected.
    width = lengths[(len(lengths) - 1) * 49 // 50] if lengths else 0
    has_few_blanks = blank * _FEWEST_BLANKS < len(filled)
    return _Style(
        a_line_each=long_lines * (20 if has_few_blanks else 3) > len(filled),
        has_few_blanks=has_few_blanks,
        margin=margins.most_common(1)[0][0] if margins else 0,
        width=width,
    )


def _between_blanks(lines: list[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for line in lines:
        # Most lines are prose, which one look at the first character tells from a rule.
        bare = line.strip()
        is_rule = bool(bare) and not bare[0].isalnum() and _RULE.match(bare) is not None
        if bare and not is_rule:
            group.append(line)
            continue
        if group:
            yield group
            group = []
        if is_rule:
            yield [line]
    if group:
        yield group


def _divided(group: list[str], style: _Style, is_heading: Callable[[str], bool]) -> Iterator[list[str]]:
    starts = _indented_starts(group, style)
    if style.has_few_blanks and not starts:
        starts = _starts_by_room(group, style)
    starts |= {i + 1 for i, line in enumerate(group[:_EPIGRAPH_LINES]) if i + 1 < len(group) and _is_source(line)}
    if style.has_few_blanks:
        starts |= _around_headings(group, is_heading)
    first = 0
    for start in sorted(starts):
        yield group[first:start]
        first = start
    yield group[first:]


def _is_source(line: str) -> bool:
    """Return whether the line ends with the source of a quotation in capitals: ``“…” — PUBLIUS``."""
    return ("—" in line or "--" in line) and _SOURCE.search(line[-80:]) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(_SPACES))


def _indented_starts(group: list[str], style: _Style) -> set[int]:
    """Return the lines that begin a paragraph by standing further in, or out, than the others."""
    if wide := {i for i in range(1, len(group)) if group[i].startswith("\u3000")}:
        return wide  # Chinese and Japanese print
    indents = [_indent(line) for line in group]
    if len(set(indents)) == 1 and (indents[0] == style.margin or not style.has_few_blanks):
        return set()
    # A block quotation has its own margin.
    usual, count = Counter(indents).most_common(1)[0]
    margin = usual if count * 2 > len(group) and len(group) > 3 else min(style.margin, usual)
    for moved in (
        {i for i in range(1, len(group)) if indents[i] > margin},
        {i for i in range(1, len(group)) if indents[i] < margin},
    ):
        if not moved:
            continue
        # A title without a full stop may stand above the first of them.
        moved_below = moved - {1} if len(moved) > 1 and len(group[0].strip()) < _LEAST_WIDTH else moved
        complete = sum(_SENTENCE_END.search(group[i - 1].rstrip()[-8:]) is not None for i in moved_below)
        is_prose = style.has_few_blanks or max(len(line.rstrip()) for line in group) > 0.8 * style.width
        if is_prose and style.width >= _LEAST_WIDTH and complete >= _INDENTED_AFTER_SENTENCE * len(moved_below):
            return moved
    return set()


def _starts_by_room(group: list[str], style: _Style) -> set[int]:
    """Return the lines before which a line ended although the next word would have fitted."""
    if style.width < _LEAST_WIDTH:
        return set()
    starts = set()
    for i, (previous, line) in enumerate(pairwise(group), start=1):
        above, below = previous.rstrip(), line.lstrip(_SPACES)
        if not _SENTENCE_END.search(above[-8:]) or not _BEGINS.match(below[:8]):
            continue
        first_word = below.split(maxsplit=1)[0]
        two_speakers = above.endswith(_CLOSING_QUOTE) and below.startswith(_OPENING_QUOTE)
        if two_speakers or len(above) + 1 + len(first_word) <= style.width:
            starts.add(i)
    return starts


def _around_headings(group: list[str], is_heading: Callable[[str], bool]) -> set[int]:
    """Return the headings and the lines below them."""
    starts = set()
    for i, line in enumerate(group):
        bare = line.strip()
        # A cheap look first: a heading stands alone, so it is short.
        if (
            len(bare) <= 60
            and is_heading(bare)
            and (i == 0 or _COMPLETE.search(group[i - 1].rstrip()) or i - 1 in starts)
        ):
            starts |= {i, i + 1}
    return {i for i in starts if 0 < i < len(group)}
