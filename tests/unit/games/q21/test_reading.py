"""From what user code returned to typed values."""

from __future__ import annotations

import pytest

from league_agents.games.q21.model import (
    COMPONENTS,
    Answer,
    Breakdown,
    Brief,
    Choice,
    Guess,
    Question,
    QuestionBatch,
    Target,
)
from league_agents.games.q21.reading_player import read_guess, read_questions, read_warmup_answer
from league_agents.games.q21.reading_referee import (
    FALLBACK_WARMUP_QUESTION,
    answers_for,
    read_answers,
    read_round_start_info,
    read_scorecard,
    read_warmup_question,
)
from league_agents.games.q21.rule_file import rule_set_from
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.games.q21.words import count_words

BRIEF = Brief(book_name="Moby Dick", book_hint="A sailor tells of one long hunt", association_domain="sea animal")
ASKED = tuple(Question(number=n, text=f"Where is scene {n}?", options=("a", "b", "c", "d")) for n in (1, 2, 3))
TINY = rule_set_from(
    {
        "extends": "course",
        "questions_required": 3,
        "least_question_characters": 60,
        "least_sentence_characters": 40,
        "sentence_justification": {"least": 7, "most": 7},
        "word_justification": {"least": 0, "most": 1},
        "feedback": {"least": 1, "most": 2},
    }
)


def words(count: int) -> str:
    return " ".join(f"word{i}" for i in range(count))


def as_result(guess: Guess) -> dict[str, object]:
    return {
        "opening_sentence": guess.opening_sentence,
        "sentence_justification": guess.sentence_justification,
        "associative_word": guess.associative_word,
        "word_justification": guess.word_justification,
        "confidence": guess.confidence,
    }


def as_questions(batch: QuestionBatch) -> dict[str, object]:
    return {
        "questions": [
            {"question_number": q.number, "question_text": q.text, "options": dict(zip("ABCD", q.options, strict=True))}
            for q in batch
        ]
    }


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ({"answer": "42"}, "42"),
        ({"answer": " 42\n"}, "42"),
        ({"answer": 42}, "42"),
        ({"answer": 4.5}, "4.5"),
        ({"answer": True}, "True"),
        ({"answer": ""}, "0"),
        ({"answer": None}, "0"),
        ({"answer": ["42"]}, "0"),
        ({}, "0"),
        (None, "0"),
        ("42", "0"),
        ({"answer": "x" * 5000}, "x" * 1000),
    ],
)
def test_a_warmup_answer_is_always_a_text(result: object, answer: str) -> None:
    assert read_warmup_answer(result).value == answer


@pytest.mark.parametrize("result", [None, {}, {"warmup_question": "Hm?"}, {"warmup_question": 5}, "Who are you?"])
def test_a_missing_warmup_question_is_replaced(result: object) -> None:
    read = read_warmup_question(result, COURSE)
    assert (read.value, read.is_broken) == (FALLBACK_WARMUP_QUESTION, True)


def test_a_valid_warmup_question_is_kept() -> None:
    assert read_warmup_question({"warmup_question": "Who are you?"}, COURSE).value == "Who are you?"


def test_round_start_information_comes_with_the_target_that_was_handed_in() -> None:
    result = {"book_name": "Moby Dick", "book_hint": BRIEF.book_hint, "association_word": "sea animal"}
    assert read_round_start_info(result, COURSE).value == (BRIEF, None)
    full = result | {"actual_opening_sentence": "Call me Ishmael. ", "actual_associative_word": "whale"}
    target = Target(book_name="Moby Dick", opening_sentence="Call me Ishmael.", associative_word="whale")
    assert read_round_start_info(full, COURSE).value == (BRIEF, target)


def test_unusable_round_start_information_is_refused_in_one_line() -> None:
    read = read_round_start_info({"book_name": 3, "book_hint": "short\nhint", "association_word": None}, COURSE)
    assert read.value is None
    assert read.refusal == (
        "book_name: must be a text (protocol 6.1), found 3; association_word: must be a text (protocol 6.1), found None"
    )


def test_a_hint_of_too_many_words_is_used_all_the_same() -> None:
    hint = " ".join("abcdefghijklmnopq")
    read = read_round_start_info({"book_name": "B", "book_hint": hint, "association_word": "c"}, COURSE)
    assert read.value is not None
    assert read.value[0].book_hint == hint
    assert (read.repairs, read.is_broken) == ([], False)


def test_answers_are_matched_by_number() -> None:
    items = [(3, "C"), (9, "A"), (1, "Not Relevant"), (3, "D")]
    result = {"answers": [{"question_number": n, "answer": a} for n, a in items]}
    read = read_answers(result, ASKED, COURSE)
    assert read.value == (
        Answer(number=1, choice=Choice.NOT_RELEVANT),
        Answer(number=2, choice=Choice.NOT_RELEVANT),  # missing
        Answer(number=3, choice=Choice.C),  # the first of two
    )
    assert [repair.partition("; ")[2] for repair in read.repairs] == [
        "the answer is left out", "the first answer counts", "the others are Not Relevant"
    ]  # fmt: skip


