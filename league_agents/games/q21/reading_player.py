"""Convert the results of a player's callbacks to values that may be sent (protocol 6.2).

Rule 1: every function returns a value within every limit, for any input: a player always answers, asks and guesses. The
remarks list what was changed.
Rule 2: a result is broken only if none of it is usable; any other fault is repaired.
Rule 3: a result is untrusted. No method of its values' own classes runs; nothing is compared or copied before its
size is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import count, islice

from msgspec import Struct, ValidationError, convert
from msgspec.structs import astuple

from league_agents.games.q21.model import LETTERS, Brief, Guess, Question, QuestionBatch
from league_agents.games.q21.reading_referee import LONGEST_TEXT
from league_agents.games.q21.remarks import (
    Remarks,
    Severity,
    reader,
    shown_text,
    text_rule,
    words_found,
    words_rule,
)
from league_agents.games.q21.rules import AnswerKey, RuleSet, WordLimit
from league_agents.games.q21.similarity import fold
from league_agents.games.q21.untrusted import MOST_ITEMS, field_of, integer_of, is_kind, items_of, number_of, text_of
from league_agents.games.q21.words import count_words, cut_to_words, fit
from league_agents.kit.violation import shown

FALLBACK_ANSWER = "0"

DEFAULT_OPTIONS = ("Yes", "No", "Maybe", "Unknown")
"""Replaces missing options under the player's own answer key (protocol 6.2)."""

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

Options = tuple[str, str, str, str]


@reader
def read_warmup_answer(said: Remarks, result: object) -> str:
    """Return the agent's answer as text, numbers converted; ``"0"`` if there is none (protocol 6.2)."""
    if not said.is_dict(result):
        return FALLBACK_ANSWER
    value = field_of(result, "answer")
    text = text_of(value)
    if text is None:
        whole, number = integer_of(value), number_of(value)
        text = str(whole) if whole is not None else str(number) if number is not None else ""
        text = str(value) if type(value) is bool else text
    text = text.strip()
    rule = f"a text of 1 to {LONGEST_TEXT} characters or a number (protocol 6.2)"
    if not text:
        said.broken("answer", rule, shown_text(value))
    elif len(text) > LONGEST_TEXT:
        said.repaired("answer", rule, f"{len(text)} characters", "it is cut")
    return text[:LONGEST_TEXT].strip() or FALLBACK_ANSWER


class _Usable(Struct, frozen=True, kw_only=True):
    """A question of the agent's that is usable."""

    place: int
    number: int | None
    """``None`` for an invalid number."""

    text: str
    options: Options


@reader
def read_questions(said: Remarks, result: object, rules: RuleSet) -> QuestionBatch:
    """Return exactly the required number of valid questions.

    Usable questions are kept in their order and, if all their numbers are valid and differ, with their numbers;
    otherwise they are renumbered. The product document has no numbers (3.3): without any, the order numbers them.
    Placeholders take the remaining numbers.
    """
    items = _question_items(result, said) if said.is_dict(result) else []
    plain = _plain_questions(items, rules)
    if plain is not None:
        return plain
    required = rules.questions_required
    kept: list[_Usable] = []
    for place, item in enumerate(items):
        if len(kept) == required:
            dropped = len(items) - place
            done = f"{dropped} of them {'is' if dropped == 1 else 'are'} not asked"
            said.repaired("questions", f"exactly {required} questions (protocol 6.2)", str(len(items)), done)
            break
        usable = _usable(place, item, rules, said)
        if usable is not None:
            kept.append(usable)
    numbers = _numbers(items, kept, rules, said)
    batch = {
        number: Question(number=number, text=usable.text, options=usable.options)
        for number, usable in zip(numbers, kept, strict=True)
    }
    if len(kept) < required:
        _say_what_lacks(result, len(kept), rules, said)
        placeholders = _placeholder_texts()
        options = _default_options(rules)
        for number in range(1, required + 1):
            if number not in batch:
                text = _long_enough(next(placeholders), rules)
                batch[number] = Question(number=number, text=text, options=options)
    return tuple(batch[number] for number in sorted(batch))


