"""Turn order, message delivery and stop conditions (arena 4). Pure."""

from league_agents.turns.base import FIVE_METHODS, InteractionProtocol
from league_agents.turns.broadcast import BroadcastDeliberation
from league_agents.turns.flow import InformationFlowConfig, StopCondition
from league_agents.turns.load import PROTOCOL_TYPES, ClassLoader, load_protocol
from league_agents.turns.market import MarketTurnBased
from league_agents.turns.message import InteractionError, Message
from league_agents.turns.queue_based import QueueBased
from league_agents.turns.sequential import SequentialHandoff
from league_agents.turns.topology import Topology
from league_agents.turns.turn_taking import Skip

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
