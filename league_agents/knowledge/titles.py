"""Decide whether two titles name the same book.

A wrong book is worse than none: an agent without the book plays on, an agent with the wrong book answers wrongly
twenty times. So every match criterion is narrow, and a tie between two books is no match.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from league_agents.knowledge.words import STOP_WORDS, stem, words_of

MIN_RATIO = 90.0
"""rapidfuzz's ratio (0-100) of the folded titles: one typo in ten letters. "Emma" and "Gemma" (88.9) stay two books,
"The Prince" and "The Princess" (85.7) too; "Wuthering Hights" (96.8) is found."""

MIN_LEAD = 3.0
"""Minimum lead of the best title over the second best; otherwise the name is ambiguous."""

MIN_COVER = 0.66
"""A short form must contain two thirds of the title's content words: "Alice in Wonderland" does, "Robin Hood" does not
match "The Merry Adventures of Robin Hood of Nottingham"."""

MIN_AUTHOR_RATIO = 85.0
"""Names are compared by their last words; "Dostoevsky" and "Dostoyevsky" score 95, "Bronte" and "Byron" 55."""

_LONGEST = 300
_ARTICLES = re.compile(r"^(?:the|a|an|le|la|les|l|un|une|der|die|das|el|los|il)\s+")
_SUBTITLE = re.compile(r"[:;]|,? or,? |\s[–—-]\s|\(")
_ROMANS = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_NUMBER_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "first": 1, "second": 2, "third": 3, "fourth": 4}


@lru_cache(maxsize=4096)
def title_key(title: str) -> str:
    """Fold away case, accents, punctuation, ``&`` and a leading article."""
    folded = unicodedata.normalize("NFKD", title[:_LONGEST].casefold().replace("&", " and ").replace("_", " "))
    folded = "".join(c for c in folded if not unicodedata.combining(c))
    folded = re.sub(r"[^\w]+", " ", re.sub(r"['’\"״׳]", "", folded)).strip()
    return _ARTICLES.sub("", folded) or folded


def best_title(wanted: str, titles: Sequence[str]) -> int | None:
    """Return the index of the one title that ``wanted`` names, or ``None`` if there is none or several."""
    key = title_key(wanted)
    if not key:
        return None
    for keys in ([title_key(title) for title in titles], [title_key(_main_title(title)) for title in titles]):
        # The title as given or without its subtitle, compared with whole titles first, then with main titles.
        for candidate in dict.fromkeys((key, title_key(_main_title(wanted)))):
            found = [i for i, other in enumerate(keys) if other == candidate and candidate]
            if len(found) == 1:
                return found[0]
            if found:
                return None
    return _nearest(key, titles) if _nearest(key, titles) is not None else _short_form(wanted, titles)


@dataclass(frozen=True, slots=True)
class Named:
    """A title, and the author as far as known."""

    title: str
    author: str | None


def best_book(wanted: str, books: Sequence[Named], author: str | None = None) -> int | None:
    """Return the index of the one book that ``wanted`` names, as printed on a cover; ``None`` if there is none.

    The author may be given as ``author`` or in the title: ``Emma by Jane Austen``, ``Emma (Austen)``,
    ``Jane Austen: Emma``, ``Jane Austen's Emma``. A book by another author is never returned. A library's name before
    the title is ignored.
    """
    wanted = _LIBRARY_NAME.sub("", " ".join(wanted[:_LONGEST].split())) or wanted[:_LONGEST]
    named = _by_author(wanted, books, author)
    if named is not None:
        return named
    for pattern, needs_author in _AUTHOR_IN_TITLE:
        parted = pattern.match(wanted)
        in_title = parted["author"] if parted is not None else None
        if parted is None or (author and in_title and not same_author(author, in_title)):
            continue
        # "Alice's Adventures" and "Lecture 1: Sorting" have the form, but no author of a known book.
        known = [i for i, book in enumerate(books) if book.author or not needs_author]
        named = _by_author(parted["title"], [books[i] for i in known], in_title or author)
        if named is not None:
            return known[named]
    return None


def _by_author(title: str, books: Sequence[Named], author: str | None) -> int | None:
    kept = [i for i, book in enumerate(books) if same_author(author, book.author)]
    exact = next((i for i in kept if books[i].title == title), None)
    if exact is not None:
        return exact
    found = best_title(title, [_bare_title(books[i]) for i in kept])
    return None if found is None else kept[found]


@lru_cache(maxsize=4096)
def _bare_title(book: Named) -> str:
    """Return a book's title without a library's name and without its own author."""
    title = _LIBRARY_NAME.sub("", book.title) or book.title
    for pattern, _ in _AUTHOR_IN_TITLE if book.author else ():
        parted = pattern.match(title[:_LONGEST])
        if parted is not None and parted["author"] and same_author(parted["author"], book.author):
            return parted["title"]
    return title


_AUTHOR_IN_TITLE = (
    (re.compile(r"^(?P<title>.+?)\s*,?\s+by\s+(?P<author>[^()]+)$", re.IGNORECASE), False),
    (re.compile(r"^(?P<title>.+?)\s*\((?:by\s+)?(?P<author>[^()\d]+)\)\s*$", re.IGNORECASE), False),
    (re.compile(r"^(?P<title>.+?)\s*(?P<author>)\(\d{3,4}\)\s*$"), False),
    (re.compile(r"^(?P<author>[^:–—-]{4,60}?)\s*(?::|\s[–—-])\s+(?P<title>.+)$"), True),
    (re.compile(r"^(?P<author>[^:–—-]{4,60}?)['’]s?\s+(?P<title>.+)$"), True),
)
"""Forms of a title with an author, and whether only a book whose author is known may be meant."""


def same_author(one: str | None, other: str | None) -> bool:
    """Return whether two names may be the same person's; an unknown author matches any."""
    if not one or not other:
        return True
    first, second = title_key(one).split(), title_key(other).split()
    if not first or not second:
        return True
    if "," in one:
        first = title_key(one.split(",", maxsplit=1)[0]).split()
    if "," in other:
        second = title_key(other.split(",", maxsplit=1)[0]).split()
    return fuzz.ratio(first[-1], second[-1]) >= MIN_AUTHOR_RATIO or " ".join(first) == " ".join(second)