class _PlainOptions(Struct, frozen=True, kw_only=True, gc=False):
    A: str
    B: str
    C: str
    D: str


class _PlainQuestion(Struct, frozen=True, kw_only=True):
    question_number: int
    question_text: str
    options: _PlainOptions


def _plain_questions(items: list[object], rules: RuleSet) -> QuestionBatch | None:
    """Return questions that fully keep the contract, in one pass; ``None`` for any others."""
    if len(items) != rules.questions_required or not all(type(item) is dict for item in items):
        return None
    try:
        plain = convert(items, list[_PlainQuestion])
    except (ValidationError, ValueError, OverflowError):  # ValueError: half of a surrogate pair
        return None
    found = {
        each.question_number: Question(
            number=each.question_number, text=each.question_text, options=astuple(each.options)
        )
        for each in plain
    }
    numbers = sorted(found)
    if numbers != list(range(1, len(items) + 1)):
        return None
    asked = [each.question_text for each in plain]
    if rules.answer_key is AnswerKey.FIXED:
        if any(question.options != rules.fixed_options for question in found.values()):
            return None
        texts = asked
    else:
        texts = [text for question in found.values() for text in (question.text, *question.options)]
    one_line = " ".join(texts)
    is_plain = (
        one_line == " ".join(one_line.split())  # no text is empty or has other white space than single spaces
        and max(map(len, texts)) <= LONGEST_TEXT
        and min(map(len, asked)) >= rules.least_question_characters
        and all(text.endswith(_QUESTION_MARKS) and any(map(str.isalnum, text)) for text in asked)
        and _is_unicode(one_line)
    )
    return tuple([found[number] for number in numbers]) if is_plain else None


def _is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _question_items(result: object, said: Remarks) -> list[object]:
    value = field_of(result, "questions")
    items = items_of(value)
    if items is not None:
        return items
    if type(value) is not list:
        said.broken("questions", f"a list of at most {MOST_ITEMS} items (protocol 6.2)", shown(value))
        return []
    # A list that is too long is not read to its end, but its beginning may be usable.
    said.repaired("questions", f"a list of at most {MOST_ITEMS} items (protocol 6.2)", shown(value), "the rest is left")
    return list(islice(value, MOST_ITEMS))


def _say_what_lacks(result: object, kept: int, rules: RuleSet, said: Remarks) -> None:
    required = rules.questions_required
    rule = f"exactly {required} questions (protocol 6.2)"
    if kept:
        missing = required - kept
        placeholders = "1 placeholder is" if missing == 1 else f"{missing} placeholders are"
        said.repaired("questions", rule, f"{kept} that can be used", f"{placeholders} asked")
        return
    # Every item was left out, so the remarks on the items make the whole result broken.
    said.change_all(Severity.BROKEN)
    if not said.list:
        said.broken("questions", rule, shown(field_of(result, "questions")))


def _usable(place: int, item: object, rules: RuleSet, said: Remarks) -> _Usable | None:
    path = f"questions[{place}]"
    if not is_kind(item, dict):
        said.repaired(path, "a dict (protocol 6)", shown(item), "it is left out")
        return None
    text = _question_text(item, f"{path}.question_text", rules, said)
    if text is None:
        return None
    number = integer_of(field_of(item, "question_number"))
    is_valid = number is not None and 1 <= number <= rules.questions_required
    options = _options(item, f"{path}.options", rules, said)
    return _Usable(place=place, number=number if is_valid else None, text=text, options=options)


def _numbers(items: list[object], kept: list[_Usable], rules: RuleSet, said: Remarks) -> list[int]:
    by_order = list(range(1, len(kept) + 1))
    if all(field_of(items[usable.place], "question_number") is None for usable in kept):
        return by_order
    numbers: list[int] = []
    for usable in kept:
        if usable.number is None or usable.number in numbers:
            rule = f"a number from 1 to {rules.questions_required} that no other question has (protocol 6.2)"
            found = shown(field_of(items[usable.place], "question_number"))
            path = f"questions[{usable.place}].question_number"
            said.repaired(path, rule, found, "all questions are numbered by their order")
        else:
            numbers.append(usable.number)
    return numbers if len(numbers) == len(kept) else by_order


