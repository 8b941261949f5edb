"""Three lectures in the package, so that games on passages need no other book."""

from __future__ import annotations

from functools import cache
from importlib import resources

from league_agents.knowledge.documents import Document, make_document


def lectures() -> list[Document]:
    """Return the lectures in order."""
    return list(_read())


@cache
def _read() -> tuple[Document, ...]:
    files = sorted(
        (file for file in resources.files(__name__).iterdir() if file.name.endswith(".md")), key=lambda f: f.name
    )
    return tuple(
        make_document(
            file.read_text(encoding="utf-8"), source=f"lectures/{file.name}", markup="markdown", author="league_agents"
        )
        for file in files
    )
