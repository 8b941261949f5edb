"""The subject of checkable questions.

Rule: a word is a match of the simplest pattern; if careful readers could count differently, there is no question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Options = tuple[str, str, str, str]

YesNo = tuple[str, bool]
"""A claim and whether it is true."""

Choice = tuple[str, Options, int]
"""A question, its options and the index of the true one."""

WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckableSubject:
    """The texts and words that questions are about."""

    sentence: str
    paragraph: str
    word: str
    domain: str
    author: str
    year: int | None

    others: tuple[str, ...]
    """Sentences from elsewhere in the book: the source of wrong words."""

    domains: Mapping[str, Sequence[str]]
    """Domain -> its words."""

    @property
    def words(self) -> list[str]:
        return WORD.findall(self.sentence)
