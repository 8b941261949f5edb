"""Run a user's own class in a child process: call it, enforce time limits, restart it after a failure.

Rule 1: no call lasts longer than its time limit, whatever the user's code does: a late call, a process that ends and an
answer that cannot be decoded are each one failed call, and the next call gets a new process and a new instance.
Rule 2: the process gets the user's environment and working directory, an empty standard input, and none of this
program's files or sockets. Its output and log records are logged here (``said``). It does not outlive this program,
unless it leaves its process group on purpose.
Rule 3: this protects a match from accidents. It is no sandbox: the user's code has all permissions of the user.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from league_agents.kit.clock import real_monotonic_s
from league_agents.kit.errors import ConfigError
from league_agents.kit.frames import read_frame, write_frame
from league_agents.user_code.called import Called, End
from league_agents.user_code.child import NUMBER, OPAQUE, WHERE_SIGNAL, read_called
from league_agents.user_code.place import place_in
from league_agents.user_code.plain import named
from league_agents.user_code.said import SaidLines

LOG = logging.getLogger(__name__)

T = TypeVar("T")

LOAD_LIMIT_S = 60.0
"""Time limit for importing a user's module, and again for making the first instance. Large libraries import slowly."""

SLOW_S = 15.0
"""Interval in seconds at which a wait is reported."""

PATIENCE_S = 1.0
"""Seconds that an idle process may take to end by itself, for its exit functions."""

MOST_ANSWER_BYTES = 64_000_000

_BOOT = "import sys; sys.path[:] = sys.argv[5:]; from league_agents.user_code.child import main; main()"

_NONSENSE = (LookupError, ArithmeticError, TypeError, ValueError, RecursionError)
"""Exceptions of decoding an answer into which user code wrote."""

_WHERE_S = 0.2
"""Seconds that the process may take to report the line it is running."""

_LAST_WORDS_S = 0.5
"""Seconds to wait for the last output of a process that has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The facts about a user's class that the child process reports."""

    role: str
    """``referee``, ``player``, ``arena`` or ``protocol``."""

    source: str | None
    """The source file of the class; ``None`` if it has none."""


class UserProcess:
    """One user's class with its one instance. All methods but ``kill`` must be called from one thread at a time."""

    keeps_time = True

    def __init__(
        self,
        spec: str,
        roles: Collection[str],
        *,
        adapter: Sequence[str] = (),
        memory_bytes: int | None = None,
    ) -> None:
        """``roles`` are the roles that the class may have. ``adapter`` is described in ``load_for``."""
        self._load = {"spec": spec, "roles": list(roles), "adapter": list(adapter)}
        self._memory_bytes = memory_bytes or _share_of_memory()
        self._child: _Child | None = None
        self._at_exit: weakref.finalize[Any, Any] | None = None
        self._is_closed = False

    @property
    def spec(self) -> str:
        return str(self._load["spec"])

    def load(self, timeout_s: float = LOAD_LIMIT_S) -> Loaded:
        """Start the process and import the class. Raises ``ConfigError``, which says what is wrong with it."""
        wait = _Wait(f"{self.spec} is still being imported", timeout_s)
        try:
            answer = self._started().ask({"load": self._load}, wait)
            if "refused" in answer:
                path, message = answer["refused"]
                raise ConfigError(str(path), str(message))
            return Loaded(role=str(answer["role"]), source=answer["source"])
        except _Late as late:
            raise self._lost(ConfigError(self.spec, f"was not imported within {timeout_s:g} s{late.place}")) from None
        except _Gone as gone:
            raise self._lost(ConfigError(self.spec, _unimportable(gone))) from None
        except _NONSENSE:
            raise self._lost(ConfigError(self.spec, "cannot be imported: it writes where it should not")) from None
        except OSError as error:
            raise ConfigError(self.spec, f"no process can be started for it: {error.strerror}") from None

    def make(self, timeout_s: float = LOAD_LIMIT_S) -> Called:
        """Make the instance, if there is none. Ends ``RETURNED``, ``NOT_MADE``, ``TIMED_OUT`` or ``DIED``."""
        return self._made(_Wait(f"{self.spec}: its constructor is still running", timeout_s))

    def call(self, method: str, arguments: Sequence[object], timeout_s: float | None) -> Called:
        """Call a method with JSON values. ``timeout_s=None`` sets no time limit."""
        wait = _Wait(f"{self.spec}: its constructor is still running", timeout_s)
        made = self._made(wait)
        if made.end in (End.TIMED_OUT, End.DIED):  # not a failure of the method
            how = made.detail if made.end is End.DIED else f"did not return within {timeout_s:g} s"
            return replace(made, end=End.NOT_MADE, detail=f"its constructor {how}")
        if made.end is not End.RETURNED:
            return made
        wait.what = f"{self.spec}: {method} is still running"
        return self._answered({"call": method, "arguments": list(arguments)}, wait)

    def _made(self, wait: _Wait) -> Called:
        if self._child is not None and self._child.has_instance:
            return Called(end=End.RETURNED)
        made = self._answered({"make": True}, wait)
        if self._child is not None:
            self._child.has_instance = made.end is End.RETURNED
        return made

    def _answered(self, request: dict[str, Any], wait: _Wait) -> Called:
        try:
            if self._child is None:
                self.load(LOAD_LIMIT_S if wait.limit_s is None else wait.limit_s)
            assert self._child is not None
            return read_called(self._child.ask(request, wait))
        except ConfigError as error:
            return Called(end=End.NOT_MADE, detail=str(error))
        except _Late as late:
            return self._lost(Called(end=End.TIMED_OUT, where=late.where, seconds=wait.passed_s()))
        except _Gone as gone:
            return self._lost(Called(end=End.DIED, detail=gone.how, where=gone.where, seconds=wait.passed_s()))
        except _NONSENSE:
            detail = "wrote where it should not, so its process was ended"
            return self._lost(Called(end=End.DIED, detail=detail, seconds=wait.passed_s()))

    def close(self) -> None:
        """Let the process end; kill it after ``PATIENCE_S``. No process is started afterwards."""
        self._is_closed = True
        self._drop(PATIENCE_S)

    def kill(self) -> None:
        """Kill the process. May be called from any thread; a call that waits for an answer fails."""
        self._is_closed = True
        child = self._child
        if child is not None:
            child.kill()

    def _started(self) -> _Child:
        if self._is_closed:
            raise ConfigError(self.spec, "is not called any more")
        self._drop()
        self._child = _Child(self.spec, self._memory_bytes)
        # Ends the process even if this object is dropped without ``close``.
        self._at_exit = weakref.finalize(self, self._child.end)
        return self._child

    def _lost(self, what: T) -> T:
        """Drop the process, which cannot be used any more, and return ``what``."""
        self._drop()
        return what

    def _drop(self, patience_s: float = 0.0) -> None:
        if self._child is not None:
            self._child.end(patience_s)
            self._child = None
        if self._at_exit is not None:
            self._at_exit.detach()
            self._at_exit = None


