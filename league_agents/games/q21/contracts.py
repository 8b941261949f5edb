"""What the eight callbacks of user code promise (protocol 6), as data and as checks.

Rule 1: a check returns every broken promise with its path, never only the first, and never raises.
Rule 2: a result is untrusted. No method of its values' own classes runs; nothing is compared or copied before its
size is known.
Rule 3: ``fatal_only`` leaves out what the rules repair or only charge for; what is left makes the result unusable.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from msgspec import Struct

from league_agents.games.q21.model import LETTERS, Choice, QuestionBatch
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.games.q21.untrusted import MOST_ITEMS
from league_agents.games.q21.words import limit_in_words

COMPONENTS = (
    "opening_sentence_score",
    "sentence_justification_score",
    "associative_word_score",
    "word_justification_score",
)
"""The keys of a score's ``breakdown``, in the order of ``Breakdown``."""


class CallbackSpec(Struct, frozen=True, kw_only=True):
    """One callback as user code is told about it in ``ctx["service"]``."""

    name: str
    """The method: ``get_answers``."""

    service_name: str
    description: str
    required_output_fields: tuple[str, ...]
    timeout: timedelta

    def service(self, *, left: timedelta | None = None) -> dict[str, object]:
        """The four keys of ``ctx["service"]``. ``left`` is what remains to the message's deadline, if there is one."""
        timeout = self.timeout if left is None else min(self.timeout, left)
        return {
            "name": self.service_name,
            "description": self.description,
            "required_output_fields": list(self.required_output_fields),
            "deadline_seconds": max(1, int(timeout.total_seconds())),
        }


def callback_specs(rules: RuleSet) -> Mapping[str, CallbackSpec]:
    """The eight callbacks under these rules, by method name, the referee's first."""
    least, most = rules.hint_characters
    key = _key_text(rules)
    texts = {
        "get_warmup_question": (
            "warmup_question: Ask one short question of any kind, to see that both players are there."
        ),
        "get_round_start_info": (
            "round_start_info: Choose the secret target; tell the book's name, a hint of "
            f"{least} to {most} characters and at most {rules.hint_most_words} words, and the domain of the word."
        ),
        "get_answers": f"answers: Answer each question of one player with A, B, C, D or Not Relevant. {key}",
        "get_score_feedback": (
            "score_feedback: Score one guess: points 0 to 3, private score 0 to 100, four component scores and two "
            f"feedback texts of {limit_in_words(rules.feedback)}."
        ),
        "get_warmup_answer": "warmup_answer: Answer the referee's warm-up question.",
        "get_questions": f"questions: Ask exactly {rules.questions_required} questions with four options each. {key}",
        "get_guess": (
            "guess: Guess the opening sentence and the associative word; justify them in "
            f"{limit_in_words(rules.sentence_justification)} and in {limit_in_words(rules.word_justification)}."
        ),
        "on_score_received": "score_notification: The score of this game. Nothing is returned.",
    }
    return {
        name: CallbackSpec(
            name=name,
            service_name=text.partition(": ")[0],
            description=text.partition(": ")[2],
            required_output_fields=_REQUIRED[name],
            timeout=getattr(rules.callback_timeouts, name),
        )
        for name, text in texts.items()
    }


_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "get_warmup_question": ("warmup_question",),
    "get_round_start_info": ("book_name", "book_hint", "association_word"),
    "get_answers": ("answers",),
    "get_score_feedback": ("league_points", "private_score", "breakdown", "feedback"),
    "get_warmup_answer": ("answer",),
    "get_questions": ("questions",),
    "get_guess": (
        "opening_sentence", "sentence_justification", "associative_word", "word_justification", "confidence",
    ),
    "on_score_received": (),
}  # fmt: skip


def _key_text(rules: RuleSet) -> str:
    if rules.answer_key is AnswerKey.OWN:
        return "The letters stand for the options that the player wrote."
    return (
        "The letters stand for "
        + ", ".join(f"{a} {b}" for a, b in zip(LETTERS, rules.fixed_options, strict=True))
        + "."
    )


def answers_most(questions: QuestionBatch) -> int:
    """How many answers are looked at."""
    return max(MOST_ITEMS, 2 * len(questions))


CHOICES: Mapping[str, Choice] = MappingProxyType({choice.value: choice for choice in Choice})
"""The five answers, by their only spelling."""
