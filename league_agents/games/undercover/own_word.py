"""Detect descriptions that contain their speaker's word (arena 3.2).

Rule: texts are compared as a listener perceives them: compatibility forms, case and invisible characters make no
difference.
"""

from __future__ import annotations

import re
from functools import lru_cache

from league_agents.kit.likeness import composed, evened

# Han with its extensions, kana and Hangul: scripts that do not separate words by spaces.
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)
_SPACE = re.compile(r"\s+")


def reveals(word: str, description: str) -> bool:
    """Whether a description contains the word: a Chinese, Japanese or Korean word anywhere, any other word as a whole
    word, also with a final s, es or 's."""
    form = _form_of(word)
    text = evened(description)
    if isinstance(form, str):
        return form in composed(_SPACE.sub("", text))
    # A Latin word counts as a whole word between Chinese characters too.
    return form.search(text if text.isascii() else _CJK.sub(" ", text)) is not None


@lru_cache(maxsize=256)
def _form_of(word: str) -> str | re.Pattern[str]:
    text = evened(word)
    if _CJK.search(text):
        return composed(_SPACE.sub("", text))
    spelled = r"\s+".join(re.escape(part) for part in text.split())
    return re.compile(rf"(?<![^\W_]){spelled}(?:e?s|['’]s)?(?![^\W_])")
