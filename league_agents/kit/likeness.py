"""When two texts read alike: compatibility forms, case, punctuation and unseen characters make no difference."""

from __future__ import annotations

import re
import unicodedata

# The code points that Unicode calls default ignorable: they leave no ink, so they must not split a word.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_NO_LETTERS = re.compile(r"[\W_]+")


def comparable(text: str) -> str:
    """What is left of a text when case, whitespace and punctuation are taken away; ``""`` if nothing is said."""
    return composed(_NO_LETTERS.sub(_without_punctuation, evened(text)))


def evened(text: str) -> str:
    """The text without case, compatibility forms and unseen characters."""
    if text.isascii():
        return text.lower()
    # Folding case can undo the normal form, so it is made again.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold())
    return _UNSEEN.sub("", folded)


def composed(text: str) -> str:
    """The text in normal form C, after characters were taken out of it."""
    # A free-standing accent is a space and a combining one; without the space it joins the letter before it.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _without_punctuation(found: re.Match[str]) -> str:
    return "".join(
        character
        for character in found[0]
        if not character.isspace() and not unicodedata.category(character).startswith("P")
    )
