"""Checks of state reports and proposals (arena 2.1, checklist G-04 to G-12)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from league_agents.games.guess_number.findings import MOST_FINDINGS, MessageFinding, MessageReport
from league_agents.games.guess_number.messages import LONGEST_TEXT, validate
from league_agents.games.guess_number.reading import DEEPEST, LONGEST

AGENTS = ("agent_0", "agent_1")

EXAMPLE = """{"sender": "agent_0", "type": "state_report", "timestamp": 2, "next_guess": 3,
 "content": {"current_guess": 3, "is_correct": false, "guess_history": [0, 2, 3], "feedback_history": [false, false]},
 "reasoning": "Based on feedback from previous guesses, trying next option.", "confidence": 0.6}"""

REPORT: dict[str, Any] = {"sender": "agent_0", "type": "state_report", "timestamp": 2, "next_guess": 3}
PROPOSAL: dict[str, Any] = {"sender": "agent_1", "type": "proposal", "timestamp": 2, "content": {"next_guess": 7}}


def check(message: Any, *, mode: Any = "strict", **more: Any) -> MessageReport:
    return validate(message, **{"num_choices": 10, "agent_ids": AGENTS, **more}, mode=mode)


def told(found: tuple[MessageFinding, ...]) -> list[tuple[str, str]]:
    return [(each.path, each.code) for each in found]


def report(**changed: Any) -> dict[str, Any]:
    return {**REPORT, **changed}


def test_the_example_of_the_protocol_is_valid_as_text_and_as_object() -> None:
    for message in (EXAMPLE, json.loads(EXAMPLE)):
        for num_choices in (4, 10):
            found = check(message, num_choices=num_choices, step=2, sender="agent_0")
            assert (found.ok, found.errors, found.warnings) == (True, (), ())
            assert found.message == json.loads(EXAMPLE)


def test_all_errors_are_told_by_path() -> None:
    found = check({"sender": "ghost", "type": "state_report", "timestamp": -1, "next_guess": 10, "confidence": True})
    assert told(found.errors) == [
        ("/confidence", "wrong_type"),
        ("/next_guess", "guess_out_of_range"),
        ("/sender", "unknown_sender"),
        ("/timestamp", "negative_timestamp"),
    ]
    assert not found.ok


def test_a_proposal_is_valid_and_needs_a_timestamp() -> None:
    assert check({**PROPOSAL, "rationale": "agent_0 takes the low half"}).ok
    found = check({key: value for key, value in PROPOSAL.items() if key != "timestamp"})
    assert told(found.errors) == [("/timestamp", "missing_field")]


@pytest.mark.parametrize("key", REPORT)
def test_every_field_of_a_report_is_required(key: str) -> None:
    found = check({name: value for name, value in REPORT.items() if name != key})
    assert told(found.errors) == [(f"/{key}", "missing_field")]


@pytest.mark.parametrize("key", PROPOSAL)
def test_every_field_of_a_proposal_is_required(key: str) -> None:
    found = check({name: value for name, value in PROPOSAL.items() if name != key})
    assert told(found.errors) == [(f"/{key}", "missing_field")]


@pytest.mark.parametrize(
    ("changed", "errors"),
    [
        ({"sender": 5}, [("/sender", "wrong_type")]),
        ({"sender": None}, [("/sender", "wrong_type")]),
        ({"type": ["state_report"]}, [("/type", "wrong_type")]),
        ({"type": "STATE_REPORT"}, [("/type", "unknown_type")]),
        ({"timestamp": True}, [("/timestamp", "wrong_type")]),
        ({"timestamp": 2.0}, [("/timestamp", "wrong_type")]),
        ({"timestamp": "2"}, [("/timestamp", "wrong_type")]),
        ({"timestamp": 0}, []),
        ({"next_guess": 0}, []),
        ({"next_guess": 9}, []),
        ({"next_guess": -1}, [("/next_guess", "guess_out_of_range")]),
        ({"next_guess": 10}, [("/next_guess", "guess_out_of_range")]),
        ({"next_guess": 3.0}, [("/next_guess", "wrong_type")]),
        ({"next_guess": "3"}, [("/next_guess", "wrong_type")]),
        ({"next_guess": False}, [("/next_guess", "wrong_type")]),
        ({"next_guess": math.nan}, [("/next_guess", "wrong_type")]),
        ({"next_guess": None}, [("/next_guess", "wrong_type")]),
        ({"confidence": 0}, []),
        ({"confidence": 1}, []),
        ({"confidence": 1.0000001}, [("/confidence", "confidence_out_of_range")]),
        ({"confidence": -0.1}, [("/confidence", "confidence_out_of_range")]),
        ({"confidence": math.nan}, [("/confidence", "wrong_type")]),
        ({"confidence": math.inf}, [("/confidence", "wrong_type")]),
        ({"confidence": "0.5"}, [("/confidence", "wrong_type")]),
        ({"confidence": None}, [("/confidence", "wrong_type")]),
        ({"reasoning": "x" * LONGEST_TEXT}, []),
        ({"reasoning": "想" * LONGEST_TEXT}, []),
        ({"reasoning": "x" * (LONGEST_TEXT + 1)}, [("/reasoning", "too_long")]),
        ({"reasoning": 1}, [("/reasoning", "wrong_type")]),
        ({"reasoning": "a\tb\nc"}, []),
        ({"reasoning": "a\x1b[2J"}, [("/reasoning", "control_character")]),
        ({"reasoning": "\ud800"}, [("/reasoning", "control_character")]),
        ({"content": []}, [("/content", "wrong_type")]),
        ({"content": None}, [("/content", "wrong_type")]),
        ({"content": {}}, []),
        ({"content": {"anything": {"else": [1.5, None]}}}, []),
        ({"content": {"next_guess": 3}}, []),
        ({"content": {"next_guess": 4}}, [("/content/next_guess", "content_conflict")]),
        ({"content": {"next_guess": "3"}}, [("/content/next_guess", "content_value")]),
        ({"content": {"current_guess": 10}}, [("/content/current_guess", "content_value")]),
        ({"content": {"is_correct": 0}}, [("/content/is_correct", "content_value")]),
        ({"content": {"guess_history": 3}}, [("/content/guess_history", "content_value")]),
        (
            {"content": {"guess_history": [0, 10, True, 2.0]}},
            [(f"/content/guess_history/{place}", "content_value") for place in (1, 2, 3)],
        ),
        ({"content": {"feedback_history": [False, 0]}}, [("/content/feedback_history/1", "content_value")]),
        ({"content": {"x": math.inf}}, [("/content/x", "wrong_type")]),
        ({"content": {"x": {1, 2}}}, [("/content/x", "wrong_type")]),
        ({"content": {"x": 10**400}}, [("/content/x", "wrong_type")]),
        ({"content": {"a/b~c": math.nan}}, [("/content/a~1b~0c", "wrong_type")]),
        ({"content": {1: 2}}, [("/content", "wrong_type")]),
        ({"con\x00tent": 1}, [("", "control_character")]),
    ],
)
def test_a_report_with(changed: dict[str, Any], errors: list[tuple[str, str]]) -> None:
    assert told(check(report(**changed)).errors) == errors


@pytest.mark.parametrize(
    ("changed", "errors"),
    [
        ({"rationale": "x" * LONGEST_TEXT}, []),
        ({"rationale": "x" * (LONGEST_TEXT + 1)}, [("/rationale", "too_long")]),
        ({"rationale": 7}, [("/rationale", "wrong_type")]),
        ({"content": "7"}, [("/content", "wrong_type")]),
        ({"content": {"next_guess": 10}}, [("/content/next_guess", "content_value")]),
        ({"content": {"next_guess": True}}, [("/content/next_guess", "content_value")]),
    ],
)
def test_a_proposal_with(changed: dict[str, Any], errors: list[tuple[str, str]]) -> None:
    assert told(check({**PROPOSAL, **changed}).errors) == errors


def test_the_step_and_the_sender_are_compared_when_they_are_known() -> None:
    found = check(REPORT, step=3, sender="agent_1")
    assert told(found.errors) == [("/sender", "sender_mismatch"), ("/timestamp", "stale_timestamp")]
    found = check(report(sender="ghost"), sender="agent_1")
    assert told(found.errors) == [("/sender", "sender_mismatch"), ("/sender", "unknown_sender")]


@pytest.mark.parametrize(
    ("message", "warnings"),
    [
        (report(mood="good"), [("/mood", "extra_field")]),
        (report(rationale="because"), [("/rationale", "extra_field")]),
        ({**PROPOSAL, "next_guess": 7}, [("/next_guess", "extra_field")]),
        ({**PROPOSAL, "content": {}}, [("/content/next_guess", "proposal_without_guess")]),
        (
            report(content={"guess_history": [1, 2], "feedback_history": []}),
            [("/content/feedback_history", "history_length")],
        ),
        (
            report(content={"guess_history": [1], "feedback_history": [False, False]}),
            [("/content/feedback_history", "history_length")],
        ),
        (report(content={"guess_history": [1, 2], "feedback_history": [False]}), []),
        (report(content={"guess_history": [1], "feedback_history": [False]}), []),
        (report(content={"guess_history": [1, 2]}), []),
    ],
)
def test_what_is_odd_is_kept_with_a_warning(message: dict[str, Any], warnings: list[tuple[str, str]]) -> None:
    found = check(message)
    assert (found.ok, told(found.warnings), found.message) == (True, warnings, message)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "not_json"),
        ("hello", "not_json"),
        ('{"sender": "agent_0",}', "not_json"),
        ('{"confidence": NaN}', "not_json"),
        ('{"confidence": -Infinity}', "not_json"),
        ('{"timestamp": ' + "9" * 5000 + "}", "not_json"),
        ("Sure: {}", "not_json"),
        ("[]", "not_object"),
        ("null", "not_object"),
        ('"text"', "not_object"),
        ("{" + " " * LONGEST + "}", "too_long"),
        ('{"content": ' + "[" * 5000 + "]" * 5000 + "}", "too_deep"),
        ("[" * LONGEST, "too_deep"),
        ('{"a":' * 3000, "too_deep"),
    ],
)
@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_a_text_that_is_no_message(text: str, code: str, mode: str) -> None:
    found = check(text, mode=mode)
    if mode == "lenient" and text == "Sure: {}":
        assert told(found.errors) == [(f"/{key}", "missing_field") for key in ("sender", "timestamp", "type")]
        return
    assert told(found.errors) == [("", code)]
    assert found.message is None


@pytest.mark.parametrize("message", [None, 3, ["x"], b"{}"])
def test_something_else_than_an_object_or_a_text(message: Any) -> None:
    assert told(check(message).errors) == [("", "not_object")]


def test_brackets_in_a_text_are_no_depth() -> None:
    assert check(json.dumps(report(reasoning='[{"' * 1000))).ok


def test_an_object_is_bounded_like_a_text() -> None:
    nested: Any = 1
    for _ in range(DEEPEST):
        nested = [nested]
    assert told(check(report(content={"x": nested})).errors) == [("", "too_deep")]
    assert told(check(report(content={"x": "y" * LONGEST})).errors) == [("", "too_long")]
    itself: dict[str, Any] = report()
    itself["content"] = itself
    assert told(check(itself).errors) == [("", "too_deep")]


@pytest.mark.parametrize("length", range(LONGEST - 3, LONGEST + 4))
def test_a_compact_text_and_its_object_are_too_long_together(length: int) -> None:
    content = {"a": [1, -20, 300], "b": "x" * 100, "d": 0.25, "e": [True, None]}
    spare = length - len(json.dumps(report(content=content, extra=""), separators=(",", ":")))
    message = report(content=content, extra="x" * spare)
    text = json.dumps(message, separators=(",", ":"))
    assert len(text) == length
    assert check(text).ok == check(message).ok == (length <= LONGEST)


def test_a_key_that_is_there_twice_is_an_error_at_its_place() -> None:
    content = '{"a":[{"b":1,"b":2}],"next_guess":1}'
    text = f'{{"sender":"agent_0","sender":"agent_1","type":"proposal","timestamp":0,"content":{content}}}'
    for mode in ("strict", "lenient"):
        assert told(check(text, mode=mode).errors) == [
            ("/content/a/0/b", "duplicate_key"),
            ("/sender", "duplicate_key"),
        ]
    assert told(check('{"é":1,"e\\u0301":2}').errors)[-1] == ("/é", "duplicate_key")


def test_texts_are_brought_into_normal_form_c() -> None:
    found = check(report(reasoning="cafe\u0301"))
    assert found.message is not None
    assert found.message["reasoning"] == "café"


def test_an_unknown_type_does_not_hide_what_else_is_wrong() -> None:
    found = check({"type": "hello", "next_guess": 99, "rationale": 5, "content": {"is_correct": "no"}})
    assert told(found.errors) == [
        ("/content/is_correct", "content_value"),
        ("/next_guess", "guess_out_of_range"),
        ("/rationale", "wrong_type"),
        ("/sender", "missing_field"),
        ("/timestamp", "missing_field"),
        ("/type", "unknown_type"),
    ]


def test_a_list_of_thousands_of_wrong_numbers_makes_no_thousands_of_errors() -> None:
    found = check(report(content={"guess_history": [11] * 4000}))
    assert len(found.errors) == MOST_FINDINGS


def test_the_message_that_was_checked_is_another_object_and_cannot_be_changed() -> None:
    mine = report(content={"guess_history": [1]})
    found = check(mine)
    mine["content"]["guess_history"].append(2)
    assert found.message is not None
    assert found.message["content"] == {"guess_history": [1]}
    with pytest.raises(TypeError):
        found.message["content"]["guess_history"].append(2)


def test_there_are_two_modes() -> None:
    with pytest.raises(ValueError, match="strict or lenient"):
        check(REPORT, mode="kind")


COMPACT = json.dumps(report(content={"note": 'a "brace" } in { a \\" text', "guess_history": [0]}))


@pytest.mark.parametrize(
    "text",
    [
        COMPACT,
        f"```json\n{COMPACT}\n```",
        f"```\n{COMPACT}```",
        f'I think {{so}} and "maybe {{" then:\n{COMPACT}\nThat is {{my}} answer }}.',
        f"Thinking {{first: {COMPACT} }}",
        f"[1] {COMPACT} [2]",
        f"{{{{ {COMPACT}",
    ],
)
def test_a_message_is_found_in_prose_and_in_fences(text: str) -> None:
    found = check(text, mode="lenient")
    assert (found.errors, found.warnings, found.message) == ((), (), json.loads(COMPACT))
    assert check(text).ok == (text == COMPACT)


def test_of_several_objects_the_last_that_is_a_message_is_taken() -> None:
    example = json.dumps(report(next_guess=1))
    answer = json.dumps(report(next_guess=5))
    found = check(f'Like {example}? I say {answer}. {{"aside": 1}}', mode="lenient")
    assert found.message == json.loads(answer)
    assert told(found.warnings) == [("", "several_objects")]


def test_lenient_mode_mends_numbers_and_places_and_tells_each() -> None:
    found = check(
        {
            "agent_id": "agent_0",
            "type": "state_report",
            "timestamp": "2",
            "confidence": None,
            "content": {"next_guess": 3.0, "guess_history": ["1", 2.0, 3], "current_guess": "3"},
        },
        mode="lenient",
    )
    assert found.ok
    assert found.message == {
        "sender": "agent_0",
        "type": "state_report",
        "timestamp": 2,
        "next_guess": 3,
        "content": {"guess_history": [1, 2, 3], "current_guess": 3},
    }
    assert told(found.warnings) == [
        ("/agent_id", "moved_field"),
        ("/confidence", "coerced"),
        ("/content/current_guess", "coerced"),
        ("/content/guess_history/0", "coerced"),
        ("/content/guess_history/1", "coerced"),
        ("/content/next_guess", "coerced"),
        ("/content/next_guess", "moved_field"),
        ("/timestamp", "coerced"),
    ]


@pytest.mark.parametrize("value", [3.5, "three", "-1", "3.0", "٣", "1" * 5000, True, None, math.inf, 1e300])
def test_lenient_mode_guesses_no_number(value: Any) -> None:
    found = check(report(next_guess=value), mode="lenient")
    assert [path for path, _ in told(found.errors)] == ["/next_guess"]


def test_lenient_mode_leaves_a_proposals_guess_in_its_content() -> None:
    found = check(PROPOSAL, mode="lenient")
    assert (found.ok, found.warnings, found.message) == (True, (), PROPOSAL)


def test_lenient_mode_changes_nothing_of_its_callers() -> None:
    mine = {"agent_id": "agent_0", "type": "state_report", "timestamp": 2, "content": {"next_guess": 3}}
    kept = json.dumps(mine)
    check(mine, mode="lenient")
    assert json.dumps(mine) == kept


@pytest.mark.parametrize("text", ["{" * LONGEST, '{"' * (LONGEST // 2), '{"a":' * 3000, "{}" * (LONGEST // 2)])
@pytest.mark.timeout(10)
def test_a_hostile_text_ends_soon(text: str) -> None:
    assert not check(text, mode="lenient").ok
