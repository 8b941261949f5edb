"""Remarks on a result of user code: its faults, and the repairs made.

Rule 1: the code that reads a result records in the same pass what it refuses and changes, so a check and a match cannot
disagree.
Rule 2: a result without remarks is used unchanged, except for white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from itertools import islice
from typing import Concatenate, Generic, ParamSpec, TypeVar

from msgspec import MsgspecError, json

from league_agents.games.q21.rules import WordLimit
from league_agents.games.q21.untrusted import MOST_ITEMS, field_of, is_kind, items_of, text_of
from league_agents.games.q21.words import MOST_CHARACTERS, count_tokens, count_words, is_within, limit_in_words
from league_agents.kit.printable import printable
from league_agents.kit.values import evolve
from league_agents.kit.violation import COPY_CHANGES, Violation, shown

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_INDEX = re.compile(r"\[\d+\]")


class Severity(StrEnum):
    """The severity of a remark. Worst first."""

    BROKEN = "broken"
    """The result cannot be used: the callback is called again, or a fallback takes its place."""

    REPAIRED = "repaired"
    """The result is used, with a change."""

    WARNING = "warning"
    """The result is used unchanged, and the match will be worse for it."""


SEVERITIES = tuple(Severity)


class Remark(Violation, frozen=True, kw_only=True):
    """One requirement that a result does not meet."""

    severity: Severity

    done: str = ""
    """The change made, as a clause: ``it is cut``. Empty if there was none."""

    def __str__(self) -> str:
        return f"{super().__str__()}{'; ' if self.done else ''}{self.done}"


@dataclass(frozen=True, slots=True)
class ReadResult(Generic[T_co]):
    """A value that was read from a result, and the remarks on the result."""

    value: T_co
    remarks: Sequence[Remark] = ()

    @property
    def is_broken(self) -> bool:
        """Whether none of the result was usable."""
        return any(remark.severity is Severity.BROKEN for remark in self.remarks)

    @property
    def refusal(self) -> str:
        """Why the result was not usable, in one line."""
        return "; ".join(lines([remark for remark in self.remarks if remark.severity is Severity.BROKEN]))

    @property
    def repairs(self) -> list[str]:
        """The changes made, one line for each kind of change."""
        return lines([remark for remark in self.remarks if remark.severity is Severity.REPAIRED])


MOST_LINES = 8
"""Limit for the kinds of remarks about one result that are reported."""


def lines(remarks: Sequence[Remark]) -> list[str]:
    """Return the remarks as lines. Similar ones are merged: twenty questions with the same fault give one line."""
    told = [str(remark) if times == 1 else f"{remark} ({times} times)" for remark, times in merged(remarks)]
    left = len(told) - MOST_LINES
    return [*told[:MOST_LINES], f"and {left} more"] if left > 0 else told


def merged(remarks: Sequence[Remark]) -> list[tuple[Remark, int]]:
    """Return each kind of remark with its count; the first remark represents the others."""
    first: dict[tuple[str, str], Remark] = {}
    times: dict[tuple[str, str], int] = {}
    for remark in remarks:
        kind = kind_of(remark.path, remark.rule)
        first.setdefault(kind, remark)
        times[kind] = times.get(kind, 0) + 1
    return [(remark, times[kind]) for kind, remark in first.items()]


def kind_of(path: str, rule: str) -> tuple[str, str]:
    """Return the key by which remarks are merged: the same rule at the same place of another item."""
    return _INDEX.sub("[]", path), rule


class Remarks:
    """The remarks made so far."""

    def __init__(self) -> None:
        self.list: list[Remark] = []

    def broken(self, path: str, rule: str, found: str) -> None:
        self.list.append(Remark(severity=Severity.BROKEN, path=path, rule=rule, found=found))

    def repaired(self, path: str, rule: str, found: str, done: str) -> None:
        self.list.append(Remark(severity=Severity.REPAIRED, path=path, rule=rule, found=found, done=done))

    def warn(self, path: str, rule: str, found: str) -> None:
        self.list.append(Remark(severity=Severity.WARNING, path=path, rule=rule, found=found))

    def change_all(self, severity: Severity) -> None:
        """Change the severity of all remarks made so far."""
        self.list = [evolve(remark, severity=severity) for remark in self.list]

    def is_dict(self, value: object, path: str = "") -> bool:
        if is_kind(value, dict):
            return True
        self.broken(path, "a dict (protocol 6)", shown(value))
        return False

    def items(self, holder: object, key: str, most: int, section: str) -> list[object] | None:
        value = field_of(holder, key)
        items = items_of(value, most)
        if items is None:
            self.broken(key, f"a list of at most {most} items (protocol {section})", shown(value))
        return items

    def text(self, holder: object, key: str, section: str) -> str | None:
        """Return a required text; ``None`` with a remark if it is missing."""
        value = field_of(holder, key)
        text = text_of(value)
        if text is None:
            self.broken(key, text_rule(value, section), shown_text(value))
        return text


def reader(read: Callable[Concatenate[Remarks, object, P], T]) -> Callable[Concatenate[object, P], ReadResult[T]]:
    """Turn a function that reads a result and adds remarks into one that returns both."""

    @wraps(read)
    def with_remarks(result: object, /, *more: P.args, **named: P.kwargs) -> ReadResult[T]:
        said = Remarks()
        value = read(said, result, *more, **named)
        if not _is_writable(result):
            _say_what_is_replaced(said, result, "", _MOST_LEVELS)
        _say_what_the_copy_changed(said, field_of(result, COPY_CHANGES))
        return ReadResult(value, said.list)

    return with_remarks


def _is_writable(result: object) -> bool:
    try:
        json.encode(result)
    except (MsgspecError, TypeError, ValueError, RecursionError):  # ValueError: half of a surrogate pair
        return False
    return True


_MOST_LEVELS = 5
"""Greatest depth of a text in a result."""


def _say_what_is_replaced(said: Remarks, value: object, path: str, levels: int) -> None:
    """Remark on the characters that ``text_of`` replaces in any text of a result."""
    if is_kind(value, str):
        text = text_of(value)
        if text is not None and text != str.__str__(value):
            rule = "a text that UTF-8 can hold, without half a surrogate pair"
            said.repaired(path, rule, shown(value), "each of them became '?'")
    elif levels and is_kind(value, dict):
        for key, item in islice(dict.items(value), MOST_ITEMS):
            name = key if type(key) is str and key.isidentifier() else "?"
            _say_what_is_replaced(said, item, f"{path}.{name}" if path else name, levels - 1)
    elif levels:
        for place, item in enumerate(items_of(value) or ()):
            _say_what_is_replaced(said, item, f"{path}[{place}]", levels - 1)


def _say_what_the_copy_changed(said: Remarks, changes: object) -> None:
    """Remark on changes of the copy, except at places that already have a remark."""
    paths = {remark.path for remark in said.list}
    for change in items_of(changes) or ():
        texts = [text for each in items_of(change) or () if (text := text_of(each)) is not None]
        if len(texts) == 4 and texts[0] not in paths:
            path, rule, found, done = (printable(text, 200) for text in texts)
            said.repaired(path, rule, found, done)


def text_rule(value: object, section: str) -> str:
    """Return the rule that a value breaks that is not a text, is empty, or is too long to be read."""
    if _is_too_long(value):
        return f"a text of at most {MOST_CHARACTERS} characters"
    return f"a text {'that is not empty ' if is_kind(value, str) else ''}(protocol {section})"


def shown_text(value: object) -> str:
    """Describe a value that is no usable text."""
    return "a longer text" if _is_too_long(value) else shown(value)


def _is_too_long(value: object) -> bool:
    return is_kind(value, str) and text_of(value) is None


def words_found(text: str, limit: WordLimit) -> str | None:
    """Return the number of words of a text outside the limit; ``None`` if it keeps the limit."""
    if is_within(text, limit):
        return None
    words = count_words(text)
    return f"{words if words < limit.least else count_tokens(text)} words"


def words_rule(limit: WordLimit, section: str) -> str:
    return f"{limit_in_words(limit)} (protocol {section})"
