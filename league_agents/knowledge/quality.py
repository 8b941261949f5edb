"""Detect paragraphs that are not prose: formulae, code, tables, references, licences, lists of contents.

Rule 1: when in doubt it is prose. A paragraph is dropped for marks that prose does not have, never for its subject.
Rule 2: each mark is tested once, with a limited reach, because the text is untrusted.
"""

from __future__ import annotations

import re
from typing import Literal

Flaw = Literal["symbols", "code", "table", "contents", "references", "licence", "addresses"]

_MIN_LETTERS = 0.6
"""Share of letters among the characters other than spaces; tables of figures and rows of dots have fewer."""

_MOST_MATHS = 0.04
"""Share of mathematical signs; a sentence explaining a formula has fewer."""

_MOST_CODE = 0.05
_MOST_FIGURES = 0.3
"""Share of words that are numbers."""

_MOST_LEADERS = 2
_REFERENCE_MARKS = 4
_WORDS_PER_REFERENCE = 14
"""A paragraph of references has a reference mark in every line; prose with citations has fewer."""

_FEW = 3
"""Number of marks that any text may have by chance."""

_LOOKED_AT = 5_000
_FIGURE = re.compile(r"\d")
_ODD = re.compile(r"[{}=<>|\\^_@\[#~]|::|//|\(\)|[α-ω+×÷±∑∏∫√∞≈≠≤≥∂∇∈∉⊂⊆∪∩∀∃→←↔⇒⇔∧∨¬∝∆∙⋅]")
_MATHS = re.compile(r"[=+×÷±∑∏∫√∞≈≠≤≥<>∂∇∈∉⊂⊆∪∩∀∃→←↔⇒⇔∧∨¬∝∆∙⋅^|\\{}_]|(?<!\w)[α-ω](?!\w)")
_CODE = re.compile(
    r"[{}]|\w\(\)|[=!<>]=|[=-]>|::|//|[a-z]_[a-z]|\w\.\w{1,40}\(|\w\[\w{0,40}\]|;(?=\s*(?:\}|//|$))"
    r"|\b(?:def|class|function)\s\w{1,60}\(|\b(?:for|while|if|switch)\s?\(|#include|\bself\."
)
_LEADER = re.compile(r"(?:\.\s?){4,}\s?\d|…\s*\d{1,4}\b|_{4,}")
_REFERENCE = re.compile(
    r"\b(?:doi|arXiv|ISBN|ISSN|et al\.|[Pp]p\.\s?\d|[Vv]ol\.\s?\d|no\.\s?\d|Proc\.|Conf\.|Trans\.|[Uu]niversity Press"
    r"|In Proceedings|Springer|Elsevier|IEEE|ACM)|\((?:19|20)\d\d[a-z]?\)|\[\d{1,3}\]\s+[A-Z]|:\s?\d{1,4}[–-]\d{1,4}"
    r"|\b[A-Z]\.(?:\s?[A-Z]\.)?\s[A-Z][a-z]+,"
)
_LICENCES = (
    "all rights reserved",
    "permission is hereby granted",
    "without warranty of any kind",
    "without warranties of any kind",
    "licensed under the apache",
    "licensed under the mit",
    "licensed under the gnu",
    "licensed under the terms",
    "licensed under a creative commons",
    "creative commons attribution",
    "redistribution and use in source",
    "no part of this publication may be",
    "no part of this book may be",
    "project gutenberg license",
    "project gutenberg-tm",
    "project gutenberg™",
    "library of congress catalog",
    "כל הזכויות שמורות",
    "אין להעתיק, לשכפל",
    "版权所有",
    "版權所有",
    "alle rechte vorbehalten",
    "tous droits réservés",
    "todos los derechos reservados",
)
_ADDRESS = re.compile(r"https?://\S{4,}|www\.\S{4,}|[\w.+-]{1,60}@[\w-]{1,60}\.\w{2,10}")


def flaw(text: str) -> Flaw | None:
    """Return why a paragraph cannot be a target; ``None`` for prose."""
    text = text[:_LOOKED_AT]
    visible = len(text) - text.count(" ") - text.count("\n")
    if (has_figures := _FIGURE.search(text) is not None) and (found := _flaw_of_figures(text)):
        return found
    if sum(map(str.isalpha, text)) < _MIN_LETTERS * visible:
        return "symbols"
    folded = text.casefold()
    if any(mark in folded for mark in _LICENCES):
        return "licence"
    if ("www." in folded or "://" in folded or "@" in folded) and 2 * _length_of(_ADDRESS, text) > visible:
        return "addresses"
    if _ODD.search(text):
        if len(_CODE.findall(text)) > max(_FEW, _MOST_CODE * len(text.split())):
            return "code"
        maths = len(_MATHS.findall(text))
        if maths > _FEW and maths > _MOST_MATHS * visible:
            return "symbols"
    if has_figures or "et al." in text:
        references = len(_REFERENCE.findall(text))
        if references >= _REFERENCE_MARKS and references * _WORDS_PER_REFERENCE > len(text.split()):
            return "references"
    return None


def _flaw_of_figures(text: str) -> Flaw | None:
    words = text.split()
    if sum(word.strip(".,;:()%-–").isdigit() for word in words) > _MOST_FIGURES * len(words):
        return "table"
    return "contents" if len(_LEADER.findall(text)) >= _MOST_LEADERS else None


def _length_of(pattern: re.Pattern[str], text: str) -> int:
    return sum(len(match.group()) for match in pattern.finditer(text))
