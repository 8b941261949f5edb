"""Gmail's search language, as far as programs use it.

Rule 1: adjacent words must all match; ``OR`` binds tighter than that, ``-`` tightest; ``( )`` groups and ``{ }`` means
any of.
Rule 2: a word matches whole words. ``subject:league.v2`` looks for the words ``league`` and ``v2`` side by side, and
``subject:Q21`` does not find ``Q21G``.
Rule 3: an unreasonably long or deeply nested query is refused: length and depth are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from league_agents.sandbox.mail_view import MailView, words_of
from league_agents.sandbox.refusal import invalid
from league_agents.sandbox.timekeeping import instant

LONGEST_QUERY = 8_000
DEEPEST_QUERY = 40

_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[(){}])|(?P<minus>-)(?=[^\s-])|(?P<name>[A-Za-z0-9_]+):(?=[^\s)}])|\"(?P<quoted>[^\"]*)\"?|"
    r"(?P<word>[^\s(){}\"]+))"
)
_AGE = re.compile(r"(\d{1,4})([hdmy])")
_SIZE = re.compile(r"(\d{1,12})([km]?)b?", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})")
_AGE_DAYS = {"h": 1 / 24, "d": 1.0, "m": 30.0, "y": 365.0}


class Searched(Protocol):
    """The fields of a mail that a query reads."""

    @property
    def labels(self) -> set[str]: ...
    @property
    def internal_ms(self) -> int: ...
    @property
    def raw(self) -> bytes: ...
    @property
    def view(self) -> MailView: ...


Test = Callable[[Searched], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A parsed query."""

    fits: Test
    labels: frozenset[str] = frozenset()
    """Labels that every matching mail has; they narrow the search."""

    names_spam_or_trash: bool = False
    """Whether the query itself asks for spam or trash, which are hidden otherwise."""


ANYTHING = Query(fits=lambda _: True)


@dataclass(slots=True)
class _Reader:
    """Recursive descent over the tokens."""

    tokens: list[re.Match[str]]
    label_ids: Callable[[str], str | None]
    now: datetime
    place: int = 0
    reaches_hidden: bool = False
    needed: set[str] = field(default_factory=set)
    """Labels that the outermost terms require."""

    def mark(self) -> str:
        """The next token if it is a bracket or ``OR``, else an empty text."""
        if self.place == len(self.tokens):
            return ""
        token = self.tokens[self.place]
        return token["mark"] or (token["word"] if token["word"] in ("OR", "AND", "|") else "")

    def sequence(self, closing: str, depth: int, *, is_any: bool = False) -> Test:
        if depth > DEEPEST_QUERY:
            raise invalid("Invalid query: too many levels of brackets")
        tests: list[Test] = []
        while self.place < len(self.tokens):
            mark = self.mark()
            if mark in (")", "}"):
                self.place += 1
                if mark == closing:
                    break
                continue  # a stray bracket is ignored, as in Gmail
            if mark in ("OR", "AND", "|"):
                self.place += 1
                continue
            before = set(self.needed)
            alternatives = [self.term(depth)]
            while self.mark() in ("OR", "|"):
                self.place += 1
                if self.place < len(self.tokens) and self.mark() not in (")", "}"):
                    alternatives.append(self.term(depth))
            if len(alternatives) > 1 or depth or is_any:
                self.needed = before  # only a term that stands alone on the outermost level is required
            tests.append(_any(alternatives) if len(alternatives) > 1 else alternatives[0])
        return _any(tests) if is_any and tests else _all(tests)

    def term(self, depth: int) -> Test:
        token = self.tokens[self.place]
        self.place += 1
        if token["minus"]:
            if self.place == len(self.tokens):
                return ANYTHING.fits
            before, reached = set(self.needed), self.reaches_hidden
            test = self.term(depth + 1)
            self.needed, self.reaches_hidden = before, reached
            return lambda mail: not test(mail)
        if token["mark"] == "(":
            return self.sequence(")", depth + 1)
        if token["mark"] == "{":
            return self.sequence("}", depth + 1, is_any=True)
        if token["name"]:
            return self.operator(token["name"].lower(), depth)
        return _contains(_everything, token["quoted"] if token["word"] is None else token["word"])

    def operator(self, name: str, depth: int) -> Test:
        token = self.tokens[self.place]
        if token["mark"] in ("(", "{"):
            # subject:(a b), from:{x y}: the operator holds for each word within.
            self.place += 1
            return self.group(name, "}" if token["mark"] == "{" else ")", depth + 1)
        self.place += 1
        if token["name"]:  # rfc822msgid:a:b and the like: the value continues
            value = token["name"] + ":"
            if self.place < len(self.tokens):
                following = self.tokens[self.place]
                value += following["word"] or following["quoted"] or ""
                self.place += 1
        elif token["minus"]:
            following_word = self.tokens[self.place]["word"] if self.place < len(self.tokens) else None
            value = "-" + (following_word or "")
            self.place += 1
        else:
            value = token["word"] if token["quoted"] is None else token["quoted"]
        return self.single(name, value or "", depth)

    def group(self, name: str, closing: str, depth: int) -> Test:
        if depth > DEEPEST_QUERY:
            raise invalid("Invalid query: too many levels of brackets")
        runs: list[list[Test]] = [[]]
        joined = False
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if self.mark() in (")", "}"):
                self.place += 1
                break
            if self.mark() in ("OR", "|"):
                joined, self.place = True, self.place + 1
                continue
            if self.mark() == "AND":
                self.place += 1
                continue
            negated = bool(token["minus"])
            if negated:
                self.place += 1
                if self.place == len(self.tokens):
                    break
                token = self.tokens[self.place]
            test = self.operator(name, depth)
            if negated:
                test = _not(test)
            if joined and runs[-1]:
                runs[-1].append(test)
            else:
                runs.append([test])
            joined = False
        tests = [_any(run) for run in runs if run]
        return _any(tests) if closing == "}" and tests else _all(tests)

    def single(self, name: str, value: str, depth: int) -> Test:
        lowered = value.lower()
        if name in ("in", "label", "is"):
            return self.place_test(name, lowered, depth)
        if name in _HEADERS:
            return _header_test(_HEADERS[name], value)
        if name == "rfc822msgid":
            wanted = value.strip().strip("<>")
            return lambda mail: wanted in mail.view.message_ids
        if name == "filename":
            return lambda mail: any(_is_named(each, lowered) for each in mail.view.file_names)
        if name == "has":
            if lowered == "attachment":
                return lambda mail: bool(mail.view.file_names)
            return lambda _: False
        if name in ("after", "newer"):
            begin = self.moment(value)
            return lambda mail: mail.internal_ms >= begin
        if name in ("before", "older"):
            end = self.moment(value)
            return lambda mail: mail.internal_ms < end
        if name in ("newer_than", "older_than"):
            border = self.age(value)
            return (
                (lambda mail: mail.internal_ms >= border) if name[0] == "n" else lambda mail: mail.internal_ms < border
            )
        if name in ("larger", "smaller", "size"):
            return _size_test(name, value)
        # Gmail treats an unknown operator as words of the text.
        return _contains(_everything, f"{name} {value}")

    def place_test(self, name: str, value: str, depth: int) -> Test:
        if name == "in" and value == "anywhere":
            self.reaches_hidden = True
            return ANYTHING.fits
        if name == "is" and value == "read":
            return lambda mail: "UNREAD" not in mail.labels
        label = _PLACES.get(value) or (None if name == "is" else self.label_ids(value))
        if label is None:
            return lambda _: False
        if label in ("SPAM", "TRASH"):
            self.reaches_hidden = True
        if depth == 0:
            self.needed.add(label)
        return lambda mail: label in mail.labels

    def moment(self, value: str) -> int:
        if value.isascii() and value.isdigit() and len(value) <= 11:
            return int(value) * 1000
        found = _DATE.fullmatch(value)
        if found is not None:
            try:
                day = datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
                return int(day.timestamp() * 1000)
            except ValueError:
                pass
        raise invalid(f"Invalid query: {value[:40]!a} is no date; write seconds since 1970 or YYYY/MM/DD")

    def age(self, value: str) -> int:
        found = _AGE.fullmatch(value.lower())
        if found is None:
            raise invalid(f"Invalid query: {value[:40]!a} is no age; write 2d, 3m or 1y")
        past = self.now - timedelta(days=int(found[1]) * _AGE_DAYS[found[2]])
        return int((past - instant(0)).total_seconds() * 1000)


