"""Search in the full-text table: the passages that share words with a query, best first by BM25.

Rule 1: a query is words. Each word is quoted, so the search engine's syntax cannot be injected.
Rule 2: the cost of a search does not grow with the index. Words in very many passages are not selective: they do not
select passages, they only order those selected by rarer words.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from league_agents.knowledge.passages import Passage
from league_agents.knowledge.search_words import query_words
from league_agents.knowledge.words import stem

MAX_QUERY_CHARACTERS = 2_000
MAX_QUERY_WORDS = 64

MOST_POSTINGS = 6_000
"""Number of postings that one search reads; a core reads about a thousand in a millisecond."""

_POOL = 200
"""Number of passages that frequent words reorder."""

_MOST_COUNTS = 50_000
"""Number of words whose frequencies are cached."""

_SATURATION = 1.2
_LENGTH_SHARE = 0.75
"""BM25's k1 and b, as in SQLite."""

_LAST_ID = 2**63 - 1
_LEAST_WEIGHT = 1e-6
_LONGEST_ENDING = 4
_SAMPLE = 500


class Scored(NamedTuple):
    """A passage and its score; larger is better."""

    passage: Passage
    score: float


class FullText:
    """The full-text table of one connection, with cached counts. Not to be shared by threads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._counted_at: tuple[int, int] | None = None
        self._passages = 0
        self._counts: dict[str, int] = {}

    def find(self, query: str, limit: int, ids: tuple[int, int] | None, version: int) -> list[Scored]:
        """Return the best passages for a query among those with ids in the range ``ids``.

        ``version`` changes whenever this connection has changed the file. The query is cut at
        ``MAX_QUERY_CHARACTERS`` and ``MAX_QUERY_WORDS``.
        """
        words = query_words(query[:MAX_QUERY_CHARACTERS].replace("\x00", " "), MAX_QUERY_WORDS)
        counts = self.frequencies(words, version)
        known = sorted((count, word) for count, word in zip(counts, words, strict=True) if count)
        # One book is small enough to search with every word.
        choosing = _choosing(known) if ids is None else [word for _, word in known]
        if not choosing:
            return []
        ordering = {word: count for count, word in known[len(choosing) :]}
        found = _matching(self._connection, choosing, max(limit, _POOL) if ordering else limit, ids)
        if ordering:
            found = _reordered(self._connection, found, ordering, self.size(version))
        return found[:limit]

    def size(self, version: int) -> int:
        """Return the number of passages."""
        self._forget_what_changed(version)
        return self._passages

    def frequencies(self, words: Sequence[str], version: int) -> list[int]:
        """Count for each word the passages with any form of it; of several words in one, the rarest counts."""
        # Counting a frequent word reads all its postings, and frequent words are counted again and again.
        self._forget_what_changed(version)
        unknown = [word for word in words if word not in self._counts]
        if len(self._counts) > _MOST_COUNTS:
            self._counts.clear()
            unknown = list(words)
        self._counts.update(zip(unknown, self._count(unknown), strict=True))
        return [self._counts[word] for word in words]

    def _count(self, words: Sequence[str]) -> list[int]:
        connection = self._connection
        connection.execute("DELETE FROM temp.asked")
        connection.executemany("INSERT INTO temp.asked (rowid, words) VALUES (?, ?)", list(enumerate(words, start=1)))
        rows = connection.execute(
            "SELECT asked_terms.doc, min(coalesce(known_terms.doc, 0)) FROM temp.asked_terms "
            "LEFT JOIN temp.known_terms ON known_terms.term = asked_terms.term GROUP BY asked_terms.doc"
        )
        found = dict(rows.fetchall())
        return [int(found.get(i, 0)) for i in range(1, len(words) + 1)]

    def _forget_what_changed(self, version: int) -> None:
        # PRAGMA data_version shows changes by other connections, ``version`` those by this one.
        state = (self._connection.execute("PRAGMA data_version").fetchone()[0], version)
        if state != self._counted_at:
            self._counted_at = state
            self._passages = int(self._connection.execute("SELECT count(*) FROM passages").fetchone()[0])
            self._counts.clear()


def _choosing(known: Sequence[tuple[int, str]]) -> list[str]:
    """Return the rarest words, at least one, with no more than ``MOST_POSTINGS`` postings in total."""
    chosen: list[str] = []
    total = 0
    for count, word in known:
        total += count
        if chosen and total > MOST_POSTINGS:
            break
        chosen.append(word)
    return chosen


def _matching(
    connection: sqlite3.Connection, words: Iterable[str], limit: int, ids: tuple[int, int] | None
) -> list[Scored]:
    expression = " OR ".join(f'"{word}"' for word in (word.replace('"', '""') for word in words))
    rows = connection.execute(
        "SELECT b.title, p.chapter, p.position, p.text, p.opening_sentence, found.score FROM ("
        "SELECT rowid AS id, bm25(passage_words) AS score FROM passage_words "
        "WHERE passage_words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rank LIMIT ?"
        ") found JOIN passages p ON p.id = found.id JOIN books b ON b.id = p.book_id ORDER BY found.score, p.id",
        (expression, *(ids or (0, _LAST_ID)), limit),
    )
    return [Scored(Passage(*row[:-1]), -row[-1]) for row in rows.fetchall()]


def _reordered(
    connection: sqlite3.Connection, found: Sequence[Scored], frequent: dict[str, int], passages: int
) -> list[Scored]:
    """Return the passages reordered, with the frequent words added to their scores."""
    weights: dict[str, float] = {}
    for word, count in frequent.items():
        weight = max(_LEAST_WEIGHT, math.log((passages - count + 0.5) / (count + 0.5)))
        weights[stem(word)] = max(weight, weights.get(stem(word), 0.0))
    stems = "|".join(re.escape(each) for each in sorted(weights, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)({stems})\w{{0,{_LONGEST_ENDING}}}(?!\w)")
    usual = _usual_length(connection)
    scored = []
    for passage, score in found:
        counts: dict[str, int] = {}
        for trunk in pattern.findall(passage.text.casefold()):
            counts[trunk] = counts.get(trunk, 0) + 1
        norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * len(passage.text) / usual)
        added = sum(weights[trunk] * n * (_SATURATION + 1) / (n + norm) for trunk, n in counts.items())
        scored.append(Scored(passage, score + added))
    return sorted(scored, key=lambda each: -each.score)


def _usual_length(connection: sqlite3.Connection) -> float:
    """Return the mean length of a passage in characters, from the first few hundred."""
    row = connection.execute("SELECT avg(length(text)) FROM (SELECT text FROM passages LIMIT ?)", (_SAMPLE,)).fetchone()
    return float(row[0] or 1.0)
