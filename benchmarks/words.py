"""How well words are understood: names of domains, secret words of own books, hints.

Rule 1: what is counted is what code can see. A secret word is supported if the paragraph has one of its forms, or
mentions two of its associations; of a line with few words one is enough. A hint says something if two of its words are
content words of the book, by the stop words of its language; others were written by people for the work.
Rule 2: the books are the test books, as a user's own; every second one was looked at while the choice was made. The
made documents of ``benchmarks.made_documents`` in eight languages are a further lot.

``.venv/bin/python -m benchmarks.words`` prints the secret word and the hint of each made document for looking at.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.made_documents import PARTS, made_documents
from benchmarks.word_pairs import CATEGORIES, Pairs
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.free.secret_claims import is_of_category
from league_agents.agents.questions.reading import Text
from league_agents.agents.salient import stop_stems
from league_agents.agents.secret_words import is_supported
from league_agents.agents.targets import Secret, choose_target
from league_agents.agents.word_forms import occurs_in
from league_agents.games.q21.rules import PRD
from league_agents.kit.draw import Draw
from league_agents.kit.values import evolve
from league_agents.knowledge.documents import Document
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.files import content_of, read_file
from league_agents.knowledge.formats.reader import IsolatedReader
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.words import STOP_WORDS, stem

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


def made_books(part: str) -> list[Document]:
    """Return the made documents of ``tuned`` or ``held_out`` as a user's own books, each with a title of its own."""
    found: list[Document] = []
    with tempfile.TemporaryDirectory(prefix="words-") as folder, IsolatedReader() as reader:
        for made in made_documents(part):
            path = Path(folder) / made.name
            path.write_text(made.text, encoding="utf-8")
            document = read_file(content_of(path), reader).document
            found.append(evolve(document, title=f"{document.title} {len(found) + 1}"))
    return found


def is_of_the_book(secret: Secret, document: Document) -> bool:
    """Whether two words of the hint are content words of the book by the stop words of its language."""
    language = document.language
    book, stop = Text(document.text), stop_stems(language)
    told = {word for word in Text(secret.brief.book_hint).vocabulary if word not in STOP_WORDS | _OF_FRAMES}
    if language == "zh":
        return sum(occurs_in(word, book) for word in _QUOTED.findall(secret.brief.book_hint)) >= _WORDS
    return sum(stem(word) not in stop and occurs_in(word, book) for word in told) >= _WORDS


_QUOTED = re.compile("「([^」]+)」")


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryCounts:
    """Answers to questions about categories of words that mean several things."""

    questions: int
    right: int
    falsely_yes: int
    falsely_no: int


def category_counts() -> CategoryCounts:
    """Return how the offline referee answers, by the announced domain."""
    knowledge = Knowledge(documents=[])
    found: list[tuple[str, bool | None]] = []
    for truth, word, domain, category in CATEGORIES:
        announced = knowledge.domains.find(domain)
        facts = Facts(
            lists=knowledge.catalogue.domains, word_senses=announced.roots if announced is not None else frozenset()
        )
        found.append((truth, is_of_category(word, category, facts)))
    return CategoryCounts(
        questions=len(found),
        right=found.count(("yes", True)) + found.count(("no", False)),
        falsely_yes=found.count(("no", True)),
        falsely_no=found.count(("yes", False)),
    )


def says_something(secret: Secret) -> bool:
    """Whether the hint has two words of the book that are no stop words, or is one that people wrote for the work."""
    own = Text(secret.brief.book_hint)
    told = {word for word in own.vocabulary if len(word) > 1 and word not in STOP_WORDS and word not in _OF_FRAMES}
    return len(told) >= _WORDS


_OF_FRAMES = Text(
    "a text speaks reads here pages come speak occur longer shorter work private shelf nothing else disclosed present "
    "ask well little revealed beforehand twenty good questions should suffice only careful wording lead"
).vocabulary


def main() -> None:
    """Print one target of each made document."""
    for part in PARTS:
        books = {book.title: book for book in made_books(part)}
        secrets = own_targets(list(books.values()), draws=1)
        for secret in sorted(secrets, key=lambda each: (books[each.target.book_name].language, each.target.book_name)):
            book = books[secret.target.book_name]
            marks = ("" if has_support(secret) else " NO SUPPORT") + (
                "" if is_of_the_book(secret, book) else " HINT SAYS NOTHING"
            )
            word = f"{secret.target.associative_word} ({secret.brief.association_domain})"
            print(f"{part:8} {book.language:3} {word:40} {secret.brief.book_hint}{marks}")


if __name__ == "__main__":
    main()
