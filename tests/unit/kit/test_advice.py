"""Google's libraries are imported without their advice."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import metadata

from league_agents.kit.advice import without_advice
from league_agents.local_league.patience import LIMIT_S

SEARCHES = """
import datetime, importlib.metadata

class WhenAllVersionsAreOld(datetime.date):
    @classmethod
    def today(cls):
        return cls(2040, 1, 1)

def search():
    raise SystemExit("the file lists of everything that is installed are read")

datetime.date = WhenAllVersionsAreOld
importlib.metadata.packages_distributions = search
import league_agents.mail.gmail.transport
"""


def test_advice_is_neither_given_nor_prepared() -> None:
    before = metadata.packages_distributions
    with warnings.catch_warnings(record=True) as heard, without_advice():
        assert metadata.packages_distributions() == {}
        warnings.warn("your Python is old", FutureWarning, stacklevel=1)
    assert heard == []
    assert metadata.packages_distributions is before


def test_gmail_is_imported_without_a_look_at_everything_that_is_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SEARCHES], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
