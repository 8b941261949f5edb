"""The site, built strictly: every link leads somewhere, and every page is quiet and readable in a browser.

``zensical build --strict`` finds links between pages that lead nowhere. It does not find pages that the navigation
names and that do not exist or the other way round, images that do not exist, or links whose target is never defined.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.docs_pages import ROOT, build_site

Visitor = Callable[..., Any]
PAGES = sorted(path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in ROOT.glob("docs/**/*.md"))

WITH_COLOURS = ("comparison", "how-to/own-game", "index", "reference/callbacks", "tutorial/first-agent")
"""Pages with every kind of element that others have: contrast takes axe ten times as long as all its other rules."""

AXE_RUN = """async (withColours) => {
  const found = await axe.run({resultTypes: ["violations"], rules: {"color-contrast": {enabled: withColours}}});
  return found.violations.map((each) => [each.impact, each.id, each.nodes[0].html]);
}"""


class Links(HTMLParser):
    """What a page loads and links to, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.places = {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.places.add(found.get("id", ""))
        for name in ("src", "href", "data-src", "srcset"):
            if name in found:
                (self.linked if tag == "a" else self.loaded).append(found[name])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    build_site(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return {path: Links(path) for path in site.rglob("*.html")}


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def html_of(name: str) -> str:
    """The place of a page of docs/ in the site."""
    return "" if name == "index" else f"{name}/"


def test_every_link_leads_to_a_place(site: Path, pages: dict[Path, Links]) -> None:
    wrong = []
    for path, found in pages.items():
        for link in (*found.linked, *found.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            base = site if path.name == "404.html" else path.parent
            target = (base / unquote(parts.path).lstrip("/" if path.name == "404.html" else "")).resolve()
            target = target / "index.html" if target.is_dir() else target if parts.path else path
            is_there = target.is_file() and (
                target not in pages or parts.fragment.startswith("__") or parts.fragment in pages[target].places
            )
            if not is_there:
                wrong.append((path.relative_to(site).as_posix(), link))
    assert wrong == []


def test_no_page_loads_anything_from_another_host(pages: dict[Path, Links]) -> None:
    assert {link for found in pages.values() for link in found.loaded if urlsplit(link).netloc} == set()


def test_no_mark_of_the_source_is_left_in_a_page(site: Path) -> None:
    """A link that is not defined, a table without its blank line, or a list that became one paragraph."""
    for name in PAGES:
        shown = (site / html_of(name) / "index.html").read_text("utf-8")
        prose = re.sub(
            r"<(pre|code)\b.*?</\1>", "", shown.partition("<article")[2].partition("</article>")[0], flags=re.DOTALL
        )
        assert re.findall(r"\]\(|\]\[|\| ---|<p>- |\n- |```", prose) == [], name


def test_every_page_is_quiet_and_readable_in_a_browser(address: str, visit: Visitor) -> None:
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    here = visit(address)
    here.page.on(
        "request",
        lambda request: (
            None if request.url.startswith((address, "data:")) else here.wrongs.append(f"asks {request.url}")
        ),
    )
    for name in PAGES:
        here.page.goto(f"{address}{html_of(name)}")
        here.page.wait_for_selector("article h1")
        here.page.evaluate(axe)
        for scheme in ("light", "dark") if name in WITH_COLOURS else ("light",):
            here.page.emulate_media(color_scheme=scheme)
            found = here.page.evaluate(AXE_RUN, name in WITH_COLOURS)
            assert [each for each in found if each[0] in ("serious", "critical")] == [], (name, scheme)
    # Console messages, dialogs and requests to other hosts fail the test when the visit ends.
