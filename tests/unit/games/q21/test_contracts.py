"""What the eight callbacks promise, and how every broken promise is found in a result that may be hostile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import IntEnum, StrEnum
from typing import Any, NoReturn

import pytest

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.games.q21.callbacks import Known, callback_specs, end_of_call
from league_agents.games.q21.model import COMPONENTS, Brief, Question
from league_agents.games.q21.reading_player import read_guess, read_questions, read_warmup_answer
from league_agents.games.q21.reading_referee import (
    read_answers,
    read_round_start_info,
    read_scorecard,
    read_warmup_question,
)
from league_agents.games.q21.remarks import ReadResult, Remark, Severity
from league_agents.games.q21.rules import COURSE, PRD
from league_agents.games.q21.untrusted import integer_of, text_of

BRIEF = Brief(book_name="Moby Dick", book_hint="A sailor tells of one long hunt", association_domain="sea animal")
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
        "breakdown": dict.fromkeys(COMPONENTS, 70.0),
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


def paths(remarks: Sequence[Remark], *severities: Severity) -> list[str]:
    return [remark.path for remark in remarks if not severities or remark.severity in severities]


BROKEN, REPAIRED, WARNING = Severity


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
    assert read_warmup_question({"warmup_question": "2 + 2"}, COURSE).remarks == []
    assert read_round_start_info(start, COURSE).remarks == []
    assert read_answers(answers, ASKED, COURSE).remarks == []
    assert read_scorecard(good_score(), COURSE).remarks == []
    assert read_warmup_answer({"answer": 4}).remarks == []
    assert read_questions({"questions": good_questions()}, COURSE).remarks == []
    assert read_guess(good_guess(), COURSE, BRIEF).remarks == []


def test_the_shapes_of_the_product_document_are_used_as_they_come() -> None:
    options = {"A": "Yes", "B": "No", "C": "Partially", "D": "Unknown"}  # 3.1 and 3.2 spell D in two ways
    asked = [{"question_text": f"Has the sentence {n} words?", "options": options} for n in range(20)]  # no numbers
    read = read_questions({"questions": asked}, PRD)
    assert (read.remarks, [question.number for question in read.value]) == ([], list(range(1, 21)))
    assert {question.options for question in read.value} == {PRD.fixed_options}
    guess = {**good_guess(), "word_justification": words(35), "sentence_justification": words(35)}
    del guess["confidence"]
    assert read_guess(guess, PRD, BRIEF).remarks == []


def test_all_violations_are_reported_with_their_paths() -> None:
    questions = good_questions()
    questions[0] = {"question_number": 0, "question_text": "Why?", "options": {"A": "", "B": 2, "C": "x"}}
    questions[3]["question_number"] = 3
    questions[4] = []  # type: ignore[call-overload]
    questions[5] = {"question_number": 6, "question_text": " ", "options": OPTIONS}
    read = read_questions({"questions": [*questions, questions[7]]}, COURSE)
    assert paths(read.remarks) == [
        "questions[0].question_text",
        "questions[0].options.A",
        "questions[0].options.B",
        "questions[0].options.D",
        "questions[4]",
        "questions[5].question_text",
        "questions[0].question_number",
        "questions[3].question_number",
        "questions[20].question_number",
        "questions",
    ]
    assert {remark.found for remark in read.remarks if "number" in remark.path} == {"0", "3", "8"}
    assert not read.is_broken
    assert [question.number for question in read.value] == list(range(1, 21))


def test_a_batch_without_one_usable_question_is_broken() -> None:
    for result in ({"questions": [{"text": 7}, None]}, {"questions": []}, {}, {"questions": {"1": "Is it?"}}):
        read = read_questions(result, COURSE)
        assert read.is_broken
        assert {remark.severity for remark in read.remarks} == {BROKEN}
        assert len(read.value) == 20


def test_what_is_changed_is_told_with_what_became_of_it() -> None:
    questions = good_questions()
    questions[2]["question_text"] = "It takes place at sea."
    questions[3]["question_text"] = "Sea?"
    mark, length, surplus = read_questions({"questions": [*questions, *questions[:5]]}, COURSE).repairs
    assert mark.startswith("questions[2].question_text: must be a question that ends in a question mark")
    assert mark.endswith("found ' takes place at sea.' at its end; it ends in '?' now")
    assert length.endswith("found 'Sea?'; it became 'Judging by the opening sentence: Sea?'")
    assert surplus == "questions: must be exactly 20 questions (protocol 6.2), found 25; 5 of them are not asked"
    guess = good_guess() | {"sentence_justification": words(34), "word_justification": words(60), "confidence": "0.8"}
    reason, confidence = read_guess(guess, PRD, BRIEF).repairs
    assert reason.startswith("sentence_justification: must be 35 or more words (protocol 6.2), found 34 words; ")
    assert reason.endswith("; it is lengthened to 50 by neutral sentences")
    assert confidence.endswith("must be a number from 0 to 1, or absent (protocol 4.4.6), found '0.8'; 0.8 is sent")
    assert "it is cut to 30" in str(read_guess(guess, COURSE, BRIEF).repairs)


def test_twenty_equal_repairs_are_one_line() -> None:
    questions = [{"question_text": f"Is it {n} words long"} for n in range(20)]
    told = read_questions({"questions": questions}, COURSE).repairs
    assert [line.rpartition(" (")[2] for line in told] == ["20 times)", "20 times)"]


def test_the_rule_of_a_violation_names_its_limit_and_its_source() -> None:
    guess = good_guess() | {"word_justification": words(19)}
    (remark,) = read_guess(guess, COURSE, BRIEF).remarks
    assert str(remark).startswith("word_justification: must be 20 to 30 words (protocol 6.2), found 19 words; ")


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
    assert paths(read_guess(guess, PRD, BRIEF).remarks) == ([] if accepted else ["sentence_justification"])


@pytest.mark.parametrize("text", ["2+2?", "x" * 1001, " " * 20])
def test_a_warm_up_question_out_of_bounds_is_broken(text: str) -> None:
    read = read_warmup_question({"warmup_question": text}, COURSE)
    assert (paths(read.remarks), read.is_broken) == (["warmup_question"], True)
    for kept in ("2+2 ?", "x" * 1000):
        assert read_warmup_question({"warmup_question": kept}, COURSE).value == kept


@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_has_at_most_64_bits(sign: int) -> None:
    assert integer_of(sign * (2**64 - 1)) == sign * (2**64 - 1)
    assert integer_of(sign * 2**64) is None


def test_a_dash_counts_towards_the_upper_limit() -> None:
    guess = good_guess() | {"word_justification": words(30) + " –"}
    assert [v.found for v in read_guess(guess, COURSE, BRIEF).remarks] == ["31 words"]


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ({"question_number": True, "answer": "A"}, "answers[19].question_number"),
        ({"question_number": 0, "answer": "A"}, "answers[19].question_number"),
        ({"question_number": 20.0, "answer": "A"}, "answers[19].question_number"),
        ({"question_number": "20", "answer": "A"}, "answers[19].question_number"),
        ({"question_number": 10**400, "answer": "A"}, "answers[19].question_number"),
        ({"question_number": 1, "answer": "a"}, "answers[19].answer"),
        ({"question_number": 20, "answer": "a"}, "answers[19].answer"),
        ({"question_number": 20, "answer": "E"}, "answers[19].answer"),
        ({"question_number": 20, "answer": None}, "answers[19].answer"),
        ({"question_number": 20}, "answers[19].answer"),
        ("A", "answers[19]"),
    ],
)
def test_a_wrong_answer_item_is_fatal(item: object, path: str) -> None:
    items: list[object] = [{"question_number": n, "answer": "B"} for n in range(1, 20)]
    read = read_answers({"answers": [*items, item]}, ASKED, COURSE)
    assert paths(read.remarks, BROKEN) == [path]
    assert read.value is None


def test_missing_extra_and_double_answers_are_named_but_not_fatal() -> None:
    items = [{"question_number": n, "answer": "B"} for n in [*range(1, 19), 1, 77]]
    found = read_answers({"answers": items}, ASKED, COURSE).remarks
    assert paths(found) == ["answers[18].question_number", "answers[19].question_number", "answers"]
    assert found[-1].found == "none to 19, 20"
    assert paths(found, BROKEN) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"league_points": True}, "league_points"),
        ({"league_points": 4}, "league_points"),
        ({"league_points": 2.0}, "league_points"),
        ({"private_score": float("nan")}, "private_score"),
        ({"private_score": 100.01}, "private_score"),
        ({"private_score": "78"}, "private_score"),
    ],
)
def test_a_wrong_score_is_fatal(change: dict[str, object], path: str) -> None:
    read = read_scorecard(good_score() | change, COURSE)
    assert (paths(read.remarks), read.value, read.is_broken) == ([path], None, True)


def test_short_feedback_and_weighted_components_are_not_fatal() -> None:
    result = good_score() | {
        "breakdown": dict.fromkeys(COMPONENTS, 101),
        "feedback": {"opening_sentence": words(149), "associative_word": words(201)},
    }
    remarks = read_scorecard(result, COURSE).remarks
    assert [remark.severity for remark in remarks] == [REPAIRED] * 6


@pytest.mark.parametrize(
    ("change", "path", "severity"),
    [
        ({"book_hint": "x" * 9}, "book_hint", BROKEN),
        ({"book_hint": "x" * 201}, "book_hint", BROKEN),
        ({"book_hint": " ".join("abcdefghijklmnop")}, "book_hint", WARNING),  # 16 words
        ({"book_hint": 7}, "book_hint", BROKEN),
        ({"book_name": None}, "book_name", BROKEN),
        ({"book_name": "x" * 1001}, "book_name", BROKEN),
        ({"book_name": " "}, "book_name", BROKEN),
        ({"actual_opening_sentence": 3}, "actual_opening_sentence", REPAIRED),
        ({"actual_opening_sentence": "The SAILOR wakes."}, "book_hint", WARNING),  # the hint gives a word away
    ],
)
def test_round_start_information(change: dict[str, object], path: str, severity: Severity) -> None:
    start = {"book_name": "Moby Dick", "book_hint": "A sailor tells of one long hunt", "association_word": "sea animal"}
    result: dict[str, object] = {**start, **change}
    read = read_round_start_info(result, COURSE)
    assert [(remark.path, remark.severity) for remark in read.remarks] == [(path, severity)]
    assert (read.value is None) is (severity is BROKEN)


def test_under_the_fixed_key_other_options_are_named() -> None:
    questions = good_questions()
    fixed = {"A": "yes", "B": "NO", "C": "Partially", "D": "Unknown/Not relevant"}
    for question in questions:
        question["options"] = fixed
    assert read_questions({"questions": questions}, PRD).remarks == []
    questions[2]["options"] = fixed | {"B": "Never"}
    assert read_questions({"questions": questions}, PRD).repairs == [
        "questions[2].options.B: must be 'No': the rules fix the answer key, found 'Never'; 'No' is sent"
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
    None, [], "text", 3, Sly(), SlyText("text"), SlyDict(), SlyList([1]), nested(100_000), [None] * 100_000,
    "x" * 1_000_000, 10**10_000, float("nan"), float("-inf"), True, {"a": {"b": {}}}, object(), b"bytes", "\ud800" * 9,
]  # fmt: skip
FIELDS = [
    "warmup_question", "book_name", "book_hint", "association_word", "actual_opening_sentence", "answers", "questions",
    "league_points", "private_score", "breakdown", "feedback", "answer", "opening_sentence", "sentence_justification",
    "associative_word", "word_justification", "confidence", "question_number", "question_text", "options", "A",
]  # fmt: skip
READERS: list[Callable[[object], ReadResult[Any]]] = [
    lambda result: read_warmup_question(result, COURSE),
    lambda result: read_round_start_info(result, COURSE),
    lambda result: read_answers(result, ASKED, COURSE),
    lambda result: read_scorecard(result, COURSE),
    read_warmup_answer,
    lambda result: read_questions(result, COURSE),
    lambda result: read_guess(result, COURSE, BRIEF),
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
        for reader in READERS:
            read = reader(result)
            assert sum(len(str(remark)) for remark in read.remarks) < 20_000
            assert len(read.refusal) < 4_000
        assert read_questions(result, COURSE).remarks != []
        assert read_scorecard(result, COURSE).remarks != []


def test_subclasses_of_the_right_types_are_read_as_those_types() -> None:
    class Letter(StrEnum):
        A = "A"

    class Number(IntEnum):
        ONE = 1

    result = SlyDict(answers=[SlyDict(question_number=Number.ONE, answer=Letter.A)])
    assert read_answers(result, ASKED[:1], COURSE).remarks == []
    assert type(text_of(SlyText("abc"))) is str
    assert type(integer_of(Number.ONE)) is int


@pytest.mark.parametrize(
    ("callback", "result", "path"),
    [
        ("get_warmup_answer", {"answer": "\ud800 seven", 3: object()}, "answer"),
        (
            "get_questions",
            {"questions": [{"question_text": "Is \udfff it?", "options": list("abcd")}]},
            "questions[0].question_text",
        ),
        ("get_guess", {"associative_word": "\ud83d"}, "associative_word"),
    ],
)
def test_a_text_that_cannot_be_written_is_told_as_repaired(callback: str, result: object, path: str) -> None:
    end = end_of_call(callback, result, None, Known(rules=PRD))
    (remark,) = [each for each in end.noted.remarks if "surrogate" in each.rule]
    assert (remark.severity, remark.path, remark.done) == (Severity.REPAIRED, path, "each of them became '?'")
    assert not any(
        "surrogate" in each for each in end_of_call(callback, {"answer": "é"}, None, Known(rules=PRD)).noted.repairs
    )
