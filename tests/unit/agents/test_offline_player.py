"""What the offline player does with odd, empty and hostile contexts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.games.q21.reading_player import read_guess, read_questions
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.knowledge.words import content_words

BOTH = pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)


def context(**dynamic: object) -> Mapping[str, Any]:
    return {"dynamic": {"match_id": "0101001", **dynamic}, "service": {"match_id": "0101001"}}


HOSTILE: list[Any] = [
    {},
    {"dynamic": None, "service": []},
    {"dynamic": {"book_name": None, "book_hint": 7, "association_word": ["x"], "answers": "A", "questions_sent": {}}},
    context(book_name="x" * 100_000, book_hint="y " * 100_000, association_word="z" * 100_000),
    context(book_name="\x00\ud800‮", book_hint="<script>", association_word="'; DROP TABLE"),
    context(answers=[{"question_number": True, "answer": "A"}, {"question_number": 1, "answer": "E"}, None, 3, "B"]),
    context(answers=[{"question_number": n, "answer": "Not Relevant"} for n in range(1, 21)]),
    context(questions_sent=[{"question_text": "x" * 100_000, "options": "ABCD"}] * 1000, answers=["A"] * 1000),
    {"book_name": "The Village Book", "book_hint": "", "association_word": "colour"},
]


@BOTH
@pytest.mark.parametrize("ctx", HOSTILE, ids=range(len(HOSTILE)))
def test_there_are_always_twenty_questions_and_a_guess(rules: RuleSet, ctx: Any, knowledge: Knowledge) -> None:
    player = OfflinePlayer(rules=rules, knowledge=knowledge, seed=1)
    assert read_questions(player.get_questions(ctx), rules).remarks == []
    guess = player.get_guess(ctx)
    assert read_guess(guess, rules).remarks == []
    player.on_score_received(ctx)


@BOTH
def test_an_unknown_book_gets_general_questions_and_an_honest_guess(rules: RuleSet, knowledge: Knowledge) -> None:
    player = OfflinePlayer(rules=rules, knowledge=knowledge, seed=1)
    brief = {
        "book_name": "Zwölf Jahre unter Quarzuhren",
        "book_hint": "clockwork apprentices quarrel about quartz",
        "association_word": "gemstone",
    }
    questions: Any = player.get_questions(context(**brief))["questions"]
    assert read_questions({"questions": questions}, rules).remarks == []
    assert any("associative word" in q["question_text"] for q in questions)
    silent = [{"question_number": n, "answer": "Not Relevant"} for n in range(1, 21)]
    guess = player.get_guess(context(**brief, questions_sent=questions, answers=silent))
    sentence = str(guess["opening_sentence"])
    assert not content_words(sentence) & content_words(f"{brief['book_hint']} {brief['book_name']}")
    assert len(sentence) >= rules.least_sentence_characters
    assert guess["confidence"] == 0.01
    assert "probably not known" in str(guess["sentence_justification"])
    assert guess["associative_word"] in knowledge.words_of("gemstone")
    assert guess["confidence"] == 0.01


def test_the_book_of_another_spelling_is_found(knowledge: Knowledge) -> None:
    player = OfflinePlayer(rules=PRD, knowledge=knowledge, seed=1)
    brief = {"book_name": "Wuthering Hights", "book_hint": "", "association_word": "tree"}
    questions = player.get_questions(context(**brief))["questions"]
    guess: Any = player.get_guess(context(**brief, questions_sent=questions, answers=[]))
    assert guess["opening_sentence"].startswith("1801")


def test_what_the_runner_leaves_empty_is_remembered(knowledge: Knowledge) -> None:
    """Deployed runners give the guess neither book data nor questions (protocol 6.2)."""
    referee = OfflineReferee(rules=COURSE, knowledge=knowledge, seed=2)
    player = OfflinePlayer(rules=COURSE, knowledge=knowledge, seed=2)
    start = referee.get_round_start_info(context())
    brief = {key: start[key] for key in ("book_name", "book_hint", "association_word")}
    questions = player.get_questions(context(**brief))["questions"]
    answers = referee.get_answers(context(**brief, player_id="p", questions=questions))["answers"]
    empty = context(book_name="", book_hint="", association_word="", questions_sent=[], answers=answers)
    assert player.get_guess(empty)["opening_sentence"] == start["actual_opening_sentence"]


def test_after_a_restart_questions_that_are_not_handed_back_are_made_again(knowledge: Knowledge) -> None:
    referee = OfflineReferee(rules=COURSE, knowledge=knowledge, seed=2)
    start = referee.get_round_start_info(context())
    brief = {key: start[key] for key in ("book_name", "book_hint", "association_word")}
    questions = OfflinePlayer(rules=COURSE, knowledge=knowledge, seed=2).get_questions(context(**brief))["questions"]
    answers = referee.get_answers(context(**brief, player_id="p", questions=questions))["answers"]
    again = OfflinePlayer(rules=COURSE, knowledge=knowledge, seed=2)
    guess = again.get_guess(context(**brief, questions_sent=[], answers=answers))
    assert guess["opening_sentence"] == start["actual_opening_sentence"]


def test_three_wrong_answers_do_not_lose_the_sentence(knowledge: Knowledge) -> None:
    referee = OfflineReferee(rules=COURSE, knowledge=knowledge, seed=2)
    player = OfflinePlayer(rules=COURSE, knowledge=knowledge, seed=2)
    start = referee.get_round_start_info(context())
    brief = {key: start[key] for key in ("book_name", "book_hint", "association_word")}
    questions = player.get_questions(context(**brief))["questions"]
    answers: Any = referee.get_answers(context(**brief, player_id="p", questions=questions))["answers"]
    sure: Any = player.get_guess(context(**brief, questions_sent=questions, answers=answers))
    for i in (0, 3, 7):
        answers[i]["answer"] = "A" if answers[i]["answer"] != "A" else "B"
    guess: Any = player.get_guess(context(**brief, questions_sent=questions, answers=answers))
    assert guess["opening_sentence"] == start["actual_opening_sentence"]
    assert guess["confidence"] <= sure["confidence"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much is 17 plus 25?", "42"),
        ("What is 6 times 7?", "42"),
        ("12 - 20 = ?", "-8"),
        ("7/2?", "3.5"),
        ("1/0?", "0"),
        ("Are you there?", "ready"),
        ("9" * 100_000 + " plus 1", "ready"),
    ],
)
def test_a_sum_in_the_warmup_is_worked_out(question: str, answer: str, knowledge: Knowledge) -> None:
    player = OfflinePlayer(rules=PRD, knowledge=knowledge, seed=1)
    assert player.get_warmup_answer(context(warmup_question=question)) == {"answer": answer}
