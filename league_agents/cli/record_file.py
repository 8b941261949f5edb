"""The file of ``--record``: a whole match or nothing, and never in the place of something else.

Rule: whether it can be written is found out before the match is played, not after it.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from league_agents.errors import ConfigError

OPTION = "--record"
LARGEST = 50_000_000
"""Bytes of a former record that are read to recognise it."""


def check_record(path: Path) -> Path:
    """The place where the record will stand. Raises ``ConfigError`` when it cannot or should not be written there."""
    place = path.resolve()
    if not place.parent.is_dir():
        raise ConfigError(f"{OPTION} {path}", f"there is no folder {path.parent}; make it first")
    if place.is_dir():
        raise ConfigError(f"{OPTION} {path}", "is a folder; name a file in it")
    if place.exists() and not _is_record(place):
        raise ConfigError(
            f"{OPTION} {path}", "exists and is no record of a match; name another file or remove this one"
        )
    if not os.access(place.parent, os.W_OK):
        raise ConfigError(f"{OPTION} {path}", f"the folder {path.parent} may not be written to; name another one")
    return place


def write_record(path: Path, text: str) -> None:
    """Replace the file in one go. Raises ``ConfigError``."""
    unfinished: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name[:100]}.", delete=False
        ) as file:
            unfinished = Path(file.name)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # A temporary file is for its owner's eyes; a record gets the rights of any other new file.
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)
        unfinished.replace(path)
    except OSError as error:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
        raise ConfigError(f"{OPTION} {path}", f"cannot be written: {error.strerror}") from None


def _is_record(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return False
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"seed", "rules", "match", "players", "messages"} <= found.keys()
