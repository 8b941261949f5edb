"""The order in which information flows, and the conditions that end the flow.

Rule: a flow is plain configuration; ``fitted`` checks it against the agents of one protocol, and only a fitted flow is
used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Protocol

from msgspec import Struct
from pydantic import Field

from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import no_such_key, not_one_of
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.kit.written import WrittenMapping, one_line, read_written
from league_agents.turns.message import Message

FlowOrder = Sequence[str | Sequence[str]]
"""Agents in their order; a list within it is a stage whose agents speak simultaneously."""

ConditionType = Literal["max_rounds", "max_messages", "node_reached", "convergence", "custom"]

_PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "max_rounds": ("value",),
    "max_messages": ("value",),
    "node_reached": ("node",),
    "convergence": ("window", "tolerance"),
    "custom": ("name",),
}

_MOST: Final = 10**9


class FlowState(Protocol):
    """What a custom condition sees of the protocol, which is a ``turn_taking.TurnTaking``."""

    @property
    def agent_ids(self) -> Sequence[str]: ...

    @property
    def current_round(self) -> int:
        """Number of completed rounds."""

    @property
    def message_log(self) -> Sequence[Message]:
        """All messages in their order."""

    def messages_of(self, round_number: int, /) -> Sequence[Message]:
        """The messages of one round, counted from 0."""


Condition = Callable[[FlowState], bool]
"""A custom condition: whether the flow stops now."""


class StopCondition(Struct, frozen=True, kw_only=True):
    """One condition that stops the flow."""

    type: ConditionType
    value: int = 1
    """Limit in rounds or messages, for ``max_rounds`` and ``max_messages``."""

    node: str = ""
    """The agent whose message ends the episode, for ``node_reached``."""

    window: int = 2
    """Number of completed rounds that ``convergence`` compares."""

    tolerance: float = 0
    """Greatest difference between numbers for ``convergence``."""

    check: Condition | None = None
    """The function that ``custom`` calls."""

    name: str = ""
    """Name of a custom condition in YAML and in the rules."""


class WrittenCondition(WrittenMapping):
    """A stop condition as a file has it: the parameters of every type."""

    type: ConditionType
    value: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    node: Annotated[str, one_line(64)] | None = None
    window: Annotated[int, Field(ge=1, le=1_000)] = 2
    tolerance: Annotated[float, Field(ge=0, le=_MOST)] = 0
    name: str | None = None


class InformationFlowConfig(Struct, frozen=True, kw_only=True):
    """The order of the agents and the end of the flow."""

    entry_nodes: Sequence[str] | None = None
    """Agents at which information enters; ``None`` = the first agent."""

    exit_nodes: Sequence[str] | None = None
    """Agents at which it leaves; ``None`` = the entry nodes of a cyclic flow, the last agent of any other."""

    flow_order: FlowOrder | None = None
    """``None`` = the protocol's agents in their order, one at a time."""

    cyclic: bool = True
    """Whether another round follows each round; otherwise the flow stops after one."""

    stop_conditions: Sequence[StopCondition | Mapping[str, Any]] = ()
    """Any of them stops the flow. A mapping has ``type`` and the parameters of that type."""


class Flow(Struct, frozen=True, kw_only=True):
    """A flow that was checked against its agents."""

    entry_nodes: tuple[str, ...]
    exit_nodes: tuple[str, ...]
    stages: tuple[tuple[str, ...], ...]
    is_ordered: bool
    """Whether the configuration fixes the order."""

    cyclic: bool
    stop_conditions: tuple[StopCondition, ...]


