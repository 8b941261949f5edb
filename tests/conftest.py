"""What holds for every test: no verdict depends on how fast the machine is, nor on who started pytest."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

import hypothesis
import pytest

from league_agents.local_league.machine_clock import MachineClock
from league_agents.local_league.patience import LIMIT_S

_NUMBERS = count()

# A drawn example may take as long as it likes. In CI the draws are the same each time (hypothesis sees to it itself).
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
if "CI" not in os.environ:
    hypothesis.settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take long: at the end, a worker without work can take over small ones only."""
    items.sort(key=lambda item: "scenarios" not in item.path.parts)


# Ten thousand tests are many objects, and none of them is garbage before the end. What they make is looked through less
# often than usual.
gc.disable()
gc.set_threshold(10_000, 20, 20)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_configure() -> None:
    # A shell starts what runs in the background with interrupts ignored, and so would every process that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def slow_time(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineClock]:
    """The clock of this process, so slow that nobody who computes is late."""
    clock = MachineClock(tmp_path_factory.mktemp("clock"), rate=0.02)
    with clock.here():
        yield clock


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sends are counted, and books kept, in a folder of the test's own, which is made when it is needed."""
    folder = tmp_path_factory.getbasetemp() / f"data-{next(_NUMBERS)}"
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(folder))


@pytest.fixture(scope="session")
def install_distribution(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mapping[str, str]], Path]:
    """Builds a wheel of a project (file name to text) and installs it, without network. Returns the folder that a
    process has to have on its path."""

    def install(files: Mapping[str, str]) -> Path:
        project, site = (tmp_path_factory.mktemp(name) for name in ("project", "site"))
        for name, text in files.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text, encoding="utf-8")
        build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
        subprocess.run(build, cwd=project, check=True, capture_output=True, timeout=LIMIT_S)
        (wheel,) = (project / "dist").glob("*.whl")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
        subprocess.run([*pip, "--target", str(site), str(wheel)], check=True, capture_output=True, timeout=LIMIT_S)
        return site

    return install
