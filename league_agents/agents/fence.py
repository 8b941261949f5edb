"""A stranger's text on its way into a prompt: cut, cleaned, and fenced so that it cannot pretend to be anything else.

Rule: every text from the other side goes through ``fenced``. What stands between the marks is material, and the
prompts say so; the marks depend on the text itself, so a text cannot hold the mark that ends it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

_UNSEEN = re.compile(
    # Format characters, private use, half characters, controls; newline and tab stay.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\ue000-\uf8ff\ud800-\udfff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


def cleaned(text: str, most: int) -> str:
    """At most ``most`` characters of the text in normal form KC, without what cannot be seen."""
    shorter = text[: 4 * most + 64]
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", _UNSEEN.sub("", shorter)))[:most]


def fenced(text: str, label: str, most: int = 2000) -> str:
    """The text between two marks that it cannot hold. ``label`` says what it is: ``question 3``, ``guess``."""
    inner = cleaned(text, most)
    mark = hashlib.sha256(f"{label}\n{inner}".encode()).hexdigest()[:12]
    return f"<<{label} {mark}\n{inner}\n{mark}>>"
