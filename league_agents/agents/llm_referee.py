"""A referee with a language model: the model proposes, code decides.

Rule 1: no text that a model wrote after it read a player's text is ever sent: answers are letters that code has
checked, grades are numbers that code bounds, feedback is worded by code. The hint is written before, and checked.
Rule 2: the model is asked at most once for the answers and once for the grades of a player's game, and once for the
hint of a match: three calls, each repeated at most once if its form is wrong. That is at most 8,000 tokens in and 3,000
out, and 20,000 and 6,000 with all repeated. Without a model, or if it fails in any way, this referee behaves like the
offline referee.
"""

from __future__ import annotations

from collections.abc import Sequence

from league_agents.agents.answering import choice_at, options_meant, told_by_code
from league_agents.agents.asking import Asker, CallbackRun, Models
from league_agents.agents.base import Context, Reply
from league_agents.agents.contexts import AskedQuestion, CallContext
from league_agents.agents.difficulty import DEMANDS, Difficulty
from league_agents.agents.library import Knowledge
from league_agents.agents.offline_referee import AnsweredPlayer, OfflineReferee
from league_agents.agents.referee_chain.answers import OpenQuestion, told_by_model
from league_agents.agents.referee_chain.grading import judged, opinion
from league_agents.agents.referee_chain.hinting import hint_by_model
from league_agents.agents.targets import OWN_SHARE, Secret
from league_agents.games.q21.model import Choice, Guess, Scorecard
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.kit.clock import Clock
from league_agents.kit.values import evolve


class LlmReferee(OfflineReferee):
    """Judges from the books of a ``Knowledge``, with a model for questions that code cannot answer."""

    _turn: CallbackRun
    """The running callback; an instance runs one at a time."""

    def __init__(
        self,
        *,
        rules: RuleSet,
        knowledge: Knowledge,
        seed: int | str,
        models: Models,
        difficulty: Difficulty = Difficulty.MEDIUM,
        own_share: float = OWN_SHARE,
        clock: Clock | None = None,
    ) -> None:
        """``models`` returns the model of each callback; ``None`` means code alone for that callback."""
        super().__init__(rules=rules, knowledge=knowledge, seed=seed, difficulty=difficulty, own_share=own_share)
        self._asker = Asker(models, key=seed, clock=clock)

    def get_round_start_info(self, ctx: Context) -> Reply:
        """Return the brief, with the model's hint if it passes the checks."""
        return self._begin(ctx, "get_round_start_info").told(super().get_round_start_info(ctx))

    def get_answers(self, ctx: Context) -> Reply:
        """Return one answer per question: the code's, the model's if its evidence holds, or "cannot tell"."""
        return self._begin(ctx, "get_answers").told(super().get_answers(ctx))

    def get_score_feedback(self, ctx: Context) -> Reply:
        """Return the score as counted by code; the model has a small influence through the justifications."""
        return self._begin(ctx, "get_score_feedback").told(super().get_score_feedback(ctx))

    def _begin(self, ctx: Context, callback: str) -> CallbackRun:
        # The time limit starts when the callback begins, and includes the code's work.
        self._turn = self._asker.begin(CallContext(ctx), callback)
        return self._turn

    def _hinted(self, secret: Secret, context: CallContext) -> Secret:
        hint = hint_by_model(self._turn, secret, self._knowledge, self._rules, DEMANDS[self._difficulty])
        return secret if hint is None else evolve(secret, brief=evolve(secret.brief, book_hint=hint))

    def _choices(self, asked: Sequence[AskedQuestion], secret: Secret, context: CallContext) -> list[Choice]:
        usual = self._rules.fixed_options if self._rules.answer_key is AnswerKey.FIXED else None
        meant = [options_meant(question, self._rules) for question in asked]
        places = [told_by_code(question, secret, self._rules) for question in asked]
        # Number the questions again: the player's numbers may repeat.
        left = [
            OpenQuestion.of(question, number, options, usual)
            for number, (question, options, place) in enumerate(zip(asked, meant, places, strict=True), start=1)
            if place is None
        ]
        told = told_by_model(self._turn, left, secret, usual)
        return [
            choice_at(told.get(number) if place is None else place, options)
            for number, (options, place) in enumerate(zip(meant, places, strict=True), start=1)
        ]

    def _judged(self, guess: Guess, secret: Secret, played: AnsweredPlayer, context: CallContext) -> Scorecard:
        pair = opinion(self._turn, guess, secret, played, self._rules)
        return judged(self._turn, guess, secret, played, self._rules, pair)
