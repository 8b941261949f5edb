"""People play and watch in a browser: every game by its forms, to the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from league_agents.arena.scenario import scenario_of
from league_agents.arena.server.serving import ArenaServer
from tests.support.arena_wire import Wire

Visitor = Callable[..., Any]
CIVILIAN, UNDERCOVER = "w-5f1c77ab90", "w-c08e31d264"
TURN, RESULT = ".turn.mine", ".result:not([hidden])"


def dealt_match(arena: ArenaServer, **config: Any) -> str:
    """Undercover with words that nobody says by chance; five seats are the house's, the third is free."""

    def opened() -> str:
        assert arena.hall is not None
        seats = [{"id": f"agent_{n}", "agent": "open" if n == 3 else "scripted"} for n in range(1, 7)]
        pair = {"pair": [CIVILIAN, UNDERCOVER], "lang": "en", "tie": "random", **config}
        return arena.hall.open_match(scenario_of({"game": "undercover", "config": pair, "agents": seats})).match_id

    return str(arena.call(opened))


def play_undercover(visit: Any, words: str = "Round") -> int:
    """Describe and vote until it is over or the player is out; how often something was asked."""
    page, asked = visit.page, 0
    while True:
        page.wait_for_selector(f"{TURN} form, {RESULT}, .note.dead")
        if visit.is_over() or not page.locator(f"{TURN} form").count():
            return asked
        asked += 1
        form = page.locator(f"{TURN} form")
        kind = form.get_attribute("aria-label")
        if kind == "Vote":
            form.locator(".chip").first.click()
            form.locator("textarea").fill("Somebody has to go.")
        else:
            form.locator("textarea").fill(f"{words} {asked}: some have it, some do not")
        decision = page.evaluate("() => document.querySelector('.turn form').dataset.seen = 'yes'")
        assert decision == "yes"
        form.locator("button[type=submit]").click()
        page.wait_for_function("() => document.querySelector('.turn form[data-seen]') === null")


def test_a_person_plays_a_whole_match_and_a_spectator_sees_no_secret(arena: ArenaServer, visit: Visitor) -> None:
    match_id = dealt_match(arena)
    watcher, player = visit(arena.url), visit(arena.url)
    watcher.go(f"match/{match_id}")
    watcher.wait("#join-name")

    player.go(f"match/{match_id}")
    player.page.fill("#join-name", "Dana")
    player.page.get_by_role("button", name="Take a seat").click()
    player.wait(TURN)
    word = player.page.locator(".word-itself").inner_text()
    assert word in (CIVILIAN, UNDERCOVER)

    before = []
    watcher.wait(".board .player.active")
    before.append(watcher.text())
    assert play_undercover(player) >= 1
    if not watcher.is_over():
        before.append(watcher.text())
    player.wait(RESULT)
    watcher.wait(RESULT)

    ended = next(place for place, frame in enumerate(watcher.frames) if '"game_over"' in frame and "word_pair" in frame)
    early = [*before, *watcher.frames[:ended]]
    after = watcher.text()
    reasons = watcher.page.locator(".cast .small").all_text_contents()
    assert len(reasons) > 5
    for text in early:
        assert CIVILIAN not in text
        assert UNDERCOVER not in text
        assert not [reason for reason in reasons if reason in text]
    for frame in watcher.frames[:ended]:
        assert '"role"' not in frame
        assert '"seed"' not in frame
    # What was hidden is told to both at the end.
    for text in (after, player.text()):
        assert CIVILIAN in text
        assert UNDERCOVER in text
    told = "You have won!" in player.shown()
    assert told is (player.page.locator(".scores li", has_text="Dana").locator(".tag").count() == 1)


def test_whoever_takes_no_part_is_shown_no_word_and_asked_nothing(arena: ArenaServer, visit: Visitor) -> None:
    match_id = dealt_match(arena)
    watcher = visit(arena.url)
    watcher.go(f"match/{match_id}")
    Wire(arena.url).join(match_id, name="Dana", type="human")
    watcher.wait(".board .player.active")
    assert watcher.page.locator(".word, .turn form, .clock:not([hidden])").count() == 0
    assert "You watch." in watcher.shown()
    assert "Waiting for Dana." in watcher.shown()


def test_the_page_is_chinese_where_the_reader_is(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url, lang="zh")
    here.go("new/undercover")
    here.page.fill("#own-name", "小达")
    here.page.select_option("#pause", "0")
    here.page.get_by_role("button", name="开始这一局").click()
    here.wait(TURN)
    assert here.page.locator("html").get_attribute("lang") == "zh-Hans"
    assert "你的词" in here.shown()
    word = here.page.locator(".word-itself").inner_text()
    assert not word.isascii()

    # The server refuses the own word; the page says so in Chinese, with the attempts that are left.
    here.page.fill(f"{TURN} textarea", f"{word}很好")
    here.page.get_by_role("button", name="提交").click()
    here.wait(".refusal:not([hidden])")
    assert here.page.locator(".refusal").inner_text() == "未被接受: 描述中出现了你自己的词。 还可以尝试 2 次。"

    here.page.get_by_role("button", name="English").click()
    here.wait(TURN)
    assert "Describe your word" in here.shown()
    assert here.page.locator(".word-itself").inner_text() == word
    assert "Your word is " + word in here.page.locator(".log").inner_text()