def test_after_a_failed_callback_nothing_is_relevant() -> None:
    assert [answer.choice for answer in answers_for(ASKED)] == [Choice.NOT_RELEVANT] * 3


@pytest.mark.parametrize(
    "result",
    [None, [], {}, {"answers": []}, {"answers": {"1": "A"}}, {"answers": [{"question_number": 1, "answer": "Yes"}]}],
)
def test_unusable_answers_are_refused(result: object) -> None:
    read = read_answers(result, ASKED, COURSE)
    assert (read.value, read.is_broken) == (None, True)


@pytest.mark.parametrize(
    ("first", "second", "private"),
    [(150, 200, 80.0), (149, 200, 76.0), (150, 201, 76.0), (0, 0, 72.0)],
)
def test_feedback_outside_its_limit_costs_five_percent_each(first: int, second: int, private: float) -> None:
    result = {
        "league_points": 3,
        "private_score": 80,
        "breakdown": dict(zip(COMPONENTS, (90, 120.5, -3, 0), strict=True)),
        "feedback": {"opening_sentence": words(first), "associative_word": words(second)},
    }
    read = read_scorecard(result, COURSE)
    card = read.value
    assert card is not None
    assert (card.league_points, card.private_score) == (3, private)
    assert card.breakdown == Breakdown(
        opening_sentence_score=90.0,
        sentence_justification_score=100.0,
        associative_word_score=0.0,
        word_justification_score=0.0,
    )
    charged = [line for line in read.repairs if "instead of 80" in line]
    assert len(charged) == (first != 150) + (second != 200)
    assert all(f"the private score is {private:g} instead of 80" in line for line in charged)


def test_an_unusable_score_is_refused() -> None:
    read = read_scorecard({"league_points": True, "breakdown": {}}, COURSE)
    assert read.value is None
    assert read.refusal == (
        "league_points: must be a whole number from 0 to 3 (protocol 6.1), found True; "
        "private_score: must be a number from 0 to 100 (protocol 6.1), found None"
    )


def test_a_score_of_the_product_document_counts_as_it_is() -> None:
    read = read_scorecard({"league_points": 3, "private_score": 90.0}, COURSE)
    card = read.value
    assert card is not None
    assert (card.league_points, card.private_score, card.is_judged) == (3, 90.0, True)
    assert (card.breakdown, card.feedback) == (None, None)
    assert [line.partition(":")[0] for line in read.repairs] == ["breakdown", "feedback"]


@pytest.mark.parametrize(
    ("change", "breakdown", "feedback", "told"),
    [
        ({"breakdown": {"opening_sentence_score": 7}}, False, True, "told no component scores"),
        ({"breakdown": 90}, False, True, "breakdown: must be a dict"),
        ({"feedback": "well done"}, True, False, "feedback: must be a dict"),
        ({"feedback": {"opening_sentence": words(150)}}, True, True, "feedback.associative_word: must be a text"),
        ({"feedback": {"opening_sentence": 7, "associative_word": None}}, True, False, "feedback.opening_sentence"),
    ],
)
def test_parts_of_a_score_that_cannot_be_used_cost_nothing(
    change: dict[str, object], breakdown: bool, feedback: bool, told: str
) -> None:
    whole: dict[str, object] = {
        "league_points": 2,
        "private_score": 70,
        "breakdown": dict.fromkeys(COMPONENTS, 70),
        "feedback": {"opening_sentence": words(150), "associative_word": words(150)},
    }
    assert read_scorecard(whole, COURSE).remarks == []
    read = read_scorecard(whole | change, COURSE)
    assert read.value is not None
    assert (read.value.league_points, read.value.private_score) == (2, 70.0)
    assert (read.value.breakdown is not None, read.value.feedback is not None) == (breakdown, feedback)
    assert told in " ".join(read.repairs)


USABLE = [
    {"question_number": n, "question_text": f"Does scene {n} take place at sea?", "options": dict.fromkeys("ABCD", "x")}
    for n in range(1, 21)
]


@pytest.mark.parametrize("rules", [COURSE, PRD, TINY])
@pytest.mark.parametrize(
    "result",
    [
        None,
        "questions",
        {},
        {"questions": None},
        {"questions": []},
        {"questions": USABLE[:5]},
        {"questions": USABLE * 50},
        {"questions": [None, 3, {}, {"question_text": "   "}, {"question_text": "?!"}, {"question_text": "Why"}]},
        {"questions": [{"question_text": "x" * 19_000}, {"question_text": "\ud800\u202e\x00 a"}]},
        {"questions": [USABLE[3]] * 20},
        {"questions": [{"question_number": 10**30, "question_text": "Is it day or night?", "options": "ABCD"}]},
    ],
)
def test_repaired_questions_keep_the_contract(result: object, rules: RuleSet) -> None:
    read = read_questions(result, rules)
    batch = read.value
    assert [question.number for question in batch] == list(range(1, rules.questions_required + 1))
    assert read_questions(as_questions(batch), rules).remarks == []
    assert read.remarks != []
    assert all(question.text.endswith("?") for question in batch)


