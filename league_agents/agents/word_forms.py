"""Occurrence of a secret word in a text, as it is or as its plural.

Rule: only whole words match, in languages that divide them.
Stems would find "cod" in "codes" and "pin" in "pines", which are other words.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from league_agents.agents.questions.reading import Text, fold
from league_agents.knowledge.words import HAN_RUN

_HISSING = ("s", "x", "z", "ch", "sh")
_VOWELS = "aeiou"
_HEBREW_PREFIXES = frozenset("ושהבלמכ")
_MOST_PREFIXES = 2
_IRREGULAR = {
    "calf": "calves",
    "child": "children",
    "elf": "elves",
    "foot": "feet",
    "goose": "geese",
    "half": "halves",
    "hoof": "hooves",
    "knife": "knives",
    "leaf": "leaves",
    "loaf": "loaves",
    "man": "men",
    "mouse": "mice",
    "ox": "oxen",
    "scarf": "scarves",
    "sheaf": "sheaves",
    "shelf": "shelves",
    "thief": "thieves",
    "tooth": "teeth",
    "wife": "wives",
    "wolf": "wolves",
    "woman": "women",
}


@lru_cache(maxsize=4096)
def forms_of(word: str) -> tuple[str, ...]:
    """Return the folded word and its plurals."""
    word = fold(word)
    if not word.isascii() or not word.isalpha():
        return (word,)
    if word in _IRREGULAR:
        return word, _IRREGULAR[word]
    if word.endswith(_HISSING):
        return word, f"{word}es"
    if word.endswith("y") and len(word) > 2 and word[-2] not in _VOWELS:
        return word, f"{word[:-1]}ies"
    if word.endswith("o") and len(word) > 2 and word[-2] not in _VOWELS:
        return word, f"{word}s", f"{word}es"
    for stem, plural in _IRREGULAR.items():
        if len(stem) >= 3 and word.endswith(stem) and len(word) > len(stem) + 2:  # fisherman, penknife
            return word, f"{word[: -len(stem)]}{plural}", f"{word}s"
    return word, f"{word}s"


def stands_in(word: str, vocabulary: Collection[str]) -> bool:
    """Whether the word or its plural is in ``vocabulary``, the folded words of a text."""
    return any(form in vocabulary for form in forms_of(word))


def occurs_in(word: str, text: Text) -> bool:
    """Whether the word or its plural occurs in the text: in Hebrew also behind prefixed letters, in Chinese, which has
    no spaces, anywhere; the words of a phrase one after the other."""
    word = fold(word)
    if HAN_RUN.fullmatch(word):
        return word in text.text
    if " " in word:
        return f" {word} " in f" {' '.join(text.folded)} "
    if "א" <= word[:1] <= "ת":
        return any(_is_prefixed(token, word) for token in text.vocabulary)
    return stands_in(word, text.vocabulary)


def _is_prefixed(token: str, word: str) -> bool:
    before = token.removesuffix(word)
    return token.endswith(word) and len(before) <= _MOST_PREFIXES and _HEBREW_PREFIXES.issuperset(before)
