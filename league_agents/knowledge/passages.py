"""The paragraphs of a book that can be a target, each with its chapter and its opening sentence.

Rule 1: a passage is a paragraph in a reader's sense: not a heading, list of contents, page number, table, list, code,
formula, reference, licence, note or picture (see ``layout`` and ``quality``).
Rule 2: its text is the book's, with hard-wrapped lines joined; verse keeps its lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from league_agents.knowledge.documents import Document
from league_agents.knowledge.front_matter import MIN_OPENING_CHARACTERS, NOT_OF_THE_TEXT, Part, parts_of
from league_agents.knowledge.headings import (
    CHAPTER_HEADING,
    CONTENTS_HEADING,
    LONGEST_HEADING,
    NOTES_HEADING,
    is_numbered,
)
from league_agents.knowledge.layout import LineBlock, plain_blocks
from league_agents.knowledge.markdown import markdown_blocks
from league_agents.knowledge.quality import flaw
from league_agents.knowledge.sentences import opening_sentence, split_sentences
from league_agents.knowledge.speeches import with_speeches
from league_agents.knowledge.words import HAN_RUN

MIN_WORDS = 25
"""Shorter paragraphs are mostly single lines of dialogue, with too little content for twenty questions."""

MIN_SENTENCES = 2
"""A target is an opening sentence, so its paragraph must have another sentence."""

HAN_CHARACTERS_PER_WORD = 1.6
"""Chinese has no spaces for counting words; 25 English words are about 40 characters in translation."""


DIVISION_VERSION = 3
"""Increase this if the same text is divided differently: a file that is added again is then divided again."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph that can be a target."""

    book: str
    """The title."""

    chapter: str | None
    """The heading above the paragraph; ``None`` before the first heading."""

    position: int
    """1 for the first passage of the book; 0 for the result of ``book_opening``."""

    text: str
    """The paragraph with single spaces; verse keeps its line breaks."""

    opening_sentence: str
    """White space is folded, otherwise exactly as in the text."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document divided into its parts."""

    title: str
    parts: Sequence[Part]

    opens_at: int | None
    """The part that the book opens with; ``None`` if there is none."""

    def passages(self, *, min_words: int = MIN_WORDS, min_sentences: int = MIN_SENTENCES) -> list[Passage]:
        """Return every paragraph that is long enough to be a target, in the order of the text."""
        found: list[Passage] = []
        for part in self.parts:
            if part.skipped in NOT_OF_THE_TEXT or count_words(part.text) < min_words or flaw(part.text) is not None:
                continue
            opening = opening_sentence(part.text)
            if len(opening) < MIN_OPENING_CHARACTERS:
                continue
            if min_sentences > 1 and len(split_sentences(part.text)) < min_sentences:
                continue
            found.append(Passage(self.title, part.heading, len(found) + 1, part.text, opening))
        return found

    def opening(self) -> Passage | None:
        """Return the paragraph that the book opens with, however short, and its first sentence (``front_matter``)."""
        if self.opens_at is None:
            return None
        part = self.parts[self.opens_at]
        return Passage(self.title, part.heading, 0, part.text, opening_sentence(part.text))


def read_parts(document: Document) -> Reading:
    """Divide a document into its parts and find where it opens."""
    return Reading(document.title, *parts_of(with_speeches(list(blocks(document)))))


def passages(document: Document, *, min_words: int = MIN_WORDS, min_sentences: int = MIN_SENTENCES) -> list[Passage]:
    """Return every paragraph of ``document`` that is long enough to be a target, in the order of the text."""
    return read_parts(document).passages(min_words=min_words, min_sentences=min_sentences)


def book_opening(document: Document) -> Passage | None:
    """Return the paragraph that the book opens with, however short; ``None`` if there is no paragraph."""
    return read_parts(document).opening()


def count_words(text: str) -> int:
    """Count words between spaces, and for Chinese one word per ``HAN_CHARACTERS_PER_WORD`` characters."""
    if text.isascii():
        return len(text.split())
    han = sum(len(run) for run in HAN_RUN.findall(text))
    if not han:
        return len(text.split())
    return round(han / HAN_CHARACTERS_PER_WORD) + len(HAN_RUN.sub(" ", text).split())


def blocks(document: Document) -> Iterator[LineBlock]:
    """Yield a document's parts without its table of contents; a chapter's number and title are one heading."""
    is_markdown = document.parts is None and document.markup == "markdown"
    if document.parts is not None:
        parts = list(document.parts)
    else:
        parts = list(markdown_blocks(document.text) if is_markdown else plain_blocks(document.text))
    return _with_headings(_without_contents(_without_note_marks(parts)), joined=not is_markdown)


_NOTE = re.compile(r"\[(?:footnote\s+)?(\^?\w{1,4})[\]:]", re.IGNORECASE)
_NOTE_MARK = re.compile(r"(?<=\S)\[(\^?\w{1,4})\]")


def _without_note_marks(parts: Sequence[LineBlock]) -> Iterator[LineBlock]:
    """Remove the marks, such as ``[12]``, of the notes that the document has: they are not the author's words."""
    noted = {match[1] for part in parts if (match := _NOTE.match(part.text))}
    for part in parts:
        if noted and "[" in part.text:
            text = _NOTE_MARK.sub(lambda mark: "" if mark[1] in noted else mark[0], part.text)
            yield LineBlock(part.kind, text)
        else:
            yield part


_MOST_CONTENTS = 600
"""Limit in blocks: the longest tables of contents have a few hundred entries."""


