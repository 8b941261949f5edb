"""Names and common words of domains in other languages than English.

Rule: the table ``lexicon.tsv`` is all there is. A word of it is found in a text in the forms that its language's usual
endings give; no form is guessed that could be another word of the table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from league_agents.knowledge.search_words import hebrew_forms
from league_agents.knowledge.words import HAN_RUN

_FILE = Path(__file__).with_name("lexicon.tsv")
_ENDINGS = {
    "de": ("", "e", "en", "er", "ern", "n", "s", "es"),
    "fr": ("", "s", "x"),
    "es": ("", "s", "es"),
    "pt": ("", "s", "es"),
}
_ITALIAN_PLURALS = {"a": "e", "o": "i", "e": "i"}
_RUSSIAN_VOWELS = "аеёийоуыьюя"
_RUSSIAN_ENDINGS = ("", *"аеийоуыью", "ой", "ом", "ей", "ем", "ью", "ам", "ах", "ов", "ев", "ы", "я", "ям", "ях", "ами")


@cache
def names() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return folded name -> (domain, language) pairs."""
    found: dict[str, list[tuple[str, str]]] = {}
    for domain, row in _rows():
        if domain.startswith("="):
            for language, each in row.items():
                for name in each:
                    found.setdefault(name.casefold(), []).append((domain[1:], language))
    return {name: tuple(pairs) for name, pairs in found.items()}


@cache
def words_in(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return domain -> the table's words in a language (ISO 639-1); empty for a language that it does not have."""
    found: dict[str, list[str]] = {}
    domain = ""
    for first, row in _rows():
        if first.startswith("="):
            domain = first[1:]
        else:
            found.setdefault(domain, []).extend(row.get(language, ()))
    return {domain: tuple(dict.fromkeys(words)) for domain, words in found.items() if words}


def name_in(language: str, domain: str) -> str | None:
    """Return the usual name of a domain in a language; ``None`` if the table has none."""
    row = dict(_rows()).get(f"={domain}", {})
    return row[language][0] if language in row else None


def occurs_in(word: str, language: str, text: str, vocabulary: Collection[str]) -> bool:
    """Whether a text has the word in one of its forms. ``vocabulary``: the text's words in lower case."""
    word = word.casefold()
    if HAN_RUN.fullmatch(word):
        return word in text
    if language == "he":
        return word in vocabulary or word in _hebrew(frozenset(vocabulary))
    return any(form in vocabulary for form in _forms(word, language))


def _forms(word: str, language: str) -> tuple[str, ...]:
    if language == "it":
        return word, word[:-1] + _ITALIAN_PLURALS.get(word[-1], word[-1])
    if language == "ru":
        trunk = word[:-1] if word[-1] in _RUSSIAN_VOWELS else word
        return word, *(trunk + ending for ending in _RUSSIAN_ENDINGS if len(trunk) >= 3)
    return tuple(word + ending for ending in _ENDINGS.get(language, ("",)))


@cache
def _rows() -> tuple[tuple[str, Mapping[str, tuple[str, ...]]], ...]:
    lines = [line.split("\t") for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    languages = lines[0][1:]
    return tuple(
        (row[0], {each: tuple(cell.split("/")) for each, cell in zip(languages, row[1:], strict=True) if cell})
        for row in lines[1:]
    )


def _hebrew(vocabulary: frozenset[str]) -> frozenset[str]:
    return frozenset(form for word in vocabulary if len(word) >= 4 for form in hebrew_forms(word))
