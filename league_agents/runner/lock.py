"""Restrict the use of a file to one process at a time.

Rule: the operating system holds the lock, so that a killed process leaves none behind; the process id in the file is
only for the error message.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import IO

from league_agents.kit.private_file import open_private

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class Locked(Exception):
    """Another process holds the lock."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"process {holder}" if holder else "another process")


class FileLock:
    """A lock beside a file: ``<name>.lock``."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises ``Locked`` and ``OSError``."""
        self.path = path.with_name(f"{path.name}.lock")
        # Private, because any user who can open the file can hold the lock.
        self._file: IO[str] | None = open_private(self.path, "a+", errors="replace")
        try:
            _lock(self._file)
        except OSError:
            self._file.seek(0)
            holder = self._file.read(20).strip()
            self.release()
            raise Locked(holder if holder.isdigit() else "") from None
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def release(self) -> None:
        """Release the lock. The file stays: removing it would let two processes hold two locks of one name."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()


def holder_of(path: Path) -> int | None:
    """The process that holds the lock of this file; ``None`` if none does or it is unknown."""
    if not is_locked(path):
        return None
    try:
        text = path.with_name(f"{path.name}.lock").read_text("ascii", "replace").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() and len(text) < 20 else None


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of this file."""
    try:
        with open(path.with_name(f"{path.name}.lock"), "r+", encoding="ascii") as file:  # noqa: PTH123
            _lock(file)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _lock(file: IO[str]) -> None:
    if sys.platform == "win32":
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
