"""The place of a journal in the configuration: a file, or a database that keeps the journals of many roles."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from league_agents.kit.errors import ConfigError

FILE_SCHEME: Final = "sqlite"
DATABASE_SCHEMES: Final = ("postgresql", "postgres")
JOURNAL_VARIABLE: Final = "LEAGUE_JOURNAL_URL"
"""The place of the journals of all roles whose section of the league file names none."""

_EXAMPLES: Final = f"a file, {FILE_SCHEME}:///FILE or {DATABASE_SCHEMES[0]}://USER@HOST/DATABASE"


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """A database. A role's journal in it is found by the role and its address."""

    url: str = field(repr=False)
    """May hold a password."""

    def __str__(self) -> str:
        """The address without user, password and options."""
        parts = urlsplit(self.url)
        return f"{DATABASE_SCHEMES[0]}://{parts.netloc.rpartition('@')[2]}{parts.path}"


JournalPlace = Path | DatabaseUrl


def journal_place(written: str, where: str, folder: Path) -> JournalPlace:
    """The place that a text of the configuration names: a file relative to ``folder``, ``sqlite:///FILE``
    (``sqlite:////`` begins a path at the root), or ``postgresql://…``. Raises ``ConfigError``."""
    scheme, colon, rest = written.partition("://")
    if not colon:
        return folder / Path(written).expanduser()
    if scheme in DATABASE_SCHEMES:
        try:
            database = urlsplit(written).path.strip("/")
        except ValueError:
            database = ""
        if not database:
            raise ConfigError(where, f"must be {_EXAMPLES}; the address names no database")
        return DatabaseUrl(written)
    if scheme != FILE_SCHEME:
        raise ConfigError(where, f"must be {_EXAMPLES}, found {scheme[:40]!a}://…")  # the rest may be a password
    if not rest.startswith("/") or not rest.strip("/"):
        raise ConfigError(where, f"must be {_EXAMPLES}, found {written[:80]!a}")
    return folder / Path(rest[1:]).expanduser()
