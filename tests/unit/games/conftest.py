"""What holds in every test of a game."""

from __future__ import annotations

from typing import Any

import pytest

from league_agents.games.registry import game_codes, game_of
from tests.support.well_typed import misfits


@pytest.fixture(autouse=True)
def what_games_give_is_well_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test in which a game gives events, a progress or an outcome that do not fit their types."""
    for game in {type(game_of(code)) for code in game_codes()}:
        for name in ("opening", "apply", "forfeit", "info", "outcome"):
            monkeypatch.setattr(game, name, _checked(getattr(game, name)))


def _checked(method: Any) -> Any:
    def checked(*arguments: Any, **named: Any) -> Any:
        given = method(*arguments, **named)
        assert list(misfits(getattr(given, "events", given))) == []
        return given

    return checked
