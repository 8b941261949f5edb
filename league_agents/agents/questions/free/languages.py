"""The language of a text, and the word lists of German, Hebrew and Chinese that the core questions need."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_HEBREW, _HAN = re.compile("[\u05d0-\u05ea]"), re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MARKERS: Mapping[str, frozenset[str]] = {
    "en": _set_of(
        "the and of to a in is was he she it his her that with had for as not you but be my me this are at on "
    ),
    "de": _set_of(
        "der die das und ist war nicht ein eine einen einem von zu mit sich er sie es ich den dem im des als auf "
    ),
    "fr": _set_of("le la les et est était un une des du que qui dans il elle ne pas au je sur ce se avec "),
    "es": _set_of("el la los las y es era un una de que en no se con por su lo al del cuyo"),
    "it": _set_of("il lo la gli e è era un una di che in non si con per del nel della mi"),
    "la": _set_of("et est non cum sed ad quod ut qui quae sunt atque ab esse"),
}
_SHARED = 2
"""By how many marker words another language must lead before a text is taken for it."""


@lru_cache(maxsize=256)
def language_of(text: str) -> str:
    """Return ``en``, ``de``, ``he``, ``zh`` or another code; English if nothing tells."""
    if _HEBREW.search(text):
        return "he"
    if _HAN.search(text):
        return "zh"
    if not _LATIN.search(text):
        return "en"
    words = _WORD.findall(text.casefold())
    counts = {name: sum(word in markers for word in words) for name, markers in _MARKERS.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    if best != "en" and (counts[best] >= counts["en"] + _SHARED or (counts["en"] == 0 and counts[best])):
        return best
    return (
        "en" if text.isascii() or counts["en"] or not re.search(r"[а-яα-ω\u0600-\u06ff]", text.casefold()) else "other"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageWords:
    """Words of one language."""

    first_person: frozenset[str]
    numbers: frozenset[str]
    may_introduce_speech: frozenset[str]
    """Words that may introduce speech without quotation marks."""

    is_first_person_closed: bool
    """Whether a text without these words is not told in the first person."""

    past: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()


LANGUAGES: Mapping[str, LanguageWords] = {
    "de": LanguageWords(
        first_person=_set_of(
            "ich mich mir mein meine meinem meinen meiner meines wir uns unser unsere unserem unseren "
        ),
        numbers=_set_of(
            "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
            "siebzehn achtzehn neunzehn zwanzig dreißig dreissig vierzig fünfzig hundert tausend "
        ),
        may_introduce_speech=frozenset(),
        is_first_person_closed=True,
        past=_set_of(
            "war waren hatte hatten wurde wurden ging gingen kam kamen sah fand stand lag saß sagte sprach "
            "wuchs mußte musste konnte wollte sollte lebte reiste verliess verließ erwachte getan nahm gab "
            "ließ machte "
        ),
        present=_set_of("ist sind bin hat haben habe wird werden geht kommt steht liegt sagt kann muss will soll "),
    ),
    "he": LanguageWords(
        first_person=_set_of("אני אנכי אנוכי אנחנו אותי לי שלי אותנו לנו שלנו"),
        numbers=_set_of(
            "שניים שתיים שני שתי שלושה שלוש ארבעה ארבע חמישה חמש שישה שש שבעה שבע שמונה תשעה תשע עשרה עשר "
            "עשרים שלושים מאה אלף ושני ושתי "
        ),
        may_introduce_speech=_set_of("לאמר ויאמר אמר ותאמר"),
        is_first_person_closed=False,
    ),
    "zh": LanguageWords(
        first_person=_set_of("我 吾 余 俺 咱"),
        numbers=_set_of("二 三 四 五 六 七 八 九 十 百 千 万 萬 两 兩"),
        may_introduce_speech=_set_of("曰 说 說 道 云 ："),
        is_first_person_closed=True,
    ),
}
