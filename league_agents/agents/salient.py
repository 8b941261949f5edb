"""Words that tell what a text in another language than English is about.

Rule: a word is shown if it is a name, a noun by its article or its capital (German), or a word of the lexicon. Words
that occur everywhere in the book, and the stop words of its language, say nothing. Spellings are those of the book.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from league_agents.agents.questions.reading import Text, fold
from league_agents.agents.word_forms import occurs_in
from league_agents.knowledge.domains import lexicon
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.search_words import hebrew_forms
from league_agents.knowledge.words import HAN_RUN, STOP_WORDS, content_words, stem

_STOP_WORDS_FILE = Path(__file__).with_name("stop_words.txt")
_TOKEN = re.compile(r"[^\W\d_]+(?:[״\"׳-][^\W\d_]+)*|[.!?;:…—–()\[\]“”\"«»„]")
_SENTENCE_ENDS = frozenset('.!?:…“”"«»„()[]—–')
_LEAST_LETTERS = 4
_COMMON_SHARE = 0.25
"""Share of a book's passages from which on a word says nothing of it."""

_FEW_PASSAGES = 12
_SAMPLE = 300
_SAME_BEGINNING = 5
_ARTICLE_SHARE = 0.35
"""Share of uses after an article from which on a word is a noun; others stand after adjectives or prepositions."""

_OF_A_KIND = {"name": 2.0, "listed": 2.0, "noun": 1.2}


@dataclass(slots=True)
class _WordUse:
    count: int = 0
    after_article: int = 0
    inside: int = 0
    """Uses that do not begin a sentence."""

    as_capital: int = 0
    """Those of ``inside`` with a capital."""

    forms: Counter[str] = field(default_factory=Counter)
    passages: int = 0


def salient_words(
    near: Sequence[Passage],
    book: Sequence[Passage],
    language: str,
    *,
    without: Collection[str],
    unlike: Text,
    limit: int = 4,
) -> list[str]:
    """Return words of the passages ``near`` that tell most about them within the ``book``, the best first.

    ``without``: stems that must not be shown. ``unlike``: a text of which no word may be shown. An empty ``book`` means
    that ``near`` is the book.
    """
    whole = list(book or near)
    sample = whole[:: max(1, len(whole) // _SAMPLE)]
    everywhere = _uses(sample, language)
    here = _uses(near[:: max(1, len(near) // _SAMPLE)], language) if book else everywhere
    found: list[tuple[float, str]] = []
    for word, use in here.items():
        spread = everywhere[word].passages if word in everywhere else 0
        is_common = len(sample) >= _FEW_PASSAGES and spread > _COMMON_SHARE * len(sample)
        kind = _kind(word, everywhere.get(word, use), language)
        if (
            is_common
            or kind is None
            or stem(word) in without
            or any(occurs_in(part, unlike) for part in word.split("-"))
        ):
            continue
        rarity = math.log((len(sample) + 2) / (spread + 1)) if book else 1.0
        found.append((_OF_A_KIND[kind] * math.log1p(use.passages) * rarity, word))
    chosen: list[str] = []
    for _, word in sorted(found, key=lambda row: (-row[0], row[1])):
        # Forms of one word say the same twice.
        if len(chosen) < limit and not any(word[:_SAME_BEGINNING] == other[:_SAME_BEGINNING] for other in chosen):
            chosen.append(word)
    return [max(sorted(here[word].forms), key=lambda form: here[word].forms[form]) for word in chosen]


def _kind(word: str, use: _WordUse, language: str) -> str | None:
    """Return what a word is; ``None`` if nothing shows that it is a name or a noun."""
    if word in _lists().get(language, ()) or word in STOP_WORDS:
        return None
    if word in _listed(language):
        return "listed"
    if HAN_RUN.match(word) or len(word) < _LEAST_LETTERS:
        return None
    if use.inside >= 2 and use.as_capital >= 0.6 * use.inside:
        return "noun" if language == "de" else "name"
    if use.count >= 2 and use.after_article >= _ARTICLE_SHARE * use.count and not use.as_capital:
        return "noun"
    return None


def likely_nouns(text: str, language: str) -> list[str]:
    """Return the words of a text that an article or, in German, a capital shows to be nouns, in lower case."""
    articles, stop = _lists().get(f"={language}", frozenset()), _lists().get(language, frozenset())
    tokens = _TOKEN.findall(text.replace("’", " ").replace("'", " "))
    found: list[str] = []
    for before, word in pairwise(tokens):
        is_noun = word[0].isupper() and before.islower() if language == "de" else fold(before) in articles
        if is_noun and len(word) >= _LEAST_LETTERS and (language == "de" or word.islower()):
            found.append(fold(word))
    return [word for word in dict.fromkeys(found) if word not in stop]


@cache
def stop_stems(language: str) -> frozenset[str]:
    """Return the stems of a language's stop words; empty for English and for languages without a list."""
    return frozenset(content_words(" ".join(_lists().get(language, ()))))


@cache
def _lists() -> dict[str, frozenset[str]]:
    """Return language -> stop words, and ``=language`` -> the words that precede nouns."""
    found: dict[str, set[str]] = {}
    words: set[str] = set()
    for line in _STOP_WORDS_FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            words.update(line.split())
        elif not line.startswith("#"):
            words = found.setdefault(line, set())
    return {language: frozenset(each) for language, each in found.items()}


@cache
def _listed(language: str) -> frozenset[str]:
    colours = frozenset(lexicon.words_in(language).get("colour", ()))
    return frozenset(fold(w) for words in lexicon.words_in(language).values() for w in words if w not in colours)


def _uses(passages: Sequence[Passage], language: str) -> dict[str, _WordUse]:
    found: defaultdict[str, _WordUse] = defaultdict(_WordUse)
    articles = _lists().get(f"={language}", frozenset())
    listed = _listed(language)
    for passage in passages:
        seen: set[str] = set()
        before = "."
        for token in _TOKEN.findall(passage.text.replace("_", "").replace("’", " ").replace("'", " ")):
            if HAN_RUN.match(token):
                # Chinese has no spaces: only words of the list are certain.
                words = [word for word in listed if word in token]
            elif token[0].isalpha():
                words = [
                    next((f for f in hebrew_forms(token) if f in listed), token) if language == "he" else fold(token)
                ]
            else:
                words = []
            for word in words:
                use = found[word]
                use.count += 1
                use.after_article += before.casefold() in articles
                if before not in _SENTENCE_ENDS:
                    use.inside += 1
                    use.as_capital += token[0].isupper()
                    use.forms[token if language != "he" and not HAN_RUN.match(token) else word] += 1
                elif HAN_RUN.match(token) or language == "he":
                    use.forms[word] += 1
                else:
                    use.forms[token if token[0].islower() or language == "de" else token.lower()] += 0
                if word not in seen:
                    seen.add(word)
                    use.passages += 1
            before = token
    return found
