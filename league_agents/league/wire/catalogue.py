"""Lookup tables of all declared messages.

Rule: the classes are discovered, never listed; importing the package ``messages`` creates them all.
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
"""The declaration of each payload class."""

PAYLOAD_KINDS: tuple[type[Payload], ...] = (*(item.kind for item in DECLARED), Legacy, BrokenPayload)
"""All payload classes, including those without a declaration."""

CANONICAL_TYPES: Mapping[type[Payload], MessageType] = MappingProxyType(
    {item.kind: item.sent_as for item in DECLARED if item.sent_as is not None}
)
"""The message type as which each payload class is sent. Other classes are only received."""

DECLARATIONS: Mapping[MessageType, Declaration] = MappingProxyType(
    {kind: item for item in DECLARED for kind in item.read_as}
)
"""The declaration of each type that requires a behaviour; if two classes share a type, that of the reading class."""
