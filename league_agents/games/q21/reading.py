"""From what user code returned to typed values: repaired where the rules repair, refused where nothing can be saved.

Rule 1: ``read_*`` raises ``CallbackInvalid`` only for what is fatal in ``contracts``; the machine then retries.
Rule 2: ``repair_*`` always returns something that may be sent, whatever it is given: a player always asks and always
guesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice

from league_agents.core.violation import Violation
from league_agents.errors import CallbackInvalid
from league_agents.games.q21.contracts import (
    CHOICES,
    COMPONENTS,
    answers_most,
    check_answers,
    check_round_start_info,
    check_score_feedback,
    check_warmup_question,
)
from league_agents.games.q21.model import (
    LETTERS,
    AnswerBatch,
    Breakdown,
    Brief,
    Choice,
    Feedback,
    Guess,
    Question,
    QuestionBatch,
    Scorecard,
    Target,
    answer_of,
)
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.games.q21.untrusted import MOST_ITEMS, field_of, integer_of, items_of, number_of, text_of
from league_agents.games.q21.words import cut_to_words, fit, is_within
from league_agents.values import maker

_new_question = maker(Question)

DEFAULT_OPTIONS = ("Yes", "No", "Maybe", "Unknown")
"""What replaces missing options under the player's own answer key (protocol 6.2)."""

FALLBACK_ANSWER = "0"

PADDING = (
    "This conclusion rests on the hint, on the title and on all the answers taken together.",
    "Other candidates were compared with the same answers and fitted less well.",
    "Some doubt remains because single answers may be wrong.",
    "No answer stands alone here.",
    "Taken together they agree.",
    "So it seems.",
    "Quite plausibly.",
    "Probably.",
)
"""Neutral sentences that lengthen a justification below its limit. The last one closes any gap."""


def fallback_warmup_question() -> str:
    """What is asked when the agent has no warm-up question."""
    return "How much is 17 plus 25?"


def read_warmup_question(result: object | None, rules: RuleSet) -> str:
    """The agent's question, or the fallback."""
    text = text_of(field_of(result, "warmup_question"))
    return fallback_warmup_question() if text is None or check_warmup_question(result, rules) else text


def read_warmup_answer(result: object | None) -> str:
    """The agent's answer as text; ``"0"`` when there is none (protocol 6.2)."""
    value = field_of(result, "answer")
    text = text_of(value)
    if text is None:
        whole, number = integer_of(value), number_of(value)
        text = str(whole) if whole is not None else str(number) if number is not None else ""
        text = str(value) if type(value) is bool else text
    return text.strip()[:1000].strip() or FALLBACK_ANSWER


def read_round_start_info(result: object, rules: RuleSet) -> tuple[Brief, Target | None]:
    """What the players are told, and the target if the agent hands it in. Raises ``CallbackInvalid``.

    A target of which only one part is given has an empty text for the other.
    """
    _refuse("get_round_start_info", check_round_start_info(result, rules, fatal_only=True))
    brief = Brief(
        book_name=text_of(field_of(result, "book_name")) or "",
        book_hint=text_of(field_of(result, "book_hint")) or "",
        association_domain=text_of(field_of(result, "association_word")) or "",
    )
    sentence = (text_of(field_of(result, "actual_opening_sentence")) or "").strip()
    word = (text_of(field_of(result, "actual_associative_word")) or "").strip()
    if not sentence and not word:
        return brief, None
    return brief, Target(book_name=brief.book_name, opening_sentence=sentence, associative_word=word)


def read_answers(result: object, questions: QuestionBatch, rules: RuleSet) -> AnswerBatch:
    """One answer to each question, in the questions' order. Raises ``CallbackInvalid``.

    Of several answers to one question the first counts; a missing one is Not Relevant; others are dropped
    (protocol 6.1).
    """
    given: dict[int, Choice] = {}
    items = items_of(field_of(result, "answers"), answers_most(questions)) or []
    for item in items:
        number = integer_of(field_of(item, "question_number"))
        choice = CHOICES.get(text_of(field_of(item, "answer")) or "")
        if number is None or number < 1 or choice is None:
            break
        given.setdefault(number, choice)
    else:
        if items:
            return answers_for(questions, given)
    # The same is fatal for the check, which has the words for it.
    raise _refusal("get_answers", check_answers(result, questions, rules, fatal_only=True))