class _Late(Exception):
    """No answer came in time."""

    def __init__(self, where: str | None) -> None:
        super().__init__()
        self.where = where

    @property
    def place(self) -> str:
        return "" if self.where is None else f"; it was at {self.where}"


class _Gone(Exception):
    """The process ended."""

    def __init__(self, how: str, where: str | None) -> None:
        super().__init__()
        self.how = how
        self.where = where


def _unimportable(gone: _Gone) -> str:
    """Return the error text for a process that ended during the import, with the remedy."""
    place = "" if gone.where is None else f" at {gone.where}"
    return f"cannot be imported: it {gone.how}{place}; importing a file must not end the process, so take that call out"


class _Wait:
    """The wait for an answer. A wait of many seconds is logged while it lasts."""

    def __init__(self, what: str, limit_s: float | None) -> None:
        self.what = what
        self.limit_s = limit_s
        self._began_s = real_monotonic_s()
        self._tell_after_s = SLOW_S

    def passed_s(self) -> float:
        return real_monotonic_s() - self._began_s

    def left_s(self) -> float | None:
        return None if self.limit_s is None else max(0.0, self.limit_s - self.passed_s())

    @property
    def is_over(self) -> bool:
        return self.left_s() == 0.0

    def next_look_s(self) -> float:
        """Seconds until the time limit or the next report."""
        slow, left = max(0.0, self._tell_after_s - self.passed_s()), self.left_s()
        return max(0.001, slow if left is None else min(slow, left))

    def look(self, child: _Child) -> None:
        passed_s = self.passed_s()
        if passed_s < self._tell_after_s or self.is_over:
            return
        self._tell_after_s += SLOW_S
        where = child.where()
        most = "" if self.limit_s is None else f" of at most {round(self.limit_s, 1):g} s"
        place = "" if where is None else f"; it is at {where}"
        LOG.warning("%s", f"{self.what} after {passed_s:.0f} s{most}{place}")


