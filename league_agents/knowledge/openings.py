"""The report on how a book was read, and the openings that people set.

Rule: what a person set is kept under the bytes of the file and under the text, so that it holds when the same file is
added again.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

import msgspec

from league_agents.knowledge.failures import OpeningUnknown
from league_agents.knowledge.front_matter import MIN_OPENING_CHARACTERS, NOT_OF_THE_TEXT, Part
from league_agents.knowledge.index_records import ReadingReport, ReadPart
from league_agents.knowledge.passages import Reading
from league_agents.knowledge.sentences import opening_sentence, split_sentences

_MOST_PARTS = 60
_PARTS_BEHIND = 8
"""Number of parts behind the opening that are kept: it may have been found too early."""

_LONGEST_PART = 2_000


def stored_report(reading: Reading, passages: int) -> str:
    """Return the report as it is stored."""
    skipped = Counter(part.skipped for part in reading.parts if part.skipped is not None)
    not_passages = sum(count for reason, count in skipped.items() if reason in NOT_OF_THE_TEXT)
    report = ReadingReport(
        parts=len(reading.parts),
        passages=passages,
        too_short=max(0, len(reading.parts) - passages - not_passages),
        skipped={str(reason): count for reason, count in skipped.most_common()},
        opens_at=None if reading.opens_at is None else reading.opens_at + 1,
        first_parts=tuple(_first_parts(reading.parts, reading.opens_at or 0)),
    )
    return msgspec.json.encode(report).decode()


def _first_parts(parts: Sequence[Part], opens_at: int) -> list[ReadPart]:
    end = min(len(parts), opens_at + _PARTS_BEHIND + 1)
    numbers = list(range(end))
    if end > _MOST_PARTS:
        # The first and the last of them: what the file begins with, and what stands around the opening.
        half = _MOST_PARTS // 2
        numbers = [*range(half), *range(end - half, end)]
    return [
        ReadPart(number=i + 1, heading=parts[i].heading, text=parts[i].text[:_LONGEST_PART], skipped=parts[i].skipped)
        for i in numbers
    ]


def report_of(connection: sqlite3.Connection, title_key: str) -> ReadingReport | None:
    """Return the report on the book with this key; ``None`` if there is none."""
    row = connection.execute("SELECT reading FROM books WHERE title_key = ?", (title_key,)).fetchone()
    return None if row is None or row[0] is None else msgspec.json.decode(row[0], type=ReadingReport)


def chosen_opening(connection: sqlite3.Connection, digest: str, content_hash: str) -> tuple[str, str] | None:
    """Return the sentence and the paragraph that a person set for a file or a text; ``None`` if nobody did."""
    row: tuple[str, str] | None = connection.execute(
        "SELECT sentence, paragraph FROM chosen_openings WHERE text_id IN (?, ?) ORDER BY text_id = ? DESC",
        (digest or content_hash, content_hash, digest),
    ).fetchone()
    return row


def choose_opening(connection: sqlite3.Connection, title_key: str, title: str, which: str | None) -> None:
    """Set the opening of a book and keep it for its file, or return to what was found.

    Raises OpeningUnknown.
    """
    book_id, content_hash = connection.execute(
        "SELECT id, content_hash FROM books WHERE title_key = ?", (title_key,)
    ).fetchone()
    rows = connection.execute("SELECT digest FROM files WHERE book_id = ?", (book_id,))
    text_ids = {content_hash, *(digest for (digest,) in rows if digest)}
    report = report_of(connection, title_key)
    connection.executemany("DELETE FROM chosen_openings WHERE text_id = ?", [(each,) for each in text_ids])
    start: tuple[str | None, str | None]
    if which is None:
        if report is None:
            raise OpeningUnknown(title, "was added by an older version; add its file again")
        found = next((part.text for part in report.first_parts if part.number == report.opens_at), None)
        start = (None, None) if found is None else (opening_sentence(found), found)
    else:
        paragraphs = connection.execute("SELECT text FROM passages WHERE book_id = ? ORDER BY position", (book_id,))
        start = _sought(which, report, [text for (text,) in paragraphs], title)
        connection.executemany(
            "INSERT INTO chosen_openings (text_id, sentence, paragraph) VALUES (?, ?, ?)",
            [(each, *start) for each in text_ids],
        )
    connection.execute("UPDATE books SET opening_sentence = ?, opening_paragraph = ? WHERE id = ?", (*start, book_id))


def _sought(which: str, report: ReadingReport | None, passages: Sequence[str], title: str) -> tuple[str, str]:
    """Return the sentence and its paragraph, for a part's number or a sentence's first words."""
    listed = report.first_parts if report is not None else ()
    if which.strip().isdecimal():
        text = next((part.text for part in listed if part.number == int(which)), None)
        if text is None:
            raise OpeningUnknown(title, f"has no part {int(which)} in its list: 'corpus show --quality' numbers them")
        sentence = opening_sentence(text)
    else:
        wanted = _folded(which)
        found = (
            (" ".join(sentence.split()), text)
            for text in (*(part.text for part in listed), *passages)
            if wanted and wanted in _folded(text)
            for sentence in split_sentences(text)
            if _folded(sentence).startswith(wanted)
        )
        sentence, text = next(found, ("", ""))
        if not sentence:
            raise OpeningUnknown(title, "has no sentence that begins so: 'corpus show --quality' lists its first parts")
    if len(sentence) < MIN_OPENING_CHARACTERS:
        raise OpeningUnknown(
            title,
            f"cannot open with {sentence!r}: players refuse openings of under {MIN_OPENING_CHARACTERS} characters",
        )
    return sentence, text


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
