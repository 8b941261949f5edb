"""The agent interface: two classes with four methods each.

A runner uses nothing else of an agent, so any object with these methods works, whether or not it inherits from these
classes, and these agents work under any other runner that calls the same eight methods (protocol 6).

A reply may state under ``model_work`` how it used the work of language models (``kit.model_work``). The entry is shown
to the operator of the agent, is sent to nobody and changes nothing. So may a player's guess state the number of
candidates after each answer, under ``candidates_left`` (``kit.candidates_left``): the match's page shows it.

Each method gets one dict ``{"dynamic": {…}, "service": {…}}`` of JSON values. ``dynamic`` is the match as this side
may know it; ``service`` names the call, the required reply fields and the seconds left. The methods of one instance
are never called concurrently, and one referee instance judges one match after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

Context = Mapping[str, object]
"""``{"dynamic": Mapping[str, object], "service": Mapping[str, object]}``."""

Reply = Mapping[str, object]

REFEREE_CALLBACKS = ("get_warmup_question", "get_round_start_info", "get_answers", "get_score_feedback")
PLAYER_CALLBACKS = ("get_warmup_answer", "get_questions", "get_guess", "on_score_received")


class RefereeAI(ABC):
    """Chooses the target, answers the questions, scores the guesses."""

    @abstractmethod
    def get_warmup_question(self, ctx: Context) -> Reply:
        """``{"warmup_question": str}``, at least five characters. Called once a match."""

    @abstractmethod
    def get_round_start_info(self, ctx: Context) -> Reply:
        """``{"book_name": str, "book_hint": str, "association_word": str}``; the last is the *domain* of the secret
        word.

        A referee may add ``actual_opening_sentence`` and ``actual_associative_word``. They are stored on this side
        only and handed back to ``get_answers`` and ``get_score_feedback``, so a match survives a restart of the
        process.
        """

    @abstractmethod
    def get_answers(self, ctx: Context) -> Reply:
        """``{"answers": [{"question_number": int, "answer": "A" | "B" | "C" | "D" | "Not Relevant"}, …]}``."""

    @abstractmethod
    def get_score_feedback(self, ctx: Context) -> Reply:
        """``{"league_points": 0..3, "private_score": 0..100, "breakdown": {…}, "feedback": {…}}``."""


class PlayerAI(ABC):
    """Asks twenty questions, then guesses the sentence and the word."""

    @abstractmethod
    def get_warmup_answer(self, ctx: Context) -> Reply:
        """``{"answer": str}``."""

    @abstractmethod
    def get_questions(self, ctx: Context) -> Reply:
        """``{"questions": [{"question_number": int, "question_text": str, "options": {"A": str, …, "D": str}},
        …]}``."""

    @abstractmethod
    def get_guess(self, ctx: Context) -> Reply:
        """``{"opening_sentence", "sentence_justification", "associative_word", "word_justification",
        "confidence"}``."""

    @abstractmethod
    def on_score_received(self, ctx: Context) -> None:
        """Called when the match is over for this player. The return value is ignored."""
