"""What became of a model's work is one value, read back from anybody's reply, and told in words."""

from __future__ import annotations

import pytest

from league_agents.kit.errors import MalformedCompletion, ModelRefused, ModelUnavailable
from league_agents.kit.model_work import (
    KEY,
    LONGEST_DETAIL,
    WORDS,
    ModelStep,
    ModelWorkUse,
    Why,
    counted,
    read_steps,
    sentence,
    steps_in,
    together,
)
from league_agents.llm.exchange import OverBudget, Rejected, Unanswered

USED = ModelStep(step="player_justify", work=ModelWorkUse.USED, used=2, of=2, callback="get_guess")
PARTLY = ModelStep(step="referee_answers", work=ModelWorkUse.PARTLY_USED, why=Why.CONTRADICTED, used=7, of=9)
REPLACED = ModelStep(
    step="player_questions", work=ModelWorkUse.REPLACED, why=Why.UNAVAILABLE, detail="m: the server is down"
)
LEFT = ModelStep(step="referee_grades", work=ModelWorkUse.NOT_ASKED, why=Why.NOT_NEEDED)


@pytest.mark.parametrize("step", [USED, PARTLY, REPLACED, LEFT])
def test_a_step_is_read_back_as_it_was_written(step: ModelStep) -> None:
    assert read_steps([step.to_json()]) == (step,)


def test_every_reason_has_words_and_every_failure_of_a_model_is_a_reason() -> None:
    assert set(WORDS) == set(Why)
    kinds = (ModelUnavailable, Unanswered, Rejected, OverBudget, ModelRefused, MalformedCompletion)
    assert [Why(kind.reason) for kind in kinds] == [
        Why.UNAVAILABLE, Why.UNANSWERED, Why.REJECTED, Why.OVER_BUDGET, Why.REFUSED, Why.MALFORMED
    ]  # fmt: skip


def test_the_steps_of_a_reply_get_the_name_of_its_callback() -> None:
    (step,) = steps_in({"answers": [], KEY: [PARTLY.to_json()]}, "get_answers")
    assert (step.callback, step.step) == ("get_answers", "referee_answers")
    assert steps_in({"answers": []}, "get_answers") == steps_in(None, "get_answers") == ()


@pytest.mark.parametrize(
    "odd",
    [7, "used", [7], [{}], [{"step": 3, "work": "used"}], [{"step": "s", "work": "admired"}], [{"work": "used"}],
     [{"step": "s", "work": ["used"]}]],
)  # fmt: skip
def test_what_is_no_step_is_left_out(odd: object) -> None:
    assert read_steps(odd) == ()


def test_what_a_stranger_writes_is_bounded() -> None:
    row = {"step": "s\x1b[31m" * 100, "work": "used", "why": "no such reason", "used": 10**9, "of": 10**9}
    (step,) = read_steps([{**row, "detail": "x\n" * 1000}])
    assert len(step.step) <= 60
    assert "\x1b" not in step.step
    assert (step.why, step.used, step.of) == (None, None, None)
    assert len(step.detail) <= LONGEST_DETAIL
    assert "\n" not in step.detail
    assert len(read_steps([{"step": "s", "work": "used"}] * 1000)) == 20


@pytest.mark.parametrize(
    ("steps", "work"),
    [
        ([], None),
        ([LEFT], ModelWorkUse.NOT_ASKED),
        ([USED, LEFT], ModelWorkUse.USED),
        ([REPLACED, LEFT], ModelWorkUse.REPLACED),
        ([USED, REPLACED], ModelWorkUse.PARTLY_USED),
        ([PARTLY], ModelWorkUse.PARTLY_USED),
    ],
)
def test_several_steps_are_told_as_one(steps: list[ModelStep], work: ModelWorkUse | None) -> None:
    assert together(steps) is work


def test_a_person_reads_how_much_was_used_and_why_no_more() -> None:
    assert sentence([]) is None
    assert sentence([LEFT]) == "no language model was asked (code could do all of it)"
    assert sentence([USED, LEFT]) == "the language model's work was used in the only step"
    assert sentence([REPLACED] * 3) == (
        "nothing of a language model's work was used: code stood in for it in all 3 steps"
        " (the service could not be asked: m: the server is down, 3 times)"
    )
    assert sentence([USED, PARTLY, REPLACED]) == (
        "the language model's work was used in 1 of 3 steps, partly used in 1 (the text does not bear out what it"
        " said), replaced by code in 1 (the service could not be asked: m: the server is down)"
    )
    assert PARTLY.words() == "partly used, 7 of 9 (the text does not bear out what it said)"


def test_a_program_reads_the_counts() -> None:
    assert counted([USED, PARTLY, REPLACED, REPLACED]) == {
        "steps": 4, "used": 1, "partly_used": 1, "replaced": 2, "not_asked": 0,
        "reasons": {"contradicted": 1, "unavailable": 2},
    }  # fmt: skip
