"""Classify the lines of a book: headings, paragraphs, verse, and matter that is not read as prose.

Rule 1: a line is classified by its form alone; a block without special marks is a paragraph.
Rule 2: every pattern is applied to lines of limited length, because the text is untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from league_agents.knowledge.headings import (
    CHAPTER_HEADING,
    CONTENTS_HEADING,
    LONGEST_HEADING,
    is_named_part,
    is_numbered,
)
from league_agents.knowledge.lines import line_groups

Kind = Literal["heading", "subheading", "contents", "paragraph", "speech", "aside"]


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines that belong together."""

    kind: Kind
    """``subheading`` is a line in capitals: a title, or a poster in the story. ``contents`` is the heading of a list of
    chapters, ``speech`` is a paragraph below a speaker's name, ``aside`` is a block that yields no passage."""

    text: str


_ROMAN_HEADING = re.compile(
    r"(?=[IVXLC])(?:XC|XL|L?X{0,3}|C{1,3}X{0,4})(?:IX|IV|V?I{0,3})(?:\.|\.?[ \t]*$|\.?[ \t]*[—–-])"
)
_LONE_NUMBER = re.compile(r"\d{1,2}\.$")
_NUMBER_HEADING = re.compile(r"\d{1,3}\.?\s+[A-Z][^.!?]*$")
_PAGE_NUMBER = re.compile(r"[\[({–—\s-]*(?:p(?:g|age)?\.?\s*)?(?:\d{1,4}|[ivxlc]{1,7})[\])}–—\s-]*$", re.IGNORECASE)
_NOTE = re.compile(
    r"\[(?:footnotes?|illustrations?|sidenote|transcriber|note)\b|\[\^?\d{1,4}\][:\s]|\{\d+\}|\*{1,3}\s?\w",
    re.IGNORECASE,
)
_ORNAMENT = re.compile(r"[\W_]*$")
_TABLE_COLUMNS = re.compile(r"\S[ \t]{3,}\S.*?[ \t]{3,}\S|\S(?:\t|[ \t]*\|[ \t]*)\S.*?(?:\t|\|)|\.(?:[ ]?\.){3,}")
_ITALICS = re.compile(r"(?<![\w_])_(?=\S)([^_\n]{1,400}?)(?<=\S)_(?![\w_])")

_SPEAKER = re.compile(
    r"(?:[A-Z][A-Z .'’&-]{2,30}|[A-Z][A-Za-z]{0,3} ?[A-Z]?[a-z]{1,12})[.:]$"
    r"|(?!(?:MRS?|MISS|DR|REV|CAPT|COL|GEN|PROF)\b)[A-Z][A-Z'’-]{2,20}[.:]\s+(?=\S)"
)
_LONGEST_EPIGRAPH = 10
_FAR = 12
"""Columns by which the source of a quotation stands to the right of it."""

_LONGEST_SPEAKER = 32
_VERSE_WIDTH = 55
"""Verse lines end well before the margin; books are wrapped at 65 to 80 columns."""


def plain_blocks(text: str) -> Iterator[LineBlock]:
    """Yield the parts of a plain text in order."""
    for group in line_groups(text, _is_heading):
        lines = without_line_numbers(group)
        while len(lines) > 1 and _is_glued_heading(lines):
            yield LineBlock("heading", _clean(lines[0].strip()))
            lines = lines[1:]
        yield plain_block(lines)


_LEFT_NUMBER = re.compile(r"\s*(\d{1,5})\s+(?=\S)")
_RIGHT_NUMBER = re.compile(r"(?<=\S)(?:\s{3,}|\t)(\d{1,5})\s*$")
_LEAST_NUMBERED = 3


def without_line_numbers(lines: list[str]) -> list[str]:
    """Remove the numbers of verse lines: each line's at its beginning, or every few lines' in the margin.

    A table of contents has numbers too, but its lines lack marks at their ends.
    """
    left = [_LEFT_NUMBER.match(line) for line in lines]
    if len(lines) >= _LEAST_NUMBERED and all(left):
        numbers = [int(match[1]) for match in left if match]
        rests = [line[match.end() :] for line, match in zip(lines, left, strict=True) if match]
        marked = sum(rest.rstrip().endswith((",", ";", ".", ":", "!", "?", "—", "-")) for rest in rests)
        if all(b - a == 1 for a, b in pairwise(numbers)) and marked * 3 >= len(rests):
            return rests
    right = {i: match for i, line in enumerate(lines) if (match := _RIGHT_NUMBER.search(line))}
    is_every_few = all(int(match[1]) % 4 == 0 or int(match[1]) % 5 == 0 for match in right.values())
    if len(lines) < _LEAST_NUMBERED or len(right) * 2 >= len(lines) or not is_every_few:
        return lines
    return [line[: right[i].start()] if i in right else line for i, line in enumerate(lines)]


def _is_glued_heading(lines: list[str]) -> bool:
    """Return whether the first line is a heading, without a blank line below it."""
    first, second = lines[0].strip(), lines[1].strip()
    if (
        len(first) > LONGEST_HEADING
        or second[:1].islower()
        or not (CHAPTER_HEADING.match(first) or is_named_part(first))
    ):
        return False
    # Two short lines are "CHAPTER I" and its title.
    rest = " ".join(lines)
    is_long = len(rest) + 2 * sum(map(_is_han, rest)) > LONGEST_HEADING or second.startswith("[") or is_numbered(second)
    return is_long and _is_heading(first) and plain_block(lines[1:]).kind in ("paragraph", "speech", "heading", "aside")


