"""Which tests reach which function: measured once by running them under coverage.

Functions are known by name, so that the measurement holds until a function is renamed. Tests that were added since are
tried for the modules that they lie next to. ``scripts/mutants --measure`` makes the measurement again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from tests.mutants.sampling import ROOT, Mutant, functions

FILE = ROOT / ".cache" / "mutants" / "reach.json"
TESTS = ("tests/unit", "tests/properties", "tests/golden", "tests/contracts", "tests/scenarios/test_two_peers.py",
         "tests/scenarios/test_offline_league.py", "tests/scenarios/test_counterparts.py")  # fmt: skip
"""Tests within one process. The others start processes, which would not see a mutant."""

VALUES = "tests/unit/test_declared_values.py::"
"""These look at the values that every module declares."""

NEW_S = 0.0
"""What a test is taken to last that was added since the measurement: it is tried before those like it."""

LONGEST_S = 25.0
"""So many seconds of tests are run for one mutant, the nearest and quickest first. What nobody notices until then
counts as unnoticed."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The measurement."""

    seconds: dict[str, float]
    """CPU time of each test function, all its rows together."""

    tests: dict[str, list[str]]
    """By ``path::function``."""

    def of(self, mutant: Mutant, first: str = "") -> list[str]:
        """The tests to run, in order: ``first`` if it is one of them, then the nearest and quickest."""
        found = set(self.tests.get(f"{mutant.path}::{mutant.function}", ())) if mutant.function else set()
        near = max(1, min(2, max(_nearness(mutant.path, test) for test in self.seconds)))
        new = _tests().difference(self.seconds)
        found |= {test for test in new if _nearness(mutant.path, test) >= 1}
        if not found or not mutant.function:
            # The body of a module or class is run by whoever imports it: all who reach any of its functions, and the
            # tests that lie where the module's own tests do.
            own = f"{mutant.path}::"
            found |= {test for key, tests in self.tests.items() if key.startswith(own) for test in tests}
            found |= {test for test in self.seconds if _nearness(mutant.path, test) >= near}
            found |= {test for test in _tests() if test.startswith(VALUES)}
        found = set(filter(_is_there, found))
        total, chosen = 0.0, []
        for test in sorted(found, key=lambda test: (test != first, *self._order(mutant, test))):
            total += self.seconds.get(test, NEW_S)
            if chosen and total > LONGEST_S:
                break
            chosen.append(test)
        return chosen

    def _order(self, mutant: Mutant, test: str) -> tuple[int, float, str]:
        return -_nearness(mutant.path, test), self.seconds.get(test, NEW_S), test


def _is_there(test: str) -> bool:
    """Whether a test of the measurement still has its name. Methods may be inherited: their class must be there."""
    path, *inside = test.split("::")
    return test in _tests() or (len(inside) == 2 and f"class {inside[0]}" in (ROOT / path).read_text("utf-8"))


@cache
def _tests() -> frozenset[str]:
    """The test functions that there are now."""
    found: set[str] = set()
    for top in TESTS:
        whole = ROOT / top
        for path in whole.rglob("test_*.py") if whole.is_dir() else [whole]:
            name = path.relative_to(ROOT).as_posix()
            written = re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
            found |= {f"{name}::{test}" for test in written}
    return frozenset(found)


def _nearness(path: str, test: str) -> int:
    """How many folders a module and a test share, and whether the test's file is named after the module."""
    module = path.removesuffix(".py").split("/")[1:]
    file = test.split("::")[0].split("/")
    if file[1] != "unit":
        return 0
    shared = 0
    for one, other in zip(module, file[2:], strict=False):
        if one != other:
            break
        shared += 1
    return shared + (module[-1] in file[-1])


def read() -> Reach:
    """The measurement of before. Raises ``FileNotFoundError``."""
    found = json.loads(FILE.read_text("utf-8"))
    names = list(found["seconds"])
    return Reach(found["seconds"], {key: [names[n] for n in tests] for key, tests in found["tests"].items()})


def measure() -> Reach:
    """Run the tests under coverage, and keep what was found."""
    raw = FILE.with_name("reach.raw.json")
    raw.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutants.coverage_plugin"]
    environment = {**os.environ, "MUTANTS_REACH": str(raw), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([*command, "--hypothesis-seed=0", *TESTS], cwd=ROOT, env=environment, check=False)
    found = json.loads(raw.read_text("utf-8"))
    names = list(found["seconds"])
    numbers = {name: n for n, name in enumerate(names)}
    tests = {key: sorted(numbers[test] for test in reached) for key, reached in _by_function(found["lines"]).items()}
    FILE.write_text(json.dumps({"seconds": found["seconds"], "tests": tests}), "utf-8")
    raw.unlink()
    return read()


def _by_function(lines: dict[str, dict[str, list[str]]]) -> dict[str, set[str]]:
    """``path::function`` to tests, from path to line to tests."""
    reached: dict[str, set[str]] = defaultdict(set)
    for path, by_line in lines.items():
        inside = functions((ROOT / path).read_text("utf-8"))
        for line, tests in by_line.items():
            reached[f"{path}::{_innermost(inside, int(line))}"].update(tests)
    return reached


def _innermost(inside: Iterable[tuple[str, int, int]], line: int) -> str:
    return next((name for name, first, last in inside if first < line <= last), "")