def answers_for(questions: QuestionBatch, given: dict[int, Choice] | None = None) -> AnswerBatch:
    """One answer to each question; Not Relevant where ``given`` has none, so everywhere after a failed callback."""
    choices = given or {}
    return tuple([answer_of(q.number, choices.get(q.number, Choice.NOT_RELEVANT)) for q in questions])


def read_scorecard(result: object, rules: RuleSet) -> Scorecard:
    """The agent's score. Raises ``CallbackInvalid``.

    Each feedback text outside its limit lowers the private score. Components outside 0 to 100 are brought to the
    nearer end; league points stay as they were returned (protocol 6.1).
    """
    _refuse("get_score_feedback", check_score_feedback(result, rules, fatal_only=True))
    breakdown, feedback = field_of(result, "breakdown"), field_of(result, "feedback")
    parts = [min(100.0, max(0.0, number_of(field_of(breakdown, key)) or 0.0)) for key in COMPONENTS]
    texts = [text_of(field_of(feedback, key)) or "" for key in ("opening_sentence", "associative_word")]
    outside = sum(not is_within(text, rules.feedback) for text in texts)
    private = (number_of(field_of(result, "private_score")) or 0.0) * (1 - rules.feedback_penalty * outside)
    return Scorecard(
        league_points=integer_of(field_of(result, "league_points")) or 0,
        private_score=round(max(0.0, private), 2),
        breakdown=Breakdown(
            opening_sentence_score=parts[0],
            sentence_justification_score=parts[1],
            associative_word_score=parts[2],
            word_justification_score=parts[3],
        ),
        feedback=Feedback(opening_sentence=texts[0], associative_word=texts[1]),
    )


def repair_questions(result: object | None, rules: RuleSet) -> QuestionBatch:
    """Exactly the required number of valid questions, whatever came back.

    Usable questions are kept in their order and, if all their numbers are valid and differ, with their numbers;
    otherwise they are numbered anew. Placeholders take the numbers that are left.
    """
    items = _question_items(result)
    kept: list[tuple[int | None, str, tuple[str, str, str, str]]] = []
    for item in items:
        text = _repaired_question_text(item, rules)
        if text is not None and len(kept) < rules.questions_required:
            kept.append((_number_in(item, rules), text, _repaired_options(item, rules)))
    numbers = [number for number, _, _ in kept if number is not None]
    if not len(numbers) == len(kept) == len(set(numbers)):
        numbers = list(range(1, len(kept) + 1))
    batch = {
        number: _new_question(number=number, text=text, options=options)
        for number, (_, text, options) in zip(numbers, kept, strict=True)
    }
    placeholders = _placeholder_texts()
    for number in range(1, rules.questions_required + 1):
        if number not in batch:
            text = _long_enough(next(placeholders), rules)
            batch[number] = _new_question(number=number, text=text, options=_repaired_options(None, rules))
    return tuple(batch[number] for number in sorted(batch))


def questions_lacking(result: object, questions: QuestionBatch, rules: RuleSet) -> int:
    """How many of ``questions`` are placeholders because ``result`` had too few that can be used."""
    # They are taken in their order: where the first one is not, none is.
    first = _long_enough(next(_placeholder_texts()), rules)
    if all(question.text != first for question in questions):
        return 0
    usable = sum(_repaired_question_text(item, rules) is not None for item in _question_items(result))
    return max(0, rules.questions_required - usable)


def guess_lacking(result: object) -> tuple[str, ...]:
    """The keys of a guess under which ``result`` has no text."""
    return tuple(key for key in _GUESS_TEXTS if not _text_at(result, key))


_GUESS_TEXTS = ("opening_sentence", "sentence_justification", "associative_word", "word_justification")


def repair_guess(result: object | None, rules: RuleSet, brief: Brief) -> Guess:
    """A guess that keeps every limit, whatever came back."""
    sentence = " ".join((text_of(field_of(result, "opening_sentence")) or "").split())
    word = " ".join((text_of(field_of(result, "associative_word")) or "").split())
    is_blank = not sentence and not word
    if not sentence:
        sentence = (
            f"How {cut_to_words(brief.book_name, 20)[:200].strip() or 'the book'} begins could not be determined."
        )
    while len(sentence) < rules.least_sentence_characters:
        sentence += " …"
    return Guess(
        opening_sentence=sentence,
        sentence_justification=fit(_text_at(result, "sentence_justification"), rules.sentence_justification, PADDING),
        associative_word=word or "unknown",
        word_justification=fit(_text_at(result, "word_justification"), rules.word_justification, PADDING),
        confidence=0.0 if is_blank else _confidence(field_of(result, "confidence")),
    )


