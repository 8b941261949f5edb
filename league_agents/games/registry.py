"""The games that there are, each loaded when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from league_agents.core.game import Game
from league_agents.core.violation import shown
from league_agents.errors import ConfigError


def _guess_number() -> Game[Any]:
    from league_agents.games.guess_number.game import GuessNumber

    return GuessNumber()


def _market() -> Game[Any]:
    from league_agents.games.market.game import Market

    return Market()


def _q21() -> Game[Any]:
    from league_agents.games.q21.game import Q21

    return Q21()


def _undercover() -> Game[Any]:
    from league_agents.games.undercover.game import Undercover

    return Undercover()


_GAMES: Final[Mapping[str, Callable[[], Game[Any]]]] = {
    "guess_number": _guess_number,
    "market": _market,
    "q21": _q21,
    "undercover": _undercover,
}


def game_codes() -> tuple[str, ...]:
    """The codes of all games, in alphabetical order."""
    return tuple(_GAMES)


@cache
def game_of(code: str) -> Game[Any]:
    """The game of that code. Raises ``ConfigError`` that names the known ones."""
    if code not in _GAMES:
        raise ConfigError("game", f"must be one of {', '.join(_GAMES)}, found {shown(code)}")
    return _GAMES[code]()
