"""The page when something goes wrong: reloads, lost connections, servers that forgot, and people who write markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from league_agents.arena.server.serving import ArenaServer
from tests.support.arena_wire import Wire

Visitor = Callable[..., Any]
TURN, RESULT = ".turn.mine", ".result:not([hidden])"
HELD_SOCKETS = """
  const Real = window.WebSocket;
  window.held = [];
  window.WebSocket = class extends Real {
    constructor(...given) { super(...given); window.held.push(this); }
  };
"""


def seated(visit: Visitor, arena: ArenaServer, match_id: str, **options: Any) -> Any:
    """A page whose reader has taken a seat of the match."""
    here = visit(arena.url, **options)
    here.page.add_init_script(HELD_SOCKETS)
    here.go(f"match/{match_id}")
    here.page.fill("#join-name", "Dana")
    here.page.get_by_role("button", name="Take a seat").click()
    here.page.wait_for_selector("#join-name", state="detached")
    return here


def english(arena: ArenaServer, *others: str) -> str:
    """Undercover in English: one free seat, then these."""
    agents = ["open", *(others or ("scripted",) * 3)]
    return Wire(arena.url).open("undercover", config={"lang": "en"}, agents=agents)


def test_a_reload_in_the_middle_goes_on_where_it_was(arena: ArenaServer, visit: Visitor) -> None:
    here = seated(visit, arena, english(arena))
    here.wait(TURN)
    word = here.page.locator(".word-itself").inner_text()
    here.page.fill(f"{TURN} textarea", "Half a sentence that")
    log = here.page.locator(".log").inner_text()
    here.page.reload()
    here.wait(TURN)
    assert here.page.locator(".word-itself").inner_text() == word
    assert here.page.locator(f"{TURN} textarea").input_value() == "Half a sentence that"
    assert here.page.locator(".log").inner_text() == log, "every event once"
    here.page.fill(f"{TURN} textarea", "Half a sentence that is whole now")
    here.page.click(f"{TURN} button[type=submit]")
    here.wait(f"{TURN} form[aria-label=Vote]")
    assert here.page.locator(".log", has_text="Half a sentence that is whole now").count() == 1
    assert here.page.locator(f"{TURN} textarea").input_value() == ""


def test_a_lost_connection_is_told_and_comes_back_by_itself(arena: ArenaServer, visit: Visitor) -> None:
    here = seated(visit, arena, english(arena))
    here.wait(TURN)
    here.page.evaluate("() => window.held.at(-1).close()")
    here.wait("#banner:not([hidden])")
    assert "The connection is lost." in here.page.locator("#banner").inner_text()
    # What is sent meanwhile is sent when the connection is back, once.
    here.page.fill(f"{TURN} textarea", "Said while nobody could hear it")
    here.page.click(f"{TURN} button[type=submit]")
    here.wait(f"{TURN} form[aria-label=Vote]")
    assert here.page.locator("#banner").is_hidden()
    assert here.page.locator(".log", has_text="Said while nobody could hear it").count() == 1


def test_a_server_that_was_restarted_is_told_in_plain_words(start_server: Any, visit: Visitor) -> None:
    server = start_server()
    match_id = english(server)
    here = seated(visit, server, match_id)
    here.is_forgiving = True
    here.wait(TURN)
    server.stop()
    here.wait("#banner:not([hidden])")
    # The page tries by itself too, so the button may be gone as soon as a server is there.
    here.page.get_by_role("button", name="Try now").click()
    start_server(port=server.port)
    here.wait(".failure")
    assert "Your seat is not known any more" in here.shown()
    assert here.page.evaluate("() => sessionStorage.getItem('arena-seats')") == "{}"
    here.page.get_by_role("button", name="Try to watch it").click()
    here.wait(".failure h1:has-text('This match is gone')")
    here.page.get_by_role("link", name="To the lobby").click()
    here.wait(".game")


def test_a_match_that_nobody_knows_is_gone(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url)
    here.is_forgiving = True
    here.go("match/m-000000000000")
    here.wait(".failure")
    assert "This match is gone" in here.shown()


def test_a_match_that_is_closed_to_spectators_offers_its_seats_only(arena: ArenaServer, visit: Visitor) -> None:
    wire = Wire(arena.url)
    match_id = wire.open("market", agents=["open", "scripted"], watchable=False)
    here, late = seated(visit, arena, match_id), visit(arena.url)
    here.wait(TURN)
    late.go(f"match/{match_id}")
    late.wait(".failure")
    assert "not open to spectators" in late.shown()


HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.exe"
MARKUP = (
    '"><script>alert(2)</script><svg onload=alert(3)><a href="javascript:alert(4)">x</a>\u202e&lt;b&gt; ${alert(5)}'
)


def test_what_others_write_is_shown_and_never_run(arena: ArenaServer, visit: Visitor) -> None:
    wire = Wire(arena.url)
    match_id = english(arena, "open", "scripted")
    watcher = visit(arena.url)
    watcher.go(f"match/{match_id}")
    guest = wire.join(match_id, name=HOSTILE, type="human", agent_id="agent_1")
    here = seated(visit, arena, match_id)
    answer = wire.protocol(guest.action("describe", {"description": MARKUP}), guest.token).fields
    assert answer["action_response"]["status"] == "success", answer
    here.wait(TURN)
    here.page.fill(f"{TURN} textarea", "An ordinary sentence")
    here.page.click(f"{TURN} button[type=submit]")
    here.wait(f"{TURN} form[aria-label=Vote]")
    here.page.locator(f"{TURN} .chip").first.click()
    here.page.fill(f"{TURN} textarea", "<b onmouseover=alert(6)>because</b>")
    here.page.click(f"{TURN} button[type=submit]")
    wire.protocol(guest.action("vote", {"vote_number": 2, "reason": MARKUP}), guest.token)
    watcher.page.locator(".log", has_text="Votes:").wait_for()
    lobby = visit(arena.url)
    lobby.go()
    lobby.wait(".match-row")
    for each in (here, watcher, lobby):
        page = each.page
        assert page.locator("main :is(img, script, svg, iframe, b, [onerror], [onload], [onmouseover])").count() == 0
        assert page.locator("a[href^='javascript:']").count() == 0
        assert "\u202e" not in each.text()
    assert "<script>alert(2)</script>" in watcher.shown()
    assert "<img src=x onerror=alert" in lobby.shown()


def test_the_policy_of_the_page_lets_no_foreign_script_in(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url)
    here.go()
    here.wait(".game")
    here.is_forgiving = True
    ran = here.page.evaluate(
        """async () => {
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.body.append(script);
          const evaluated = await import("data:text/javascript,window.ran=true").then(() => true, () => false);
          const fetched = await fetch("https://example.org/").then(() => true, () => false);
          return [window.ran === true, evaluated, fetched];
        }"""
    )
    assert ran == [False, False, False]


def test_who_leaves_is_asked_first_and_loses_the_seat(arena: ArenaServer, visit: Visitor) -> None:
    here = seated(visit, arena, english(arena))
    here.wait(TURN)
    here.page.get_by_role("button", name="Leave the match").click()
    dialog = here.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Stay").click()
    assert here.page.locator(TURN).is_visible()
    here.page.get_by_role("button", name="Leave the match").click()
    dialog.get_by_role("button", name="Leave").click()
    here.wait(".game")
    assert here.page.evaluate("() => sessionStorage.getItem('arena-seats')") == "{}"


def test_a_language_can_be_changed_while_a_match_waits(arena: ArenaServer, visit: Visitor) -> None:
    match_id = english(arena, "open", "open")
    here = seated(visit, arena, match_id)
    assert here.page.get_by_label("Link to this match").input_value().endswith(f"/#/match/{match_id}")
    assert "1 seat is taken, 2 free." in here.shown()
    Wire(arena.url).join(match_id, name="Bo")
    here.page.get_by_text("2 seats are taken, 1 free.").wait_for()
    here.page.get_by_role("button", name="中文").click()
    here.page.get_by_text("已入座 2 人，空位 1 个。").wait_for()


def test_a_game_whose_script_is_broken_is_shown_as_a_tree_and_the_others_as_ever(
    arena: ArenaServer, visit: Visitor
) -> None:
    here = visit(arena.url)
    here.is_forgiving = True
    broken = {"content_type": "text/javascript", "body": "export const board = ("}
    here.page.route("**/games/market.js", lambda route: route.fulfill(**broken))
    here.go()
    here.wait(".game")
    own = here.page.evaluate(
        """async () => {
          const {moduleOf} = await import("/page/games.js");
          const any = await import("/page/game_any.js");
          return ["market", "undercover", "q21"].map((code) => moduleOf(code) !== any);
        }"""
    )
    assert own == [False, True, True]
