"""Who speaks when, who hears it, and when it ends (arena 4). Pure."""

from league_agents.interaction.base import InteractionProtocol, Skip
from league_agents.interaction.broadcast import BroadcastDeliberation
from league_agents.interaction.flow import InformationFlowConfig, StopCondition
from league_agents.interaction.load import PROTOCOL_TYPES, load_protocol
from league_agents.interaction.market import MarketTurnBased
from league_agents.interaction.message import Message, ProtocolError
from league_agents.interaction.queue_based import QueueBased
from league_agents.interaction.sequential import SequentialHandoff
from league_agents.interaction.topology import Topology

__all__ = [
    "PROTOCOL_TYPES",
    "BroadcastDeliberation",
    "InformationFlowConfig",
    "InteractionProtocol",
    "MarketTurnBased",
    "Message",
    "ProtocolError",
    "QueueBased",
    "SequentialHandoff",
    "Skip",
    "StopCondition",
    "Topology",
    "load_protocol",
]
