"""The catalogue of works in the package: opening sentence, hint, facts and associative words of each.

Rule 1: the data is checked by code. ``check_catalogue`` lists every entry that breaks a rule; the field ``checked``
names the packaged text that contains the opening word for word, if any.
Rule 2: the files are read once, on first use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from league_agents.knowledge.failures import KnowledgeError
from league_agents.knowledge.titles import Named, best_book, title_key

DOMAINS_FILE = "domains.json"


@dataclass(frozen=True, slots=True)
class AssociativeWord:
    """A word that belongs to the work and to the domain announced to the players."""

    word: str
    domain: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """One published work."""

    title: str
    """In the work's own language."""

    english_title: str | None
    """The title under which English readers know the work; ``None`` for a work in English."""

    author: str

    year: int
    """Year of first publication; negative before the common era."""

    language: str
    """ISO 639-1 code of the language of ``opening_sentence``."""

    opening_sentence: str
    """Exactly as published."""

    hint: str
    """At most 15 words, none of the content words of the title or the opening sentence."""

    facts: tuple[str, ...]
    """Statements that a reader can check; at least five."""

    words: tuple[AssociativeWord, ...]

    checked: str | None
    """``exact: <package> <version>`` if that package has the opening; ``None`` if no packaged text has the work."""


class Catalogue:
    """All works and all domains."""

    def __init__(self, works: Sequence[Work], domains: Mapping[str, Sequence[str]]) -> None:
        self.works = tuple(works)
        self.domains = {domain: tuple(words) for domain, words in domains.items()}
        self._names = [(work.title, work) for work in self.works]
        self._names += [(work.english_title, work) for work in self.works if work.english_title is not None]

    @classmethod
    def load(cls) -> Catalogue:
        """Return the package's catalogue, read once. Raises KnowledgeError if the installation is damaged."""
        return _load()

    def find(self, title: str, author: str | None = None) -> Work | None:
        """Return the work that ``title`` names, or ``None``; never guess (see ``titles.best_book``)."""
        found = best_book(title, [Named(name, work.author) for name, work in self._names], author)
        return None if found is None else self._names[found][1]

    def words_of(self, domain: str) -> tuple[str, ...]:
        """Return all words of a domain, case-insensitively; empty for an unknown domain."""
        key = title_key(domain)
        for name, words in self.domains.items():
            if title_key(name) == key:
                return words
        return ()


def catalogue_files() -> dict[str, Any]:
    """Return file name -> parsed content of every catalogue file. Raises KnowledgeError if one is not JSON."""
    files = {}
    for file in resources.files(__name__).iterdir():
        if file.name == DOMAINS_FILE or re.fullmatch(r"works_\w+\.json", file.name):
            try:
                files[file.name] = json.loads(file.read_text(encoding="utf-8"))
            except ValueError as error:
                raise KnowledgeError(f"{file.name}: not JSON: {error}") from error
    return dict(sorted(files.items()))


@cache
def _load() -> Catalogue:
    files = catalogue_files()
    works = [_work(name, entry) for name, entries in files.items() if name != DOMAINS_FILE for entry in entries]
    return Catalogue(works, files.get(DOMAINS_FILE, {}))


def _work(file: str, entry: dict[str, Any]) -> Work:
    try:
        return Work(
            title=entry["title"],
            english_title=entry.get("english_title"),
            author=entry["author"],
            year=entry["year"],
            language=entry["language"],
            opening_sentence=entry["opening_sentence"],
            hint=entry["hint"],
            facts=tuple(entry["facts"]),
            words=tuple(AssociativeWord(word["word"], word["domain"]) for word in entry["words"]),
            checked=entry["checked"],
        )
    except (KeyError, TypeError) as error:
        named = entry.get("title", "an entry") if isinstance(entry, dict) else "an entry"
        raise KnowledgeError(f"{file}: {named}: {error!r} is missing or of the wrong type; reinstall") from error
