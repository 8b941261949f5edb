"""A plugin for pytest: each test is a context of coverage; which lines it ran is written to the file MUTANTS_REACH."""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[2]

_measured = coverage.Coverage(data_file=None, source=[str(ROOT / "league_agents")], config_file=False)
_measured.start()
_seconds: dict[str, float] = defaultdict(float)
_failed: set[str] = set()
"""These would notice every mutant."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    name = item.nodeid.split("[")[0]
    _measured.switch_context(name)
    began = time.process_time()
    try:
        return (yield)
    finally:
        _seconds[name] += time.process_time() - began
        _measured.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.add(report.nodeid.split("[")[0])


def pytest_sessionfinish() -> None:
    _measured.stop()
    found = _measured.get_data()
    lines: dict[str, dict[int, list[str]]] = {}
    for path in found.measured_files():
        by_line = found.contexts_by_lineno(path)
        lines[Path(path).relative_to(ROOT).as_posix()] = {
            line: [test for test in tests if test and test not in _failed] for line, tests in by_line.items()
        }
    seconds = {test: spent for test, spent in _seconds.items() if test not in _failed}
    Path(os.environ["MUTANTS_REACH"]).write_text(json.dumps({"seconds": seconds, "lines": lines}), "utf-8")
