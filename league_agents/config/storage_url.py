"""The place of a journal in the configuration: a file, or a database that keeps the journals of many roles."""

from __future__ import annotations

import re
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

_OF_A_SERVER: Final = ("host", "hostaddr", "port")

_MEANT_AS_A_DATABASE: Final = re.compile(r"^postgres(ql)?:|\bpassword\s*=|\bdbname\s*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """A database. A role's journal in it is found by the role and its address."""

    url: str = field(repr=False)
    """May hold a password."""

    def __str__(self) -> str:
        """The address without user, password and the options that do not name the server."""
        parts = urlsplit(self.url)
        server = [option for option in parts.query.split("&") if option.partition("=")[0] in _OF_A_SERVER]
        query = f"?{'&'.join(server)}" if server else ""
        return f"{DATABASE_SCHEMES[0]}://{parts.netloc.rpartition('@')[2]}{parts.path}{query}"


JournalPlace = Path | DatabaseUrl


def journal_place(written: str, where: str, folder: Path) -> JournalPlace:
    """The place that a text of the configuration names: a file relative to ``folder``, ``sqlite:///FILE``
    (``sqlite:////`` begins a path at the root), or ``postgresql://…``. Raises ``ConfigError``."""
    scheme, colon, rest = written.partition("://")
    # No error quotes more than the scheme: the rest may be a password.
    if not colon:
        if _MEANT_AS_A_DATABASE.search(written):
            raise ConfigError(where, f"must be {_EXAMPLES}; it looks like another form of a database's address")
        return folder / Path(written).expanduser()
    if scheme.lower() in DATABASE_SCHEMES:
        return _database(written, where)
    if scheme != FILE_SCHEME or not rest.startswith("/") or not rest.strip("/"):
        raise ConfigError(where, f"must be {_EXAMPLES}, found {scheme[:40]!a}://…")
    return folder / Path(rest[1:]).expanduser()


def _database(written: str, where: str) -> DatabaseUrl:
    try:
        parts = urlsplit(written)
        database = parts.path.strip("/")
    except ValueError:
        raise ConfigError(where, f"must be {_EXAMPLES}; the address cannot be read") from None
    # A password with one of these characters would be cut in the middle, and its end shown as the name of a host.
    if parts.netloc.count("@") > 1 or "@" in parts.path or "#" in written:
        raise ConfigError(where, "has @, / or # in a user or password; write them as %40, %2F and %23")
    if not database:
        raise ConfigError(where, f"must be {_EXAMPLES}; the address names no database")
    return DatabaseUrl(written)
