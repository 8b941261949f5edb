"""The offline referee and the offline player against each other, called as a runner calls them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.games.q21.model import Question
from league_agents.games.q21.reading_player import read_guess, read_questions
from league_agents.games.q21.reading_referee import read_answers, read_round_start_info, read_scorecard
from league_agents.games.q21.rules import COURSE, PRD, RuleSet, TargetKind

BRIEF = ("book_name", "book_hint", "association_word")
PRD_PASSAGES = replace(PRD, target_kind=TargetKind.PASSAGE_OPENING)
COURSE_BOOKS = replace(COURSE, target_kind=TargetKind.BOOK_OPENING)


def context(match_id: str = "0101001", **dynamic: object) -> Mapping[str, Any]:
    return {"dynamic": {"match_id": match_id, **dynamic}, "service": {"match_id": match_id}}


def brief_of(start: Mapping[str, Any]) -> dict[str, Any]:
    return {key: start[key] for key in BRIEF}


def batch(questions: list[Any]) -> tuple[Question, ...]:
    return tuple(
        Question(number=q["question_number"], text=q["question_text"], options=tuple(q["options"].values()))
        for q in questions
    )


@pytest.mark.parametrize("rules", [PRD, COURSE, PRD_PASSAGES, COURSE_BOOKS], ids=lambda r: f"{r.name} {r.target_kind}")
def test_a_match_keeps_every_contract_and_is_won(rules: RuleSet, knowledge: Knowledge) -> None:
    referee = OfflineReferee(rules=rules, knowledge=knowledge, seed=11)
    player = OfflinePlayer(rules=rules, knowledge=knowledge, seed=12)
    for match_id in ("0101001", "0102001"):
        start = referee.get_round_start_info(context(match_id))
        assert read_round_start_info(start, rules).remarks == []
        brief = brief_of(start)
        questions: Any = player.get_questions(context(match_id, **brief))["questions"]
        assert read_questions({"questions": questions}, rules).remarks == []
        assert len({q["question_text"] + str(q["options"]) for q in questions}) == 20
        answers = referee.get_answers(context(match_id, **brief, player_id="p", questions=questions))
        assert read_answers(answers, batch(questions), rules).remarks == []
        guess = player.get_guess(context(match_id, **brief, questions_sent=questions, answers=answers["answers"]))
        assert read_guess(guess, rules).remarks == []
        card: Any = referee.get_score_feedback(context(match_id, **brief, player_id="p", player_guess=guess))
        assert read_scorecard(card, rules).remarks == []
        assert guess["opening_sentence"] == start["actual_opening_sentence"]
        assert guess["associative_word"] == start["actual_associative_word"]
        assert card["league_points"] == 3
        assert card["private_score"] > 90


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda r: r.name)
def test_a_match_goes_on_after_both_processes_were_started_again(rules: RuleSet, knowledge: Knowledge) -> None:
    """A new instance for each call does what one instance does: nothing that matters is on ``self``."""
    played = []
    for keeps_instances in (True, False):
        referees = [OfflineReferee(rules=rules, knowledge=knowledge, seed=3) for _ in range(3)]
        players = [OfflinePlayer(rules=rules, knowledge=knowledge, seed=4) for _ in range(3)]
        first, second, third = (0, 0, 0) if keeps_instances else (0, 1, 2)
        start = referees[first].get_round_start_info(context())
        brief = brief_of(start)
        secret = {key: start[key] for key in ("actual_opening_sentence", "actual_associative_word")}
        questions = players[first].get_questions(context(**brief))["questions"]
        asked = context(**brief, **secret, player_id="p", questions=questions)
        answers = referees[second].get_answers(asked)["answers"]
        guess = players[second].get_guess(context(**brief, questions_sent=questions, answers=answers))
        shown = context(**brief, **secret, player_id="p", questions=questions, answers=answers, player_guess=guess)
        played.append([start, questions, answers, guess, referees[third].get_score_feedback(shown)])
    assert json.dumps(played[0]) == json.dumps(played[1])


def test_a_referee_without_context_and_memory_draws_the_same_target_again(knowledge: Knowledge) -> None:
    start = OfflineReferee(rules=COURSE, knowledge=knowledge, seed=3).get_round_start_info(context())
    other = OfflineReferee(rules=COURSE, knowledge=knowledge, seed=3)
    question = {
        "question_number": 1,
        "question_text": "Is the associative word one of these: " + str(start["actual_associative_word"]) + "?",
        "options": {"A": "Yes", "B": "No", "C": "Partially", "D": "Unknown"},
    }
    asked = context(book_name="", player_id="p", questions=[question], actual_opening_sentence=None)
    assert other.get_answers(asked)["answers"] == [{"question_number": 1, "answer": "A"}]


def test_different_matches_have_different_targets_and_equal_seeds_equal_ones(knowledge: Knowledge) -> None:
    def targets(seed: int) -> list[object]:
        referee = OfflineReferee(rules=COURSE, knowledge=knowledge, seed=seed)
        return [referee.get_round_start_info(context(f"01{n:02}001"))["actual_opening_sentence"] for n in range(10)]

    assert targets(1) == targets(1)
    assert targets(1) != targets(2)
    assert len(set(targets(1))) >= 8


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda r: r.name)
def test_the_same_inputs_give_the_same_questions(rules: RuleSet, knowledge: Knowledge) -> None:
    ask = context(book_name="The Village Book", book_hint="Somebody hides something", association_word="colour")
    one, two = (OfflinePlayer(rules=rules, knowledge=knowledge, seed=1).get_questions(ask) for _ in range(2))
    assert one == two


def test_every_justification_cites_answers_that_were_given(knowledge: Knowledge) -> None:
    referee = OfflineReferee(rules=COURSE, knowledge=knowledge, seed=8)
    player = OfflinePlayer(rules=COURSE, knowledge=knowledge, seed=8)
    for match_id in (f"01{n:02}001" for n in range(2)):
        brief = brief_of(referee.get_round_start_info(context(match_id)))
        questions = player.get_questions(context(match_id, **brief))["questions"]
        answers: Any = referee.get_answers(context(match_id, **brief, player_id="p", questions=questions))["answers"]
        guess: Any = player.get_guess(context(match_id, **brief, questions_sent=questions, answers=answers))
        stated = [f"Question {a['question_number']} was answered {a['answer']}" for a in answers]
        assert sum(guess["sentence_justification"].count(each) for each in stated) >= 3
        assert guess["sentence_justification"].count("Question ") == sum(
            guess["sentence_justification"].count(each) for each in stated
        )
        assert 30 <= len(guess["sentence_justification"].split()) <= 50
        assert 20 <= len(guess["word_justification"].split()) <= 30


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda r: r.name)
def test_two_players_with_seeds_of_their_own_ask_different_questions_and_both_win(
    rules: RuleSet, knowledge: Knowledge
) -> None:
    # If the sentence of a book is known, only questions about the word are left, and few of them tell something.
    rules = replace(rules, target_kind=TargetKind.PASSAGE_OPENING)
    referee = OfflineReferee(rules=rules, knowledge=knowledge, seed=11)
    start = referee.get_round_start_info(context())
    brief = brief_of(start)
    batches: list[list[str]] = []
    for seed in ("player-a", "player-b"):
        player = OfflinePlayer(rules=rules, knowledge=knowledge, seed=seed)
        questions: Any = player.get_questions(context(**brief))["questions"]
        batches.append([f"{question['question_text']} {question['options']}" for question in questions])
        answers = referee.get_answers(context(**brief, player_id=seed, questions=questions))["answers"]
        guess = player.get_guess(context(**brief, questions_sent=questions, answers=answers))
        assert guess["opening_sentence"] == start["actual_opening_sentence"]
        assert guess["associative_word"] == start["actual_associative_word"]
    one, other = batches
    assert len(set(one) & set(other)) <= 14
    assert sum(a == b for a, b in zip(one, other, strict=True)) <= 7
