"""The reference page of the league file, written from its declarations: ``docs/reference/league-file.md``.

Rule: nothing stands on the page that is not read; what a key means is its docstring in the source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from league_agents.config.league_keys import WrittenFile, mapping_in
from league_agents.kit.written import WrittenMapping, allowed_in_words
from league_agents.report.markdown import table
from league_agents.report.wire_page import field_docstrings

_HEADER = """\
# The league file

Written by `scripts/docs` from the declarations in `league_agents/config`. `league-agents config init` writes a file to
copy, with the same keys; `league-agents config check` reads yours. A key that is not listed here is a mistake, a key
that says nothing is absent, and file names are seen from the folder of the league file.
"""


class DeclaredKey(NamedTuple):
    """One key of the league file."""

    kind: type[WrittenMapping]
    """The class that declares it."""

    section: str
    """Where the mapping stands that has the key: ``season.teams[]``; empty for the whole file."""

    key: str
    meaning: str
    default: Any
    inner: type[WrittenMapping] | None
    """What the key holds; ``None`` where it holds no mapping with declared keys."""


def declared_keys(kind: type[WrittenMapping] = WrittenFile, section: str = "") -> Iterator[DeclaredKey]:
    """Every key of the league file, those of a section after its own."""
    meanings: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if issubclass(each, WrittenMapping) and each.__module__ != WrittenMapping.__module__:
            meanings |= field_docstrings(each)
    for name, field in kind.model_fields.items():
        key = field.alias or name
        inner = mapping_in(field)
        yield DeclaredKey(
            kind, section, key, meanings.get(name, ""), field.get_default(call_default_factory=True), inner
        )
        if inner is not None:
            several = "[]" if isinstance(field.get_default(call_default_factory=True), list) else ""
            yield from declared_keys(inner, f"{section}.{key}{several}".removeprefix("."))


def league_file_page() -> str:
    """The page as Markdown."""
    lines = [_HEADER]
    sections: dict[str, list[DeclaredKey]] = {}
    for each in declared_keys():
        sections.setdefault(each.section, []).append(each)
    for section, keys in sections.items():
        lines += [f"## `{section}`" if section else "## The whole", ""]
        lines += table(("key", "value", "default", "meaning"), map(_row, keys))
        lines.append("")
    return "\n".join(lines)


def _row(each: DeclaredKey) -> tuple[str, str, str, str]:
    value = "see below" if each.inner is not None else allowed_in_words(each.kind, each.key)
    has_default = each.inner is None and each.default not in (None, "", {}, []) and not _is_needed(each)
    default = f"`{json.dumps(to_jsonable_python(each.default), ensure_ascii=False)}`" if has_default else ""
    return f"`{each.key}`{'*' if _is_needed(each) else ''}", value, default, each.meaning


def _is_needed(each: DeclaredKey) -> bool:
    return any(field.is_required() for name, field in each.kind.model_fields.items() if each.key in (name, field.alias))