def _refuse(callback: str, violations: Sequence[Violation]) -> None:
    if violations:
        raise _refusal(callback, violations)


def _refusal(callback: str, violations: Sequence[Violation]) -> CallbackInvalid:
    more = f" (and {len(violations) - 5} more)" if len(violations) > 5 else ""
    return CallbackInvalid(f"{callback}: " + "; ".join(map(str, violations[:5])) + more)


def _text_at(holder: object, key: str) -> str:
    return (text_of(field_of(holder, key)) or "").strip()


def _question_items(result: object) -> list[object]:
    value = field_of(result, "questions")
    # A list that is too long is not read to its end, but its beginning may be what was meant.
    return items_of(value) or (list(islice(value, MOST_ITEMS)) if type(value) is list else [])


def _number_in(item: object, rules: RuleSet) -> int | None:
    number = integer_of(field_of(item, "question_number"))
    return number if number is not None and 1 <= number <= rules.questions_required else None


def _repaired_question_text(item: object, rules: RuleSet) -> str | None:
    # Older clients' agents say "text" or "question" (protocol 4.4.4).
    text = text_of(field_of(item, "question_text"))
    if text is None:
        text = text_of(field_of(item, "text"))
    if text is None:
        text = text_of(field_of(item, "question")) or ""
    text = " ".join(text.split())[:900].rstrip()
    if not any(map(str.isalnum, text)):
        return None
    return _long_enough(text if text.endswith(("?", "？", "؟")) else f"{text.rstrip('.!,;: ')}?", rules)


def _long_enough(text: str, rules: RuleSet) -> str:
    while len(text) < rules.least_question_characters:
        text = f"Judging by the opening sentence: {text}"
    return text


def _repaired_options(item: object, rules: RuleSet) -> tuple[str, str, str, str]:
    if rules.answer_key is AnswerKey.FIXED:
        return rules.fixed_options
    options = field_of(item, "options")
    if options is None:
        options = field_of(item, "choices")
    listed = items_of(options) or []
    values = listed[:4] if len(listed) == 4 else [field_of(options, letter) for letter in LETTERS]
    texts = [" ".join((text_of(value) or "").split())[:1000].strip() for value in values]
    if not any(texts):
        return DEFAULT_OPTIONS
    if all(texts):
        return texts[0], texts[1], texts[2], texts[3]
    # A replacement must not repeat an option that is there, or the answer would mean nothing.
    taken = {text.casefold() for text in texts}
    spare = iter([option for option in (*DEFAULT_OPTIONS, "Other", "None of these", "Not stated", "Unclear")
                  if option.casefold() not in taken])  # fmt: skip
    first, second, third, fourth = (text or next(spare) for text in texts)
    return first, second, third, fourth


def _placeholder_texts() -> Iterator[str]:
    """Questions that any careful reader can answer from an opening sentence, without end."""
    yield from (
        "Does the opening sentence name a person?",
        "Does the opening sentence name a place?",
        "Is the opening sentence told in the first person?",
        "Does the opening sentence contain a number or a date?",
        "Does the opening sentence contain direct speech?",
        "Does the opening sentence mention the weather or a time of day?",
        "Does the opening sentence mention an animal?",
        "Does the opening sentence mention a member of a family?",
        "Does the opening sentence mention a building or a room?",
        "Does the opening sentence mention water?",
        "Does the opening sentence contain a negation?",
        "Is the opening sentence in the past tense?",
        "Does the opening sentence contain a comma?",
        "Does the opening sentence mention a colour?",
        "Does the opening sentence mention a part of the body?",
        "Does the opening sentence describe a movement?",
    )
    for initial in "TAISWHBCM":
        yield f"Does the first word of the opening sentence begin with the letter {initial}?"
    for words in count(5, 5):
        yield f"Does the opening sentence have more than {words} words?"


def _confidence(value: object) -> float | None:
    """0 to 1, or ``None`` when none was stated. A numeral is read, as deployed players do."""
    number = number_of(value)
    text = text_of(value)
    if number is None and text is not None and len(text) <= 32 and text.strip().replace(".", "", 1).isdecimal():
        number = float(text)
    return None if number is None else min(1.0, max(0.0, number))
