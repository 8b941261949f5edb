"""Tokens of a question: words, numbers, quotations.

Rule 1: quoted text is one token and never part of the question's grammar.
Rule 2: the text is truncated before it is read, and no pattern can backtrack over it more than once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from league_agents.agents.questions.reading import fold

LONGEST_QUESTION = 600
MOST_TOKENS = 60
"""A longer text is no question that this grammar covers."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    r"[“„\"‘«「『](?P<quote>[^“”„\"‘’«»「」『』]{1,80})[”“\"’»」』]"
    r"|(?<!\w)'(?P<single>[^']{1,80})'(?!\w)"
    rf"|(?P<han>[{_HAN}])"
    r"|(?P<number>\d{1,6})(?P<suffix>st|nd|rd|th|s)?(?!\w)"
    rf"|(?P<word>(?:(?![{_HAN}])[^\W_])+(?:[’'׳״](?:(?![{_HAN}])[^\W_])+)*)"
    r"|(?P<mark>[,;:?!.()/，。？！、；：–—-])"
)
_DENIED = re.compile(r"(\w+)n['’]t$")
_POSSESSIVE = re.compile(r"(\w+)['’]s$")
_STEMS_OF_DENIALS = {"ca": "can", "wo": "will", "sha": "shall"}
_DROPPED_MARKS = frozenset("?!.？！。-–—()/")
_FIRST_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty "
)
_NUMBER_WORDS = {word: number for number, word in enumerate(_FIRST_NUMBERS.split())} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "hundred": 100,
    "dozen": 12,
}
_FOREIGN_NUMBERS = {
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "zwölf": 12, "fünfzehn": 15, "zwanzig": 20, "dreißig": 30,
    "שתי": 2, "שתיים": 2, "שלוש": 3, "ארבע": 4, "חמש": 5, "שש": 6, "שבע": 7, "שמונה": 8, "תשע": 9, "עשר": 10,
    "עשרים": 20, "שלושים": 30, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8,
    "九": 9, "十": 10,
}  # fmt: skip
_FOREIGN_NUMBERS |= {f"מ{word}": number for word, number in _FOREIGN_NUMBERS.items() if "א" <= word[0] <= "ת"}
_FILLERS = frozenset({"explicitly", "actually", "please", "indeed", "really", "specifically", "clearly", "anywhere"})
"""Words that change nothing in a question of fact."""


@dataclass(frozen=True, slots=True)
class AskedToken:
    """One word, number or quotation of a question."""

    text: str
    """Folded; ``«»`` for a quotation."""

    surface: str
    """As written; for a quotation its content."""

    number: int | None = None
    is_quote: bool = False
    is_first: bool = False
    """Whether the question begins with it, so that its capital tells nothing."""


def tokenise(text: str) -> tuple[AskedToken, ...] | None:
    """Return the tokens; ``None`` for an empty or too long text."""
    text = " ".join(text[:LONGEST_QUESTION].split())
    found: list[AskedToken] = []
    end = 0
    for match in _TOKEN.finditer(text):
        if not _is_empty(text[end : match.start()]):
            return None
        end = match.end()
        found += _tokens_of(match, is_first=not found)
        if len(found) > MOST_TOKENS:
            return None
    return tuple(found) if found and _is_empty(text[end:]) else None


def _is_empty(gap: str) -> bool:
    """Whether a text between tokens says nothing; what is not understood makes the whole question unreadable."""
    return not gap.strip(" \"'“”„‘’«»…")


def _tokens_of(match: re.Match[str], *, is_first: bool) -> list[AskedToken]:
    if quote := match["quote"] or match["single"]:
        return [AskedToken("«»", quote.strip(), is_quote=True)]
    if match["number"]:
        suffix = match["suffix"] or ""
        return [AskedToken(f"#{suffix}" if suffix else "#", match[0], number=int(match["number"]))]
    if mark := match["mark"]:
        return [] if mark in _DROPPED_MARKS else [AskedToken(mark, mark)]
    word = match[0]
    folded = fold(word)
    if folded in _FILLERS:
        return []
    if denied := _DENIED.fullmatch(folded):
        stem = _STEMS_OF_DENIALS.get(denied[1], denied[1])
        # "Isn't it long?" expects a yes for "it is long", unlike a machine's "Is it not long?".
        return [AskedToken("n't" if is_first else stem, word, is_first=is_first), AskedToken("not", "not")]
    if owned := _POSSESSIVE.fullmatch(folded):
        base = word[: len(owned[1])]
        return [AskedToken(owned[1], base, is_first=is_first), AskedToken("'s", "'s")]
    number = _NUMBER_WORDS.get(folded, _FOREIGN_NUMBERS.get(folded))
    return [AskedToken(folded, word, number=number, is_first=is_first)]
