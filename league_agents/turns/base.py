"""The interface of an interaction protocol: five methods, and the arguments of its constructor.

Rule: a class with these five methods is a protocol. Its callers need no other method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from league_agents.games.entry import check_agent_ids
from league_agents.kit.errors import ConfigError
from league_agents.turns.flow import Flow, InformationFlowConfig, fitted
from league_agents.turns.message import Message
from league_agents.turns.topology import MOST_AGENTS, Topology


class InteractionProtocol(ABC):
    """Turn order and message delivery for one group of agents.

    A subclass may have a constructor of its own and need not call this one.
    """

    def __init__(
        self,
        agent_ids: Sequence[str],
        topology: Topology | None = None,
        flow: InformationFlowConfig | Flow | None = None,
    ) -> None:
        """Raises ``ConfigError``."""
        self.agent_ids = check_agent_ids(agent_ids, 1, MOST_AGENTS)
        if topology is not None and set(topology.agents) != set(self.agent_ids):
            raise ConfigError("topology.agents", "must be the agents of the protocol, in any order")
        self.topology = topology
        self.flow = flow if isinstance(flow, Flow) else fitted(flow or InformationFlowConfig(), self.agent_ids)

    @abstractmethod
    def get_next_speaker(self) -> str | None:
        """Return the agent that has the turn; ``None`` if the round is over. Has no side effect."""

    @abstractmethod
    def get_listeners(self, speaker: str) -> list[str]:
        """Return the agents that can hear this speaker's message."""

    @abstractmethod
    def advance(self) -> None:
        """End the current turn; once the round is over, open the next one."""

    @abstractmethod
    def route_message(self, message: Message) -> None:
        """Record and route a message."""

    @abstractmethod
    def should_stop(self) -> bool:
        """Whether a stop condition of the ``InformationFlowConfig`` is met."""


FIVE_METHODS: Final = ("get_next_speaker", "get_listeners", "advance", "route_message", "should_stop")
