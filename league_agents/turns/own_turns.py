"""Adapt a user's protocol to turns like those of the built-in ones (arena 4.1).

Rule 1: only the five methods of the user's object are called, and its arguments are copies.
Rule 2: a round has one turn for each member. The object decides the order and the hearers; turns that it gives to other
agents meanwhile are passed.
Rule 3: an object that fails, or gives no turn to an agent that owes something, causes one ``InteractionError``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any, Final

from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import line_of
from league_agents.kit.violation import shown
from league_agents.turns.base import FIVE_METHODS, InteractionProtocol
from league_agents.turns.flow import Flow, InformationFlowConfig
from league_agents.turns.message import InteractionError, Message, ProtocolFailed, copy_of
from league_agents.turns.topology import Topology
from league_agents.turns.turn_taking import Stages, TurnTaking

_MOST_PASSED_ROUNDS: Final = 100
"""Limit for rounds of the user's object without a turn for an agent that owes something."""


class OwnTurns(TurnTaking):
    """Takes turns as a user's object with the five methods decides."""

    is_for_talk = True

    def __init__(
        self,
        inner: InteractionProtocol,
        agent_ids: Sequence[str],
        topology: Topology | None = None,
        flow: InformationFlowConfig | Flow | None = None,
        *,
        name: str = "",
    ) -> None:
        """``name``: the object's name in errors; empty = its class. Raises ``ConfigError`` and ``InteractionError``."""
        self.inner = inner
        self.type = name or type(inner).__name__
        self._turn: str | None = None
        """The agent that has the turn; ``None`` if the object has stopped."""

        super().__init__(agent_ids, topology, flow)

    def reset(self) -> None:
        """Return to the initial state, as far as the object supports it: it may have its own ``reset``."""
        if callable(getattr(self.inner, "reset", None)):
            self._own("reset")
        super().reset()

    def pending_speakers(self) -> tuple[str, ...]:
        speaker = None if self._to_advance else self.get_next_speaker()
        return () if speaker is None else (speaker,)

    def should_stop(self) -> bool:
        return bool(self._own("should_stop")) or super().should_stop()

    def is_public(self, speaker: str) -> bool:
        return self._reaches_all(speaker) and {speaker, *self._hearers(speaker)} >= set(self.agent_ids)

    def rule_text(self, lang: str = "en") -> str:
        """Return the first line of the class's docstring, in its own language; ``type`` if it has none."""
        document = type(self.inner).__doc__
        return inspect.cleandoc(document).partition("\n")[0] if document else self.type

    def _current(self) -> str:
        return self._to_advance[0] if self._to_advance else self._turn  # type: ignore[return-value]

    def _side_by_side(self, stages: Stages) -> Stages:
        return (tuple(chain.from_iterable(stages)),)

    def _hearers(self, speaker: str) -> Collection[str]:
        found = self._own("get_listeners", speaker)
        if not isinstance(found, (list, tuple, set, frozenset)):
            raise self._failed("get_listeners", f"gave {shown(found)}, not a list of agents")
        for name in found:
            self._check_agent("get_listeners", name)
        return found

    def _accept(self, message: Message) -> None:
        self._own("route_message", copy_of(message))

    def _start_round(self) -> None:
        super()._start_round()
        self._seek()

    def _end_turn(self, speaker: str) -> None:
        self._own("advance")
        super()._end_turn(speaker)
        if self._is_open:
            self._seek()

    def _seek(self) -> None:
        """Advance the object until it gives the turn to a member that has not had one in this round."""
        self._turn = None
        for _ in range(_MOST_PASSED_ROUNDS * (len(self.agent_ids) + 1)):
            if self._own("should_stop"):
                return
            speaker = self._own("get_next_speaker")
            if speaker is not None:
                self._check_agent("get_next_speaker", speaker)
                if speaker in self._waiting:
                    self._turn = speaker
                    return
            self._own("advance")
        raise InteractionError(
            "nobody_speaks",
            f"{self.type} gives no turn to {', '.join(self._waiting[:12])}; after None, advance() must open another "
            "round, and every agent must have its turn",
        )

    def _check_agent(self, method: str, name: object) -> None:
        if not isinstance(name, str) or name not in self._place:
            raise self._failed(method, f"gave {shown(name)}, which is none of {', '.join(self.agent_ids[:12])}")

    def _own(self, method: str, *arguments: object) -> Any:
        try:
            return getattr(self.inner, method)(*arguments)
        except ProtocolFailed:
            raise  # it ran elsewhere, where more is known of the failure
        except Exception as error:  # user code may raise anything
            raise self._failed(method, f"raised {line_of(error)}") from error

    def _failed(self, method: str, why: str) -> ProtocolFailed:
        return ProtocolFailed(f"{self.type}: {method} {why}")


