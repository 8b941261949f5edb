"""What is said about a result of user code: what is wrong with it, and what was done about it.

Rule 1: whatever reads a result says here what it refuses and what it changes, in the same pass: a check and a match
cannot disagree.
Rule 2: a result without remarks is used as it came, but for white space.
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
    """How much a remark matters. Worst first."""

    BROKEN = "broken"
    """The result cannot be used: the callback is called again, or a fallback takes its place."""

    REPAIRED = "repaired"
    """The result is used, with a change."""

    WARNING = "warning"
    """The result is used as it came, and the match will be worse for it."""


SEVERITIES = tuple(Severity)


class Remark(Violation, frozen=True, kw_only=True):
    """One promise that a result does not keep."""

    severity: Severity

    done: str = ""
    """What was changed, as a clause: ``it is cut``. Empty where nothing was."""

    def __str__(self) -> str:
        return f"{super().__str__()}{'; ' if self.done else ''}{self.done}"


@dataclass(frozen=True, slots=True)
class ReadResult(Generic[T_co]):
    """What came of reading a result."""

    value: T_co
    remarks: Sequence[Remark] = ()

    @property
    def is_broken(self) -> bool:
        """Whether nothing of the result could be used."""
        return any(remark.severity is Severity.BROKEN for remark in self.remarks)

    @property
    def refusal(self) -> str:
        """Why it could not be used, in one line."""
        return "; ".join(lines([remark for remark in self.remarks if remark.severity is Severity.BROKEN]))

    @property
    def repairs(self) -> list[str]:
        """What was changed, one line for each kind of change."""
        return lines([remark for remark in self.remarks if remark.severity is Severity.REPAIRED])


MOST_LINES = 8
"""Kinds of remarks about one result that are told."""


def lines(remarks: Sequence[Remark]) -> list[str]:
    """The remarks in words. Alike ones are told once: twenty questions with the same fault are one line."""
    told = [str(remark) if times == 1 else f"{remark} ({times} times)" for remark, times in merged(remarks)]
    left = len(told) - MOST_LINES
    return [*told[:MOST_LINES], f"and {left} more"] if left > 0 else told


def merged(remarks: Sequence[Remark]) -> list[tuple[Remark, int]]:
    """Each kind of remark with how often it was made; the first one stands for all."""
    first: dict[tuple[str, str], Remark] = {}
    times: dict[tuple[str, str], int] = {}
    for remark in remarks:
        kind = kind_of(remark.path, remark.rule)
        first.setdefault(kind, remark)
        times[kind] = times.get(kind, 0) + 1
    return [(remark, times[kind]) for kind, remark in first.items()]


def kind_of(path: str, rule: str) -> tuple[str, str]:
    """What makes two remarks alike: the same rule at the same place of another item."""
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
        """Judge what was said so far otherwise."""
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
        """A text that the result cannot do without."""
        value = field_of(holder, key)
        text = text_of(value)
        if text is None:
            self.broken(key, text_rule(value, section), shown_text(value))
        return text


def reader(read: Callable[Concatenate[Remarks, object, P], T]) -> Callable[Concatenate[object, P], ReadResult[T]]:
    """A function that reads a result and remarks on it, as one that returns both."""

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
"""A text of a result is never deeper."""


def _say_what_is_replaced(said: Remarks, value: object, path: str, levels: int) -> None:
    """``text_of`` does it, wherever a text is read."""
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
    """But for places that were refused or replaced anyway."""
    paths = {remark.path for remark in said.list}
    for change in items_of(changes) or ():
        texts = [text for each in items_of(change) or () if (text := text_of(each)) is not None]
        if len(texts) == 4 and texts[0] not in paths:
            path, rule, found, done = (printable(text, 200) for text in texts)
            said.repaired(path, rule, found, done)


def text_rule(value: object, section: str) -> str:
    """The rule that a value breaks which is no text, an empty one, or one that is too long to be looked at."""
    if _is_too_long(value):
        return f"a text of at most {MOST_CHARACTERS} characters"
    return f"a text {'that is not empty ' if is_kind(value, str) else ''}(protocol {section})"


def shown_text(value: object) -> str:
    """What was found in place of a text that can be used."""
    return "a longer text" if _is_too_long(value) else shown(value)


def _is_too_long(value: object) -> bool:
    return is_kind(value, str) and text_of(value) is None


def words_found(text: str, limit: WordLimit) -> str | None:
    """How many words a text has that does not keep the limit; ``None`` when it does."""
    if is_within(text, limit):
        return None
    words = count_words(text)
    return f"{words if words < limit.least else count_tokens(text)} words"


def words_rule(limit: WordLimit, section: str) -> str:
    return f"{limit_in_words(limit)} (protocol {section})"
