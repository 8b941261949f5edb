"""A queue for each agent: agents with waiting messages speak in the order of arrival (arena 4.2).

Rule: each accepted message is taken by its receiver exactly once; only a skipped turn discards a message, the one that
it leaves unanswered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import Final

from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown
from league_agents.turns.flow import InformationFlowConfig
from league_agents.turns.message import InteractionError, Message, copy_of
from league_agents.turns.topology import Topology
from league_agents.turns.turn_taking import TurnTaking

MAX_QUEUE: Final = 1_000


class QueueBased(TurnTaking):
    """Any agent may send at any time; the head of the ready line has the turn.

    A round is over when the line is empty. The next one opens with the entry nodes, or when an agent sends.
    """

    type = "queue_based"

    def __init__(
        self,
        agent_ids: Sequence[str],
        topology: Topology | None = None,
        flow: InformationFlowConfig | None = None,
        *,
        max_queue: int = MAX_QUEUE,
    ) -> None:
        """``max_queue``: limit for the messages that wait for one agent. Raises ``ConfigError``."""
        if type(max_queue) is not int or max_queue < 1:
            raise ConfigError("max_queue", f"must be a whole number from 1, found {shown(max_queue)}")
        self.max_queue = max_queue
        super().__init__(agent_ids, topology, flow)

    def reset(self) -> None:
        self._queues: dict[str, deque[Message]] = {agent: deque() for agent in self.agent_ids}
        self._line: deque[str] = deque()
        self._has_taken = False
        super().reset()

    def take(self, agent: str) -> Message | None:
        """Take the oldest message of the agent that has the turn; ``None`` if no message waits for it.

        Raises ``InteractionError`` (``not_speaker``).
        """
        if agent != self.get_next_speaker():
            raise InteractionError("not_speaker", f"it is not {shown(agent)}'s turn")
        queue = self._queues[agent]
        if not queue:
            return None
        message = queue.popleft()
        self._has_taken = True
        self._show(message, (agent,))
        return copy_of(message)

    def waiting_for(self, agent: str) -> int:
        """Return the number of messages that wait for an agent."""
        return len(self._queues[agent])

    def pending_speakers(self) -> tuple[str, ...]:
        speaker = self.get_next_speaker()
        return () if speaker is None else (speaker,)

    def remaining(self) -> tuple[str, ...]:
        return tuple(self._line) if self._is_open else ()

    def members(self) -> tuple[str, ...]:
        return tuple([agent for stage in self._next_stages for agent in stage])

    def advance(self) -> None:
        """End the turn of the head of the line; it joins the end of the line if messages wait for it."""
        if self.should_stop():
            return
        if not self._is_open:
            self._is_open = True
            self._start_round()
            return
        self._end_turn(self._current())

    def rule_text(self, lang: str = "en") -> str:
        if lang == "zh":
            return "每一方有自己的先进先出队列；收到消息者按次序发言。"
        return "Every agent has a queue of its own; whoever has messages speaks, in the order in which they came."

    def _hearers(self, speaker: str) -> Collection[str]:
        return self.members()

    def _check_turn(self, message: Message) -> None:
        if self.should_stop():
            raise InteractionError("not_speaker", "the episode has stopped")

    def _accept(self, message: Message) -> None:
        for receiver in message.receivers:
            if len(self._queues[receiver]) >= self.max_queue:
                raise InteractionError("queue_full", f"{self.max_queue} messages wait for {receiver} already")

    def _note_turn(self, sender: str) -> None:
        self._has_begun = True

    def _deliver(self, message: Message) -> None:
        self._show(message, (message.sender,))
        for receiver in message.receivers:
            self._queues[receiver].append(message)
            if receiver not in self._line:
                self._line.append(receiver)
        if self._line:
            self._is_open = True

    def _start_round(self) -> None:
        super()._start_round()
        self._has_taken = False
        members = self.members()
        entry = [agent for agent in self.flow.entry_nodes if agent in members] or members[:1]
        self._line = deque(entry)

    def _current(self) -> str:
        return self._line[0]

    def _silent(self, speaker: str) -> None:
        """Take the message that the turn was about, so that the line moves on."""
        if not self._has_taken:
            self.take(speaker)

    def _end_turn(self, speaker: str) -> None:
        self._has_begun = True
        self._has_taken = False
        self._line.remove(speaker)
        if self._queues[speaker]:
            self._line.append(speaker)
        if not self._line:
            self._is_open = False
            self.current_round += 1
            self._rounds.append([])
