"""The dashboard over real sockets: what it serves, to whom, and what it keeps to itself."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from league_agents.app.dashboard import FRESH_S, DashboardServer, LivePages
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError, JournalError
from league_agents.report.journal_source import JournalSource
from league_agents.report.sources import SeasonSource
from tests.support.arena_wire import Wire
from tests.support.made_seasons import TARGET as MADE_TARGET
from tests.support.made_seasons import MadeSeason
from tests.support.small_league import GROUPS, TARGET, journals, league, play_until, was_sent

TOKEN = "a-token-of-good-length-7b1f"
PATHS = ("", "index.html", "teams/G001.html", "matches/0101001.html", "matches/0103001.html", "live.js")
"""The last match is open."""


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with DashboardServer(lambda: MadeSeason(played_rounds=2), port=0) as server:
        yield Wire(server.url)


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_served_and_asked_for_again_at_no_cost(wire: Wire, path: str) -> None:
    answer = wire.send("GET", f"/{path}")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/javascript" if path == "live.js" else "text/html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    again = wire.send("GET", f"/{path}", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", PATHS)
def test_no_page_shows_what_is_secret_at_the_moment(path: str) -> None:
    with DashboardServer(lambda: MadeSeason(played_rounds=0), port=0) as server:
        answer = Wire(server.url).send("GET", f"/{path.replace('0103001', '0101001')}")
        assert answer.status == 200
    text = f"{answer.headers} {answer.body.decode()}"
    for secret in (*MADE_TARGET.values(), "Ishmael", "Is word 1 a noun", "league.example"):
        assert secret not in text


@pytest.mark.parametrize(
    "path",
    ["/x", "/matches/", "/matches/0199001.html", "/matches/0104001.html", "/..%2f..%2fetc/passwd", "/teams/../live.js"],
)
def test_there_is_no_other_page(wire: Wire, path: str) -> None:
    answer = wire.send("GET", path)
    assert (answer.status, answer.body) == (404, b"there is no such page\n")


def test_it_only_reads(wire: Wire) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert wire.send(method, "/").status == 405


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example"])
def test_a_strange_name_that_leads_to_loopback_is_no_name_of_it(wire: Wire, host: str) -> None:
    assert wire.send("GET", "/", headers={"host": host}).status == 403


def basic(token: str) -> str:
    return "Basic " + base64.b64encode(f"me:{token}".encode()).decode()


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (None, 401),
        ("", 401),
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (basic(TOKEN), 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        ("Bearer ", 401),
        (basic(""), 401),
        ("Basic !!", 401),
        ("Basic /w==", 401),
        (TOKEN, 401),
        ("Digest x", 401),
    ],
)
def test_a_public_dashboard_is_shown_to_those_who_have_the_token(authorization: str | None, status: int) -> None:
    with DashboardServer(MadeSeason, port=0, is_public=True, token=TOKEN) as server:
        headers = {} if authorization is None else {"authorization": authorization}
        for path in ("/", "/live.js", "/nowhere", f"/?token={TOKEN}"):
            answer = Wire(server.url).send("GET", path, headers=headers)
            assert answer.status == (404 if status == 200 and path == "/nowhere" else status)
            assert TOKEN not in f"{answer.headers} {answer.body.decode()}"


def test_that_a_public_dashboard_answers_needs_no_token() -> None:
    with DashboardServer(MadeSeason, port=0, is_public=True, token=TOKEN) as server:
        answer = Wire(server.url).send("GET", "/healthz")
    assert (answer.status, answer.body) == (200, b"ok\n")


def test_it_is_not_public_without_a_good_token_nor_reachable_unless_it_is_public() -> None:
    for token in (None, "short", "", "x" * 401, "ü" * 30):
        with pytest.raises(ConfigError, match="token"):
            DashboardServer(MadeSeason, port=0, is_public=True, token=token)
    with pytest.raises(ConfigError, match="add --public if everybody who has its token may look"):
        DashboardServer(MadeSeason, host="0.0.0.0", port=0)


def test_why_the_season_cannot_be_read_is_for_the_one_who_runs_it(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> SeasonSource:
        raise JournalError("/home/ann/league.db: is damaged; refresh_token=1//abcdefghijklmnop")

    with caplog.at_level(logging.WARNING), DashboardServer(broken, port=0) as server:
        answer = Wire(server.url).send("GET", "/")
    assert (answer.status, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert b"The season cannot be read at the moment." in answer.body
    assert b"league.db" not in answer.body
    assert "/home/ann/league.db: is damaged" in caplog.text
    assert "abcdefghijklmnop" not in caplog.text


def test_pages_are_drawn_anew_when_they_are_old_and_not_before() -> None:
    clock = ManualClock(datetime(2026, 3, 2, tzinfo=UTC))
    opened: list[MadeSeason] = []

    def newer() -> MadeSeason:
        opened.append(MadeSeason(played_rounds=len(opened)))
        return opened[-1]

    pages = LivePages(newer, clock)
    first = pages.page("index.html")
    assert first is not None
    assert pages.page("index.html") is first
    clock.sleep(timedelta(seconds=FRESH_S))
    second = pages.page("index.html")
    assert second is not None
    assert first.etag != second.etag
    assert len(opened) == 2
    assert pages.page("") is not None
    assert pages.page("matches/0105001.html") is None


@pytest.mark.parametrize("until", ["Q21WARMUPCALL", "Q21ROUNDSTART", "Q21ANSWERSBATCH", "Q21SCOREFEEDBACK"])
def test_nobody_learns_from_it_what_a_running_match_keeps_secret(until: str) -> None:
    made = league(wrens="scripted:silent-after-questions")
    in_play = play_until(made, lambda: was_sent(made, until))
    try:
        everything = journals(made, "manager", "referees", *GROUPS)
        pages = LivePages(lambda: JournalSource(everything), ManualClock(datetime(2026, 3, 2, tzinfo=UTC)))
        places = ["index.html", f"matches/{in_play}.html", *(f"teams/{name}.html" for name in GROUPS)]
        for place in places:
            page = pages.page(place)
            assert page is not None, place
            text = page.body.decode()
            assert "This match is not over yet" in text or not place.startswith("matches")
            assert not [secret for secret in (*TARGET, "Moby", "league.test", "question_text") if secret in text], place
    finally:
        made.close()
