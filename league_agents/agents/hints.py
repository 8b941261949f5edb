"""Hints that are true, general, and share no content word with the secret texts.

Rule: code checks every hint word by word. A hint for a paragraph is made from the pages around it, never from the
paragraph, so it tells where the paragraph is and not what it says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from league_agents.agents.difficulty import Demands
from league_agents.agents.library import Knowledge, Volume
from league_agents.agents.topics import topics
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.words import count_tokens
from league_agents.kit.draw import Draw
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.titles import title_key
from league_agents.knowledge.words import HAN_RUN, STOP_WORDS, content_words, han_pairs, stem, words_of

_REACH = 3
"""Number of paragraphs before and after the target from which a hint is made."""

_BEFORE = (
    "From a chapter about {chapter}, soon after {first} and {second} were mentioned.",
    "{place}, in a chapter about {chapter}, shortly after {first}.",
    "{place}, soon after the talk was of {first} and {second}.",
    "Comes after {first} and {second}, {within}.",
    "{first}, then {second}, and then this.",
)
_AFTER = (
    "From a chapter about {chapter}, shortly before {first} and {second} are mentioned.",
    "{place}, shortly before the talk turns to {first} and {second}.",
    "{place}, before {first} and {second}.",
    "Soon followed by {first} and {second}.",
)
_ONE = ("{place}, not far from {first}.", "Near {first}, {within}.", "Close to {first}.")
_UNKNOWN_LANGUAGE = ("{place}; nearby stand “{first}” and “{second}”.", "Nearby: “{first}”, “{second}”.")
_PLACE_ONLY = (
    "{place}, {within}.",
    "{place}; only its wording will tell it from its neighbours.",
    "Only careful questions about wording will lead there.",
    "Ask well, because little can be revealed beforehand.",
    "Nothing else may be disclosed at present.",
    "Twenty good questions should suffice.",
)
_PLACES = ("Early in the book", "In the first half", "Past the middle of the book", "Late in the book")
_PARTS = ("at the beginning of a chapter", "halfway through a chapter", "towards the end of a chapter")

_BOOK = (
    "A text that speaks of {first}, {second} and {third}.",
    "Here one reads of {first}, {second} and {third}.",
    "{first}, {second} and {third}: all of them occur.",
    "Its pages come to speak of {first}.",
)
_BOOK_UNKNOWN = (
    "A text in {language}; among its words are “{first}” and “{second}”.",
    "{language}, {size}.",
    "A work {size}.",
    "A {size} work from a private shelf.",
    "Nothing else may be disclosed at present.",
)
_LANGUAGES = {
    "ar": "Arabic",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "la": "Latin",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ru": "Russian",
    "zh": "Chinese",
}


def breaks_hint(hint: str, secret: Iterable[str]) -> bool:
    """Whether the hint shares a content word, or any word of four letters or more, with one of the secret texts."""
    said = content_words(hint)
    long_words = {word for word in words_of(hint) if len(word) >= 4 and not HAN_RUN.match(word)}
    return any(said & content_words(text) or long_words & set(words_of(text)) for text in secret)


def fits_hint(hint: str, rules: RuleSet) -> bool:
    """Whether the hint has a length that the rules allow."""
    least, most = rules.hint_characters
    return least <= len(hint) <= most and count_tokens(hint) <= rules.hint_most_words


def passage_hints(passages: Sequence[Passage], place: int, rules: RuleSet, draw: Draw) -> Iterator[str]:
    """Yield hints for ``passages[place]`` that keep the rules, made from the pages around it, most specific first."""
    own = passages[place]
    secret = content_words(own.text) | content_words(own.book)
    for hint in _for_passage(passages, place, secret, draw):
        written = hint[0].upper() + hint[1:]
        is_true_to_page = not content_words(written) & content_words(own.text)
        if fits_hint(written, rules) and is_true_to_page and not breaks_hint(written, (own.book, own.opening_sentence)):
            yield written


def book_hints(volume: Volume, sentence: str, rules: RuleSet) -> Iterator[str]:
    """Yield hints for a whole book that share no word with its title and its opening ``sentence``."""
    secret = (volume.title, sentence)
    hidden = content_words(volume.title) | content_words(sentence)
    if volume.opening is not None:
        hidden |= content_words(volume.opening.text)
    for hint in _for_book(volume, hidden):
        written = hint[0].upper() + hint[1:]
        if fits_hint(written, rules) and not breaks_hint(written, secret):
            yield written


def chosen_hint(hints: Iterator[str], demands: Demands, rank: Callable[[str], int | None]) -> str | None:
    """Return the most specific hint with which a search finds the target at a rank that ``demands`` allow; otherwise
    the hint with the nearest rank; ``None`` if there are no hints.
    """
    first, last = demands.hint_ranks
    if demands.candidates == 1:
        return next(hints, None)
    looked = list(islice(hints, _HINTS_LOOKED_AT))
    ranks = [rank(hint) or _RANKS for hint in looked]
    for hint, found in zip(looked, ranks, strict=True):
        if first <= found and (last is None or found <= last):
            return hint
    nearest = min if last is not None else max
    return looked[ranks.index(nearest(ranks))] if looked else None


def rank_of(knowledge: Knowledge, hint: str, book: str, sentence: str | None) -> int | None:
    """Return the rank, from 1, at which a search with ``hint`` finds the target; ``None`` if it does not.

    With a ``sentence``, the search covers the passages of the book; without one, it searches for the book in all books.
    """
    if sentence is not None:
        found = [each.opening_sentence for each in knowledge.retrieve(hint, _RANKS, book=book)]
        return found.index(sentence) + 1 if sentence in found else None
    titles = list(dict.fromkeys(title_key(each.book) for each in knowledge.retrieve(hint, _RANKS)))
    return titles.index(title_key(book)) + 1 if title_key(book) in titles else None


_HINTS_LOOKED_AT = 8
_RANKS = 100
"""Number of search results that are examined."""


def _for_passage(passages: Sequence[Passage], place: int, hidden: set[str], draw: Draw) -> Iterator[str]:
    """Yield sentences that are true of the passage, most specific first."""
    own = passages[place]
    chapter = [i for i, passage in enumerate(passages) if passage.chapter == own.chapter]
    words = {
        "place": _PLACES[min(3, 4 * place // max(1, len(passages)))],
        "within": _PARTS[min(2, 3 * sum(i < place for i in chapter) // max(1, len(chapter)))],
    }
    before = [passages[i] for i in chapter if place - _REACH <= i < place]
    after = [passages[i] for i in chapter if place < i <= place + _REACH]
    around = topics([passages[i] for i in chapter if i != place], passages, without=hidden)
    sides = [(_BEFORE, topics(before, passages, without=hidden)), (_AFTER, topics(after, passages, without=hidden))]
    for frames, found in sides if draw.chance(0.5) else sides[::-1]:
        about = next((topic for topic in around if topic not in found[:2]), None)
        for frame in frames:
            if len(found) >= 2 and (about or "{chapter}" not in frame):
                yield frame.format(chapter=about, first=found[0], second=found[1], **words)
    for found in (sides[0][1], sides[1][1], around):
        for frame in _ONE:
            if found:
                yield frame.format(first=found[0], **words)
    marks = _frequent([*before, *after], passages, hidden)
    for frame in _UNKNOWN_LANGUAGE:
        if len(marks) >= 2 and not around:
            yield frame.format(first=marks[0], second=marks[1], **words)
    for frame in _PLACE_ONLY:
        yield frame.format(**words)


def _for_book(volume: Volume, hidden: set[str]) -> Iterator[str]:
    found = topics(volume.passages, (), without=hidden) if volume.language == "en" else []
    for frame in _BOOK:
        if len(found) >= 3 or (found and "{second}" not in frame):
            yield frame.format(**dict(zip(("first", "second", "third"), found, strict=False)))
    marks = _frequent(volume.passages, (), hidden)
    words = {
        "language": _LANGUAGES.get(volume.language, "Another language"),
        "size": "longer" if len(volume.passages) > 100 else "shorter",
    }
    for frame in _BOOK_UNKNOWN:
        if len(marks) >= 2 or "{first}" not in frame:
            yield frame.format(**words, **dict(zip(("first", "second"), marks, strict=False)))


def _frequent(near: Sequence[Passage], book: Sequence[Passage], hidden: set[str]) -> list[str]:
    """Return words on most pages ``near`` and on few pages of the ``book``, for languages without grammar rules."""
    spread: Counter[str] = Counter()
    for passage in near:
        spread.update(_marks(passage.text, hidden))
    everywhere: Counter[str] = Counter()
    for passage in book[:: max(1, len(book) // 100)]:
        everywhere.update(_marks(passage.text, hidden))
    return sorted(spread, key=lambda word: (everywhere[word] - 2 * spread[word], word))[:4]


_NO_LETTER = re.compile(r"[\d_]")


def _marks(text: str, hidden: set[str]) -> set[str]:
    found: set[str] = set()
    for token in words_of(text):
        if HAN_RUN.match(token):
            found.update(pair for pair in han_pairs(token) if len(pair) == 2 and pair not in hidden)
        elif len(token) >= 3 and token not in STOP_WORDS and stem(token) not in hidden and not _NO_LETTER.search(token):
            found.add(token)
    return found
