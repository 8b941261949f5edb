"""Justifications of a guess, with a length that the rules allow.

Rule: a justification states only facts. A question is cited with the answer received, and only if that answer supports
the guess; letters of the alphabet are named only in citations, so that none can be mistaken for an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from league_agents.games.q21.rules import WordLimit
from league_agents.games.q21.words import count_tokens, fit

FILLERS = (
    "Every reply was weighed, allowing for mistakes on the way.",
    "The competing candidates explain fewer of them.",
    "Single errors would not change this.",
    "The rest agrees.",
    "Little contradicts it.",
    "Plausibly.",
)
"""Texts that lengthen a justification. They repeat no other word, and the last one fills any remaining gap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A question whose answer supports the guess."""

    number: int
    letter: str

    meaning: str
    """Meaning of the letter in one word; ``""`` if one word is not enough."""

    about: str
    """Subject of the question, as a short noun phrase."""


def justify_sentence(
    evidence: Sequence[Evidence],
    limit: WordLimit,
    *,
    spoken_of: Sequence[str],
    rivals: int,
    agreeing: int,
    heard: int,
    unlisted: bool = False,
) -> str:
    """Justify the opening sentence.

    ``evidence``: best first; ``spoken_of``: distinctive words of the sentence; ``unlisted``: the target is probably
    none of the ``rivals``, which the text then says.
    """
    if unlisted:
        known = f"None of the {rivals} known openings agrees well" if rivals else "No opening is known that agrees"
        closing = (
            f"{known} with the {heard} replies, so this book is probably not known here; the guess only follows what "
            "the answers tell."
        )
        return fit(closing, limit, FILLERS[:1] + FILLERS[3:])
    marks = " and ".join(f"“{word}”" for word in spoken_of[:2])
    naming = f" that names {marks}" if marks else ""
    if heard:
        closing = f"Of {rivals} candidate openings, the one{naming} agrees best, with {agreeing} of {heard} replies."
        if rivals <= 1:
            closing = f"The single known opening{naming} agrees with {agreeing} of {heard} replies."
    else:
        closing = f"Without usable replies the hint must decide, and the opening{naming} suits it best."
    return _assembled(evidence[:4], closing, limit, most_long=2)


def justify_word(
    evidence: Sequence[Evidence], limit: WordLimit, *, word: str, domain: str, rivals: int, is_in_text: bool
) -> str:
    """Justify the associative word."""
    where = "and stands in the passage itself" if is_in_text else "and outweighs the other possibilities"
    named = f" of the domain “{domain}”" if domain else ""
    closing = f"Among {rivals} words{named} considered, “{word}” remains likeliest {where}."
    if rivals == 1:
        closing = f"No other word{named} was possible, and “{word}” fits."
    return _assembled(evidence[:3], closing, limit, most_long=1)


def cited(evidence: Evidence) -> str:
    """``Question 4 was answered B (no).``"""
    return f"Question {evidence.number} was answered {_said(evidence)}."


def _said(evidence: Evidence) -> str:
    return f"{evidence.letter} ({evidence.meaning})" if evidence.meaning else evidence.letter


def _assembled(evidence: Sequence[Evidence], closing: str, limit: WordLimit, *, most_long: int) -> str:
    """Join as many citations as fit; the first ``most_long`` also name the subject of their question."""
    bare = [f"Question {each.number} was answered {each.letter}." for each in evidence]
    short = [cited(each) for each in evidence]
    long = [f"Question {e.number} was answered {_said(e)}, which settles {e.about}." for e in evidence]
    room = limit.most if limit.most is not None else limit.least + 25
    if count_tokens(" ".join([*short, closing])) > room:
        short = bare
    while short and count_tokens(" ".join([*short, closing])) > room:
        short.pop()
    lines = list(short)
    for i in range(min(most_long, len(lines))):
        if count_tokens(" ".join([*lines[:i], long[i], *lines[i + 1 :], closing])) <= room:
            lines[i] = long[i]
    return fit(" ".join([*lines, closing]), limit, FILLERS)
