"""Count words, and fit texts to a word limit.

Rule: words are separated by white space (protocol 4.4.6), but a lone dash must not count as one. So the lower limit
counts only tokens with a letter or digit; the upper limit counts every token, as stricter counterparts do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

from league_agents.games.q21.rules import WordLimit

MOST_CHARACTERS = 20_000
"""Longer texts are not read: no text of a match needs a tenth of it."""


def count_words(text: str) -> int:
    """Count the white-space separated tokens that contain a letter or digit. For lower limits."""
    return _count_words(text.split())


def _count_words(tokens: Sequence[str]) -> int:
    return sum(map(_is_word, tokens))


def _begin_as_words(tokens: Sequence[str]) -> int:
    """Count the tokens that begin with a letter or digit: a fast lower bound that includes nearly all words."""
    return sum(map(str.isalnum, map(itemgetter(0), tokens)))


def count_tokens(text: str) -> int:
    """Count the white-space separated tokens. For upper limits."""
    return len(text.split())


def is_within(text: str, limit: WordLimit) -> bool:
    """Whether the text keeps both limits."""
    return _are_within(text.split(), limit)


def _are_within(tokens: Sequence[str], limit: WordLimit) -> bool:
    return (
        len(tokens) >= limit.least
        and (limit.most is None or len(tokens) <= limit.most)
        and (_begin_as_words(tokens) >= limit.least or _count_words(tokens) >= limit.least)
    )


def limit_in_words(limit: WordLimit) -> str:
    """Return the limit in words: ``20 to 30 words``, ``35 or more words``."""
    return f"{limit.least} or more words" if limit.most is None else f"{limit.least} to {limit.most} words"


def cut_to_words(text: str, most: int) -> str:
    """Return the first ``most`` tokens; the text itself if it has no more."""
    tokens = text.split(maxsplit=most)
    return text if len(tokens) <= most else " ".join(tokens[:most])


def fit(text: str, limit: WordLimit, fillers: Sequence[str]) -> str:
    """Fit ``text`` to ``limit``: leave it unchanged, trim it, or append whole fillers while they fit.

    ``fillers`` are used in order and repeated when they run out. One of them must have a single word, so that any gap
    can be closed.
    """
    tokens = text.split()
    if _are_within(tokens, limit):
        return text
    if limit.most is not None:
        tokens = [token for token in tokens if token[0].isalnum() or _is_word(token)][: limit.most]
    if tokens and not _ends_sentence(tokens[-1]):
        tokens[-1] = tokens[-1].rstrip(",;:-–—") + "."
    # Without an upper limit, tokens that are not words are kept.
    words = len(tokens) if limit.most is not None else count_words(" ".join(tokens))
    turn = 0
    while words < limit.least:
        room = None if limit.most is None else limit.most - len(tokens)
        filler = _next_that_fits(fillers, turn, room)
        tokens += filler
        words += len(filler)
        turn += 1
    return " ".join(tokens)


@lru_cache(maxsize=256)
def _tokens_of(filler: str) -> tuple[str, ...]:
    return tuple(filler.split())


def _next_that_fits(fillers: Sequence[str], turn: int, room: int | None) -> tuple[str, ...]:
    for offset in range(len(fillers)):
        filler = _tokens_of(fillers[(turn + offset) % len(fillers)])
        if room is None or len(filler) <= room:
            return filler
    raise ValueError("no filler has a single word")


def _is_word(token: str) -> bool:
    return token[0].isalnum() or any(map(str.isalnum, token))


def _ends_sentence(token: str) -> bool:
    return token.rstrip("\"'”’)»").endswith((".", "!", "?", "…", "。", "！", "？"))
