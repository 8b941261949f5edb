"""Freely worded questions about a target whose answers the simplest means decide.

Rule 1: the truth is computed by ``in``, ``count`` and patterns, never by the code that answers; where careful readers
could differ, there is no question.
Rule 2: the wordings are those that people and language models choose when nobody gives them a form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from league_agents.evaluation.checkable_subject import WORD, CheckableSubject, YesNo
from league_agents.kit.draw import Draw

_QUOTES = re.compile(r"[“”\"«»„‘]|(?<!\w)['’]|['’](?!\w)")
_FIRST = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"})
_NUMBERS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen\w*|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundreds?|thousands?|million|dozen|first|second|third|once|twice|half|both|pair|couple"
    r"|\w+th|score|single|double|quarter)\b",
    re.IGNORECASE,
)
_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|nowhere|neither|nor|cannot|without|hardly|scarcely|barely)\b|n['’]t\b",
    re.IGNORECASE,
)
_PRONOUNS = ("I", "He", "She", "They", "We", "You", "It")
_ARTICLES = ("The", "A", "An")
_UNCLEAR = re.compile(r"[-–—_\d&'’]")


def _asked(draw: Draw, truth: bool, *frames: str) -> YesNo:
    return draw.choice(frames), truth


def speech(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    starts = re.match(r"[“\"]\w[^”\"]* [^”\"]+", subject.sentence) is not None
    if not starts and _QUOTES.search(subject.sentence):
        return None
    return _asked(
        draw,
        starts,
        "Is there dialogue in the first sentence?",
        "Is someone speaking in the opening sentence?",
        "Does the opening sentence contain direct speech?",
        "Is there any spoken dialogue?",
        "Does anyone speak in the opening sentence?",
    )


def question(subject: CheckableSubject, draw: Draw) -> YesNo:
    end = subject.sentence.rstrip("\"'”’)_ ")[-1:]
    return _asked(
        draw,
        end == "?",
        "Is the opening sentence a question?",
        "Is the opening line phrased as a question?",
        "Is it interrogative?",
        "Does the sentence end in a question mark?",
    )


def number(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    has_digits = re.search(r"\b\d{2,4}\b", subject.sentence) is not None
    if not has_digits and _NUMBERS.search(subject.sentence):
        return None
    return _asked(
        draw,
        has_digits,
        "Does the opening mention any numbers?",
        "Are there any numbers in the sentence?",
        "Does the sentence contain a number?",
        "Is a specific number given in the opening sentence?",
    )


def year(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    has_year = re.search(r"\b1[5-9]\d\d\b", subject.sentence) is not None
    if not has_year and _NUMBERS.search(subject.sentence):
        return None
    return _asked(
        draw,
        has_year,
        "Does the opening mention a specific year?",
        "Is a year mentioned?",
        "Does the first sentence give a year?",
    )


def first_person(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    if _QUOTES.search(subject.sentence):
        return None
    says_i = "I" in subject.words
    if not says_i and (_FIRST & set(WORD.findall(subject.paragraph.lower())) or subject.paragraph == subject.sentence):
        return None
    return _asked(
        draw,
        says_i,
        "Is it written in first person?",
        "Is the opening sentence told in the first person?",
        "Does the opening use a first-person narrator?",
        "Is the narration in the first person?",
    )


def proper_noun(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    has_title = re.search(r"\b(?:Mr|Mrs|Miss|Lady)\.? [A-Z][a-z]+", subject.sentence) is not None
    plain = subject.words[0] in (*_PRONOUNS, *_ARTICLES, "When", "In", "There", "This", "But", "And", "If", "As")
    if not has_title and (not plain or any(word[0].isupper() and word != "I" for word in subject.words[1:])):
        return None
    return _asked(
        draw,
        has_title,
        "Are there any proper nouns?",
        "Is a person mentioned by name?",
        "Does the opening sentence contain a proper noun?",
        "Is anybody named in the sentence?",
        "Does it name a character?",
    )


def negation(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    sure = re.search(r"\b(?:not|never|nothing)\b", subject.sentence, re.IGNORECASE) is not None
    if not sure and _NEGATIONS.search(subject.sentence):
        return None
    return _asked(
        draw,
        sure,
        "Does the sentence contain a negation?",
        "Is there a negative word in the opening sentence?",
        "Does the opening sentence use a negation such as not?",
    )


def first_class(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    first = subject.words[0]
    if first not in _PRONOUNS + _ARTICLES:
        return None
    if draw.chance(0.5):
        return _asked(
            draw,
            first in _PRONOUNS,
            "Does the opening sentence start with a pronoun?",
            "Is the first word a pronoun?",
            "Does it begin with a personal pronoun?",
        )
    return _asked(
        draw,
        first in _ARTICLES,
        "Does the sentence begin with an article?",
        "Is the first word an article?",
        "Does the opening sentence start with an article?",
    )


def length(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    if _UNCLEAR.search(subject.sentence):
        return None
    count = len(subject.sentence.split())
    asked = max(3, count + draw.below(9) - 4)
    return draw.choice(
        (
            (f"Is it longer than {asked} words?", count > asked),
            (f"Is the opening line shorter than {asked} words?", count < asked),
            (f"Is it a short sentence of fewer than {asked} words?", count < asked),
            (f"Does the sentence run to at least {asked} words?", count >= asked),
            (f"Are there over {asked} words in the opening sentence?", count > asked),
        )
    )


def two_marks(subject: CheckableSubject, draw: Draw) -> YesNo:
    one, other = draw.sample([("comma", ","), ("semicolon", ";"), ("question mark", "?"), ("colon", ":")], 2)
    has = [mark in subject.sentence for _, mark in (one, other)]
    if draw.chance(0.5):
        frames = (
            "Does the sentence contain both a {0} and a {1}?",
            "Is there a {0} and a {1} in the opening sentence?",
        )
        return draw.choice(frames).format(one[0], other[0]), all(has)
    frames = ("Does the sentence have either a {0} or a {1}?", "Is there a {0} or a {1} in the opening sentence?")
    return draw.choice(frames).format(one[0], other[0]), any(has)


def order(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    lowered = [word.lower() for word in subject.words]
    single = [word for word in lowered if len(word) >= 4 and subject.sentence.lower().count(word) == 1]
    if len(single) < 2 or _UNCLEAR.search(subject.sentence):
        return None
    one, other = draw.sample(single, 2)
    frames = ("Does the word '{0}' come before the word '{1}'?", "Does '{0}' appear before '{1}' in the sentence?",
              "Does “{0}” occur earlier than “{1}” in the opening sentence?")  # fmt: skip
    return draw.choice(frames).format(one, other), lowered.index(one) < lowered.index(other)


def repeated(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    if _UNCLEAR.search(subject.sentence):
        return None
    asked = draw.choice(("the", "and", "of", "to", "a"))
    count = [word.lower() for word in subject.words].count(asked)
    frames = ("Does the word '{0}' appear more than once?", "Is the word '{0}' used more than once in the sentence?",
              "Does '{0}' occur at least twice in the opening sentence?")  # fmt: skip
    return draw.choice(frames).format(asked), count > 1


def category(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    if subject.word.lower() not in subject.domains.get(subject.domain, ()) or " or " in subject.domain:
        return None
    frames = ("Is the secret word a kind of {0}?", "Does the associative word refer to a {0}?",
              "Is the hidden word some sort of {0}?")  # fmt: skip
    return draw.choice(frames).format(subject.domain), True


FREE_MAKERS: Sequence[Callable[[CheckableSubject, Draw], YesNo | None]] = (
    category, first_class, first_person, length, negation, number, order, proper_noun, question, repeated, speech,
    two_marks, year,
)  # fmt: skip
"""Each returns ``None`` if its question does not fit the subject."""
