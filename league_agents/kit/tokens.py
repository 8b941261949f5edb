"""Estimate of the number of tokens of a text, without any service's vocabulary.

Rule: estimate too many rather than too few. A word of Latin letters counts one token per five letters or part thereof
(English prose has about four characters a token, spaces included) and, all in capitals, two per three; every other
letter counts one (a Chinese character, or a Hebrew letter in older vocabularies), digits one per three or part thereof,
every mark and every line break one. ``Usage`` has the count of the service; this is for planning, for replies that were
not read to their end, and for the tests.
"""

from __future__ import annotations

import re

_PIECE = re.compile(r"[A-Za-z]+|\d+|\n+|[^\sA-Za-z\d]")
_JOINED = re.compile(r"[A-Za-z'’-]")
_BEGUN = re.compile(r"(?<=\s)[A-Za-z][A-Za-z'’-]{0,40}\Z")
_LETTERS_A_TOKEN = 5
_DIGITS_A_TOKEN = 3


def tokens_in(text: str) -> int:
    """Estimate the number of tokens of a text."""
    return sum(map(_of_piece, _PIECE.findall(text)))


def cut_to_tokens(text: str, most: int) -> str:
    """Return the beginning of the text with at most ``most`` tokens; a Latin word is not cut."""
    used = 0
    for piece in _PIECE.finditer(text):
        used += _of_piece(piece[0])
        if used > most:
            kept = text[: piece.start()]
            begun = _BEGUN.search(kept)  # "don" of "don't", or "well-" of "well-kept"
            return (kept[: begun.start()] if begun and _JOINED.match(piece[0]) else kept).rstrip()
    return text


def _of_piece(piece: str) -> int:
    if piece.isascii() and piece.isalpha() and piece.isupper() and len(piece) > 1:
        return -(-2 * len(piece) // 3)
    if piece[0].isascii() and piece[0].isalpha():
        return -(-len(piece) // _LETTERS_A_TOKEN)
    return -(-len(piece) // _DIGITS_A_TOKEN) if piece[0].isdigit() else 1
