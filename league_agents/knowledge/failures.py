"""Errors of books, the index and the catalogue."""

from __future__ import annotations

from league_agents.kit.errors import ConfigError, LeagueError


class KnowledgeError(LeagueError):
    """The agents' books could not be used."""


class DocumentRefused(KnowledgeError):
    """A file cannot be read as a book."""

    def __init__(self, source: str, message: str) -> None:
        super().__init__(f"{source}: {message}")
        self.source = source
        """The file as the user named it, or its location in the package."""


class UnknownBook(KnowledgeError):
    """No book with that name is in the index."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        hint = f"did you mean {', '.join(known)}?" if known else "'league-agents corpus list' names the books"
        super().__init__(f"{name[:80]}: no such book in the index; {hint}")
        self.name = name
        self.known = known
        """The most similar titles, best first; empty if none is similar."""


class IndexUnusable(KnowledgeError, ConfigError):
    """The index file cannot be used."""

    def __init__(self, path: str, message: str) -> None:
        ConfigError.__init__(self, path, message)


class OpeningUnknown(KnowledgeError):
    """A book has no such sentence to open with."""

    def __init__(self, title: str, message: str) -> None:
        super().__init__(f"{title[:80]}: {message}")
