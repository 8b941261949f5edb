"""What a server tells of matches that are over: the gallery, replays, and who wins how often.

Rule 1: nothing here is told of a match that is not over.
Rule 2: a name that a client gave itself proves nothing. Clients are counted together, by what they say they are; only
agents of the server have a row of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from league_agents.arena.protocol.hosting import Hosted, Status
from league_agents.arena.scenario import Scenario
from league_agents.arena.server.house import OPEN
from league_agents.arena.server.keep import SeatResult
from league_agents.arena.server.lobby import match_told
from league_agents.arena.transcript import Line, keeps_secrets

GUEST = f"{OPEN}:"
"""The beginning of a contender that is everybody who took a seat: ``open:human``, ``open:ai``."""


def finished_told(hosted: Hosted, scenario: Scenario, lines: Sequence[Line]) -> tuple[dict[str, Any], list[SeatResult]]:
    """What the gallery says of a match that is over, and the results that count."""
    last = lines[-1]
    told = {
        **match_told(hosted, scenario, 0),
        "listed": hosted.is_listed,
        "winners": last["winners"],
        "scores": last["scores"],
        "reason": last["reason"],
        "moves": sum(line["line"] == "decision" for line in lines),
        "secret": keeps_secrets(lines[0]),
    }
    if hosted.status is not Status.ENDED:
        return told, []
    agents = {seat.id: seat.agent for seat in scenario.seats}
    return told, [
        SeatResult(
            agent_id=seat.agent_id,
            contender=f"{GUEST}{seat.kind}" if agents[seat.agent_id] == OPEN else agents[seat.agent_id],
            is_winner=seat.agent_id in last["winners"],
        )
        for seat in hosted.seats
    ]
