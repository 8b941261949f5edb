"""A person at a terminal answers in one line a turn, may mistype, and is told what happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.arena import usual_scenario
from league_agents.arena.agents.human_agent import HumanAgent, Terminal, by_person, told
from league_agents.arena.agents.scripted_agent import ScriptedAgent, script_of
from league_agents.arena.decisions import ClockRules
from league_agents.arena.session import GivenUp, Session
from league_agents.games.game import HOST, Action, Event
from league_agents.games.person import Reader, number_and_words
from league_agents.games.registry import game_codes
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match

SEATS = {"guess_number": "agent_0", "undercover": "agent_1", "market": "s1", "q21": "player_a"}


class Screen:
    """What is typed, in turn, and what is shown."""

    def __init__(self, *typed: str, edit: Callable[[str], str | None] | None = None) -> None:
        self._typed = iter(typed)
        self.asked: list[str] = []
        self.shown: list[str] = []
        self.terminal = Terminal(ask=self.ask, show=self.shown.append, edit=edit)

    def ask(self, question: str) -> str:
        self.asked.append(question)
        try:
            return next(self._typed)
        except StopIteration:
            raise EOFError("the input has ended") from None


def table(game: str, **config: Any) -> Match[Any]:
    return usual_scenario(game, config=config, lang="en").new_match(3)


def play_to(match: Match[Any], seat: str, *stages: str) -> None:
    """Let the scripted players play until the seat is to do one of these things."""
    script, draw = script_of(match.game.code), Draw(3, "play")
    while not (seat in match.active() and match.info(seat).stage in stages):
        agent = next(each for each in match.active() if each != seat or match.info(seat).stage not in stages)
        view = {**match.view(agent), "agent_id": agent}
        match.act(agent, script(view, match.legal(agent), draw))


def asked(match: Match[Any], seat: str, *typed: str, lang: str = "en", **options: Any) -> tuple[Action, Screen]:
    """What the person does, and whether the game takes it."""
    screen = Screen(*typed, **options)
    agent = HumanAgent(match.game.code, screen.terminal, Reader(viewer=seat, lang=lang))
    view = {**match.view(seat), "agent_id": seat, "refusal": None}
    action = agent.act(view, match.legal(seat), None)
    match.act(seat, action)
    return action, screen


@pytest.mark.parametrize("game", game_codes())
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_game_is_played_by_people_alone_one_line_a_turn(game: str, lang: str) -> None:
    """Nobody types more than a number, a sentence or nothing, and nobody is shown a dictionary."""
    scenario = usual_scenario(game, agents=["human"], lang=lang)
    match = scenario.new_match(3)
    lines = iter([f"It is a thing of kind {place}" for place in range(500)])
    screen = Screen()

    def typed(question: str) -> str:
        screen.asked.append(question)
        if game == "undercover":
            return "0" if "0" in question else next(lines)
        return "-" if "20" in question and ("A 到 D" in question or "A to D" in question) else ""

    terminal = Terminal(ask=typed, show=screen.shown.append)
    agents = {
        seat: HumanAgent(game, terminal, Reader(viewer=seat, lang=lang), seed=f"3/{seat}") for seat in match.agent_ids
    }
    asyncio.run(Session(match, agents, clock_rules=ClockRules(turn_timeout=None), lang=lang).run())
    assert match.is_over
    decisions = sum(message.sender != "market" for message in match.protocol.message_log)
    assert len(screen.asked) >= decisions
    everything = [*screen.asked, *screen.shown]
    assert not any(character in line for line in everything for character in "{}")
    assert all(any(letter > "\u2e80" for letter in line) for line in screen.asked) is (lang == "zh")
    assert any(match.events[-1].text == line for line in screen.shown)
    shown_once = [line for line in screen.shown if line == match.events[0].text]
    assert len(shown_once) == 1 or game == "guess_number"


@pytest.mark.parametrize("game", game_codes())
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_event_of_every_game_can_be_told_to_everybody_who_sees_it(game: str, lang: str) -> None:
    scenario = usual_scenario(game, lang=lang)
    match = scenario.new_match(3)
    agents = {seat: ScriptedAgent(game, seed=3, agent_id=seat) for seat in scenario.agent_ids}
    asyncio.run(Session(match, agents).run())
    for viewer in (HOST, *scenario.agent_ids):
        reader = Reader(viewer=viewer, lang=lang)
        lines = [line for event in match.events_for(viewer) for line in told(game, event, reader)]
        assert lines
        assert not any("{" in line or "\n" in line for line in lines)


def test_an_empty_line_is_what_the_scripted_player_would_do() -> None:
    for game, seat in SEATS.items():
        if game == "undercover":
            continue  # nobody says by accident what somebody else would say
        match = table(game)
        play_to(match, seat, "report", "price", "ask")
        wanted = script_of(game)({**match.view(seat), "agent_id": seat}, match.legal(seat), Draw(0, f"human/{seat}"))
        assert asked(match, seat, "")[0] == wanted


# Guess number


def test_a_number_and_words_are_a_report_with_all_that_one_was_told() -> None:
    match = table("guess_number", target=9)
    play_to(match, "agent_0", "guess")
    assert asked(match, "agent_0", "4")[0] == Action(type="guess", data={"guess": 4})
    play_to(match, "agent_0", "report")
    action, screen = asked(match, "agent_0", "seven", "10", "7 because it is lucky")
    assert action.data["next_guess"] == 7
    assert action.data["reasoning"] == "because it is lucky"
    assert action.data["content"]["guess_history"] == [4, 7]
    assert action.data["content"]["feedback_history"] == [False]
    assert screen.shown == ["Known to be wrong: 4", "Write a number from 0 to 9.", "Write a number from 0 to 9."]
    play_to(match, "agent_0", "propose")
    assert asked(match, "agent_0", "3: why not")[0].data["rationale"] == "why not"
    play_to(match, "agent_0", "guess")
    action, screen = asked(match, "agent_0", "3 or so", "3")
    assert screen.shown[-1] == "Write the number alone."
    play_to(match, "agent_0", "propose")
    assert asked(match, "agent_0", "-")[0].type == "pass"


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("3", (3, "")),
        (" 3  ", (3, "")),
        ("3 so", (3, "so")),
        ("3: so", (3, "so")),
        ("3，因为", (3, "因为")),
        ("-3", (-3, "")),
        ("3so", None),
        ("so 3", None),
        ("3.5", (3, "5")),
        ("", None),
        ("9" * 30, None),
    ],
)
def test_a_line_begins_with_its_number(typed: str, found: tuple[int, str] | None) -> None:
    assert number_and_words(typed) == found


# Undercover


def test_a_description_is_a_line_and_a_vote_is_a_number_and_a_reason() -> None:
    match = table("undercover", pair=["violin", "cello"])
    play_to(match, "agent_1", "describe")
    action, screen = asked(match, "agent_1", "", "x" * 201, "It is played")
    assert action.data == {"description": "It is played"}
    assert screen.shown == ["Write what you say, in at most 200 characters."] * 2
    play_to(match, "agent_1", "vote")
    action, screen = asked(match, "agent_1", "agent_2", "1", "2 too vague")
    assert action.data == {"vote_number": 2, "reason": "too vague"}
    assert [line.partition(":")[0] for line in screen.shown[:5]] == [f"{n} agent_{n}" for n in range(2, 7)]
    assert screen.shown[-1] == "Write one of 2, 3, 4, 5, 6, 0 and why, for example: 2 too vague"


def test_nobody_is_number_zero() -> None:
    match = table("undercover")
    play_to(match, "agent_1", "vote")
    assert asked(match, "agent_1", "0")[0].data == {"vote_number": None, "reason": "No reason given."}
    match = table("undercover", allow_abstain=False)
    play_to(match, "agent_1", "vote")
    action, screen = asked(match, "agent_1", "0", "3")
    assert action.data["vote_number"] == 3
    assert "0: nobody" not in screen.asked[0]


# The market


def test_a_price_may_have_words_and_the_others_offers_are_shown() -> None:
    match = table("market", simultaneous=False)
    play_to(match, "s2", "price")
    action, screen = asked(match, "s2", "9", "45 Let us be reasonable.")
    assert action.data == {"price": 45, "speech": "Let us be reasonable."}
    assert screen.shown[1].startswith("Round 1 of 10. s1 has 0, s2 has 0, s3 has 0.")
    assert screen.shown[2].startswith("s1 asks ")
    assert screen.shown[-1] == "Write a price from 10 to 100."
    silent = table("market", allow_speech=False)
    _, screen = asked(silent, "s1", "45 hello", "45")
    assert screen.shown[-1] == "Write the price alone; this market is silent."
    assert "Words" not in screen.asked[0]


# Q21


def test_questions_are_pasted_and_prepared_ones_fill_what_is_missing() -> None:
    match = table("q21", rules="course")
    play_to(match, "player_a", "ask")
    typed = ["Is the book older than a century? | Yes | No | Nearly | Unknown", "short", "Does it name a person?", ""]
    action, screen = asked(match, "player_a", *typed)
    questions = action.data["questions"]
    assert [each["question_text"] for each in questions[:2]] == [typed[0].partition(" |")[0], typed[2]]
    assert questions[0]["options"]["C"] == "Nearly"
    assert len(questions) == 20
    assert questions[19]["question_text"].startswith("Does the opening sentence have more than")
    assert any(line.startswith("Question 2 must have") for line in screen.shown)
    assert screen.asked[1:] == ["2: ", "2: ", "3: "]


def test_a_whole_batch_needs_no_empty_line() -> None:
    match = table("q21")
    play_to(match, "player_a", "ask")
    action, screen = asked(match, "player_a", *[f"Is this the question number {n}?" for n in range(20)])
    assert len(screen.asked) == 20
    assert action.data["questions"][19]["question_text"] == "Is this the question number 19?"


def test_questions_come_from_a_file_or_from_the_editor(tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text("\nDoes it name a person?\n\nDoes it name a place at all?\n", "utf-8")
    match = table("q21")
    play_to(match, "player_a", "ask")
    action, screen = asked(match, "player_a", f"@{tmp_path}/nowhere.txt", f"@{tmp_path}", f"@{file}")
    texts = [each["question_text"] for each in action.data["questions"][:2]]
    assert texts == ["Does it name a person?", "Does it name a place at all?"]
    assert sum("cannot be read" in line for line in screen.shown) == 2

    offered: list[str] = []

    def edit(text: str) -> str | None:
        offered.append(text)
        return None if len(offered) == 1 else text.replace("more than 2 words", "exactly 2 words")

    action, screen = asked(match, "player_b", "edit", "edit", edit=edit)
    assert offered[0].splitlines()[0].count("|") == 4
    assert screen.shown[-1] == "Nothing was saved."
    assert action.data["questions"][0]["question_text"] == "Does the opening sentence have exactly 2 words?"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Is it an old book? | Yes | No", "Question 1 needs all four options, or none."),
        ("Is it an old book? | a | b | c | d | e", "Question 1 has more than five parts"),
        ("Is it an old book? | a | b | c | d", "the options are always Yes, No, Partially"),
        ("short", "Question 1 must have 10 to 1000 characters."),
    ],
)
def test_what_is_wrong_with_a_question_is_said_at_once(line: str, said: str) -> None:
    match = table("q21")
    play_to(match, "player_a", "ask")
    _, screen = asked(match, "player_a", line, "")
    assert any(said in shown for shown in screen.shown)


def test_a_referee_reads_the_questions_and_answers_with_letters() -> None:
    match = table("q21")
    play_to(match, "referee", "announce")
    brief = "Moby-Dick | A voyage for revenge, told by the last one left | animals | Call me Ishmael. | whale"
    action, screen = asked(match, "referee", "Moby-Dick", brief)
    assert action.data["actual_associative_word"] == "whale"
    assert screen.shown[-1] == "Write the 5 parts with | between them."
    play_to(match, "referee", "answer")
    action, screen = asked(match, "referee", "", "AB", "abcd- ABCD- ABCD- ABCD-")
    assert [each["answer"] for each in action.data["answers"][:5]] == ["A", "B", "C", "D", "Not Relevant"]
    shown = "\n".join(screen.shown)
    assert "more than 21 words" in shown  # the last question
    assert "The sentence: Call me Ishmael. The word: whale." in shown
    assert "these are 0." in shown
    action, _ = asked(match, "referee", "-")
    assert {each["answer"] for each in action.data["answers"]} == {"Not Relevant"}


def test_a_guess_is_a_line_whose_reasons_may_be_left_out() -> None:
    match = table("q21")
    play_to(match, "player_a", "guess")
    action, screen = asked(match, "player_a", "whale", "too short | whale", "Call me Ishmael. | whale")
    assert (action.data["opening_sentence"], action.data["associative_word"]) == ("Call me Ishmael.", "whale")
    assert len(action.data["sentence_justification"].split()) >= 35
    assert "question 1 was answered" in action.data["word_justification"]
    assert any(line.startswith("  20. ") for line in screen.shown)
    assert "Write the 4 parts with | between them." in screen.shown
    assert "The sentence must have 10 to 1000 characters." in screen.shown
    own = asked(match, "player_b", "Call me Ishmael. | whale | my reason | another one")[0].data
    assert (own["sentence_justification"], own["word_justification"]) == ("my reason", "another one")


# Whatever the game


def test_the_refusal_and_the_clock_are_shown() -> None:
    match = table("market")
    screen = Screen("20")
    agent = HumanAgent("market", screen.terminal, Reader(viewer="s1"))
    refusal = {"code": "x", "message": "Not that.", "attempts_left": 2, "data": {}}
    view = {**match.view("s1"), "refusal": refusal}
    agent.act(view, match.legal("s1"), datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
    assert screen.shown[0] == "Not accepted: Not that. (2 more attempts)"
    assert screen.shown[1].startswith("until ")


def test_others_texts_move_no_cursor() -> None:
    screen = Screen()
    agent = HumanAgent("undercover", screen.terminal, Reader(viewer="agent_1"))
    agent.observe(Event(kind="description", visible_to="all", text="a \x1b[2J fruit\nSYSTEM: you won"))
    assert screen.shown == ["a fruit SYSTEM: you won"]


def test_persons_at_one_terminal_are_told_once() -> None:
    screen = Screen()
    agents = [HumanAgent("market", screen.terminal, Reader(viewer=seat)) for seat in ("s1", "s2")]
    for agent in agents:
        agent.observe(Event(kind="market_opened", visible_to="all", text="The market opens.", seq=1))
    assert screen.shown == ["The market opens."]
    for agent in agents:
        agent.reset()
    agents[1].observe(Event(kind="market_opened", visible_to="all", text="The market opens.", seq=1))
    assert len(screen.shown) == 2


def test_the_match_is_given_up_when_the_input_ends() -> None:
    scenario = usual_scenario("undercover", lang="en")
    match = scenario.new_match(3)
    screen = Screen("something vague")
    agents: dict[str, object] = {
        seat: ScriptedAgent("undercover", seed=3, agent_id=seat) for seat in scenario.agent_ids
    }
    agents["agent_1"] = HumanAgent("undercover", screen.terminal, Reader(viewer="agent_1"))
    with pytest.raises(GivenUp, match="nobody plays agent_1"):
        asyncio.run(Session(match, agents).run())
    assert not match.is_over


def test_every_game_says_how_a_person_plays_it() -> None:
    for game in game_codes():
        module: Any = by_person(game)
        assert all(callable(getattr(module, name)) for name in ("told", "shown", "prompt", "list_of", "read"))
