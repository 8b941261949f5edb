"""Facts of a page for questions in free words: names, speech, tense, person, each with three values.

Rule: what marks a thing in print settles it (capitals for names, quotation marks for speech); where print is ambiguous,
the count is given within bounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.counts import CountBounds
from league_agents.agents.questions.free.languages import language_of
from league_agents.agents.questions.reading import Text, fold
from league_agents.knowledge.nouns import Nouns
from league_agents.knowledge.words import STOP_WORDS

_PIECE = re.compile(r"(?P<word>[^\W\d_]+(?:[’'\-‐‑][^\W\d_]+)*)|(?P<mark>[^\w\s])|(?P<number>\d\w*)")
_OPENING = frozenset("“\"«„「『‘('[—")
_SENTENCE_END = frozenset(".!?…:")
_SPOKEN = re.compile(
    r"[“«„「『](?P<a>[^”»“」』]{1,2000})[”»“」』]?|\"(?P<b>[^\"]{1,2000})\"?|(?<!\w)[‘'](?P<c>(?=\w)[^‘\n]{1,600}?[,.!?—])[’'](?!\w)"
)
_SENTENCES = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)[.!?…]+[\"'”’»)]*(?=\s+[\"'“‘(]*[A-Z]|--|$)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text."""

    surface: str
    folded: str
    before: str
    """The folded word or mark before it; empty at the beginning."""

    after: str
    begins_sentence: bool
    is_spoken: bool
    """Whether it stands in quotation marks."""


@dataclass(frozen=True, slots=True)
class Name:
    """A capitalised word that is, or may be, a name."""

    word: Word
    is_certain: bool


@lru_cache(maxsize=256)
def words_in(text: str) -> tuple[Word, ...]:
    """Return the words of a text with their neighbours."""
    spoken = [match.span() for match in _SPOKEN.finditer(text)]
    pieces = list(_PIECE.finditer(text))
    found = []
    for i, piece in enumerate(pieces):
        if not piece["word"]:
            continue
        before = pieces[i - 1][0] if i else ""
        if before == "." and i > 1 and fold(pieces[i - 2][0]) in words.TITLES:
            before = pieces[i - 2][0]
        after = pieces[i + 1][0] if i + 1 < len(pieces) else ""
        while after in ("”", '"', "’", "'", "»"):
            after = ""
        at = i
        while at and pieces[at - 1][0] in _OPENING | {"”", "’", "»", "-", "–"}:
            at -= 1
        earlier = pieces[at - 1][0] if at else ""
        # A quotation in mid-sentence begins with a capital too.
        begins = not earlier or earlier in _SENTENCE_END or (before in _OPENING and before not in ("(", "["))
        found.append(
            Word(piece[0], fold(piece[0]), fold(before), fold(after), begins,
                 any(low <= piece.start() < high for low, high in spoken))
        )  # fmt: skip
    return tuple(found)


def is_english(text: Text) -> bool:
    return language_of(text.text) == "en"


def spoken_count(text: Text) -> CountBounds:
    """Count the passages in quotation marks that are speech."""
    low = high = 0
    for match in _SPOKEN.finditer(text.text):
        said = match["a"] or match["b"] or match["c"] or ""
        is_long = len(said.split()) >= 3 or said.rstrip()[-1:] in ",.!?—" or not said.isascii()
        rest = text.text[match.end() : match.end() + 40].split()
        is_told = any(fold(word.strip(".,;!?")) in words.SPEECH_VERBS for word in rest[:3])
        is_at_edge = match.start() == 0
        high += 1
        # A quoted word in mid-sentence may be a title, a ship or a sound.
        low += (is_long and (is_at_edge or len(said.split()) >= 4)) or is_told or (is_at_edge and is_long)
    return CountBounds(low, high)


def sentence_count(text: Text) -> int:
    """Count the sentences."""
    return max(1, len(_SENTENCES.findall(text.text)) + (not _SENTENCES.search(text.text[-4:])))


def end_mark(text: Text) -> str:
    return text.text.rstrip("\"'”’»」』)_* ")[-1:]


@lru_cache(maxsize=256)
def names_in(text: str) -> tuple[Name, ...]:
    """Return the words that are or may be names."""
    every = words_in(text)
    found = []
    for word in every:
        if not word.surface[0].isupper() or word.folded in STOP_WORDS or word.surface in ("I", "O"):
            continue
        base = word.folded.removesuffix("'s").removesuffix("’s")
        if base in words.TITLES and word.after != "." and not word.after:
            continue
        if base in words.TITLES:
            continue
        if _is_place_or_given(base) or word.before.rstrip(".") in words.TITLES:
            found.append(Name(word, is_certain=not word.begins_sentence or base not in _AMBIGUOUS))
        elif word.before == "." and _before_dot(every, word) in words.TITLES:
            found.append(Name(word, is_certain=True))
        elif word.begins_sentence:
            if base not in _COMMON and not _is_common(base):
                found.append(Name(word, is_certain=_is_name_elsewhere(every, word)))
        elif len(word.surface) > 1 and word.surface.isupper():
            found.append(Name(word, is_certain=False))
        else:
            found.append(Name(word, is_certain=not _is_common(base)))
    return tuple(found)


