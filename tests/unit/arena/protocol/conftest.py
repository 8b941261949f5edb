"""A table at which matches are played through envelopes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from league_agents.arena.protocol.access import Principal
from league_agents.arena.protocol.envelope import OutgoingFrame
from league_agents.arena.protocol.hosting import Hosted, MemoryStore
from league_agents.arena.protocol.requests import check_message
from league_agents.arena.protocol.service import MatchService
from league_agents.games.registry import game_of
from league_agents.turns.match import Match

NOW = datetime(2025, 5, 5, 10, tzinfo=UTC)


class Table:
    """One match at a service, and its agents' ways to talk to it."""

    def __init__(
        self,
        game: str,
        agents: Sequence[str],
        config: Mapping[str, Any] | None = None,
        *,
        seed: int = 7,
        started: bool = True,
        match_id: str = "m-1",
        **hosted: Any,
    ) -> None:
        self.match = Match(game_of(game), config=config or {}, agent_ids=agents, seed=seed)
        self.hosted = Hosted(match_id=match_id, match=self.match, created_at=NOW, **hosted)
        self.store = MemoryStore()
        self.store.add(self.hosted)
        self.service = MatchService(self.store, profile=self.hosted.profile)
        self.game, self.match_id, self.now = game, match_id, NOW
        self.opening: list[tuple[str, OutgoingFrame]] = []
        if started:
            for agent in agents:
                self.service.join(match_id, name=agent.title(), agent_id=agent)
            self.opening = self.service.start(match_id, NOW)

    def dump(self) -> dict[str, Any]:
        return self.match.game.dump(self.match.state)

    def heading(self, kind: str, agent: str, **more: Any) -> dict[str, Any]:
        return {
            "version": "1.0.0",
            "type": kind,
            "game": self.game,
            "match_id": self.match_id,
            "agent_id": agent,
            **more,
        }

    def action(self, agent: str, action: str, data: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        inner = {"version": "1.0.0", "type": action, "data": dict(data)}
        return self.heading("perform_action", agent, action=inner, **more)

    def send(self, message: Any, *, as_agent: str | None = None) -> list[tuple[str, OutgoingFrame]]:
        """Hand in a message with the token of its agent, or of another; everything that comes out is valid."""
        agent = as_agent or message["agent_id"]
        return self.hand_in(message, Principal.of_seat(self.match_id, agent))

    def hand_in(self, message: Any, principal: Principal | None) -> list[tuple[str, OutgoingFrame]]:
        out = self.service.handle(message, principal, self.now)
        for _, envelope in out:
            if envelope["type"] != "push_event" and "agent_id" in envelope:
                assert check_message(envelope) == []
        return out

    def act(self, agent: str, action: str, data: Mapping[str, Any], **more: Any) -> list[tuple[str, OutgoingFrame]]:
        return self.send(self.action(agent, action, data, **more))

    def state(self, agent: str) -> OutgoingFrame:
        message = self.heading("get_state", agent, state={"version": "1.0.0"})
        [(_, envelope)] = self.send(message)
        assert envelope["type"] == "get_state_response", envelope
        return envelope


@pytest.fixture
def table() -> Callable[..., Table]:
    """Makes a table: ``table(game, agents, config, ...)``."""
    return Table


@pytest.fixture
def undercover() -> Table:
    """Three players in English, before the first description."""
    return Table("undercover", ["agent_1", "agent_2", "agent_3"], {"lang": "en"})
