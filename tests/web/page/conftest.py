"""A real browser on the arena's page. Where no Chromium is installed, these tests say so and are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from league_agents.local_league.patience import LIMIT_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE, NARROW, DESKTOP = (390, 844), (360, 740), (1280, 800)


@dataclass(slots=True, kw_only=True)
class Visit:
    """One page, and everything that it did which a page should not do."""

    page: Page
    url: str
    wrongs: list[str] = field(default_factory=list)
    """Errors, warnings and dialogs."""

    frames: list[str] = field(default_factory=list)
    """What its WebSockets received."""

    is_forgiving: bool = False
    """Whether errors are expected: the network was cut on purpose."""

    def go(self, where: str = "") -> None:
        """Open a part of the page: ``new/undercover``, ``match/m-1``; nothing for the lobby."""
        self.page.goto(f"{self.url}/#/{where}")
        self.page.wait_for_selector("main h1")

    def text(self) -> str:
        """Every text in the document, shown or hidden, and what stands in its fields and attributes."""
        return str(
            self.page.evaluate(
                """() => [document.title, document.documentElement.textContent,
                ...[...document.querySelectorAll('*')].flatMap((each) =>
                  [...each.attributes].map((one) => one.value).concat(each.value ?? []))].join('\\n')"""
            )
        )

    def shown(self) -> str:
        """What a reader sees."""
        return self.page.locator("main").inner_text()

    def is_over(self) -> bool:
        """Whether the end of the match is shown."""
        return self.page.locator(".result:not([hidden])").count() > 0

    def wait(self, selector: str) -> None:
        """Until there is such an element."""
        self.page.wait_for_selector(selector)


Visitor = Callable[..., Visit]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium. Not for the whole session: while Playwright runs, its thread has an event loop that
    counts as running, and no other test there could run one of its own."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium was found on this machine: the web page is NOT tested (install the package chromium)")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: the web page is NOT tested")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield found
        found.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visitor]:
    """``visit(url, size=…, lang=…)`` opens a page with nothing remembered; whatever it does wrong fails the test."""
    visits: list[Visit] = []

    def opened(url: str, *, size: tuple[int, int] = DESKTOP, lang: str = "en", **options: Any) -> Visit:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            locale="zh-CN" if lang == "zh" else "en-GB",
            reduced_motion="reduce",
            **options,
        )
        page = context.new_page()
        page.set_default_timeout(1000 * LIMIT_S)
        found = Visit(page=page, url=url)
        wrongs = found.wrongs

        def heard_console(told: Any) -> None:
            if told.type in ("error", "warning"):
                wrongs.append(f"console: {told.text}")

        def heard_dialog(dialog: Any) -> None:
            wrongs.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("console", heard_console)
        page.on("pageerror", lambda error: wrongs.append(f"error: {error}"))
        page.on("dialog", heard_dialog)
        page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda frame: found.frames.append(str(frame))),
        )
        visits.append(found)
        return found

    yield opened
    for each in visits:
        each.page.context.close()
    assert [wrong for each in visits if not each.is_forgiving for wrong in each.wrongs] == []