def fitted(config: InformationFlowConfig, agent_ids: Sequence[str]) -> Flow:
    """Return the flow for these agents, with all defaults filled in. Raises ``ConfigError``."""
    stages = _stages(config.flow_order, agent_ids) if config.flow_order is not None else None
    entry = _nodes(config.entry_nodes, agent_ids, "flow.entry_nodes")
    leaving = _nodes(config.exit_nodes, agent_ids, "flow.exit_nodes")
    if type(config.cyclic) is not bool:
        raise ConfigError("flow.cyclic", f"must be true or false, found {shown(config.cyclic)}")
    order = [agent for stage in stages for agent in stage] if stages else list(agent_ids)
    entry = entry or (order[0],)
    return Flow(
        entry_nodes=entry,
        exit_nodes=leaving or (entry if config.cyclic else (order[-1],)),
        stages=stages or tuple((agent,) for agent in agent_ids),
        is_ordered=stages is not None,
        cyclic=config.cyclic,
        stop_conditions=tuple(
            _condition(each, agent_ids, f"flow.stop_conditions[{place}]")
            for place, each in enumerate(_listed(config.stop_conditions, "flow.stop_conditions"))
        ),
    )


def read_condition(mapping: object, path: str, conditions: Mapping[str, Condition]) -> StopCondition:
    """Read a stop condition from a file; ``conditions`` are the custom ones that may be named."""
    written = read_written(WrittenCondition, mapping, path)
    needed = _PARAMETERS[written.type]
    for key in written.model_fields_set - {"type", *needed}:
        raise no_such_key(path, key, ("type", *needed))
    if written.type == "custom" and not conditions:
        raise ConfigError(f"{path}.name", "no condition is registered; give it from Python")
    given = {key: value for key in needed if (value := getattr(written, key)) is not None}
    for key in needed:
        if key not in given:
            raise ConfigError(f"{path}.{key}", "is missing")
    if written.name is not None and written.name not in conditions:
        raise not_one_of(f"{path}.name", tuple(conditions), written.name)
    return StopCondition(type=written.type, check=conditions.get(written.name or ""), **given)


def _condition(given: object, agent_ids: Sequence[str], path: str) -> StopCondition:
    found = given if isinstance(given, StopCondition) else read_condition(given, path, {})
    if found.type not in _PARAMETERS:
        raise ConfigError(f"{path}.type", f"must be one of {', '.join(_PARAMETERS)}, found {shown(found.type)}")
    if found.type == "node_reached" and found.node not in agent_ids:
        raise ConfigError(f"{path}.node", f"{shown(found.node)} is not among the agents")
    if type(found.value) is not int or found.value < 1:
        raise ConfigError(f"{path}.value", f"must be a whole number from 1, found {shown(found.value)}")
    if type(found.window) is not int or found.window < 1:
        raise ConfigError(f"{path}.window", f"must be a whole number from 1, found {shown(found.window)}")
    if type(found.tolerance) not in (int, float) or not 0 <= found.tolerance <= _MOST:
        raise ConfigError(f"{path}.tolerance", f"must be a number from 0, found {shown(found.tolerance)}")
    if found.type == "custom" and not callable(found.check):
        raise ConfigError(path, "must be a function that takes the protocol and says whether to stop")
    return evolve(found, name=found.name or "custom") if found.type == "custom" else found


def _stages(order: FlowOrder, agent_ids: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    seen: set[str] = set()
    stages = []
    for place, stage in enumerate(_listed(order, "flow.flow_order")):
        path = f"flow.flow_order[{place}]"
        names = _nodes([stage] if isinstance(stage, str) else stage, agent_ids, path)
        if not names:
            raise ConfigError(path, "must name an agent or list some")
        for name in names:
            if name in seen:
                raise ConfigError(path, f"{name} is there twice; every agent speaks once a round")
            seen.add(name)
        stages.append(names)
    if not stages:
        raise ConfigError("flow.flow_order", "must name at least one agent")
    return tuple(stages)


def _nodes(names: object, agent_ids: Sequence[str], path: str) -> tuple[str, ...]:
    if names is None:
        return ()
    found = _listed(names, path)
    for place, name in enumerate(found):
        if not isinstance(name, str) or name not in agent_ids:
            raise ConfigError(path, f"{shown(name)} is not among the agents {', '.join(agent_ids[:12])}")
        if name in found[:place]:
            raise ConfigError(path, f"{name} is there twice")
    return tuple(found)


def _listed(value: object, path: str) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise ConfigError(path, f"must be a list, found {shown(value)}")
    return value