_HEADERS = {
    "subject": "subject",
    "from": "from",
    "to": "to",
    "cc": "cc",
    "bcc": "bcc",
    "list": "list-id",
    "deliveredto": "delivered-to",
}
_PLACES = {
    "inbox": "INBOX",
    "sent": "SENT",
    "spam": "SPAM",
    "trash": "TRASH",
    "draft": "DRAFT",
    "drafts": "DRAFT",
    "unread": "UNREAD",
    "starred": "STARRED",
    "important": "IMPORTANT",
    "chat": "CHAT",
    "chats": "CHAT",
}


def read_query(text: str, *, label_id: Callable[[str], str | None], now: datetime) -> Query:
    """Parse a query. ``label_id`` finds a label of the user's by its search name. Raises ``Refused``."""
    if len(text) > LONGEST_QUERY:
        raise invalid(f"Invalid query: longer than {LONGEST_QUERY} characters")
    if not text.strip():
        return ANYTHING
    reader = _Reader(tokens=list(_TOKEN.finditer(text)), label_ids=label_id, now=now)
    fits = reader.sequence("", 0)
    return Query(fits=fits, labels=frozenset(reader.needed), names_spam_or_trash=reader.reaches_hidden)


def search_name(label: str) -> str:
    """The spelling of a label's name in a query."""
    return re.sub(r"[\s/]+", "-", label.lower())


def _all(tests: list[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda mail: all(test(mail) for test in tests)


def _any(tests: list[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda mail: any(test(mail) for test in tests)


def _not(test: Test) -> Test:
    return lambda mail: not test(mail)


def _contains(words: Callable[[Searched], str], value: str) -> Test:
    wanted = words_of(value)
    return lambda mail: wanted.isspace() or wanted in words(mail)


def _everything(mail: Searched) -> str:
    view = mail.view
    texts = [view.header("subject"), view.header("from"), view.header("to"), view.text, *view.file_names]
    return words_of("\n".join(texts))


def _header_test(name: str, value: str) -> Test:
    lowered = value.lower()
    if name != "subject" and "@" in value.strip("@"):
        return lambda mail: lowered in mail.view.addresses(name)
    return _contains(lambda mail: mail.view.words(name), value)


def _is_named(file_name: str, wanted: str) -> bool:
    """``filename:json`` finds an ending, ``filename:payload.json`` a name, ``filename:payload`` a word of it."""
    lowered = file_name.lower()
    return lowered == wanted or lowered.endswith(f".{wanted}") or words_of(wanted) in words_of(lowered)


def _size_test(name: str, value: str) -> Test:
    found = _SIZE.fullmatch(value)
    if found is None:
        raise invalid(f"Invalid query: {value[:40]!a} is no size; write 5000, 10K or 5M")
    size = int(found[1]) * {"": 1, "k": 1024, "m": 1024 * 1024}[found[2].lower()]
    return (lambda mail: len(mail.raw) < size) if name == "smaller" else lambda mail: len(mail.raw) >= size
