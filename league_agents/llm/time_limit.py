"""A backend wrapper that ends an exchange in time, whatever the service does.

Rule 1: the exchange runs on its own thread, which is abandoned when its time is over. Timeouts inside the SDKs count
each wait for the network: a server that sends one byte a second never triggers them.
Rule 2: what a service that streams has written by then is the reply, marked as overdue, with an estimate of its use.
Rule 3: the number of abandoned threads is limited. At the limit no request is sent until one of them has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import LeagueError, MalformedCompletion, ModelUnavailable
from league_agents.kit.tokens import tokens_in
from league_agents.kit.values import evolve
from league_agents.llm.exchange import Abandoned, Backend, Finish, PartialReply, Reply, Request, Unanswered
from league_agents.llm.port import Usage

MOST_LEFT_BEHIND = 8

_TOO_LATE_TO_ASK_AGAIN_S = 1.0
"""An exchange that breaks off with less time left counts as overdue: nothing useful can be written in that time."""


class TimeLimited:
    """``Backend`` with a time limit around another one."""

    def __init__(
        self,
        backend: Backend,
        *,
        most_left_behind: int = MOST_LEFT_BEHIND,
        wait: Callable[[threading.Event, float], object] = threading.Event.wait,
    ) -> None:
        """``wait`` returns when the event is set or the seconds are over."""
        self._backend = backend
        self._wait = wait
        self._most_left_behind = most_left_behind
        self._lock = threading.Lock()
        self._left_behind = 0

    @property
    def name(self) -> str:
        return self._backend.name

    @property
    def left_behind(self) -> int:
        """The number of abandoned exchanges that are still running."""
        return self._left_behind

    def exchange(self, request: Request) -> Reply:
        if request.timeout <= timedelta(0):
            raise ModelUnavailable(f"{self.name}: no time is left to ask")
        with self._lock:
            if self._left_behind >= self._most_left_behind:
                why = f"{self.name}: {self._left_behind} requests were given up and still hang; nothing new is asked"
                raise ModelUnavailable(why)
        attempt = _Attempt()
        partial = PartialReply()
        request = evolve(request, partial=partial)
        ends_s = monotonic_s() + request.timeout.total_seconds()
        thread = threading.Thread(target=self._run, args=(attempt, request), name=self.name, daemon=True)
        thread.start()
        self._wait(attempt.ended, request.timeout.total_seconds())
        with self._lock:
            if attempt.reply is None and attempt.error is None:
                attempt.is_left_behind = True
                self._left_behind += 1
        is_late = attempt.is_left_behind or (
            isinstance(attempt.error, Unanswered | MalformedCompletion)
            and ends_s - monotonic_s() < _TOO_LATE_TO_ASK_AGAIN_S
        )
        begun = partial.take() if is_late else ""
        if begun.strip():
            usage = estimated_usage(request, begun, partial.usage)
            return Reply(text=begun, finish=Finish.OVERDUE, usage=usage, model=self.name, is_counted=False)
        if attempt.is_left_behind:
            raise Unanswered(f"{self.name}: no answer within {request.timeout.total_seconds():.3g} s")
        if attempt.error is not None:
            raise attempt.error
        assert attempt.reply is not None, "an attempt ends with a reply or with an error"
        return attempt.reply

    def _run(self, attempt: _Attempt, request: Request) -> None:
        reply: Reply | None = None
        error: LeagueError | None = None
        try:
            reply = _checked(self._backend.exchange(request), self.name)
        except LeagueError as failed:
            error = failed
        except Abandoned:
            error = Unanswered(f"{self.name}: the reply was given up")
        except BaseException as failed:
            # The edge to foreign code: any undocumented exception of an SDK arrives here.
            error = Unanswered(f"{self.name}: its client failed with {type(failed).__name__}")
        with self._lock:
            if attempt.is_left_behind:
                self._left_behind -= 1
            attempt.reply, attempt.error = reply, error
        attempt.ended.set()


def estimated_usage(request: Request, text: str, counted: Usage) -> Usage:
    """Estimate the use of a request whose reply was not read to its end, from what the service has counted so far."""
    texts = [request.prompt.system, request.prompt.user]
    if request.correction is not None:
        texts += [request.correction.reply, request.correction.complaint]
    return evolve(
        counted,
        input_tokens=counted.input_tokens or sum(map(tokens_in, texts)),
        output_tokens=max(counted.output_tokens, tokens_in(text)),
        requests=1,
    )


def _checked(reply: object, name: str) -> Reply:
    """Return the reply. Raises ``MalformedCompletion`` if a foreign provider returned something else."""
    if isinstance(reply, Reply) and isinstance(reply.text, str) and isinstance(reply.usage, Usage):
        return reply
    what = "a Reply without text or usage" if isinstance(reply, Reply) else f"an object of type {type(reply).__name__}"
    raise MalformedCompletion(f"{name}: its provider returned {what}")


class _Attempt:
    def __init__(self) -> None:
        self.ended = threading.Event()
        self.reply: Reply | None = None
        self.error: LeagueError | None = None
        self.is_left_behind = False
