"""Small JSON files that a person or another program may have damaged."""

from __future__ import annotations

import json
from pathlib import Path

_LARGEST_FILE = 100_000


def read_object(path: Path) -> dict[str, object]:
    """Return the object in a file. Raises ``OSError``, or ``ValueError``, whose text does not quote the file."""
    with path.open("rb") as file:
        content = file.read(_LARGEST_FILE + 1)
    if not content.strip():
        raise ValueError("it is empty")
    if len(content) > _LARGEST_FILE:
        raise ValueError("it is too large")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON") from None
    if not isinstance(document, dict):
        raise ValueError("it is no JSON object")
    return document


def why(error: Exception) -> str:
    """Return the fault of a file, without quoting its content."""
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else str(error)
