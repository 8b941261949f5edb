"""Encode text as numbers of a vocabulary of word pieces, for models of the BERT family.

Rule: encoding ends soon for every text: a word is matched piece by piece from the left; a word that is not a
sequence of pieces, or is too long, becomes one unknown piece.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+|[^\w\s]|_")
_LONGEST_WORD = 100
_CHARACTERS_PER_PIECE = 20
START, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


def vocabulary_of(lines: str) -> dict[str, int]:
    """Parse a vocabulary file: one piece per line, numbered from 0."""
    return {piece: number for number, piece in enumerate(lines.splitlines())}


def pieces(text: str, vocabulary: Mapping[str, int], most: int) -> list[int]:
    """Return the numbers of a text, enclosed by the start and end pieces; at most ``most`` in all."""
    text = unicodedata.normalize("NFD", text[: _CHARACTERS_PER_PIECE * most].lower())
    text = "".join(character for character in text if unicodedata.category(character) != "Mn")
    found = [vocabulary[START]]
    for match in _TOKEN.finditer(text):
        found += _pieces_of(match.group(), vocabulary)
        if len(found) >= most:
            break
    return [*found[: most - 1], vocabulary[END]]


def _pieces_of(word: str, vocabulary: Mapping[str, int]) -> Sequence[int]:
    if len(word) > _LONGEST_WORD:
        return [vocabulary[UNKNOWN]]
    found = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else f"##{word[start:end]}"
            if (number := vocabulary.get(piece)) is not None:
                found.append(number)
                start = end
                break
        else:
            return [vocabulary[UNKNOWN]]
    return found
