"""Agents speak in turn, each hearing the earlier messages of the round (arena 4.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

from league_agents.turns.flow import InformationFlowConfig
from league_agents.turns.message import Message
from league_agents.turns.topology import Topology
from league_agents.turns.turn_taking import TurnTaking


class SequentialHandoff(TurnTaking):
    """Agents hear the speakers of earlier stages of the round; agents of one stage do not hear each other."""

    type = "sequential"
    is_for_talk = True

    def __init__(
        self,
        agent_ids: Sequence[str],
        topology: Topology | None = None,
        flow: InformationFlowConfig | None = None,
        *,
        carry_over: bool = False,
    ) -> None:
        """With ``carry_over`` the last stage's messages reach the next round's first stage when that round opens."""
        self.carry_over = carry_over
        super().__init__(agent_ids, topology, flow)

    def reset(self) -> None:
        self._carried: list[Message] = []
        super().reset()

    def rule_text(self, lang: str = "en") -> str:
        if lang == "zh":
            carried = "一轮中最后的发言会传到下一轮的第一位。" if self.carry_over else ""
            return f"各方按固定顺序发言，每方只听到本轮中在它之前的发言。{carried}"
        carried = " What is said last reaches the first of the next round." if self.carry_over else ""
        return f"Agents speak in a fixed order; each hears those who spoke before it in the round.{carried}"

    def _hearers(self, speaker: str) -> Collection[str]:
        stage = next((at for at, names in enumerate(self._stages) if speaker in names), None)
        if stage is None:
            return ()
        if self.carry_over and self.flow.cyclic and stage == len(self._stages) - 1:
            return self._next_stages[0]
        return tuple(chain.from_iterable(self._stages[stage + 1 :]))

    def _deliver(self, message: Message) -> None:
        if self.carry_over and self.flow.cyclic and message.sender in self._stages[-1]:
            self._carried.append(message)
            self._show(message, (message.sender,))
        else:
            super()._deliver(message)

    def _start_round(self) -> None:
        super()._start_round()
        for message in self._carried:
            self._show(message, message.receivers)
        self._carried = []
