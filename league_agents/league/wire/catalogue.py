"""Every declared message, found and looked up.

Rule: the classes are found, never listed; importing the package ``messages`` makes them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from league_agents.league.wire.declare import Declaration, declaration_in
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import BrokenPayload, Legacy, Payload
from league_agents.league.wire.payload import LeagueMessage

DECLARED: tuple[Declaration, ...] = tuple(
    item for kind in LeagueMessage.__subclasses__() if (item := declaration_in(kind)) is not None
)
"""What was declared of each class of payloads."""

PAYLOAD_KINDS: tuple[type[Payload], ...] = (*(item.kind for item in DECLARED), Legacy, BrokenPayload)
"""Every class of payloads, those without a declaration too."""

CANONICAL_TYPES: Mapping[type[Payload], MessageType] = MappingProxyType(
    {item.kind: item.sent_as for item in DECLARED if item.sent_as is not None}
)
"""The type as which each payload is sent. The others are only received."""

DECLARATIONS: Mapping[MessageType, Declaration] = MappingProxyType(
    {kind: item for item in DECLARED for kind in item.read_as}
)
"""What was declared of each type that asks for a behaviour; where two classes share one, of the one that reads."""
