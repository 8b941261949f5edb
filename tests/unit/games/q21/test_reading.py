"""From what user code returned to typed values."""

from __future__ import annotations

import pytest

from league_agents.errors import CallbackInvalid
from league_agents.games.q21.contracts import COMPONENTS, check_guess, check_questions
from league_agents.games.q21.model import Answer, Breakdown, Brief, Choice, Guess, Question, QuestionBatch, Target
from league_agents.games.q21.reading import (
    answers_for,
    fallback_warmup_question,
    read_answers,
    read_round_start_info,
    read_scorecard,
    read_warmup_answer,
    read_warmup_question,
    repair_guess,
    repair_questions,
)
from league_agents.games.q21.rules import COURSE, PRD, RuleSet, rule_set_from
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
    assert read_warmup_answer(result) == answer


@pytest.mark.parametrize("result", [None, {}, {"warmup_question": "Hm?"}, {"warmup_question": 5}, "Who are you?"])
def test_a_missing_warmup_question_is_replaced(result: object) -> None:
    assert read_warmup_question(result, COURSE) == fallback_warmup_question()


def test_a_valid_warmup_question_is_kept() -> None:
    assert read_warmup_question({"warmup_question": "Who are you?"}, COURSE) == "Who are you?"


def test_round_start_information_comes_with_the_target_that_was_handed_in() -> None:
    result = {"book_name": "Moby Dick", "book_hint": BRIEF.book_hint, "association_word": "sea animal"}
    assert read_round_start_info(result, COURSE) == (BRIEF, None)
    full = result | {"actual_opening_sentence": "Call me Ishmael. ", "actual_associative_word": "whale"}
    target = Target(book_name="Moby Dick", opening_sentence="Call me Ishmael.", associative_word="whale")
    assert read_round_start_info(full, COURSE) == (BRIEF, target)


def test_unusable_round_start_information_is_refused_in_one_line() -> None:
    with pytest.raises(CallbackInvalid) as caught:
        read_round_start_info({"book_name": 3, "book_hint": "short\nhint", "association_word": None}, COURSE)
    assert str(caught.value) == (
        "get_round_start_info: book_name: must be a text (protocol 6.1), found 3; "
        "association_word: must be a text (protocol 6.1), found None"
    )


def test_a_hint_of_too_many_words_is_used_all_the_same() -> None:
    hint = " ".join("abcdefghijklmnopq")
    brief, _ = read_round_start_info({"book_name": "B", "book_hint": hint, "association_word": "c"}, COURSE)
    assert brief.book_hint == hint


def test_answers_are_matched_by_number() -> None:
    items = [(3, "C"), (9, "A"), (1, "Not Relevant"), (3, "D")]
    result = {"answers": [{"question_number": n, "answer": a} for n, a in items]}
    assert read_answers(result, ASKED, COURSE) == (
        Answer(number=1, choice=Choice.NOT_RELEVANT),
        Answer(number=2, choice=Choice.NOT_RELEVANT),  # missing
        Answer(number=3, choice=Choice.C),  # the first of two
    )


def test_after_a_failed_callback_nothing_is_relevant() -> None:
    assert [answer.choice for answer in answers_for(ASKED)] == [Choice.NOT_RELEVANT] * 3


@pytest.mark.parametrize(
    "result",
    [None, [], {}, {"answers": []}, {"answers": {"1": "A"}}, {"answers": [{"question_number": 1, "answer": "Yes"}]}],
)
def test_unusable_answers_are_refused(result: object) -> None:
    with pytest.raises(CallbackInvalid, match=r"^get_answers: "):
        read_answers(result, ASKED, COURSE)


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
    card = read_scorecard(result, COURSE)
    assert (card.league_points, card.private_score) == (3, private)
    assert card.breakdown == Breakdown(
        opening_sentence_score=90.0,
        sentence_justification_score=100.0,
        associative_word_score=0.0,
        word_justification_score=0.0,
    )


def test_an_unusable_score_is_refused() -> None:
    with pytest.raises(CallbackInvalid, match=r"^get_score_feedback: league_points: .* \(and \d more\)|; "):
        read_scorecard({"league_points": True, "breakdown": {}}, COURSE)


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
    batch = repair_questions(result, rules)
    assert [question.number for question in batch] == list(range(1, rules.questions_required + 1))
    assert check_questions(as_questions(batch), rules) == []
    assert all(question.text.endswith("?") for question in batch)


def test_valid_questions_are_left_as_they_are() -> None:
    batch = repair_questions({"questions": USABLE}, COURSE)
    assert as_questions(batch) == {"questions": USABLE}


def test_valid_numbers_are_kept_and_placeholders_take_the_free_ones() -> None:
    batch = repair_questions({"questions": [USABLE[19], USABLE[4]]}, COURSE)
    assert batch[19].text == "Does scene 20 take place at sea?"
    assert batch[4].text == "Does scene 5 take place at sea?"
    assert len({question.text for question in batch}) == 20


def test_one_bad_number_renumbers_all_by_position() -> None:
    items = [USABLE[7], USABLE[2] | {"question_number": 0}]
    batch = repair_questions({"questions": items}, COURSE)
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
    first = repair_questions({"questions": [item]}, COURSE)[0]
    assert (first.text, first.options) == ("Where does it take place?", expected)
    assert repair_questions({"questions": [item]}, PRD)[0].options == PRD.fixed_options


def test_a_short_question_keeps_its_words() -> None:
    item = {"question_number": 1, "question_text": "是鲸鱼吗？", "options": {}}
    assert repair_questions({"questions": [item]}, COURSE)[0].text == "Judging by the opening sentence: 是鲸鱼吗？"


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
    assert check_guess(as_result(repair_guess(result, rules, BRIEF)), rules) == []


def test_a_guess_that_keeps_the_contract_is_left_as_it_is() -> None:
    guess = Guess(
        opening_sentence="Call me Ishmael.",
        sentence_justification=words(50),
        associative_word="whale",
        word_justification=words(20),
        confidence=0.4,
    )
    assert repair_guess(as_result(guess), COURSE, BRIEF) == guess


def test_a_short_justification_is_continued_by_whole_sentences() -> None:
    text = repair_guess({"word_justification": "It swims"}, COURSE, BRIEF).word_justification
    assert text.startswith("It swims. This conclusion rests on the hint, ")
    assert text.endswith(".")
    assert 20 <= count_words(text) <= 30


def test_a_long_justification_is_cut_at_its_limit() -> None:
    text = repair_guess({"word_justification": words(29) + ", and, then"}, COURSE, BRIEF).word_justification
    assert text == words(29) + ", and."


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [(0.4, 0.4), (1, 1.0), (85, 1.0), (-2, 0.0), ("0.7", 0.7), ("high", None), (True, None), (None, None), ([], None)],
)
def test_confidence_is_brought_to_its_range(confidence: object, expected: float | None) -> None:
    result = {"opening_sentence": "Call me Ishmael.", "confidence": confidence}
    assert repair_guess(result, COURSE, BRIEF).confidence == expected


def test_a_placeholder_guess_claims_nothing() -> None:
    guess = repair_guess(None, COURSE, BRIEF)
    assert guess.opening_sentence == "How Moby Dick begins could not be determined."
    assert (guess.associative_word, guess.confidence) == ("unknown", 0.0)
