"""Restore paragraphs from lines on pages: join broken lines, remove running heads and page numbers.

Rule 1: positions decide, words only where positions leave a choice. A new paragraph is recognised by its indentation,
by a gap, by another size, or by a preceding line that had room left.
Rule 2: a line that recurs at the same height on several pages is a running head or foot; page numbers go as well.
Rule 3: a hyphen at a line's end is removed if the book writes the word without it elsewhere, or if its halves are not
words of the book.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from league_agents.knowledge.headings import CHAPTER_HEADING, LONGEST_HEADING
from league_agents.knowledge.layout import (
    LineBlock,
    is_page_number,
    plain_block,
    unwrapped,
)
from league_agents.knowledge.passages import count_words
from league_agents.knowledge.sentences import ends_in_abbreviation


class Line(NamedTuple):
    """One line of a page, measured in points from the side where reading begins."""

    text: str
    start: float
    end: float
    bottom: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom


class Sheet(NamedTuple):
    """One page."""

    width: float
    height: float
    lines: list[Line]


class _Measure(NamedTuple):
    """The usual measures of this book."""

    height: float
    """Height of a line in the text's main size."""

    leading: float
    """Distance from one line to the next."""

    indents: bool
    """Whether paragraphs begin with an indented line."""


_EDGE_LINES = 3
"""Number of lines at the top and at the bottom of a page that may be running heads or feet."""

_LEAST_REPEATS = 3
_SAME_HEIGHT = 3.0
"""Points by which a running head may move from page to page."""

_BIGGER, _SMALLER = 1.15, 0.88
"""Relative sizes of a heading and of a note, compared with the text."""

_OTHER_SIZE = 1.12
_WIDE_GAP = 1.35
"""Lines further apart than this multiple of the usual distance belong to different paragraphs."""

_INDENT = 0.55
"""Minimum indentation, in line heights."""

_SLIDE_SHAPE = 1.2
_WORDS_ON_SLIDE = 160
_LEAST_WORDS_OF_BULLET = 3
_ENDS = tuple(".!?…:;。！？׃")
_CLOSING = "\"'”’»)]』」*"
_BULLET = re.compile(
    r"\A(?:[•‣▪●○◦■□▶►➢➤✓✔·∙*\uf0b7\uf0a7\uf0d8o§–—-])[ \t]+(?=\S)|\A(?:\d{1,2}|[a-zא-ת])[.)][ \t]+(?=\S)"
)
_HYPHENATED = re.compile(r"([^\W\d_]+)-$")
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_DIGITS = re.compile(r"\d+")


def page_blocks(sheets: Sequence[Sheet]) -> Iterator[LineBlock]:
    """Yield the parts of a paged book. Slides give one part for each page, below its title."""
    cleaned = _without_edges(sheets)
    filled = [sheet for sheet in cleaned if sheet.lines]
    if not filled:
        return
    known = _words_of(filled)
    if _are_slides(filled):
        for sheet in filled:
            yield from _slide(sheet, known)
        return
    usual = _measure(filled)
    for paragraph in _paragraphs(filled, usual):
        yield from _parts(paragraph, usual, known)


def _are_slides(sheets: Sequence[Sheet]) -> bool:
    wide = sum(sheet.width > _SLIDE_SHAPE * sheet.height for sheet in sheets)
    words = sum(len(line.text.split()) for sheet in sheets for line in sheet.lines)
    return 2 * wide > len(sheets) and words < _WORDS_ON_SLIDE * len(sheets)


def _without_edges(sheets: Sequence[Sheet]) -> list[Sheet]:
    """Return the pages without running heads, feet and page numbers."""
    seen: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for sheet in sheets:
        for line, is_top in _edges(sheet):
            seen[_edge_key(line.text), is_top].append(line.bottom)
    repeated = {key for key, heights in seen.items() if _stand_level(heights)}
    found = []
    for sheet in sheets:
        dropped = {
            id(line)
            for line, is_top in _edges(sheet)
            if is_page_number(line.text) or (_edge_key(line.text), is_top) in repeated
        }
        kept = [line for line in sheet.lines if id(line) not in dropped]
        # A page of repeated lines only is a page that was repeated.
        whole = not kept and not all(is_page_number(line.text) for line in sheet.lines)
        found.append(Sheet(sheet.width, sheet.height, sheet.lines if whole else kept))
    return found


def _edges(sheet: Sheet) -> Iterator[tuple[Line, bool]]:
    """Yield a page's outermost lines and whether each is at the top; titles, larger than the text, are skipped."""
    if not sheet.lines:
        return
    usual = median(line.height for line in sheet.lines)
    by_height = sorted(sheet.lines, key=lambda line: -line.bottom)
    half = sheet.height / 2
    for line in by_height[:_EDGE_LINES]:
        if line.bottom > half and line.height <= _OTHER_SIZE * usual:
            yield line, True
    for line in by_height[-_EDGE_LINES:]:
        if line.bottom <= half and line.height <= _OTHER_SIZE * usual:
            yield line, False


