"""What is over, in a browser: the gallery, replays move by move, leaderboards, transcripts to be played again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.app.arena_server import arena_server, kept_matches
from league_agents.arena.server.serving import ArenaServer
from league_agents.cli import command_line
from tests.support.arena_wire import QUICK, Place, Wire

Visitor = Callable[..., Any]
NARROW, DESKTOP = (360, 740), (1280, 800)
PROBLEMS = (Path(__file__).parent / "problems.js").read_text(encoding="utf-8")
SEATS = {"undercover": 6, "market": 3, "guess_number": 2, "q21": 3}


@pytest.fixture(scope="module")
def axe() -> str:
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: run scripts/setup --dev")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def played(arena: ArenaServer) -> dict[str, str]:
    """Game -> a finished match."""
    wire = Wire(arena.url)
    found = {
        game: wire.open(game, lang="en", agents=["scripted", *["random"] * (seats - 1)])
        for game, seats in SEATS.items()
    }
    for match_id in found.values():
        wire.until(match_id, "ended")
    return found


def opened(visit: Visitor, url: str, path: str, wanted: str, **options: Any) -> Any:
    here = visit(url, **options)
    here.page.goto(url + path)
    here.wait(wanted)
    return here


def replayed(path: Path, exit_code: int = 0) -> Result:
    found = CliRunner().invoke(command_line, ["arena", "replay", str(path)])
    assert found.exit_code == exit_code, found.stderr
    return found


def check(here: Any, axe: str) -> None:
    assert here.page.evaluate(PROBLEMS) == []
    here.page.evaluate(axe)
    found = here.page.evaluate("() => axe.run({resultTypes: ['violations']})")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


@pytest.mark.parametrize(
    ("size", "theme", "lang"),
    [(NARROW, "light", "en"), (NARROW, "dark", "zh"), (DESKTOP, "dark", "en"), (DESKTOP, "light", "zh")],
)
def test_what_is_over_is_readable_by_everybody(
    arena: ArenaServer, played: dict[str, str], visit: Visitor, axe: str, size: tuple[int, int], theme: str, lang: str
) -> None:
    here = opened(visit, arena.url, "/gallery", ".finished .match-row", size=size, lang=lang, color_scheme=theme)
    check(here, axe)
    here.page.goto(f"{arena.url}/leaderboard")
    here.wait(".board-of table")
    check(here, axe)
    here.page.goto(f"{arena.url}/replay/{played['undercover']}#move-8")
    here.wait(".move .tag")
    check(here, axe)


def test_a_replay_goes_to_each_move_by_slider_button_list_and_link(
    arena: ArenaServer, played: dict[str, str], visit: Visitor
) -> None:
    here = opened(visit, arena.url, "/gallery", ".finished .match-row")
    page = here.page
    page.select_option("#gallery-game", "undercover")
    page.wait_for_function("() => document.querySelectorAll('.finished .match-row').length === 1")
    page.locator(".finished .match-row a").click()
    here.wait(".move h2")
    assert page.locator(".move h2").inner_text() == "The opening"
    page.locator("#move").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.url.endswith(f"/replay/{played['undercover']}#move-2")
    assert page.locator(".move h2").inner_text().startswith("Move 2 · ")
    page.get_by_role("button", name="Next").click()
    assert page.locator("output.count").inner_text().startswith("Move 3 of ")
    page.locator("#move-7 a").click()
    page.wait_for_function("() => document.querySelector('.move h2').textContent.startsWith('Move 7')")
    # The vote of a seat, with its reason, which nobody saw while the match ran.
    assert page.locator(".moves a[aria-current]").count() == 1
    assert "Reason" in page.locator(".move .thoughts").inner_text()
    page.get_by_role("button", name="Last").click()
    assert page.locator(".board .cast, .board .votes").count() >= 1
    before = page.locator("section[aria-label='The table']").inner_text()
    page.select_option("#viewer", label=page.locator("#viewer option").nth(1).inner_text())
    page.wait_for_function(
        "(text) => document.querySelector(\"section[aria-label='The table']\").innerText !== text", arg=before
    )
    assert page.locator(".move h2").inner_text().startswith("Move ")


def test_a_running_match_has_no_replay_and_no_thoughts(arena: ArenaServer, visit: Visitor, axe: str) -> None:
    wire = Wire(arena.url)
    match_id = wire.open("undercover", agents=["open", *["scripted"] * 5])
    ann = wire.join(match_id)
    for path in ("replay", "transcript?view=full", "transcript"):
        assert wire.send("GET", f"/matches/{match_id}/{path}", token=ann.token).code == "match_not_over"
    here = visit(arena.url)
    here.is_forgiving = True  # the browser tells of the refusal
    here.page.goto(f"{arena.url}/replay/{match_id}")
    here.wait(".failure h1")
    assert here.page.locator("h1").inner_text() == "This match is not over"
    assert here.page.locator(".failure a.primary").get_attribute("href") == f"/#/match/{match_id}"
    check(here, axe)


@pytest.mark.parametrize("game", sorted(SEATS))
def test_what_the_page_downloads_can_be_played_again_or_says_why_not(
    arena: ArenaServer,
    played: dict[str, str],
    visit: Visitor,
    tmp_path: Path,
    game: str,
) -> None:
    here = opened(visit, arena.url, f"/replay/{played[game]}", ".move h2")
    saved = {}
    for view, label in (("full", "Download the full transcript"), ("spectator", "Download what spectators saw")):
        with here.page.expect_download() as download:
            here.page.get_by_role("button", name=label).click()
        assert download.value.suggested_filename == f"{played[game]}.{view}.jsonl"
        saved[view] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[view])
    assert "all as recorded" in replayed(saved["full"]).stdout
    told = replayed(saved["spectator"], 3).stderr
    assert "is the view of spectator, which leaves out what others decided" in told
    assert "take the full transcript" in told


def test_a_player_s_own_page_downloads_the_whole_match(arena: ArenaServer, visit: Visitor, tmp_path: Path) -> None:
    match_id = Wire(arena.url).open("market", agents=["open", "scripted"], config={"max_rounds": 1})
    here = visit(arena.url)
    here.go(f"match/{match_id}")
    here.page.click("#main form button[type=submit]")
    here.wait(".turn.mine input[type=number]")
    here.page.fill(".turn.mine input[type=number]", "12")
    here.page.click(".turn.mine button[type=submit]")
    here.wait(".result:not([hidden])")
    with here.page.expect_download() as download:
        here.page.get_by_role("button", name="Download the transcript").click()
    assert download.value.suggested_filename == f"{match_id}.full.jsonl"
    download.value.save_as(tmp_path / "own.jsonl")
    assert "all as recorded" in replayed(tmp_path / "own.jsonl").stdout


def test_roles_that_stay_secret_stay_so_in_replays_and_downloads(arena: ArenaServer, visit: Visitor) -> None:
    wire = Wire(arena.url)
    match_id = wire.open("undercover", agents=["scripted"] * 4, config={"reveal_at_end": False, "max_rounds": 2})
    wire.until(match_id, "ended")
    assert wire.send("GET", f"/matches/{match_id}/transcript?view=full").code == "kept_secret"
    replay = wire.send("GET", f"/matches/{match_id}/replay").fields
    assert replay["is_redacted"] is True
    assert not any("view" in move or move.get("data") for move in replay["moves"])
    assert "word_dealt" not in json.dumps(replay)
    here = opened(visit, arena.url, f"/replay/{match_id}", ".move h2")
    assert here.page.get_by_role("button", name="Download the full transcript").count() == 0
    assert "stays secret" in here.shown()


def test_both_languages_have_every_sentence_of_the_gallery(arena: ArenaServer, visit: Visitor) -> None:
    here = opened(visit, arena.url, "/gallery", "h1")
    wrongs = here.page.evaluate(
        """async () => {
          const {GALLERY_TEXTS: {en, zh}} = await import("/page/gallery_texts.js");
          const marks = (text) => [...text.matchAll(/\\{(\\w+)[}?]/g)].map(([, name]) => name);
          const names = (text) => [...new Set(marks(text))].sort().join();
          const keys = [...new Set([...Object.keys(en), ...Object.keys(zh)])];
          return keys.filter((key) => !en[key] || !zh[key] || names(en[key]) !== names(zh[key]));
        }"""
    )
    assert wrongs == []


def test_an_open_page_plays_on_after_the_server_was_restarted(visit: Visitor, tmp_path: Path) -> None:
    with kept_matches(tmp_path / "arena.db") as keep, arena_server(limits=QUICK, keep=keep) as first:
        port, url = first.port, first.url
        wire = Wire(url)
        match_id = wire.open("market", agents=["open", "open"], config={"max_rounds": 2})
        other = wire.join(match_id)
        here = visit(url)
        here.is_forgiving = True  # the connection breaks on purpose
        here.go(f"match/{match_id}")
        here.page.click("#main form button[type=submit]")
        here.wait(".turn.mine input[type=number]")
        _price(wire, other)
    here.wait(".banner:not([hidden])")
    with kept_matches(tmp_path / "arena.db") as keep, arena_server(limits=QUICK, keep=keep, port=port):
        # Unless it has tried again by itself meanwhile.
        here.page.evaluate("() => window.dispatchEvent(new Event('online'))")
        here.page.wait_for_selector(".banner", state="hidden")
        for number in (1, 2):
            here.page.fill(".turn.mine input[type=number]", "12")
            here.page.click(".turn.mine button[type=submit]")
            if number == 1:
                here.wait(".scroller tbody tr:nth-child(1)")
                _price(wire, other)
        here.wait(".result:not([hidden])")


def _price(wire: Wire, place: Place) -> None:
    answer = wire.protocol(place.action("submit_price", {"price": 40}), place.token).fields
    assert answer["action_response"]["status"] == "success"


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Wire]:
    """A server that forgets what is over at once, and keeps it in a file."""
    from dataclasses import replace
    from datetime import timedelta

    limits = replace(QUICK, ended_kept=timedelta(seconds=-1))
    with kept_matches(tmp_path / "arena.db") as keep, arena_server(limits=limits, keep=keep) as server:
        wire = Wire(server.url)
        wire.server = server  # type: ignore[attr-defined]
        yield wire


def test_what_the_server_forgot_is_still_in_the_gallery(kept: Wire) -> None:
    open_to_all = kept.open("market", agents=["scripted", "random"])
    private = kept.open("market", agents=["scripted", "random"], watchable=False)
    for match_id in (open_to_all, private):
        kept.until(match_id, "ended")
    kept.server.call(kept.server.hall.sweep)  # type: ignore[attr-defined]
    assert kept.send("GET", f"/matches/{open_to_all}").status == 404
    assert kept.send("GET", f"/matches/{private}/transcript?view=full").code == "forbidden"
    full = kept.send("GET", f"/matches/{open_to_all}/transcript?view=full")
    assert full.headers["content-disposition"] == f'attachment; filename="{open_to_all}.full.jsonl"'
    assert json.loads(full.body.splitlines()[0])["viewer"] == "host"
    told = kept.send("GET", "/finished?game=market").fields["matches"]
    assert [each["match_id"] for each in told] == [private, open_to_all]
    assert kept.send("GET", "/finished?game=q21").fields["matches"] == []
    (board,) = kept.send("GET", "/leaderboards").fields["games"]
    assert {row["contender"]: row["matches"] for row in board["rows"]} == {"random": 2, "scripted": 2}
