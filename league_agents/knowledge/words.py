"""Tokens, stop words, and stems that make "wives" and "wife" equal.

The stems serve comparisons (does the hint share a word with the title? does the passage mention ships?) and are never
shown. They are light on purpose: plural, -ed, -ing, -ly and -ness are removed; "sailor" and "sail" stay different.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff"
HAN_RUN = re.compile(f"[{_HAN}]+")
_TOKEN = re.compile(rf"[{_HAN}]+|(?:(?![{_HAN}])[^\W_])+(?:['’׳״\"](?:(?![{_HAN}])[^\W_])+)*")


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS = _set_of(
    "a about above after again against all almost also although always am among an and any are as at away be "
    "because been before being below between both but by can cannot could did do does doing done down during each "
    "either else ever every few for from further had has have having he her here hers herself him himself his how "
    "however i if in into is it its itself just let like many may me might mine more most much must my myself "
    "neither never no none nor not now of off often on once one only onto or other others our ours out over own "
    "per perhaps quite rather s said same say says shall she should since so some still such t than that the thee "
    "their theirs them themselves then there these they thine this those thou though through thus thy till to too "
    "two under until up upon us very was we were what when where whether which while who whom whose why will with "
    "within without would yet you your yours yourself ain't aren't can't couldn't didn't doesn't don't hadn't "
    "hasn't haven't isn't mustn't shan't shouldn't wasn't weren't won't wouldn't d ll m o re ve don isn it's i'm "
    "i'll i've i'd he's he'd he'll she's she'd she'll we're we've we'd we'll they're they've they'd they'll "
    "you're you've you'd you'll that's there's what's who's let's 'tis tis twas הוא היא הם הן אני אתה את אתם "
    "אנחנו זה זאת זו אלה של על אל עם כי אם לא כן גם רק עוד יש אין היה היתה הייתה היו מה מי איך כל אבל או אך אז "
    "כאשר אשר עד בין לפני אחרי תחת כמו כך שם פה לו לה להם לי לך בו בה בהם ממנו"
)
_HAN_STOP = frozenset("的了是在不我他她它们們这這那有和也就都而及与與之其為为以于於個个一")

_IRREGULAR = {
    form: base
    for base, forms in (
        entry.split(":")
        for entry in _set_of(
            "man:men woman:women child:children foot:feet tooth:teeth goose:geese mouse:mice ox:oxen wife:wives "
            "life:lives knife:knives wolf:wolves leaf:leaves thief:thieves half:halves shelf:shelves self:selves "
            "calf:calves loaf:loaves elf:elves go:went,gone,goes,going see:saw,seen come:came know:knew,known "
            "think:thought tell:told find:found write:wrote,written speak:spoke,spoken die:died,dying,dies "
            "lie:lying,lied,lies tie:tied,ties stand:stood begin:began,begun take:took,taken give:gave,given "
            "leave:left lose:lost keep:kept meet:met fall:fell,fallen bear:born,bore"
        )
    )
    for form in forms.split(",")
}
_QUOTES = str.maketrans({"’": "'", "״": '"', "׳": "'"})
_VOWEL = re.compile(r"[aeiouy]")
_LONGEST_WORD = 64


def words_of(text: str) -> list[str]:
    """Return the words of ``text`` in order, case and accents folded; a run of Chinese characters is one element."""
    return _TOKEN.findall(_fold(text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the part that a folded word shares with its plural, its past, its -ing, its -ly and its -ness."""
    word = word[:_LONGEST_WORD].removesuffix("'s").removesuffix("'")
    if not word.isascii() or len(word) < 3:
        return word
    word = _IRREGULAR.get(word, word)
    for ending in ("lessness", "fulness", "iness", "ness"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix("iness") + "y" if ending == "iness" else word.removesuffix("ness")
            break
    if word.endswith("ly") and len(word) > 4:
        word = word[:-2]
    word = _without_plural(word)
    for ending in ("ing", "ed"):
        trunk = word.removesuffix(ending)
        if trunk != word and len(trunk) >= 2 and _VOWEL.search(trunk):
            if len(trunk) >= 4 and trunk[-1] == trunk[-2] and trunk[-1] not in "lsz":
                trunk = trunk[:-1]
            word = trunk
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) >= 3 and word[-1] == "y" and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return word


def forms_of_stems(stems: Collection[str], words: Iterable[str]) -> dict[str, list[str]]:
    """Return for each of the stems those of the ``words`` that have it; stems without one are left out."""
    # A stem begins like its word, which is far faster to see than the stem.
    beginnings = tuple({each[:2] for each in stems})
    found: dict[str, list[str]] = {}
    for word in words:
        if (word.startswith(beginnings) or word in _IRREGULAR) and (trunk := stem(word)) in stems:
            found.setdefault(trunk, []).append(word)
    return found


def content_words(text: str) -> set[str]:
    """Return the stems of the words that carry meaning; for Chinese, which has no spaces, pairs of characters."""
    found: set[str] = set()
    for token in words_of(text):
        if HAN_RUN.match(token):
            found.update(han_pairs(token) if len(token) > 1 else {token} - _HAN_STOP)
        elif token not in STOP_WORDS:
            found.add(stem(token))
    return found


def han_pairs(run: str) -> list[str]:
    """Return all pairs of neighbouring characters of a Chinese run; a single character is returned itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _fold(text: str) -> str:
    text = text.casefold()
    if text.isascii():
        return text
    # NFKD separates accents and Hebrew points from their letters, so that "café" and "cafe" are one word.
    apart = unicodedata.normalize("NFKD", text.translate(_QUOTES))
    return unicodedata.normalize("NFC", "".join(mark for mark in apart if not unicodedata.combining(mark)))


def _without_plural(word: str) -> str:
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return _IRREGULAR.get(word[:-1], word[:-1])