def _edge_key(text: str) -> str:
    return _DIGITS.sub("#", text.casefold())[:LONGEST_HEADING]


def _stand_level(heights: list[float]) -> bool:
    if len(heights) < _LEAST_REPEATS:
        return False
    middle = median(heights)
    return sum(abs(height - middle) <= _SAME_HEIGHT for height in heights) >= _LEAST_REPEATS


def _measure(sheets: Sequence[Sheet]) -> _Measure:
    weights: Counter[float] = Counter()
    for sheet in sheets:
        for line in sheet.lines:
            weights[round(line.height * 2) / 2] += len(line.text)
    height = max(1.0, weights.most_common(1)[0][0])
    gaps = [
        above.bottom - below.bottom
        for sheet in sheets
        for above, below in pairwise(sheet.lines)
        if 0.5 * height < above.bottom - below.bottom < 3 * height
    ]
    leading = median(gaps) if gaps else 1.2 * height
    indented = apart = 0
    for sheet in sheets:
        for above, below in pairwise(sheet.lines):
            gap = above.bottom - below.bottom
            indented += 0 < gap <= _WIDE_GAP * leading and _INDENT * height < below.start - above.start < 8 * height
            apart += _WIDE_GAP * leading < gap < 4 * leading
    return _Measure(height, leading, indented > apart)


def _paragraphs(sheets: Sequence[Sheet], usual: _Measure) -> Iterator[list[Line | None]]:
    """Yield lines that belong together; ``None`` marks a line that was ended although it had room left.

    Footnotes do not interrupt a paragraph that continues on the next page.
    """
    open_paragraph: list[Line | None] = []
    for sheet in sheets:
        is_first = True
        margin = _Margin(sheet.lines)
        for line in sheet.lines:
            if line.height < _SMALLER * usual.height:
                yield [line]
                continue
            previous = next((each for each in reversed(open_paragraph) if each is not None), None)
            if previous is None:
                open_paragraph = [line]
            elif is_first or line.bottom > previous.bottom + usual.height:
                # The next line is on the next page or in the next column.
                if _goes_on_overleaf(previous, line, usual):
                    open_paragraph.append(line)
                else:
                    yield open_paragraph
                    open_paragraph = [line]
            else:
                broken = _break(previous, line, usual, margin)
                if broken == "paragraph":
                    yield open_paragraph
                    open_paragraph = [line]
                else:
                    open_paragraph += [None, line] if broken == "line" else [line]
            is_first = False
    if open_paragraph:
        yield open_paragraph


class _Margin:
    """Where the lines of a page end."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def at(self, line: Line) -> float:
        """Return the end of the column that contains ``line``."""
        return max(other.end for other in self._lines if other.start < line.end and other.end > line.start)


def _break(previous: Line, line: Line, usual: _Measure, margin: _Margin) -> str:
    """Return the break between two lines of one page: ``""``, ``line`` or ``paragraph``."""
    ratio = line.height / previous.height if previous.height else 1.0
    gap = previous.bottom - line.bottom
    if not 1 / _OTHER_SIZE < ratio < _OTHER_SIZE or gap > _WIDE_GAP * usual.leading * max(
        1.0, line.height / usual.height
    ):
        return "paragraph"
    if line.start - previous.start > _INDENT * usual.height:
        return "paragraph"
    is_complete = _ends(previous.text)
    if _BULLET.match(line.text) and (is_complete or _BULLET.match(previous.text)):
        return "paragraph"
    if _had_room(previous, line, margin.at(previous)):
        return "paragraph" if is_complete else "line"
    return ""


def _had_room(previous: Line, line: Line, margin: float) -> bool:
    """Return whether the first word of ``line`` would have fitted at the end of ``previous``."""
    letters = max(1, len(line.text))
    first = len(line.text.split(maxsplit=1)[0]) if " " in line.text else letters
    per_letter = (line.end - line.start) / letters
    return previous.end + (min(first, 30) + 2.5) * per_letter < margin


def _goes_on_overleaf(previous: Line, line: Line, usual: _Measure) -> bool:
    ratio = line.height / previous.height if previous.height else 1.0
    if not 1 / _OTHER_SIZE < ratio < _OTHER_SIZE or not 1 / _OTHER_SIZE < line.height / usual.height < _OTHER_SIZE:
        return False
    if not _ends(previous.text):
        return not line.text[:1].isupper() or _HYPHENATED.search(previous.text) is not None or len(previous.text) > 40
    return line.text[:1].islower()


def _ends(text: str) -> bool:
    return text.rstrip(_CLOSING + "0123456789[]").endswith(_ENDS) and not ends_in_abbreviation(text)


def _parts(paragraph: list[Line | None], usual: _Measure, known: Counter[str]) -> Iterator[LineBlock]:
    lines = [line for line in paragraph if line is not None]
    texts = _healed([line.text for line in lines], known)
    height = median(line.height for line in lines)
    joined = " ".join(texts)
    if height < _SMALLER * usual.height or _BULLET.match(joined):
        yield LineBlock("aside", joined)
    elif height > _BIGGER * usual.height and len(joined) <= 2 * LONGEST_HEADING and not _reads_on(joined):
        made = plain_block(texts)
        yield made if made.kind in ("contents", "aside") else LineBlock("heading", joined)
    elif paragraph[1:2] == [None] and paragraph.count(None) == 1 and _may_head(texts):
        yield plain_block(texts[:1]) if CHAPTER_HEADING.match(texts[0]) else LineBlock("heading", texts[0])
        yield plain_block(texts[1:])
    else:
        yield plain_block(texts)


def _may_head(texts: Sequence[str]) -> bool:
    """Return whether the first line, which had room left, is a heading in the text's own size."""
    if len(texts) < 2 or texts[1][:1].islower():
        return False
    return len(texts[0]) <= LONGEST_HEADING and not texts[0].endswith((",", ";", "-", "—"))


