"""The books of both offline agents: the user's index, the bundled lectures, the catalogue.

Rule 1: files are opened only when needed and never written: a missing index is not created.
Rule 2: equal sources give equal shelves in equal order, so a seed gives the same match on every machine with these
sources.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from weakref import WeakValueDictionary

from rapidfuzz import fuzz

from league_agents.agents.questions.reading import CandidateReading, fold, read
from league_agents.agents.word_forms import forms_of
from league_agents.knowledge.catalogue import Catalogue, Work
from league_agents.knowledge.documents import Document
from league_agents.knowledge.domains import Domains, WordDomain
from league_agents.knowledge.embeddings import Embedder, is_installed
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.lectures import lectures
from league_agents.knowledge.passages import Passage, book_opening, passages
from league_agents.knowledge.retrieval import Retrieved as Retrieved  # part of this module's interface
from league_agents.knowledge.retrieval import Retriever
from league_agents.knowledge.titles import Named, best_book, same_author, title_key
from league_agents.knowledge.vocabulary import BookVocabulary

_BOOKS_KEPT = 8
"""Number of books whose readings are kept in memory; a novel takes about 10 MB."""

_LONGEST_NAME = 300
_SAME_SPELLING = 0.8
_SAME_MEANING = 0.55
"""Least cosine similarity of two names of one domain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One book with its passages and their readings."""

    title: str
    author: str | None
    passages: tuple[Passage, ...]

    readings: tuple[CandidateReading, ...]
    """One for each passage, in the same order."""

    vocabulary: BookVocabulary
    """The words of each passage, in the same order."""

    language: str = "en"
    """ISO 639-1, or ``und``."""

    opening: Passage | None = None
    """Beginning of the book, which need not be one of its passages; ``None`` for a book without a sentence."""

    def reading_of(self, sentence: str) -> CandidateReading | None:
        """Return the reading of the paragraph that opens with exactly this sentence; ``None`` if there is none."""
        place = next((i for i, passage in enumerate(self.passages) if passage.opening_sentence == sentence), None)
        if place is not None:
            return self.readings[place]
        if self.opening is not None and self.opening.opening_sentence == sentence:
            return read(sentence, self.opening.text, part=0.0)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelved:
    """An entry of the shelf: a book that can be fetched."""

    title: str
    author: str | None

    document: Document | None = field(default=None, repr=False)
    """``None`` for a book of the user's index."""

    @property
    def is_own(self) -> bool:
        """Whether the book is from the user's index."""
        return self.document is None


