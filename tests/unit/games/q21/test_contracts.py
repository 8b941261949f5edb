"""What the eight callbacks promise, and how every broken promise is found in a result that may be hostile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from enum import IntEnum, StrEnum
from typing import NoReturn

import pytest

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.core.violation import Violation
from league_agents.games.q21 import contracts
from league_agents.games.q21.contracts import (
    callback_specs,
    check_answers,
    check_guess,
    check_questions,
    check_round_start_info,
    check_score_feedback,
    check_warmup_answer,
    check_warmup_question,
)
from league_agents.games.q21.model import Question
from league_agents.games.q21.rules import COURSE, PRD
from league_agents.games.q21.untrusted import integer_of, text_of

OPTIONS = {"A": "Sea", "B": "Land", "C": "Air", "D": "None"}
ASKED = tuple(Question(number=n, text=f"Where is scene {n}?", options=("a", "b", "c", "d")) for n in range(1, 21))


def words(count: int) -> str:
    return " ".join(f"word{i}" for i in range(count))


def good_questions() -> list[dict[str, object]]:
    return [
        {"question_number": n, "question_text": f"Where does scene {n} take place?", "options": dict(OPTIONS)}
        for n in range(1, 21)
    ]


def good_score() -> dict[str, object]:
    return {
        "league_points": 2,
        "private_score": 78.5,
        "breakdown": dict.fromkeys(contracts.COMPONENTS, 70.0),
        "feedback": {"opening_sentence": words(150), "associative_word": words(200)},
    }


def good_guess() -> dict[str, object]:
    return {
        "opening_sentence": "Call me Ishmael.",
        "sentence_justification": words(30),
        "associative_word": "whale",
        "word_justification": words(20),
        "confidence": 1,
    }


def paths(violations: list[Violation]) -> list[str]:
    return [violation.path for violation in violations]


def test_the_table_has_the_eight_callbacks_in_order() -> None:
    assert tuple(callback_specs(PRD)) == REFEREE_CALLBACKS + PLAYER_CALLBACKS


def test_a_callback_is_told_the_smaller_of_its_timeout_and_the_time_left() -> None:
    spec = callback_specs(COURSE)["get_guess"]
    assert spec.service()["deadline_seconds"] == 25
    assert spec.service(left=timedelta(seconds=7.9))["deadline_seconds"] == 7
    assert spec.service(left=timedelta(seconds=-5))["deadline_seconds"] == 1
    assert spec.service()["required_output_fields"] == [*good_guess()]
    assert spec.service()["name"] == "guess"


def test_results_that_keep_the_contract_have_no_violations() -> None:
    start = {"book_name": "Moby Dick", "book_hint": "A sailor tells of one long hunt", "association_word": "sea animal"}
    answers = {"answers": [{"question_number": q.number, "answer": "Not Relevant"} for q in ASKED]}
    assert check_warmup_question({"warmup_question": "2 + 2"}, COURSE) == []
    assert check_round_start_info(start, COURSE) == []
    assert check_answers(answers, ASKED, COURSE) == []
    assert check_score_feedback(good_score(), COURSE) == []
    assert check_warmup_answer({"answer": 4}, COURSE) == []
    assert check_questions({"questions": good_questions()}, COURSE) == []
    assert check_guess(good_guess(), COURSE) == []


def test_all_violations_are_reported_with_their_paths() -> None:
    questions = good_questions()
    questions[0] = {"question_number": 0, "question_text": "Why?", "options": {"A": "", "B": 2, "C": "x"}}
    questions[3]["question_number"] = 3
    questions[4] = []  # type: ignore[call-overload]
    assert paths(check_questions({"questions": [*questions, questions[7]]}, COURSE)) == [
        "questions",
        "questions[0].question_number",
        "questions[0].question_text",
        "questions[0].options.A",
        "questions[0].options.B",
        "questions[0].options.D",
        "questions[3].question_number",
        "questions[4]",
        "questions[20].question_number",
    ]


def test_the_rule_of_a_violation_names_its_limit_and_its_source() -> None:
    guess = good_guess() | {"word_justification": words(19)}
    (violation,) = check_guess(guess, COURSE)
    assert str(violation) == "word_justification: must be 20 to 30 words (protocol 6.2), found 19 words"


@pytest.mark.parametrize(
    ("justification", "accepted"),
    [
        (words(34), False),  # product document 3.3: 35 or more
        (words(35), True),
        (words(35) + " - -", True),
        ("- " * 35, False),  # punctuation is not a word
        (words(3000), False),  # more than 20,000 characters
    ],
)
def test_justifications_of_the_product_document(justification: str, accepted: bool) -> None:
    guess = good_guess() | {"word_justification": words(35), "sentence_justification": justification}
    assert paths(check_guess(guess, PRD)) == ([] if accepted else ["sentence_justification"])


def test_a_dash_counts_towards_the_upper_limit() -> None:
    guess = good_guess() | {"word_justification": words(30) + " –"}
    assert [v.found for v in check_guess(guess, COURSE)] == ["31 words"]


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ({"question_number": True, "answer": "A"}, "answers[19].question_number"),
        ({"question_number": 0, "answer": "A"}, "answers[19].question_number"),
        ({"question_number": 20.0, "answer": "A"}, "answers[19].question_number"),
        ({"question_number": "20", "answer": "A"}, "answers[19].question_number"),
        ({"question_number": 10**400, "answer": "A"}, "answers[19].question_number"),
        ({"question_number": 20, "answer": "a"}, "answers[19].answer"),
        ({"question_number": 20, "answer": "E"}, "answers[19].answer"),
        ({"question_number": 20, "answer": None}, "answers[19].answer"),
        ({"question_number": 20}, "answers[19].answer"),
        ("A", "answers[19]"),
    ],
)
def test_a_wrong_answer_item_is_fatal(item: object, path: str) -> None:
    items: list[object] = [{"question_number": n, "answer": "B"} for n in range(1, 20)]
    assert path in paths(check_answers({"answers": [*items, item]}, ASKED, COURSE, fatal_only=True))


def test_missing_extra_and_double_answers_are_named_but_not_fatal() -> None:
    items = [{"question_number": n, "answer": "B"} for n in [*range(1, 19), 1, 77]]
    found = check_answers({"answers": items}, ASKED, COURSE)
    assert paths(found) == ["answers[18].question_number", "answers[19].question_number", "answers"]
    assert found[-1].found == "none to 19, 20"
    assert check_answers({"answers": items}, ASKED, COURSE, fatal_only=True) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"league_points": True}, "league_points"),
        ({"league_points": 4}, "league_points"),
        ({"league_points": 2.0}, "league_points"),
        ({"private_score": float("nan")}, "private_score"),
        ({"private_score": 100.01}, "private_score"),
        ({"private_score": "78"}, "private_score"),
        ({"breakdown": None}, "breakdown"),
        ({"breakdown": dict.fromkeys(contracts.COMPONENTS, float("inf"))}, "breakdown.opening_sentence_score"),
        ({"feedback": {"opening_sentence": words(150)}}, "feedback.associative_word"),
        ({"feedback": None}, "feedback"),
    ],
)
def test_a_wrong_score_is_fatal(change: dict[str, object], path: str) -> None:
    assert path in paths(check_score_feedback(good_score() | change, COURSE, fatal_only=True))


def test_short_feedback_and_weighted_components_are_not_fatal() -> None:
    result = good_score() | {
        "breakdown": dict.fromkeys(contracts.COMPONENTS, 101),
        "feedback": {"opening_sentence": words(149), "associative_word": words(201)},
    }
    assert len(check_score_feedback(result, COURSE)) == 6
    assert check_score_feedback(result, COURSE, fatal_only=True) == []


@pytest.mark.parametrize(
    ("change", "path", "is_fatal"),
    [
        ({"book_hint": "x" * 9}, "book_hint", True),
        ({"book_hint": "x" * 201}, "book_hint", True),
        ({"book_hint": " ".join("abcdefghijklmnop")}, "book_hint", False),  # 16 words
        ({"book_hint": 7}, "book_hint", True),
        ({"book_name": None}, "book_name", True),
        ({"book_name": "x" * 1001}, "book_name", True),
        ({"book_name": " "}, "book_name", False),
        ({"actual_opening_sentence": 3}, "actual_opening_sentence", False),
        ({"actual_opening_sentence": "The SAILOR wakes."}, "book_hint", False),  # the hint gives a word away
    ],
)
def test_round_start_information(change: dict[str, object], path: str, is_fatal: bool) -> None:
    start = {"book_name": "Moby Dick", "book_hint": "A sailor tells of one long hunt", "association_word": "sea animal"}
    result: dict[str, object] = {**start, **change}
    assert paths(check_round_start_info(result, COURSE)) == [path]
    assert bool(check_round_start_info(result, COURSE, fatal_only=True)) is is_fatal


def test_under_the_fixed_key_other_options_are_named() -> None:
    questions = good_questions()
    fixed = {"A": "yes", "B": "NO", "C": "Partially", "D": "Unknown/Not relevant"}
    for question in questions:
        question["options"] = fixed
    assert check_questions({"questions": questions}, PRD) == []
    questions[2]["options"] = fixed | {"B": "Never"}
    assert [str(v) for v in check_questions({"questions": questions}, PRD)] == [
        "questions[2].options.B: must be 'No': the rules fix the answer key, found 'Never'"
    ]


class Sly:
    """Claims to be a dict and fails at every touch."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError

    def _fail(self, *_: object) -> NoReturn:
        raise RuntimeError

    __repr__ = __str__ = __eq__ = __len__ = __iter__ = __getitem__ = __bool__ = _fail  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class SlyText(str):
    def _fail(self, *_: object) -> NoReturn:
        raise RuntimeError

    __repr__ = __str__ = __eq__ = __len__ = __iter__ = split = strip = _fail  # type: ignore[assignment]
    __hash__ = str.__hash__


