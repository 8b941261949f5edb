"""Counts of dates, years, months, days, seasons and times of day in a text."""

from __future__ import annotations

import re

from league_agents.agents.questions.free import sentences_of as page
from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.counts import UNKNOWN_COUNT, CountBounds
from league_agents.agents.questions.reading import Text


def years(text: Text) -> CountBounds:
    sure = len(re.findall(r"(?<!\d)1[0-9]\d\d(?!\d)|(?<!\d)20\d\d(?!\d)", text.text))
    digits = len(re.findall(r"\d", text.text))
    hundreds = sum("hundred" in word or "thousand" in word for word in text.folded)
    return CountBounds(sure, max(sure, hundreds + digits))


def months(text: Text) -> CountBounds:
    return calendar(text, words.MONTHS, words.MAYBE_MONTHS)


def calendar(text: Text, sure: frozenset[str], maybe: frozenset[str]) -> CountBounds:
    if not page.is_english(text):
        return UNKNOWN_COUNT
    low = sum(word in sure and surface[0].isupper() for word, surface in zip(text.folded, text.words, strict=True))
    unclear = 0
    for word in page.words_in(text.text):
        if word.folded in maybe and word.surface[0].isupper():
            if word.before[:1].isdigit() or word.after[:1].isdigit() or word.before in ("in", "of", "last", "next"):
                low += 1
            else:
                unclear += 1
    return CountBounds(low, low + unclear)


def dates(text: Text) -> CountBounds:
    in_years, in_months = years(text), months(text)
    has_day = re.search(r"\b\d{1,2}(?:st|nd|rd|th)?\b", text.text) is not None
    sure = int(bool(in_months.low and (has_day or in_years.low)))
    others = calendar(text, words.WEEKDAYS, frozenset()).high or 0
    if sure:
        return CountBounds(sure, None)
    ordinal = sum(word in words.ORDINALS for word in text.folded)
    possible = (in_years.high or 0) + (in_months.high or 0) + others + ordinal
    return CountBounds(0, possible)


def day_times(text: Text) -> CountBounds:
    sure = sum(word in words.DAY_TIMES for word in text.folded)
    maybe = sum(
        word in words.MAYBE_DAY_TIMES or any(time in word for time in ("night", "noon", "morning", "even"))
        for word in text.folded
    )
    return CountBounds(sure, sure + maybe)


def seasons(text: Text) -> CountBounds:
    sure = sum(word in words.SEASONS for word in text.folded)
    return CountBounds(sure, sure + sum(word in words.MAYBE_SEASONS or "summer" in word or "winter" in word
                                  for word in text.folded))  # fmt: skip


def weekdays(text: Text) -> CountBounds:
    return calendar(text, words.WEEKDAYS, frozenset())
