"""The pool: what is asked of which candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from league_agents.agents.library import Knowledge
from league_agents.agents.questions.four_options import LetterRange, TwoLetters
from league_agents.agents.questions.pool import predict, sentence_pool, word_pool
from league_agents.agents.questions.reading import CandidateReading, read
from league_agents.games.q21.information import UNKNOWN, bits
from league_agents.games.q21.rules import AnswerKey

CHINESE = [f"{place}有个{who}丢了{what}。" for place in "山城河海" for who in "老人童军" for what in "马鸟信书"]


def readings_of(knowledge: Knowledge) -> Sequence[CandidateReading]:
    volume = knowledge.volume("The Village Book")
    assert volume is not None
    return volume.readings


@pytest.mark.parametrize("key", list(AnswerKey))
def test_every_question_of_the_pool_tells_the_candidates_apart(key: AnswerKey, knowledge: Knowledge) -> None:
    readings = readings_of(knowledge)
    pool = sentence_pool(readings, np.full(len(readings), 1 / len(readings)), key)
    assert len(pool.inquiries) == len(set(pool.inquiries)) >= 60
    for column in pool.table.T:
        assert bits(np.bincount(column[column >= 0])) >= 0.25
    assert all((inquiry.options is not None) == (key is AnswerKey.OWN) for inquiry in pool.inquiries)


@pytest.mark.parametrize("key", list(AnswerKey))
def test_no_question_quotes_more_of_a_sentence_than_single_words(key: AnswerKey, knowledge: Knowledge) -> None:
    readings = readings_of(knowledge)
    pool = sentence_pool(readings, np.full(len(readings), 1 / len(readings)), key)
    for inquiry in pool.inquiries:
        wording = " ".join((inquiry.text, *(inquiry.options or ())))
        for reading in readings:
            assert reading.sentence is not None
            assert " ".join(reading.sentence.words[:3]) not in wording


def test_the_table_holds_the_answers_that_the_questions_compute(knowledge: Knowledge) -> None:
    readings = readings_of(knowledge)[:20]
    pool = sentence_pool(readings, np.full(20, 0.05), AnswerKey.OWN)
    assert (pool.table == predict(pool.inquiries, readings)).all()
    place = len(pool.inquiries) // 2
    answer = pool.inquiries[place].answer(readings[7])
    assert pool.table[7, place] == (UNKNOWN if answer is None else answer)


def test_chinese_is_not_asked_for_its_alphabet() -> None:
    readings = [read(sentence, sentence) for sentence in CHINESE]
    pool = sentence_pool(readings, np.full(len(readings), 1 / len(readings)), AnswerKey.OWN)
    assert pool.inquiries
    assert not [inquiry for inquiry in pool.inquiries if isinstance(inquiry, (LetterRange, TwoLetters))]


@pytest.mark.parametrize("key", list(AnswerKey))
def test_a_domain_of_twenty_words_can_be_told_apart_completely(key: AnswerKey, knowledge: Knowledge) -> None:
    words = knowledge.catalogue.words_of("colour")
    pool = word_pool(words, np.full(len(words), 1 / len(words)), key)
    assert len({tuple(row) for row in pool.table.tolist()}) == len(words)


def test_nothing_to_tell_apart_makes_no_questions() -> None:
    alike = [read("It rained.", "It rained. It rained again.", part=0.5)] * 3
    assert sentence_pool(alike, np.full(3, 1 / 3), AnswerKey.OWN).inquiries == ()
