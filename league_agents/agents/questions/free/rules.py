"""A small grammar: rules of literals and parts, all of whose parses are found.

A rule is one line: lower-case words are literals, ``a|b`` are alternatives, ``a_b`` is a literal of two tokens, ``[a]``
is optional, and words in capitals are parts, defined by other rules or by a terminal. The values of the parts go to the
rule's ``build``, which may refuse them by returning ``None``.

Rule 1: a parse covers every token; nothing of a question is skipped.
Rule 2: looser rules apply only if the others find no parse, so that a general reading never competes with an exact one.
Rule 3: each part is parsed once at each place, so that the work is bounded by the size of grammar and text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from league_agents.agents.questions.free.tokens import AskedToken, tokenise

Build = Callable[..., Any]
Terminal = Callable[[AskedToken], object | None]

_LEVELS = 3
"""Degrees of looseness."""

_MOST_PARSES = 12
"""A text of which a part has more readings at one place has no parse, as one that is not read might disagree."""


@dataclass(frozen=True, slots=True)
class _Literal:
    choices: tuple[tuple[str, ...], ...]
    is_optional: bool


@dataclass(frozen=True, slots=True)
class _PartElement:
    name: str


@dataclass(frozen=True, slots=True)
class _Rule:
    elements: tuple[_Literal | _PartElement, ...]
    build: Build
    looseness: int


@dataclass(slots=True)
class Grammar:
    """The rules of one language."""

    terminals: Mapping[str, Terminal]
    _rules: dict[str, list[_Rule]] = field(default_factory=lambda: defaultdict(list))
    _starts: dict[str, tuple[dict[str, list[_Rule]], list[_Rule]]] = field(default_factory=dict)
    """TextPart -> (rules by first token, rules that may begin with anything)."""

    def add(self, part: str, patterns: str, build: Build, *, loose: int = 0) -> None:
        """Add a rule for each line of ``patterns``."""
        for pattern in patterns.strip().splitlines() or ("",):
            self._rules[part].append(_Rule(tuple(map(_element, pattern.split())), build, loose))
        self._starts.clear()

    def parse(self, part: str, tokens: Sequence[AskedToken]) -> list[Any]:
        """Return the values of all parses of the whole text, without repeats; none of a text with too many readings."""
        for loose in range(_LEVELS):
            state = _ParseState(self, tokens, loose)
            found = [value for end, value in state.parses(part, 0) if end == len(tokens)]
            if state.is_cut:
                return []
            if found:
                return list(dict.fromkeys(found))
        return []

    def rules_at(self, part: str, token: str | None) -> Sequence[_Rule]:
        """Return the rules of the part that may begin with the token."""
        if part not in self._starts:
            self._starts[part] = self._indexed(part)
        by_token, others = self._starts[part]
        return [*by_token.get(token, ()), *others] if token is not None else others

    def _indexed(self, part: str) -> tuple[dict[str, list[_Rule]], list[_Rule]]:
        by_token: dict[str, list[_Rule]] = defaultdict(list)
        others: list[_Rule] = []
        for rule in self._rules[part]:
            firsts = _first_tokens(rule.elements)
            for word in firsts or ():
                by_token[word].append(rule)
            if firsts is None:
                others.append(rule)
        return by_token, others


def _first_tokens(elements: Sequence[_Literal | _PartElement]) -> frozenset[str] | None:
    """Return the tokens with which a text of these elements may begin; ``None`` if any may be."""
    found: set[str] = set()
    for element in elements:
        if isinstance(element, _PartElement):
            return None
        found.update(choice[0] for choice in element.choices)
        if not element.is_optional:
            return frozenset(found)
    return None


def _element(word: str) -> _Literal | _PartElement:
    if word.isascii() and word.isupper():
        return _PartElement(word)
    is_optional = word.startswith("[")
    choices = word.strip("[]").split("|") if word != "|" else ["|"]
    # A filler, which the tokens of a question never have, is no choice.
    return _Literal(tuple(filter(None, map(_literal, choices))), is_optional)


def _literal(choice: str) -> tuple[str, ...]:
    if choice in (",", "#", "«»", "'s", "n't", "#th", "#s", ":"):
        return (choice,)
    return tuple(token.text for token in tokenise(choice.replace("_", " ")) or ())


class _ParseState:
    """One text being parsed."""

    def __init__(self, grammar: Grammar, tokens: Sequence[AskedToken], loose: int) -> None:
        self._grammar = grammar
        self._tokens = tokens
        self._texts = [token.text for token in tokens]
        self._looseness = loose
        self.is_cut = False
        """Whether a part had too many readings."""

        self._known: dict[tuple[str, int], list[tuple[int, Any]]] = {}

    def parses(self, part: str, start: int) -> list[tuple[int, Any]]:
        key = (part, start)
        if key not in self._known:
            self._known[key] = []  # a part that begins with itself finds nothing
            found = list(dict.fromkeys(self._fresh(part, start)))
            self.is_cut = self.is_cut or len(found) > _MOST_PARSES
            self._known[key] = found[:_MOST_PARSES]
        return self._known[key]

    def _fresh(self, part: str, start: int) -> Iterator[tuple[int, Any]]:
        terminal = self._grammar.terminals.get(part)
        if terminal is not None:
            if start < len(self._tokens) and (value := terminal(self._tokens[start])) is not None:
                yield start + 1, value
            return
        first = self._texts[start] if start < len(self._texts) else None
        for rule in self._grammar.rules_at(part, first):
            if rule.looseness > self._looseness:
                continue
            for end, values in self._matches(rule.elements, 0, start, ()):
                value = rule.build(*values)
                if value is not None:
                    yield end, value

    def _matches(
        self, elements: tuple[_Literal | _PartElement, ...], at: int, start: int, values: tuple[Any, ...]
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        if at == len(elements):
            yield start, values
            return
        element = elements[at]
        if isinstance(element, _PartElement):
            for end, value in self.parses(element.name, start):
                yield from self._matches(elements, at + 1, end, (*values, value))
            return
        for choice in element.choices:
            end = start + len(choice)
            if tuple(self._texts[start:end]) == choice:
                yield from self._matches(elements, at + 1, end, values)
        if element.is_optional:
            yield from self._matches(elements, at + 1, start, values)