_AMBIGUOUS = frozenset({"rose", "lily", "violet", "frank", "may", "bath", "jo", "sandy", "will", "grace", "victor"}) - {
    "sandy"
}
_COMMON = words.PRONOUNS | words.ADVERBS | words.CONJUNCTIONS | words.CARDINALS | words.ORDINALS


def _before_dot(every: tuple[Word, ...], word: Word) -> str:
    place = every.index(word)
    return every[place - 1].folded if place else ""


def _is_place_or_given(base: str) -> bool:
    return base in words.GIVEN_NAMES or base in words.PLACES


def _is_name_elsewhere(every: tuple[Word, ...], word: Word) -> bool:
    return any(other.surface == word.surface and not other.begins_sentence for other in every)


def _is_common(base: str) -> bool:
    if base in words.MONTHS | words.WEEKDAYS:
        return False
    nouns = Nouns.load()
    return nouns.noun(base) is not None or base.endswith(("ing", "ed", "ly"))


def person_kind(name: Name) -> bool | None:
    """Whether the name is a person's; ``None`` if the page does not tell."""
    word, base = name.word, name.word.folded.removesuffix("'s")
    if base in words.PLACES and word.before.rstrip(".") not in words.TITLES:
        return False if base not in words.GIVEN_NAMES else None
    if base in words.MONTHS | words.MAYBE_MONTHS | words.WEEKDAYS:
        return False
    if base in words.GIVEN_NAMES or word.before in words.TITLES:
        return True
    if word.before in words.SPEECH_VERBS or word.after in words.SPEECH_VERBS:
        return True
    return None


def gender_of(name: Name) -> str | None:
    """Return ``f`` or ``m`` of a name; ``None`` if the page does not tell."""
    word, base = name.word, name.word.folded.removesuffix("'s")
    if word.before in ("mrs", "miss", "lady", "ms", "madame", "aunt", "queen", "princess"):
        return "f"
    if word.before in ("mr", "sir", "lord", "uncle", "king", "prince", "colonel", "captain", "general", "duke"):
        return "m"
    return "f" if base in words.FEMALE_NAMES else "m" if base in words.MALE_NAMES else None


def narrated(text: Text) -> list[Word]:
    """Return the words outside quotation marks."""
    return [word for word in words_in(text.text) if not word.is_spoken]


def first_person(text: Text) -> bool | None:
    """Whether the narrator says I or we; ``None`` if only quoted speech tells."""
    told, said = narrated(text), [word for word in words_in(text.text) if word.is_spoken]
    if any(word.folded in words.FIRST_PERSON for word in told):
        return True
    return None if any(word.folded in words.FIRST_PERSON for word in said) or len(told) < 2 else False


def third_person(text: Text) -> bool | None:
    first = first_person(text)
    if first is not False:
        return False if first and not spoken_count(text).high else None if first is None else False
    told = narrated(text)
    if any(word.folded in words.SECOND_PERSON for word in told):
        return None
    return True


def tense(text: Text) -> str | None:
    """Return ``past`` or ``present``; ``None`` if verbs of both stand in the text, or none is known."""
    past = present = False
    every = words_in(text.text)
    for i, word in enumerate(every):
        here, before = word.folded, word.before
        if here in words.PAST_FORMS and not (here in ("made", "found", "left", "felt", "thought", "saw", "rose", "laid")
                                             and before in words.ARTICLES | words.AUXILIARIES):  # fmt: skip
            # "Had fallen" and "was broken" are past by their auxiliary.
            is_participle = before in words.BE_FORMS | {"have", "has", "having"} and here not in ("was", "were", "had")
            past = past or not is_participle
        elif here in words.PRESENT_FORMS:
            present = present or not (here in ("have", "do") and (before in words.MODALS | {"to"} or before == "not"))
        elif here.endswith("ed") and here not in words.NO_PAST_IN_ED:
            past = past or _is_finite_past(every, i)
        elif (here.endswith("s") and not here.endswith("ss") and _is_finite_present(word)) or (
            before == "i" and here not in words.AUXILIARIES | words.ADVERBS | words.CONJUNCTIONS and here.isalpha()
        ):
            present = True
    if past == present:
        return None
    return "past" if past else "present"


def _is_finite_past(every: tuple[Word, ...], i: int) -> bool:
    word = every[i]
    before = word.before
    if not before.isalpha() or before in words.ARTICLES | words.PREPOSITIONS | words.BE_FORMS:
        return False
    if before in words.THIRD_PERSON | {"i", "we", "you", "who"}:
        return before not in ("her", "his", "its", "their")
    return every[i - 1].surface[0].isupper() or Nouns.load().noun(before) is not None


def _is_finite_present(word: Word) -> bool:
    return word.before in ("he", "she", "it", "which", "who", "that", "this", "one", "there") and (
        word.folded not in ("was", "his", "its", "us", "this", "always", "as")
    )