_LIBRARY_NAME = re.compile(
    r"^(?:the\s+)?project\s+gutenberg(?:['’]s)?(?:\s+e-?(?:book|text))?(?:\s+of|\s*[:,-])?\s+(?=\S)"
    r"|\s*[-–—|:(]\s*(?:the\s+)?project\s+gutenberg\b.*$|^(?:the\s+)?free\s+e-?book\s+of\s+",
    re.IGNORECASE,
)
_BY_AUTHOR = re.compile(r"^(?P<title>.+?)(?P<comma>,?)\s+by\s+(?P<author>[^\d:;(]{3,60})$", re.IGNORECASE)


def without_attribution(title: str, author: str | None) -> tuple[str, str | None]:
    """Return a title without a library's name and ``by …``, and the author that it named.

    ``by`` is a part of many titles ("Death by Water"): it is taken off if it names the known author, or if a library's
    name or a comma shows what it is.
    """
    title = " ".join(title[:_LONGEST].split())
    bare = _LIBRARY_NAME.sub("", title).strip() or title
    match = _BY_AUTHOR.match(bare)
    if match is None:
        return bare, None
    if (author and same_author(author, match["author"])) or (not author and (bare != title or match["comma"])):
        return match["title"].rstrip(" ,"), match["author"].strip()
    return bare, None


def near_titles(wanted: str, titles: Sequence[str], limit: int = 3) -> tuple[str, ...]:
    """Return titles to suggest after a typo, best first; far looser than ``best_title``."""
    key = title_key(wanted)
    scored = sorted(((fuzz.WRatio(key, title_key(title)), title) for title in titles), reverse=True)
    return tuple(title for score, title in scored[:limit] if score >= 60)


def _main_title(title: str) -> str:
    return _SUBTITLE.split(title[:_LONGEST], maxsplit=1)[0]


def _numbers(key: str) -> tuple[int, ...]:
    """Return the numbers of a title: they distinguish parts and lectures, so "Part 2" is never "Part 1"."""
    found = []
    for position, word in enumerate(key.split()):
        if word.isdigit():
            found.append(int(word[:9]))
        elif position and word in _ROMANS:  # "I, Robot" starts with the pronoun
            found.append(_ROMANS[word])
        elif word in _NUMBER_WORDS:
            found.append(_NUMBER_WORDS[word])
    return tuple(found)


def _nearest(key: str, titles: Sequence[str]) -> int | None:
    numbers = _numbers(key)
    scored = []
    for i, title in enumerate(titles):
        other = title_key(title)
        if _numbers(other) == numbers:
            scored.append((max(fuzz.ratio(key, other), fuzz.ratio(key, title_key(_main_title(title)))), i))
    scored.sort(reverse=True)
    if not scored or scored[0][0] < MIN_RATIO or (len(scored) > 1 and scored[0][0] - scored[1][0] < MIN_LEAD):
        return None
    return scored[0][1]


def _short_form(wanted: str, titles: Sequence[str]) -> int | None:
    """Match ``Alice in Wonderland``: at least two content words, all in one title only, and most of that title's."""
    words = _title_words(wanted)
    if len(words) < 2:
        return None
    within = [(i, _title_words(title)) for i, title in enumerate(titles)]
    holding = [(i, others) for i, others in within if words <= others]
    if len(holding) != 1 or len(words) < MIN_COVER * len(holding[0][1]):
        return None
    i = holding[0][0]
    return i if _numbers(title_key(wanted)) == _numbers(title_key(titles[i])) else None


def _title_words(title: str) -> set[str]:
    return {stem(word) for word in words_of(title[:_LONGEST]) if word not in STOP_WORDS}
