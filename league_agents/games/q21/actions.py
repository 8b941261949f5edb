"""The four actions of Q21 around a table: their schemas and their checks.

Rule: an action is refused if a callback's contract calls it unusable or its schema forbids it. A justification outside
its word limit is not refused but penalised, as in the league.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from league_agents.games.entry import EntryReader, clean_text
from league_agents.games.game import JsonObject
from league_agents.games.q21.model import (
    CHOICES,
    LETTERS,
    Answer,
    AnswerBatch,
    Brief,
    Choice,
    Guess,
    Question,
    QuestionBatch,
    Target,
    answer_of,
)
from league_agents.games.q21.reading_referee import LONGEST_TEXT
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.games.q21.similarity import fold
from league_agents.games.q21.words import count_tokens
from league_agents.kit.frozen import FrozenDict, frozen

LONGEST_JUSTIFICATION = 4000

ANNOUNCE, ASK, ANSWER, GUESS = "announce", "ask", "answer", "guess"

Options = tuple[str, str, str, str]


def _text(least: int, most: int, description: str) -> dict[str, object]:
    return {"type": "string", "minLength": least, "maxLength": most, "description": description}


def _object(properties: Mapping[str, object], optional: Sequence[str] = ()) -> FrozenDict:
    schema: FrozenDict = frozen(
        {
            "type": "object",
            "required": [name for name in properties if name not in optional],
            "additionalProperties": False,
            "properties": dict(properties),
        }
    )
    return schema


@lru_cache(maxsize=64)
def announce_schema(rules: RuleSet) -> JsonObject:
    """Return the schema of brief and target, with the key names of the referee's callback."""
    least, most = rules.hint_characters
    hint = f"A hint of at most {rules.hint_most_words} words that does not give the sentence away"
    return _object(
        {
            "book_name": _text(1, LONGEST_TEXT, "The book; everybody sees it"),
            "book_hint": _text(least, most, hint),
            "association_word": _text(1, LONGEST_TEXT, "The domain of the secret word; everybody sees it"),
            "actual_opening_sentence": _text(rules.least_sentence_characters, LONGEST_TEXT, "The secret sentence"),
            "actual_associative_word": _text(1, 100, "The secret word"),
        }
    )


@lru_cache(maxsize=64)
def ask_schema(rules: RuleSet) -> JsonObject:
    """Return the schema of a whole batch of questions."""
    count = rules.questions_required
    options: Mapping[str, object]
    if rules.answer_key is AnswerKey.FIXED:
        options = {"const": dict(zip(LETTERS, rules.fixed_options, strict=True))}
    else:
        options = _object({letter: _text(1, LONGEST_TEXT, f"What {letter} stands for") for letter in LETTERS})
    items = [
        _object(
            {
                "question_number": {"const": number},
                "question_text": _text(rules.least_question_characters, LONGEST_TEXT, f"Question {number}"),
                "options": options,
            }
        )
        for number in range(1, count + 1)
    ]
    listed = {"type": "array", "prefixItems": items, "items": False, "minItems": count, "maxItems": count}
    return _object({"questions": listed})


@lru_cache(maxsize=512)
def answer_schema(players: tuple[str, ...], count: int) -> JsonObject:
    """Return the schema of the answers to all questions of one player."""
    items = [
        _object({"question_number": {"const": number}, "answer": {"enum": [choice.value for choice in Choice]}})
        for number in range(1, count + 1)
    ]
    listed = {"type": "array", "prefixItems": items, "items": False, "minItems": count, "maxItems": count}
    return _object({"player_id": {"enum": list(players)}, "answers": listed})


@lru_cache(maxsize=64)
def guess_schema(rules: RuleSet) -> JsonObject:
    """Return the schema of sentence and word with their justifications."""
    wanted = {
        "sentence_justification": rules.sentence_justification,
        "word_justification": rules.word_justification,
    }
    said = {
        name: _text(
            0,
            LONGEST_JUSTIFICATION,
            f"Why, in {limit.least}{f' to {limit.most}' if limit.most else ' or more'} words that name your questions",
        )
        for name, limit in wanted.items()
    }
    return _object(
        {
            "opening_sentence": _text(rules.least_sentence_characters, LONGEST_TEXT, "The sentence"),
            "sentence_justification": said["sentence_justification"],
            "associative_word": _text(1, 100, "The word"),
            "word_justification": said["word_justification"],
            "confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "How sure you are"},
        },
        optional=("confidence",),
    )


