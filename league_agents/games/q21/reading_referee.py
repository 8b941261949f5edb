"""Convert the results of a referee's callbacks to typed values (protocol 6.1).

Rule 1: every function accepts any input, never raises, and records in its remarks what it refused or changed.
Rule 2: a value of ``None`` means that nothing was usable: the callback is called again, then replaced. The fallbacks
are here too.
Rule 3: a result is untrusted. No method of its values' own classes runs; nothing is compared or copied before its
size is known.
"""

from __future__ import annotations

from msgspec import Struct, ValidationError, convert

from league_agents.games.q21.model import (
    CHOICES,
    COMPONENTS,
    AnswerBatch,
    Breakdown,
    Brief,
    Choice,
    Feedback,
    QuestionBatch,
    Scorecard,
    Target,
    answer_of,
)
from league_agents.games.q21.remarks import (
    Remarks,
    Severity,
    reader,
    shown_text,
    text_rule,
    words_found,
    words_rule,
)
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.similarity import fold
from league_agents.games.q21.untrusted import MOST_ITEMS, field_of, integer_of, is_kind, number_of, text_of
from league_agents.games.q21.words import count_tokens
from league_agents.kit.violation import shown

LONGEST_TEXT = 1000
"""Characters of a question, a name or an answer (protocol 6)."""

FALLBACK_WARMUP_QUESTION = "How much is 17 plus 25?"


@reader
def read_warmup_question(said: Remarks, result: object, rules: RuleSet) -> str:  # noqa: ARG001
    """Return the agent's question, or the fallback."""
    text = said.text(result, "warmup_question", "6.1") if said.is_dict(result) else None
    if text is not None and not (5 <= len(text) <= LONGEST_TEXT and text.strip()):
        found = f"{len(text)} characters" if text.strip() else shown(text)
        said.broken("warmup_question", f"5 to {LONGEST_TEXT} characters (protocol 6.1)", found)
    return FALLBACK_WARMUP_QUESTION if text is None or said.list else text


@reader
def read_round_start_info(said: Remarks, result: object, rules: RuleSet) -> tuple[Brief, Target | None] | None:
    """Return the brief, and the target if the agent supplies it.

    A target with only one part has an empty text for the other.
    """
    if not said.is_dict(result):
        return None
    name = _told(result, "book_name", said)
    hint = said.text(result, "book_hint", "6.1")
    domain = _told(result, "association_word", said)
    least, most = rules.hint_characters
    if hint is not None and not (least <= len(hint) <= most and hint.strip()):
        found = f"{len(hint)} characters" if hint.strip() else shown(hint)
        said.broken("book_hint", f"{least} to {most} characters (protocol 6.1)", found)
    if name is None or hint is None or domain is None or said.list:
        return None
    if count_tokens(hint) > rules.hint_most_words:
        rule = f"at most {rules.hint_most_words} words (protocol 4.4.3)"
        said.warn("book_hint", rule, f"{count_tokens(hint)} words")
    sentence, word = (_secret(result, key, said) for key in ("actual_opening_sentence", "actual_associative_word"))
    shared = {token for token in fold(hint).split() if len(token) >= 4} & set(fold(sentence).split())
    if shared:
        rule = "words that do not occur in the secret text (protocol 4.4.3)"
        said.warn("book_hint", rule, shown(", ".join(sorted(shared))))
    target = Target(book_name=name, opening_sentence=sentence, associative_word=word) if sentence or word else None
    return Brief(book_name=name, book_hint=hint, association_domain=domain), target


def _told(result: object, key: str, said: Remarks) -> str | None:
    text = said.text(result, key, "6.1")
    if text is not None and not text.strip():
        # A round start without a name or a domain cannot be sent (protocol 4.4.3).
        said.broken(key, "a text that is not empty (protocol 4.4.3)", shown(text))
    elif text is not None and len(text) > LONGEST_TEXT:
        said.broken(key, f"at most {LONGEST_TEXT} characters", f"{len(text)} characters")
    return text


def _secret(result: object, key: str, said: Remarks) -> str:
    value = field_of(result, key)
    text = (text_of(value) or "").strip()
    if value is not None and not text:
        rule = "a text that is not empty, or absent (it is stored on this side only)"
        said.repaired(key, rule, shown(value), "it is left out")
    return text


@reader
def read_answers(said: Remarks, result: object, questions: QuestionBatch, rules: RuleSet) -> AnswerBatch | None:  # noqa: ARG001
    """Return one answer to each question, in the questions' order.

    Of several answers to one question the first counts; a missing one is Not Relevant; others are dropped
    (protocol 6.1).
    """
    most = max(MOST_ITEMS, 2 * len(questions))
    items = said.items(result, "answers", most, "6.1") if said.is_dict(result) else None
    if items is None:
        return None
    if not items and questions:
        said.broken("answers", "a list with an answer to each question (protocol 6.1)", "an empty list")
        return None
    asked = {question.number for question in questions}
    plain = _plain_answers(items)
    if plain is not None and plain.keys() == asked and len(items) == len(asked):
        return answers_for(questions, plain)
    given: dict[int, Choice] = {}
    for i, item in enumerate(items):
        number = integer_of(field_of(item, "question_number"))
        choice = CHOICES.get(text_of(field_of(item, "answer")) or "")
        if number is None or number < 1 or choice is None:
            _say_what_breaks(item, f"answers[{i}]", said)
        elif number in given:
            rule = "different from the earlier ones"
            said.repaired(f"answers[{i}].question_number", rule, str(number), "the first answer counts")
        elif number not in asked:
            rule = "the number of a question that was asked"
            said.repaired(f"answers[{i}].question_number", rule, str(number), "the answer is left out")
        else:
            given[number] = choice
    if any(remark.severity is Severity.BROKEN for remark in said.list):
        return None
    missing = [question.number for question in questions if question.number not in given]
    if missing:
        named = ", ".join(map(str, missing[:20])) + (" …" if len(missing) > 20 else "")
        rule = f"one answer to each of the {len(questions)} questions (protocol 6.1)"
        said.repaired("answers", rule, f"none to {named}", "the others are Not Relevant")
    return answers_for(questions, given)