class Knowledge:
    """All sources that need no model. Agents in several threads may share one instance."""

    def __init__(
        self,
        *,
        index: KnowledgeIndex | None = None,
        documents: Sequence[Document] | None = None,
        catalogue: Catalogue | None = None,
        is_wanted: Callable[[str], bool] = lambda _title: True,
    ) -> None:
        """``documents`` supplement the index; ``None`` means the bundled lectures. ``catalogue``: ``None`` means the
        bundled catalogue. ``is_wanted`` limits books and works by their titles."""
        self._is_wanted = is_wanted
        self._index = index
        self._documents = documents
        self._catalogue = catalogue
        self._volumes: OrderedDict[str, Volume] = OrderedDict()
        self._lock = threading.RLock()

    @classmethod
    def open(cls, index_path: Path | None) -> Knowledge:
        """Open the user's index at ``index_path``; ``None`` or a missing file: lectures and catalogue only.

        Raises IndexUnusable for a file that is not an index.
        """
        index = KnowledgeIndex(index_path) if index_path is not None and index_path.is_file() else None
        return cls(index=index)

    @classmethod
    def shared(cls, index_path: Path | None) -> Knowledge:
        """Return what ``open`` does, one instance for all callers as long as one of them holds it and the file is not
        changed. Nobody closes it."""
        with _SHARING:
            found = _SHARED.get(_place(index_path))
            if found is None:
                found = cls.open(index_path)
                _SHARED[_place(index_path)] = found  # opening may write to the file
            return found

    def only(self, is_wanted: Callable[[str], bool]) -> Knowledge:
        """Return the books and works with these titles alone, from the same index."""
        return Knowledge(index=self._index, documents=self._documents, catalogue=self._catalogue, is_wanted=is_wanted)

    def close(self) -> None:
        """Close the index. Closing twice is harmless."""
        if self._index is not None:
            self._index.close()

    @property
    def _whole_catalogue(self) -> Catalogue:
        return self._catalogue or Catalogue.load()

    @cached_property
    def catalogue(self) -> Catalogue:
        whole = self._whole_catalogue
        wanted = [work for work in whole.works if self._is_wanted(work.title)]
        return whole if len(wanted) == len(whole.works) else Catalogue(wanted, whole.domains)

    @cached_property
    def shelf(self) -> tuple[Shelved, ...]:
        """Every book with passages, sorted by title; a user's book hides a lecture of the same name."""
        found = {
            title_key(book.title): Shelved(title=book.title, author=book.author)
            for book in (self._index.books() if self._index else ())
        }
        for document in lectures() if self._documents is None else self._documents:
            shelved = Shelved(title=document.title, author=document.author, document=document)
            found.setdefault(title_key(document.title), shelved)
        return tuple(found[key] for key in sorted(found) if self._is_wanted(found[key].title))

    def volume(self, name: str) -> Volume | None:
        """Return the one book with this name, small misspellings allowed, or ``None``."""
        found = self._shelved(name)
        return None if found is None else self.fetch(found)

    def _shelved(self, name: str) -> Shelved | None:
        found = best_book(name, [Named(book.title, book.author) for book in self.shelf])
        if found is None or self._is_by_another(name, self.shelf[found].author):
            return None
        return self.shelf[found]

    def work(self, name: str) -> Work | None:
        """Return the catalogue's entry with this name, or ``None``."""
        found = self.catalogue.find(name[:_LONGEST_NAME])
        return None if found is None or self._is_by_another(name, found.author) else found

    def _is_by_another(self, name: str, author: str | None) -> bool:
        """Whether exactly this title is known, and only of other authors: "The Good Soldier" is not a short form of
        "The Good Soldier Švejk"."""
        authors = self._authors.get(title_key(name), ())
        return bool(authors) and not any(same_author(each, author) for each in authors)

    @cached_property
    def _authors(self) -> dict[str, list[str | None]]:
        """The authors of each title in the shelf and the whole catalogue."""
        found: dict[str, list[str | None]] = {}
        named = [(work.title, work.author) for work in self._whole_catalogue.works]
        named += [(work.english_title, work.author) for work in self._whole_catalogue.works if work.english_title]
        for title, author in (*named, *((book.title, book.author) for book in self.shelf)):
            found.setdefault(title_key(title), []).append(author)
        return found

    def near_works(self, name: str, limit: int) -> list[tuple[Work, float]]:
        """Return the entries with the titles most similar to ``name``, with a similarity from 0 to 1, best first."""
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
        """Return passages and works that match ``hint``, best first, from the index, the lectures and the catalogue.

        ``book`` limits the search to the book of that name, if there is one; otherwise all are searched.
        ``by_meaning`` lets a language model influence the order if the extra ``embeddings`` is installed; leave it out
        for results that must be the same on every machine.
        """
        found = self._shelved(book) if book else None
        title = None if found is None else found.title
        return self._retriever.retrieve(hint, limit, book=title, reranker=self._embedder if by_meaning else None)

    @cached_property
    def _embedder(self) -> Embedder | None:
        return Embedder() if is_installed() else None

    @cached_property
    def _retriever(self) -> Retriever:
        pages = [p for book in self.shelf if book.document is not None for p in passages(book.document)]
        return Retriever(index=self._index, passages=pages, works=self.catalogue.works)

    @cached_property
    def domains(self) -> Domains:
        return Domains(self.catalogue.domains)

    def find_domain(self, name: str) -> WordDomain | None:
        """Return the domain that a referee's wording means, such as ``animals of the sea``; ``None`` if unclear.

        Names that neither the concepts nor the nouns explain are compared with the concepts' names, by spelling and, if
        the extra ``embeddings`` is installed, by meaning.
        """
        name = name[:_LONGEST_NAME]
        found = self.domains.find(name)
        if found is not None or not (key := title_key(name)):
            return found
        names = self.domains.names
        scores = [fuzz.ratio(key, title_key(each)) / 100 for each in names]
        if max(scores) < _SAME_SPELLING and self._embedder is not None:
            scores = self._embedder.likeness(name, names)
            return self.domains.find(names[scores.index(max(scores))]) if max(scores) >= _SAME_MEANING else None
        return self.domains.find(names[scores.index(max(scores))]) if max(scores) >= _SAME_SPELLING else None

    def domain(self, name: str) -> str | None:
        """Return the usual name of the domain that a referee's wording means; ``None`` if it is not clear."""
        found = self.find_domain(name)
        return found.name if found is not None else None

    def words_of(self, domain: str) -> tuple[str, ...]:
        """Return the words of the domain, the likeliest first; empty if it is not understood."""
        found = self.find_domain(domain)
        return found.words if found is not None else ()

    @cached_property
    def domain_forms(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Map each folded form of a domain word (the word itself or a plural) to its (word, domain) pairs."""
        found: dict[str, list[tuple[str, str]]] = {}
        for domain, words in sorted(self.catalogue.domains.items()):
            for word in map(fold, words):
                for form in forms_of(word):
                    found.setdefault(form, []).append((word, domain))
        return {form: tuple(entries) for form, entries in found.items()}

    def fetch(self, book: Shelved) -> Volume:
        """Return a book of the shelf with its passages."""
        with self._lock:
            if book.title in self._volumes:
                self._volumes.move_to_end(book.title)
                return self._volumes[book.title]
            found: tuple[Passage, ...] = ()
            author, language, opening = None, "und", None
            vocabulary: BookVocabulary | None = None
            if book.document is not None:
                found, opening = tuple(passages(book.document)), book_opening(book.document)
                author, language = book.document.author, book.document.language
            elif self._index is not None and (known := self._index.book(book.title)) is not None:
                found, opening = tuple(self._index.passages(known)), self._index.opening(known)
                author, language = known.author, known.language
                vocabulary = self._index.vocabulary(known)
            last = max(1, len(found))
            readings = tuple(read(p.opening_sentence, p.text, part=i / last) for i, p in enumerate(found))
            if vocabulary is None or vocabulary.passages != len(found):
                vocabulary = BookVocabulary.of([r.paragraph.vocabulary for r in readings if r.paragraph])
            volume = Volume(
                title=book.title,
                author=author,
                passages=found,
                readings=readings,
                vocabulary=vocabulary,
                language=language,
                opening=opening,
            )
            self._volumes[book.title] = volume
            while len(self._volumes) > _BOOKS_KEPT:
                self._volumes.popitem(last=False)
            return volume


_SHARING = threading.Lock()
_SHARED: WeakValueDictionary[object, Knowledge] = WeakValueDictionary()
"""Hundreds of agents in one process have one catalogue, one search and one index."""


def _place(index_path: Path | None) -> object:
    """Equal for the same index with the same content."""
    return (index_path, *(_stamp(index_path, ending) for ending in ("", "-wal")))


def _stamp(index_path: Path | None, ending: str) -> tuple[int, ...] | None:
    """Changes when the index is changed."""
    try:
        found = None if index_path is None else index_path.with_name(f"{index_path.name}{ending}").stat()
    except OSError:
        return None
    return None if found is None else (found.st_ino, found.st_mtime_ns, found.st_size)