def read_announcement(data: JsonObject, rules: RuleSet) -> tuple[Brief, Target]:
    """Return the accepted brief and target. Raises ``IllegalAction`` (``invalid_data``)."""
    entry = EntryReader(data)
    least, most = rules.hint_characters
    found = {
        "book_name": entry.text("book_name", least=1, most=LONGEST_TEXT),
        "book_hint": entry.text("book_hint", least=least, most=most),
        "association_word": entry.text("association_word", least=1, most=LONGEST_TEXT),
        "actual_opening_sentence": entry.text(
            "actual_opening_sentence", least=rules.least_sentence_characters, most=LONGEST_TEXT
        ),
        "actual_associative_word": entry.text("actual_associative_word", least=1, most=100),
    }
    entry.only(found)
    for name, text in found.items():
        if text is not None and not text.strip():
            entry.fault(name, "empty", "must not be empty")
    hint, sentence, word = (
        fold(found[name] or "") for name in ("book_hint", "actual_opening_sentence", "actual_associative_word")
    )
    if found["book_hint"] is not None and count_tokens(found["book_hint"]) > rules.hint_most_words:
        entry.fault("book_hint", "too_long", f"must have at most {rules.hint_most_words} words")
    told = (hint, fold(found["book_name"] or ""))
    if sentence and any(f" {sentence} " in f" {text} " for text in told):
        entry.fault("actual_opening_sentence", "given_away", "stands in what everybody is told")
    domain = fold(found["association_word"] or "")
    if word and any(f" {word} " in f" {text} " for text in (hint, domain)):
        entry.fault("actual_associative_word", "given_away", "stands in the hint or is its own domain")
    entry.done()
    name, told_hint, told_domain, opening, secret = (text or "" for text in found.values())
    brief = Brief(book_name=name, book_hint=told_hint, association_domain=told_domain)
    return brief, Target(book_name=name, opening_sentence=opening, associative_word=secret)


def read_questions(data: JsonObject, rules: RuleSet) -> QuestionBatch:
    """Return the accepted batch, sorted by number. Raises ``IllegalAction`` (``invalid_data``)."""
    entry = EntryReader(data)
    entry.only(("questions",))
    count = rules.questions_required
    items = data.get("questions")
    if not isinstance(items, Sequence) or isinstance(items, str) or len(items) != count:
        entry.fault("questions", "wrong_length", f"must be a list of {count} questions")
        entry.done()
        return ()
    found: dict[int, Question] = {}
    least = rules.least_question_characters
    fixed = rules.fixed_options if rules.answer_key is AnswerKey.FIXED else None
    for place, item in enumerate(items):
        if not _is_object(item):
            _fault(entry, f"questions/{place}", "wrong_type", "must be an object")
            continue
        number = item.get("question_number")
        if type(number) is not int or not 1 <= number <= count or number in found:
            at = f"questions/{place}/question_number"
            _fault(entry, at, "out_of_range", f"must be 1 to {count}, each once")
            number = -place
        text = _checked(entry, item.get("question_text"), least, "questions", place, "question_text")
        options = _options(entry, place, item.get("options"), fixed)
        found[number] = Question(number=number, text=text, options=options)
        if len(item) != 3 and set(item) - {"question_number", "question_text", "options"}:
            at = f"questions/{place}"
            _fault(entry, at, "unknown_field", "has more than question_number, question_text and options")
    entry.done()
    return tuple([found[number] for number in sorted(found)])


def _is_object(value: object) -> bool:
    return type(value) is dict or isinstance(value, Mapping)


