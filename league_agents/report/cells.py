"""Render values of a match's JSON document for display.

Rule: any value is rendered as bounded, printable text and never as markup; a missing value is described in words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from league_agents.kit.json_values import mappings, number
from league_agents.kit.printable import of

LONGEST_LINE = 300
"""Characters of a hint or a sentence; the rules allow longer texts."""

LONGEST_PARAGRAPH = 1600
"""Characters of a justification: two hundred words and more."""

MOST_PLAYERS = 8


def players_of(document: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The players of a match."""
    return mappings(document.get("players"))[:MOST_PLAYERS]


def name_of(player: Mapping[str, object]) -> str:
    """The id that identifies a player in texts."""
    return of(player.get("id"), 40) or "?"


def line(value: object) -> Text:
    """A text of one line."""
    return Text(of(value, LONGEST_LINE) or "(empty)")


def quoted(value: object, missing: str = "(empty)") -> Text:
    """A sentence or a word in quotation marks."""
    shown = of(value, LONGEST_LINE)
    return Text(f"“{shown}”", style="bold") if shown else Text(missing, style="italic")


def paragraph(value: object) -> Text:
    """A text of several lines."""
    return Text(of(value, LONGEST_PARAGRAPH) or "(no text)", style="dim")


def shown_number(value: object) -> str:
    """A score with one digit; a dash for none."""
    found = number(value)
    return "–" if found is None else f"{found:.1f}"


def pairs() -> Table:
    """An empty table for names and values."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), expand=True)
    table.add_column(no_wrap=True, style="dim", width=8)
    table.add_column(ratio=1, overflow="fold")
    return table


_SENTENCE_END = re.compile(r"[.!?。！？][”\"')]*(?=\s|$)")


def beginning(value: object, most: int) -> tuple[str, bool]:
    """The first sentences of a text within ``most`` characters, and whether the rest was cut."""
    text = of(value, LONGEST_PARAGRAPH)
    if len(text) <= most:
        return text, False
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, most)]
    return (text[: ends[-1]], True) if ends else (of(text, most), True)