def taking_turns(protocol: InteractionProtocol, agent_ids: Sequence[str]) -> TurnTaking:
    """Return a protocol for use by a match: a built-in one unchanged, any other object with the five methods adapted.

    Raises ``ConfigError`` and ``InteractionError``.
    """
    if isinstance(protocol, TurnTaking):
        return protocol
    _check_methods(type(protocol), type(protocol).__name__)
    topology, flow = getattr(protocol, "topology", None), getattr(protocol, "flow", None)
    return OwnTurns(
        protocol,
        getattr(protocol, "agent_ids", agent_ids),
        topology if isinstance(topology, Topology) else None,
        flow if isinstance(flow, Flow) else None,
    )


def own_protocol(
    spec: str,
    protocol_class: type,
    agent_ids: Sequence[str],
    topology: Topology | None,
    flow: InformationFlowConfig,
    /,
    **options: object,
) -> TurnTaking:
    """Return the protocol of a class that a file names: constructed with the agents, and with ``topology``, ``flow``
    and the other keys of ``protocol``, as far as its constructor has parameters for them.

    Raises ``ConfigError`` and ``InteractionError``.
    """
    _check_methods(protocol_class, spec)
    names, takes_any = keywords_of(protocol_class)
    for key in options:
        if key in ("topology", "flow"):
            raise ConfigError(f"protocol.{key}", "stands beside protocol, not in it")
        if key not in names and not takes_any:
            raise ConfigError(f"protocol.{key}", f"is no parameter of {spec}; leave it out")
    if "flow" not in names and not takes_any:
        for key in ("flow_order", "entry_nodes", "exit_nodes"):
            if getattr(flow, key) is not None:
                raise ConfigError(f"flow.{key}", f"is never read: the constructor of {spec} has no parameter flow")
    given = {key: value for key, value in (("topology", topology), ("flow", flow)) if takes_any or key in names}
    try:
        made = protocol_class(list(agent_ids), **given, **options)
    except ConfigError:
        raise
    except Exception as error:  # user code may raise anything
        why = f"cannot be made of the list of agents: its constructor raised {line_of(error)}"
        raise ConfigError(spec, why) from error
    return made if isinstance(made, TurnTaking) else OwnTurns(made, agent_ids, topology, flow, name=spec)


def _check_methods(protocol_class: type, name: str) -> None:
    methods = own_methods(protocol_class)
    missing = [method for method in FIVE_METHODS if method not in methods]
    if missing:
        raise ConfigError(name, f"is no interaction protocol: it lacks {', '.join(missing)}; add these methods")


def own_methods(protocol_class: type) -> list[str]:
    """Return which of the five methods, and ``reset``, the class implements."""
    abstract = getattr(protocol_class, "__abstractmethods__", ())
    known = (*FIVE_METHODS, "reset")
    return [name for name in known if callable(getattr(protocol_class, name, None)) and name not in abstract]


def keywords_of(made: Callable[..., object]) -> tuple[Collection[str], bool]:
    """Return the keyword parameters after the first, and whether any other keywords are accepted."""
    try:
        parameters = inspect.signature(made).parameters.values()
    except ValueError:  # a class of an extension module may not tell
        return (), False
    named = {each.name for each in list(parameters)[1:] if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    return named, any(each.kind is each.VAR_KEYWORD for each in parameters)
