"""When a description gives its speaker's word away, and when it says what was said before (arena 3.2).

Rule: both questions are asked of the text as a listener takes it in: compatibility forms, case and characters that
nobody sees make no difference.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# The code points that Unicode calls default ignorable: they leave no ink, so they must not split a word.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
# Han with its extensions, kana and Hangul: scripts in which a word is not set apart by spaces.
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)
_NO_LETTERS = re.compile(r"[\W_]+")
_SPACE = re.compile(r"\s+")


def comparable(text: str) -> str:
    """What is left of a text when case, whitespace and punctuation are taken away; ``""`` if nothing is said."""
    return _composed(_NO_LETTERS.sub(_without_punctuation, _evened(text)))


def reveals(word: str, description: str) -> bool:
    """Whether a description names the word: anywhere in it for a Chinese, Japanese or Korean word, else as a word of
    its own, also with a final s, es or 's."""
    form = _form_of(word)
    text = _evened(description)
    if isinstance(form, str):
        return form in _composed(_SPACE.sub("", text))
    # A Latin word stands by itself between Chinese characters too.
    return form.search(text if text.isascii() else _CJK.sub(" ", text)) is not None


@lru_cache(maxsize=256)
def _form_of(word: str) -> str | re.Pattern[str]:
    evened = _evened(word)
    if _CJK.search(evened):
        return _composed(_SPACE.sub("", evened))
    spelled = r"\s+".join(re.escape(part) for part in evened.split())
    return re.compile(rf"(?<![^\W_]){spelled}(?:e?s|['’]s)?(?![^\W_])")


def _evened(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Folding case can undo the normal form, so it is made again.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold())
    return _UNSEEN.sub("", folded)


def _composed(text: str) -> str:
    # A free-standing accent is a space and a combining one; without the space it joins the letter before it.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _without_punctuation(found: re.Match[str]) -> str:
    return "".join(
        character
        for character in found[0]
        if not character.isspace() and not unicodedata.category(character).startswith("P")
    )
