"""What a referee's game costs at most: its largest prompts, counted with the estimate that is rather too high."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from league_agents.agents.library import Knowledge
from league_agents.agents.llm_referee import LlmReferee
from league_agents.agents.referee_chain.answers import AnswerRows
from league_agents.agents.referee_chain.grading import GradePair
from league_agents.agents.referee_chain.hinting import ProposedHints
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.errors import ModelUnavailable
from league_agents.kit.tokens import cut_to_tokens, tokens_in
from league_agents.knowledge.documents import make_document
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Patience, Request
from league_agents.llm.port import ChatModel, M, Parsed, Prompt
from tests.support.prompt_tokens import prompt_tokens
from tests.support.scripted_model import ScriptedBackend

pytestmark = pytest.mark.usefixtures("slow_time")

MOST_INPUT, MOST_OUTPUT = 8_000, 3_000


MOST_REPEATED_INPUT, MOST_REPEATED_OUTPUT = 20_000, 6_000
"""When every reply has the wrong form, so that each call is repeated once."""

SCHEMAS: Mapping[str, type[BaseModel]] = {
    "ProposedHints": ProposedHints,
    "AnswerRows": AnswerRows,
    "GradePair": GradePair,
}


class Counting:
    """Writes down what it is asked, and has no answer."""

    name = "scripted:counting"

    def __init__(self) -> None:
        self.asked: list[tuple[Prompt, type[BaseModel], int]] = []

    def complete_text(self, prompt: Prompt, *, timeout: timedelta, max_output_tokens: int) -> Any:
        raise ModelUnavailable

    def complete_json(
        self, prompt: Prompt, schema: type[M], *, timeout: timedelta, max_output_tokens: int
    ) -> Parsed[M]:
        self.asked.append((prompt, schema, max_output_tokens))
        raise ModelUnavailable


LONG = "Whatever the weather, " + "the innumerable ungovernable quarrelsome neighbours disagreed, " * 6 + "as ever."
SCRIPTS = {
    "english": "Whatever may be felt about the extraordinary circumstances, is the prevailing mood melancholy? ",
    "hebrew": "האם האווירה השלטת במשפט הפתיחה היא של עצבות עמוקה שאינה ניתנת לתיאור במילים פשוטות? ",
    "chinese": "开头句子的气氛是不是非常忧郁而且难以用简单的话语来描述和表达出来呢？",
    "marks": "?!;:,.-–—()[]{}<>|/\\@#$%^&*+=~ ",
}


def context(**dynamic: Any) -> Mapping[str, Any]:
    return {"dynamic": {"match_id": "0101001", "player_id": "p", **dynamic}, "service": {"deadline_seconds": 120}}


@pytest.fixture(scope="module")
def wordy() -> Knowledge:
    """A book whose paragraphs and opening sentences are as long as they may be."""
    pages = "\n\n".join(
        f"In the year of the {n}th ungovernable quarrel {LONG} "
        + "Nobody could say afterwards what had been decided. " * 90
        for n in range(1, 9)
    )
    return Knowledge(
        documents=[make_document(f"# Quarrels\n\n{pages}\n", source="q.md", markup="markdown", author="A. Z.")]
    )


def play_longest(model: ChatModel, script: str, rules: RuleSet, wordy: Knowledge) -> None:
    """A player's whole game, with the longest texts that there can be."""
    referee = LlmReferee(rules=rules, knowledge=wordy, seed=1, models=lambda callback: model)
    start = referee.get_round_start_info(context())
    text = SCRIPTS[script]
    asked = [
        {
            "question_number": n,
            "question_text": (text * 20)[: 480 if n % 2 else 90],
            "options": [f"{letter} {(text * 9)[:140]}" for letter in "1234"],
        }
        for n in range(1, 21)
    ]
    referee.get_answers(context(**start, questions=asked))
    cited = " ".join(f"Question {n} was answered A." for n in range(1, 21))
    guess = {
        "opening_sentence": text * 200,
        "sentence_justification": f"{cited} {text * 200}",
        "associative_word": text * 9,
        "word_justification": f"{cited} {text * 200}",
    }
    answers = [{"question_number": n, "answer": "A"} for n in range(1, 21)]
    referee.get_score_feedback(context(**start, questions=asked, answers=answers, player_guess=guess))


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_a_game_of_the_longest_texts_stays_within_its_tokens(script: str, rules: RuleSet, wordy: Knowledge) -> None:
    model = Counting()
    play_longest(model, script, rules, wordy)
    assert [schema.__name__ for _, schema, _ in model.asked] == ["ProposedHints", "AnswerRows", "GradePair"]
    assert sum(prompt_tokens(prompt, schema) for prompt, schema, _ in model.asked) <= MOST_INPUT
    assert sum(most for _, _, most in model.asked) <= MOST_OUTPUT


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_a_game_whose_replies_all_have_the_wrong_form_is_bounded_too(
    script: str, rules: RuleSet, wordy: Knowledge
) -> None:
    def nonsense(request: Request) -> str:
        return cut_to_tokens(SCRIPTS[script] * 200, request.max_output_tokens)

    backend = ScriptedBackend(nonsense)
    play_longest(Chat(backend, Patience(retries=0)), script, rules, wordy)
    steps = [request.prompt.purpose.step for request in backend.requests]
    assert len(steps) == 6
    assert steps[::2] == steps[1::2]
    read = 0
    for request in backend.requests:
        assert request.schema is not None
        read += prompt_tokens(request.prompt, SCHEMAS[request.schema.name])
        if request.correction is not None:
            read += tokens_in(request.correction.reply) + tokens_in(request.correction.complaint)
    assert read <= MOST_REPEATED_INPUT
    assert sum(request.max_output_tokens for request in backend.requests) <= MOST_REPEATED_OUTPUT


def test_an_ordinary_batch_is_asked_as_a_whole(wordy: Knowledge) -> None:
    """The budget leaves nothing out of twenty questions of ordinary length."""
    model = Counting()
    referee = LlmReferee(rules=COURSE, knowledge=wordy, seed=1, models=lambda callback: model)
    start = referee.get_round_start_info(context())
    options = ["A quarrel among neighbours", "A journey by ship", "A wedding feast", "Nothing of the kind"]
    asked = [
        {"question_number": n, "question_text": f"What best describes the mood of part {n} of this scene as a whole?",
         "options": options}
        for n in range(1, 21)
    ]  # fmt: skip
    referee.get_answers(context(**start, questions=asked))
    prompt = model.asked[-1][0]
    assert all(f"\n{n}. What best describes" in prompt.user for n in range(1, 21))


def test_twenty_rows_fit_into_the_output() -> None:
    row = (
        '{"n": 20, "evidence": "a dozen words copied out of the middle of the passage as it stands", "basis": "quote", '
    )
    assert 20 * tokens_in(row + '"answer": "A"},') <= 1_700
