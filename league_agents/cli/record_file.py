"""A file that a command writes as one document: all of it or nothing, and never in the place of something else.

Rule: whether it can be written is found out before anything is played, not after it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.private_file import replace_private

LARGEST = 50_000_000
"""Bytes of a former record that are read to recognise it."""


class FileToWrite(click.ParamType):  # type: ignore[type-arg]  # generic in newer clicks only
    """The name of a file that a command will write. What can only name a folder is refused at once: ``pathlib`` would
    make a file ``books`` of ``books/``.
    """

    name = "file"

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        text = str(value)
        option = param.opts[0] if param is not None else self.name
        if not text.strip():
            raise ConfigError(option, "the name is empty; write the name of a file")
        if text == "-":
            raise ConfigError(f"{option} -", "names no file; write the name of a file")
        if os.path.basename(text) in ("", os.curdir, os.pardir):  # noqa: PTH119  # pathlib drops what is looked for
            raise ConfigError(f"{option} {text}", "is a folder; name a file in it")
        return Path(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind:
    """One kind of document that is written to a file."""

    option: str
    """The option that names the file."""

    what: str
    is_one: Callable[[dict[str, object]], bool]
    """Whether a JSON object is such a document: only those are replaced."""


MATCH = RecordKind(
    option="--record",
    what="record of a match",
    is_one=lambda found: {"seed", "rules", "match", "players", "messages"} <= found.keys(),
)


def check_record(path: Path, kind: RecordKind = MATCH) -> Path:
    """The place where the file will stand. Raises ``ConfigError`` when it cannot or should not be written there."""
    named = f"{kind.option} {path}"
    try:
        place = path.resolve()
        folder = shortened(str(path.parent))
        if not place.parent.is_dir():
            raise ConfigError(named, f"there is no folder {folder}; make it first")
        if place.is_dir():
            raise ConfigError(named, "is a folder; name a file in it")
        if (place.exists() or place.is_symlink()) and not _is_one(place, kind):
            raise ConfigError(named, f"exists and is no {kind.what}; name another file or remove this one")
        if not os.access(place.parent, os.W_OK):
            raise ConfigError(named, f"the folder {folder} may not be written to; name another one")
    except OSError as error:
        raise ConfigError(named, f"cannot be used: {error.strerror}; name another file") from None
    except RuntimeError:  # Python 3.11 and 3.12 about a link that leads to itself
        raise ConfigError(named, "is a link that leads nowhere; name another file") from None
    return place


def write_record(path: Path, text: str, kind: RecordKind = MATCH) -> None:
    """Replace the file in one go. Raises ``ConfigError``."""
    try:
        replace_private(path, text)
    except OSError as error:
        raise ConfigError(f"{kind.option} {path}", f"cannot be written: {error.strerror}") from None


def _is_one(path: Path, kind: RecordKind) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return False
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and kind.is_one(found)