class _PlainAnswer(Struct, frozen=True, kw_only=True, gc=False):
    question_number: int
    answer: Choice


def _plain_answers(items: list[object]) -> dict[int, Choice] | None:
    """Return answers that fully keep the contract, in one pass; ``None`` for any others."""
    if [item for item in items if type(item) is not dict]:
        return None
    try:
        return {each.question_number: each.answer for each in convert(items, list[_PlainAnswer])}
    except (ValidationError, ValueError, OverflowError):  # ValueError: half of a surrogate pair
        return None


def _say_what_breaks(item: object, path: str, said: Remarks) -> None:
    if not said.is_dict(item, path):
        return
    number, answer = field_of(item, "question_number"), field_of(item, "answer")
    whole = integer_of(number)
    if whole is None or whole < 1:
        said.broken(f"{path}.question_number", "a whole number from 1, no boolean (protocol 6.1)", shown(number))
    if text_of(answer) not in CHOICES:
        said.broken(f"{path}.answer", "exactly one of A, B, C, D, Not Relevant (protocol 4.4.5)", shown(answer))


def answers_for(questions: QuestionBatch, given: dict[int, Choice] | None = None) -> AnswerBatch:
    """Return one answer to each question; Not Relevant if ``given`` has none, so for all after a failed callback."""
    choices = dict.fromkeys([question.number for question in questions], Choice.NOT_RELEVANT) | (given or {})
    return tuple([answer_of(question.number, choices[question.number]) for question in questions])


@reader
def read_scorecard(said: Remarks, result: object, rules: RuleSet) -> Scorecard | None:
    """Return the agent's score.

    Only points and private score are required: the product document names no other key (3.2). Without a complete
    breakdown, or without feedback, the players get none; a missing text costs nothing. A feedback text outside its
    limit lowers the private score; components outside 0 to 100 are clamped; league points stay as they were returned
    (protocol 6.1).
    """
    if not said.is_dict(result):
        return None
    points = integer_of(field_of(result, "league_points"))
    if points is None or not 0 <= points <= 3:
        found = shown(field_of(result, "league_points"))
        said.broken("league_points", "a whole number from 0 to 3 (protocol 6.1)", found)
    private = number_of(field_of(result, "private_score"))
    if private is None or not 0 <= private <= 100:
        found = shown(field_of(result, "private_score"))
        said.broken("private_score", "a number from 0 to 100 (protocol 6.1)", found)
    if points is None or private is None or said.list:
        return None
    breakdown = _breakdown(field_of(result, "breakdown"), said)
    feedback, private = _feedback(field_of(result, "feedback"), private, rules, said)
    return Scorecard(league_points=points, private_score=private, breakdown=breakdown, feedback=feedback)


def _breakdown(value: object, said: Remarks) -> Breakdown | None:
    if not is_kind(value, dict):
        said.repaired("breakdown", "a dict with the four component scores (protocol 6.1)", shown(value),
                      "the player is told none")  # fmt: skip
        return None
    parts: list[float] = []
    for key in COMPONENTS:
        number, path = number_of(field_of(value, key)), f"breakdown.{key}"
        if number is None:
            rule = "a number from 0 to 100 (protocol 6.1)"
            said.repaired(path, rule, shown(field_of(value, key)), "the player is told no component scores")
        elif not 0 <= number <= 100:
            parts.append(min(100.0, max(0.0, number)))
            rule = "a number from 0 to 100 (protocol 4.4.7)"
            said.repaired(path, rule, f"{number:g}", f"it became {parts[-1]:g}")
        else:
            parts.append(number)
    if len(parts) < len(COMPONENTS):
        return None
    return Breakdown(**dict(zip(COMPONENTS, parts, strict=True)))


def _feedback(value: object, private: float, rules: RuleSet, said: Remarks) -> tuple[Feedback | None, float]:
    """Return the feedback, and the private score less the penalty for its faults."""
    if not is_kind(value, dict):
        said.repaired("feedback", "a dict with two texts (protocol 6.1)", shown(value), "the player is told nothing")
        return None, round(private, 2)
    texts: dict[str, str] = {}
    outside: list[tuple[str, str]] = []
    for key in ("opening_sentence", "associative_word"):
        text = text_of(field_of(value, key))
        if text is None:
            found = field_of(value, key)
            said.repaired(f"feedback.{key}", text_rule(found, "6.1"), shown_text(found), "the player is told nothing")
            continue
        texts[key] = text
        if found_words := words_found(text, rules.feedback):
            outside.append((f"feedback.{key}", found_words))
    charged = round(max(0.0, private * (1 - rules.feedback_penalty * len(outside))), 2)
    for path, found_words in outside:
        done = f"the private score is {charged:g} instead of {private:g}"
        said.repaired(path, words_rule(rules.feedback, "6.1"), found_words, done)
    if not texts:
        return None, charged
    return Feedback(
        opening_sentence=texts.get("opening_sentence", ""), associative_word=texts.get("associative_word", "")
    ), charged
