"""What is a paragraph to read, and what only looks like one."""

from __future__ import annotations

import pytest

from league_agents.knowledge.quality import Flaw, flaw

MATHS = """Let f(x) = ax^2 + bx + c with a ≠ 0. Then x = (-b ± √(b^2 − 4ac)) / 2a, and f'(x) = 2ax + b = 0 gives
x = -b / 2a, where f''(x) = 2a > 0 so that the value is the least one there is."""
SUMS = """The weight is given by wᵢ = αᵢ · βᵢ and the sum ∑ wᵢ ≤ λ where λ ∈ ℝ and α → ∞ for every i in the set, which
was to be shown."""
CODE = """def main(arguments): return run(arguments[0]) if arguments else None; for (i = 0; i < n; i++)
{ total += values[i]; } print(total) and so it ends; self.run() => result"""
REFERENCES = """[12] A. Writer, B. Other, On Boats, J. Naval vol. 12, pp. 14–29 (1998). [13] C. Third et al., Rafts,
Proc. of the 4th Conf. on Water, Springer, 2001, doi:10.1/12. [14] D. Fourth, Ships, University Press (2004)."""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "0.1 22.4a | 17.8 | x3.5 (4.4) [12] 99.1 ... 12.5% and 7.7 of 8.8; 9.9 (±0.1) ++ -- 12:14 // 13:15",
            "symbols",
        ),
        (MATHS, "symbols"),
        (SUMS, "symbols"),
        (CODE, "code"),
        ("Year 1990 1991 1992 1993 Ships 14 15 17 12 Boats 3 4 5 6 Rafts and all others 7 8 9 10", "table"),
        (
            "Chapter One. The Harbour ....... 7 Chapter Two. The Pier ....... 19 Chapter Three. Nets ....... 31",
            "contents",
        ),
        (REFERENCES, "references"),
        (
            "Copyright 2020 by the authors. All rights reserved. No copies may be made of it by anyone at all.",
            "licence",
        ),
        ("כל הזכויות שמורות למחברים. אין לצלם או להעתיק את הספר ללא רשות בכתב מן המוציא לאור.", "licence"),
        (
            "See https://example.org/a/long/path/to/something and https://example.org/another/one/to/look/at",
            "addresses",
        ),
    ],
)
def test_what_nobody_reads_for_its_words_is_named(text: str, found: Flaw) -> None:
    assert flaw(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "It was I; and you; and they; and all of us let go; we returned; we imported tea; it was public; it was over.",
        "In 1914 the war began. In 1918, on the 11th of November at 11, it ended, after 4 years, 3 months and 14 days.",
        "The formula E = mc² is known to everybody, and hardly anybody could say what follows from it for a kettle.",
        "[To the DUKE.] I'll have no father, if he be not you. [To her.] I'll have no husband, if he be not this man.",
        "Writer (1998) was the first who said so, and Other (2001) agreed. The rest of us kept silent for a long time.",
        "He pleaded for the liberty of unlicensed printing, which was licensed under the hands of two or three friars.",
        "Write to me at ann@example.org, she said, and tell me all about the boats and the old man.",
        "הפרוטוקול TCP מבטיח שכל הנתונים יגיעו בסדר הנכון. השולח ממתין לאישור על כל חבילה (עד 200 אלפיות השנייה).",
        "話說天下大勢，分久必合，合久必分。周末七國分爭，并入於秦。",
    ],
)
def test_prose_stays_prose_whatever_it_is_about(text: str) -> None:
    assert flaw(text) is None
