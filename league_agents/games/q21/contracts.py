"""What the eight callbacks of user code promise (protocol 6), as data and as checks.

Rule 1: a check returns every broken promise with its path, never only the first, and never raises.
Rule 2: a result is untrusted. No method of its values' own classes runs; nothing is compared or copied before its
size is known.
Rule 3: ``fatal_only`` leaves out what the rules repair or only charge for; what is left makes the result unusable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from league_agents.core.violation import Violation, shown
from league_agents.games.q21.model import LETTERS, Choice, QuestionBatch
from league_agents.games.q21.rules import AnswerKey, RuleSet, WordLimit
from league_agents.games.q21.similarity import fold
from league_agents.games.q21.untrusted import MOST_ITEMS, field_of, integer_of, is_kind, items_of, number_of, text_of
from league_agents.games.q21.words import MOST_CHARACTERS, count_tokens, count_words, is_within, limit_in_words

COMPONENTS = (
    "opening_sentence_score",
    "sentence_justification_score",
    "associative_word_score",
    "word_justification_score",
)
"""The keys of a score's ``breakdown``, in the order of ``Breakdown``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackSpec:
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


def check_warmup_question(
    result: object,
    rules: RuleSet,  # noqa: ARG001
    *,
    fatal_only: bool = False,
) -> list[Violation]:
    """Protocol 6.1, ``{"warmup_question": str}``."""
    found = _Findings(fatal_only)
    if found.is_dict(result):
        text = found.text(result, "warmup_question", "6.1")
        if text is not None and not 5 <= len(text) <= 1000:
            found.fatal("warmup_question", "5 to 1000 characters (protocol 6.1)", f"{len(text)} characters")
    return found.list


def check_round_start_info(result: object, rules: RuleSet, *, fatal_only: bool = False) -> list[Violation]:
    """Protocol 6.1, ``{"book_name", "book_hint", "association_word"}`` and optionally the target itself."""
    found = _Findings(fatal_only)
    if not found.is_dict(result):
        return found.list
    for key in ("book_name", "association_word"):
        text = found.text(result, key, "6.1")
        if text is not None and not text.strip():
            found.mild(key, "a text that is not empty (protocol 6.1)", shown(text))
        elif text is not None and len(text) > 1000:
            found.fatal(key, "at most 1000 characters", f"{len(text)} characters")
    hint = found.text(result, "book_hint", "6.1")
    least, most = rules.hint_characters
    if hint is not None and not least <= len(hint) <= most:
        found.fatal("book_hint", f"{least} to {most} characters (protocol 6.1)", f"{len(hint)} characters")
    if hint is not None and count_tokens(hint) > rules.hint_most_words:
        rule = f"at most {rules.hint_most_words} words (protocol 4.4.3)"
        found.mild("book_hint", rule, f"{count_tokens(hint)} words")
    _check_target(result, hint, found)
    return found.list


def _check_target(result: object, hint: str | None, found: _Findings) -> None:
    for key in ("actual_opening_sentence", "actual_associative_word"):
        value = field_of(result, key)
        if value is not None and not (text_of(value) or "").strip():
            found.mild(key, "a text that is not empty, or absent (it is stored on this side only)", shown(value))
    sentence = text_of(field_of(result, "actual_opening_sentence"))
    if hint and sentence:
        shared = {word for word in fold(hint).split() if len(word) >= 4} & set(fold(sentence).split())
        if shared:
            rule = "words that do not occur in the secret text (protocol 4.4.3)"
            found.mild("book_hint", rule, shown(", ".join(sorted(shared))))


