"""One match by direct calls, read and repaired exactly as the league's machines do.

Rule: a callback that fails is asked once more where the league does so, then replaced; the match goes on, or it is
aborted as in the league.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from league_agents.core.draw import Draw
from league_agents.evaluation.conduct import Participant
from league_agents.evaluation.noise import with_noise
from league_agents.evaluation.table import Context, Table
from league_agents.games.q21.model import (
    UNSCORED,
    AnswerBatch,
    Brief,
    Guess,
    QuestionBatch,
    Scorecard,
    Target,
)
from league_agents.games.q21.reading_player import read_guess, read_questions, read_warmup_answer
from league_agents.games.q21.reading_referee import (
    answers_for,
    read_answers,
    read_round_start_info,
    read_scorecard,
    read_warmup_question,
)
from league_agents.games.q21.remarks import ReadResult

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One player's game in a match."""

    questions: QuestionBatch
    answers: AnswerBatch
    """As the player got them."""

    guess: Guess
    card: Scorecard


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One match that came to its end."""

    brief: Brief
    target: Target | None
    """``None`` when the referee keeps it to itself, or a part of it."""

    runs: tuple[Run, Run]
    """Player 1 first."""


def play_match(
    table: Table, referee: Participant, players: tuple[Participant, Participant], *, noise: float, noise_draw: Draw
) -> Played | None:
    """One match; ``None`` when the referee could not start it. ``noise`` is the share of answers made wrong."""
    rules = table.rules
    question = referee.ask(
        "get_warmup_question", table.for_warmup_question(), lambda result: read_warmup_question(result, rules)
    )
    table.asked_to_warm_up(question)
    warm = [
        player.ask("get_warmup_answer", table.for_player("get_warmup_answer", place), read_warmup_answer)
        for place, player in enumerate(players)
    ]
    table.warmed_up(question, (warm[0], warm[1]))
    start = twice(
        referee, "get_round_start_info", table.for_round_start, lambda result: read_round_start_info(result, rules)
    )
    if start is None:
        return None
    brief, target = start
    table.started(brief, target)
    for place, player in enumerate(players):
        context = table.for_player("get_questions", place)
        table.questioned(place, player.ask("get_questions", context, lambda result: read_questions(result, rules)))
    questions = tuple(table.questions(place) for place in (0, 1))
    for place in (0, 1):
        table.answered(place, with_noise(answered(table, referee, place), questions[place], rules, noise, noise_draw))
    guesses = []
    for place, player in enumerate(players):
        context = table.for_player("get_guess", place)
        guesses.append(player.ask("get_guess", context, lambda result: read_guess(result, rules, brief)))
        table.guessed(place, guesses[place])
    runs = []
    for place, player in enumerate(players):
        card = scored(table, referee, table.for_score(place)) or UNSCORED
        player.ask("on_score_received", table.for_player("on_score_received", place, card), ReadResult)
        runs.append(Run(questions=questions[place], answers=table.answers(place), guess=guesses[place], card=card))
    is_whole = target is not None and target.opening_sentence and target.associative_word
    return Played(brief=brief, target=target if is_whole else None, runs=(runs[0], runs[1]))


def answered(table: Table, referee: Participant, place: int, questions: QuestionBatch | None = None) -> AnswerBatch:
    """The referee's answers to a player, or to other ``questions`` in its place."""
    batch = table.questions(place) if questions is None else questions
    found = twice(
        referee,
        "get_answers",
        lambda: table.for_answers(place, questions),
        lambda result: read_answers(result, batch, table.rules),
    )
    return answers_for(batch) if found is None else found


def scored(table: Table, referee: Participant, context: Context) -> Scorecard | None:
    """The referee's score; ``None`` when it gave none that can be used."""
    return twice(
        referee, "get_score_feedback", lambda: context, lambda result: read_scorecard(result, table.rules)
    )


def twice(
    referee: Participant,
    callback: str,
    context: Callable[[], Context],
    read: Callable[[object], ReadResult[T | None]],
) -> T | None:
    """What the callback gave at the first or at the second attempt."""
    for _ in (1, 2):
        found = referee.ask(callback, context(), read)
        if found is not None:
            return found
    return None
