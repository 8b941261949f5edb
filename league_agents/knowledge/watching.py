"""What whoever waits for books to be added may want to know."""

from __future__ import annotations

from pathlib import Path


class AddingWatcher:
    """Is told how far the adding of files has come; this one does nothing with it."""

    def begins(self, files: int) -> None:
        """So many files will be looked at."""

    def opens(self, path: Path) -> None:
        """A file is read now."""

    def reads(self, pages: int) -> None:
        """So many of its pages have been read."""

    def is_done_with(self, path: Path) -> None:
        """The file has been added or refused."""
