"""The books that both offline agents play with: the user's index, the bundled lectures, the catalogue.

Rule 1: nothing is opened or read before it is needed, and nothing is ever written: an index that does not exist stays
so.
Rule 2: equal sources give equal shelves in equal order, so a seed means the same match on every machine that has them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rapidfuzz import fuzz

from league_agents.agents.questions.reading import CandidateReading, fold, read
from league_agents.agents.word_forms import forms_of
from league_agents.knowledge.catalogue import Catalogue, Work
from league_agents.knowledge.documents import Document
from league_agents.knowledge.embeddings import Embedder, is_installed
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.lectures import lectures
from league_agents.knowledge.passages import Passage, book_opening, passages
from league_agents.knowledge.retrieval import Retrieved as Retrieved  # part of this module's interface
from league_agents.knowledge.retrieval import Retriever
from league_agents.knowledge.titles import best_title, title_key

_BOOKS_KEPT = 8
"""Books whose readings are kept in memory: a novel takes about 10 MB."""

_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One book with its passages, ready to be asked about."""

    title: str
    author: str | None
    passages: tuple[Passage, ...]

    readings: tuple[CandidateReading, ...]
    """One for each passage, in the same order."""

    language: str = "en"
    """ISO 639-1, or ``und``."""

    opening: Passage | None = None
    """What the book begins with, which need not be one of its passages; ``None`` for a book without a sentence."""

    def reading_of(self, sentence: str) -> CandidateReading | None:
        """What the paragraph that opens with exactly this sentence shows; ``None`` when there is none."""
        place = next((i for i, passage in enumerate(self.passages) if passage.opening_sentence == sentence), None)
        if place is not None:
            return self.readings[place]
        if self.opening is not None and self.opening.opening_sentence == sentence:
            return read(sentence, self.opening.text, part=0.0)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelved:
    """A book that can be fetched."""

    title: str

    document: Document | None = field(default=None, repr=False)
    """``None`` for a book of the user's index."""

    @property
    def is_own(self) -> bool:
        """Whether it is a book of the user's."""
        return self.document is None


