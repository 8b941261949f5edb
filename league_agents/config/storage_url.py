"""The place of a journal in the configuration: a file, or a URL whose scheme names the storage."""

from __future__ import annotations

from typing import Final

from league_agents.kit.errors import ConfigError

DEFAULT_SCHEME: Final = "sqlite"
SCHEMES: Final = (DEFAULT_SCHEME,)
"""The schemes of the storages in ``app.storage``, in their order."""


def file_of(written: str, where: str) -> str:
    """The file that ``sqlite:///FILE`` names, or a text without a scheme itself; ``sqlite:////`` begins a path at the
    root. Raises ``ConfigError``."""
    scheme, colon, rest = written.partition("://")
    if not colon:
        return written
    if scheme not in SCHEMES:
        known = " or ".join(f"{each}:///FILE" for each in SCHEMES)
        raise ConfigError(where, f"must be a file or {known}, found {scheme[:40]!a}://…")  # the rest may be a password
    if not rest.startswith("/") or not rest.strip("/"):
        raise ConfigError(where, f"must be a file or {scheme}:///FILE, found {written[:80]!a}")
    return rest[1:]
