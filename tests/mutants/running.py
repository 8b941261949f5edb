"""Tries mutants: for each a process of its own, in which the mutated source takes the place of the module's.

Rule 1: no file is changed, so that an interrupted run leaves nothing behind and a checkout can be worked in meanwhile.
Rule 2: what bounds a mutant that never ends is its CPU time, which a busy machine does not use up.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from types import CodeType

import pytest

from tests.mutants.reach import Reach
from tests.mutants.sampling import ROOT, Mutant

QUIET = ("-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist",
         "-p", "no:langsmith_plugin")  # fmt: skip
PREPARATION_S = 60.0
"""CPU time for imports and fixtures; the tests have twice what they took."""

class _FirstFailure:
    """A plugin that keeps the name of the first test that failed. Examples are the same for every mutant."""

    def __init__(self) -> None:
        self.test = ""

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
            self.test = self.test or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.test = self.test or f"import of {report.nodeid}"


def try_all(
    mutants: Sequence[Mutant], reach: Reach, *, processes: int
) -> Iterator[tuple[Mutant, bool, str]]:
    """Each mutant with whether it was noticed and by what, in the order in which they end."""
    assert "league_agents" not in sys.modules, "a fork would inherit the module that is to be mutated"
    waiting = list(reversed(mutants))
    running: dict[int, tuple[Mutant, int]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                mutant = waiting.pop()
                tests = reach.of(mutant)
                if not tests:
                    yield mutant, False, "no test reaches it"
                    continue
                pid, pipe = _start(mutant, tests, PREPARATION_S + 2 * sum(reach.seconds[test] for test in tests))
                running[pid] = mutant, pipe
            if not running:
                continue
            pid, status = os.wait()
            mutant, pipe = running.pop(pid)
            with os.fdopen(pipe) as reader:
                by = reader.read()
            if os.WIFSIGNALED(status):
                yield mutant, True, by or f"ended by signal {os.WTERMSIG(status)}"
                continue
            # 4: a module of the tests cannot be imported any more, and pytest misses the test that was named.
            code = os.WEXITSTATUS(status)
            if code not in (0, 1, 2, 4, 5):
                raise RuntimeError(f"pytest ended with {code} for {mutant.name} of {mutant.path}")
            yield mutant, code in (1, 2, 4), by or ("an import" if code == 4 else "")
    finally:
        for pid in running:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def _start(mutant: Mutant, tests: Sequence[str], seconds: float) -> tuple[int, int]:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    code = 3
    try:
        os.close(reader)
        limit = int(seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        _serve(mutant)
        failure = _FirstFailure()
        code = int(pytest.main([*QUIET, *tests], plugins=[failure]))
        os.write(writer, failure.test.encode()[:4000])
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
