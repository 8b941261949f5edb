"""The paragraphs of a book that can be a target, each with its chapter and its opening sentence.

Rule 1: a passage is a paragraph in a reader's sense: not a heading, list of contents, page number, table, list, code,
formula, reference, licence, note or picture (see ``layout`` and ``quality``).
Rule 2: its text is the book's, with hard-wrapped lines joined; verse keeps its lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from league_agents.knowledge.documents import Document
from league_agents.knowledge.layout import CHAPTER_HEADING, NOTES_HEADING, LineBlock, plain_blocks
from league_agents.knowledge.markdown import markdown_blocks
from league_agents.knowledge.quality import flaw
from league_agents.knowledge.sentences import opening_sentence, split_sentences
from league_agents.knowledge.words import HAN_RUN

MIN_WORDS = 25
"""Shorter paragraphs are mostly single lines of dialogue, with too little content for twenty questions."""

MIN_SENTENCES = 2
"""A target is an opening sentence, so its paragraph must have another sentence."""

MIN_OPENING_CHARACTERS = 10
"""Deployed players refuse to guess a shorter opening sentence (league protocol 4.4.6), so it cannot be a target."""

HAN_CHARACTERS_PER_WORD = 1.6
"""Chinese has no spaces for counting words; 25 English words are about 40 characters in translation."""


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


def passages(document: Document, *, min_words: int = MIN_WORDS, min_sentences: int = MIN_SENTENCES) -> list[Passage]:
    """Return every paragraph of ``document`` that is long enough to be a target, in the order of the text."""
    found: list[Passage] = []
    for chapter, text in _paragraphs(blocks(document)):
        if count_words(text) < min_words or not _is_prose(text):
            continue
        opening = opening_sentence(text)
        if len(opening) < MIN_OPENING_CHARACTERS:
            continue
        if min_sentences > 1 and len(split_sentences(text)) < min_sentences:
            continue
        found.append(Passage(document.title, chapter, len(found) + 1, text, opening))
    return found


def book_opening(document: Document) -> Passage | None:
    """Return the book's first paragraph, however short, and its first sentence; ``None`` if there is no paragraph.

    A line without an end mark is skipped: names, dates and places precede the first paragraph of many books.
    """
    for chapter, text in _paragraphs(blocks(document)):
        opening = opening_sentence(text)
        ends = opening.rstrip("\"'“”’)»_*").endswith((".", "!", "?", "…", "。", "！", "？", ":", "—"))
        if len(opening) >= MIN_OPENING_CHARACTERS and ends and count_words(opening) >= 2 and _is_prose(text):
            return Passage(document.title, chapter, 0, text, opening)
    return None


def count_words(text: str) -> int:
    """Count words between spaces, and for Chinese one word per ``HAN_CHARACTERS_PER_WORD`` characters."""
    if text.isascii():
        return len(text.split())
    han = sum(len(run) for run in HAN_RUN.findall(text))
    if not han:
        return len(text.split())
    return round(han / HAN_CHARACTERS_PER_WORD) + len(HAN_RUN.sub(" ", text).split())


def _paragraphs(parts: Iterator[LineBlock]) -> Iterator[tuple[str | None, str]]:
    chapter: str | None = None
    for block in parts:
        if block.kind == "heading":
            chapter = block.text
        elif block.kind == "paragraph":
            yield chapter, block.text


def _is_prose(text: str) -> bool:
    return flaw(text) is None


def blocks(document: Document) -> Iterator[LineBlock]:
    """Yield a document's parts without its table of contents; a chapter's number and title are one heading."""
    if document.parts is not None:
        return _with_headings(_without_contents(iter(document.parts)), joined=True)
    if document.markup == "markdown":
        return _with_headings(_without_contents(markdown_blocks(document.text)), joined=False)
    return _with_headings(_without_contents(plain_blocks(document.text)), joined=True)


_MOST_CONTENTS = 600
"""Limit in blocks: the longest tables of contents have a few hundred entries."""


def _without_contents(parts: Iterator[LineBlock]) -> Iterator[LineBlock]:
    """Skip a table of contents: from its heading to the first entry that occurs a second time, or to prose."""
    skipping = 0
    entries: set[str] = set()
    for block in parts:
        if block.kind == "contents":
            skipping, entries = _MOST_CONTENTS, set()
            continue
        if skipping:
            key = _entry_key(block.text)
            is_entry = block.kind != "paragraph" or CHAPTER_HEADING.match(block.text) or not _is_long_prose(block.text)
            if is_entry and key not in entries:
                entries.add(key)
                skipping -= 1
                continue
            skipping = 0
        yield block


def _is_long_prose(text: str) -> bool:
    return len(text.split()) >= 25 and text.rstrip("\"'”’)_*").endswith((".", "!", "?", ":", ";", ",", "—", "-", "。"))


def _entry_key(text: str) -> str:
    """Return equal keys for ``CHAPTER I. Civilizing Huck`` and ``CHAPTER I.``."""
    chapter = CHAPTER_HEADING.match(text)
    return " ".join((chapter.group() if chapter else text[:60]).split()).casefold().strip(" .:")


def _with_headings(parts: Iterator[LineBlock], *, joined: bool) -> Iterator[LineBlock]:
    """Yield paragraphs under their headings, without notes and index; ``joined`` merges ``CHAPTER I`` / ``Loomings``.

    A line in capitals is a heading only in a book without numbered headings; otherwise it is a poster or a telegram.
    """
    chapter: str | None = None
    is_numbered = in_notes = False
    for block in parts:
        if block.kind == "heading" or (block.kind == "subheading" and (chapter is not None or not is_numbered)):
            in_notes = NOTES_HEADING.match(block.text) is not None
            is_numbered = is_numbered or CHAPTER_HEADING.match(block.text) is not None
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
            if not in_notes:
                yield block
