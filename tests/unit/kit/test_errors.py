"""Every error of the package reaches another process as it was raised."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from league_agents.kit.errors import ConfigError, LeagueError, LimitExceeded
from league_agents.knowledge.failures import IndexUnusable
from league_agents.sandbox.refusal import SandboxRefusal

ROOT = Path(__file__).resolve().parents[3]

SAMPLES: dict[str, Any] = {
    "str": "text",
    "str | None": "text",
    "bool": True,
    "int": 404,
    "float": 2.5,
    "float | None": 2.5,
    "timedelta | None": timedelta(seconds=3),
    "datetime | None": datetime(2031, 5, 2, tzinfo=UTC),
    "tuple[str, ...]": ("Emma", "Persuasion"),
    "Sequence[ConfigError]": (),
    "JsonObject | None": {"errors": []},
}
"""A value for each type that a constructor takes, as it is written there."""


CLASS = re.compile(r"^class (\w+)\((.+)\):", re.MULTILINE)


def errors() -> Iterator[type[LeagueError]]:
    """The classes of errors, each once; a name is that of one class only."""
    found = [
        (path, name, {base.strip() for base in bases.split(",")})
        for path in sorted((ROOT / "league_agents").rglob("*.py"))
        for name, bases in CLASS.findall(path.read_text("utf-8"))
    ]
    known = {LeagueError.__name__}
    while more := {name for _, name, bases in found if bases & known} - known:
        known |= more
    yield LeagueError
    for path, name, bases in found:
        if bases & known:
            error = getattr(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)), name)
            assert issubclass(error, LeagueError)
            yield error


def made(kind: type[LeagueError]) -> LeagueError:
    """One with a value for every parameter of its constructor."""
    parameters = inspect.signature(kind).parameters.values()
    named = {one.name: SAMPLES[str(one.annotation)] for one in parameters if one.kind is one.KEYWORD_ONLY}
    return kind(*(SAMPLES[str(one.annotation)] for one in parameters if one.name not in named), **named)


def test_every_error_reaches_another_process_with_all_that_it_says() -> None:
    kinds = list(errors())
    assert {ConfigError, LimitExceeded, IndexUnusable, SandboxRefusal} < set(kinds)
    for error in map(made, kinds):
        arrived = pickle.loads(pickle.dumps(error))
        assert (type(arrived), str(arrived), arrived.args) == (type(error), str(error), error.args)
        assert vars(arrived) == vars(error)