class SlyDict(dict[str, object]):
    def get(self, *_: object) -> NoReturn:
        raise RuntimeError

    __getitem__ = __contains__ = __iter__ = get  # type: ignore[assignment]


class SlyList(list[object]):
    def __iter__(self) -> NoReturn:
        raise RuntimeError

    __len__ = __getitem__ = __iter__  # type: ignore[assignment]


def nested(depth: int) -> list[object]:
    inner: list[object] = []
    for _ in range(depth):
        inner = [inner]
    return inner


HOSTILE = [
    None, [], "text", 3, Sly(), SlyText("text"), SlyDict(), SlyList([1]), nested(100_000), [None] * 1_000_000,
    "x" * 5_000_000, 10**10_000, float("nan"), float("-inf"), True, {"a": {"b": {}}}, object(), b"bytes", "\ud800" * 9,
]  # fmt: skip
FIELDS = [
    "warmup_question", "book_name", "book_hint", "association_word", "actual_opening_sentence", "answers", "questions",
    "league_points", "private_score", "breakdown", "feedback", "answer", "opening_sentence", "sentence_justification",
    "associative_word", "word_justification", "confidence", "question_number", "question_text", "options", "A",
]  # fmt: skip
CHECKS: list[Callable[[object], list[Violation]]] = [
    lambda result: check_warmup_question(result, COURSE),
    lambda result: check_round_start_info(result, COURSE),
    lambda result: check_answers(result, ASKED, COURSE),
    lambda result: check_score_feedback(result, COURSE),
    lambda result: check_warmup_answer(result, COURSE),
    lambda result: check_questions(result, COURSE),
    lambda result: check_guess(result, COURSE),
]


@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_no_hostile_value_gets_through_a_check_or_stops_it(index: int) -> None:
    value = HOSTILE[index]
    inner = dict.fromkeys(FIELDS, value)
    for result in (
        value,
        inner,
        inner | {"answers": [value, inner], "questions": [value, inner], "breakdown": inner, "feedback": inner},
    ):
        for check in CHECKS:
            found = check(result)
            assert sum(len(str(violation)) for violation in found) < 20_000
        assert check_questions(result, COURSE) != []
        assert check_score_feedback(result, COURSE) != []


def test_subclasses_of_the_right_types_are_read_as_those_types() -> None:
    class Letter(StrEnum):
        A = "A"

    class Number(IntEnum):
        ONE = 1

    result = SlyDict(answers=[SlyDict(question_number=Number.ONE, answer=Letter.A)])
    assert check_answers(result, ASKED[:1], COURSE) == []
    assert type(text_of(SlyText("abc"))) is str
    assert type(integer_of(Number.ONE)) is int