def test_a_decision_is_lost_with_the_last_attempt_and_the_page_says_so(arena: ArenaServer, visit: Visitor) -> None:
    match_id = dealt_match(arena)
    here = visit(arena.url)
    here.go(f"match/{match_id}")
    here.page.get_by_role("button", name="Take a seat").click()
    here.wait(TURN)
    word = here.page.locator(".word-itself").inner_text()
    for left in ("2 attempts left.", "1 attempt left."):
        here.page.fill(f"{TURN} textarea", f"my word is {word}")
        here.page.click(f"{TURN} button[type=submit]")
        here.page.locator(".refusal", has_text=left).wait_for()
    here.page.click(f"{TURN} button[type=submit]")
    here.wait(".notice:not([hidden])")
    assert "That was the last attempt" in here.page.locator(".notice").inner_text()


def test_guess_number_asks_for_one_form_a_step(arena: ArenaServer, visit: Visitor) -> None:
    def opened() -> str:
        assert arena.hall is not None
        seats = [{"id": "agent_1", "agent": "open"}, {"id": "agent_2", "agent": "scripted"}]
        config = {"num_choices": 4, "target": 2, "max_steps": 10}
        found = scenario_of({"game": "guess_number", "config": config, "agents": seats})
        return arena.hall.open_match(found).match_id

    match_id = arena.call(opened)
    here = visit(arena.url)
    here.go(f"match/{match_id}")
    here.page.get_by_role("button", name="Take a seat").click()
    page, asked = here.page, []
    while True:
        page.wait_for_selector(f"{TURN} form, {RESULT}")
        if here.is_over():
            break
        asked.append(page.locator(".phase").inner_text())
        form = page.locator(f"{TURN} form")
        form.locator(".chip", has_text=str(len(asked) - 1)).click()
        form.get_by_label("Propose this number to the others too").check()
        form.get_by_role("button", name="Send").click()
        now = asked[-1].split(" of ", maxsplit=1)[0]
        page.wait_for_function(
            "(now) => !document.querySelector('.phase').textContent.startsWith(`${now} of`)"
            " || document.querySelector('.result:not([hidden])')",
            arg=now,
        )
    assert asked == [f"Step {step} of 10 · Reports" for step in (1, 2, 3)]
    log = page.locator(".log").inner_text()
    assert "proposes 0" in log
    assert "The number was 2." in here.shown()


def test_guess_number_can_be_played_form_by_form(arena: ArenaServer, visit: Visitor) -> None:
    match_id = Wire(arena.url).open("guess_number", config={"num_choices": 4}, agents=["open", "scripted"])
    here = visit(arena.url)
    here.go(f"match/{match_id}")
    here.page.fill("#join-name", "Dana")
    here.page.get_by_role("button", name="Take a seat").click()
    page, step = here.page, 0
    while True:
        page.wait_for_selector(f"{TURN} form, {RESULT}")
        if here.is_over():
            break
        form = page.locator(f"{TURN} form").first
        kind = str(form.get_attribute("aria-label"))
        if kind == "Report" or kind == "Guess":
            form.locator(".chip", has_text=str(min(step, 3))).click()
            if kind == "Report":
                form.get_by_label("Guess only after I have heard the others").check()
            form.get_by_role("button", name="Send").click()
        step += kind == "Guess"
        page.wait_for_function("(kind) => !document.querySelector(`.turn form[aria-label='${kind}']`)", arg=kind)
    assert "The number was" in here.shown()
    assert "agent" not in page.locator(".log").inner_text().replace("agent_1", "")


def test_the_market_is_opened_with_its_settings_and_played(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url)
    here.go("new/market")
    page = here.page
    page.fill("#own-name", "Dana")
    page.fill("#seats", "2")
    page.select_option("#pause", "0")
    page.get_by_text("More settings of the game").click()
    page.get_by_label("Rounds at most").fill("2")
    page.get_by_label("Customers").fill("50")
    page.get_by_role("button", name="Open the match").click()
    here.wait(TURN)
    assert "50 customers" in here.shown()
    for number in (1, 2):
        price = page.get_by_role("spinbutton", name="Price")
        price.fill("5")
        page.get_by_role("button", name="Send").click()
        assert page.locator(".field .error", has_text="At least 10.").is_visible()
        assert price.evaluate("(node) => node === document.activeElement && node.ariaInvalid === 'true'")
        price.fill("11")
        page.get_by_label("What you say with it").fill("Low, as always.")
        page.get_by_role("button", name="Send").click()
        here.wait(f".scroller tbody tr:nth-child({number}) .won")
    here.wait(RESULT)
    page.wait_for_selector(".scores .score")
    score = page.locator(".scores li", has_text="Dana").locator(".score").inner_text()
    assert int(score) in (50, 75, 100), "the lowest price, alone or shared, twice"
    assert page.locator(".player", has_text="Dana").locator(".balance").inner_text() == f"Balance {score}"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the transcript").click()
    lines = [json.loads(line) for line in download.value.path().read_text(encoding="utf-8").splitlines()]
    assert (lines[0]["line"], lines[-1]["line"]) == ("header", "outcome")
    assert lines[0]["config"]["num_customers"] == 50


