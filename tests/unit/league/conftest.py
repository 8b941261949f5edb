"""What holds in every test of the league's machines."""

from __future__ import annotations

from typing import Any

import pytest

from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.player.player import PlayerMachine
from league_agents.league.machines.referee.referee import Referee
from tests.support.well_typed import misfits


@pytest.fixture(autouse=True)
def effects_are_well_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test in which a machine asks for something that does not fit its type."""
    for machine in (Manager, PlayerMachine, Referee):
        monkeypatch.setattr(machine, "step", _checked(machine.step))


def _checked(step: Any) -> Any:
    def checked(*arguments: Any) -> Any:
        state, effects = step(*arguments)
        assert list(misfits(effects)) == []
        return state, effects

    return checked
