"""Topics of pages, as phrases that fit into a sentence: "the harbour", "Elizabeth", "a letter".

Rule: a topic is a name or a noun, judged by how the book itself uses the word. A capital that does not begin a sentence
marks a name; an article before the word and no other content word after it mark a noun. In a language without such
marks there are no topics.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from league_agents.agents.questions.reading import fold
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.words import STOP_WORDS, stem


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SAMPLE = 150
"""Number of passages that suffice to estimate which words are common in a book."""

_ARTICLES = frozenset({"a", "an", "the"})
_POSSESSIVES = frozenset({"my", "his", "her", "our", "their", "your", "its", "this", "that", "these", "those"})
_LEAST_LETTERS = 3
_TOKEN = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]+)?|[.!?;:,—–()\[\]“”\"«»-]|\d+")
_CONTRACTED = re.compile(r"[’']")
_OF_A_COUNTRY = re.compile(r"(?:ian|ican|ish|ese)$")
_SENTENCE_ENDS = frozenset('.!?:“”"«»()[]')
_DULL = _set_of(
    "thing things way ways one ones time times part parts lot kind sort case cases matter place other others first "
    "last second third next same rest sake fact least moment course side end right left great little good old young "
    "new whole mr mrs miss dr sir lady lord god example number following sudden former latter best worst better "
    "worse more most day days man men people person something nothing anything everything everybody nobody like "
    "meanwhile won rather pair bit deal contrary question hers yours whatever whichever whoever hence today tonight "
    "yesterday tomorrow"
)
"""Words that do not indicate a topic, and words that only precede a name."""


@dataclass(slots=True)
class _Use:
    """Counts of how a word is used in a text."""

    count: int = 0
    as_name: int = 0
    as_noun: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    """Spellings of the word as a topic, with their counts."""


def topics(near: Sequence[Passage], book: Sequence[Passage], *, without: Collection[str], limit: int = 6) -> list[str]:
    """Return topics more frequent in ``near`` than in ``book``, most specific first, except stems in ``without``."""
    uses: dict[str, _Use] = {}
    spread: Counter[str] = Counter()
    for passage in near:
        found = _uses(passage.text)
        spread.update(found.keys())
        for trunk, use in found.items():
            whole = uses.setdefault(trunk, _Use())
            whole.count += use.count
            whole.as_name += use.as_name
            whole.as_noun += use.as_noun
            whole.forms.update(use.forms)
    sample = book[:: max(1, len(book) // _SAMPLE)]
    everywhere = _spread(tuple(sample))

    def telling(trunk: str) -> tuple[float, str]:
        rarity = math.log((len(sample) + 1) / (everywhere[trunk] + 1)) + 0.5
        # Readers remember names best.
        return (-spread[trunk] * rarity * (1.5 if uses[trunk].as_name else 1.0), trunk)

    fit = [trunk for trunk, use in uses.items() if trunk not in without and _is_topic(use)]
    return [_form(uses[trunk]) for trunk in sorted(fit, key=telling)[:limit]]


def _is_topic(use: _Use) -> bool:
    return bool(use.forms) and 2 * max(use.as_name, use.as_noun) >= use.count


def _form(use: _Use) -> str:
    return min(use.forms, key=lambda form: (-use.forms[form], form))


@lru_cache(maxsize=4)
def _spread(passages: tuple[Passage, ...]) -> Counter[str]:
    found: Counter[str] = Counter()
    for passage in passages:
        found.update(_uses(passage.text).keys())
    return found


def _uses(text: str) -> dict[str, _Use]:
    tokens = _TOKEN.findall(text.replace("_", ""))
    found: dict[str, _Use] = defaultdict(_Use)
    for i, token in enumerate(tokens):
        word = fold(token)
        if not token[0].isalpha() or len(word) < _LEAST_LETTERS or word in STOP_WORDS or word in _DULL:
            continue
        if _CONTRACTED.search(token):
            continue
        use = found[stem(word)]
        use.count += 1
        before = tokens[i - 1] if i else "."
        after = tokens[i + 1] if i + 1 < len(tokens) else "."
        if token[0].isupper():
            is_name = token[1:].islower() and not _is_joined(before, after) and not _OF_A_COUNTRY.search(token)
            if before not in _SENTENCE_ENDS and is_name:
                use.as_name += 1
                use.forms[f"the {token}" if fold(before) in _ARTICLES | _POSSESSIVES else token] += 1
        elif (article := fold(before)) in _ARTICLES | _POSSESSIVES and _ends_phrase(after):
            use.as_noun += 1
            use.forms[f"{article if article in _ARTICLES else 'the'} {word}"] += 1
    return found


def _is_joined(before: str, after: str) -> bool:
    """Whether a capitalised word is part of a longer name; a part alone is not a topic."""
    return (before[0].isupper() and fold(before) not in STOP_WORDS and fold(before) not in _DULL) or (
        after[0].isalpha() and after[0].isupper() and fold(after) not in STOP_WORDS
    )


def _ends_phrase(after: str) -> bool:
    return (not after[0].isalnum() and after != "-") or fold(after) in STOP_WORDS
