"""A model that remembers openings of books which the player does not have, and one that invents them."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.remembered import (
    OPENINGS,
    STEPS,
    RememberingModel,
    half_of_the_openings,
    invented,
    memory_games,
    remembered,
    remembering_player,
)
from benchmarks.unknown_books import referee_of
from league_agents.kit.model_work import KEY

pytestmark = pytest.mark.usefixtures("slow_time")

KINDS = pytest.mark.parametrize(("rules", "step"), [("prd", "player_memory"), ("course", "player_questions")])
GAMES = 4


def context(**dynamic: Any) -> dict[str, Any]:
    return {"dynamic": {"match_id": "U0", **dynamic}, "service": {"match_id": "U0"}}


@KINDS
def test_a_model_that_remembers_half_of_the_openings_wins_those(rules: str, step: str) -> None:
    games = memory_games(rules, "remembers_half", step=step, games=GAMES)
    half = half_of_the_openings()
    assert 0 < sum(game.book_name in half for game in games) < GAMES
    for game in games:
        assert game.is_sentence_right == (game.book_name in half)
        assert game.confidence > 0.5 if game.book_name in half else game.confidence < 0.15


@KINDS
@pytest.mark.parametrize("memory", ["invents", "confuses"])
def test_a_model_that_is_wrong_about_openings_raises_no_confidence(rules: str, step: str, memory: str) -> None:
    games = memory_games(rules, memory, step=step, games=GAMES)
    assert max(game.confidence for game in games) < 0.15


@pytest.mark.parametrize("letter", [None, "D"])
@pytest.mark.parametrize("step", STEPS)
def test_a_remembered_sentence_that_no_answer_confirms_is_guessed_without_confidence(
    step: str, letter: str | None
) -> None:
    agent = remembering_player(OPENINGS["course"], RememberingModel(remembered, step))
    title = min(half_of_the_openings())
    brief = {"book_name": title, "book_hint": "", "association_word": "metal"}
    questions: Any = agent.get_questions(context(**brief))["questions"]
    answers = [{"question_number": q["question_number"], "answer": letter or "Not Relevant"} for q in questions]
    guess: Any = agent.get_guess(context(**brief, questions_sent=questions, answers=answers))
    assert guess["confidence"] < 0.15
    assert "not known" in guess["sentence_justification"]


def test_the_memory_is_shown_content_only_and_the_reply_says_what_the_model_did() -> None:
    model = RememberingModel(invented, "player_memory")
    agent = remembering_player(OPENINGS["course"], model)
    referee = referee_of(OPENINGS["course"], "held_out", is_other_make=False)
    start = referee.get_round_start_info(context())
    brief = {key: start[key] for key in ("book_name", "book_hint", "association_word")}
    secret = {key: start[key] for key in ("actual_opening_sentence", "actual_associative_word")}
    questions = agent.get_questions(context(**brief))["questions"]
    answers = referee.get_answers(context(**brief, **secret, player_id="p", questions=questions))["answers"]
    guess: Any = agent.get_guess(context(**brief, questions_sent=questions, answers=answers))
    (shown,) = model.prompts
    assert shown.purpose.step == "player_memory"
    assert "“I”, “he” and “she”" in shown.user
    assert "(1) the word “of”" not in shown.user
    steps = {step["step"]: (step["work"], step.get("why")) for step in guess[KEY]}
    assert steps == {"player_memory": ("replaced", "contradicted"), "player_justify": ("not_asked", "calls_spent")}
    assert "not known" in guess["sentence_justification"]