class _Child:
    """The process and its channels: a socket for requests and answers, a pipe whose closing tells it that this program
    has ended, one for tracebacks, and one for printed lines and log records."""

    def __init__(self, spec: str, memory_bytes: int) -> None:
        self._socket, theirs = socket.socketpair()
        lifeline, self._lifeline = os.pipe()
        self._trace, trace = os.pipe()
        os.set_blocking(self._trace, False)
        self._ending = threading.Lock()
        self._wait: _Wait | None = None
        self._number = 0
        self._is_ready = False
        """Whether the signal handler is installed; before that, ``WHERE_SIGNAL`` would kill the process."""

        self.has_instance = False
        said, prints = os.pipe()
        passed = (theirs.fileno(), lifeline, trace)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own
                [sys.executable, "-c", _BOOT, *map(str, passed), str(memory_bytes), *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=prints,
                stderr=prints,
                pass_fds=passed,
                process_group=0,
            )
        except BaseException:
            os.close(said)
            self._release()
            raise
        finally:
            os.close(prints)
            theirs.close()
            os.close(lifeline)
            os.close(trace)
        self._said = SaidLines(said, spec)

    def ask(self, request: dict[str, Any], wait: _Wait) -> dict[str, Any]:
        """Send a request, return the answer. Raises ``_Late``, ``_Gone``, and ``ValueError`` for an invalid answer."""
        self._wait = wait
        try:
            self._number += 1
            write_frame(self, request | {NUMBER: self._number})
            answer = self._read_frame()
            if answer is not None and not self._is_ready:
                self._is_ready = True  # that was its first frame
                answer = self._read_frame()
        except TimeoutError:
            raise _Late(self.where()) from None
        except OSError:
            answer = None
        if answer is None:
            raise self._gone()
        if answer[NUMBER] != self._number:
            raise ValueError("the answer to another request")
        return answer

    def _read_frame(self) -> dict[str, Any] | None:
        return read_frame(self, most=MOST_ANSWER_BYTES, object_hook=_object)

    # The file methods for reading and writing frames.

    def write(self, data: bytes, /) -> None:
        assert self._wait is not None
        left_s = self._wait.left_s()
        self._socket.settimeout(None if left_s is None else max(left_s, 0.001))
        self._socket.sendall(data)

    def flush(self) -> None:
        """No-op: writes are not buffered."""

    def read(self, size: int, /) -> bytes:
        found = bytearray()
        while len(found) < size:
            part = self._receive(min(size - len(found), 1 << 20))
            if not part:
                break
            found += part
        return bytes(found)

    def _receive(self, most: int) -> bytes:
        assert self._wait is not None
        while not self._wait.is_over:
            self._socket.settimeout(self._wait.next_look_s())
            try:
                return self._socket.recv(most)
            except TimeoutError:
                self._wait.look(self)
        raise TimeoutError

    def where(self) -> str | None:
        """Return the line of the user's code that is running; ``None`` if the process does not report it."""
        if not self._is_ready:
            return None
        self._traced()
        with contextlib.suppress(OSError):
            os.kill(self._process.pid, getattr(signal, WHERE_SIGNAL))
        poll = select.poll()
        poll.register(self._trace, select.POLLIN)
        said, patience_ms, until_s = "", 1000 * _WHERE_S, real_monotonic_s() + 2 * _WHERE_S
        # Limited in time, because user code can write there too, without end.
        while real_monotonic_s() < until_s and poll.poll(patience_ms) and (more := self._traced()):
            said, patience_ms = said + more, 20  # the traceback comes in pieces
        return place_in(said)

    def _traced(self) -> str:
        with contextlib.suppress(BlockingIOError):
            return os.read(self._trace, 1 << 16).decode("utf-8", "replace")
        return ""

    def _gone(self) -> _Gone:
        """Return how the process ended. Its own children are killed."""
        has_ended = self._has_ended()
        self.kill()
        with self._ending:
            code = self._process.wait()
        self._said.join(_LAST_WORDS_S)
        if not has_ended:
            return _Gone("closed the line to this program", None)
        if code == -signal.SIGKILL:
            return _Gone("was killed, as the system does when memory runs out", None)
        # An earlier trace may still be there.
        where = place_in(self._traced().rpartition("(most recent call first)")[2])
        if code < 0:
            return _Gone(f"crashed its process ({_signal_name(-code)})", where)
        return _Gone(f"ended its process with exit code {code}", where)

    def _has_ended(self) -> bool:
        """Whether the process ended by itself. Does not reap it: after that its process id may be reused."""
        if not hasattr(os, "waitid"):  # macOS
            return True
        until_s = real_monotonic_s() + 1.0
        while real_monotonic_s() < until_s:
            if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
                return True
            select.select((), (), (), 0.002)
        return False

    def kill(self) -> None:
        """Kill the process and its children without waiting for the end."""
        with self._ending, contextlib.suppress(ProcessLookupError, PermissionError):
            # Not after it was reaped: its process id may have been reused.
            if self._process.returncode is None:
                os.kill(self._process.pid, signal.SIGKILL)  # also when it has left its group
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self, patience_s: float = 0.0) -> None:
        """End the process; it may end by itself within ``patience_s``. A second call is a no-op."""
        if self._socket.fileno() < 0:
            return
        if patience_s:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
                self._socket.settimeout(patience_s)
                self._socket.recv(1)
        self.kill()
        with self._ending:
            self._process.wait()
        self._said.join(_LAST_WORDS_S)
        self._release()

    def _release(self) -> None:
        self._socket.close()
        os.close(self._lifeline)
        os.close(self._trace)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _object(found: dict[str, Any]) -> object:
    return named(str(found[OPAQUE])) if OPAQUE in found else found


def _share_of_memory() -> int:
    """Return three quarters of the machine's memory, in bytes."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
    except (ValueError, OSError):
        return sys.maxsize
