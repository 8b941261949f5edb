"""Trying an agent out, with the calls made on the spot."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.agents.scripted import PLAYERS, REFEREES
from league_agents.evaluation.checking.check import check_agent
from league_agents.evaluation.checking.report import ContractFinding, ContractVerdict, TrialKind, merged
from league_agents.games.q21.callbacks import callback_specs
from league_agents.games.q21.remarks import Severity
from league_agents.games.q21.rules import BUILT_IN, COURSE, PRD
from league_agents.user_code.called import Called, End

AGENTS = {"referee": REFEREES, "player": PLAYERS}


class OnTheSpot:
    """A ``Caller`` that keeps what it was asked."""

    def __init__(self, agent: object) -> None:
        self._agent = agent
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        self.asked.append((callback, context))
        try:
            result = getattr(self._agent, callback)(context)
        except Exception as error:
            return Called(end=End.RAISED, detail=repr(error))
        return Called(end=End.RETURNED, result=result)


@pytest.mark.parametrize("role", AGENTS)
@pytest.mark.parametrize("rules", BUILT_IN.values(), ids=BUILT_IN)
def test_every_game_makes_the_calls_in_their_real_order(role: str, rules: Any) -> None:
    caller = OnTheSpot(AGENTS[role]["fixed"](rules=rules))
    report = check_agent(role, rules, caller)
    assert report.verdict is ContractVerdict.KEPT
    expected = (
        list(PLAYER_CALLBACKS)
        if role == "player"
        else [*REFEREE_CALLBACKS[:2], *REFEREE_CALLBACKS[2:3] * 2, *REFEREE_CALLBACKS[3:] * 2]
    )
    called = [callback for callback, _ in caller.asked]
    assert called == expected * len(report.games)


@pytest.mark.parametrize("role", AGENTS)
def test_a_proper_context_has_the_keys_of_the_protocol(role: str) -> None:
    caller = OnTheSpot(AGENTS[role]["fixed"](rules=PRD))
    check_agent(role, PRD, caller, valid_only=True)
    common = {"season_id", "game_id", "match_id", "round_number"}
    keys = {
        "get_guess": {"answers", "questions_sent", "book_name", "book_hint", "association_word"},
        "get_score_feedback": {"player_guess", "actual_opening_sentence", "actual_associative_word", "answers"},
    }
    for callback, context in caller.asked:
        assert common | keys.get(callback, set()) <= context["dynamic"].keys()
        assert context["service"].keys() >= callback_specs(PRD)[callback].service().keys()
        json.dumps(context)


def test_a_player_is_asked_to_guess_from_its_own_questions() -> None:
    caller = OnTheSpot(PLAYERS["fixed"](rules=COURSE))
    check_agent("player", COURSE, caller, valid_only=True)
    [first, *_] = [context for callback, context in caller.asked if callback == "get_guess"]
    sent = first["dynamic"]["questions_sent"]
    assert [question["question_text"] for question in sent][4] == "Does the sentence mention the sea?"
    assert [answer["question_number"] for answer in first["dynamic"]["answers"]] == list(range(1, 21))
    assert {answer["answer"] for answer in first["dynamic"]["answers"]} == {"A", "B", "C", "D", "Not Relevant"}


def test_a_referees_own_words_come_back_to_it() -> None:
    caller = OnTheSpot(REFEREES["fixed"](rules=PRD))
    check_agent("referee", PRD, caller, valid_only=True)
    [good, bad, *_] = [context["dynamic"] for callback, context in caller.asked if callback == "get_score_feedback"]
    assert good["book_name"] == "Moby-Dick"
    assert good["player_guess"]["opening_sentence"] == good["actual_opening_sentence"] == "Call me Ishmael."
    assert bad["player_guess"]["opening_sentence"] != "Call me Ishmael."


@pytest.mark.parametrize("role", AGENTS)
def test_an_agent_may_change_what_it_is_given(role: str) -> None:
    agent = AGENTS[role]["fixed"](rules=PRD)

    def spoiling(callback: str) -> Callable[[Any], object]:
        def call(context: Any) -> object:
            result = getattr(agent, callback)(context)
            context.clear()
            return result

        return call

    class Spoiler:
        def __getattr__(self, callback: str) -> Callable[[Any], object]:
            return spoiling(callback)

    assert check_agent(role, PRD, OnTheSpot(Spoiler())).verdict is ContractVerdict.KEPT


@pytest.mark.parametrize(
    ("role", "name", "broken"),
    [
        ("player", "raising", set(PLAYER_CALLBACKS)),
        ("player", "babbling", {"get_warmup_answer", "get_questions", "get_guess"}),
        ("player", "stuffing", set()),  # no contract forbids a long guess; it earns nothing
        ("player", "fixed", set()),
        ("referee", "raising", {"get_round_start_info"}),
        ("referee", "unscoring", {"get_score_feedback"}),
        ("referee", "babbling", {"get_warmup_question", "get_answers", "get_score_feedback"}),
        ("referee", "fixed", set()),
    ],
)
def test_what_a_bad_agent_breaks_is_what_is_found(role: str, name: str, broken: set[str]) -> None:
    report = check_agent(role, PRD, OnTheSpot(AGENTS[role][name](rules=PRD)))
    assert {each.callback for each in report.callbacks if each.verdict is ContractVerdict.BROKEN} == broken
    assert (report.verdict is ContractVerdict.BROKEN) == bool(broken)


class Plain:
    """A referee and a player with the very shapes of the product document (3.2 and 3.3)."""

    OPTIONS = {"A": "Yes", "B": "No", "C": "Partially", "D": "Unknown"}  # noqa: RUF012

    def get_warmup_question(self, ctx: Any) -> object:
        return {"warmup_question": "How much is two plus two?"}

    def get_round_start_info(self, ctx: Any) -> object:
        return {"book_name": "Moby-Dick", "book_hint": "A restless man goes to sea", "association_word": "animal"}

    def get_answers(self, ctx: Any) -> object:
        asked = ctx.get("dynamic", ctx).get("questions") or []
        asked = [item for item in asked if isinstance(item, dict)] if isinstance(asked, list) else []
        return {"answers": [{"question_number": item["question_number"], "answer": "D"} for item in asked]}

    def get_score_feedback(self, ctx: Any) -> object:
        return {"league_points": 0, "private_score": 10.0}

    def get_warmup_answer(self, ctx: Any) -> object:
        return {"answer": "4"}

    def get_questions(self, ctx: Any) -> object:
        asked = [f"Has the sentence {n} words?" for n in range(20)]
        return {"questions": [{"question_text": text, "options": self.OPTIONS} for text in asked]}

    def get_guess(self, ctx: Any) -> object:
        reason = "one of the thirty-six words that this takes " * 5
        return {
            "opening_sentence": "Call me Ishmael.", "sentence_justification": reason,
            "associative_word": "whale", "word_justification": reason,
        }  # fmt: skip

    def on_score_received(self, ctx: Any) -> None:
        return None


@pytest.mark.parametrize(("role", "verdict"), [("player", ContractVerdict.KEPT), ("referee", ContractVerdict.REPAIRED)])
def test_the_shapes_of_the_product_document_are_accepted(role: str, verdict: ContractVerdict) -> None:
    report = check_agent(role, PRD, OnTheSpot(Plain()), valid_only=True)
    assert report.verdict is verdict, report
    repaired = {(each.callback, finding.path) for each in report.callbacks for finding in each.findings}
    lacking = {("get_score_feedback", "breakdown"), ("get_score_feedback", "feedback")}
    assert repaired == (set() if role == "player" else lacking)


def test_what_a_match_repairs_is_a_repair_and_says_what_became_of_it() -> None:
    class Brief(Plain):
        def get_guess(self, ctx: Any) -> object:
            return {"opening_sentence": "Call me Ishmael.", "associative_word": "whale", "word_justification": "It is."}

    told: list[tuple[str, ContractVerdict]] = []
    report = check_agent(
        "player", PRD, OnTheSpot(Brief()), told=lambda game, verdict: told.append((game.kind, verdict))
    )
    guess = report.callbacks[2]
    assert (guess.verdict, report.verdict) == (ContractVerdict.REPAIRED, ContractVerdict.REPAIRED)
    assert [finding.severity for finding in guess.findings] == [Severity.REPAIRED, Severity.REPAIRED]
    assert all("neutral" in finding.done for finding in guess.findings)
    assert {verdict for kind, verdict in told if kind is TrialKind.VALID} == {ContractVerdict.REPAIRED}
    assert {verdict for kind, verdict in told if kind is not TrialKind.VALID} == {ContractVerdict.KEPT}


def test_no_instance_ends_the_check() -> None:
    calls = []

    def call(callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        calls.append(callback)
        return Called(end=End.NOT_MADE, detail="KeyError: 'KEY'")

    report = check_agent("player", PRD, call)
    assert len(calls) == 1
    assert report.unmade is not None
    assert report.unmade.rule == "a class that can be made without arguments, in time and without an error"
    assert report.verdict is ContractVerdict.BROKEN


def test_a_hung_callback_is_not_called_again_and_the_others_are() -> None:
    agent = OnTheSpot(PLAYERS["fixed"](rules=PRD))

    def call(callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        if callback == "get_questions":
            agent.asked.append((callback, context))
            return Called(end=End.TIMED_OUT, seconds=timeout.total_seconds())
        return agent(callback, context, timeout)

    report = check_agent("player", PRD, call, longest=timedelta(seconds=3))
    questions, guess = report.callbacks[1:3]
    assert [callback for callback, _ in agent.asked].count("get_questions") == 1
    assert questions.limit_s == 3
    assert sum(tried.skipped for tried in questions.tried.values()) == len(report.games) - 1
    assert guess.verdict is ContractVerdict.KEPT


def test_a_slow_callback_is_warned_of() -> None:
    agent = OnTheSpot(PLAYERS["fixed"](rules=PRD))

    def call(callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        called = agent(callback, context, timeout)
        seconds = 20.0 if callback == "get_guess" else 12.0 if callback == "get_questions" else 0.0
        return Called(end=called.end, result=called.result, seconds=seconds)

    report = check_agent("player", PRD, call, valid_only=True)
    assert report.verdict is ContractVerdict.KEPT
    slow = {each.callback: each.findings for each in report.callbacks if each.findings}
    assert list(slow) == ["get_guess"]
    [finding] = slow["get_guess"]
    assert (finding.severity, finding.found, finding.times) == (Severity.WARNING, "20.0 s", 3)


def finding(**changes: Any) -> ContractFinding:
    parts: dict[str, Any] = {
        "severity": Severity.WARNING, "callback": "get_guess", "game": "g", "kind": TrialKind.ODD, "path": "a[0].b",
        "rule": "a text", "found": "None",
    }  # fmt: skip
    return ContractFinding(**{**parts, **changes})


def test_what_is_broken_somewhere_is_not_told_again_as_a_warning() -> None:
    [one, other] = merged(
        [
            finding(),
            finding(path="a[7].b"),
            finding(severity=Severity.BROKEN, kind=TrialKind.VALID, path="a[3].b"),
            finding(path="c"),
        ]
    )
    assert (one.severity, one.path, one.times) == (Severity.BROKEN, "a[3].b", 3)
    assert (other.severity, other.path, other.times) == (Severity.WARNING, "c", 1)


def test_a_result_that_is_too_large_is_not_called_an_exception() -> None:
    def caller(callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        return Called(end=End.UNUSABLE, detail="more than 20000 values")

    report = check_agent("player", PRD, caller, valid_only=True)
    found = {(finding.rule, finding.found) for each in report.callbacks for finding in each.findings}
    assert found == {("a result of bearable size (protocol 6)", "more than 20000 values")}
