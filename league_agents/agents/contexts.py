"""Reading the context that a runner passes to a callback.

Rule 1: every key may be missing or of the wrong type, and every text may be hostile: a missing key reads as empty, and
every text is truncated before it is read.
Rule 2: runners differ in where they put a key (protocol 6.2), so the lookup order is ``dynamic``, ``service``, the
context itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from league_agents.games.q21.model import LETTERS, Brief

LONGEST_TEXT = 20_000
_MOST_ITEMS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question as the player sent it."""

    number: int
    text: str
    options: tuple[str, str, str, str]


class CallContext:
    """Checked access to the context of one callback."""

    def __init__(self, ctx: object) -> None:
        whole = ctx if isinstance(ctx, Mapping) else {}
        parts = [whole.get("dynamic"), whole.get("service"), whole]
        self._parts = [part for part in parts if isinstance(part, Mapping)]

    def value(self, key: str) -> object:
        """Return the value of ``key``; ``None`` if it is missing."""
        return next((part[key] for part in self._parts if part.get(key) is not None), None)

    def text(self, key: str) -> str:
        return as_text(self.value(key))

    def brief(self) -> Brief:
        return Brief(
            book_name=self.text("book_name"),
            book_hint=self.text("book_hint"),
            association_domain=self.text("association_word"),
        )

    def match_id(self) -> str:
        """Return the identifier of the match; empty if the runner does not provide it."""
        return self.text("match_id") or self.text("game_id")

    def questions(self, key: str) -> list[AskedQuestion]:
        """Return the questions under ``key``; the key names of older clients are accepted too (protocol 4.4.4)."""
        found: list[AskedQuestion] = []
        for position, item in enumerate(_items(self.value(key)), start=1):
            if isinstance(item, Mapping):
                number = _first(item, "question_number", "number", "id")
                found.append(
                    AskedQuestion(
                        number=number if type(number) is int and 0 < number < 10**6 else position,
                        text=as_text(_first(item, "question_text", "text", "question")),
                        options=_options(_first(item, "options", "choices")),
                    )
                )
            elif isinstance(item, str):
                found.append(AskedQuestion(number=position, text=as_text(item), options=("", "", "", "")))
        return found

    def answers(self) -> dict[int, str]:
        """Map question numbers to capital letters. Other answers, such as Not Relevant, are left out."""
        found: dict[int, str] = {}
        for position, item in enumerate(_items(self.value("answers")), start=1):
            if isinstance(item, Mapping):
                number = _first(item, "question_number", "question_id", "number")
                choice = as_text(_first(item, "answer", "selected_option", "choice", "selected"))
            else:
                number, choice = position, as_text(item)
            if isinstance(number, str) and number.isdecimal() and len(number) < 6:
                number = int(number)
            letter = choice.strip()[:1].upper() if len(choice.strip()) == 1 else ""
            if type(number) is int and letter in LETTERS:
                found.setdefault(number, letter)
        return found


def as_text(value: object) -> str:
    """Return ``value`` truncated to the longest allowed length; an empty text if it is not a text."""
    return value[:LONGEST_TEXT] if isinstance(value, str) else ""


def _items(value: object) -> list[object]:
    return list(value[:_MOST_ITEMS]) if isinstance(value, (list, tuple)) else []


def _first(item: Mapping[str, object], *keys: str) -> object:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _options(value: object) -> tuple[str, str, str, str]:
    if isinstance(value, Mapping):
        a, b, c, d = (as_text(value.get(letter)) for letter in LETTERS)
        return a, b, c, d
    listed = [as_text(option) for option in _items(value)[:4]]
    listed += [""] * (4 - len(listed))
    return listed[0], listed[1], listed[2], listed[3]
