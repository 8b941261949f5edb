"""A seat on a remote server, for an agent in this process.

Rule: decisions are made on the newest state; if events have arrived since, the state is requested again.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, cast

from league_agents.arena.seat_line import SeatKey, SeatLine, ServerLost, ServerRefused, understanding
from league_agents.games.game import Action, Event, JsonObject, LegalAction

LOOK_EVERY_S = 10.0
"""Interval at which the state is requested while there are no events."""


class ActionRefused(ServerRefused):
    """The game's rules forbid the action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatState:
    """The state of a match, as one seat or spectator may see it."""

    status: str
    """``waiting``, ``started``, ``ended`` or ``abandoned``."""

    phase: str
    turn: int
    stage: str
    """The seat's own stage: what it may do in this phase."""

    seq: int
    """The number of the last event in the view."""

    view: JsonObject
    legal: tuple[LegalAction, ...]
    """The legal actions of the seat; empty if it is not its turn."""

    deadline: datetime | None
    rules: str
    agents: tuple[JsonObject, ...]
    winners: tuple[str, ...]
    refusal: JsonObject | None = None
    """Why the last action was refused: ``{"code", "message", "data", "attempts_left"}``; else ``None``."""

    @property
    def is_over(self) -> bool:
        return self.status in ("ended", "abandoned")


Decide = Callable[[SeatState], "Action | tuple[str, Mapping[str, Any]] | Mapping[str, Any]"]
"""A decision as a function: the action, its type and data, or ``{"type", "data"}``."""


class RemoteSeat:
    """One seat or spectator. Use it as a context manager, or ``close`` it."""

    def __init__(
        self, key: SeatKey, *, patience_s: float = 60.0, proxy: bool = True, line: type[SeatLine] = SeatLine
    ) -> None:
        """``patience_s``: how long to retry a lost server; ``proxy``: whether to use a proxy from the environment."""
        self.key = key
        self._line = line(key, patience_s=patience_s, proxy=proxy)
        self.decisions = 0
        """How often ``play`` has asked an agent."""

        self._refusal: JsonObject | None = None
        self._runner: asyncio.Runner | None = None

    @property
    def game(self) -> str:
        return self.key.game

    @property
    def match_id(self) -> str:
        return self.key.match_id

    @property
    def agent_id(self) -> str:
        return self.key.agent_id

    @property
    def token(self) -> str:
        """The token to reopen the seat with, later or elsewhere."""
        return self.key.token

    # Public methods of a seat.

    def play(self, agent: object, *, most_decisions: int | None = None) -> SeatState:
        """Let an agent play until the match is over; return the last state. ``most_decisions``: a server that asks for
        more is a ``ServerLost``.

        ``agent`` is anything with ``act(view, legal, deadline)``, or a function of a ``SeatState``. Raises what it
        raises, ``ServerRefused``, and ``ServerLost``.
        """
        observe = getattr(agent, "observe", None)
        while True:
            state = self.state()
            for event in self.told():
                if callable(observe):
                    observe(event)
            if state.is_over:
                return state
            if state.legal:
                if most_decisions is not None and self.decisions >= most_decisions:
                    raise ServerLost(f"{self.key.url} asked for more than {most_decisions} decisions in one match")
                self._decide(agent, state)
            elif self._line.seq <= state.seq:  # else events have arrived since, and the state is outdated
                self.wait(LOOK_EVERY_S)

    def state(self) -> SeatState:
        """Request the state of the match. Raises ``ServerRefused`` or ``ServerLost``."""
        answer = self._line.ask("get_state", {"state": {"version": "1.0.0"}})
        with understanding(self.key.url):
            return self._state_of(answer)

    def _state_of(self, answer: Mapping[str, Any]) -> SeatState:
        data = answer["state"]["data"]
        deadline = data.get("deadline")
        return SeatState(
            status=str(answer["status"]),
            phase=str(answer["phase"]),
            turn=int(answer["turn"]),
            stage=str(answer["stage"]),
            seq=int(data["seq"]),
            view=dict(data["view"]),
            legal=tuple(
                LegalAction(
                    type=each["type"],
                    schema=each["schema"],
                    choices=tuple(each["choices"]) if "choices" in each else None,
                )
                for each in data["legal"]
            ),
            deadline=None if deadline is None else datetime.fromisoformat(deadline).astimezone(UTC),
            rules=str(data["rules"]),
            agents=tuple(answer["agents"]),
            winners=tuple(answer.get("winners", ())),
            refusal=self._refusal,
        )

    def act(self, kind: str, data: Mapping[str, Any]) -> int:
        """Take an action; return the number of the last event visible to the seat.

        Raises ``ActionRefused`` if the rules forbid it, ``ServerRefused`` or ``ServerLost``.
        """
        body = {"action": {"version": "1.0.0", "type": kind, "data": dict(data)}}
        answer = self._line.ask("perform_action", body)
        with understanding(self.key.url):
            response = answer["action_response"]
            found = dict(response["data"])
            if response["status"] == "success":
                self._refusal = None
                return int(found["seq"])
            message, refused_data = str(response["message"]), dict(found)
            code = str(found.pop("code", ""))
            left = found.pop("attempts_left", 0)
            self._refusal = {"code": code, "message": message, "attempts_left": left, "data": found}
        raise ActionRefused(code, message, refused_data)

    def told(self) -> list[Event]:
        """The events since the last call, oldest first; does not wait."""
        return self._line.take()

    def events(self) -> Iterator[Event]:
        """Yield events as they arrive, until the match is over."""
        while True:
            state = self.state()
            yield from self.told()
            if state.is_over:
                return
            if self._line.seq <= state.seq:
                self.wait(LOOK_EVERY_S)

    def wait(self, timeout_s: float) -> bool:
        """Wait for an event; return whether one has arrived."""
        if not self._line.pushes:
            self._line.receive(timeout_s)
            self._line.take_waiting()
        return bool(self._line.pushes)

    def close(self) -> None:
        """Close the connection; the seat stays taken."""
        self._line.close()
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Internals.

    def _decide(self, agent: object, state: SeatState) -> None:
        self.decisions += 1
        action = self._decision(agent, state)
        # After a refusal the next state says whether there is another attempt, and the reason.
        with suppress(ActionRefused):
            self.act(action.type, action.data)

    def _decision(self, agent: object, state: SeatState) -> Action:
        act = getattr(agent, "act", None)
        if callable(act):
            view = {
                **state.view,
                "agent_id": self.agent_id,
                "game": self.game,
                "rules_text": state.rules,
                "refusal": state.refusal,
            }
            answer = act(view, state.legal, state.deadline)
        else:
            answer = cast("Decide", agent)(state)
        if inspect.isawaitable(answer):
            self._runner = self._runner or asyncio.Runner()
            answer = self._runner.run(_awaited(answer))
        if isinstance(answer, Action):
            return answer
        if isinstance(answer, Mapping):
            return Action(type=str(answer.get("type", "")), data=answer.get("data") or {})
        if isinstance(answer, Sequence) and len(answer) == 2 and isinstance(answer[0], str):
            return Action(type=answer[0], data=answer[1])
        raise TypeError(f"an agent gives an Action, (type, data) or {{'type', 'data'}}, not {answer!r:.80}")


async def _awaited(answer: Any) -> Any:
    return await answer