def check_answers(
    result: object,
    questions: QuestionBatch,
    rules: RuleSet,  # noqa: ARG001
    *,
    fatal_only: bool = False,
) -> list[Violation]:
    """Protocol 6.1, ``{"answers": [{"question_number", "answer"}, …]}`` for the questions that were asked."""
    found = _Findings(fatal_only)
    items = found.list_at(result, "answers", "6.1", answers_most(questions)) if found.is_dict(result) else None
    if items is None:
        return found.list
    if not items:
        found.fatal("answers", "a list with an answer to each question (protocol 6.1)", "an empty list")
    asked = {question.number for question in questions}
    answered: set[int] = set()
    for i, item in enumerate(items):
        path = f"answers[{i}]"
        if not found.is_dict(item, path):
            continue
        number = integer_of(field_of(item, "question_number"))
        if number is None or number < 1:
            rule = "a whole number from 1, no boolean (protocol 6.1)"
            found.fatal(f"{path}.question_number", rule, shown(field_of(item, "question_number")))
        elif number in answered:
            found.mild(
                f"{path}.question_number", "different from the earlier ones: the first answer counts", str(number)
            )
        elif number not in asked:
            found.mild(f"{path}.question_number", "the number of a question that was asked", str(number))
        else:
            answered.add(number)
        if text_of(field_of(item, "answer")) not in CHOICES:
            rule = "exactly one of A, B, C, D, Not Relevant (protocol 4.4.5)"
            found.fatal(f"{path}.answer", rule, shown(field_of(item, "answer")))
    missing = sorted(asked - answered)
    if items and missing:
        named = ", ".join(map(str, missing[:20])) + (" …" if len(missing) > 20 else "")
        found.mild("answers", f"one answer to each of the {len(asked)} questions (protocol 6.1)", f"none to {named}")
    return found.list


def check_score_feedback(result: object, rules: RuleSet, *, fatal_only: bool = False) -> list[Violation]:
    """Protocol 6.1, points, private score, four components and two feedback texts."""
    found = _Findings(fatal_only)
    if not found.is_dict(result):
        return found.list
    points = integer_of(field_of(result, "league_points"))
    if points is None or not 0 <= points <= 3:
        found.fatal(
            "league_points", "a whole number from 0 to 3 (protocol 6.1)", shown(field_of(result, "league_points"))
        )
    private = number_of(field_of(result, "private_score"))
    if private is None or not 0 <= private <= 100:
        found.fatal("private_score", "a number from 0 to 100 (protocol 6.1)", shown(field_of(result, "private_score")))
    breakdown = field_of(result, "breakdown")
    if found.is_dict(breakdown, "breakdown"):
        for key in COMPONENTS:
            number = number_of(field_of(breakdown, key))
            path = f"breakdown.{key}"
            if number is None:
                found.fatal(path, "a number from 0 to 100 (protocol 6.1)", shown(field_of(breakdown, key)))
            elif not 0 <= number <= 100:
                found.mild(path, "a number from 0 to 100 (protocol 4.4.7)", f"{number:g}")
    feedback = field_of(result, "feedback")
    if found.is_dict(feedback, "feedback"):
        for key in ("opening_sentence", "associative_word"):
            text = found.text(feedback, key, "6.1", path=f"feedback.{key}")
            if text is not None:
                found.words(f"feedback.{key}", text, rules.feedback, "6.1")
    return found.list


def check_warmup_answer(result: object, rules: RuleSet, *, fatal_only: bool = False) -> list[Violation]:  # noqa: ARG001
    """Protocol 6.2, ``{"answer": str}``; numbers are converted. Nothing here is fatal: the answer is then "0"."""
    found = _Findings(fatal_only, all_mild=True)
    if found.is_dict(result):
        value = field_of(result, "answer")
        text = text_of(value)
        if (text is None or not text.strip() or len(text) > 1000) and number_of(value) is None:
            found.mild("answer", "a text of 1 to 1000 characters or a number (protocol 6.2)", shown(value))
    return found.list


def check_questions(result: object, rules: RuleSet, *, fatal_only: bool = False) -> list[Violation]:
    """Protocol 6.2, exactly the required number of questions. Nothing here is fatal: questions are repaired."""
    found = _Findings(fatal_only, all_mild=True)
    required = rules.questions_required
    items = found.list_at(result, "questions", "6.2", MOST_ITEMS) if found.is_dict(result) else None
    if items is None:
        return found.list
    if len(items) != required:
        found.mild("questions", f"exactly {required} questions (protocol 6.2)", f"{len(items)}")
    numbers: set[int] = set()
    for i, item in enumerate(items):
        path = f"questions[{i}]"
        if not found.is_dict(item, path):
            continue
        number = integer_of(field_of(item, "question_number"))
        if number is None or not 1 <= number <= required or number in numbers:
            rule = f"a number from 1 to {required} that no other question has (protocol 6.2)"
            found.mild(f"{path}.question_number", rule, shown(field_of(item, "question_number")))
        else:
            numbers.add(number)
        text = found.text(item, "question_text", "6.2", path=f"{path}.question_text")
        least = rules.least_question_characters
        if text is not None and not least <= len(text.strip()) <= 1000:
            rule = f"{least} to 1000 characters (protocol 6.2)"
            found.mild(f"{path}.question_text", rule, f"{len(text.strip())} characters")
        _check_options(item, f"{path}.options", rules, found)
    return found.list


