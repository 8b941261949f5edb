"""The setup of a match by mail.

Rule: the journal keeps all of it, so a restarted host needs nothing else to go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from league_agents.arena.scenario import Scenario, Seed, scenario_of
from league_agents.kit.errors import ConfigError
from league_agents.kit.written import WrittenMapping, one_line, read_written
from league_agents.league.wire.address import read_address, same_address
from league_agents.turns import ClassLoader


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSetup:
    """The setup of one match."""

    scenario: Scenario
    seed: int
    match_id: str
    host_address: str
    addresses: Mapping[str, str]
    """Seat -> mailbox. The host plays every other seat, with the agent that the scenario names."""

    def __post_init__(self) -> None:
        if not self.addresses:
            raise ConfigError("seats", "name at least one seat and its address: agent_1=somebody@example.com")
        for agent_id, address in self.addresses.items():
            if agent_id not in self.scenario.agent_ids:
                known = ", ".join(self.scenario.agent_ids)
                raise ConfigError(f"seats.{agent_id}", f"is no seat of the scenario; its seats are {known}")
            if read_address(address) != address:
                raise ConfigError(f"seats.{agent_id}", f"{address[:80]!a} is no mail address")
            if same_address(address, self.host_address):
                raise ConfigError(f"seats.{agent_id}", f"{address} is the host itself; a seat needs another mailbox")

    def seats_of(self, address: str) -> list[str]:
        """The seats of a mailbox, in seat order."""
        return [
            agent_id
            for agent_id in self.scenario.agent_ids
            if agent_id in self.addresses and same_address(self.addresses[agent_id], address)
        ]


class WrittenSetup(WrittenMapping):
    """The setup as JSON values."""

    scenario: dict[str, Any]
    seed: Seed
    match_id: Annotated[str, one_line(64)]
    host_address: Annotated[str, one_line(254)]
    addresses: dict[str, str]


def setup_to(setup: MailSetup) -> dict[str, Any]:
    """The setup as JSON values."""
    scenario, clock = setup.scenario, setup.scenario.clock
    return {
        "scenario": {
            "game": scenario.game,
            "config": dict(scenario.config),
            "agents": [{"id": seat.id, "name": seat.name, "agent": seat.agent} for seat in scenario.seats],
            "lang": scenario.lang,
            "clock": {
                "turn_timeout_s": None if clock.turn_timeout is None else clock.turn_timeout.total_seconds(),
                "time_bank_s": clock.time_bank.total_seconds(),
                "max_invalid": clock.max_invalid,
                "max_forfeits": clock.max_forfeits,
                "disconnect_grace_s": clock.disconnect_grace.total_seconds(),
                "on_leave": clock.on_leave,
            },
            **(scenario.interaction or {}),
        },
        "seed": setup.seed,
        "match_id": setup.match_id,
        "host_address": setup.host_address,
        "addresses": dict(setup.addresses),
    }


def setup_from(kept: Mapping[str, Any], load_class: ClassLoader | None = None) -> MailSetup:
    """Read a stored setup; ``load_class`` loads the host's own interaction protocol.

    Raises ``ConfigError`` for anything else.
    """
    found = read_written(WrittenSetup, kept, "setup")
    return MailSetup(
        scenario=scenario_of(found.scenario, load_class),
        seed=found.seed,
        match_id=found.match_id,
        host_address=found.host_address,
        addresses=found.addresses,
    )