class Knowledge:
    """All that is known without a model. May be shared by agents in several threads."""

    def __init__(
        self,
        *,
        index: KnowledgeIndex | None = None,
        documents: Sequence[Document] | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        """``documents`` stand beside the index; ``None`` means the bundled lectures, and so with ``catalogue``."""
        self._index = index
        self._documents = documents
        self._catalogue = catalogue
        self._volumes: OrderedDict[str, Volume] = OrderedDict()
        self._lock = threading.RLock()

    @classmethod
    def open(cls, index_path: Path | None) -> Knowledge:
        """With the user's index at ``index_path`` if there is one; ``None`` or no file: lectures and catalogue only.

        Raises IndexUnusable for a file that is no index.
        """
        index = KnowledgeIndex(index_path) if index_path is not None and index_path.is_file() else None
        return cls(index=index)

    def close(self) -> None:
        """Close the index. Closing twice is harmless."""
        if self._index is not None:
            self._index.close()

    @cached_property
    def catalogue(self) -> Catalogue:
        return self._catalogue or Catalogue.load()

    @cached_property
    def shelf(self) -> tuple[Shelved, ...]:
        """Every book that has passages, by title; a user's book hides a lecture of the same name."""
        found = {
            title_key(book.title): Shelved(title=book.title) for book in (self._index.books() if self._index else ())
        }
        for document in lectures() if self._documents is None else self._documents:
            found.setdefault(title_key(document.title), Shelved(title=document.title, document=document))
        return tuple(found[key] for key in sorted(found))

    def volume(self, name: str) -> Volume | None:
        """The one book that ``name`` names, slips of the pen allowed, or ``None``."""
        found = best_title(name[:_LONGEST_NAME], [book.title for book in self.shelf])
        return None if found is None else self.fetch(self.shelf[found])

    def work(self, name: str) -> Work | None:
        """The catalogue's entry that ``name`` names, or ``None``."""
        return self.catalogue.find(name[:_LONGEST_NAME])

    def near_works(self, name: str, limit: int) -> list[tuple[Work, float]]:
        """The entries whose titles look most like ``name``, with a likeness from 0 to 1, best first."""
        key = title_key(name[:_LONGEST_NAME])
        scored = [
            (max(fuzz.ratio(key, title_key(title)) for title in (w.title, w.english_title) if title) / 100, i)
            for i, w in enumerate(self.catalogue.works)
        ]
        scored.sort(key=lambda row: (-row[0], row[1]))
        return [(self.catalogue.works[i], score) for score, i in scored[:limit]]

    def retrieve(
        self, hint: str, limit: int = 10, *, book: str | None = None, by_meaning: bool = False
    ) -> list[Retrieved]:
        """Passages and works that ``hint`` may mean, best first: of the user's index, the lectures and the catalogue.

        ``book`` keeps it to the one book that it names, if there is such a book; otherwise all are searched.
        ``by_meaning`` lets a language model have a say in their order where the extra ``embeddings`` is installed;
        what must be the same on every machine does without.
        """
        found = best_title(book[:_LONGEST_NAME], [each.title for each in self.shelf]) if book else None
        title = None if found is None else self.shelf[found].title
        return self._retriever.retrieve(hint, limit, book=title, reranker=self._embedder if by_meaning else None)

    @cached_property
    def _embedder(self) -> Embedder | None:
        return Embedder() if is_installed() else None

    @cached_property
    def _retriever(self) -> Retriever:
        pages = [p for book in self.shelf if book.document is not None for p in passages(book.document)]
        return Retriever(index=self._index, passages=pages, works=self.catalogue.works)

    def domain(self, name: str) -> str | None:
        """The catalogue's domain that a referee's wording means: ``Colors``, ``animals of the land``; ``None``: no
        such.
        """
        key = title_key(name[:_LONGEST_NAME])
        if not key:
            return None
        domains = sorted(self.catalogue.domains)
        exact = next((domain for domain in domains if title_key(domain) == key), None)
        if exact:
            return exact
        scored = sorted(((fuzz.ratio(key, title_key(domain)), domain) for domain in domains), reverse=True)
        return scored[0][1] if scored and scored[0][0] >= 80 else None

    def words_of(self, domain: str) -> tuple[str, ...]:
        """The words of the domain that ``domain`` means; none for one that is not in the catalogue."""
        name = self.domain(domain)
        return self.catalogue.words_of(name) if name else ()

    @cached_property
    def domain_forms(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Each word of a domain, and its plurals, to (word, domain): what to look for in a text."""
        found: dict[str, list[tuple[str, str]]] = {}
        for domain, words in sorted(self.catalogue.domains.items()):
            for word in map(fold, words):
                for form in forms_of(word):
                    found.setdefault(form, []).append((word, domain))
        return {form: tuple(entries) for form, entries in found.items()}

    def fetch(self, book: Shelved) -> Volume:
        """A book of the shelf with its passages."""
        with self._lock:
            if book.title in self._volumes:
                self._volumes.move_to_end(book.title)
                return self._volumes[book.title]
            found: tuple[Passage, ...] = ()
            author, language, opening = None, "und", None
            if book.document is not None:
                found, opening = tuple(passages(book.document)), book_opening(book.document)
                author, language = book.document.author, book.document.language
            elif self._index is not None and (known := self._index.book(book.title)) is not None:
                found, opening = tuple(self._index.passages(known)), self._index.opening(known)
                author, language = known.author, known.language
            last = max(1, len(found))
            volume = Volume(
                title=book.title,
                author=author,
                passages=found,
                readings=tuple(read(p.opening_sentence, p.text, part=i / last) for i, p in enumerate(found)),
                language=language,
                opening=opening,
            )
            self._volumes[book.title] = volume
            while len(self._volumes) > _BOOKS_KEPT:
                self._volumes.popitem(last=False)
            return volume