def test_valid_questions_are_left_as_they_are() -> None:
    batch = read_questions({"questions": USABLE}, COURSE).value
    assert as_questions(batch) == {"questions": USABLE}
    assert read_questions({"questions": USABLE}, COURSE).remarks == []


def test_valid_numbers_are_kept_and_placeholders_take_the_free_ones() -> None:
    batch = read_questions({"questions": [USABLE[19], USABLE[4]]}, COURSE).value
    assert batch[19].text == "Does scene 20 take place at sea?"
    assert batch[4].text == "Does scene 5 take place at sea?"
    assert len({question.text for question in batch}) == 20


def test_one_bad_number_renumbers_all_by_position() -> None:
    items = [USABLE[7], USABLE[2] | {"question_number": 0}]
    batch = read_questions({"questions": items}, COURSE).value
    assert [q.text for q in batch[:2]] == ["Does scene 8 take place at sea?", "Does scene 3 take place at sea?"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (None, ("Yes", "No", "Maybe", "Unknown")),
        ({"A": "Sea", "C": 4}, ("Sea", "Yes", "No", "Maybe")),
        ({"B": "yes", "C": " "}, ("No", "yes", "Maybe", "Unknown")),  # no option twice
        (["Sea", "Land", "Air", "Fire"], ("Sea", "Land", "Air", "Fire")),
        (["Sea", "Land"], ("Yes", "No", "Maybe", "Unknown")),
    ],
)
def test_missing_options_are_filled(options: object, expected: tuple[str, ...]) -> None:
    item = {"question_number": 1, "question_text": "Where does it take place", "options": options}
    first = read_questions({"questions": [item]}, COURSE).value[0]
    assert (first.text, first.options) == ("Where does it take place?", expected)
    assert read_questions({"questions": [item]}, PRD).value[0].options == PRD.fixed_options


def test_a_short_question_keeps_its_words() -> None:
    item = {"question_number": 1, "question_text": "是鲸鱼吗？", "options": {}}
    assert read_questions({"questions": [item]}, COURSE).value[0].text == "Judging by the opening sentence: 是鲸鱼吗？"


@pytest.mark.parametrize("rules", [COURSE, PRD, TINY])
@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        {},
        dict.fromkeys(("opening_sentence", "associative_word", "sentence_justification", "word_justification"), 7),
        {"opening_sentence": "Hi", "associative_word": " ", "confidence": float("nan")},
        {"sentence_justification": words(2000), "word_justification": words(31)},
        {"sentence_justification": "- " * 60 + words(3), "word_justification": "—"},
        {"sentence_justification": "x" * 9_000_000, "confidence": 9**999},
        {"opening_sentence": "\ud800", "word_justification": "Because, of: course," * 9},
    ],
)
def test_a_repaired_guess_keeps_the_contract(result: object, rules: RuleSet) -> None:
    read = read_guess(result, rules, BRIEF)
    assert read_guess(as_result(read.value), rules, BRIEF).remarks == []
    assert read.remarks != []


def test_a_guess_that_keeps_the_contract_is_left_as_it_is() -> None:
    guess = Guess(
        opening_sentence="Call me Ishmael.",
        sentence_justification=words(50),
        associative_word="whale",
        word_justification=words(20),
        confidence=0.4,
    )
    read = read_guess(as_result(guess), COURSE, BRIEF)
    assert (read.value, read.remarks) == (guess, [])


def test_a_short_justification_is_continued_by_whole_sentences() -> None:
    text = read_guess({"word_justification": "It swims"}, COURSE, BRIEF).value.word_justification
    assert text.startswith("It swims. This conclusion rests on the hint, ")
    assert text.endswith(".")
    assert 20 <= count_words(text) <= 30


def test_a_long_justification_is_cut_at_its_limit() -> None:
    text = read_guess({"word_justification": words(29) + ", and, then"}, COURSE, BRIEF).value.word_justification
    assert text == words(29) + ", and."


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [(0.4, 0.4), (1, 1.0), (85, 1.0), (-2, 0.0), ("0.7", 0.7), ("high", None), (True, None), (None, None), ([], None)],
)
def test_confidence_is_brought_to_its_range(confidence: object, expected: float | None) -> None:
    result = {"opening_sentence": "Call me Ishmael.", "confidence": confidence}
    assert read_guess(result, COURSE, BRIEF).value.confidence == expected


def test_a_placeholder_guess_claims_nothing() -> None:
    guess = read_guess(None, COURSE, BRIEF).value
    assert guess.opening_sentence == "How Moby Dick begins could not be determined."
    assert (guess.associative_word, guess.confidence) == ("unknown", 0.0)
