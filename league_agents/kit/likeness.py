"""Compare texts without regard to compatibility forms, case, punctuation and invisible characters."""

from __future__ import annotations

import re
import unicodedata

# The code points that Unicode calls default ignorable: they are invisible, so they must not split a word.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_NO_LETTERS = re.compile(r"[\W_]+")


def comparable(text: str) -> str:
    """A text without case, whitespace and punctuation; ``""`` if nothing remains."""
    return composed(_NO_LETTERS.sub(_without_punctuation, evened(text)))


def evened(text: str) -> str:
    """A text without case, compatibility forms and invisible characters."""
    if text.isascii():
        return text.lower()
    # Case folding can undo the normal form, so the text is normalised again.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold())
    return _UNSEEN.sub("", folded)


def composed(text: str) -> str:
    """A text in normal form C, after characters were removed from it."""
    # A free-standing accent decomposes into a space and a combining accent, which joins the letter before it if the
    # space is removed.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _without_punctuation(found: re.Match[str]) -> str:
    return "".join(
        character
        for character in found[0]
        if not character.isspace() and not unicodedata.category(character).startswith("P")
    )
