"""Who speaks when, who hears it, and when it ends (arena 4). Pure."""

from league_agents.interaction.base import FIVE_METHODS, InteractionProtocol
from league_agents.interaction.broadcast import BroadcastDeliberation
from league_agents.interaction.flow import InformationFlowConfig, StopCondition
from league_agents.interaction.load import PROTOCOL_TYPES, ClassLoader, load_protocol
from league_agents.interaction.market import MarketTurnBased
from league_agents.interaction.message import InteractionError, Message
from league_agents.interaction.queue_based import QueueBased
from league_agents.interaction.sequential import SequentialHandoff
from league_agents.interaction.topology import Topology
from league_agents.interaction.turns import Skip

__all__ = [
    "FIVE_METHODS",
    "PROTOCOL_TYPES",
    "BroadcastDeliberation",
    "ClassLoader",
    "InformationFlowConfig",
    "InteractionError",
    "InteractionProtocol",
    "MarketTurnBased",
    "Message",
    "QueueBased",
    "SequentialHandoff",
    "Skip",
    "StopCondition",
    "Topology",
    "load_protocol",
]
