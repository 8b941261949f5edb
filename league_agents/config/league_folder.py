"""The league files that one process runs: one, several, or all of a folder.

Rule: a file with an error is left out, with its error; the others are read as if it were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from league_agents.config.league_file import Claims, find_league_file
from league_agents.config.league_settings import LeagueSettings
from league_agents.kit.errors import ConfigError

ENDINGS = frozenset({".yaml", ".yml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LeagueFiles:
    """What a reading of the files gave."""

    read: tuple[LeagueSettings, ...]
    """Files without errors, in order. No two of them share a mailbox, a name or a file."""

    wrong: Mapping[Path, ConfigError]


def are_many(named: Sequence[Path]) -> bool:
    """Whether these places of league files may hold several."""
    return len(named) > 1 or any(each.is_dir() for each in named)


def league_files(named: Sequence[Path]) -> list[Path]:
    """The league files at these places, a folder's by name; ``league.yaml`` if there are none. Raises ``ConfigError``
    for a file that is missing and a folder without league files."""
    if not are_many(named):
        return [find_league_file(named[0] if named else None)]
    found: dict[Path, None] = {}
    for place in named:
        if not place.is_dir():
            found.setdefault(find_league_file(place))
            continue
        try:
            inside = sorted(
                each for each in place.iterdir() if each.suffix in ENDINGS and each.is_file() and each.name[0] != "."
            )
        except OSError as error:
            raise ConfigError(str(place), f"cannot be read: {error.strerror}") from None
        if not inside:
            raise ConfigError(str(place), "holds no league file, that is, no file that ends in .yaml or .yml")
        found.update(dict.fromkeys(inside))
    return list(found)


def read_league_files(
    paths: Sequence[Path],
    read: Callable[[Path], LeagueSettings],
    *,
    before: Mapping[Path, LeagueSettings] | None = None,
) -> LeagueFiles:
    """Read the files with ``read``. ``before`` holds what now runs of a file: it keeps its mailboxes if the file has an
    error."""
    claims, found, wrong = Claims(), dict[Path, LeagueSettings](), dict[Path, ConfigError]()
    for path in paths:
        try:
            found[path] = read(path)
        except ConfigError as error:
            wrong[path] = error
    for path, settings in (before or {}).items():
        if path in wrong:
            claims.take(settings)
    for path, settings in list(found.items()):
        try:
            claims.take(settings)
        except ConfigError as error:
            wrong[path] = error
            del found[path]
    return LeagueFiles(read=tuple(found.values()), wrong=wrong)
