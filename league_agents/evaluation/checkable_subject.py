"""What checkable questions are asked about.

Rule: a word is what the simplest pattern finds; where careful readers could count differently there is no question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Options = tuple[str, str, str, str]

YesNo = tuple[str, bool]
"""A claim and whether it is true."""

Choice = tuple[str, Options, int]
"""A question, its options and the place of the true one."""

WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckableSubject:
    """What is asked about."""

    sentence: str
    paragraph: str
    word: str
    domain: str
    author: str
    year: int | None

    others: tuple[str, ...]
    """Sentences that stand elsewhere in the book: where wrong words come from."""

    domains: Mapping[str, Sequence[str]]
    """Domain to words."""

    @property
    def words(self) -> list[str]:
        return WORD.findall(self.sentence)
