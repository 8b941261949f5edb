"""Score a guess.

Rule 1: a score is a function of the guess and of the match's facts, never of the guesser, so both players of a match
are measured alike.
Rule 2: points follow from counted similarities and from true citations; nothing else in a justification has an effect,
whether it addresses a person or a model.
Rule 3: feedback never names the target, because the other player may still be guessing.
"""

from __future__ import annotations

import math

from msgspec import Struct

from league_agents.games.q21.feedback import sentence_feedback, word_feedback
from league_agents.games.q21.justification import JustificationReading, read_justification
from league_agents.games.q21.model import (
    AnswerBatch,
    Breakdown,
    Brief,
    Feedback,
    Guess,
    QuestionBatch,
    Scorecard,
    Target,
)
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.similarity import sentence_similarity, word_similarity

SHORT_FACTOR = 0.95
"""Factor for a justification below its least number of words (protocol 7)."""

WRONG_GUESS_FACTOR = 0.3
"""Factor for a justification of an entirely wrong guess."""


class Grades(Struct, frozen=True, kw_only=True):
    """Grades of the justifications by another judge, such as a model: 0 to 100, ``None`` if it gave none.

    A grade replaces the quality that the code counts (see ``score``). It is clamped to 0 to 100, and the word limits
    and the nearness of the guess limit it as they limit the count, so no grade can lift a wrong guess.
    """

    sentence_justification: float | None = None
    word_justification: float | None = None

    sentence_remarks: tuple[str, ...] = ()
    """Sentences for the feedback about the opening sentence. They are sent unchanged, so they must come from this
    side."""

    word_remarks: tuple[str, ...] = ()
    """The same for the associative word."""


def score(
    guess: Guess,
    target: Target,
    brief: Brief,
    questions: QuestionBatch,
    answers: AnswerBatch,
    rules: RuleSet,
    *,
    graded: Grades | None = None,
) -> Scorecard:
    """Return the scorecard of one guess.

    ======================= ===========================================================================================
    opening_sentence_score  ``sentence_similarity``
    associative_word_score  ``word_similarity``
    justification scores    quality · near · short
    quality                 (50 evidence + 30 bearing + 20 substance) · originality · variety, or the grade
    evidence                questions cited with their true answer, three (for the word two) for the whole; citations
                            without an answer count half and at most a half together; times the share of citations that
                            are not wrong. 1 when no question was asked
    bearing                 content words of the guess that are mentioned, two (or all there are) for the whole
    substance               different content words, a third of the least number of words for the whole
    originality             falls from 1 to 0 while the part that is copied from guess, hint or the other justification
                            grows from half of the text to all of it
    variety                 different words among all words, 45 % for the whole: repeated filler earns little
    near                    0.3 + 0.7 · the score of what is justified / 100
    short                   0.95 below the least number of words; of a text over the most, only its beginning is read
    private_score           the components by the rules' weights, two digits
    league_points           the rules' tier of the private score
    ======================= ===========================================================================================
    """
    sentence = sentence_similarity(guess.opening_sentence, target.opening_sentence)
    word = word_similarity(guess.associative_word, target.associative_word)
    on_sentence, on_word = _readings(guess, brief, questions, answers, rules)
    grades = graded or Grades()
    breakdown = Breakdown(
        opening_sentence_score=sentence,
        sentence_justification_score=_justified(on_sentence, sentence, grades.sentence_justification),
        associative_word_score=word,
        word_justification_score=_justified(on_word, word, grades.word_justification),
    )
    total = private_score(breakdown, rules)
    points = rules.points_for(total)
    feedback = Feedback(
        opening_sentence=sentence_feedback(
            guess.opening_sentence,
            target.opening_sentence,
            scores=(sentence, breakdown.sentence_justification_score),
            reading=on_sentence,
            total=total,
            points=points,
            rules=rules,
            remarks=grades.sentence_remarks,
        ),
        associative_word=word_feedback(
            guess.associative_word,
            scores=(word, breakdown.word_justification_score),
            reading=on_word,
            total=total,
            points=points,
            rules=rules,
            remarks=grades.word_remarks,
        ),
    )
    return Scorecard(league_points=points, private_score=total, breakdown=breakdown, feedback=feedback)


def counted(
    guess: Guess, brief: Brief, questions: QuestionBatch, answers: AnswerBatch, rules: RuleSet
) -> tuple[float, float]:
    """Return the quality that the code counts in the justifications of sentence and word, 0 to 100 each; a grade
    replaces it.
    """
    on_sentence, on_word = _readings(guess, brief, questions, answers, rules)
    return on_sentence.quality, on_word.quality


def _readings(
    guess: Guess, brief: Brief, questions: QuestionBatch, answers: AnswerBatch, rules: RuleSet
) -> tuple[JustificationReading, JustificationReading]:
    on_sentence = read_justification(
        guess.sentence_justification,
        limit=rules.sentence_justification,
        subject=guess.opening_sentence,
        given=brief.book_hint,
        other="",
        citations_wanted=3,
        questions=questions,
        answers=answers,
    )
    on_word = read_justification(
        guess.word_justification,
        limit=rules.word_justification,
        subject=guess.associative_word,
        given=brief.book_hint,
        other=guess.sentence_justification,
        citations_wanted=2,
        questions=questions,
        answers=answers,
    )
    return on_sentence, on_word


def private_score(breakdown: Breakdown, rules: RuleSet) -> float:
    """Return the weighted sum of the components, 0 to 100, rounded to two digits (protocol 7)."""
    weights = rules.weights
    total = (
        weights.opening_sentence * breakdown.opening_sentence_score
        + weights.sentence_justification * breakdown.sentence_justification_score
        + weights.associative_word * breakdown.associative_word_score
        + weights.word_justification * breakdown.word_justification_score
    )
    return min(100.0, max(0.0, round(total, 2)))


def _justified(reading: JustificationReading, subject_score: float, grade: float | None) -> float:
    if not reading.words:
        return 0.0
    quality = reading.quality if grade is None or math.isnan(grade) else min(100.0, max(0.0, grade))
    near = WRONG_GUESS_FACTOR + (1 - WRONG_GUESS_FACTOR) * subject_score / 100
    return round(quality * near * (SHORT_FACTOR if reading.is_short else 1.0), 2)
