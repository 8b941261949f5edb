"""The page for everybody: keyboard alone, small screens, both themes, names for everything, enough contrast."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from league_agents.arena.server.serving import ArenaServer
from tests.support.arena_wire import Wire

Visitor = Callable[..., Any]
TURN, RESULT = ".turn.mine", ".result:not([hidden])"
PHONE, NARROW, DESKTOP = (390, 844), (360, 740), (1280, 800)

PROBLEMS = (Path(__file__).parent / "problems.js").read_text(encoding="utf-8")


AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def check(visit: Any) -> None:
    """Nothing about the page as it stands keeps anybody out."""
    assert visit.page.evaluate(PROBLEMS) == []
    visit.page.evaluate(AXE)
    found = visit.page.evaluate("() => axe.run({resultTypes: ['violations']})")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


def test_the_checks_of_these_tests_see_what_is_wrong(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url, size=PHONE)
    here.go()
    here.wait(".game")
    here.page.evaluate(
        """() => document.querySelector("main").insertAdjacentHTML("beforeend",
        '<h1>two</h1><input id="brand"><button></button><p id="pale">pale</p><p id="wide">wide</p>')"""
    )
    here.page.evaluate(
        """() => { document.getElementById("pale").style.color = "#aaaaaa";
        document.getElementById("wide").style.width = "900px"; }"""
    )
    wrongs = " ".join(here.page.evaluate(PROBLEMS))
    for wrong in ("wider than", "not one h1", "twice: #brand", "no label", "no name", "contrast"):
        assert wrong in wrongs


def shoot(visit: Any, folder: Path, name: str) -> None:
    """A screenshot, of a page that is not wider than its screen."""
    visit.page.screenshot(path=folder / f"{name}.png", full_page=True)
    assert (folder / f"{name}.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    ("size", "theme", "lang"),
    [(PHONE, "light", "en"), (NARROW, "dark", "zh"), (DESKTOP, "dark", "en"), (DESKTOP, "light", "zh")],
)
def test_every_part_of_a_match_is_readable(
    arena: ArenaServer,
    visit: Visitor,
    tmp_path: Path,
    size: tuple[int, int],
    theme: str,
    lang: str,
) -> None:
    here = visit(arena.url, size=size, lang=lang, color_scheme=theme)
    here.go()
    here.wait(".game")
    check(here)
    shoot(here, tmp_path, "lobby")
    here.go("new/undercover")
    here.wait(".create details.more summary")
    here.page.click(".create details.more summary")
    check(here)
    shoot(here, tmp_path, "new")

    wire = Wire(arena.url)
    match_id = wire.open("undercover", config={"lang": lang}, agents=["open", "open", "scripted", "scripted"])
    here.go(f"match/{match_id}")
    here.wait("#join-name")
    check(here)
    here.page.fill("#join-name", "Maximiliane-Charlotte-von-Hohenzo")
    here.page.click("#main form button[type=submit]")
    here.page.wait_for_selector("#join-name", state="detached")
    check(here)
    wire.join(match_id, name="Bo", type="human")
    here.wait(TURN)
    check(here)
    here.page.click(f"{TURN} button[type=submit]")
    here.wait(".problems:not([hidden])")
    check(here)
    shoot(here, tmp_path, "turn")


@pytest.mark.parametrize("game", ["guess_number", "market", "q21"])
def test_every_game_is_readable_on_a_small_screen(arena: ArenaServer, visit: Visitor, game: str) -> None:
    agents = {"q21": ["scripted", "open", "scripted"]}.get(game, ["open", "scripted", "scripted"])
    match_id = Wire(arena.url).open(game, agents=agents)
    here = visit(arena.url, size=NARROW, color_scheme="dark" if game == "market" else "light")
    here.go(f"match/{match_id}")
    here.page.click("#main form button[type=submit]")
    here.wait(TURN)
    check(here)
    if game == "market":
        here.page.fill(f"{TURN} input[type=number]", "12")
        here.page.click(f"{TURN} button[type=submit]")
        here.wait(".scroller")
        check(here)


def tab_to(page: Any, name: str) -> None:
    """Press the tabulator until the element of that name has the focus."""
    told = """() => { const at = document.activeElement;
      return at.getAttribute('aria-label') ?? (at.labels?.length ? at.labels[0].textContent : at.textContent); }"""
    for _ in range(60):
        if page.evaluate(told).strip() == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {name}")


def test_a_match_is_opened_and_played_with_the_keyboard_alone(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url)
    here.go()
    here.wait(".game")
    page, keys = here.page, here.page.keyboard
    keys.press("Tab")
    assert page.evaluate("() => document.activeElement.id") == "skip"
    keys.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"
    tab_to(page, "New match: Who is the undercover")
    keys.press("Enter")
    here.wait(".create .seat-row")
    assert page.evaluate("() => document.activeElement.tagName") == "H1"
    tab_to(page, "Your name")
    keys.type("Dana")
    tab_to(page, "Pace of the agents")
    keys.press("ArrowUp")
    tab_to(page, "Open the match")
    keys.press("Enter")
    here.wait(TURN)
    # The reader is taken to what is asked, and told of it.
    page.wait_for_function("() => document.activeElement.textContent === 'Your turn'")
    assert "Describe your word" in page.locator("#urgent").inner_text()
    tab_to(page, "Description")
    keys.type("It is known to nearly everybody")
    keys.press("Control+Enter")
    here.wait(f"{TURN} form[aria-label=Vote]")
    page.wait_for_function("() => document.activeElement.textContent === 'Your turn'")
    tab_to(page, page.locator(f"{TURN} .chip").first.inner_text())
    keys.press("Space")
    keys.press("ArrowDown")
    keys.press("Tab")
    keys.type("Sounded different")
    tab_to(page, "Send")
    keys.press("Enter")
    page.locator(".log", has_text="Your vote is in").wait_for()
    page.locator(".cast .arrow, .votes .note").first.wait_for()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_read_out_of_a_button_begins_with_what_it_shows(arena: ArenaServer, visit: Visitor, lang: str) -> None:
    """Whoever speaks to the computer says what stands on the button."""
    Wire(arena.url).open("undercover")
    here = visit(arena.url, lang=lang)
    here.go()
    here.wait(".game")
    here.wait(".match-row")
    named = here.page.locator("a[aria-label], button[aria-label]").evaluate_all(
        "(all) => all.map((each) => [each.textContent, each.getAttribute('aria-label')])"
    )
    assert len(named) >= 5
    assert [(shown, said) for shown, said in named if not said.startswith(shown)] == []


def test_both_languages_say_everything(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url)
    here.go()
    wrongs = here.page.evaluate(
        """async () => {
          const {TEXTS: {en, zh}} = await import("/page/texts.js");
          const names = (text) => [...text.matchAll(/\\{(\\w+)[}?]/g)].map(([, name]) => name);
          const marks = (text) => [...new Set(names(text))].sort().join();
          const keys = [...new Set([...Object.keys(en), ...Object.keys(zh)])];
          return keys.filter((key) => !en[key] || !zh[key] || marks(en[key]) !== marks(zh[key]));
        }"""
    )
    assert wrongs == []


FORM = """async ([schema, keys]) => {
  const {Form} = await import("/page/forms.js");
  const {fill} = await import("/page/dom.js");
  window.form = new Form(schema, {keys: keys ?? []});
  fill(document.querySelector("main"), window.form.node);
}"""


def test_forms_are_made_of_any_schema(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url)
    here.go()
    here.wait(".game")
    page = here.page

    def form(properties: dict[str, Any], required: list[str] | None = None, keys: list[str] | None = None) -> None:
        schema = {"type": "object", "properties": properties, "required": required or []}
        page.evaluate(FORM, [schema, keys])

    def read() -> dict[str, Any]:
        return dict(page.evaluate("() => window.form.read()"))

    form({"kind": {"const": "fixed"}, "who": {"enum": [1, 2, None]}, "note": {"type": "string"}}, ["kind", "who"])
    assert [error["path"] for error in read()["errors"]] == ["/who"]
    page.get_by_label("none").check()
    assert read() == {"value": {"kind": "fixed", "who": None}, "errors": []}

    maybe = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 500}, {"type": "null"}]}
    form({"limit": maybe, "share": {"type": "number", "minimum": 0, "maximum": 1}}, ["limit"])
    assert read() == {"value": {"limit": None}, "errors": []}
    page.get_by_label("Limit").fill("501")
    page.get_by_label("Share").fill("0.25")
    assert read()["errors"] == [{"path": "/limit", "message": "At most 500."}]
    page.get_by_label("Limit").fill("2.5")
    assert read()["errors"] == [{"path": "/limit", "message": "Please enter a whole number."}]
    page.get_by_label("Limit").fill("77")
    assert read() == {"value": {"limit": 77, "share": 0.25}, "errors": []}

    # Characters count as the server counts them, not as halves.
    form({"text": {"type": "string", "minLength": 2, "maxLength": 3}}, ["text"])
    for text, errors in [("", 1), ("a", 1), ("😀😀😀", 0), ("abcd", 1)]:
        page.get_by_label("Text").fill(text)
        assert len(read()["errors"]) == errors, text

    pairs = {
        "type": ["array", "null"],
        "items": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2, "maxItems": 2},
        "minItems": 1,
        "default": None,
    }
    form({"words": pairs, "odd": {"not": {"type": "integer"}}})
    assert read() == {"value": {}, "errors": []}
    page.get_by_text("More (optional)").click()
    page.get_by_role("button", name="Add one").click()
    for place, word in enumerate(("lake", "pond")):
        page.locator(".removable input").nth(place).fill(word)
    page.get_by_label("Odd").fill('{"any": [true]')
    assert [error["message"] for error in read()["errors"]] == ["This is not valid JSON."]
    page.get_by_label("Odd").fill('{"any": [true]}')
    assert read() == {"value": {"words": [["lake", "pond"]], "odd": {"any": [True]}}, "errors": []}
    page.get_by_role("button", name="Remove entry 1").click()
    assert read()["value"] == {"odd": {"any": [True]}}

    each = {"type": "object", "additionalProperties": {"type": "integer"}}
    form({"start": each, "flag": {"type": "boolean"}, "sure": {"type": "boolean", "default": True}}, keys=["a", "b"])
    page.get_by_text("More (optional)").click()
    page.get_by_label("b", exact=True).fill("4")
    assert read() == {"value": {"start": {"b": 4}, "sure": True}, "errors": []}

    either = {"oneOf": [{"title": "by name", "type": "string"}, {"title": "by number", "type": "integer"}]}
    form({"target": either}, ["target"])
    page.get_by_label("Target: Which form").select_option("by number")
    page.locator(".variants input").fill("3")
    assert read() == {"value": {"target": 3}, "errors": []}


def test_a_game_that_nobody_wrote_a_page_for_is_shown_as_a_tree(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url)
    here.go()
    here.wait(".game")
    text = here.page.evaluate(
        """async () => {
          const {moduleOf} = await import("/page/games.js");
          const {fill} = await import("/page/dom.js");
          const hands = {"a": [{card: 7, open: true}]};
          const view = {board: [["x", null], ["<b>", "o"]], hands_left: hands, deep: [[[[[[[[[1]]]]]]]]]};
          fill(document.querySelector("main"), moduleOf("chess").board({view}));
          return document.querySelector("main").innerText;
        }"""
    )
    assert "Hands left" in text
    assert "<b>" in text
    assert here.page.locator("main b").count() == 0
