"""Which passages of a book contain a word: computed once, when the book is added, and kept in the index.

Rule: a vocabulary holds exactly the words that a reader of the passage finds (``vocabulary_of``), so that a question
about a word has the same answer from the vocabulary and from the text.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

VERSION = 1
"""Version of the words and of their stored form. A vocabulary of another version is computed anew."""

LONGEST_TEXT = 20_000
"""Characters of a text that are read. A paragraph of a novel has at most about 10,000."""

_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# A word is letters and digits, with hyphens and apostrophes inside; each Chinese or Japanese character is one.
WORD = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}])[^\W_])+(?:[’'׳״\-‐‑](?:(?![{_HAN}])[^\W_])+)*")
JOINTS = re.compile(r"[’'׳״\-‐‑]")
_APOSTROPHES = str.maketrans({"’": "'", "‐": "-", "‑": "-"})


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """Return a word in lower case, with straight apostrophes and hyphens."""
    return word.casefold().translate(_APOSTROPHES)


def plain_text(text: str) -> str:
    """Return a text as it is read: cut to ``LONGEST_TEXT``, without the marks of italics."""
    return text[:LONGEST_TEXT].replace("_", "")


def with_parts(folded: Iterable[str]) -> frozenset[str]:
    """Return the folded words and the parts of words with a hyphen or an apostrophe: "Emma's" contains "Emma"."""
    words = frozenset(folded)
    return words | {part for word in words if not word.isalnum() for part in JOINTS.split(word) if len(part) > 1}


def vocabulary_of(text: str) -> frozenset[str]:
    """Return every folded word of a text, and the parts of compound words."""
    return with_parts(map(fold, WORD.findall(plain_text(text))))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredWords:
    """The arrays of a vocabulary."""

    words: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    """Where the passages of each word begin in ``places``, and the end of the last."""

    places: npt.NDArray[np.int32]
    """Passages, counted from 0, word by word."""


class BookVocabulary:
    """The words of a sequence of passages, and the passages of each word."""

    def __init__(self, stored: StoredWords, passages: int) -> None:
        self._stored = stored
        self.passages = passages

    @classmethod
    def of(cls, vocabularies: Sequence[frozenset[str]]) -> BookVocabulary:
        """Return the vocabulary of passages with these words."""
        found: dict[str, list[int]] = {}
        for place, words in enumerate(vocabularies):
            for word in words:
                found.setdefault(word, []).append(place)
        ordered = sorted(found)
        starts = np.zeros(len(ordered) + 1, dtype=np.int64)
        np.cumsum([len(found[word]) for word in ordered], out=starts[1:])
        places = np.array([place for word in ordered for place in found[word]], dtype=np.int32)
        return cls(StoredWords(words=tuple(ordered), starts=starts, places=places), len(vocabularies))

    @property
    def words(self) -> tuple[str, ...]:
        """Every word, sorted."""
        return self._stored.words

    def places(self, word: str) -> npt.NDArray[np.int32]:
        """Return the passages with a folded word, in ascending order; empty for an unknown one."""
        number = self._numbers.get(word)
        if number is None:
            return np.zeros(0, dtype=np.int32)
        return self._stored.places[self._stored.starts[number] : self._stored.starts[number + 1]]

    def with_any(self, words: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Whether each passage has at least one of the folded words."""
        found = np.zeros(self.passages, dtype=np.bool_)
        for word in words:
            found[self.places(word)] = True
        return found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self._stored.words)}

    def to_bytes(self) -> bytes:
        """Return the stored form of this version."""
        head = json.dumps([self.passages, self._stored.words], ensure_ascii=False).encode()
        counts = np.diff(self._stored.starts).astype("<i4").tobytes()
        return zlib.compress(b"%d\n" % len(head) + head + counts + self._stored.places.astype("<i4").tobytes(), 1)

    @classmethod
    def from_bytes(cls, content: bytes) -> BookVocabulary:
        """Return a vocabulary from its stored form."""
        size, _, rest = zlib.decompress(content).partition(b"\n")
        passages, words = json.loads(rest[: int(size)])
        numbers = np.frombuffer(rest[int(size) :], dtype="<i4").astype(np.int32)
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(numbers[: len(words)], dtype=np.int64)])
        return cls(StoredWords(words=tuple(words), starts=starts, places=numbers[len(words) :]), passages)
