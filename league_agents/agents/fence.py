"""Untrusted text in prompts: truncated, cleaned, and fenced so that it cannot pass for instructions.

Rule 1: every text from the other side goes through ``fenced`` or ``fenced_lines``. Text between the marks is material,
and the prompts say so.
Rule 2: a fence cannot be opened, closed or imitated from inside: no text keeps two angle brackets in a row, the marks
depend on the text, and a text that holds its own mark gets another one.
Rule 3: invisible characters are removed, and role marks of chat servers are replaced.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

_UNSEEN = re.compile(
    # Controls (newline and tab stay), format characters, blank letters, variation selectors, surrogates, private
    # use, tags, noncharacters.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_HEAPED = re.compile("([\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{4})"
                     "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+")  # fmt: skip
"""More than four marks on one letter: pointed and cantillated Hebrew needs three."""

_BRACKETS = re.compile(r"<{2,}|>{2,}")
# Marks that chat servers put around roles. Some servers also interpret them inside a message, so they are replaced.
_ROLE_MARKS = re.compile(
    r"<\s*(?=\|)|(?<=\|)\s*>|<(?=/?(?:s|bos|eos|start_of_turn|end_of_turn|system|user|assistant|im_start|im_end|tool_call"
    r"|function_call|think)\b)|\[(?=/?(?:INST|SYS|SYSTEM_PROMPT|TOOL_CALLS|AVAILABLE_TOOLS)\])",
    re.IGNORECASE,
)
_HARMLESS = {"<": "‹", ">": "›", "[": "("}
_LABEL = re.compile(r"[a-z][a-z0-9 ]{0,40}")


def cleaned(text: str, most: int) -> str:
    """Return at most ``most`` characters of the text in normal form KC, without invisible characters, and with other
    brackets in the marks of fences and of chat servers.
    """
    shorter = _UNSEEN.sub("", text[: 4 * most + 64])
    # Normalisation can expand one letter to eighteen and sorts combining marks in quadratic time, so thin them out.
    shorter = _HEAPED.sub(r"\1", shorter)[: 2 * most + 64]
    plain = _HEAPED.sub(r"\1", _UNSEEN.sub("", unicodedata.normalize("NFKC", shorter)))[:most]
    plain = _BRACKETS.sub(lambda found: "‹" if found[0][0] == "<" else "›", plain)
    # Replace instead of removing: the text around a removed mark could form another mark.
    return _ROLE_MARKS.sub(lambda found: _HARMLESS[found[0].strip()], plain)


def one_line(text: str, most: int) -> str:
    """The cleaned text with single spaces for all white space."""
    return " ".join(cleaned(text, 2 * most).split())[:most].rstrip()


def whole_words(text: str, most: int) -> str:
    """``one_line`` that ends with a whole word; a text that was cut ends with an ellipsis."""
    whole = one_line(text, 2 * most + 64)
    if len(whole) <= most:
        return whole
    return f"{whole[:most].rpartition(' ')[0].rstrip(' ,;:') or whole[: most - 1]}…"


def fenced(text: str, label: str, most: int = 2000) -> str:
    """Return the text between two marks that it cannot contain. ``label`` names it: ``question 3``, ``guess``."""
    return _between(cleaned(text, most), label)


def fenced_lines(lines: Iterable[str], label: str, most: int = 400) -> str:
    """Return several texts in one fence, each on exactly one line of at most ``most`` characters."""
    return _between("\n".join(one_line(line, most) for line in lines), label)


def marks_around(text: str, label: str) -> tuple[str, str]:
    """The two marks of a fence around this text, which it cannot contain: for a text that has to stay as it is, such as
    JSON. ``label`` as in ``fenced``."""
    if not _LABEL.fullmatch(label):
        raise ValueError(f"a label is a few small letters and digits, not {label!r}")
    turn = 0
    while (mark := hashlib.sha256(f"{label}\n{turn}\n{text}".encode(errors="replace")).hexdigest()[:12]) in text:
        turn += 1
    return f"<<{label} {mark}", f"{mark}>>"


def _between(inner: str, label: str) -> str:
    opening, closing = marks_around(inner, label)
    return f"{opening}\n{inner}\n{closing}"