def _question_text(item: object, path: str, rules: RuleSet, said: Remarks) -> str | None:
    value = field_of(item, "question_text")
    text = text_of(value)
    if text is None:
        # Older clients' agents say "text" or "question" (protocol 4.4.4).
        other = next((key for key in ("text", "question") if text_of(field_of(item, key)) is not None), None)
        text = text_of(field_of(item, other)) if other is not None else None
        if text is not None:
            said.repaired(path, "a text (protocol 6.2)", shown_text(value), f"what stands under {other!r} is asked")
    if text is None:
        said.repaired(path, text_rule(value, "6.2"), shown_text(value), "the question is left out")
        return None
    text = " ".join(text.split())
    if not any(map(str.isalnum, text)):
        said.repaired(path, "a text with words in it (protocol 6.2)", shown(text), "the question is left out")
        return None
    least = rules.least_question_characters
    rule = f"{least} to {LONGEST_TEXT} characters (protocol 6.2)"
    if len(text) > LONGEST_TEXT:
        said.repaired(path, rule, f"{len(text)} characters", "it is cut")
        text = text[:LONGEST_TEXT].rstrip()
    if not text.endswith(_QUESTION_MARKS):
        said.repaired(path, "a question that ends in a question mark (protocol 6.2)", f"{shown(text[-20:])} at its end",
                      "it ends in '?' now")  # fmt: skip
        text = f"{text[: LONGEST_TEXT - 1].rstrip('.!,;: ')}?"
    if len(text) < least:
        said.repaired(path, rule, shown(text), f"it became {shown(_long_enough(text, rules))}")
    return _long_enough(text, rules)


_QUESTION_MARKS = ("?", "？", "؟")


def _long_enough(text: str, rules: RuleSet) -> str:
    while len(text) < rules.least_question_characters:
        text = f"Judging by the opening sentence: {text}"
    return text


def _options(item: object, path: str, rules: RuleSet, said: Remarks) -> Options:
    options = field_of(item, "options")
    if options is None:
        options = field_of(item, "choices")
    listed = items_of(options) or []
    values = listed[:4] if len(listed) == 4 else [field_of(options, letter) for letter in LETTERS]
    texts = [_one_line(value) for value in values]
    if not any(texts):
        sent = _default_options(rules)
        said.repaired(path, "four texts (protocol 6.2)", shown(options), f"{', '.join(sent)} are sent")
        return sent
    if rules.answer_key is AnswerKey.FIXED:
        for letter, value, text, fixed in zip(LETTERS, values, texts, rules.fixed_options, strict=True):
            if text != fixed and fold(text) not in _spellings(fixed):
                rule = f"{fixed!r}: the rules fix the answer key"
                said.repaired(f"{path}.{letter}", rule, shown_text(value), f"{fixed!r} is sent")
        return rules.fixed_options
    rule = f"a text of 1 to {LONGEST_TEXT} characters (protocol 6.2)"
    # A replacement must not repeat an existing option, or the answer would be ambiguous.
    taken = {text.casefold() for text in texts}
    spare = iter([option for option in (*DEFAULT_OPTIONS, "Other", "None of these", "Not stated", "Unclear")
                  if option.casefold() not in taken])  # fmt: skip
    for place, (letter, value) in enumerate(zip(LETTERS, values, strict=True)):
        if not texts[place]:
            texts[place] = next(spare)
            said.repaired(f"{path}.{letter}", rule, shown_text(value), f"{texts[place]!r} is sent")
        elif len(texts[place]) > LONGEST_TEXT:
            said.repaired(f"{path}.{letter}", rule, f"{len(texts[place])} characters", "it is cut")
            texts[place] = texts[place][:LONGEST_TEXT].strip()
    first, second, third, fourth = texts
    return first, second, third, fourth


