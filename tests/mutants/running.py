"""Tries mutants: for each a process of its own, in which the mutated source takes the place of the module's.

Rule 1: no file is changed, so that an interrupted run leaves nothing behind and a checkout can be worked in meanwhile.
Rule 2: what bounds a mutant that never ends is its CPU time, which a busy machine does not use up. Such a mutant counts
as noticed, and the report says how many there are.
Rule 3: a failure counts only if the same tests pass without the mutant.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import json
import os
import resource
import signal
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import CodeType

import pytest

from tests.mutants.reach import LONGEST_S, Reach
from tests.mutants.sampling import ROOT, Mutant

QUIET = ("-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:langsmith_plugin",
         "-W", "ignore::pytest.PytestAssertRewriteWarning")  # fmt: skip
SHARED = ("hypothesis.strategies", "pydantic", "msgspec", "yaml", "rich", "numpy", "pytest_httpserver", "rapidfuzz",
          "jinja2")  # fmt: skip
"""Imported once, before the first fork. pytest would say that it cannot rewrite their assertions."""

PREPARATION_S = 60.0
"""CPU time for imports and fixtures; the tests have twice what they may take."""

OUT_OF_TIME = "no end within its CPU time"
AN_IMPORT = "an import"


class _Failures:
    """A plugin that keeps the names of the tests that failed, in order. Examples are the same for every mutant."""

    def __init__(self) -> None:
        self.tests: dict[str, None] = {}

    def pytest_configure(self) -> None:
        import hypothesis

        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        checks = list(hypothesis.HealthCheck)
        hypothesis.settings.register_profile(
            "mutants", database=None, derandomize=True, phases=phases, suppress_health_check=checks, deadline=None
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tests[report.nodeid] = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.tests[AN_IMPORT] = None


def try_all(
    mutants: Sequence[Mutant], reach: Reach, earlier: Mapping[str, str], *, processes: int
) -> Iterator[tuple[Mutant, bool, str]]:
    """Each mutant with whether it was noticed and by what, in the order in which they end.

    ``earlier``: name of a mutant to the test that noticed it in an earlier run. That test goes first.
    """
    assert "league_agents" not in sys.modules, "a fork would inherit the module that is to be mutated"
    for name in SHARED:
        importlib.import_module(name)
    waiting = list(reversed(mutants))
    running: dict[int, tuple[Mutant, list[str], int]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                mutant = waiting.pop()
                tests = reach.of(mutant, first=earlier.get(mutant.name, "").split("[")[0])
                if not tests:
                    yield mutant, False, "no test reaches it"
                    continue
                pid, pipe = _start(mutant, tests, PREPARATION_S + 2 * LONGEST_S, "-x")
                running[pid] = mutant, tests, pipe
            if not running:
                continue
            pid, status = os.wait()
            mutant, tests, pipe = running.pop(pid)
            yield mutant, *_verdict(mutant, tests, status, _read(pipe))
    finally:
        for pid in running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def failing(tests: Collection[str]) -> set[str]:
    """Those of the tests that fail without any mutant."""
    if not tests:
        return set()
    pid, pipe = _start(None, sorted(tests), resource.RLIM_INFINITY)
    _, status = os.waitpid(pid, 0)
    failures = _read(pipe)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) not in (0, 1):
        raise RuntimeError(f"the tests that noticed mutants cannot be run without one (status {status}): {failures}")
    return set(failures)


def _verdict(mutant: Mutant, tests: Sequence[str], status: int, failures: list[str]) -> tuple[bool, str]:
    by = failures[0] if failures else ""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        is_out_of_time = number in (signal.SIGXCPU, signal.SIGKILL)
        return True, by or (OUT_OF_TIME if is_out_of_time else f"ended by signal {number}")
    code = os.WEXITSTATUS(status)
    if code in (0, 5):
        return False, ""
    if code == 1:
        return True, by
    # 2 and 4: the tests or what they share cannot be imported, or a test that was named is not there.
    if code in (2, 4):
        pid, pipe = _start(None, tests, PREPARATION_S, "--collect-only")
        _, status = os.waitpid(pid, 0)
        _read(pipe)
        if status == 0:
            return True, by or AN_IMPORT
    raise RuntimeError(f"pytest ended with {code} for {mutant.name} of {mutant.path} (--measure if tests have moved)")


def _read(pipe: int) -> list[str]:
    with os.fdopen(pipe) as reader:
        text = reader.read()
    return list(json.loads(text)) if text else []


def _start(mutant: Mutant | None, tests: Sequence[str], seconds: float, *options: str) -> tuple[int, int]:
    """Run these tests in a process of its own, with the mutant in place of its module."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    code = 3
    try:
        os.close(reader)
        if seconds != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        if mutant is not None:
            _serve(mutant)
        failures = _Failures()
        code = int(pytest.main([*QUIET, *options, *tests], plugins=[failures]))
        # A pipe holds 64 KiB, and nobody reads before the process has ended.
        os.write(writer, json.dumps(list(failures.tests)[:100]).encode()[:60_000])
    finally:
        os._exit(code)


def _serve(mutant: Mutant) -> None:
    """From now on the module is imported with the mutated source."""
    target = str(ROOT / mutant.path)
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        if self.path == target:
            found = compile(mutant.code, target, "exec", dont_inherit=True)
            assert isinstance(found, CodeType)
            return found
        return original(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[assignment, method-assign]
