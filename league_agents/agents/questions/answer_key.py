"""Meaning of answer letters, in a fixed key or in options that somebody else wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

from league_agents.agents.questions.kinds import NO, PARTIALLY, YES
from league_agents.games.q21.information import UNKNOWN

_FIRST_WORD = re.compile(r"[^\W\d_]+")
_MEANINGS = {
    YES: frozenset({"yes", "true", "correct", "כן", "是", "ja", "oui", "sí", "si"}),
    NO: frozenset({"no", "false", "incorrect", "never", "לא", "否", "nein", "non"}),
    PARTIALLY: frozenset({"partially", "partly", "somewhat", "indirectly", "sometimes", "maybe", "חלקית"}),
}
_CANNOT_TELL = re.compile(
    r"(?:unknown|unclear|unsure|undetermined|irrelevant|cannot|can['’]t|n/a|לא ידוע"
    r"|do(?:es)?(?: not|n['’]t) (?:know|say)"
    r"|not (?:relevant|applicable|known|sure|stated|mentioned|clear|specified|told|given))(?!\w)"
)
_TEXT_IS_SILENT = re.compile(
    r"(?:(?:it|(?:the|this) (?:text|passage|paragraph|page|sentence|book|author)) )?"
    r"do(?:es)?(?: not|n['’]t) (?:say|tell)(?: us)?\W*"
)
"""Matches the whole option, because "The text does not tell lies" is an option of substance."""


def meaning_of(option: str) -> int | None:
    """Return ``YES``, ``NO``, ``PARTIALLY``, or ``UNKNOWN`` for "cannot tell"; ``None`` for an option of substance."""
    lowered = option[:60].casefold().strip()
    if _CANNOT_TELL.match(lowered) or _TEXT_IS_SILENT.fullmatch(lowered):
        return UNKNOWN
    found = _FIRST_WORD.search(lowered)
    if found is None or len(option.split()) > 4:
        return None
    return next((meaning for meaning, words in _MEANINGS.items() if found[0] in words), None)


def meanings(options: Sequence[str]) -> tuple[int | None, ...] | None:
    """Return the meaning of each option if yes and no are among them, else ``None``."""
    found = tuple(map(meaning_of, options))
    return found if YES in found and NO in found else None


def place_of(meaning: int, options: Sequence[str]) -> int | None:
    """Return the index of the option with this meaning; ``None`` if there is none, or several that begin with this
    "yes" or "no": "No", and "No idea"."""
    found = tuple(map(meaning_of, options))
    if meaning in (YES, NO) and found.count(meaning) > 1:
        return None
    return found.index(meaning) if meaning in found else None
