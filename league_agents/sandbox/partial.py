"""The ``fields=`` parameter: a partial answer.

``a,b`` selects both, ``a/b`` and ``a(b,c)`` select nested fields, ``*`` selects all fields of a level; on a list, the
selection applies to each member.
"""

from __future__ import annotations

import re

from league_agents.sandbox.refusal import SandboxRefusal

LONGEST = 2_000
DEEPEST = 20
_TOKEN = re.compile(r"\s*([A-Za-z0-9_$-]+|[*(),/])")

Selection = dict[str, "Selection"]
"""Name -> selection of its fields; an empty mapping means all of it."""


def read_fields(text: str) -> Selection:
    """Parse a ``fields=`` text into a selection. Raises ``SandboxRefusal``."""
    tokens: list[str] = []
    place = 0
    while place < len(text) and len(text) <= LONGEST:
        found = _TOKEN.match(text, place)
        if found is None:
            break
        tokens.append(found[1])
        place = found.end()
    if place < len(text) or not tokens:
        raise _invalid(text)
    tokens.reverse()
    selection = _list(tokens, text, 0)
    if tokens:
        raise _invalid(text)
    return selection


def pick(value: object, selection: Selection) -> object:
    """The selected part of a JSON value."""
    if not selection:
        return value
    if isinstance(value, list):
        return [pick(each, selection) for each in value]
    if not isinstance(value, dict):
        return value
    if "*" in selection:
        return {name: pick(inner, selection.get(name, selection["*"])) for name, inner in value.items()}
    return {name: pick(inner, selection[name]) for name, inner in value.items() if name in selection}


def _list(tokens: list[str], text: str, depth: int) -> Selection:
    if depth > DEEPEST:
        raise _invalid(text)
    selection: Selection = {}
    while True:
        name, inner = _one(tokens, text, depth)
        if name in selection and selection[name] and inner:
            selection[name].update(inner)
        else:
            selection[name] = inner if name not in selection else {}
        if not tokens or tokens[-1] != ",":
            return selection
        tokens.pop()


def _one(tokens: list[str], text: str, depth: int) -> tuple[str, Selection]:
    if not tokens or tokens[-1] in "(),/" or depth > DEEPEST:
        raise _invalid(text)
    name = tokens.pop()
    if tokens and tokens[-1] == "/":
        tokens.pop()
        inner_name, inner = _one(tokens, text, depth + 1)
        return name, {inner_name: inner}
    if tokens and tokens[-1] == "(":
        tokens.pop()
        selection = _list(tokens, text, depth + 1)
        if not tokens or tokens.pop() != ")":
            raise _invalid(text)
        return name, selection
    return name, {}


def _invalid(text: str) -> SandboxRefusal:
    return SandboxRefusal(400, "invalidParameter", f"Invalid field selection {text[:100]}")
