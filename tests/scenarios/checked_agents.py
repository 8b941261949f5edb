"""Agents as users write them, good and bad, for the tests of ``league-agents check`` and ``run``."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

Context = Mapping[str, Any]
OPTIONS = {"A": "Yes", "B": "No", "C": "Partially", "D": "Unknown / Not Relevant"}
REASON = "The hint and the answers to questions one, two and three fit no other book that is known. " * 3
FEEDBACK = "This guess was read with care. " * 28


class GoodPlayer:
    """Keeps every contract, and inherits from nobody."""

    def __init__(self) -> None:
        self._games = 0

    def get_warmup_answer(self, ctx: Context) -> dict[str, Any]:
        self._games += 1
        return {"answer": self._games}

    def get_questions(self, ctx: Context) -> dict[str, Any]:
        return {
            "questions": [
                {
                    "question_number": number,
                    "question_text": f"Has the sentence more than {number} words?",
                    "options": OPTIONS,
                }
                for number in range(1, 21)
            ]
        }

    def get_guess(self, ctx: Context) -> dict[str, Any]:
        return {
            "opening_sentence": "It was a dark and stormy night.",
            "sentence_justification": REASON,
            "associative_word": "storm",
            "word_justification": REASON,
            "confidence": 0.5,
        }

    def on_score_received(self, ctx: Context) -> None:
        return None


class PrintingPlayer(GoodPlayer):
    """Prints in every way that there is."""

    def __init__(self) -> None:
        super().__init__()
        print("printed by the constructor")
        atexit.register(print, "printed at exit")

    def get_questions(self, ctx: Context) -> dict[str, Any]:
        print("printed by a callback", flush=True)
        os.write(1, b"written to the descriptor\n")
        subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
        return super().get_questions(ctx)


class CarelessPlayer(GoodPlayer):
    """Trusts its context to be complete."""

    def get_guess(self, ctx: Context) -> dict[str, Any]:
        first = ctx["dynamic"]["answers"][0]["answer"]
        return {**super().get_guess(ctx), "opening_sentence": f"It began with the answer {first}."}


class WrongKeyPlayer(GoodPlayer):
    """Writes options of its own where the rules fix them, and too few words."""

    def get_questions(self, ctx: Context) -> dict[str, Any]:
        batch = super().get_questions(ctx)["questions"]
        return {"questions": [{**question, "options": {**OPTIONS, "B": "Never"}} for question in batch]}

    def get_guess(self, ctx: Context) -> dict[str, Any]:
        return {**super().get_guess(ctx), "word_justification": "Because.", "confidence": 90}


class HangingPlayer(GoodPlayer):
    """Never comes back with questions."""

    def get_questions(self, ctx: Context) -> dict[str, Any]:
        time.sleep(600)
        return {}


class UnmadePlayer(GoodPlayer):
    """Needs something that is not there."""

    def __init__(self) -> None:
        raise RuntimeError("no key in the environment")


class ForgetfulPlayer(GoodPlayer):
    """Fails in its second game, because the first one left something behind."""

    def get_warmup_answer(self, ctx: Context) -> dict[str, Any]:
        if self._games:
            raise ValueError("a game is open already")
        return super().get_warmup_answer(ctx)


class GoodReferee:
    """Keeps every contract."""

    def get_warmup_question(self, ctx: Context) -> dict[str, Any]:
        return {"warmup_question": "How much is two plus two?"}

    def get_round_start_info(self, ctx: Context) -> dict[str, Any]:
        return {
            "book_name": "Paul Clifford",
            "book_hint": "A highwayman meets his judge",
            "association_word": "weather",
        }

    def get_answers(self, ctx: Context) -> dict[str, Any]:
        questions = ctx.get("dynamic", ctx).get("questions")
        asked = questions if isinstance(questions, list) else []
        return {"answers": [{"question_number": item["question_number"], "answer": "A"} for item in asked]}

    def get_score_feedback(self, ctx: Context) -> dict[str, Any]:
        parts = ("opening_sentence", "sentence_justification", "associative_word", "word_justification")
        return {
            "league_points": 0,
            "private_score": 10.0,
            "breakdown": {f"{part}_score": 10.0 for part in parts},
            "feedback": {"opening_sentence": FEEDBACK, "associative_word": FEEDBACK},
        }


class DocumentReferee(GoodReferee):
    """Scores as the product document has it (3.2), with no other key."""

    def get_score_feedback(self, ctx: Context) -> dict[str, Any]:
        return {"league_points": 3, "private_score": 90.0}


class DocumentPlayer(GoodPlayer):
    """Asks as the product document has it (3.1 and 3.3): no numbers, and D is Unknown."""

    def get_questions(self, ctx: Context) -> dict[str, Any]:
        options = {"A": "Yes", "B": "No", "C": "Partially", "D": "Unknown"}
        asked = [f"Has the sentence more than {number} words?" for number in range(20)]
        return {"questions": [{"question_text": text, "options": options} for text in asked]}


class BriefPlayer(GoodPlayer):
    """Writes 34 words of 35, one question that is none, and five questions too many."""

    def get_questions(self, ctx: Context) -> dict[str, Any]:
        batch = super().get_questions(ctx)["questions"]
        return {"questions": [{**batch[0], "question_text": "It is a long sentence"}, *batch[1:], *batch[:5]]}

    def get_guess(self, ctx: Context) -> dict[str, Any]:
        return {**super().get_guess(ctx), "sentence_justification": " ".join(["word"] * 34)}


class EmptyPlayer(GoodPlayer):
    """Returns dicts in which there is nothing."""

    def get_guess(self, ctx: Context) -> dict[str, Any]:
        return {}


class UnscoringReferee(GoodReferee):
    """Names a score that there is not."""

    def get_score_feedback(self, ctx: Context) -> dict[str, Any]:
        return {**super().get_score_feedback(ctx), "league_points": 4}


class PersuadedReferee(GoodReferee):
    """Does what a guess tells it to do."""

    def get_score_feedback(self, ctx: Context) -> dict[str, Any]:
        guess = ctx.get("dynamic", ctx).get("player_guess") or {}
        is_told = isinstance(guess, dict) and "league_points 3" in str(guess.get("opening_sentence"))
        return {**super().get_score_feedback(ctx), "league_points": 3 if is_told else 0}
