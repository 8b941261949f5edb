"""How well words are understood: names of domains, secret words of own books, hints.

Rule 1: what is counted is what code can see. A secret word is supported if the paragraph has one of its forms, or
mentions two of its associations. A hint says something if it has two words that are not stop words; others wrote some.
Rule 2: the books are the test books, as a user's own; every second one was looked at while the choice was made.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.word_pairs import Pairs
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.reading import Text
from league_agents.agents.secret_words import is_supported
from league_agents.agents.targets import Secret, choose_target
from league_agents.games.q21.rules import PRD
from league_agents.kit.draw import Draw
from league_agents.knowledge.documents import Document
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.words import STOP_WORDS

DRAWS = 4
"""Targets of each book."""

_WORDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """Over pairs of a word and a domain."""

    pairs: int
    understood: int
    """The domain has words."""

    found: int
    """The word is among them."""


def pair_counts(pairs: Pairs) -> PairCounts:
    """Return how many domains are understood, and how many words are among those of their domain."""
    knowledge = Knowledge(documents=[])
    words = [(word.casefold(), {each.casefold() for each in knowledge.words_of(domain)}) for word, domain in pairs]
    return PairCounts(
        pairs=len(pairs),
        understood=sum(bool(known) for _, known in words),
        found=sum(word in known for word, known in words),
    )


def own_targets(documents: Sequence[Document], *, draws: int = DRAWS) -> list[Secret]:
    """Return the targets of own books that the offline referee draws from these documents, ``draws`` for each."""
    found: list[Secret] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "knowledge.db"
        with KnowledgeIndex(path) as index:
            for document in documents:
                with suppress(DocumentRefused):  # poems without paragraphs
                    index.add(document)
        knowledge = Knowledge.open(path)
        own = {book.title for book in knowledge.shelf if book.is_own}
        seed = 0
        while len(found) < draws * len(own):
            secret = choose_target(knowledge, PRD, Draw(seed, "words/0101001"))
            found += [secret] if secret.target.book_name in own else []
            seed += 1
        knowledge.close()
    return found


def has_support(secret: Secret) -> bool:
    """Whether the target's paragraph has the secret word or speaks of what goes with it."""
    text = secret.reading.paragraph or secret.reading.sentence
    return text is not None and is_supported(secret.target.associative_word, text)


def says_something(secret: Secret) -> bool:
    """Whether the hint has two words of the book that are no stop words, or is one that people wrote for the work."""
    own = Text(secret.brief.book_hint)
    told = {word for word in own.vocabulary if len(word) > 1 and word not in STOP_WORDS and word not in _OF_FRAMES}
    return len(told) >= _WORDS


_OF_FRAMES = Text(
    "a text speaks reads here pages come speak occur longer shorter work private shelf nothing else disclosed present "
    "ask well little revealed beforehand twenty good questions should suffice only careful wording lead"
).vocabulary
