"""The reference page of the Python API, written from the sources: docstrings, signatures and documented fields."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from league_agents.report.markdown import table

ROOT = Path(__file__).resolve().parents[2]

_HEADER = """\
# Python API

Written by `scripts/docs` from the docstrings. These are the names for programs of your own; other modules may change
in any version. The package is typed (`py.typed`). The methods of players and referees are on the page
[Callbacks](callbacks.md).
"""

API: dict[str, dict[str, tuple[str, ...]]] = {
    "The client of an arena's server": {
        "league_agents.arena.client": ("Client",),
        "league_agents.arena.remote_seat": ("RemoteSeat", "SeatState", "ActionRefused"),
        "league_agents.arena.seat_line": ("ServerLost", "ServerRefused"),
    },
    "Environments for reinforcement learning": {
        "league_agents.arena.pettingzoo": ("env", "parallel_env"),
    },
    "Games": {
        "league_agents.games.declaration": ("GameDeclaration", "DecidingField"),
        "league_agents.games.game": (
            "Game", "Action", "LegalAction", "Step", "Event", "Progress", "Outcome", "Mode", "ForfeitCause",
            "IllegalAction",
        ),
    },
    "Interaction protocols": {"league_agents.turns.base": ("InteractionProtocol",)},
    "Providers of language models": {
        "league_agents.llm.provider": ("Provider", "Access", "ModelOptions"),
        "league_agents.llm.exchange": ("Request", "Reply", "Finish", "Rejected", "Unanswered"),
        "league_agents.llm.port": ("Usage",),
    },
    "Mailboxes and journals": {
        "league_agents.mail.port": ("Mailbox",),
        "league_agents.journal.port": ("Journal",),
        "league_agents.testing.mailbox_contract": ("MailboxContract",),
        "league_agents.testing.journal_contract": ("JournalContract",),
    },
    "Errors": {
        "league_agents.kit.errors": (
            "LeagueError", "ConfigError", "AgentError", "ModelError", "MailError", "JournalError", "LimitExceeded",
        ),
    },
}  # fmt: skip
"""Section to module to names."""

_Documented = ast.ClassDef | ast.FunctionDef


def python_page() -> str:
    """The page as Markdown."""
    lines = [_HEADER]
    for section, modules in API.items():
        lines += [f"## {section}", ""]
        for module, names in modules.items():
            for name in names:
                lines += [f"### {name}", "", f"`{module}.{name}`", "", *_described(_defined(module)[name])]
    return "\n".join(lines)


@cache
def _defined(module: str) -> dict[str, _Documented]:
    base = ROOT / module.replace(".", "/")
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    tree = ast.parse(path.read_text("utf-8"))
    return {each.name: each for each in tree.body if isinstance(each, ast.ClassDef | ast.FunctionDef)}


def _described(node: _Documented) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield from ("```python", f"def {_signature(node, node.name)}", "```", "", *_doc(node))
        return
    yield from _doc(node)
    rows = list(_fields(node))
    if rows:
        yield from (*table(("field", "type", "meaning"), rows), "")
    for each in node.body:
        if not isinstance(each, ast.FunctionDef):
            continue
        if each.name.startswith("_") and not (
            each.name == "__init__" and len(each.args.args + each.args.kwonlyargs) > 1
        ):
            continue
        name = each.name if each.name != "__init__" else node.name
        is_property = any(isinstance(mark, ast.Name) and mark.id == "property" for mark in each.decorator_list)
        text = " ".join(_doc(each))
        shown = f"{name}: {_unparsed(each.returns)}" if is_property else _signature(each, name)
        yield f"- `{shown}`{' – ' if text else ''}{' '.join(text.split())}"
    yield ""


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    for each, below in pairwise([*node.body, ast.Pass()]):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        meaning = inspect.cleandoc(below.value.value).replace("``", "`") if is_text else ""  # type: ignore[attr-defined]
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not each.target.id.startswith("_"):
            yield f"`{each.target.id}`", f"`{_unparsed(each.annotation)}`", meaning
        elif (
            isinstance(each, ast.Assign)
            and isinstance(each.targets[0], ast.Name)
            and isinstance(each.value, ast.Constant)
        ):
            yield f"`{each.targets[0].id}`", f"`{each.value.value!r}`", meaning


def _signature(node: ast.FunctionDef, name: str) -> str:
    arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
    returns = "" if node.returns is None or node.name == "__init__" else f" -> {_unparsed(node.returns)}"
    return f"{name}({arguments}){returns}"


def _unparsed(node: ast.expr | None) -> str:
    return "" if node is None else ast.unparse(node)


def _doc(node: _Documented) -> Iterator[str]:
    text = ast.get_docstring(node)
    if text:
        yield from (text.replace("``", "`"), "")
