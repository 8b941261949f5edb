"""A published season and the dashboard in a real browser: readable for everybody, and silent towards the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.dashboard import DashboardServer
from league_agents.app.publishing import publish_season
from league_agents.kit.clock import SystemClock
from league_agents.kit.errors import ConfigError
from tests.support.made_seasons import HOSTILE, TARGET, MadeSeason

Visitor = Callable[..., Any]
NARROW, DESKTOP = (360, 740), (1280, 800)
LOOKS = [(size, theme) for size in (NARROW, DESKTOP) for theme in ("light", "dark")]
PAGES = ("index.html", "teams/G002.html", "matches/0101001.html", "matches/0103001.html")
PROBLEMS = (Path(__file__).parent / "problems.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def axe() -> str:
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: run scripts/setup --dev")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    publish_season(MadeSeason(played_rounds=2, text=f" {HOSTILE}"), folder)
    return folder


def opened(visit: Visitor, address: str, **options: Any) -> Any:
    """A page, and in ``wrongs`` every request that it makes to somewhere else."""
    here = visit(address, **options)
    own = address.rsplit("/", 1)[0] if address.startswith("http") else "file:"
    here.page.on(
        "request",
        lambda request: None if request.url.startswith((own, "data:")) else here.wrongs.append(f"asks {request.url}"),
    )
    here.page.goto(address)
    here.page.wait_for_selector("main h1")
    return here


def check(here: Any, axe: str) -> None:
    assert here.page.evaluate(PROBLEMS) == []
    here.page.evaluate(axe)
    found = here.page.evaluate("() => axe.run({resultTypes: ['violations']})")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_every_page_is_readable_by_everybody(
    published: Path, visit: Visitor, axe: str, size: tuple[int, int], theme: str
) -> None:
    here = opened(visit, (published / "index.html").as_uri(), size=size, color_scheme=theme)
    for name in PAGES:
        here.page.goto((published / name).as_uri())
        check(here, axe)


def test_on_a_phone_what_matters_is_seen_without_scrolling_sideways(published: Path, visit: Visitor) -> None:
    here = opened(visit, (published / "index.html").as_uri(), size=NARROW)
    cells = here.page.locator("#d0-table tbody tr:first-child td.n")
    box = cells.nth(1).bounding_box()  # after the rank
    assert here.page.locator("#d0-table thead th").nth(2).inner_text() == "Points"
    assert box["x"] + box["width"] <= NARROW[0]
    for hidden in ("Won", "Drawn", "Lost"):
        assert not here.page.locator(f"#d0-table thead th:text-is('{hidden}')").first.is_visible()
    hint = here.page.locator("#d0-table .scroller").evaluate("(box) => getComputedStyle(box).backgroundImage")
    assert hint.count("linear-gradient") == 4
    here.page.goto((published / "matches/0101001.html").as_uri())
    messages = here.page.locator("[aria-label='Messages: table']")
    assert messages.locator("thead th").first.inner_text() == "Message"
    here.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    here.page.goto((published / "index.html").as_uri())
    assert here.page.locator("#d0-table thead th:text-is('Won')").first.is_visible()


def test_the_pages_of_a_hostile_season_show_its_texts_and_do_nothing(published: Path, visit: Visitor) -> None:
    here = opened(visit, (published / "index.html").as_uri())
    for name in PAGES[:3]:
        here.page.goto((published / name).as_uri())
        assert "<script>alert(1)</script>" in here.page.locator("main").inner_text()
        assert here.page.locator("script, img, [onmouseover], main style").count() == 0
    here.page.goto((published / PAGES[2]).as_uri())
    assert "{{ 7*7 }}" in here.page.locator("main").inner_text()
    # What a page did wrong, dialogs and requests included, fails the test when its visit ends.


def test_the_policy_of_a_page_forbids_what_a_stranger_might_smuggle_in(published: Path, visit: Visitor) -> None:
    here = opened(visit, (published / "index.html").as_uri())
    here.is_forgiving = True  # the browser tells of what it forbids
    here.page.evaluate(
        """() => { document.querySelector("main").insertAdjacentHTML("beforeend",
          '<img src="http://127.0.0.1:9/x.png" onerror="document.title=1"><p style="color: red" id="styled">x</p>');
          const script = document.createElement("script"); script.textContent = "document.title = 'owned'";
          document.body.append(script); }"""
    )
    assert here.page.title().startswith("Spring reading league")
    assert here.page.evaluate("() => getComputedStyle(document.getElementById('styled')).color") != "rgb(255, 0, 0)"


def test_a_reader_finds_the_way_between_the_pages(published: Path, visit: Visitor) -> None:
    here = opened(visit, (published / "index.html").as_uri())
    here.page.click("#d0-table tbody th a")
    assert here.page.locator("h2").all_inner_texts() == ["Head to head", "Matches"]
    here.page.click("main td a:not(.tag)")
    here.page.wait_for_selector("text=Questions and answers")
    here.page.click("header nav a")
    here.page.wait_for_selector("#d0-table")


def test_on_paper_everything_is_shown_in_dark_ink(published: Path, visit: Visitor) -> None:
    here = opened(visit, (published / "index.html").as_uri(), color_scheme="dark")
    here.page.emulate_media(media="print")
    assert here.page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert here.page.evaluate("() => getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not here.page.locator("nav.contents").is_visible()


class Played:
    """A season that goes on when the test says so."""

    def __init__(self) -> None:
        self.rounds = 0
        self.is_there = True

    def open(self) -> MadeSeason:
        if not self.is_there:
            raise ConfigError("season", "holds neither journals nor records of a season; name another folder")
        return MadeSeason(played_rounds=self.rounds)


@pytest.fixture
def played() -> Iterator[tuple[Played, str]]:
    season = Played()
    with DashboardServer(season.open, port=0, clock=SystemClock()) as server:
        yield season, f"{server.url}/"


def test_the_dashboard_updates_itself_and_keeps_what_the_reader_opened(
    played: tuple[Played, str], visit: Visitor, axe: str
) -> None:
    season, address = played
    here = opened(visit, address, size=NARROW)
    assert "No round has been counted yet." in here.page.locator("main").inner_text()
    assert TARGET["associative_word"] not in here.page.content()
    here.page.click("#d0-schedule details:nth-of-type(2) summary")
    season.rounds = 1
    here.page.wait_for_selector("#d0-table td")
    assert here.page.locator("#d0-schedule details:nth-of-type(2)").get_attribute("open") is None
    assert "Updated at" in here.page.locator("#live").inner_text()
    check(here, axe)
    here.page.goto(f"{address}matches/0101001.html")
    here.page.wait_for_selector("text=What they were looking for")


def test_a_dashboard_that_was_started_too_early_shows_the_season_when_it_is_there(
    played: tuple[Played, str], visit: Visitor, axe: str
) -> None:
    season, address = played
    season.is_there = False
    here = opened(visit, address)
    here.is_forgiving = True  # the browser tells of each answer that is none
    assert here.page.locator("h1").inner_text() == "Nothing to show yet"
    check(here, axe)
    season.is_there = True
    here.page.wait_for_selector("#d0-table")


def test_the_dashboard_says_when_nobody_answers(visit: Visitor) -> None:
    season = Played()
    with DashboardServer(season.open, port=0) as server:
        here = opened(visit, f"{server.url}/")
        here.is_forgiving = True
    here.page.wait_for_selector("#live:has-text('Not updated since')")
