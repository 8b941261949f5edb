"""The oracle with which the player with a model is measured."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from benchmarks.oracle import Oracle, measure_llm_player
from benchmarks.strength import knowledge_of
from league_agents.agents.asking import Asker
from league_agents.agents.candidates import Candidates, enumerate_candidates
from league_agents.agents.contexts import CallContext
from league_agents.agents.library import Knowledge
from league_agents.agents.player_chain.writing import PoolSize, QuestionPool, WrittenPool, ask_for_pool
from league_agents.games.q21.model import LETTERS, Brief
from league_agents.games.q21.rules import COURSE, PRD, RuleSet, TargetKind
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ModelRefused
from league_agents.knowledge.documents import make_document
from league_agents.llm.port import Prompt, Purpose

BOTH = pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
BRIEF = Brief(book_name="Rows", book_hint="", association_domain="colour")


def knowledge_of_rows() -> Knowledge:
    draw = Draw(1, "rows")
    rows = (
        ("The dog", "A nurse", "Old Tom", "My aunt"),
        ("saw", "took", "hid", "broke"),
        ("a cup", "the boat", "an oak"),
    )
    lines = [f"{' '.join(draw.choice(row) for row in rows)} in the year {n}." for n in range(1500, 1860)]
    paragraphs = [" ".join(lines[i : i + 6]) for i in range(0, 360, 6)]
    return knowledge_of([make_document("\n\n".join(paragraphs), source="rows.txt", title="Rows")])


def pool_of(rules: RuleSet, oracle: Oracle, size: PoolSize) -> tuple[WrittenPool, Candidates]:
    candidates = enumerate_candidates(knowledge_of_rows(), BRIEF, TargetKind.PASSAGE_OPENING)
    turn = Asker(lambda _: oracle, key=1).begin(CallContext({}), "get_questions")
    found = ask_for_pool(turn, BRIEF, candidates, rules, size)
    assert found is not None
    return found, candidates


@BOTH
@pytest.mark.parametrize("error", [0.0, 0.1, 0.3])
def test_its_predictions_are_wrong_as_often_as_is_said(rules: RuleSet, error: float) -> None:
    oracle = Oracle(rules.answer_key, seed=1, error=error)
    found, candidates = pool_of(rules, oracle, PoolSize(questions=40, shown=60))
    assert len(found.questions) == 40
    compared = [
        LETTERS[answer] == oracle.truth(question.text, sentence)
        for question in found.questions
        for sentence, reading in zip(candidates.sentences, candidates.readings, strict=True)
        if (answer := question.answer(reading)) is not None
    ]
    assert len(compared) >= 40 * 55
    assert 1 - sum(compared) / len(compared) == pytest.approx(error, abs=0.03)


def test_it_knows_nothing_of_other_questions_and_words_no_reasons() -> None:
    oracle = Oracle(COURSE.answer_key, seed=1)
    assert oracle.truth("Does the sentence name a place?", "The dog saw a cup.") is None
    purpose = Purpose(match_id="", callback="get_guess", step="player_justify")
    with pytest.raises(ModelRefused):
        oracle.complete_text(Prompt(system="", user="", purpose=purpose), timeout=timedelta(1), max_output_tokens=1)


def test_a_prompt_without_candidates_gets_questions_without_numbers() -> None:
    purpose = Purpose(match_id="", callback="get_questions", step="player_questions")
    prompt = Prompt(system="s", user="Questions to write: 3 lines.", purpose=purpose)
    value = (
        Oracle(COURSE.answer_key, seed=1)
        .complete_json(prompt, QuestionPool, timeout=timedelta(1), max_output_tokens=1)
        .value
    )
    assert len(value.questions) == 3
    assert not re.search(r"[A-D] \d", " ".join(value.questions))


@BOTH
@pytest.mark.parametrize("alone", [False, True])
def test_games_against_an_honest_referee_are_mostly_won_and_repeat_themselves(rules: RuleSet, alone: bool) -> None:
    first = measure_llm_player(knowledge_of_rows(), rules, wrong=0.0, games=3, alone=alone)
    assert first.sentence_right >= (2 / 3 if alone else 1.0)  # a tenth of the oracle's predictions is wrong
    assert first == measure_llm_player(knowledge_of_rows(), rules, wrong=0.0, games=3, alone=alone)
