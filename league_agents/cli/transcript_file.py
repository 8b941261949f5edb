"""The file of the arena's ``--record``: written line by line while a match is played, and never over something else."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import open_private


def open_record(path: Path) -> TextIO:
    """The file for the transcript; a former transcript is written anew, anything else is kept. Raises ConfigError."""
    try:
        if path.exists() and (not path.is_file() or not _is_transcript(path)):
            raise ConfigError(f"--record {path}", "exists and is no transcript; name another file or remove this one")
        return open_private(path, "w", errors="backslashreplace")
    except OSError as error:
        raise ConfigError(f"--record {path}", f"cannot be written: {error.strerror}") from None


def _is_transcript(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(32).startswith(b'{"line":"header"') or path.stat().st_size == 0
