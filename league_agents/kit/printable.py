"""Untrusted texts, made safe to show.

Rule: text of an agent, a file, a mail or an error never moves the cursor, never changes colours or the writing
direction, and never fills the screen. It is shown as one line of visible characters, or as several bounded lines.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 100_000
"""Characters of a text that are read; the rest is ignored."""

MOST_MARKS = 4
"""Combining marks on one letter. Pointed and cantillated Hebrew needs three; longer stacks overwrite other lines."""

# CSI and OSC sequences with their parameters: taking only the escape character out would leave "[31m" behind.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]{0,4}[0-~]?"
)
_JOINERS = "\u200c\u200d"
"""Invisible characters that Persian, Hindi and emoji need."""


def printable(text: str, most: int | None = None) -> str:
    """``text`` as one line of visible characters, of at most ``most`` characters: a longer one ends in ``…``."""
    line = " ".join("".join(_visible(_ESCAPES.sub("", text[:LONGEST]))).split())
    if most is not None and len(line) > most:
        return line[: max(0, most - 1)].rstrip() + "…"
    return line


def _visible(text: str) -> list[str]:
    if text.isascii() and text.isprintable():
        return [text]
    found: list[str] = []
    marks = 0
    for character in text:
        kind = unicodedata.category(character)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if kind in ("Cc", "Zl", "Zp"):
            found.append(" ")
        elif kind == "Cs":
            found.append("�")
        elif (kind == "Cf" and character not in _JOINERS) or marks > MOST_MARKS:
            continue
        else:
            found.append(character)
    return found


def line_of(error: BaseException, most: int = 300) -> str:
    """The class of an error of user code and, if it has one, its text: ``ValueError: no such book``.

    Raises nothing, although the class and its text are user code too and may raise anything.
    """
    name = "an error"
    try:
        name = printable(type(error).__name__, 80)
        text = printable(str(error), most)
    except BaseException:  # SystemExit included
        return name
    return f"{name}: {text}" if text else name


def of(value: object, most: int | None = None) -> str:
    """An untrusted JSON value as printable text; ``""`` for ``None`` and for nested values."""
    if isinstance(value, bool) or value is None or isinstance(value, (list, dict)):
        return ""
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1e15 else ""
    return printable(str(value), most) if isinstance(value, str) else str(value)[:40]
