"""The progress events of adding books."""

from __future__ import annotations

from pathlib import Path


class AddingWatcher:
    """Receives the progress of adding files; this base class ignores it."""

    def begins(self, files: int) -> None:
        """Adding starts; ``files`` is the number of files to read."""

    def opens(self, path: Path) -> None:
        """The file at ``path`` is about to be read."""

    def reads(self, pages: int) -> None:
        """That many pages of the current file have been read."""

    def is_done_with(self, path: Path) -> None:
        """The file has been added or refused."""
