"""Who speaks when, who hears it, and when it ends (arena 4). Pure."""

from league_agents.interaction.base import InteractionProtocol, Skip
from league_agents.interaction.broadcast import BroadcastDeliberation
from league_agents.interaction.flow import InformationFlowConfig, StopCondition
from league_agents.interaction.market import MarketTurnBased
from league_agents.interaction.message import Message, ProtocolError
from league_agents.interaction.sequential import SequentialHandoff
from league_agents.interaction.topology import Topology

__all__ = [
    "BroadcastDeliberation",
    "InformationFlowConfig",
    "InteractionProtocol",
    "MarketTurnBased",
    "Message",
    "ProtocolError",
    "SequentialHandoff",
    "Skip",
    "StopCondition",
    "Topology",
]