def _without_contents(parts: Iterator[LineBlock]) -> Iterator[LineBlock]:
    """Skip a table of contents: from its heading to the first entry that occurs a second time, or to prose."""
    skipping = 0
    entries: set[str] = set()
    for block in parts:
        if block.kind == "contents" or (block.kind == "heading" and CONTENTS_HEADING.match(block.text)):
            # The first entries may stand directly below the heading.
            skipping, entries = _MOST_CONTENTS, set(map(_entry_key, block.text.split("\n")[1:]))
            continue
        if skipping:
            key = _entry_key(block.text)
            is_entry = block.kind != "paragraph" or CHAPTER_HEADING.match(block.text) or not _is_long_prose(block.text)
            if is_entry and key not in entries:
                entries.add(key)
                skipping -= 1
                continue
            if is_entry and block.kind == "paragraph":
                # A line of the contents is a heading where it occurs again.
                block = LineBlock("heading", block.text)
            skipping = 0
        yield block


def _is_long_prose(text: str) -> bool:
    return len(text.split()) >= 25 and text.rstrip("\"'”’)_*").endswith((".", "!", "?", ":", ";", ",", "—", "-", "。"))


def _entry_key(text: str) -> str:
    """Return equal keys for ``CHAPTER I. Civilizing Huck`` and ``CHAPTER I.``."""
    chapter = CHAPTER_HEADING.match(text)
    return " ".join((chapter.group() if chapter else text[:60]).split()).casefold().strip(" .:")


_RUN_IN = re.compile(
    r"(?:abstract|summary|introduction|motivation|background|overview|conclusions?|discussion|results|methods?|proof|remark"
    r"|zusammenfassung|einleitung|r[ée]sum[ée]|resumen|riassunto|введение|摘要|תקציר)\s?(?:[.:]\s+|[.:]?\s?[—–]\s?|：)(?=\S)"
    r"|(?:definition|theorem|lemma|corollary|example|exercise|proposition|satz|beispiel)\s\d[\d.]*\s?(?:\([^)\n]{1,60}\))?[.:]\s+"
    r"|\d{1,2}(?:\.\d{1,2})+\.?\s+[A-Z][\w-]*(?:\s[\w-]+){0,5}[.:]\s+(?=[A-Z])",
    re.IGNORECASE,
)


_RUN_IN_TITLE = re.compile(
    r"(?:[IVXLC]{1,6}|\d{1,3})\.\s+(?:[A-ZÀ-Þ][A-ZÀ-Þ\s'’,&-]{3,60}\.(?:\s+|\s?(?:--|—|–)\s?)|[A-ZÀ-Þ][^.!?\n]{2,60}\.\s?(?:--|—|–)\s?)(?=\S)"
)
"""A number and a title before the first words: ``I. THE LANDING. The ferry …``, ``1. Queues.--A queue …``."""

_MARKS = re.compile("[.:：—–。-]")
_RUN_IN_REACH = 48


def _after_run_in(block: LineBlock) -> Iterator[LineBlock]:
    """Yield a paragraph without a heading on its first line: ``CHAPTER I. It was …`` is a heading and a paragraph."""
    text = block.text
    if len(text) <= LONGEST_HEADING // 2 or _MARKS.search(text[:_RUN_IN_REACH]) is None:
        yield block
        return
    chapter = CHAPTER_HEADING.match(text[: 2 * LONGEST_HEADING])
    if chapter is not None and is_numbered(text[: chapter.end()]):
        rest = text[chapter.end() :].lstrip()
        if rest[:1] in (".", ":", "—", "–", "-", "。") and len(rest) > LONGEST_HEADING:
            yield LineBlock("heading", chapter.group())
            yield LineBlock(block.kind, rest.lstrip(".:—–-。 "))
            return
    title = _RUN_IN_TITLE.match(text[: 2 * LONGEST_HEADING])
    if title is not None and len(text) - title.end() > LONGEST_HEADING // 2:
        yield LineBlock("heading", title.group().rstrip(" —–-"))
        yield LineBlock(block.kind, text[title.end() :])
        return
    run_in = _RUN_IN.match(text[: 2 * LONGEST_HEADING])
    if run_in is not None and len(text) - run_in.end() > LONGEST_HEADING // 4:
        yield LineBlock(block.kind, text[run_in.end() :])
    else:
        yield block


def _with_headings(parts: Iterator[LineBlock], *, joined: bool) -> Iterator[LineBlock]:
    """Yield paragraphs under their headings, without notes and index; ``joined`` merges ``CHAPTER I`` / ``Loomings``.

    A line in capitals is a heading only in a book without numbered headings; otherwise it is a poster or a telegram.
    """
    chapter: str | None = None
    has_numbers = in_notes = False
    for block in parts:
        if block.kind == "heading" or (block.kind == "subheading" and (chapter is not None or not has_numbers)):
            in_notes = NOTES_HEADING.match(block.text) is not None
            has_numbers = has_numbers or is_numbered(block.text)
            goes_on = (
                joined
                and chapter is not None
                and CHAPTER_HEADING.match(chapter)
                and not CHAPTER_HEADING.match(block.text)
            )
            chapter = f"{chapter.rstrip('.:')}: {block.text}" if chapter is not None and goes_on else block.text
            yield LineBlock("heading", chapter)
        elif block.kind != "subheading":
            chapter = None
            if in_notes:
                continue
            if block.kind == "paragraph":
                for each in _after_run_in(block):
                    yield each
                    has_numbers = has_numbers or each.kind == "heading"
            else:
                yield block