def _check_options(item: object, path: str, rules: RuleSet, found: _Findings) -> None:
    options = field_of(item, "options")
    if not found.is_dict(options, path):
        return
    for letter, fixed in zip(LETTERS, rules.fixed_options, strict=True):
        value = field_of(options, letter)
        text = text_of(value)
        if text is None or not text.strip() or len(text) > 1000:
            found.mild(f"{path}.{letter}", "a text of 1 to 1000 characters (protocol 6.2)", shown(value))
        elif rules.answer_key is AnswerKey.FIXED and fold(text) != fold(fixed):
            found.mild(f"{path}.{letter}", f"{fixed!r}: the rules fix the answer key", shown(text))


def check_guess(result: object, rules: RuleSet, *, fatal_only: bool = False) -> list[Violation]:
    """Protocol 6.2, the guess. Nothing here is fatal: a guess is always sent."""
    found = _Findings(fatal_only, all_mild=True)
    if not found.is_dict(result):
        return found.list
    sentence = found.text(result, "opening_sentence", "6.2")
    least = rules.least_sentence_characters
    if sentence is not None and len(sentence.strip()) < least:
        found.mild("opening_sentence", f"{least} or more characters (protocol 4.4.6)", shown(sentence))
    word = found.text(result, "associative_word", "6.2")
    if word is not None and not word.strip():
        found.mild("associative_word", "a text that is not empty (protocol 4.4.6)", shown(word))
    for key, limit in (
        ("sentence_justification", rules.sentence_justification),
        ("word_justification", rules.word_justification),
    ):
        text = found.text(result, key, "6.2")
        if text is not None:
            found.words(key, text, limit, "6.2")
    confidence = field_of(result, "confidence")
    number = number_of(confidence)
    if confidence is not None and (number is None or not 0 <= number <= 1):
        found.mild("confidence", "a number from 0 to 1, or absent (protocol 4.4.6)", shown(confidence))
    return found.list


CHOICES: Mapping[str, Choice] = MappingProxyType({choice.value: choice for choice in Choice})
"""The five answers, by their only spelling."""


class _Findings:
    """The violations found so far."""

    def __init__(self, fatal_only: bool, *, all_mild: bool = False) -> None:
        self.list: list[Violation] = []
        self._fatal_only = fatal_only
        self._all_mild = all_mild

    def fatal(self, path: str, rule: str, found: str) -> None:
        if not (self._fatal_only and self._all_mild):
            self.list.append(Violation(path=path, rule=rule, found=found))

    def mild(self, path: str, rule: str, found: str) -> None:
        if not self._fatal_only:
            self.list.append(Violation(path=path, rule=rule, found=found))

    def is_dict(self, value: object, path: str = "") -> bool:
        if is_kind(value, dict):
            return True
        self.fatal(path, "a dict (protocol 6)", shown(value))
        return False

    def text(self, holder: object, key: str, section: str, *, path: str | None = None) -> str | None:
        value = field_of(holder, key)
        text = text_of(value)
        if text is None:
            long = is_kind(value, str)
            rule = f"a text of at most {MOST_CHARACTERS} characters" if long else f"a text (protocol {section})"
            self.fatal(key if path is None else path, rule, "a longer text" if long else shown(value))
        return text

    def list_at(self, holder: object, key: str, section: str, most: int) -> list[object] | None:
        value = field_of(holder, key)
        items = items_of(value, most)
        if items is None:
            self.fatal(key, f"a list of at most {most} items (protocol {section})", shown(value))
        return items

    def words(self, path: str, text: str, limit: WordLimit, section: str) -> None:
        if self._fatal_only:
            return
        if not is_within(text, limit):
            words = count_words(text)
            found = words if words < limit.least else count_tokens(text)
            self.mild(path, f"{limit_in_words(limit)} (protocol {section})", f"{found} words")
