"""Load a protocol from configuration: YAML text or a mapping (arena 4.6).

Rule 1: one table defines the types and the keys of each; the reader, its messages and all lists of types use it.
Rule 2: a class that a configuration names runs only if the caller passes a loader, because a configuration may come
from an untrusted source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal

from msgspec import Struct
from pydantic import Field, create_model

from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown
from league_agents.kit.written import Words, WrittenMapping, read_written
from league_agents.kit.yaml_text import read_yaml
from league_agents.turns.broadcast import BroadcastDeliberation
from league_agents.turns.conditions import CONDITIONS
from league_agents.turns.flow import Condition, InformationFlowConfig, read_condition
from league_agents.turns.market import MarketTurnBased
from league_agents.turns.own_turns import own_protocol
from league_agents.turns.queue_based import QueueBased
from league_agents.turns.sequential import SequentialHandoff
from league_agents.turns.topology import Topology
from league_agents.turns.turn_taking import TurnTaking


class NoOptions(WrittenMapping):
    """The keys of ``protocol`` besides ``type``: none. Subclasses add the parameters of their protocol's class."""


class MarketOptions(NoOptions):
    """The keys of the market's protocol."""

    simultaneous: bool = Field(
        True, description="Whether prices are sealed until all are in; without it, they come in turn."
    )
    market: Any = Field(None, description="Terms that differ from the defaults, with the market game's keys.")


class SequentialOptions(NoOptions):
    """The keys of the sequential protocol."""

    carry_over: bool = Field(False, description="Whether what is said last reaches the first of the next round.")


class ProtocolType(Struct, frozen=True, kw_only=True):
    """One built-in protocol."""

    make: type[TurnTaking]
    options: type[NoOptions] = NoOptions

    best_for: str
    risk: str
    """The typical failure of agents that talk in this way, as a point to watch (arena 4.2)."""

    is_in_files: bool = True
    """Whether a configuration can name it; otherwise only a Python program can construct the class."""

    @property
    def keys(self) -> Mapping[str, str]:
        """Return every option with its description."""
        return {key: field.description or "" for key, field in self.options.model_fields.items()}


PROTOCOL_TYPES: Final[Mapping[str, ProtocolType]] = {
    MarketTurnBased.type: ProtocolType(
        make=MarketTurnBased,
        options=MarketOptions,
        best_for="pricing, auctions",
        risk="prices that rise without an agreement",
    ),
    SequentialHandoff.type: ProtocolType(
        make=SequentialHandoff,
        options=SequentialOptions,
        best_for="negotiation in turns, relay",
        risk="rigid positions",
    ),
    BroadcastDeliberation.type: ProtocolType(
        make=BroadcastDeliberation,
        best_for="deliberation in a group, voting",
        risk="groupthink, echo chambers",
    ),
    QueueBased.type: ProtocolType(
        make=QueueBased, best_for="work that is handed on", risk="messages that nobody answers", is_in_files=False
    ),
}
"""Every built-in protocol."""

ClassLoader = Callable[[str], type]
"""Returns the class that ``module:Class`` names. Raises ``ConfigError``."""

_IN_FILES: Final = tuple(name for name, each in PROTOCOL_TYPES.items() if each.is_in_files)
_OPTIONS: Final[dict[str, Any]] = {
    "type": (Literal[_IN_FILES], ...),
    **{key: (Any, None) for each in PROTOCOL_TYPES.values() for key in each.keys},
}
WrittenProtocol: Any = create_model("WrittenProtocol", __base__=WrittenMapping, **_OPTIONS)
"""The options of all types; the options class of the named type reads their values."""


class WrittenInteraction(WrittenMapping):
    """The sections of an interaction configuration. They are read one by one."""

    protocol: Any
    topology: Any = None
    flow: Any = None


class WrittenTopology(WrittenMapping):
    """The ``topology`` section. ``Topology`` checks the fields of type ``Any``."""

    agents: Annotated[list[Any], Field(strict=False)] | None = None
    matrix: Any = None
    edges: Any = None
    directed: bool = True
    schedule: Any = None
    flow: Any = None


