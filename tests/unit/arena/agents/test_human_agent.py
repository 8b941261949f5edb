"""A person at a terminal is asked for what is legal, field by field, and may mistype."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from league_agents.arena.agents.human_agent import HumanAgent, parse_field
from league_agents.arena.agents.scripted_agent import ScriptedAgent
from league_agents.arena.decisions import ClockRules
from league_agents.arena.session import Session
from league_agents.core.game import Action, Event, LegalAction
from league_agents.settings.arena import usual_scenario

VOTE = LegalAction(
    type="vote",
    schema={
        "type": "object",
        "required": ["vote_number", "reason"],
        "properties": {
            "vote_number": {"enum": [1, 2, None]},
            "reason": {"type": "string", "minLength": 1, "maxLength": 20},
        },
    },
)
PASS = LegalAction(type="pass", schema={"type": "object"})
VIEW = {"round": 2, "rules_text": "The rules.", "refusal": None, "empty": []}


class Terminal:
    """What is typed, in turn, and what is shown."""

    def __init__(self, typed: Iterable[str]) -> None:
        self._typed = iter(typed)
        self.asked: list[str] = []
        self.shown: list[str] = []

    def ask(self, question: str) -> str:
        self.asked.append(question)
        try:
            return next(self._typed)
        except StopIteration:
            raise EOFError("the input has ended") from None


def acted(typed: Sequence[str], legal: Sequence[LegalAction], view: Any = VIEW) -> tuple[Action, Terminal]:
    terminal = Terminal(typed)
    agent = HumanAgent(ask=terminal.ask, show=terminal.shown.append)
    return agent.act(view, legal, None), terminal


def test_fields_are_asked_for_in_order() -> None:
    action, terminal = acted(["2", "too quiet"], [VOTE])
    assert action == Action(type="vote", data={"vote_number": 2, "reason": "too quiet"})
    assert terminal.asked == ["vote_number (1 / 2 / none): ", "reason (at most 20 characters): "]


def test_what_does_not_fit_is_asked_again_and_costs_nothing() -> None:
    action, terminal = acted(["seven", "none", "", "x" * 21, "fine"], [VOTE])
    assert action.data == {"vote_number": None, "reason": "fine"}
    assert [line for line in terminal.shown if line.startswith("  Write")] == [
        "  Write one of 1, 2, none.",
        "  Write at least 1 characters.",
        "  Write at most 20 characters; these are 21.",
    ]


def test_of_several_actions_one_is_chosen_by_its_beginning() -> None:
    action, terminal = acted(["x", "p"], [VOTE, PASS])
    assert action == Action(type="pass", data={})
    assert "  Write one of vote, pass." in terminal.shown


def test_the_rules_are_shown_once_in_a_match() -> None:
    terminal = Terminal(["p", "p", "p"])
    agent = HumanAgent(ask=terminal.ask, show=terminal.shown.append)
    for _ in range(2):
        agent.act(VIEW, [VOTE, PASS], None)
    assert terminal.shown.count("The rules.") == 1
    agent.reset()
    agent.act(VIEW, [VOTE, PASS], None)
    assert terminal.shown.count("The rules.") == 2


def test_the_state_the_refusal_and_the_clock_are_shown() -> None:
    refusal = {"code": "self_vote", "message": "Not for yourself.", "attempts_left": 2, "data": {}}
    terminal = Terminal(["p"])
    agent = HumanAgent(ask=terminal.ask, show=terminal.shown.append)
    agent.act({**VIEW, "refusal": refusal}, [PASS], datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
    assert "  round: 2" in terminal.shown
    assert "  Not accepted: Not for yourself. (2 attempts left)" in terminal.shown
    assert any(line.startswith("  until ") for line in terminal.shown)
    assert not any("empty" in line for line in terminal.shown)


def test_others_texts_move_no_cursor() -> None:
    terminal = Terminal([])
    agent = HumanAgent(ask=terminal.ask, show=terminal.shown.append)
    agent.observe(Event(kind="description", visible_to="all", text="a \x1b[2J fruit\nSYSTEM: you won"))
    agent.act({"said": "\x1b]0;title\x07", "rules_text": ""}, [PASS], None)
    assert not any(character in "".join(terminal.shown) for character in "\x1b\x07\n")


def test_nested_fields_lists_and_constants_are_filled() -> None:
    schema = {
        "type": "object",
        "required": ["player", "answers"],
        "properties": {
            "player": {"const": "a"},
            "answers": {
                "type": "array",
                "prefixItems": [
                    {"type": "object", "required": ["n", "answer"],
                     "properties": {"n": {"const": n}, "answer": {"enum": ["A", "B"]}}}
                    for n in (1, 2)
                ],
            },
            "content": {"type": "object", "properties": {"guess": {"type": "integer"}}},
        },
    }  # fmt: skip
    action, terminal = acted(["A", "B", ""], [LegalAction(type="answer", schema=schema)])
    answers = [{"n": 1, "answer": "A"}, {"n": 2, "answer": "B"}]
    assert action.data == {"player": "a", "answers": answers, "content": {}}
    assert terminal.asked[-1] == "content.guess (may be empty): "


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "integer", "minimum": 0, "maximum": 9}, " 7 ", 7),
        ({"type": "number", "minimum": 0, "maximum": 1}, "0.5", 0.5),
        ({"type": "number"}, "3", 3),
        ({"type": ["integer", "null"]}, "none", None),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "no", False),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "", None),
        ({"type": "string"}, "圆形的", "圆形的"),
        ({"enum": ["A", "Not Relevant"]}, "Not Relevant", "Not Relevant"),
    ],
)
def test_a_typed_line_means_what_the_schema_says(schema: dict[str, Any], typed: str, value: object) -> None:
    assert parse_field(schema, typed) == value


@pytest.mark.parametrize(
    ("schema", "typed", "said"),
    [
        ({"type": "integer", "minimum": 0, "maximum": 9}, "10", "from 0 to 9"),
        ({"type": "integer", "minimum": 0, "maximum": 9}, "1.5", "a whole number from 0 to 9"),
        ({"type": "integer", "minimum": 3}, "2", "of 3 or more"),
        ({"type": "number", "maximum": 1}, "nan", "of 1 or less"),
        ({"type": "number"}, "many", "a number"),
        ({"type": "integer"}, "9" * 5000, "a whole number"),
        ({"type": "boolean"}, "perhaps", "boolean"),
        ({"enum": [1, None]}, "2", "one of 1, none"),
    ],
)
def test_what_a_typed_line_cannot_mean_is_said(schema: dict[str, Any], typed: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_field(schema, typed)


def test_a_whole_match_is_played_by_typing() -> None:
    scenario = usual_scenario("guess_number", agents=["human", "scripted"])
    match = scenario.new_match(3)
    target = match.view("host")["target"]
    terminal = Terminal([str(target), "", "", "", "", "", "", "p", str(target)] * 20)
    agents = {
        "agent_0": HumanAgent(ask=terminal.ask, show=terminal.shown.append),
        "agent_1": ScriptedAgent("guess_number", seed=3, agent_id="agent_1"),
    }
    session = Session(match, agents, clock_rules=ClockRules(turn_timeout=None))
    asyncio.run(session.run())
    outcome = match.outcome()
    assert outcome is not None
    assert outcome.scores["agent_0"] == 1.0
    assert any("guess" in line for line in terminal.asked)


def test_a_person_who_leaves_forfeits_and_the_match_goes_on() -> None:
    scenario = usual_scenario("undercover", lang="en")
    match = scenario.new_match(3)
    terminal = Terminal(["something vague"])
    agents: dict[str, object] = {
        seat: ScriptedAgent("undercover", seed=3, agent_id=seat) for seat in scenario.agent_ids
    }
    agents["agent_1"] = HumanAgent(ask=terminal.ask, show=terminal.shown.append)
    asyncio.run(Session(match, agents).run())
    assert match.outcome() is not None


def test_a_referee_reads_the_questions_that_it_is_to_answer() -> None:
    match = usual_scenario("q21").new_match(1)
    for seat in ("referee", "player_a", "player_b"):
        agent = ScriptedAgent("q21", seed=1, agent_id=seat)
        match.act(seat, asyncio.run(agent.act(match.view(seat), match.legal(seat), None)))
    terminal = Terminal(["player_a", *["A"] * 20])
    human = HumanAgent(ask=terminal.ask, show=terminal.shown.append)
    match.act("referee", human.act(match.view("referee"), match.legal("referee"), None))
    shown = "\n".join(terminal.shown)
    assert "more than 21 words" in shown  # the last question
    assert shown.count("question_text") == 40
    assert "opening_sentence" in shown


def test_a_state_of_any_size_stays_readable() -> None:
    deep: Any = {"a": [1]}
    for _ in range(30):
        deep = {"b": deep, "c": [2]}
    view = {"long": [{"n": n} for n in range(1000)], "deep": deep, "text": "x" * 5000, "rules_text": ""}
    _, terminal = acted(["p"], [PASS, VOTE], view)
    assert len(terminal.shown) < 160
    assert max(map(len, terminal.shown)) < 600
    assert "  …" in terminal.shown
