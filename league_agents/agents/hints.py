"""Hints that are true, general, and share no content word with the secret texts.

Rule: code checks every hint word by word. A hint for a paragraph is made from the pages around it, never from the
paragraph, so it tells where the paragraph is and not what it says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from league_agents.agents.difficulty import Demands
from league_agents.agents.library import Knowledge, Volume
from league_agents.agents.questions.reading import Text
from league_agents.agents.salient import likely_nouns, salient_words, stop_stems
from league_agents.agents.topics import topics
from league_agents.agents.word_forms import occurs_in
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.words import count_tokens
from league_agents.kit.draw import Draw
from league_agents.knowledge.nouns import Nouns
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.titles import title_key
from league_agents.knowledge.words import HAN_RUN, STOP_WORDS, content_words, stem, words_of

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
    "A text that speaks of {first} and {second}.",
    "Here one reads of {first} and {second}.",
    "Its pages come to speak of {first}.",
)
_BOOK_UNKNOWN = (
    "{language}, {size}.",
    "A {size} work from a private shelf.",
    "Nothing else may be disclosed at present.",
)
_IN_LANGUAGE = {
    "de": ("Es geht um „{0}“, „{1}“ und „{2}“.", "Darin: „{0}“, „{1}“, „{2}“.", "Man liest von „{0}“."),
    "fr": ("Il est question de « {0} », « {1} » et « {2} ».", "On y lit : {0}, {1}, {2}.", "On y parle de « {0} »."),
    "es": ("Se habla de «{0}», «{1}» y «{2}».", "Aquí aparecen {0}, {1} y {2}.", "Trata de «{0}»."),
    "it": ("Si parla di «{0}», «{1}» e «{2}».", "Vi compaiono {0}, {1} e {2}.", "Tratta di «{0}»."),
    "pt": ("Fala-se de «{0}», «{1}» e «{2}».", "Aqui aparecem {0}, {1} e {2}.", "Trata de «{0}»."),
    "nl": ("Het gaat over „{0}“, „{1}“ en „{2}“.", "Men leest van {0}, {1} en {2}.", "Gaat over „{0}“."),
    "ru": ("Речь идёт о словах «{0}», «{1}» и «{2}».", "Встречаются: {0}, {1}, {2}.", "Встречается: «{0}»."),
    "he": ("מדובר כאן על „{0}”, „{1}” ועל „{2}”.", "מופיעים: {0}, {1}, {2}.", "נזכר כאן „{0}”."),
    "zh": (
        "文中有「{0}」、「{1}」和「{2}」，請細問。",
        "多次提到「{0}」和「{1}」，請細問。",
        "多次提到「{0}」，請細問。",
    ),
}
"""Sentences with the words that tell most about a text, in its language; no grammar of the words is needed."""

_NEARBY = {
    "de": ("In der Nähe: „{0}“ und „{1}“.", "Nicht weit von „{0}“."),
    "fr": ("Tout près : « {0} » et « {1} ».", "Non loin de « {0} »."),
    "es": ("Cerca se habla de «{0}» y «{1}».", "No lejos de «{0}»."),
    "it": ("Vicino si parla di «{0}» e «{1}».", "Non lontano da «{0}»."),
    "pt": ("Perto fala-se de «{0}» e «{1}».", "Não longe de «{0}»."),
    "nl": ("In de buurt: „{0}“ en „{1}“.", "Niet ver van „{0}“."),
    "ru": ("Рядом говорится: «{0}», «{1}».", "Недалеко от слова «{0}»."),
    "he": ("בסמוך מדובר על „{0}” ועל „{1}”.", "לא רחוק מ„{0}”."),
    "zh": ("附近提到「{0}」和「{1}」，請細問。", "附近提到「{0}」，請細問其詳。"),
}
_OTHER_LANGUAGE = (
    "A text in {language} with “{0}”, “{1}” and “{2}”.",
    "{language}, {size}: “{0}”, “{1}”.",
    "{language}: “{0}”.",
)
_WORDS_ALONE = ("… «{0}» … «{1}» … «{2}» …", "… «{0}» … «{1}» …")
"""Where another word would be one of the opening sentence."""

_OTHER_NEARBY = ("Nearby: “{0}” and “{1}”.", "Not far from “{0}”.")
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


def breaks_hint(hint: str, secret: Iterable[str], language: str = "en") -> bool:
    """Whether the hint shares a content word, or any word of four letters or more, with one of the secret texts.

    Stop words of the ``language`` are no content words; ``content_words`` leaves out those of English.
    """
    stop = stop_stems(language)
    said = content_words(hint) - stop
    long_words = {word for word in words_of(hint) if len(word) >= 4 and not HAN_RUN.match(word)}
    long_words = {word for word in long_words if stem(word) not in stop}
    return any(said & content_words(text) or long_words & set(words_of(text)) for text in secret)


def fits_hint(hint: str, rules: RuleSet) -> bool:
    """Whether the hint has a length that the rules allow."""
    least, most = rules.hint_characters
    return least <= len(hint) <= most and count_tokens(hint) <= rules.hint_most_words


def passage_hints(
    passages: Sequence[Passage], place: int, rules: RuleSet, draw: Draw, language: str = "en"
) -> Iterator[str]:
    """Yield hints for ``passages[place]`` that keep the rules, made from the pages around it, most specific first."""
    own = passages[place]
    secret = content_words(own.text) | content_words(own.book)
    for hint in _for_passage(passages, place, secret, draw, language):
        written = hint[0].upper() + hint[1:]
        said = content_words(written) - _FRAME_WORDS.get(language, frozenset()) - stop_stems(language)
        is_true_to_page = not said & content_words(own.text)
        is_telling_nothing = not breaks_hint(written, (own.book, own.opening_sentence), language)
        if fits_hint(written, rules) and is_true_to_page and is_telling_nothing:
            yield written


def book_hints(volume: Volume, sentence: str, rules: RuleSet) -> Iterator[str]:
    """Yield hints for a whole book that share no word with its title and its opening ``sentence``."""
    secret = (volume.title, sentence)
    hidden = content_words(volume.title) | content_words(sentence)
    if volume.opening is not None:
        hidden |= content_words(volume.opening.text)
    for hint in _for_book(volume, hidden, secret):
        written = hint[0].upper() + hint[1:]
        if fits_hint(written, rules) and not breaks_hint(written, secret, volume.language):
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


_ENGLISH = frozenset({"en", "und"})
"""Languages whose topics are found by English grammar; a text of an unknown language may be English."""

_HINTS_LOOKED_AT = 8
_RANKS = 100
"""Number of search results that are examined."""


def _for_passage(passages: Sequence[Passage], place: int, hidden: set[str], draw: Draw, language: str) -> Iterator[str]:
    """Yield sentences that are true of the passage, most specific first."""
    own = passages[place]
    if language not in _ENGLISH:
        said = Text(f"{own.book}\n{own.text}")
        salient: list[list[str]] = []
        for reach in (_REACH, 3 * _REACH, len(passages)):
            near = [*passages[max(0, place - reach) : place], *passages[place + 1 : place + 1 + reach]]
            salient.append(salient_words(near, passages, language, without=hidden, unlike=said))
        two, one = _NEARBY.get(language, _OTHER_NEARBY)
        for frame in (two, *_WORDS_ALONE, one):  # two words of farther pages tell more than one of the nearest
            for each in salient:
                yield from _filled((frame,), each)
    chapter = [i for i, passage in enumerate(passages) if passage.chapter == own.chapter]
    words = {
        "place": _PLACES[min(3, 4 * place // max(1, len(passages)))],
        "within": _PARTS[min(2, 3 * sum(i < place for i in chapter) // max(1, len(chapter)))],
    }
    before = [passages[i] for i in chapter if place - _REACH <= i < place]
    after = [passages[i] for i in chapter if place < i <= place + _REACH]
    around = topics([passages[i] for i in chapter if i != place], passages, without=hidden)
    if language not in _ENGLISH:
        around, before, after = [], [], []
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
    for frame in _PLACE_ONLY:
        yield frame.format(**words)


def _for_book(volume: Volume, hidden: set[str], secret: Sequence[str]) -> Iterator[str]:
    language = volume.language
    if language in _ENGLISH:
        found = [topic for topic in topics(volume.passages, (), without=hidden) if not _is_doing(topic)]
        if len(found) < _TOPICS:
            told = content_words(" ".join(found))
            others = _other_nouns(volume, hidden, "\n".join(secret))
            found += [
                f"the {word}" for word in others if stem(word) not in told and _is_common(word) and not _is_doing(word)
            ]
        for frame in _BOOK:
            if len(found) >= frame.count("{"):
                yield frame.format(**dict(zip(("first", "second", "third"), found, strict=False)))
    words = {
        "language": _LANGUAGES.get(language, "Another language"),
        "size": "longer" if len(volume.passages) > 100 else "shorter",
    }
    if language != "en":
        said = Text("\n".join(secret))
        salient = salient_words(volume.passages, (), language, without=hidden, unlike=said)
        for further in (_other_nouns, _long_words):  # many languages have no articles by which nouns are found
            if len(salient) < _TOPICS:
                salient = list(dict.fromkeys([*salient, *further(volume, hidden, "\n".join(secret))]))
        *frames, one = _IN_LANGUAGE.get(language, _OTHER_LANGUAGE)
        yield from _filled((*frames, *_WORDS_ALONE, one), salient, **words)
    for frame in _BOOK_UNKNOWN:
        yield frame.format(**words)


def _other_nouns(volume: Volume, hidden: set[str], secret: str) -> list[str]:
    """Return nouns that say something of a short text, by their articles, with those of its opening paragraph last."""
    language, said = volume.language, Text(secret)
    pages = "\n".join(passage.text for passage in volume.passages)
    outside = [word for word in likely_nouns(pages, language) if stem(word) not in hidden]
    opening = likely_nouns(volume.opening.text, language) if volume.opening is not None else []
    stems = content_words(secret)
    found = [w for w in (*outside, *opening) if stem(w) not in stems and not occurs_in(w, said)]
    return list(dict.fromkeys(found))


def _long_words(volume: Volume, hidden: set[str], secret: str) -> list[str]:
    """Return the longest words of the pages that are no names, no stop words and not of the opening sentence,
    with those of its paragraph last."""
    said, stop = Text(secret), stop_stems(volume.language)
    pages = volume.passages if volume.opening is None else (*volume.passages, volume.opening)
    words = (word for passage in pages for word in Text(passage.text).words)
    fit = {w for w in words if w.isalpha() and w.islower() and len(w) >= _LEAST_LETTERS and not HAN_RUN.match(w)}
    none = stop | content_words(secret)
    others = [w for w in fit if stem(w) not in none and w not in STOP_WORDS and not occurs_in(w, said)]
    return sorted(others, key=lambda word: (stem(word) in hidden, -len(word), word))[:_TOPICS]


def _is_common(word: str) -> bool:
    return Nouns.load().noun(word) is not None and (Nouns.load().commonness(word) or 9) <= _MOST_COMMON


def _is_doing(topic: str) -> bool:
    """Whether the topic is rather a verb, such as "the coming"."""
    nouns = Nouns.load()
    senses = nouns.senses(topic.rpartition(" ")[2]) if topic.endswith("ing") else ()
    return bool(senses) and nouns.synset(senses[0].synset).file in _DOINGS


_TOPICS = 3
_LEAST_LETTERS = 6
_DOINGS = (4, 11)
"""Numbers of WordNet's files of actions and events."""

_MOST_COMMON = 3
"""Commonness (see ``Nouns``) up to which a noun tells a reader something."""

_FRAME_WORDS = {language: frozenset().union(*map(content_words, frames)) for language, frames in _NEARBY.items()}
"""Words of the sentences around the words that tell something; they tell nothing themselves."""


def _filled(frames: Sequence[str], words: Sequence[str], **others: str) -> Iterator[str]:
    """Yield the frames with the words in their places, those for which there are enough words."""
    for frame in frames:
        if len(words) >= 1 + max(map(int, re.findall(r"{(\d)}", frame))):
            yield frame.format(*words, **others)
