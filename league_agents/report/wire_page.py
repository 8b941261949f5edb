"""The reference page of the league's messages, written from their declarations: ``docs/reference/messages.md``.

Rule: the page lists only what the program does; the meaning of a field is its docstring in the source.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from league_agents.league.wire.catalogue import DECLARED
from league_agents.league.wire.declare import Declaration, DerivedKey, WireField, layout
from league_agents.league.wire.kinds import MessageType, protocol_of
from league_agents.report.markdown import table

_HEADER = """\
# Messages of the league

Written by `scripts/docs` from the declarations in `league_agents/league/wire/messages`. A key marked with an
asterisk is needed: without it the payload cannot be used. Other spellings are understood when a message is read; what
is sent has the first one. Every message stands in an envelope: `protocol`, `message_type`, `message_id`, `timestamp`,
`sender`, `recipient_id`, `correlation_id` and the ids of what it is about.
"""


def wire_page() -> str:
    """The page as Markdown."""
    described = sorted(DECLARED, key=_place)
    legacy = sorted(set(MessageType) - {kind for item in described for kind in _types(item)})
    lines = [_HEADER, *(line for item in described for line in _message(item))]
    lines += ["## Without a declared payload", "", "These types are known; their payload is kept as it came.", ""]
    lines += [f"- `{kind.value}`" for kind in legacy]
    lines += [""]
    return "\n".join(lines)


def _types(item: Declaration) -> tuple[MessageType, ...]:
    return item.read_as or tuple(kind for kind in (item.sent_as,) if kind is not None)


def _place(item: Declaration) -> tuple[int, str]:
    return list(MessageType).index(_types(item)[0]), item.kind.__name__


def _message(item: Declaration) -> Iterator[str]:
    types = _types(item)
    yield f"## {types[0].value}: {item.kind.__name__}"
    yield ""
    yield " ".join((inspect.getdoc(item.kind) or "").split())
    also = [f"`{kind.value}`" for kind in types[1:]]
    remarks = [f"Protocol `{protocol_of(types[0]).value}`."]
    if also:
        remarks.append(f"Also read from {', '.join(also)}.")
    if item.sent_as is None:
        remarks.append("Only received.")
    if item.names_season:
        remarks.append("Needs the league's and the season's id in its envelope.")
    yield " ".join(remarks)
    yield ""
    meanings = field_docstrings(item.kind)
    rows = (_row(name, entry, meanings.get(name, "")) for name, entry in layout(item.kind))
    yield from table(("key", "value", "other spellings", "meaning"), rows)
    yield ""


def _row(name: str, entry: WireField | DerivedKey, meaning: str) -> tuple[str, ...]:
    if isinstance(entry, DerivedKey):
        return f"`{entry.key or name}`", "from the envelope or derived", "", meaning
    keys = entry.keys or (name,)
    written = entry.written_as or keys[:1]
    star = "\\*" if entry.is_required or entry.must is not None else ""
    others = ", ".join(f"`{key}`" for key in keys if key not in written)
    return f"{', '.join(f'`{key}`' for key in written)}{star}", entry.kind.rule, others, meaning


def field_docstrings(kind: type) -> dict[str, str]:
    """The docstring under each field of a class in its source, on one line."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for field, below in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            found[field.target.id] = " ".join(below.value.value.replace("``", "`").split())
    return found
