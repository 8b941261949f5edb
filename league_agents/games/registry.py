"""The available games: the packages of ``league_agents.games`` and the games that other distributions install.

Rule 1: the name of a game's package or entry point is its code, so codes are known before anything is imported.
Rule 2: a part of a game is imported on first use. A game that is not used costs nothing and cannot fail.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from typing import Any, Final, cast

from league_agents import games
from league_agents.games.declaration import GameDeclaration, faults_of, faults_of_rules
from league_agents.games.game import Game
from league_agents.kit.errors import ConfigError
from league_agents.kit.installed import installed, named
from league_agents.kit.mistakes import not_one_of
from league_agents.kit.printable import line_of
from league_agents.kit.violation import shown

GROUP: Final = "league_agents.games"
BUILT_IN: Final = "built in"


@cache
def game_codes() -> tuple[str, ...]:
    """Return the codes of all games, in alphabetical order; no game is imported.

    Raises ``ConfigError`` if two games have the same code.
    """
    own = _built_in()
    return tuple(sorted((*own, *installed(GROUP, own))))


@cache
def usable_games() -> tuple[tuple[str, ...], tuple[ConfigError, ...]]:
    """Return the codes of the playable games, and the errors of the others.

    Raises ``ConfigError`` if two games have the same code.
    """
    usable, wrong = [], []
    for code in game_codes():
        try:
            game_of(code)
        except ConfigError as error:
            wrong.append(error)
        else:
            usable.append(code)
    return tuple(usable), tuple(wrong)


@cache
def declared(code: str) -> GameDeclaration:
    """Return the declaration of the game of that code.

    Raises ``ConfigError`` for an unknown code, listing the known ones, and for an installed game that cannot be loaded
    or is invalid.
    """
    if code not in game_codes():
        raise not_one_of("game", game_codes(), code)
    if code in _built_in():
        return cast("GameDeclaration", named(f"{games.__name__}.{code}:GAME"))
    point = installed(GROUP)[code]
    found = point.load()
    if not isinstance(found, GameDeclaration):
        raise point.broken(f"{point.value} is {shown(found)}, not a GameDeclaration")
    for fault in faults_of(found, code):
        raise point.broken(fault)
    return found


@cache
def game_of(code: str) -> Game[Any]:
    """Return the rules of the game of that code. Raises ``ConfigError`` as ``declared`` does."""
    game = declared(code)
    try:
        rules = part_of(game, game.rules)()
    except (TypeError, ValueError, LookupError, AttributeError) as error:  # an installed game is third-party code
        raise ConfigError(f"game {code}", f"has rules that cannot be made: {line_of(error)}") from None
    for fault in faults_of_rules(game, rules):
        raise ConfigError(f"game {code}", f"cannot be played: {fault} ({game_source(code)})")
    return cast("Game[Any]", rules)


def game_source(code: str) -> str:
    """Return the origin of a game: ``built in``, or name and version of its distribution."""
    point = installed(GROUP).get(code)
    return BUILT_IN if point is None else point.distribution


def part_of(game: GameDeclaration, reference: str) -> Any:
    """Import and return the part of a game that its declaration names. Raises ``ConfigError``."""
    try:
        return named(reference, game.package)
    except ConfigError as error:
        raise ConfigError(f"game {game.code}", f"has a part that cannot be loaded: {error.message}") from None


def usual_ids(code: str, count: int) -> tuple[str, ...]:
    """Return agent ids for a match of ``count`` seats: the usual ones, and further ones as needed."""
    usual = declared(code).usual_seats
    word = usual[-1].rstrip("0123456789")
    last = int(usual[-1][len(word) :] or 0)
    return (*usual[:count], *(f"{word}{last + 1 + place}" for place in range(count - len(usual))))


def seats_in_words(code: str) -> str:
    """Return the number of seats of a game as text: ``3`` or ``2 to 64``."""
    game = game_of(code)
    return str(game.min_agents) if game.min_agents == game.max_agents else f"{game.min_agents} to {game.max_agents}"


def _built_in() -> list[str]:
    return [each.name for each in pkgutil.iter_modules(games.__path__) if each.ispkg]
