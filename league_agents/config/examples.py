"""The commented files that users copy: ``config/`` and ``.env.example`` of the repository, ``examples/`` in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

LEAGUE_FILE = "league.example.yaml"
PRICES = "prices.example.yaml"
ENVIRONMENT = ".env.example"
SYSTEMD_UNIT = "systemd/league-agents.service"


def example_text(name: str) -> str:
    """The text of one of them; ``name`` is its path below the folder: ``arena/market.yaml``."""
    return _place(name).read_text("utf-8")


def scenario_names() -> tuple[str, ...]:
    """What ``arena play --scenario`` can be tried with, without the ending, sorted."""
    return tuple(sorted(path.stem for path in _place("arena").glob("*.yaml")))


def _place(name: str) -> Path:
    installed = _PACKAGE / "examples"
    if installed.is_dir():
        return installed / name
    root = _PACKAGE.parent
    return root / name if name == ENVIRONMENT else root / "config" / name
