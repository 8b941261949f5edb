"""The file of results: a line with the settings, then one line for each game as soon as it has ended.

Rule 1: a file belongs to one set of settings. Games of other settings are refused, and no other file is touched.
Rule 2: written lines stay. A last line torn by the death of the process is cut off, and its game played again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from league_agents.evaluation.results import PlayerGame, RefereeGame
from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import open_private

G = TypeVar("G", PlayerGame, RefereeGame)

LARGEST = 500_000_000
"""Bytes. A game takes about three thousand."""

_FORM = "league-agents evaluation"
_VERSION = 1

_LARGEST_VALUES = {"nano_usd": 10**18, "input_tokens": 10**15, "output_tokens": 10**15}
_LARGEST_VALUE = 10**9
"""Largest size of any other number of a game."""

_SIGNED = {"bits_gained", "gaps", "points", "private_score"}
"""Numbers that may be below 0; all others count or measure something."""

_PARTS = {"player", "opponent", "referee"}


class ResultsFile(Generic[G]):
    """A file that results are appended to."""

    def __init__(self, path: Path, kind: type[G], settings: Mapping[str, object]) -> None:
        """Start the file, or continue one with the same settings. Raises ``ConfigError``."""
        self.path = path
        self._adapter: TypeAdapter[G] = TypeAdapter(kind)
        self.games: dict[int, G] = {}
        """The games that were played before."""

        whole = 0
        try:
            if path.exists() and path.stat().st_size:
                whole = self._read(settings)
                os.truncate(path, whole)
            self._file: IO[str] = open_private(path, "a")
        except OSError as error:
            raise ConfigError(str(path), f"cannot be written: {error.strerror}; name another file") from None
        if not whole:
            self._line({"form": _FORM, "version": _VERSION, "settings": dict(settings)})

    def add(self, game: G) -> None:
        """Write one game."""
        self._line(self._document(game))

    def close(self) -> None:
        self._file.close()

    def _document(self, game: G) -> object:
        document = self._adapter.dump_python(game, mode="json")
        for behaviour in document["behaviour"].values():
            del behaviour["seconds"]  # equal games are equal bytes, whatever the machine's speed
        return document

    def _line(self, document: object) -> None:
        self._file.write(_as_line(document) + "\n")
        self._file.flush()

    def _read(self, settings: Mapping[str, object]) -> int:
        """Read the games of the file; return the number of bytes in whole lines."""
        if not self.path.is_file() or self.path.stat().st_size > LARGEST:
            raise ConfigError(str(self.path), "is no file of results; name another file")
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].splitlines()
        header = _header(lines[0]) if lines else None
        if header is None:
            raise ConfigError(str(self.path), "exists and is no file of results; name another file")
        differing = difference(header, settings)
        if differing is not None:
            raise ConfigError(str(self.path), f"has results of other settings: {differing}; name another file")
        for number, line in enumerate(lines[1:], start=2):
            try:
                game = self._adapter.validate_json(line)
                # A number out of its form, or a field too many, would not be written again as it was read.
                document = self._document(game)
                is_ours = _as_line(document).encode() == line and _is_possible(document)
            except (ValidationError, ValueError):
                is_ours = False
            if not is_ours or game.game < 1 or game.behaviour.keys() != _PARTS:
                raise ConfigError(
                    f"{self.path}, line {number}", "is no result of a game; remove the line, or name another file"
                ) from None
            self.games.setdefault(game.game, game)
        return whole


def _is_possible(value: object, key: str = "") -> bool:
    """Whether each number of a game can be the result of one."""
    if isinstance(value, Mapping):
        return all(_is_possible(each, str(name)) for name, each in value.items())
    if isinstance(value, list):
        return all(_is_possible(each, key) for each in value)
    if not isinstance(value, int | float):
        return True
    if key == "seat":
        return value in (1, 2)
    least = -_LARGEST_VALUE if key in _SIGNED else 0
    return least <= value <= _LARGEST_VALUES.get(key, _LARGEST_VALUE)


def _as_line(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def difference(found: Mapping[str, object], wanted: Mapping[str, object]) -> str | None:
    """Return the first setting that differs, in words; ``None`` if none does."""
    for key in dict.fromkeys((*found, *wanted)):
        one, two = found.get(key), wanted.get(key)
        if one != two:
            if isinstance(one, Mapping) and isinstance(two, Mapping):
                return f"{key}.{difference(one, two)}"
            return f"{key} {_shown(one)}, not {_shown(two)}"
    return None


def _shown(value: object) -> str:
    return "none" if value is None else json.dumps(value, ensure_ascii=False, default=str)[:80]


def _header(line: bytes) -> Mapping[str, object] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("form") != _FORM or found.get("version") != _VERSION:
        return None
    settings = found.get("settings")
    return settings if isinstance(settings, dict) else None