class WrittenFlow(WrittenMapping):
    """The ``flow`` section. Fields of type ``Any`` are checked when the flow is fitted to the agents."""

    entry_nodes: Any = None
    exit_nodes: Any = None
    flow_order: Any = None
    cyclic: bool = True
    stop_conditions: Annotated[list[Any], Field(strict=False), Words("a list of conditions, each with a type")] = Field(
        default_factory=list
    )


def load_protocol(
    source: str | Mapping[str, Any],
    agent_ids: Sequence[str] | None = None,
    conditions: Mapping[str, Condition] | None = None,
    load_class: ClassLoader | None = None,
) -> TurnTaking:
    """Return the protocol of a configuration with ``protocol`` and, optionally, ``topology`` and ``flow``.

    ``agent_ids`` may be left out if ``topology.agents`` has them. ``conditions`` are custom stop conditions that the
    configuration may name, besides the built-in ones. ``load_class`` allows ``protocol.type`` to be ``module:Class``;
    the other keys of ``protocol`` are then arguments of the class. Raises ``ConfigError`` with the key path, and
    ``ProtocolError`` for a class that fails at once.
    """
    mapping = read_yaml(source, "protocol") if isinstance(source, str) else source
    top = read_written(WrittenInteraction, mapping, "")
    make, options = _kind(top.protocol, load_class)
    topology = read_written(WrittenTopology, top.topology, "topology")
    agents = _agents(topology.agents, agent_ids)
    return make(
        agents,
        _topology(topology, agents),
        _flow(top.flow, topology.flow, {**CONDITIONS, **(conditions or {})}),
        **options,
    )


def _kind(found: object, load_class: ClassLoader | None) -> tuple[Callable[..., TurnTaking], dict[str, Any]]:
    kind = found.get("type") if isinstance(found, Mapping) else None
    if isinstance(kind, str) and ":" in kind and isinstance(found, Mapping):
        return _own(kind, found, load_class)
    if isinstance(kind, str) and kind in PROTOCOL_TYPES and kind not in _IN_FILES:
        name = PROTOCOL_TYPES[kind].make.__name__
        raise ConfigError("protocol.type", f"{kind} is for Python programs only: instantiate the class {name}")
    written: Any = read_written(WrittenProtocol, found, "protocol")
    chosen = PROTOCOL_TYPES[written.type]
    given = {key: getattr(written, key) for key in written.model_fields_set if key != "type"}
    for key in given:
        if key not in chosen.keys:
            owners = [name for name, each in PROTOCOL_TYPES.items() if key in each.keys]
            raise ConfigError(
                f"protocol.{key}", f"belongs to type {', '.join(owners)}, not to {written.type}; leave it out"
            )
    options = read_written(chosen.options, given, "protocol")
    return chosen.make, {key: getattr(options, key) for key in given}


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


def _agents(named: Sequence[str] | None, agent_ids: Sequence[str] | None) -> Sequence[str]:
    if agent_ids is None:
        if named is None:
            raise ConfigError("topology.agents", "is missing: nobody says who the agents are")
        return named
    if named is not None and (len(named) != len(agent_ids) or any(name not in agent_ids for name in named)):
        raise ConfigError("topology.agents", f"must be the agents {', '.join(agent_ids[:12])}, in any order")
    return tuple(agent_ids)


def _topology(written: WrittenTopology, agents: Sequence[str]) -> Topology | None:
    if written.matrix is None and written.edges is None and written.schedule is None:
        return None
    return Topology(
        agents if written.agents is None else written.agents,
        matrix=written.matrix,
        edges=written.edges,
        directed=written.directed,
        schedule=written.schedule,
    )


def _flow(top: object, inner: object, conditions: Mapping[str, Condition]) -> InformationFlowConfig:
    if top is not None and inner is not None:
        raise ConfigError("flow", "stands at the top and under topology; keep one of the two")
    path = "flow" if inner is None else "topology.flow"
    written = read_written(WrittenFlow, top if inner is None else inner, path)
    return InformationFlowConfig(
        entry_nodes=written.entry_nodes,
        exit_nodes=written.exit_nodes,
        flow_order=written.flow_order,
        cyclic=written.cyclic,
        stop_conditions=[
            read_condition(each, f"{path}.stop_conditions[{place}]", conditions)
            for place, each in enumerate(written.stop_conditions)
        ],
    )
