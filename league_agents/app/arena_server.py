"""Configure an arena server: its own agents, and how its tables are set up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from league_agents.app.agent_wanted import Company
from league_agents.app.arena import (
    HUMAN,
    LLM,
    RANDOM,
    SCRIPTED,
    arena_agent,
    memory_for,
    usual_scenario,
)
from league_agents.app.own_seat import close_agents
from league_agents.arena.scenario import Scenario, ScenarioSeat
from league_agents.arena.server.house import OPEN, House
from league_agents.games.registry import declared, usable_games
from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import make_private_folder
from league_agents.kit.values import evolve
from league_agents.knowledge.corpus import data_folder

if TYPE_CHECKING:
    from league_agents.arena.protocol.hosting import Profile
    from league_agents.arena.server.keep import MatchKeep
    from league_agents.arena.server.limits import ServerLimits
    from league_agents.arena.server.serving import ArenaServer

KEEP_NAME = "arena.db"
_OWN_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}")


def arena_house(
    company: Company | None = None, *, with_models: bool = False, own_agents: Mapping[str, str] | None = None
) -> House:
    """The agents that remote users may put on a seat.

    A person at the server's terminal is excluded. ``with_models`` adds language models, at the operator's expense.
    ``own_agents``: name -> spec of agents that the operator offers, in the games that each of them can play. Raises
    ``ConfigError`` for one that can play none.
    """
    own = company or Company()
    own = evolve(own, own_class=cache(own.own_class))
    specs = dict(own_agents or {})
    games_of = {name: _games_of(name, spec, own) for name, spec in specs.items()}

    def own_agents_of(game: str) -> tuple[str, ...]:
        return tuple(name for name, games in games_of.items() if game in games)

    def agents_of(game: str) -> tuple[str, ...]:
        return (
            *declared(game).agents.names,
            SCRIPTED,
            RANDOM,
            *((LLM,) if with_models else ()),
            *own_agents_of(game),
        )

    def make_agent(seat: ScenarioSeat, scenario: Scenario, *, seed: int, match_id: str, is_first: bool) -> object:
        seat = evolve(seat, agent=specs.get(seat.agent, seat.agent))
        return arena_agent(seat, scenario, own, seed=seed, match_id=match_id, is_first=is_first)

    return House(
        agents_of=agents_of,
        make_agent=make_agent,
        usual_table=usual_scenario,
        person_seat=lambda game: declared(game).person_seat,
        memory_for=memory_for,
        own=frozenset(specs),
    )


def _games_of(name: str, spec: str, company: Company) -> frozenset[str]:
    """The games of which the agent can play a seat. Raises ``ConfigError`` if there are none."""
    where = f"--agent {name:.80}"
    codes = usable_games()[0]
    taken = {OPEN, SCRIPTED, RANDOM, LLM, HUMAN}.union(*(declared(code).agents.names for code in codes))
    if _OWN_NAME.fullmatch(name) is None:
        raise ConfigError(where, "the name must be 1 to 32 letters, digits, dots, dashes and underscores")
    if name in taken:
        raise ConfigError(where, "is an agent of the server already; choose another name")
    if spec == HUMAN:
        raise ConfigError(where, "a person cannot sit here; people play on the page")
    games: set[str] = set()
    failure: ConfigError | None = None
    for code in codes:
        scenario = usual_scenario(code)
        roles = len(set(declared(code).roles))
        for place, seat in enumerate(scenario.seats[:roles]):
            try:
                made = arena_agent(
                    evolve(seat, agent=spec), scenario, company, seed=0, match_id="trial", is_first=place == 0
                )
            except ConfigError as error:
                failure = failure or error
                continue
            close_agents([made])
            games.add(code)
    if not games:
        raise ConfigError(where, f"plays none of the games here: {failure}")
    return frozenset(games)


def arena_server(
    company: Company | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    is_public: bool = False,
    with_models: bool = False,
    limits: ServerLimits | None = None,
    profile: Profile | None = None,
    keep: MatchKeep | None = None,
    own_agents: Mapping[str, str] | None = None,
) -> ArenaServer:
    """A server, ready to be started. Raises ``ConfigError``. ``keep``: see ``kept_matches``, ``own_agents``: see
    ``arena_house``."""
    from league_agents.arena.protocol.hosting import Profile
    from league_agents.arena.server.serving import ArenaServer

    return ArenaServer(
        arena_house(company, with_models=with_models, own_agents=own_agents),
        host=host,
        port=port,
        is_public=is_public,
        limits=limits,
        profile=profile or Profile.SEED,
        keep=keep,
    )


@contextmanager
def kept_matches(path: Path | None, *, most_finished: int | None = None) -> Iterator[MatchKeep]:
    """The file that keeps the matches of one server at a time; ``None`` = in memory. Raises ``ConfigError``."""
    from league_agents.arena.server.keep import MOST_FINISHED, MatchKeep
    from league_agents.runner.lock import FileLock, Locked

    most = MOST_FINISHED if most_finished is None else most_finished
    with ExitStack() as stack:
        if path is not None:
            try:
                make_private_folder(path.parent)
                stack.callback(FileLock(path).release)
            except Locked as error:
                raise ConfigError("--keep", f"{path} is in use by {error}; name another file, or none") from None
            except OSError as error:
                raise ConfigError("--keep", f"{path} cannot be used: {error.strerror}; name another file") from None
        keep = MatchKeep(path, most_finished=most)
        stack.callback(keep.close)
        yield keep


def default_keep_path() -> Path:
    """``arena.db`` in the folder for user data."""
    return data_folder() / KEEP_NAME
