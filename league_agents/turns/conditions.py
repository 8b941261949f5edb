"""Stop conditions of one's own: any function of the protocol, and those that a file can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from league_agents.turns.turn_taking import TurnTaking

Condition = Callable[[TurnTaking], bool]


def silent_round(protocol: TurnTaking) -> bool:
    """Whether nobody said anything in the last completed round."""
    return protocol.current_round > 0 and not protocol.messages_of(protocol.current_round - 1)


CONDITIONS: Final[Mapping[str, Condition]] = {"silent_round": silent_round}
"""What ``{type: custom, name: …}`` can name without a program of one's own."""
