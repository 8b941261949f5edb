"""Which mutants there are, and a repeatable sample of them.

The mutations are mutmut's. Its own runner works on functions without decorators only and leaves out constants and
fields, where this package keeps its bounds, so mutants are drawn and run here.

Rule 1: a place in the source is drawn, then one of its mutations: a call of five arguments is as likely as a
comparison.
Rule 2: a mutant's name is made of what it changes, not of line numbers, and the order of the sample is that of a hash
of seed and name. A change elsewhere in the package leaves most of a sample as it was.
Rule 3: prose is not mutated. A test of a sentence's exact words would notice nothing but its rewording.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from mutmut.mutation.file_mutation import Mutation, create_mutations

ROOT = Path(__file__).resolve().parents[2]
SCOPE = (
    "league_agents/kit",
    "league_agents/games",
    "league_agents/turns",
    "league_agents/league",
    "league_agents/arena/protocol",
    "league_agents/runner",
    "league_agents/journal",
    "league_agents/mail/identity.py",
)
"""What is sampled unless paths are named."""

_IDENTIFIER = re.compile(r"""^[bru]*(["'])[A-Za-z_][\w.:/-]*\1$""")
_ALIAS = re.compile(r"^[A-Z]\w* = (Callable\[|TypeVar\(|ParamSpec\()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one module."""

    path: str
    """Of the module, from the root of the repository."""

    function: str
    """Qualified name; empty for the body of the module or of a class."""

    line: int
    before: str
    """The lines that are changed, joined and stripped."""

    after: str
    nth: int
    """Counts mutants of one module that have the same text."""

    code: str
    """The whole mutated module."""

    @property
    def name(self) -> str:
        """The same as long as the changed lines stay the same."""
        return digest(self.path, self.function, self.before, self.after, str(self.nth))[:12]


def digest(*parts: str) -> str:
    """A hash of several texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def modules(paths: Sequence[str] = SCOPE) -> list[Path]:
    """The Python files below these paths."""
    found: list[Path] = []
    for path in paths:
        whole = ROOT / path
        found += sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]
    return found


def sample(count: int, seed: int, paths: Sequence[str] = SCOPE) -> list[Mutant]:
    """``count`` mutants, all different, in the order of their draw."""
    drawn: list[tuple[str, Path, int]] = []
    parsed: dict[Path, tuple[cst.Module, list[list[Mutation]]]] = {}
    for path in modules(paths):
        module, places = _places(path)
        parsed[path] = module, places
        seen: Counter[str] = Counter()
        for number, place in enumerate(places):
            text = module.code_for_node(place[0].original_node)
            seen[text] += 1
            key = digest(str(seed), path.relative_to(ROOT).as_posix(), text, str(seen[text]))
            drawn.append((key, path, number))
    mutants: list[Mutant] = []
    for key, path, number in sorted(drawn)[:count]:
        module, places = parsed[path]
        choices = places[number]
        mutants.append(_rendered(path, module, choices[int(key, 16) % len(choices)]))
    return mutants


def count_places(paths: Sequence[str] = SCOPE) -> int:
    """How many places of the source have a mutation."""
    return sum(len(_places(path)[1]) for path in modules(paths))


def _places(path: Path) -> tuple[cst.Module, list[list[Mutation]]]:
    """A module and its mutations, grouped by the node that they change."""
    module, mutations, *_ = create_mutations(str(path), path.read_text("utf-8"))
    groups: dict[int, list[Mutation]] = {}
    for mutation in mutations:
        if _has_meaning(module, mutation):
            groups.setdefault(id(mutation.original_node), []).append(mutation)
    return module, list(groups.values())


def _has_meaning(module: cst.Module, mutation: Mutation) -> bool:
    """Whether a test could be expected to tell the two texts apart."""
    node = mutation.original_node
    is_outside = mutation.contained_by_top_level_function is None
    if isinstance(node, cst.SimpleString):
        # One mutation of an identifier is enough, and lists of words are material of the games.
        is_marked = isinstance(mutation.mutated_node, cst.SimpleString) and "XX" in mutation.mutated_node.value
        return is_marked and not is_outside and _IDENTIFIER.match(node.value) is not None
    if isinstance(node, cst.Assign | cst.Subscript) and is_outside:
        # Nothing reads the value of an alias of a type: annotations are not evaluated here.
        return _ALIAS.match(module.code_for_node(node)) is None
    return True


def _rendered(path: Path, module: cst.Module, mutation: Mutation) -> Mutant:
    before = module.code
    changed = module.deep_replace(mutation.original_node, mutation.mutated_node)
    assert isinstance(changed, cst.Module)
    after = changed.code
    old, new, line = _changed_lines(before, after)
    earlier = sum(text.strip() == old.strip() for text in before.splitlines()[: line - 1])
    function = next((name for name, first, last in functions(before) if first <= line <= last), "")
    return Mutant(
        path=path.relative_to(ROOT).as_posix(), function=function, line=line, before=old, after=new, nth=earlier,
        code=after,
    )  # fmt: skip


def _changed_lines(before: str, after: str) -> tuple[str, str, int]:
    """The lines that differ, old and new, and the number of the first."""
    old, new = before.splitlines(), after.splitlines()
    head = next((n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(old))
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    was, is_now = (" ".join(line.strip() for line in lines[head : len(lines) - tail]) for lines in (old, new))
    return was.strip(), is_now.strip(), head + 1


def functions(source: str) -> list[tuple[str, int, int]]:
    """Qualified name, first and last line of every function and method, the innermost first."""
    found: list[tuple[str, int, int]] = []

    def walk(node: ast.AST, prefix: str) -> Iterator[None]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}"
                yield from walk(child, f"{name}.")
                if not isinstance(child, ast.ClassDef):
                    found.append((name, child.lineno, child.end_lineno or child.lineno))
            else:
                yield from walk(child, prefix)

    list(walk(ast.parse(source), ""))
    return found
