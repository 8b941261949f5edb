"""Tell speeches of a play from prose, and take the speakers' names off them.

Rule: a name is a label because it recurs before many paragraphs; no single line is judged by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from league_agents.knowledge.headings import CHAPTER_HEADING, is_named_part
from league_agents.knowledge.layout import LineBlock
from league_agents.knowledge.sentences import ends_in_abbreviation

_LEAST_SPEECHES = 6
_LEAST_SHARE = 0.25
"""Share of the paragraphs that are speeches, in a play."""

_LEAST_SPEAKERS = 2
_LEAST_REPEATS = 2
_NAME = r"[^\W\d_][\w'’]*(?:[ .&]{1,3}[\w'’]+){0,3}"
_DIRECTION = r"(?:\s*[\[(][^\])]{0,160}[\])][.,]?)?"
_LABELLED = re.compile(
    rf"[_*]{{0,2}}(?P<name>{_NAME})[_*]{{0,2}}{_DIRECTION}"
    rf"(?:\s?[.:：][_*]{{0,2}}(?:—|--)?{_DIRECTION}\s*|\n)(?=\S)"
)
_ALONE = re.compile(rf"[_*]{{0,2}}(?P<name>{_NAME})[_*]{{0,2}}{_DIRECTION}\s?[.:：]?[_*]{{0,2}}$")
_NO_NAMES = frozenset(
    [
        "scene",
        "szene",
        "scène",
        "escena",
        "scena",
        "time",
        "place",
        "note",
        "notes",
        "exercise",
        "proof",
        "answer",
        "question",
        "example",
    ]
)
_LONGEST_NAME = 32
_MARKS = re.compile(r"[.:：\n\[(]")
_LOOKED_AT = 240


def with_speeches(parts: Sequence[LineBlock]) -> list[LineBlock]:
    """Return the parts with ``speech`` for each speech of a play, without its label; other books unchanged."""
    inline = [_label(part) for part in parts]
    alone = [_lone_label(part) for part in parts]
    counts = Counter(name for name in (*inline, *alone) if name)
    known = {name for name, count in counts.items() if count >= _LEAST_REPEATS}
    paragraphs = sum(part.kind in ("paragraph", "speech") for part in parts)
    spoken = sum(
        part.kind == "speech" or inline[i] in known or (i > 0 and alone[i - 1] in known) for i, part in enumerate(parts)
    )
    if spoken < max(_LEAST_SPEECHES, _LEAST_SHARE * paragraphs):
        return [LineBlock("paragraph", part.text) if part.kind == "speech" else part for part in parts]
    if not any(part.kind == "speech" for part in parts) and len(known) < _LEAST_SPEAKERS:
        return list(parts)
    # A line of capitals above a paragraph is a speaker in a play, also one who speaks once.
    known |= {name for part, name in zip(parts, inline, strict=True) if name and part.text.partition("\n")[0].isupper()}
    found: list[LineBlock] = []
    is_spoken = False
    for part, name, lone in zip(parts, inline, alone, strict=True):
        if lone in known:
            is_spoken = True
            continue
        if part.kind == "paragraph" and name in known:
            label = _LABELLED.match(part.text)
            found.append(LineBlock("speech", part.text[label.end() :] if label else part.text))
        elif part.kind == "paragraph" and is_spoken and not part.text.startswith(("[", "(")):
            found.append(LineBlock("speech", part.text))
        else:
            found.append(part)
        # A stage direction may stand between a name and the speech.
        is_spoken = is_spoken and part.kind != "heading" and part.text.startswith(("[", "("))
    return found


def _label(part: LineBlock) -> str | None:
    """Return the name before a paragraph's first words."""
    if part.kind != "paragraph" or not part.text[:2].lstrip("_*").isalpha():
        return None
    if _MARKS.search(part.text[: _LONGEST_NAME + 2]) is None:
        return None
    match = _LABELLED.match(part.text[:_LOOKED_AT])
    if match is None or len(match["name"]) > _LONGEST_NAME or not _may_be_name(match["name"]):
        return None
    if match.end() >= len(part.text) or (match.group().endswith("\n") and not _is_marked(match)):
        return None
    return match["name"].casefold()


def _is_marked(label: re.Match[str]) -> bool:
    """Return whether the name has a mark behind it, or capitals instead."""
    return label["name"].isupper() or label.group().rstrip().endswith((".", ":", "：", "]", ")"))


def _lone_label(part: LineBlock) -> str | None:
    """Return the name that stands alone in a block."""
    if part.kind not in ("paragraph", "subheading", "heading") or len(part.text) > _LOOKED_AT:
        return None
    match = _ALONE.match(part.text)
    if match is None or len(match["name"]) > _LONGEST_NAME or not _may_be_name(match["name"]):
        return None
    if CHAPTER_HEADING.match(part.text) or not (
        part.text.rstrip("_* ").endswith((".", ":", "：", "]", ")")) or part.text.isupper()
    ):
        return None
    return match["name"].casefold()


def _may_be_name(name: str) -> bool:
    first = name[:1]
    if CHAPTER_HEADING.match(name) or is_named_part(name) or name.casefold() in _NO_NAMES:
        return False
    return (first.isupper() or not first.isascii()) and not ends_in_abbreviation(f"{name}.")
