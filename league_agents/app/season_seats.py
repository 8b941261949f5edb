"""Calls to the agents of an offline season, and their results.

Rule: an agent's result is stored before it is used. A season that was cut off is replayed from its beginning with the
stored results, without asking those agents again, so the outcome is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from league_agents.app.agents import AgentRole, choose_agent, offline_host
from league_agents.config.rules import rules_named
from league_agents.journal.port import PendingCall
from league_agents.kit.clock import ManualClock
from league_agents.kit.private_file import open_private_bytes
from league_agents.league.machines.events import CallbackFailed, CallbackReturned, Failure
from league_agents.runner.calls import AgentHost, Outcome, outcome_of
from league_agents.runner.simulation import PASS
from league_agents.user_code.called import Called, End

_EPOCH = datetime.fromisoformat("2031-05-02T08:00:00+00:00")


class SeatOfAgent(Struct, frozen=True, kw_only=True):
    """One participant and its agent."""

    address: str
    spec: str
    role: AgentRole
    rules: str
    seed: str
    in_process: bool


class AgentAnswer(Struct, frozen=True, kw_only=True):
    """The result of a callback."""

    address: str
    call_id: str
    result: Mapping[str, object] | None = None
    """``None`` for a callback that failed."""

    failure: Failure | None = None
    detail: str = ""
    latency_s: float = 0
    """Simulated time beyond the pass that every callback takes."""

    @property
    def outcome(self) -> Outcome:
        """The result in the form that the machine receives."""
        if self.failure is not None or self.result is None:
            failure = self.failure or Failure.RAISED
            return CallbackFailed(call_id=self.call_id, failure=failure, detail=self.detail)
        return CallbackReturned(call_id=self.call_id, result=self.result)


def answer(seat: SeatOfAgent, call: PendingCall) -> AgentAnswer:
    """Call an agent."""
    host, clock = _opened(seat)
    asked_at = clock.now()
    host.submit(call)
    outcomes = host.collect()
    while not outcomes:  # a scripted agent that simulates a slow one
        wake = host.next_wake()
        assert wake is not None, "a call that was submitted ends"
        clock.advance_to(wake)
        outcomes = host.collect()
    (outcome,) = outcomes
    latency_s = (clock.now() - asked_at).total_seconds()
    if isinstance(outcome, CallbackFailed):
        return AgentAnswer(
            address=seat.address,
            call_id=call.call_id,
            failure=outcome.failure,
            detail=outcome.detail,
            latency_s=latency_s,
        )
    return AgentAnswer(address=seat.address, call_id=call.call_id, result=outcome.result, latency_s=latency_s)


def release(seat: SeatOfAgent, game_id: str) -> None:
    """Release the instance of a finished game, so that it may serve another one."""
    _opened(seat)[0].release(game_id)


@cache
def _opened(seat: SeatOfAgent) -> tuple[AgentHost, ManualClock]:
    """The agent of a seat, made once in each process."""
    from league_agents.knowledge.corpus import default_index_path

    agent = choose_agent(
        seat.spec,
        seat.role,
        rules=rules_named(seat.rules),
        seed=seat.seed,
        index_path=default_index_path,
        in_process=seat.in_process,
    )
    clock = ManualClock(_EPOCH)
    return offline_host(agent, clock, is_referee=seat.role == "referee"), clock


def close_seats() -> None:
    """Discard the agents of this process."""
    _opened.cache_clear()


class AnswerBook:
    """The results of the agents of one part of a division, in a file that grows with each call."""

    def __init__(self, path: Path, earlier: Iterable[Path] = ()) -> None:
        """Read the results of earlier attempts, up to an incomplete last line, and begin a file of this attempt."""
        self._known: dict[tuple[str, str], AgentAnswer] = {}
        for other in earlier:
            self._read(other)
        self._file: IO[bytes] = open_private_bytes(path, "w")

    def _read(self, path: Path) -> None:
        decode = msgspec.json.Decoder(AgentAnswer).decode
        with path.open("rb") as file:
            for line in file:
                try:
                    each = decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    break
                if not line.endswith(b"\n"):
                    break
                self._known[each.address, each.call_id] = each

    def known(self, address: str, call_id: str) -> AgentAnswer | None:
        """The result of a call in an earlier attempt; ``None`` if there is none."""
        return self._known.get((address, call_id))

    def write(self, each: AgentAnswer) -> AgentAnswer:
        """Store an answer and return it as it will be read back. An answer that is not JSON is not stored: its agent is
        asked again."""
        try:
            line = msgspec.json.encode(each)
        except (TypeError, ValueError, OverflowError, RecursionError):
            return each
        self._file.write(line + b"\n")
        self._file.flush()
        return msgspec.json.decode(line, type=AgentAnswer)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class SeatHost:
    """``AgentHost`` that calls an agent here and returns its result at least one pass later."""

    def __init__(
        self, seat: SeatOfAgent, clock: ManualClock, book: AnswerBook, is_too_late: Callable[[str], bool]
    ) -> None:
        """``is_too_late`` tells by a call's id whether the call times out."""
        self._seat = seat
        self._clock = clock
        self._book = book
        self._is_too_late = is_too_late
        self._failure: Exception | None = None
        self._later: list[tuple[datetime, Outcome]] = []

    def submit(self, call: PendingCall) -> None:
        now = self._clock.now()
        if self._is_too_late(call.call_id):
            self._later.append((now + call.timeout, outcome_of(call, Called(end=End.TIMED_OUT))))
            return
        given = self._book.known(self._seat.address, call.call_id)
        if given is None:
            try:
                given = self._book.write(answer(self._seat, call))
            except Exception as error:
                # Raised by ``collect``: this must end the season, and not count as a broken mail.
                self._failure = self._failure or error
                return
        self._later.append((now + PASS + timedelta(seconds=given.latency_s), given.outcome))

    def collect(self) -> Sequence[Outcome]:
        if self._failure is not None:
            raise self._failure
        if not self._later:
            return ()
        now = self._clock.now()
        outcomes = [outcome for at, outcome in self._later if at <= now]
        self._later = [(at, outcome) for at, outcome in self._later if at > now]
        return outcomes

    def release(self, game_id: str) -> None:
        with suppress(Exception):  # the next call reports the error
            release(self._seat, game_id)

    def next_wake(self) -> datetime | None:
        return min((at for at, _ in self._later), default=None)

    def close(self) -> None:
        self._later.clear()
