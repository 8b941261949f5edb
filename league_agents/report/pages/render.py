"""Render view values as HTML.

Rule 1: templates escape every value; no code in the package marks an untrusted text as safe.
Rule 2: a page's policy allows only its own style sheet, by its digest, and on a live page the one script of the
server. A page loads nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from league_agents.report.pages.match_view import MatchPage
from league_agents.report.pages.season_values import LETTERS, WORDS, SeasonPage, TeamPage

if TYPE_CHECKING:
    from jinja2 import Environment

SEASON_FILE = "index.html"
LIVE_SCRIPT = "live.js"


class Renderer:
    """Renders pages. ``is_live``: they are served, and update themselves."""

    def __init__(self, *, is_live: bool = False) -> None:
        self._is_live = is_live
        self._style = page_part("style.css")

    @property
    def policy(self) -> str:
        """The content security policy of every page."""
        digest = base64.b64encode(hashlib.sha256(self._style.encode("utf-8")).digest()).decode("ascii")
        live = "script-src 'self'; connect-src 'self'; " if self._is_live else ""
        return (
            f"default-src 'none'; style-src 'sha256-{digest}'; {live}img-src data:; base-uri 'none'; form-action 'none'"
        )

    def season(self, page: SeasonPage) -> Iterator[str]:
        """The page of a season, piece by piece."""
        return self._written("season.html", page, title=page.title, up="")

    def team(self, page: TeamPage) -> Iterator[str]:
        """The page of a team."""
        return self._written("team.html", page, title=f"{page.title} · {page.season}", up="../")

    def match(self, page: MatchPage) -> Iterator[str]:
        """The page of a match."""
        return self._written("match.html", page, title=f"{page.title} · {page.season}", up="../")

    def waiting(self, reason: str = "") -> Iterator[str]:
        """The page shown in place of one that cannot be drawn at the moment. A live one retries by itself.

        ``reason`` is shown to everybody; without it the page refers to the operator.
        """
        return self._written("waiting.html", reason, title="Season", up="/" if self._is_live else "")

    def _written(self, template: str, page: object, *, title: str, up: str) -> Iterator[str]:
        stream = (
            _templates()
            .get_template(template)
            .stream(
                page=page,
                title=title,
                up=up,
                home=f"{up}{SEASON_FILE}",
                style=self._style,
                policy=self.policy,
                live_script=f"{up}{LIVE_SCRIPT}" if self._is_live else "",
                letters=LETTERS,
                words=WORDS,
            )
        )
        stream.enable_buffering(200)
        return iter(stream)


@cache
def page_part(name: str) -> str:
    """Read a file of this package that is part of pages."""
    return files("league_agents.report.pages").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(page_part),
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
