"""Tokens that the grammars take as numbers, quotations, letters, words and names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.book_claims import YearIs
from league_agents.agents.questions.free.claims import AskedClaim
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.rules import Terminal
from league_agents.agents.questions.free.tokens import AskedToken
from league_agents.knowledge.words import STOP_WORDS


def is_word(text: str) -> bool:
    """Whether the text is letters, without digits."""
    return re.fullmatch(r"[^\W\d_][^\d_]*", text) is not None


def _hundreds(token: AskedToken) -> AskedClaim | None:
    is_hundreds = token.text == "#s" and token.number is not None and token.number % 100 == 0
    return YearIs(CountLimits(token.number, token.number + 99)) if is_hundreds and token.number is not None else None


def _person_name(token: AskedToken) -> str | None:
    is_part = token.text in ("de", "von", "van", "of", "di", "da")
    return token.surface if not token.is_quote and (is_part or token.surface[:1].isupper()) else None


def _phrase_word(token: AskedToken) -> str | None:
    is_plain = is_word(token.surface) and not token.is_quote
    return token.text if is_plain and token.text not in words.NO_PHRASE else None


def _letter(token: AskedToken) -> str | None:
    return token.surface.upper() if len(token.surface) == 1 and token.surface.isalpha() else None


def _word(token: AskedToken) -> str | None:
    is_content = is_word(token.surface) and not token.is_quote and token.text not in STOP_WORDS
    return token.text if is_content and token.number is None and token.text not in words.GRAMMAR_WORDS else None


def _name(token: AskedToken) -> str | None:
    is_name = token.surface[:1].isupper() and not token.is_quote and not token.is_first and len(token.surface) > 1
    return token.surface if is_name and is_word(token.surface) and token.text not in _NO_NAMES else None


_NO_NAMES = STOP_WORDS | {"english", "latin", "not", "no"}


TERMINALS: Mapping[str, Terminal] = {
    "NUMBER": lambda token: token.number,
    "QUOTE": lambda token: token.surface if token.is_quote else None,
    "LETTER": _letter,
    "RAWWORD": lambda token: token.surface if is_word(token.surface) and not token.is_quote else None,
    "WORD": _word,
    "NAME": _name,
    "ORDINAL": lambda token: token.number if token.text in ("#st", "#nd", "#rd", "#th") else None,
    "HUNDREDS": _hundreds,
    "PERSONNAME": _person_name,
    "PHRASEWORD": _phrase_word,
    "EDGEWORD": lambda token: token.surface if token.surface[:1].isupper() and not token.is_quote else None,
}
