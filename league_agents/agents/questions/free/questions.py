"""Freely worded questions answered: the true option, or nothing.

Rule 1: an answer is based on the page, or on the book's title, author and year; if none decides, the answer is ``None``
and the referee answers "cannot tell". Answers are never guessed.
Rule 2: an option of substance is given as the answer only if it is the only true one of the four.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from league_agents.agents.questions.answer_key import meanings, place_of
from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.free.chinese import chinese
from league_agents.agents.questions.free.choices import Sought
from league_agents.agents.questions.free.claims import AskedClaim, ClaimTarget, verdict
from league_agents.agents.questions.free.english import english
from league_agents.agents.questions.free.german import german
from league_agents.agents.questions.free.hebrew import hebrew
from league_agents.agents.questions.free.languages import language_of
from league_agents.agents.questions.free.tokens import LONGEST_QUESTION, tokenise
from league_agents.agents.questions.kinds import NO, YES
from league_agents.agents.questions.reading import CandidateReading
from league_agents.games.q21.information import UNKNOWN

_LONGEST_OPTION = 200


def answer_foreign(text: str, options: Sequence[str], reading: CandidateReading, facts: Facts) -> int | None:
    """Return the index (0 to 3) of the true option; ``None`` if it cannot be decided."""
    given = [" ".join(option[:_LONGEST_OPTION].split()) for option in options]
    target = ClaimTarget(reading=reading, facts=facts)
    text = _without_title(text[:LONGEST_QUESTION], facts.title)
    if meanings(given) is not None:
        claims = claims_of(text)
        found = verdict(claims, target)
        return None if found is None else place_of(YES if found else NO, given)
    places = {sought.choose(given, target) for sought in sought_of(text)}
    return places.pop() if len(places) == 1 else None


def cannot_tell(options: Sequence[str]) -> int | None:
    """Return the index of the option that means "unknown"; ``None`` if there is none."""
    return place_of(UNKNOWN, [option[:_LONGEST_OPTION] for option in options])


_PART = r"\b(?:sentence|line|opening|beginning|start|passage|paragraph|words?)"


def _without_title(text: str, title: str) -> str:
    """The question with "the opening sentence of the book" for "… of TITLE": the title says only which book is meant.

    Only behind a part of a text: "does it speak of Emma?" is about a person.
    """
    words = title.split()
    if not words:
        return text
    name = r"\s+".join(map(re.escape, words))
    kind = r"(?:the\s+)?(?:book|novel|play|story|work)\s+"
    named = rf"({_PART})\s+(?:of|in|from)\s+(?:{kind})?[“\"'‘«]?{name}[”\"'’»]?(?!\w)"
    return re.sub(named, r"\1 of the book", text, flags=re.IGNORECASE)


@lru_cache(maxsize=4096)
def claims_of(text: str) -> tuple[AskedClaim, ...]:
    """Return all claims that the question may mean; empty if the grammar does not cover it."""
    tokens = tokenise(text)
    if tokens is None or tokens[0].text == "n't":
        return ()
    language = language_of(" ".join(token.surface for token in tokens if not token.is_quote))
    if language in ("he", "zh"):
        return tuple((hebrew() if language == "he" else chinese()).parse("QUESTION", tokens))
    return tuple(english().parse("QUESTION", tokens) or german().parse("QUESTION", tokens))


@lru_cache(maxsize=1024)
def sought_of(text: str) -> tuple[Sought, ...]:
    """Return what the question may seek among its options; empty if the grammar does not cover it."""
    tokens = tokenise(text)
    return () if tokens is None else tuple(english().parse("SOUGHT", tokens))
