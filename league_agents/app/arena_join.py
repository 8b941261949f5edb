"""An agent of this process on a seat of an arena elsewhere.

Rule: the agent is made before the seat is taken, so that one that cannot be made keeps nobody waiting.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from league_agents.app.agent_wanted import Company
from league_agents.app.arena import arena_agent, usual_scenario
from league_agents.app.own_seat import closing_agents
from league_agents.arena.agents.port import View
from league_agents.arena.answers import steps_of
from league_agents.arena.client import Client, RemoteSeat, SeatState, ServerRefused
from league_agents.arena.scenario import ScenarioSeat
from league_agents.arena.seat_line import understanding
from league_agents.arena.session import failure_line
from league_agents.games.game import Event, LegalAction
from league_agents.games.people import LANGUAGES
from league_agents.games.registry import game_of
from league_agents.kit.errors import AgentError, ConfigError, ModelError
from league_agents.kit.model_work import ModelStep

LOG = logging.getLogger(__name__)

MOST_FAILURES = 3
"""Failures in a row after which the agent leaves its seat, as at a table of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatSought:
    """Which seat is taken, and by whom."""

    spec: str
    game: str | None = None
    match_id: str | None = None
    """``None``: the oldest match of ``game`` that waits for players, or a new one."""

    agent_id: str | None = None
    """``None``: the first free seat."""

    name: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Keys of a new match. They also tell the agent what the server does not: Q21's ``rules``."""

    held: Mapping[str, str] | None = None
    """Game, match, seat and token of a seat that was taken before."""


class JoinedAgent:
    """The agent of a remote seat, with an account of the models that it used."""

    def __init__(self, agent: object) -> None:
        self.agent = agent
        self.steps: list[ModelStep] = []

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any:
        """The agent's action. Raises what the agent raises."""
        answer = self.agent.act(view, legal, deadline)  # type: ignore[attr-defined]  # made by arena_agent
        found = await answer if inspect.isawaitable(answer) else answer
        self.steps.extend(steps_of(self.agent))
        return found

    def observe(self, event: Event) -> None:
        """Pass the event to the agent."""
        observe = getattr(self.agent, "observe", None)
        if callable(observe):
            observe(event)


@contextmanager
def joined(
    client: Client, sought: SeatSought, company: Company, *, seed: int, keep: Callable[[RemoteSeat], None]
) -> Iterator[tuple[RemoteSeat, JoinedAgent]]:
    """A seat and its agent; ``keep`` is called with a new seat. Raises ``ConfigError``, ``ServerRefused``,
    ``ServerLost``."""
    kept = sought.held
    match_id = kept["match_id"] if kept else sought.match_id or _match_of(client, sought)
    told = client.match(match_id)
    with understanding(client.url):
        game, lang = str(told["game"]), told.get("lang")
        seats = [(str(seat["agent_id"]), bool(seat["is_taken"])) for seat in told["seats"]]
    if sought.game not in (None, game):
        raise ConfigError("--game", f"match {match_id} is one of {game}, not of {sought.game}")
    game_of(game)  # raises for a game that this process does not know
    agent_id = kept["agent_id"] if kept else sought.agent_id or next((each for each, taken in seats if not taken), None)
    if agent_id is None:
        raise ServerRefused("no_seat", f"match {match_id} has no free seat")
    scenario = usual_scenario(game, seats=len(seats), config=sought.config, lang=lang if lang in LANGUAGES else None)
    agent = arena_agent(
        ScenarioSeat(id=agent_id, name=sought.name or agent_id, agent=sought.spec),
        scenario,
        company,
        seed=seed,
        match_id=match_id,
        is_first=bool(seats) and seats[0][0] == agent_id,
    )
    with closing_agents([agent]):
        if kept is not None:
            seat = client.seat(**kept)
        else:
            seat = client.join(match_id, name=sought.name, agent_id=agent_id)
            keep(seat)
        yield seat, JoinedAgent(agent)


def play_on(client: Client, seat: RemoteSeat, agent: JoinedAgent, *, most_decisions: int) -> SeatState:
    """Play to the end, through failures of the agent. Raises ``AgentError`` after ``MOST_FAILURES`` in a row; the seat
    is left then."""
    failures = 0
    while True:
        before = seat.decisions
        try:
            return seat.play(agent, most_decisions=most_decisions)
        except (AgentError, ModelError, TypeError) as error:
            failures = failures + 1 if seat.decisions == before + 1 else 1
            LOG.warning("%s", failure_line(seat.agent_id, "", error))
        if failures == MOST_FAILURES:
            with suppress(ServerRefused):
                client.leave(seat)
            raise AgentError(f"agent {seat.agent_id} failed {failures} times in a row and left match {seat.match_id}")


def _match_of(client: Client, sought: SeatSought) -> str:
    if sought.game is None:
        raise ConfigError("--game", "name a game (league-agents arena games), or a match with --match")
    game_of(sought.game)
    return client.waiting(sought.game) or client.create(sought.game, sought.config)
