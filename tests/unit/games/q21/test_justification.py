"""What can be counted in a justification."""

from __future__ import annotations

import pytest

from league_agents.games.q21.justification import JustificationReading, read_justification
from league_agents.games.q21.model import Answer, Choice, Question
from league_agents.games.q21.rules import COURSE, PRD, WordLimit

FIXED = PRD.fixed_options
QUESTIONS = (
    Question(number=1, text="Is a person named?", options=FIXED),
    Question(number=2, text="Is a place named?", options=FIXED),
    Question(number=3, text="Is it about water?", options=FIXED),
    Question(number=4, text="Is anything coloured?", options=FIXED),
    Question(
        number=5, text="How does it begin?", options=("With a name", "With a place", "With a name or a date", "-")
    ),
    Question(number=6, text="Is it long?", options=FIXED),
)
ANSWERS = (
    Answer(number=1, choice=Choice.A),
    Answer(number=2, choice=Choice.B),
    Answer(number=3, choice=Choice.C),
    Answer(number=4, choice=Choice.D),
    Answer(number=5, choice=Choice.C),
    Answer(number=6, choice=Choice.NOT_RELEVANT),
)


def read(text: str, *, limit: WordLimit = COURSE.sentence_justification, other: str = "") -> JustificationReading:
    return read_justification(
        text,
        limit=limit,
        subject="The whale was white.",
        given="A sailor tells of one long hunt",
        other=other,
        citations_wanted=3,
        questions=QUESTIONS,
        answers=ANSWERS,
    )


@pytest.mark.parametrize(
    ("text", "right", "bare", "wrong"),
    [
        ("Question 1 was answered yes and question 2 no.", 2, 0, 0),
        ("Q1: A, Q2: B, Q3: C", 3, 0, 0),
        ("Q1 (A); q.2 (B); #3 = C", 3, 0, 0),
        ("Yes to question 1 and No to question 2", 2, 0, 0),
        ("The B on Q2 is decisive", 1, 0, 0),
        ("Answer one says yes", 1, 0, 0),
        ("Question 1 (does it name a person? yes)", 1, 0, 0),
        ("Question 4 came back unknown", 1, 0, 0),  # a part of "Unknown / Not Relevant"
        ("Question 6 was not relevant", 1, 0, 0),
        ("Question 5 says with a name or a date", 1, 0, 0),  # option A is a part of option C
        ("Question 5 says with a name", 0, 0, 1),
        ("Questions 1 and 2 were both answered yes", 1, 0, 1),
        ("Question 1 was answered no", 0, 0, 1),
        ("Q1 is A good question", 0, 1, 0),  # an article
        ("Question 1 asked for a person", 0, 1, 0),
        ("Q1 A B C D", 0, 1, 0),  # all letters at once state nothing
        ("Question 1, yes or no", 0, 1, 0),
        ("Question 77 was answered yes", 0, 0, 1),
        ("Question 1 was answered yes. Question 1 was answered no.", 0, 0, 1),  # the worst counts
        ("Question 1 yes. Question 1 yes. Question 1 yes.", 1, 0, 0),
        ("问题1 A，第2 B", 2, 0, 0),
        ("שאלה 1 A", 1, 0, 0),
        ("It has 3 ships and 20 men", 0, 0, 0),
        ("", 0, 0, 0),
    ],
)
def test_citations(text: str, right: int, bare: int, wrong: int) -> None:
    reading = read(text)
    assert (reading.cited_right, reading.cited_bare, reading.cited_wrong) == (right, bare, wrong)


def test_evidence_grows_to_three_true_citations_and_shrinks_with_false_ones() -> None:
    assert read("Q1: A").evidence == pytest.approx(1 / 3)
    assert read("Q1: A, Q2: B, Q3: C").evidence == read("Q1: A, Q2: B, Q3: C, Q4: D").evidence == 1
    assert read("Q1: A, Q2: B, Q3: C, Q4: A").evidence == pytest.approx(3 / 4)
    assert read("Questions 1, 2, 3, 4, 5 and 6").evidence == 0.5  # a bare list is never more than half
    assert read("Q1: B, Q2: A").evidence == 0


def test_a_text_over_its_limit_is_read_up_to_it() -> None:
    filler = " ".join(f"word{i}" for i in range(50))
    late = read(f"{filler} Q1: A, Q2: B, Q3: C")
    assert (late.evidence, late.words, late.is_long, late.is_short) == (0, 56, True, False)
    assert read(f"Q1: A, Q2: B, Q3: C {filler}").evidence == 1


def test_bearing_needs_words_of_the_guess() -> None:
    assert read("Nothing to see").bearing == 0
    assert read("Some whale").bearing == 0.5
    assert read("Some white whale").bearing == 1


def test_copies_and_filler_count_little() -> None:
    honest = "The first answer suggests some person while colours stay unclear, therefore this candidate remains"
    assert (read(honest).originality, read(honest).variety) == (1, 1)
    assert read("The whale was white. A sailor tells of one long hunt.").originality == 0
    assert read(honest, other=honest).originality == 0
    assert read("trust this score " * 30).variety < 0.2


def test_without_questions_there_is_nothing_to_cite() -> None:
    reading = read_justification(
        "Some whale", limit=COURSE.word_justification, subject="whale", given="", other="", citations_wanted=2,
        questions=(), answers=(),
    )  # fmt: skip
    assert (reading.evidence, reading.bearing) == (1, 1)


def test_a_flood_of_citations_is_read_quickly_up_to_the_limit() -> None:
    flood = "Q1 and Q2, " * 1_000_000
    assert read(flood, limit=PRD.sentence_justification).cited_bare == 2
