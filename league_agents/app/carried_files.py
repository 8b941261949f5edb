"""Files that a task carries to a machine that does not have them: users' agents and rule sets named by their path.

Rule: only the named file is carried. What an agent's file imports must be installed on the workers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from league_agents.app.agents import LLM, is_own
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.private_file import make_private_folder, open_private_bytes

LARGEST_FILE = 1_000_000
"""Bytes."""

CarriedFiles = Mapping[str, bytes]
"""Content by the name as the user wrote it: the file of an agent ``file.py:Class``, or of a rule set."""


def carried_files(agents: Iterable[str], others: Iterable[str] = ()) -> CarriedFiles:
    """Read the files that these agents and ``others`` name. Raises ``ConfigError``, also for agents that cannot be sent
    to other machines because they need keys."""
    names = list(others)
    for spec in dict.fromkeys(agents):
        if spec.partition(":")[0] == LLM:
            raise ConfigError(
                "--dask", "keys of language models are not sent to other machines; for llm agents use --workers"
            )
        if is_own(spec) and (name := spec.rpartition(":")[0]).endswith(".py"):
            names.append(name)
    return {name: _content(name) for name in dict.fromkeys(names)}


def _content(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(shortened(name), f"cannot be read: {error.strerror}") from None
    if len(content) > LARGEST_FILE:
        raise ConfigError(
            shortened(name), f"is larger than {LARGEST_FILE} bytes, which no task carries; install it there"
        )
    return content


def placed(files: CarriedFiles) -> dict[str, str]:
    """Write the files on this machine, once in each process. Return their paths by the carried names."""
    return {name: _placed(Path(name).name, content) for name, content in files.items()}


def here_named(spec: str, places: Mapping[str, str]) -> str:
    """The name of an agent or a rule set on this machine."""
    name, colon, class_name = spec.rpartition(":")
    return f"{places[name]}:{class_name}" if colon and name in places else places.get(spec, spec)


@cache
def _placed(name: str, content: bytes) -> str:
    place = Path(_folder().name) / hashlib.sha256(content).hexdigest()[:16]
    make_private_folder(place)
    with open_private_bytes(place / name, "w") as file:
        file.write(content)
    return str(place / name)


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="league-agents-", ignore_cleanup_errors=True)
