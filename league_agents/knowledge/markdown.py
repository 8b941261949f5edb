"""Classify the lines of a Markdown book, and remove its markup.

Rule 1: fenced and indented code, tables, lists, notes and HTML blocks are asides; block quotations are paragraphs.
Rule 2: as in ``layout``, every pattern has a limited reach.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from league_agents.knowledge.headings import CONTENTS_HEADING, LONGEST_HEADING
from league_agents.knowledge.layout import LineBlock, is_table, unwrapped

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+(?P<text>.*?))?[ \t]*#*[ \t]*$")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:[^\n]{0,500}\n){1,100}?(?:---|\.\.\.)[ \t]*\n")
_RUN_IN = re.compile(r"[ \t]*(\*\*|__)(?=\S)[^*_\n]{2,80}?(?:[.:]\1|\1[.:])[ \t]+(?=\S)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>")
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,300}\]\([^()\n]{0,1000}\)")
_LINK = re.compile(r"\[([^\[\]\n]{1,400})\](?:\([^()\n]{0,1000}\)|\[[^\[\]\n]{0,200}\])")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\[\]\n]{1,60}\]")
_STRONG = re.compile(r"(?<![\\*\w])(\*{1,3})(?=\S)([^*\n]{1,400}?)(?<=\S)\1(?![*\w])")
_STRONG_UNDERSCORE = re.compile(r"(?<![\\_\w])(_{1,3})(?=\S)([^_\n]{1,400}?)(?<=\S)\1(?![_\w])")
_CODE = re.compile(r"(`{1,3})(?!`)([^`\n]{1,400})\1(?!`)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def markdown_blocks(text: str) -> Iterator[LineBlock]:
    """Yield the parts of a Markdown text in order, each without its markup."""
    text = _without_comments(_FRONT_MATTER.sub("", text, count=1))
    group: list[str] = []
    fence: str | None = None
    for line in [*text.split("\n"), ""]:
        if fence is not None:
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(fence) and not line.strip(" `~"):
                fence = None
            continue
        opening = _FENCE.match(line)
        atx = _ATX.match(line[:400])
        underline = group and re.match(r" {0,3}(?:=+|-+)[ \t]*$", line[:200])
        if opening or atx or underline or not line.strip():
            if underline:
                yield LineBlock("heading", _inline(" ".join(group)))
            elif group:
                yield _markdown_block(group)
            group = []
            if opening:
                fence = opening[1]
            elif atx and atx["text"]:
                heading = _inline(atx["text"])
                yield LineBlock("contents" if CONTENTS_HEADING.match(heading[:LONGEST_HEADING]) else "heading", heading)
            continue
        group.append(line)


def _without_comments(text: str) -> str:
    kept = []
    start = 0
    while (opened := text.find("<!--", start)) >= 0 and (closed := text.find("-->", opened)) >= 0:
        kept.append(text[start:opened])
        start = closed + len("-->")
    return "".join([*kept, text[start:]])


def _markdown_block(lines: list[str]) -> LineBlock:
    first = lines[0]
    if first.startswith(("    ", "\t")) or _LIST_ITEM.match(first) or first.lstrip().startswith(("|", "[^", "<")):
        return LineBlock("aside", first.strip())
    if first.lstrip().startswith(">"):
        lines = [re.sub(r"^ {0,3}> ?", "", line) for line in lines]
    if is_table(lines) or all(not any(map(str.isalnum, line)) for line in lines):
        return LineBlock("aside", first.strip())
    # A heading in bold letters on the paragraph's first line.
    lines = [_RUN_IN.sub("", lines[0], count=1), *lines[1:]]
    broken = sum(line.endswith(("  ", "\\")) for line in lines[:-1])
    stripped = [line.strip().removesuffix("\\") for line in lines]
    if broken * 2 > len(lines) - 1 > 0:
        return LineBlock("paragraph", "\n".join(filter(None, map(_inline, stripped))))
    return LineBlock("paragraph", _inline(unwrapped(stripped)))


def _inline(text: str) -> str:
    """Return the words without their markup."""
    text = _FOOTNOTE_MARK.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    for mark in (_CODE, _STRONG, _STRONG_UNDERSCORE):
        text = mark.sub(r"\2", text)
    return " ".join(_ESCAPE.sub(r"\1", _TAG.sub("", text)).split())