def test_a_player_of_q21_pastes_twenty_questions_and_guesses(arena: ArenaServer, visit: Visitor) -> None:
    here = visit(arena.url, size=(390, 844), permissions=["clipboard-read", "clipboard-write"])
    here.go("new/q21")
    page = here.page
    page.fill("#own-name", "Dana")
    page.select_option("#pause", "0")
    page.get_by_role("button", name="Open the match").click()
    here.wait(f"{TURN} form")
    questions = [f"Does the sentence have more than {number} words?" for number in range(1, 21)]
    lines = "\n".join(f"{number}. {question}" for number, question in enumerate(questions, 1))
    page.evaluate("(text) => navigator.clipboard.writeText(text)", lines)
    page.get_by_role("textbox", name="Your questions 1", exact=True).focus()
    page.keyboard.press("Control+v")
    assert page.get_by_role("textbox", name="Your questions 20", exact=True).input_value() == questions[-1]
    page.get_by_role("button", name="Send").click()
    here.wait(".turn form[aria-label=Guess]")
    assert questions[0] in here.shown()
    page.get_by_label("The sentence").fill("Call me Ishmael.")
    page.get_by_label("Why this sentence").fill("because " * 40)
    assert "40 words" in page.locator(TURN).inner_text()
    page.get_by_label("The word", exact=True).fill("whale")
    page.get_by_role("button", name="Send").click()
    # No reason for the word: that costs points, so it is said before it is sent.
    assert page.locator(".field .error", has_text="0 of at least 35 words.").is_visible()
    assert page.locator(".refusal").inner_text() == "This would cost points. Change it, or send it all the same."
    page.get_by_role("button", name="Send it all the same").click()
    here.wait(RESULT)
    assert "Score of 100" in here.shown()


def test_whoever_has_no_questions_takes_those_that_the_page_has(arena: ArenaServer, visit: Visitor) -> None:
    """The opponent, and the referee, are the league's agent without a model unless something else is chosen."""
    here = visit(arena.url)
    here.go("new/q21")
    page = here.page
    page.select_option("#pause", "0")
    assert page.locator(".seat-row select").evaluate_all("(all) => all.map((each) => each.value)") == ["offline"] * 2
    page.get_by_role("button", name="Open the match").click()
    here.wait(f"{TURN} form")
    own = "Does the opening sentence contain the word 'sea'?"
    page.get_by_role("textbox", name="Your questions 2", exact=True).fill(own)
    page.get_by_role("button", name="Fill in starter questions").click()
    fields = [page.get_by_role("textbox", name=f"Your questions {number}", exact=True) for number in range(1, 21)]
    questions = [field.input_value() for field in fields]
    assert questions[1] == own
    assert len(set(questions)) == 20
    assert all(question.endswith("?") for question in questions)
    page.get_by_role("button", name="Send").click()
    here.wait(".turn form[aria-label=Guess]")
    answers = page.locator(".asked .answer").all_inner_texts()
    assert len(answers) == 20
    assert sum(answer == "not relevant" for answer in answers) <= 6, "the referee reads most of them"


def test_a_referee_of_q21_chooses_and_answers_beside_the_questions(arena: ArenaServer, visit: Visitor) -> None:
    wire = Wire(arena.url)
    match_id = wire.open("q21", agents=["open", "scripted", "scripted"])
    players = [seat["name"] for seat in wire.until(match_id, "waiting")["seats"][1:]]
    here = visit(arena.url)
    here.go(f"match/{match_id}")
    page = here.page
    page.get_by_role("button", name="Take a seat").click()
    here.wait(f"{TURN} form")
    texts = {
        "Book": "Moby-Dick",
        "Hint": "A hunt for revenge on the sea, told by the last one",
        "Domain of the word": "animals",
        "The secret sentence": "Call me Ishmael, he said.",
        "The secret word": "whale",
    }
    for label, text in texts.items():
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Send").click()
    for player in players:
        here.wait(f".turn h3:has-text('Game of {player}')")
        groups = page.locator(".turn .items fieldset")
        assert groups.count() == 20
        assert "words?" in groups.nth(19).locator("legend").inner_text()
        groups.evaluate_all("(all) => all.forEach((each) => each.querySelector('input').click())")
        page.get_by_role("button", name="Send").click()
    here.wait(RESULT)
    assert f"Game of {players[1]}" in here.shown()
