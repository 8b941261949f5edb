"""What holds for every test: no verdict depends on how fast the machine is, nor on who started pytest."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import count

import hypothesis
import pytest

from league_agents.testing.machine_clock import MachineClock

_NUMBERS = count()

# A drawn example may take as long as it likes. In CI the draws are the same each time (hypothesis sees to it itself).
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
if "CI" not in os.environ:
    hypothesis.settings.load_profile("unhurried")


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
