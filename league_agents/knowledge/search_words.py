"""The search words of a text, computed alike for stored texts and for queries.

The full-text table divides at spaces and folds case, accents and English endings. This module adds other scripts:
Chinese, Japanese, Korean, Thai and similar scripts have no spaces, or endings attached to the word, and become pairs of
neighbouring characters; Hebrew words are stored with and without their prefixed letters (and, the, in, to, from, that)
and their endings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from league_agents.knowledge.words import STOP_WORDS, han_pairs

# Character pairs are the usual method: one character means too little, and pairs need no dictionary.
_SPACELESS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff"  # Chinese
    "\u3041-\u3096\u30a1-\u30fa\u30fc\u31f0-\u31ff\uac00-\ud7a3"  # Japanese kana, Korean
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
_SPACELESS_RUN = re.compile(f"[{_SPACELESS}]+")
_HEBREW_WORD = re.compile("[א-ת]{4,}")
_POINTS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]")
_PREFIXES = frozenset("ושהבלמכ")
_DOUBLE_PREFIXES = frozenset(first + second for first in "ושכמ" for second in "השבלמכ" if first != second)
_ENDINGS = ("יות", "ים", "ות", "ה", "ת", "י")
_LEAST_LETTERS = 3
_WORD = re.compile(r"[^\W_]+(?:['’׳״\"][^\W_]+)*")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")


def searchable(text: str) -> str:
    """Return a stored text in the form for the tokenizer; deterministic."""
    if text.isascii():
        return text
    text = _POINTS.sub("", text)
    text = _SPACELESS_RUN.sub(lambda run: f" {' '.join(han_pairs(run.group()))} ", text)
    return _HEBREW_WORD.sub(lambda word: " ".join(hebrew_forms(word.group())), text)


def search_words(text: str) -> Iterator[str]:
    """Yield the words of ``text`` that carry meaning, as search terms, in order."""
    return (word for word in _words(text) if word not in STOP_WORDS)


def query_words(text: str, most: int) -> list[str]:
    """Return the first ``most`` different search terms; stop words only if there are no others."""
    words = list(dict.fromkeys(search_words(text))) or list(dict.fromkeys(_words(text)))
    return words[:most]


def _words(text: str) -> Iterator[str]:
    # Lower case as in the tokenizer: full case folding would turn "ß" into "ss", which is not what is stored.
    text = searchable(text.lower())
    return map(_without_accents, _WORD.findall(text if text.isascii() else text.replace("’", "'")))


@lru_cache(maxsize=65_536)
def _without_accents(word: str) -> str:
    """Remove accents from Latin letters, as the tokenizer does; in other scripts a mark is more than an accent."""
    if word.isascii() or not _ACCENTED.search(word):
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def hebrew_forms(word: str) -> tuple[str, ...]:
    """Return the word, the word without its prefixed letters, and each of these without an ending."""
    bare = [word]
    if word[0] in _PREFIXES and len(word) > _LEAST_LETTERS:
        bare.append(word[1:])
    if word[:2] in _DOUBLE_PREFIXES and len(word) > _LEAST_LETTERS + 1:
        bare.append(word[2:])
    trunks = [_trunk(form) for form in bare]
    return tuple(dict.fromkeys([*bare, *trunks]))


def _trunk(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_LETTERS:
            return word[: -len(ending)]
    return word