def _reads_on(text: str) -> bool:
    """Return whether large letters are running text, as in a book for children."""
    return count_words(text) > 20


def _healed(texts: Sequence[str], known: Counter[str]) -> list[str]:
    """Return the lines with the words that were broken at line ends joined."""
    healed = list(texts)
    for i in range(len(healed) - 1):
        broken = _HYPHENATED.search(healed[i])
        rest = _FIRST_WORD.match(healed[i + 1])
        if broken is None or rest is None or not rest.group()[0].islower():
            continue
        front, back = broken[1], rest.group()
        whole, apart = known[f"{front}{back}".casefold()], known[f"{front}-{back}".casefold()]
        # Neither form occurs elsewhere: "shrine-dedicated" is two words of the book, "unqual-ified" is not.
        is_one_word = whole > apart or not (apart or (known[front.casefold()] and known[back.casefold()]))
        tail = healed[i + 1][rest.end() :]
        trailing = re.match(r"\S*", tail)
        taken = trailing.group() if trailing else ""
        healed[i] = f"{healed[i][: broken.start()]}{front}{'' if is_one_word else '-'}{back}{taken}"
        healed[i + 1] = tail[len(taken) :].lstrip()
    return [text for text in healed if text]


_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def _words_of(sheets: Sequence[Sheet]) -> Counter[str]:
    """Count the words within the lines of the book; halves of broken words are excluded."""
    found: Counter[str] = Counter()
    is_broken = False
    for sheet in sheets:
        for line in sheet.lines:
            words = _WORD.findall(line.text)
            was_broken, is_broken = is_broken, _HYPHENATED.search(line.text) is not None
            found.update(word.casefold() for word in words[was_broken : len(words) - is_broken])
    return found


def _slide(sheet: Sheet, known: Counter[str]) -> Iterator[LineBlock]:
    """Yield a slide's title and the text below it as one part, its points divided by blank lines.

    The text begins at the first point of at least three words.
    """
    lines = sheet.lines
    tallest = max(line.height for line in lines)
    usual = median(line.height for line in lines)
    title = [line for line in lines[:4] if line.height > 0.95 * tallest] if tallest > 1.1 * usual else lines[:1]
    if len(title) == len(lines) or len(title) > 3:
        title = []
    rest = [line for line in lines if line not in title]
    if title:
        yield LineBlock("heading", " ".join(line.text for line in title)[: 2 * LONGEST_HEADING])
    margin = _Margin(lines)
    points: list[list[str]] = []
    previous: Line | None = None
    for line in rest:
        goes_on = (
            previous is not None
            and not _ends(previous.text)
            and not _BULLET.match(line.text)
            and abs(line.height - previous.height) < 0.15 * previous.height
            and 0 < previous.bottom - line.bottom < 2 * line.height
            and not _had_room(previous, line, margin.at(previous))
        )
        text = _BULLET.sub("", line.text, count=1)
        if goes_on:
            points[-1].append(text)
        else:
            points.append([text])
        previous = line
    yield from slide_text([unwrapped(_healed(point, known)) for point in points])


def slide_text(points: Sequence[str]) -> Iterator[LineBlock]:
    """Yield the points of a slide as one part, from the first of at least three words on."""
    first = next((i for i, point in enumerate(points) if count_words(point) >= _LEAST_WORDS_OF_BULLET), None)
    if first is not None:
        yield LineBlock("paragraph", "\n\n".join(_merged(points[first:])))


def _merged(points: Sequence[str]) -> Iterator[str]:
    """Join complete sentences into one line; each point without an end mark stays on its own line."""
    held = ""
    for point in points:
        if held and _ends(held):
            held = f"{held} {point}"
        else:
            if held:
                yield held
            held = point
    if held:
        yield held
