"""The page's files, from the package.

Rule: what is served is what was there when the server started, found by its name alone: no path of a request ever
reaches the file system.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """One file of the page."""

    body: bytes
    media_type: str
    etag: str


def page_files() -> Mapping[str, PageFile]:
    """Every file of the page by its path below the page's folder."""
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
                body = entry.read_bytes()
                etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
                found[name] = PageFile(body=body, media_type=media_type, etag=etag)
    return found
