"""Base class of the built-in protocols: turns, beyond the five methods of the interface (arena 4.1).

Rule 1: only ``advance``, ``skip``, ``route_message``, ``restrict`` and ``reset`` (and ``take`` of a queue) change the
state; a refused message changes nothing.
Rule 2: after the last turn of a round no agent is next; the next ``advance`` opens another round.
Rule 3: readers get copies of messages, so a change by one agent does not reach another.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from league_agents.games.game import Mode
from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown
from league_agents.turns.base import InteractionProtocol
from league_agents.turns.flow import Flow, InformationFlowConfig, StopCondition
from league_agents.turns.message import InteractionError, Message, copy_of
from league_agents.turns.stopping import has_converged
from league_agents.turns.topology import Topology

Stages = tuple[tuple[str, ...], ...]

PASSED = "passed"
"""The cause of a turn that ``advance`` ended without a message."""


class Skip(Struct, frozen=True, kw_only=True):
    """A turn without a message."""

    agent: str
    round: int
    cause: str


class TurnTaking(InteractionProtocol):
    """A protocol of rounds and stages, which checks, records and delivers every message."""

    type: str
    """The name in configuration files."""

    is_for_talk: ClassVar[bool] = False
    """Whether the protocol fits every game in which agents talk; otherwise only games that name it."""

    def __init__(
        self,
        agent_ids: Sequence[str],
        topology: Topology | None = None,
        flow: InformationFlowConfig | Flow | None = None,
    ) -> None:
        """Raises ``ConfigError``."""
        super().__init__(agent_ids, topology, flow)
        self._place = {agent: place for place, agent in enumerate(self.agent_ids)}
        self.reset()

    def reset(self) -> None:
        """Return to the initial state."""
        self.current_round = 0
        """Number of completed rounds."""

        self.message_count = 0
        """Number of the agents' messages; results of the market do not count."""

        self.message_log: list[Message] = []
        """All messages, for the host."""

        self.skips: list[Skip] = []
        self._last_sender: str | None = None
        self._rounds: list[list[Message]] = [[]]
        self._visible: dict[str, list[Message]] = {agent: [] for agent in self.agent_ids}
        self._converged: dict[StopCondition, tuple[int, bool]] = {}
        self._next_stages = self._side_by_side(self.flow.stages)
        self._is_open = True
        self._start_round()

    # Turn order

    def get_next_speaker(self) -> str | None:
        """Return the agent that has the turn; ``None`` if the round is over or the episode has stopped."""
        return None if not self._is_open or self.should_stop() else self._current()

    def pending_speakers(self) -> tuple[str, ...]:
        """Return all agents that may speak now: several if agents speak simultaneously."""
        if not self._is_open or self.should_stop():
            return ()
        return tuple(self._waiting) if not self._to_advance else self._others_waiting()

    def is_round_over(self) -> bool:
        """Whether the round's last turn has ended and the next round is not open yet."""
        return not self._is_open

    def members(self) -> tuple[str, ...]:
        """Return the agents of the open round, or of the next one."""
        return tuple([agent for stage in self._stages for agent in stage])

    def advance(self) -> None:
        """End the current speaker's turn; if the round is over, open the next one. No-op once stopped."""
        if self.should_stop():
            return
        if not self._is_open:
            self._is_open = True
            self._start_round()
            return
        speaker = self._current()
        if speaker in self._spoken:
            self._end_turn(speaker)
        else:
            self.skip(speaker, PASSED)

    def skip(self, speaker: str, cause: str) -> None:
        """End a turn without a message. Raises ``InteractionError`` (``unknown_sender``, ``not_speaker``)."""
        if speaker not in self._place:
            raise InteractionError("unknown_sender", f"{shown(speaker)} is not among the agents")
        if speaker not in self.pending_speakers():
            raise InteractionError("not_speaker", f"it is not {speaker}'s turn")
        self.skips.append(Skip(agent=speaker, round=self.current_round, cause=cause))
        self._silent(speaker)
        self._end_turn(speaker)

    def restrict(self, agent_ids: Collection[str]) -> None:
        """Limit rounds to these agents in this order, including the open round if no turn of it was taken.

        An explicit ``flow_order`` keeps its own order. Raises ``ConfigError`` for unknown agents and for an empty list.
        """
        members = dict.fromkeys(agent_ids)
        for agent in members:
            if agent not in self._place:
                raise ConfigError("agents", f"{shown(agent)} is not among the agents")
        if self.flow.is_ordered:
            kept = (tuple([agent for agent in stage if agent in members]) for stage in self.flow.stages)
            stages = tuple([stage for stage in kept if stage])
        else:
            stages = tuple([(agent,) for agent in members])
        if not stages:
            raise ConfigError("agents", "must leave at least one agent")
        self._next_stages = self._side_by_side(stages)
        if not self._is_open:
            self._stages = self._next_stages
        elif not self._has_begun:
            self._start_round()

    def should_stop(self) -> bool:
        """Whether a stop condition is met, or the only round of an acyclic flow is over.

        Raises ``InteractionError`` (``condition_failed``) when a custom condition raises.
        """
        if not self.flow.cyclic and self.current_round >= 1:
            return True
        conditions = self.flow.stop_conditions
        return bool(conditions) and any(self._is_met(condition) for condition in conditions)

    # Delivery

    def get_listeners(self, speaker: str) -> list[str]:
        """Return the listeners of the speaker, in agent order. Raises ``InteractionError`` (``unknown_sender``)."""
        if speaker not in self._place:
            raise InteractionError("unknown_sender", f"{shown(speaker)} is not among the agents")
        heard = self._hearers(speaker)
        if self.topology is not None:
            reached = self.topology.receivers(speaker, self.current_round)
            return [agent for agent in self.agent_ids if agent in heard and agent in reached and agent != speaker]
        return [agent for agent in self.agent_ids if agent in heard and agent != speaker]

    def say(self, speaker: str, content: Any, metadata: Mapping[str, Any] | None = None) -> None:
        """Send a message to all agents that may hear it. Raises ``InteractionError``."""
        listeners = self.get_listeners(speaker)
        self.route_message(Message(speaker, listeners, content, self.current_round, dict(metadata or {})))

    def route_message(self, message: Message) -> None:
        """Check, record and deliver a message. Raises ``InteractionError`` and then changes nothing."""
        self._check(message)
        own = copy_of(message)
        self._accept(own)
        self._record(own)
        self._note_turn(own.sender)
        self._deliver(own)

    def inbox(self, agent: str) -> list[Message]:
        """Return the messages delivered to an agent, in the order of delivery."""
        return [copy_of(message) for message in self._seen_by(agent) if message.sender != agent]

    def visible_messages(self, agent: str, round: int | None = None) -> list[Message]:  # noqa: A002  # the field's name
        """Return the messages delivered to an agent and its own; of one round if ``round`` is given."""
        return [copy_of(each) for each in self._seen_by(agent) if round is None or each.round == round]

    def messages_of(self, round: int) -> Sequence[Message]:  # noqa: A002  # the field's name
        """Return the agents' messages of one round, for the host; empty for a round that has not begun."""
        return tuple(self._rounds[round]) if 0 <= round < len(self._rounds) else ()

    @abstractmethod
    def rule_text(self, lang: str = "en") -> str:
        """Return the protocol in one sentence for its participants. Languages: ``en``, ``zh``."""

    def is_public(self, speaker: str) -> bool:
        """Whether everybody hears the speaker now, including spectators and agents without a turn in this round."""
        return False

    def remaining(self) -> tuple[str, ...]:
        """Return the agents of the open round whose turn has not ended."""
        if not self._is_open:
            return ()
        later = [agent for stage in self._stages[self._stage + 1 :] for agent in stage]
        return (*self._waiting, *later)

    # Use in a match

    @classmethod
    def for_match(cls, agent_ids: Sequence[str], config: Mapping[str, Any]) -> TurnTaking:  # noqa: ARG003  # see there
        """Return the protocol for a match that names none, given its game's configuration."""
        return cls(agent_ids)

    def in_force(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the game's configuration with the protocol's keys. Raises ``ConfigError`` if they conflict."""
        return dict(config)

    def adopt(self, config: Mapping[str, Any]) -> None:
        """Adopt the settings that a game's configuration decides. Raises ``ConfigError`` if they conflict."""

    def takes(self, mode: Mode) -> bool:
        """Whether actions of this mode pass through the protocol in a match."""
        return mode is Mode.SPOKEN

    # Overridden by the kinds of protocols

    @abstractmethod
    def _hearers(self, speaker: str) -> Collection[str]:
        """Return the agents that may hear the speaker, ignoring the topology; the speaker may be among them."""

    def _side_by_side(self, stages: Stages) -> Stages:
        """Return the stages as this kind of protocol uses them."""
        return stages

    def _accept(self, message: Message) -> None:  # most kinds take any content
        """Check the content before anything changes. Raises ``InteractionError``."""

    def _note_turn(self, sender: str) -> None:
        """Record that the sender has used its turn, which ``advance`` will end."""
        self._spoken.add(sender)
        self._to_advance.append(sender)
        self._has_begun = True

    def _deliver(self, message: Message) -> None:
        self._show(message, (message.sender, *message.receivers))

    def _silent(self, speaker: str) -> None:  # most kinds do not mind
        """Handle a turn without a message."""

    # Shared by all kinds

    def _reaches_all(self, speaker: str) -> bool:
        if self.topology is None:
            return True
        return len(self.topology.receivers(speaker, self.current_round)) == len(self.agent_ids) - 1

    def _start_round(self) -> None:
        self._stages = self._next_stages
        self._stage = 0
        self._waiting = list(self._stages[0])
        self._spoken: set[str] = set()
        self._to_advance: list[str] = []
        """Agents that have spoken and still have the turn, in the order of speaking."""

        self._has_begun = False

    def _current(self) -> str:
        return self._to_advance[0] if self._to_advance else self._waiting[0]

    def _others_waiting(self) -> tuple[str, ...]:
        return tuple([agent for agent in self._waiting if agent not in self._spoken])

    def _end_turn(self, speaker: str) -> None:
        self._has_begun = True
        self._waiting.remove(speaker)
        if speaker in self._to_advance:
            self._to_advance.remove(speaker)
        if self._waiting:
            return
        self._stage += 1
        if self._stage < len(self._stages):
            self._waiting = list(self._stages[self._stage])
            return
        self._is_open = False
        self._stages = self._next_stages
        self.current_round += 1
        self._rounds.append([])

    def _check(self, message: Message) -> None:
        sender = message.sender
        if sender not in self._place:
            raise InteractionError("unknown_sender", f"{shown(sender)} is not among the agents")
        self._check_turn(message)
        if message.round != self.current_round:
            raise InteractionError("wrong_round", f"the round is {self.current_round}, not {shown(message.round)}")
        self._check_receivers(message)

    def _check_turn(self, message: Message) -> None:
        sender = message.sender
        if self._is_open and sender in self._spoken:
            raise InteractionError("already_spoken", f"{sender} has spoken in this round already")
        if sender not in self.pending_speakers():
            raise InteractionError("not_speaker", f"it is not {sender}'s turn")

    def _check_receivers(self, message: Message) -> None:
        listeners = self.get_listeners(message.sender)
        if message.receivers == listeners:
            return
        for place, receiver in enumerate(message.receivers):
            if not isinstance(receiver, str) or receiver not in self._place:
                raise InteractionError("unknown_receiver", f"{shown(receiver)} is not among the agents")
            if receiver not in listeners:
                raise InteractionError("illegal_receiver", f"{receiver} cannot hear {message.sender} now")
            if receiver in message.receivers[:place]:
                raise InteractionError("illegal_receiver", f"{receiver} is there twice")

    def _record(self, message: Message) -> None:
        self.message_log.append(message)
        self.message_count += 1
        self._last_sender = message.sender
        self._rounds[-1].append(message)

    def _show(self, message: Message, agents: Collection[str]) -> None:
        for agent in agents:
            self._visible[agent].append(message)

    def _seen_by(self, agent: str) -> list[Message]:
        if agent not in self._visible:
            raise InteractionError("unknown_receiver", f"{shown(agent)} is not among the agents")
        return self._visible[agent]

    def _is_met(self, condition: StopCondition) -> bool:
        if condition.type == "max_rounds":
            return self.current_round >= condition.value
        if condition.type == "max_messages":
            return self.message_count >= condition.value
        if condition.type == "node_reached":
            return self._last_sender == condition.node
        if condition.type == "convergence":
            return self._is_converged(condition)
        if condition.check is None:
            return False
        try:
            return bool(condition.check(self))
        except Exception as error:  # user code may raise anything
            why = f"the stop condition {condition.name} failed: {type(error).__name__}: {str(error)[:200]}"
            raise InteractionError("condition_failed", why) from error

    def _is_converged(self, condition: StopCondition) -> bool:
        if self.current_round < condition.window:
            return False
        at, found = self._converged.get(condition, (-1, False))
        if at != self.current_round:
            found = has_converged(self._rounds[-1 - condition.window : -1], condition.tolerance)
            self._converged[condition] = (self.current_round, found)
        return found
