"""Lost games can be read: the truth of every answer, and when the target was lost."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from league_agents.agents.base import Context, Reply
from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.cli.lost_games_screen import course_in_words, lost_game_pages
from league_agents.evaluation.bits import TargetStanding
from league_agents.evaluation.casting import Cast
from league_agents.evaluation.lost_games import AnswerMark, Course, LostGame, course_of
from league_agents.evaluation.player_games import PlayerSeries
from league_agents.evaluation.playing import Run
from league_agents.games.q21.rules import COURSE
from league_agents.kit.values import evolve

LIES, SILENCES = 4, 9
"""Numbers of questions."""


class Careless(OfflinePlayer):
    """Asks like the offline player and guesses nothing of use."""

    def get_guess(self, ctx: Context) -> Reply:
        return {**super().get_guess(ctx), "opening_sentence": "It was raining.", "associative_word": "umbrella"}


class Unreliable(OfflineReferee):
    """Answers one question of every batch wrong and declines another one."""

    def get_answers(self, ctx: Context) -> Reply:
        answers = [dict(each) for each in super().get_answers(ctx)["answers"]]
        for each in answers:
            if each["question_number"] == LIES:
                each["answer"] = "A" if each["answer"] == "B" else "B"
            if each["question_number"] == SILENCES:
                each["answer"] = "Not Relevant"
        return {"answers": answers}


@pytest.fixture
def lost(knowledge: Knowledge, cast_of: Callable[..., Cast]) -> Callable[..., LostGame]:
    def play(noise: float = 0.0) -> LostGame:
        found: list[LostGame] = []
        series = PlayerSeries(rules=COURSE, knowledge=knowledge, noise=noise, seed=1, lost=found.append)
        careless = Careless(rules=COURSE, knowledge=knowledge, seed="careless")
        referee = Unreliable(rules=COURSE, knowledge=knowledge, seed="referee")
        series.play(2, cast_of(COURSE, 2, player=careless, referee=referee))
        (game,) = found
        return game

    return play


def test_wrong_and_declined_answers_are_marked_with_the_truth(lost: Callable[..., LostGame]) -> None:
    marks = {each.number: each for each in lost().answers}
    assert marks[LIES].mark is AnswerMark.WRONG
    assert marks[LIES].truth not in (None, marks[LIES].answer)
    assert (marks[SILENCES].mark, marks[SILENCES].answer) == (AnswerMark.DECLINED, "Not Relevant")
    assert marks[SILENCES].truth is not None
    others = [each for number, each in marks.items() if number not in (LIES, SILENCES)]
    assert {each.mark for each in others} == {AnswerMark.RIGHT}
    assert all(each.answer == each.given == each.truth for each in others)


def test_an_answer_that_the_noise_changed_is_not_held_against_the_referee(lost: Callable[..., LostGame]) -> None:
    noisy = [each for each in lost(noise=0.2).answers if each.mark is AnswerMark.NOISE]
    assert noisy
    assert all(each.answer != each.given for each in noisy)


def test_the_place_of_the_true_opening_is_told_after_every_answer(lost: Callable[..., LostGame]) -> None:
    opening = lost().opening
    assert opening is not None
    assert opening.first > 1
    assert opening.last == 1
    assert len(opening.places) == 20
    assert opening.lost_at is None


@pytest.mark.parametrize(
    ("standings", "wanted"),
    [
        ([(3, 4.0), (1, 1.0), (2, 2.0), (1, 0.5)], None),
        ([(3, 4.0), (1, 1.0), (2, 2.0), (4, 9.0)], 2),  # the first place was lost by answer 2
        ([(9, 4.0), (8, 3.5), (9, 4.5), (9, 4.6)], 2),  # never first: the answer that lowered it most
        ([(9, 4.0), (8, 3.5), (7, 3.0), (2, 1.0)], None),  # nothing lowered it
    ],
)
def test_the_answer_that_lost_the_opening_is_named(standings: list[tuple[int, float]], wanted: int | None) -> None:
    run = cast(Run, SimpleNamespace(questions=[SimpleNamespace(number=number) for number in (1, 2, 3)]))
    assert course_of(run, [TargetStanding(*each) for each in standings], 9).lost_at == wanted


def test_a_page_has_the_guess_the_points_and_a_line_below_each_faulty_answer(lost: Callable[..., LostGame]) -> None:
    game = lost()
    screen = Console(width=112, record=True, file=StringIO())
    for part in lost_game_pages([game], COURSE):
        screen.print(part)
    page = " ".join(screen.export_text().split())
    assert f"seat {game.seat}" in page
    assert "It was raining." in page
    assert "player found neither the sentence nor the word" in page
    truth: Any = {each.number: each.truth for each in game.answers}
    assert "the referee was wrong" in page
    assert f"declined; true is {truth[SILENCES]}" in page
    assert "they told enough to find it" in page


def test_a_place_that_was_the_first_all_the_time_was_not_found_by_the_answers(lost: Callable[..., LostGame]) -> None:
    always = Course(candidates=9, first=1, places=(1, 1), lost_at=None)
    later = Course(candidates=9, first=1, places=(3, 1), lost_at=None)
    said = course_in_words(evolve(lost(), opening=always, word=later))
    assert said == (
        "The true opening was number 1 of 9 by the brief alone and after all answers: they never cost it that place."
        " The true word was number 1 of 9 by the brief alone and after all answers: for a while they"
        " cost it that place."
    )
