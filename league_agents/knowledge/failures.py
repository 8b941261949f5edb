"""Every way in which a book, the index or the catalogue fails on purpose."""

from __future__ import annotations

from league_agents.kit.errors import ConfigError, LeagueError


class KnowledgeError(LeagueError):
    """The books that the agents know could not be used."""


class DocumentRefused(KnowledgeError):
    """A file is not a book that can be read."""

    def __init__(self, source: str, message: str) -> None:
        super().__init__(f"{source}: {message}")
        self.source = source
        """The file as the user named it, or the place in the package."""


class UnknownBook(KnowledgeError):
    """No book of that name is in the index."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        hint = f"did you mean {', '.join(known)}?" if known else "'league-agents corpus list' names the books"
        super().__init__(f"{name[:80]}: no such book in the index; {hint}")
        self.name = name
        self.known = known
        """The titles that come nearest, best first; empty when none is near."""


class IndexUnusable(KnowledgeError, ConfigError):
    """The index file cannot be used."""

    def __init__(self, path: str, message: str) -> None:
        ConfigError.__init__(self, path, message)