def _options(entry: EntryReader, place: int, given: object, fixed: Options | None) -> Options:
    """Return the four options; ``fixed`` are those of a fixed answer key, ``None`` under any other."""
    if not isinstance(given, Mapping) or given.keys() != _LETTERS:
        _fault(entry, f"questions/{place}/options", "wrong_type", "must be an object of A, B, C and D")
        return ("", "", "", "")
    if fixed is not None:
        pairs = [(given[letter], text) for letter, text in zip(LETTERS, fixed, strict=True)]
        if any(told != text and fold(str(told)[:200]) != fold(text) for told, text in pairs):
            key = ", ".join(f"{letter} {text}" for letter, text in zip(LETTERS, fixed, strict=True))
            at = f"questions/{place}/options"
            _fault(entry, at, "fixed_key", f"must be the answer key of these rules: {key}")
        return fixed
    a, b, c, d = [_checked(entry, given[each], 1, "questions", place, "options", each) for each in LETTERS]
    return a, b, c, d


def read_answers(data: JsonObject, owed: Mapping[str, int]) -> tuple[str, AnswerBatch]:
    """Return the answered player and the answers by number. ``owed``: player to number of questions.

    Raises ``IllegalAction`` (``invalid_data``).
    """
    entry = EntryReader(data)
    entry.only(("player_id", "answers"))
    player = data.get("player_id")
    if not isinstance(player, str) or player not in owed:
        entry.fault("player_id", "unknown_player", f"must be one of {', '.join(owed)}")
        entry.done()
        return "", ()
    count, items = owed[player], data.get("answers")
    if not isinstance(items, Sequence) or isinstance(items, str) or len(items) != count:
        entry.fault("answers", "wrong_length", f"must be a list of {count} answers")
        entry.done()
        return "", ()
    found: dict[int, Answer] = {}
    for place, item in enumerate(items):
        if not _is_object(item) or item.keys() != _ANSWER_KEYS:
            _fault(entry, f"answers/{place}", "wrong_type", "must be an object of question_number and answer")
            continue
        number, choice = item["question_number"], item["answer"]
        if type(number) is not int or not 1 <= number <= count or number in found:
            _fault(entry, f"answers/{place}/question_number", "out_of_range", f"must be 1 to {count}, each once")
        elif not isinstance(choice, str) or choice not in CHOICES:
            _fault(entry, f"answers/{place}/answer", "unknown_answer", f"must be one of {', '.join(CHOICES)}")
        else:
            found[number] = answer_of(number, CHOICES[choice])
    entry.done()
    return player, tuple([found[number] for number in sorted(found)])


_ANSWER_KEYS = {"question_number", "answer"}
_LETTERS = frozenset(LETTERS)


def read_guess(data: JsonObject, rules: RuleSet) -> Guess:
    """Return the accepted guess. Raises ``IllegalAction`` (``invalid_data``)."""
    entry = EntryReader(data)
    found: dict[str, Any] = {
        "opening_sentence": entry.text("opening_sentence", least=rules.least_sentence_characters, most=LONGEST_TEXT),
        "sentence_justification": entry.text("sentence_justification", most=LONGEST_JUSTIFICATION),
        "associative_word": entry.text("associative_word", least=1, most=100),
        "word_justification": entry.text("word_justification", most=LONGEST_JUSTIFICATION),
    }
    entry.only((*found, "confidence"))
    found["confidence"] = confidence = data.get("confidence")
    if confidence is not None:
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
            entry.fault("confidence", "wrong_type", "must be a number")
        elif not 0 <= confidence <= 1:  # also what is not a number
            entry.fault("confidence", "out_of_range", "must be 0 to 1")
    entry.done()
    return Guess(**found)


def _checked(entry: EntryReader, value: object, least: int, *at: object) -> str:
    """Return the text in normal form C. ``at`` are the parts of its path, for a fault."""
    if not isinstance(value, str):
        _fault(entry, _joined(at), "wrong_type", "must be a text")
        return ""
    cleaned = clean_text(value) if len(value) <= 4 * LONGEST_TEXT else value
    if cleaned is None:
        _fault(entry, _joined(at), "control_character", "must not hold control characters")
        return ""
    if not least <= len(cleaned) <= LONGEST_TEXT or cleaned.isspace():
        _fault(entry, _joined(at), "wrong_length", f"must have {least} to {LONGEST_TEXT} characters")
    return cleaned


def _joined(at: tuple[object, ...]) -> str:
    return "/".join(map(str, at))


def _fault(entry: EntryReader, pointer: str, code: str, message: str) -> None:
    entry.errors.append({"path": f"/{pointer}", "code": code, "message": message})
