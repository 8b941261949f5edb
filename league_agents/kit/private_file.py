"""Files that hold targets, keys or the state of a game, readable by their owner only from the moment of creation.

Rule 1: this module creates every such file of this program, so that the mode is declared once and no umask widens it.
Rule 2: a file that others can read is tightened when it is opened for writing, and one line reports it.
Rule 3: a folder that this program creates is private too. A user's folder is left as it is, unless it holds only such
files. On systems without file modes (Windows) nothing is done.
"""

from __future__ import annotations

import io
import logging
import os
import stat
from collections.abc import Iterable
from io import BufferedWriter
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal

FILE_MODE = 0o600
FOLDER_MODE = 0o700

LOG = logging.getLogger(__name__)

_OTHERS = 0o077
_BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite creates beside a database, with the mode of the database."""


def open_private(path: Path, mode: Literal["w", "a", "x", "a+"], *, errors: str = "strict") -> io.TextIOWrapper:
    """Open a private file for writing text. Raises ``OSError``."""
    file = open(path, mode, encoding="utf-8", newline="\n", errors=errors, opener=_open)  # noqa: SIM115
    assert isinstance(file, io.TextIOWrapper), "a text file with a buffer"
    return file


def open_private_bytes(path: Path, mode: Literal["w", "a"]) -> BufferedWriter:
    """Open a private file for writing bytes. Raises ``OSError``."""
    file = open_private(path, mode).detach()
    assert isinstance(file, BufferedWriter), "a file that is written"
    return file


def make_private_database(path: Path) -> None:
    """Create an empty file for SQLite if there is none. Raises ``OSError``."""
    if not path.exists():
        os.close(_open(str(path), os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)))


def tighten_database(path: Path) -> None:
    """Call ``tighten`` for a database of this program and the files that SQLite keeps beside it."""
    tighten(path, *(path.with_name(f"{path.name}{suffix}") for suffix in _BESIDE_A_DATABASE))


def replace_private(path: Path, content: str | Iterable[bytes]) -> None:
    """Write a whole file atomically, replacing an earlier one. ``content`` is a text, or the pieces of the bytes.
    Raises ``OSError``."""
    unfinished: Path | None = None
    tighten(path)
    try:
        # A temporary file is made with mode 0600, whatever the umask.
        with NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name[:100]}.", delete=False) as file:
            unfinished = Path(file.name)
            file.writelines((content.encode(),) if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
        raise


def make_private_folder(folder: Path) -> None:
    """Create a private folder, and its missing parents. Raises ``OSError``."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)


def tighten(*paths: Path) -> None:
    """Restrict files that belong together to their owner, and report it in one line.

    No-op for files that are private or missing.
    """
    is_told = False
    for path in paths:
        mode = wide_mode(path)
        if mode is not None:
            _take_rights(path, path, mode, FILE_MODE, is_told=is_told)
            is_told = True


def tighten_folder(folder: Path, names: Iterable[str]) -> None:
    """Restrict a folder to its owner if it holds only files of these names and files that belong to them, as
    ``player.db-wal`` and ``player.db.lock`` belong to ``player.db``."""
    own = tuple(names)
    beginnings = tuple(f"{name}{mark}" for name in own for mark in "-.")
    try:
        mode = stat.S_IMODE(folder.stat().st_mode)
        entries = os.listdir(folder)  # noqa: PTH208  # names, not paths
    except OSError:
        return
    is_ours = bool(entries) and all(entry in own or entry.startswith(beginnings) for entry in entries)
    if os.name != "nt" and mode & _OTHERS and is_ours:
        _take_rights(folder, folder, mode, FOLDER_MODE)


def wide_mode(path: Path) -> int | None:
    """The mode of a regular file to which others than its owner have rights; ``None`` for a private file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _wide(status)


def _wide(status: os.stat_result) -> int | None:
    mode = stat.S_IMODE(status.st_mode)
    return mode if os.name != "nt" and stat.S_ISREG(status.st_mode) and mode & _OTHERS else None


def _open(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, FILE_MODE)
    try:
        mode = _wide(os.fstat(descriptor))
        if mode is not None:
            _take_rights(descriptor, path, mode, FILE_MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _take_rights(place: Path | int, shown: Path | str, mode: int, wanted: int, *, is_told: bool = False) -> None:
    level = logging.DEBUG if is_told else logging.WARNING
    try:
        os.chmod(place, mode & wanted)  # noqa: PTH101  # also of an open file
    except OSError as error:
        LOG.log(level, "%s: others can read it (mode %04o), which cannot be changed: %s", shown, mode, error.strerror)
    else:
        LOG.log(level, "%s: others could read it (mode %04o); now only you can", shown, mode)
