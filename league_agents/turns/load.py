"""A protocol from configuration: YAML text or a mapping (arena 4.6).

Rule 1: one table says which types there are and which keys each has; the reader, its messages and whoever lists the
types look there.
Rule 2: a class that a configuration names runs only where the caller hands in what loads it: a configuration may come
from a stranger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from league_agents.kit.errors import ConfigError
from league_agents.kit.keys import Keys
from league_agents.kit.violation import shown
from league_agents.kit.yaml_text import read_yaml
from league_agents.turns.broadcast import BroadcastDeliberation
from league_agents.turns.conditions import CONDITIONS, Condition
from league_agents.turns.flow import InformationFlowConfig, read_condition
from league_agents.turns.market import MarketTurnBased
from league_agents.turns.own_turns import own_protocol
from league_agents.turns.queue_based import QueueBased
from league_agents.turns.sequential import SequentialHandoff
from league_agents.turns.topology import Topology
from league_agents.turns.turn_taking import TurnTaking


class ProtocolKey(Struct, frozen=True, kw_only=True):
    """A key of ``protocol`` besides ``type``."""

    meaning: str
    read: Callable[[Keys, str], Any]


class ProtocolType(Struct, frozen=True, kw_only=True):
    """One protocol that comes with the package."""

    make: type[TurnTaking]
    keys: Mapping[str, ProtocolKey] = msgspec.field(default_factory=dict)
    """Each is a parameter of the class."""

    best_for: str
    risk: str
    """What tends to go wrong between agents that talk like this."""

    is_in_files: bool = True
    """Whether a configuration can name it; otherwise a Python program makes the class itself."""


def _switch(meaning: str, default: bool) -> ProtocolKey:
    return ProtocolKey(meaning=meaning, read=lambda keys, key: keys.boolean(key, default))


PROTOCOL_TYPES: Final[Mapping[str, ProtocolType]] = {
    MarketTurnBased.type: ProtocolType(
        make=MarketTurnBased,
        keys={
            "simultaneous": _switch("Whether prices are sealed until all are in; without it, they come in turn.", True),
            "market": ProtocolKey(
                meaning="Terms that differ from the defaults, with the market game's keys.",
                read=lambda keys, key: keys.at(key),
            ),
        },
        best_for="pricing, auctions",
        risk="prices that rise without an agreement (R2)",
    ),
    SequentialHandoff.type: ProtocolType(
        make=SequentialHandoff,
        keys={"carry_over": _switch("Whether what is said last reaches the first of the next round.", False)},
        best_for="negotiation in turns, relay",
        risk="rigid positions (R13)",
    ),
    BroadcastDeliberation.type: ProtocolType(
        make=BroadcastDeliberation,
        best_for="deliberation in a group, voting",
        risk="groupthink (R8), echo chambers (R7)",
    ),
    QueueBased.type: ProtocolType(
        make=QueueBased, best_for="work that is handed on", risk="nobody answers what waits", is_in_files=False
    ),
}
"""Every protocol that comes with the package."""

ClassLoader = Callable[[str], type]
"""Finds the class that ``module:Class`` names. Raises ``ConfigError``."""

_IN_FILES: Final = tuple(name for name, each in PROTOCOL_TYPES.items() if each.is_in_files)
_PROTOCOL_KEYS: Final = tuple(dict.fromkeys(["type", *(key for each in PROTOCOL_TYPES.values() for key in each.keys)]))
_TOPOLOGY_KEYS: Final = ("agents", "matrix", "edges", "directed", "schedule", "flow")
_FLOW_KEYS: Final = ("entry_nodes", "exit_nodes", "flow_order", "cyclic", "stop_conditions")


def load_protocol(
    source: str | Mapping[str, Any],
    agent_ids: Sequence[str] | None = None,
    conditions: Mapping[str, Condition] | None = None,
    load_class: ClassLoader | None = None,
) -> TurnTaking:
    """The protocol of a configuration with ``protocol`` and, if wanted, ``topology`` and ``flow``.

    ``agent_ids`` may be left out where ``topology.agents`` has them. ``conditions`` are custom stop conditions that the
    configuration may name, besides the built-in ones. ``load_class`` lets ``protocol.type`` be ``module:Class``; the
    other keys of ``protocol`` are then arguments of the class. Raises ``ConfigError`` with the key path, and
    ``ProtocolError`` for a class that fails at once.
    """
    mapping = read_yaml(source, "protocol") if isinstance(source, str) else source
    top = Keys(mapping, "", ("protocol", "topology", "flow"))
    make, options = _kind(top, load_class)
    topology = top.section("topology", _TOPOLOGY_KEYS) if "topology" in top else None
    agents = _agents(topology, agent_ids)
    return make(
        agents,
        None if topology is None else _topology(topology, agents),
        _flow(top, topology, {**CONDITIONS, **(conditions or {})}),
        **options,
    )


def _kind(top: Keys, load_class: ClassLoader | None) -> tuple[Callable[..., TurnTaking], dict[str, Any]]:
    found = top.at("protocol")
    kind = found.get("type") if isinstance(found, Mapping) else None
    if isinstance(kind, str) and ":" in kind and isinstance(found, Mapping):
        return _own(kind, found, load_class)
    if isinstance(kind, str) and kind in PROTOCOL_TYPES and kind not in _IN_FILES:
        name = PROTOCOL_TYPES[kind].make.__name__
        raise ConfigError("protocol.type", f"{kind} is for Python programs only: instantiate the class {name}")
    keys = top.section("protocol", _PROTOCOL_KEYS)
    kind = keys.word("type", _IN_FILES, None)
    options: dict[str, Any] = {}
    for key in _PROTOCOL_KEYS[1:]:
        if key not in keys:
            continue
        if key not in PROTOCOL_TYPES[kind].keys:
            owners = [name for name, each in PROTOCOL_TYPES.items() if key in each.keys]
            raise keys.error(key, f"belongs to type {', '.join(owners)}, not to {kind}; leave it out")
        options[key] = PROTOCOL_TYPES[kind].keys[key].read(keys, key)
    return PROTOCOL_TYPES[kind].make, options


def _own(
    spec: str, keys: Mapping[str, Any], load_class: ClassLoader | None
) -> tuple[Callable[..., TurnTaking], dict[str, Any]]:
    if load_class is None:
        raise ConfigError(
            "protocol.type", f"{shown(spec)} names a class, and none is run here; write {', '.join(_IN_FILES)}"
        )
    try:
        protocol_class = load_class(spec)
    except ConfigError as error:
        raise ConfigError("protocol.type", str(error)) from None
    options = {key: value for key, value in keys.items() if key != "type"}
    return partial(own_protocol, spec, protocol_class), options


def _agents(topology: Keys | None, agent_ids: Sequence[str] | None) -> Sequence[str]:
    named: Sequence[str] | None = None
    if topology is not None and "agents" in topology:
        given = topology.at("agents")
        if not isinstance(given, (list, tuple)):
            raise ConfigError("topology.agents", f"must be a list of agents, found {shown(given)}")
        named = given
    if agent_ids is None:
        if named is None:
            raise ConfigError("topology.agents", "is missing: nobody says who the agents are")
        return named
    if named is not None and (len(named) != len(agent_ids) or any(name not in agent_ids for name in named)):
        raise ConfigError("topology.agents", f"must be the agents {', '.join(agent_ids[:12])}, in any order")
    return tuple(agent_ids)


def _topology(keys: Keys, agents: Sequence[str]) -> Topology | None:
    matrix = keys.at("matrix") if "matrix" in keys else None
    edges = keys.at("edges") if "edges" in keys else None
    schedule = keys.at("schedule") if "schedule" in keys else None
    if matrix is None and edges is None and schedule is None:
        return None
    return Topology(
        keys.at("agents") if "agents" in keys else agents,  # type: ignore[arg-type]  # seen to be a list
        matrix=matrix,  # type: ignore[arg-type]  # checked there
        edges=edges,  # type: ignore[arg-type]
        directed=keys.boolean("directed", True),
        schedule=schedule,  # type: ignore[arg-type]
    )


def _flow(top: Keys, topology: Keys | None, conditions: Mapping[str, Condition]) -> InformationFlowConfig:
    places = [each for each in (top, topology) if each is not None and "flow" in each]
    if len(places) == 2:
        raise ConfigError("flow", "stands at the top and under topology; keep one of the two")
    if not places:
        return InformationFlowConfig()
    keys = places[0].section("flow", _FLOW_KEYS)
    stops: Any = keys.at("stop_conditions") if "stop_conditions" in keys else []
    if not isinstance(stops, (list, tuple)):
        raise keys.wrong("stop_conditions", "a list of conditions, each with a type", stops)

    def given(key: str) -> Any:
        return keys.at(key) if key in keys else None

    return InformationFlowConfig(
        entry_nodes=given("entry_nodes"),
        exit_nodes=given("exit_nodes"),
        flow_order=given("flow_order"),
        cyclic=keys.boolean("cyclic", True),
        stop_conditions=[
            read_condition(each, f"{keys.below('stop_conditions')}[{place}]", conditions)
            for place, each in enumerate(stops)
        ],
    )
