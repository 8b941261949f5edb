"""Custom stop conditions: any function of the protocol, and the built-in ones that a file can name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from league_agents.turns.flow import Condition, FlowState


def silent_round(protocol: FlowState) -> bool:
    """Whether the last completed round had no messages."""
    return protocol.current_round > 0 and not protocol.messages_of(protocol.current_round - 1)


CONDITIONS: Final[Mapping[str, Condition]] = {"silent_round": silent_round}
"""Names for ``{type: custom, name: …}`` that are available without the user's own code."""
