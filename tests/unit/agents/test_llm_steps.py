"""Every step in which an agent may use a model says what became of the model's work, and the books hear the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from league_agents.agents.asking import Asker
from league_agents.agents.contexts import CallContext
from league_agents.agents.library import Knowledge
from league_agents.agents.llm_player import LlmPlayer
from league_agents.agents.llm_referee import LlmReferee
from league_agents.agents.referee_chain.hinting import ProposedHints
from league_agents.games.q21.rules import COURSE
from league_agents.kit.model_work import KEY, ModelStep, ModelWorkUse, Why, steps_in
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Finish, Patience, Reply, Request
from league_agents.llm.port import ChatModel
from tests.support.scripted_model import ScriptedBackend

pytestmark = pytest.mark.usefixtures("slow_time")

TITLE = "The Village Book"
BRIEF = {"book_name": TITLE, "book_hint": "Somebody carries something.", "association_word": "weather"}
OPTIONS = ["Yes", "No", "Partially", "Unknown"]
SECRET = {
    **BRIEF,
    "actual_opening_sentence": "The miller carried a lantern by the river at dawn.",
    "actual_associative_word": "wind",
}


def context(**dynamic: Any) -> Mapping[str, Any]:
    return {"dynamic": {"match_id": "0101001", "player_id": "p", **dynamic}, "service": {"deadline_seconds": 120}}


class Judged:
    """A model whose books hear what became of its replies."""

    def __init__(self, *replies: object) -> None:
        left = list(replies)

        def answer(request: Request) -> str:
            reply = left.pop(0)
            return json.dumps(reply(request) if callable(reply) else reply)

        self.backend = ScriptedBackend(answer)
        self.heard: list[tuple[ModelWorkUse, Why | None]] = []

    @property
    def name(self) -> str:
        return self.backend.name

    def exchange(self, request: Request) -> Reply:
        return replace(self.backend.exchange(request), judge=lambda work, why: self.heard.append((work, why)))

    def models(self, _callback: str) -> ChatModel:
        return Chat(self, Patience(retries=0))


class Slow(Judged):
    """A model that had written only a part of its reply when the time was over."""

    def __init__(self, share: float, *replies: object) -> None:
        super().__init__(*replies)
        self._share = share

    def exchange(self, request: Request) -> Reply:
        reply = super().exchange(request)
        return replace(reply, text=reply.text[: int(self._share * len(reply.text))], finish=Finish.OVERDUE)


def referee(knowledge: Knowledge, model: Judged) -> LlmReferee:
    return LlmReferee(rules=COURSE, knowledge=knowledge, seed=7, models=model.models)


def player(knowledge: Knowledge, model: Judged) -> LlmPlayer:
    return LlmPlayer(rules=COURSE, knowledge=knowledge, seed=7, models=model.models)


def only_step(reply: object, model: Judged) -> ModelStep:
    """The step of a reply, which the books heard of too."""
    (step,) = steps_in(reply, "c")
    assert model.heard == [(step.work, step.why)]
    return step


QUESTIONS = [
    {"question_number": number, "question_text": text, "options": OPTIONS}
    for number, text in enumerate(("Is it a merry scene?", "Is somebody sad?", "Is it about a journey?"), start=1)
]
RIGHT = {"n": 1, "evidence": "a lantern by the river", "basis": "quote", "answer": "A"}
OTHERS = [
    {**RIGHT, "n": 2, "evidence": "the miller carried a lantern"},
    {**RIGHT, "n": 3, "evidence": "the river at dawn"},
]
WRONG = {"n": 2, "evidence": "a submarine in space", "basis": "quote", "answer": "A"}
NONE = {"n": 3, "evidence": "", "basis": "none", "answer": "none"}


@pytest.mark.parametrize(
    ("rows", "work", "why", "used"),
    [
        ([RIGHT, *OTHERS], ModelWorkUse.USED, None, 3),
        ([RIGHT, OTHERS[0], NONE], ModelWorkUse.USED, None, 3),
        ([RIGHT, {**RIGHT, "n": 2}, OTHERS[1]], ModelWorkUse.PARTLY_USED, Why.CONTRADICTED, 1),  # quoted for two
        ([RIGHT, WRONG, NONE], ModelWorkUse.PARTLY_USED, Why.CONTRADICTED, 2),
        ([RIGHT], ModelWorkUse.PARTLY_USED, Why.TOO_FEW, 1),
        ([RIGHT, {**RIGHT, "answer": "B"}], ModelWorkUse.REPLACED, Why.CONTRADICTED, 0),
        ([WRONG], ModelWorkUse.REPLACED, Why.CONTRADICTED, 0),
        ([{**NONE, "n": n} for n in (1, 2, 3)], ModelWorkUse.REPLACED, Why.DECLINED, 0),
        ([{**RIGHT, "n": 99}], ModelWorkUse.REPLACED, Why.UNUSED, 0),
        ([], ModelWorkUse.REPLACED, Why.UNUSED, 0),
    ],
)
def test_answers_count_as_used_where_their_evidence_stands(
    rows: list[dict[str, object]], work: ModelWorkUse, why: Why | None, used: int, knowledge: Knowledge
) -> None:
    model = Judged({"answers": rows})
    step = only_step(referee(knowledge, model).get_answers(context(**SECRET, questions=QUESTIONS)), model)
    assert step == ModelStep(step="referee_answers", work=work, why=why, used=used, of=3, callback="c")


def test_questions_that_code_answers_ask_no_model(knowledge: Knowledge) -> None:
    asked = [{**QUESTIONS[0], "question_text": "Does the sentence contain the word 'river'?"}]
    model = Judged()
    (step,) = steps_in(referee(knowledge, model).get_answers(context(**SECRET, questions=asked)), "c")
    assert (step.work, step.why, model.backend.requests) == (ModelWorkUse.NOT_ASKED, Why.NOT_NEEDED, [])


GUESS = {
    "opening_sentence": "The miller carried a lantern by the river at dawn.",
    "sentence_justification": "Question 1 was answered A, so somebody is merry there.",
    "associative_word": "wind",
    "word_justification": "Question 2 was answered B, which leaves the wind.",
}


@pytest.mark.parametrize(
    ("hint", "work", "why"),
    [
        (["The miller carried a lantern by the river at dawn."], ModelWorkUse.REPLACED, Why.BROKE_RULES),
        ([], ModelWorkUse.REPLACED, Why.UNUSED),
    ],
)
def test_a_hint_that_gives_the_target_away_is_replaced(
    hint: list[str], work: ModelWorkUse, why: Why, knowledge: Knowledge
) -> None:
    model = Judged({"hints": hint})
    step = only_step(referee(knowledge, model).get_round_start_info(context()), model)
    assert (step.step, step.work, step.why) == ("referee_hint", work, why)


def test_grades_are_used_or_bounded(knowledge: Knowledge) -> None:
    grade = {"uses_answers": 2, "leads_to_guess": 2, "is_clear": 2, "remarks": []}
    model = Judged({"sentence": grade, "word": grade})
    reply = referee(knowledge, model).get_score_feedback(context(**SECRET, player_guess=GUESS))
    step = only_step(reply, model)
    assert step.step == "referee_grades"
    assert step.work in (ModelWorkUse.USED, ModelWorkUse.PARTLY_USED)
    nothing = {**GUESS, "sentence_justification": "", "word_justification": ""}
    silent = Judged()
    (step,) = steps_in(referee(knowledge, silent).get_score_feedback(context(**SECRET, player_guess=nothing)), "c")
    assert (step.work, step.why) == (ModelWorkUse.NOT_ASKED, Why.NOTHING_TO_ASK)


def pool(questions: int, *lines: str, words: Sequence[str] = ()) -> Callable[[Request], dict[str, object]]:
    """So many questions that tell the candidates of the prompt apart, and further lines."""

    def written(request: Request) -> dict[str, object]:
        shown = int(re.findall(r"Candidates: (\d+)\.", request.prompt.user)[0])
        letters = [["ABCD"[(number * (n + 1) + n) % 4] for number in range(shown)] for n in range(questions)]
        rows = [
            "; ".join(f"{mark} {' '.join(str(i) for i, each in enumerate(row, 1) if each == mark)}" for mark in "ABCD")
            for row in letters
        ]
        asked = [
            f"What comes of matter {n} in it? | joy | grief {n} | nothing | a quarrel | {row}"
            for n, row in enumerate(rows)
        ]
        return {"questions": [*asked, *lines], "recalled": [], "words": list(words)}

    return written


def test_a_pool_of_questions_is_used_partly_used_or_replaced(knowledge: Knowledge) -> None:
    few, talk = Judged(pool(2, words=["storm", "hail"])), Judged(pool(0, "I am sorry, I cannot do that."))
    step = only_step(player(knowledge, few).get_questions(context(**BRIEF)), few)
    assert (step.step, step.work, step.why, step.of) == ("player_questions", ModelWorkUse.PARTLY_USED, Why.TOO_FEW, 20)
    step = only_step(player(knowledge, talk).get_questions(context(**BRIEF)), talk)
    assert (step.work, step.why, step.used) == (ModelWorkUse.REPLACED, Why.UNUSED, None)
    many = Judged(pool(44))
    step = only_step(player(knowledge, many).get_questions(context(**BRIEF)), many)
    assert (step.work, step.why) == (ModelWorkUse.USED, None)
    assert 0 < (step.used or 0) <= 20


def test_what_a_slow_model_has_written_of_a_pool_is_used_and_said_to_be_a_part(knowledge: Knowledge) -> None:
    model = Slow(0.6, pool(44))
    step = only_step(player(knowledge, model).get_questions(context(**BRIEF)), model)
    assert (step.work, step.why) == (ModelWorkUse.PARTLY_USED, Why.CUT_SHORT)
    assert (step.used or 0) > 0
    nothing = Slow(0.01, pool(44))
    reply = player(knowledge, nothing).get_questions(context(**BRIEF))
    step = only_step(reply, nothing)
    assert (step.work, step.why) == (ModelWorkUse.REPLACED, Why.UNANSWERED)
    assert len(reply["questions"]) == 20


def test_the_answers_that_a_slow_model_has_written_are_used_and_code_gives_the_others(knowledge: Knowledge) -> None:
    model = Slow(0.7, {"answers": [RIGHT, *OTHERS]})
    reply = referee(knowledge, model).get_answers(context(**SECRET, questions=QUESTIONS))
    step = only_step(reply, model)
    assert step == ModelStep(
        step="referee_answers", work=ModelWorkUse.PARTLY_USED, why=Why.CUT_SHORT, used=2, of=3, callback="c"
    )
    assert [each["answer"] for each in reply["answers"]][:2] == ["A", "A"]


def test_a_brief_that_says_nothing_asks_no_model(knowledge: Knowledge) -> None:
    model = Judged()
    (step,) = steps_in(player(knowledge, model).get_questions(context(association_word="weather")), "c")
    assert (step.work, step.why) == (ModelWorkUse.NOT_ASKED, Why.NOTHING_TO_ASK)


def test_a_pool_that_was_asked_for_before_is_used_again_without_a_call(knowledge: Knowledge) -> None:
    model = Judged(pool(44))
    agent = player(knowledge, model)
    first, second = agent.get_questions(context(**BRIEF)), agent.get_questions(context(**BRIEF))
    assert first == second
    assert first[KEY]
    assert len(model.heard) == len(model.backend.requests) == 1


def test_a_reply_of_which_nothing_is_said_was_not_used() -> None:
    model = Judged({"hints": ["one"]})
    turn = Asker(model.models, key=1).begin(CallContext({}), "get_round_start_info")
    values = {"title": "Emma", "passage": "", "facts": [], "words": 15, "characters": 200, "style": "fair",
              "base": "", "taboo": [], "is_passage": True}  # fmt: skip
    assert turn.ask("referee_hint", ProposedHints, max_output_tokens=9, **values) is not None
    step = only_step(turn.told({}), model)
    assert (step.work, step.why) == (ModelWorkUse.REPLACED, Why.UNUSED)
