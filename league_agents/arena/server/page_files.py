"""The files of the web page: those of this package, and the script of each game from the game's package.

Rule: all files are read when the server starts and looked up by name: no path of a request reaches the file system.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from league_agents.games.declaration import GameDeclaration
from league_agents.games.registry import declared, usable_games

LOG = logging.getLogger(__name__)

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
    ".json": "application/json",
}
START = "index.html"
GALLERY = "gallery.html"
"""The page of ``/gallery``, ``/leaderboard`` and ``/replay/{id}``."""
_LIST = "game_list.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """One file of the page."""

    body: bytes
    media_type: str
    etag: str


def page_files() -> Mapping[str, PageFile]:
    """Path below the page's folder -> file."""
    found: dict[str, PageFile] = {}
    waiting = [("", files("league_agents.arena.server") / "page")]
    while waiting:
        prefix, folder = waiting.pop()
        if not folder.is_dir():
            continue
        for entry in folder.iterdir():
            name = f"{prefix}{entry.name}"
            if entry.is_dir():
                waiting.append((f"{name}/", entry))
                continue
            media_type = _TYPES.get(f".{entry.name.rpartition('.')[2]}")
            if media_type is not None:
                found[name] = _file(entry.read_bytes(), media_type)
    games = [declared(code) for code in usable_games()[0]]
    scripts = {game.code: script for game in games if (script := _script_of(game)) is not None}
    found[_LIST] = _file(_list_of(games, scripts).encode("utf-8"), _TYPES[".js"])
    found |= {f"games/{code}.js": _file(script, _TYPES[".js"]) for code, script in scripts.items()}
    return found


def _file(body: bytes, media_type: str) -> PageFile:
    return PageFile(body=body, media_type=media_type, etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def _list_of(games: Sequence[GameDeclaration], scripts: Collection[str]) -> str:
    """The list of games that is built into the page."""
    told = [
        {
            "code": game.code,
            "title": dict(game.title),
            "about": dict(game.about),
            "has_page": game.code in scripts,
            "person_seat": game.person_seat,
            "turn_timeout_s": game.turn_timeout_s,
        }
        for game in games
    ]
    return f"export const GAMES = {json.dumps(told)};\n"


def _script_of(game: GameDeclaration) -> bytes | None:
    """The game's script; ``None`` if it has none, and the page shows its plain view."""
    if game.page is None:
        return None
    try:
        return files(game.package).joinpath(game.page).read_bytes()
    except OSError as error:  # a missing file of one game must not break the page for the others
        LOG.warning("game %s has no page: %s of %s: %s", game.code, game.page, game.package, error.strerror)
        return None
