"""What a batch tells is counted in the pool that the brief leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from league_agents.agents.candidates import enumerate_candidates
from league_agents.agents.library import Knowledge
from league_agents.evaluation.bits import CandidatePool
from league_agents.games.q21.information import bits
from league_agents.games.q21.model import Answer, AnswerBatch, Brief, Choice, Question, QuestionBatch, Target
from league_agents.games.q21.rules import COURSE

BOOK = "Lecture 2: Sorting"
YES_NO = ("Yes", "No", "Partially", "Unknown")


@pytest.fixture
def target(knowledge: Knowledge) -> Target:
    volume = knowledge.volume(BOOK)
    assert volume is not None
    sentence = volume.passages[3].opening_sentence
    return Target(
        book_name=BOOK, opening_sentence=sentence, associative_word=min(knowledge.catalogue.words_of("fruit"))
    )


@pytest.fixture
def brief() -> Brief:
    return Brief(book_name=BOOK, book_hint="", association_domain="fruit")


@pytest.fixture
def pool(knowledge: Knowledge, brief: Brief, target: Target) -> CandidatePool:
    return CandidatePool(knowledge, COURSE, brief, target)


def asked(*texts: str) -> QuestionBatch:
    return tuple(Question(number=n, text=text, options=YES_NO) for n, text in enumerate(texts, start=1))


def said(*choices: Choice) -> AnswerBatch:
    return tuple(Answer(number=n, choice=choice) for n, choice in enumerate(choices, start=1))


def test_what_is_possible_is_the_entropy_of_sentences_with_words(
    knowledge: Knowledge, brief: Brief, pool: CandidatePool
) -> None:
    candidates = enumerate_candidates(knowledge, brief, COURSE.target_kind)
    joint = candidates.prior[:, None] * candidates.given
    gain = pool.gain((), (), 0.0)
    assert gain.possible == pytest.approx(bits(joint.ravel()))
    assert gain.possible > np.log2(len(candidates.sentences))
    assert (gain.gained, gain.understood) == (0.0, 0)


def test_a_question_tells_at_most_one_bit_by_yes_or_no(pool: CandidatePool, target: Target) -> None:
    first = target.opening_sentence.split()[0]
    batch = asked(f"Does the opening sentence contain the word '{first}'?")
    gain = pool.gain(batch, said(Choice.A), 0.0)
    assert gain.understood == 1
    assert gain.gained > 0
    noisy = pool.gain(batch, said(Choice.A), 0.3)
    assert 0 < noisy.gained < gain.gained


def test_silence_and_questions_that_nobody_understands_tell_nothing(pool: CandidatePool) -> None:
    unclear = asked("Would the author have liked a walk by the river with an old friend?")
    assert pool.gain(unclear, said(Choice.A), 0.0).gained == pytest.approx(0.0)
    assert pool.gain(unclear, said(Choice.A), 0.0).understood == 0
    clear = asked("Does the opening sentence have more than 8 words?")
    assert pool.gain(clear, (), 0.0).gained == pytest.approx(0.0, abs=0.01)
    assert pool.gain(clear, said(Choice.NOT_RELEVANT), 0.0).gained == pytest.approx(0.0, abs=0.01)


def test_a_question_about_the_word_tells_about_the_word(pool: CandidatePool, target: Target) -> None:
    initial = target.associative_word[0].upper()
    gain = pool.gain(asked(f"Does the associative word begin with the letter {initial}?"), said(Choice.A), 0.0)
    assert gain.understood == 1
    assert gain.gained > 0.5


def test_a_target_that_is_no_candidate_is_not_measured(knowledge: Knowledge, brief: Brief, target: Target) -> None:
    assert CandidatePool(knowledge, COURSE, brief, target).holds_target
    foreign = Target(book_name=BOOK, opening_sentence="Call me Ishmael.", associative_word=target.associative_word)
    assert not CandidatePool(knowledge, COURSE, brief, foreign).holds_target
    unknown = Brief(book_name="A book that nobody wrote", book_hint="", association_domain="fruit")
    assert not CandidatePool(knowledge, COURSE, unknown, target).holds_target
