"""Configure an arena server: its own agents, and how its tables are set up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from league_agents.app.agent_wanted import Company
from league_agents.app.arena import (
    LLM,
    RANDOM,
    SCRIPTED,
    arena_agent,
    memory_for,
    usual_scenario,
)
from league_agents.arena.scenario import Scenario, ScenarioSeat
from league_agents.arena.server.house import House
from league_agents.games.registry import declared
from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import make_private_folder
from league_agents.knowledge.corpus import data_folder

if TYPE_CHECKING:
    from league_agents.arena.protocol.hosting import Profile
    from league_agents.arena.server.keep import MatchKeep
    from league_agents.arena.server.limits import ServerLimits
    from league_agents.arena.server.serving import ArenaServer

KEEP_NAME = "arena.db"


def arena_house(company: Company | None = None, *, with_models: bool = False) -> House:
    """The agents that remote users may put on a seat.

    Users' classes and a person at the server's terminal are excluded. ``with_models`` adds language models, at the
    operator's expense.
    """
    own = company or Company()

    def agents_of(game: str) -> tuple[str, ...]:
        return (*declared(game).agents.names, SCRIPTED, RANDOM, *((LLM,) if with_models else ()))

    def make_agent(seat: ScenarioSeat, scenario: Scenario, *, seed: int, match_id: str, is_first: bool) -> object:
        return arena_agent(seat, scenario, own, seed=seed, match_id=match_id, is_first=is_first)

    return House(
        agents_of=agents_of,
        make_agent=make_agent,
        usual_table=usual_scenario,
        person_seat=lambda game: declared(game).person_seat,
        memory_for=memory_for,
    )


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
) -> ArenaServer:
    """A server, ready to be started. Raises ``ConfigError``. ``keep``: see ``kept_matches``."""
    from league_agents.arena.protocol.hosting import Profile
    from league_agents.arena.server.serving import ArenaServer

    return ArenaServer(
        arena_house(company, with_models=with_models),
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