def _default_options(rules: RuleSet) -> Options:
    """Return the options for a question that does not give its own."""
    return rules.fixed_options if rules.answer_key is AnswerKey.FIXED else DEFAULT_OPTIONS


def _one_line(value: object) -> str:
    return " ".join((text_of(value) or "").split())


@lru_cache(maxsize=64)
def _spellings(option: str) -> frozenset[str]:
    """Return the spellings of a fixed option: the product document calls D "Unknown" and "Unknown / Not Relevant"."""
    return frozenset(fold(part) for part in (option, *option.split("/")))


def _placeholder_texts() -> Iterator[str]:
    """Yield, without end, questions that a careful reader can answer from an opening sentence."""
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


@reader
def read_guess(said: Remarks, result: object, rules: RuleSet, brief: Brief | None = None) -> Guess:
    """Return a guess within every limit. If it lacks a sentence, the placeholder names the book of the brief."""
    sentence, word = (_one_line(field_of(result, key)) for key in ("opening_sentence", "associative_word"))
    is_blank = not sentence and not word
    guess = Guess(
        opening_sentence=_sentence(result, sentence, rules, brief, said),
        sentence_justification=_justification(result, "sentence_justification", rules.sentence_justification, said),
        associative_word=word or _no_word(result, said),
        word_justification=_justification(result, "word_justification", rules.word_justification, said),
        confidence=0.0 if is_blank else _confidence(field_of(result, "confidence"), said),
    )
    if not is_kind(result, dict):
        said.list.clear()
        said.is_dict(result)
    elif is_blank:
        said.change_all(Severity.BROKEN)
    return guess


def _sentence(result: object, sentence: str, rules: RuleSet, brief: Brief | None, said: Remarks) -> str:
    least = rules.least_sentence_characters
    if not sentence:
        value = field_of(result, "opening_sentence")
        said.repaired("opening_sentence", text_rule(value, "6.2"), shown_text(value), "a placeholder is guessed")
        book = "" if brief is None else cut_to_words(brief.book_name, 20)[:200].strip()
        sentence = f"How {book or 'the book'} begins could not be determined."
    elif len(sentence) < least:
        rule = f"{least} or more characters (protocol 4.4.6)"
        said.repaired("opening_sentence", rule, shown(sentence), "it is lengthened by dots")
    while len(sentence) < least:
        sentence += " …"
    return sentence


def _no_word(result: object, said: Remarks) -> str:
    value = field_of(result, "associative_word")
    said.repaired("associative_word", text_rule(value, "6.2"), shown_text(value), "a placeholder is guessed")
    return "unknown"


def _justification(result: object, key: str, limit: WordLimit, said: Remarks) -> str:
    value = field_of(result, key)
    text = (text_of(value) or "").strip()
    found = words_found(text, limit)
    if found is None:
        return text
    fitted = fit(text, limit, PADDING)
    words = count_words(fitted)
    if not text:
        said.repaired(key, text_rule(value, "6.2"), shown_text(value), f"{words} neutral words stand there")
    else:
        is_short = count_words(text) < limit.least
        done = f"it is lengthened to {words} by neutral sentences" if is_short else f"it is cut to {words}"
        said.repaired(key, words_rule(limit, "6.2"), found, done)
    return fitted


def _confidence(value: object, said: Remarks) -> float | None:
    """Return a confidence of 0 to 1, or ``None`` if none was stated. A numeral in a text is read, as deployed players
    do."""
    if value is None:
        return None
    number, text = number_of(value), text_of(value)
    if number is None and text is not None and len(text) <= 32 and text.strip().replace(".", "", 1).isdecimal():
        number = float(text)
    confidence = None if number is None else min(1.0, max(0.0, number))
    if confidence is None or type(value) is str or confidence != number:
        done = "it is left out" if confidence is None else f"{confidence:g} is sent"
        said.repaired("confidence", "a number from 0 to 1, or absent (protocol 4.4.6)", shown_text(value), done)
    return confidence
