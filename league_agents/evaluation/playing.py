"""One match by direct calls, read and repaired exactly as the league's machines do.

Rule: a callback that fails is asked once more where the league does so, then replaced; the match goes on, or it is
aborted as in the league.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from league_agents.core.draw import Draw
from league_agents.core.violation import Violation
from league_agents.errors import CallbackInvalid
from league_agents.evaluation.conduct import Participant
from league_agents.evaluation.noise import with_noise
from league_agents.evaluation.table import Context, Table
from league_agents.games.q21.contracts import (
    check_answers,
    check_guess,
    check_questions,
    check_round_start_info,
    check_score_feedback,
    check_warmup_answer,
    check_warmup_question,
)
from league_agents.games.q21.model import (
    UNSCORED,
    AnswerBatch,
    Brief,
    Guess,
    QuestionBatch,
    Scorecard,
    Target,
)
from league_agents.games.q21.reading import (
    answers_for,
    read_answers,
    read_round_start_info,
    read_scorecard,
    read_warmup_answer,
    read_warmup_question,
    repair_guess,
    repair_questions,
)
from league_agents.games.q21.rules import RuleSet

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
    asked = referee.ask(
        "get_warmup_question", table.for_warmup_question(), lambda result: check_warmup_question(result, rules)
    )
    question = read_warmup_question(asked, rules)
    table.asked_to_warm_up(question)
    warm = [
        read_warmup_answer(
            player.ask(
                "get_warmup_answer",
                table.for_player("get_warmup_answer", place),
                lambda result: check_warmup_answer(result, rules),
            )
        )
        for place, player in enumerate(players)
    ]
    table.warmed_up(question, (warm[0], warm[1]))
    start = twice(
        referee,
        "get_round_start_info",
        table.for_round_start,
        lambda result: check_round_start_info(result, rules),
        lambda result: _read_start(result, rules),
    )
    if start is None:
        return None
    brief, target = start
    table.started(brief, target)
    for place, player in enumerate(players):
        batch = player.ask(
            "get_questions", table.for_player("get_questions", place), lambda result: check_questions(result, rules)
        )
        table.questioned(place, repair_questions(batch, rules))
    questions = tuple(table.questions(place) for place in (0, 1))
    for place in (0, 1):
        table.answered(place, with_noise(answered(table, referee, place), questions[place], rules, noise, noise_draw))
    guesses = []
    for place, player in enumerate(players):
        guess = player.ask("get_guess", table.for_player("get_guess", place), lambda result: check_guess(result, rules))
        guesses.append(repair_guess(guess, rules, brief))
        table.guessed(place, guesses[place])
    runs = []
    for place, player in enumerate(players):
        card = scored(table, referee, table.for_score(place)) or UNSCORED
        player.ask("on_score_received", table.for_player("on_score_received", place, card))
        runs.append(Run(questions=questions[place], answers=table.answers(place), guess=guesses[place], card=card))
    is_whole = target is not None and target.opening_sentence and target.associative_word
    return Played(brief=brief, target=target if is_whole else None, runs=(runs[0], runs[1]))


def _read_start(result: object, rules: RuleSet) -> tuple[Brief, Target | None]:
    brief, target = read_round_start_info(result, rules)
    if not (brief.book_name.strip() and brief.book_hint.strip() and brief.association_domain.strip()):
        raise CallbackInvalid("get_round_start_info: book_name, book_hint and association_word must not be empty")
    return brief, target


def answered(table: Table, referee: Participant, place: int, questions: QuestionBatch | None = None) -> AnswerBatch:
    """The referee's answers to a player, or to other ``questions`` in its place."""
    batch = table.questions(place) if questions is None else questions
    found = twice(
        referee,
        "get_answers",
        lambda: table.for_answers(place, questions),
        lambda result: check_answers(result, batch, table.rules),
        lambda result: read_answers(result, batch, table.rules),
    )
    return answers_for(batch) if found is None else found


def scored(table: Table, referee: Participant, context: Context) -> Scorecard | None:
    """The referee's score; ``None`` when it gave none that can be used."""
    return twice(
        referee,
        "get_score_feedback",
        lambda: context,
        lambda result: check_score_feedback(result, table.rules),
        lambda result: read_scorecard(result, table.rules),
    )


def twice(
    referee: Participant,
    callback: str,
    context: Callable[[], Context],
    check: Callable[[object], list[Violation]],
    read: Callable[[object], T],
) -> T | None:
    """What the callback gave at the first or at the second attempt."""
    for _ in (1, 2):
        result = referee.ask(callback, context(), check)
        if result is None:
            continue
        try:
            return read(result)
        except CallbackInvalid as invalid:
            referee.fell_back(callback, str(invalid))
    return None