_COUNTED_PAGE = re.compile(
    r"(?:page|slide|seite|עמוד|שקף|第)?\s*\d{1,4}\s*(?:/|of|von|מתוך)\s*\d{1,4}\s*$", re.IGNORECASE
)


def is_page_number(line: str) -> bool:
    """Return whether the line is only a page number: ``12``, ``– xiv –``, ``Page 3 of 40``."""
    if len(line) > 24 or not any(map(str.isalnum, line)):
        return False
    return _PAGE_NUMBER.match(line) is not None or _COUNTED_PAGE.match(line) is not None


def plain_block(lines: list[str]) -> LineBlock:
    """Classify adjacent lines as one block."""
    stripped = [line.strip() for line in lines]
    first = stripped[0]
    joined = " ".join(stripped[:4])
    if CONTENTS_HEADING.match(first) and len(first) < LONGEST_HEADING:
        return LineBlock("contents", "\n".join(stripped))
    if len(stripped) <= 3 and len(joined) <= LONGEST_HEADING and _is_heading(joined):
        patterns = (CHAPTER_HEADING, _ROMAN_HEADING, _LONE_NUMBER)
        numbered = is_named_part(joined) or any(pattern.match(joined) for pattern in patterns)
        return LineBlock("heading" if numbered else "subheading", _clean(joined))
    if len(stripped) == 1 and is_page_number(first):
        return LineBlock("aside", first)
    if _NOTE.match(first) or all(_ORNAMENT.match(line[:200]) and not any(map(str.isalnum, line)) for line in stripped):
        return LineBlock("aside", first)
    if is_table(lines):
        return LineBlock("aside", first)
    if 1 < len(lines) <= _LONGEST_EPIGRAPH and _has_source_at_margin(lines):
        return LineBlock("aside", joined)
    kind: Kind = "paragraph"
    if (len(stripped) > 1 or first[:3].isupper()) and (label := _SPEAKER.match(first[:60])):
        # The speaker's name in a play is not part of the speech.
        stripped = [first[label.end() :], *stripped[1:]] if label.end() < len(first) else stripped[1:]
        kind = "speech"
        if not stripped:
            return LineBlock("aside", first)
    elif len(stripped) > 1 and len(first) <= _LONGEST_SPEAKER and first.isupper() and first[-1].isalpha():
        # Perhaps a speaker: ``speeches`` knows by all blocks of the text.
        return LineBlock(kind, f"{_clean(first)}\n{plain_block(lines[1:]).text}")
    return LineBlock(kind, _clean("\n".join(stripped) if _is_verse(stripped) else unwrapped(stripped)))


def _has_source_at_margin(lines: list[str]) -> bool:
    """Return whether the last line stands far to the right: the source of a quotation, or a signature."""
    last = lines[-1].strip()
    indents = [len(line) - len(line.lstrip()) for line in lines]
    return indents[-1] >= max(indents[:-1]) + _FAR and len(last.split()) <= 5 and last.lstrip('_—–-("“')[:1].isupper()


def _is_heading(line: str) -> bool:
    if is_named_part(line):
        return True
    if numbered := CHAPTER_HEADING.match(line):
        if line[numbered.end() :].lstrip()[:1].islower():
            return False
        # "Book I like" and "Chapter 3 was short." are prose.
        return not line.endswith((",", ";")) and (line[0].isupper() or not line[0].isascii()) and not _reads_on(line)
    if _ROMAN_HEADING.match(line):
        return len(line) <= 60 and not line.endswith((",", ";", "!", "?")) and not line.startswith("I. ")
    if _LONE_NUMBER.match(line):
        return True
    if _NUMBER_HEADING.match(line):
        return len(line) <= 60
    # Capitals alone; a shout ("STOP!") or a telegram ends in a mark that headings lack.
    if not line.isupper() or len(line.split()) > 12 or line.startswith(('"', "“", "'", "‘", "(", "[")):
        return False
    return not line.endswith(("!", "?", ",", ";", '"', "”", ":", "-", "—"))


def _reads_on(line: str) -> bool:
    """Return whether a line that begins like a heading is a sentence: it has small words and a final full stop."""
    words = line.split()
    return (
        len(words) > 4 and line.endswith((".", "!", "?")) and sum(word[:1].islower() for word in words) * 2 > len(words)
    )


def is_table(lines: list[str]) -> bool:
    return sum(_TABLE_COLUMNS.search(line.strip()[:400]) is not None for line in lines) * 2 > len(lines)


def _is_verse(lines: list[str]) -> bool:
    if len(lines) < 3 or max(map(len, lines)) > _VERSE_WIDTH:
        return False
    capitals = sum(line.lstrip("\"'“‘(_—-")[:1].isupper() for line in lines)
    return capitals * 4 >= len(lines) * 3


def unwrapped(lines: list[str]) -> str:
    """Join hard-wrapped lines; a word or dash broken at the margin is joined without a space."""
    if len(lines) == 1:
        return lines[0]
    parts = [lines[0]]
    for previous, line in pairwise(lines):
        han = _is_han(previous[-1:]) and _is_han(line[:1])
        tight = (
            previous.endswith(("--", "—"))
            or line.startswith("--")
            or (previous.endswith("-") and line.startswith("-"))
            or (previous.endswith("-") and previous[-2:-1].isalpha())
        )
        parts.append(line if han or tight else f" {line}")
    return "".join(parts)


def _is_han(character: str) -> bool:
    return "\u3000" <= character <= "\u9fff" or "\uff00" <= character <= "\uffef"


def _clean(text: str) -> str:
    """Return single spaces and no ``_italics_`` marks: those are the transcriber's, not the author's."""
    text = _ITALICS.sub(r"\1", text) if "_" in text else text
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))
