"""The file that keeps the key of a seat at an arena: whoever has it plays there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from league_agents.kit.errors import ConfigError, shortened

if TYPE_CHECKING:
    from league_agents.arena.remote_seat import RemoteSeat

LARGEST_KEY = 10_000


def write_key(path: Path, url: str, seat: RemoteSeat) -> None:
    """Keep the key of a seat at the server of ``url``. Raises ``OSError``."""
    from league_agents.kit.private_file import replace_private

    held = {"game": seat.game, "match_id": seat.match_id, "agent_id": seat.agent_id, "token": seat.token}
    replace_private(path, json.dumps({"arena_seat": 1, "url": url, **held}) + "\n")


def is_key(path: Path) -> bool:
    """Whether the file holds the key of a seat."""
    try:
        read_key(path)
    except ConfigError:
        return False
    return True


def read_key(path: Path) -> dict[str, str]:
    """Server, game, match, seat and token. Raises ``ConfigError``."""
    try:
        with path.open(encoding="utf-8") as file:
            found = json.loads(file.read(LARGEST_KEY))
    except OSError as error:
        raise ConfigError(
            shortened(str(path)), f"cannot be read: {error.strerror}; 'arena seat take' writes it"
        ) from None
    except (ValueError, RecursionError):
        found = None
    names = ("url", "game", "match_id", "agent_id", "token")
    if (
        not isinstance(found, dict)
        or "arena_seat" not in found
        or not all(isinstance(found.get(n), str) for n in names)
    ):
        raise ConfigError(shortened(str(path)), "is no key of a seat; 'arena seat take' writes one")
    return {name: found[name] for name in names}
