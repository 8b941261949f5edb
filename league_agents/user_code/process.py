"""A class of the user's own in a process of its own: called, waited for, killed when it is late, started anew.

Rule 1: nobody waits longer than a call may take, whatever the user's code does: a call that is late, a process that
ends and one that says nonsense are each one failed call, and the next one gets a new process and a new instance.
Rule 2: the process gets the user's environment and working directory, an empty standard input, and none of this
program's files or sockets. What it prints and logs is told here (``said``). It does not outlive this program, unless it
leaves its process group on purpose.
Rule 3: this protects a match from accidents. It is no sandbox: the user's code may do whatever the user may do.
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
"""For importing a user's module, and again for making the first instance. Large libraries take their time."""

SLOW_S = 15.0
"""After so many seconds of waiting a line says what is waited for, and then again."""

PATIENCE_S = 1.0
"""What an idle process may take to end by itself: its exit functions run."""

MOST_ANSWER_BYTES = 64_000_000

_BOOT = "import sys; sys.path[:] = sys.argv[5:]; from league_agents.user_code.child import main; main()"

_NONSENSE = (LookupError, ArithmeticError, TypeError, ValueError, RecursionError)
"""Raised by reading what user code wrote into the line to this program."""

_WHERE_S = 0.2
"""How long the process may take to say where it is."""

_LAST_WORDS_S = 0.5
"""How long what it said last is waited for, once it has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What is known of a user's class without importing it here."""

    role: str
    """``referee``, ``player``, ``arena`` or ``protocol``."""

    source: str | None
    """The file in which it is written."""


class UserProcess:
    """One class of the user's own with its one instance. One thread at a time calls its methods, but for ``kill``."""

    keeps_time = True

    def __init__(
        self,
        spec: str,
        roles: Collection[str],
        *,
        adapter: Sequence[str] = (),
        memory_bytes: int | None = None,
    ) -> None:
        """``roles``: what the class may be. ``adapter``: what is made in its place (``load_for``)."""
        self._load = {"spec": spec, "roles": list(roles), "adapter": list(adapter)}
        self._memory_bytes = memory_bytes or _share_of_memory()
        self._child: _Child | None = None
        self._at_exit: weakref.finalize[Any, Any] | None = None
        self._is_closed = False

    @property
    def spec(self) -> str:
        return str(self._load["spec"])

    def load(self, timeout_s: float = LOAD_LIMIT_S) -> Loaded:
        """Start the process and import the class. Raises ``ConfigError`` that says what is wrong with it."""
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
        """Make the instance, if there is none: ``RETURNED``, ``NOT_MADE``, ``TIMED_OUT`` or ``DIED``."""
        return self._made(_Wait(f"{self.spec}: its constructor is still running", timeout_s))

    def call(self, method: str, arguments: Sequence[object], timeout_s: float | None) -> Called:
        """Call a method with JSON values. ``None``: wait as long as it takes."""
        wait = _Wait(f"{self.spec}: its constructor is still running", timeout_s)
        made = self._made(wait)
        if made.end in (End.TIMED_OUT, End.DIED):  # which is not the method's doing
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
        """Let the process end, and end it if it takes long. Nothing is started any more."""
        self._is_closed = True
        self._drop(PATIENCE_S)

    def kill(self) -> None:
        """End the process at once. Any thread may do it; whoever waits for an answer learns that there is none."""
        self._is_closed = True
        child = self._child
        if child is not None:
            child.kill()

    def _started(self) -> _Child:
        if self._is_closed:
            raise ConfigError(self.spec, "is not called any more")
        self._drop()
        self._child = _Child(self.spec, self._memory_bytes)
        # Whoever drops this object without closing it leaves no process behind.
        self._at_exit = weakref.finalize(self, self._child.end)
        return self._child

    def _lost(self, what: T) -> T:
        """The process cannot be used any more."""
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
    """What became of a process that ended during the import, and what to do about it."""
    place = "" if gone.where is None else f" at {gone.where}"
    return f"cannot be imported: it {gone.how}{place}; importing a file must not end the process, so take that call out"


class _Wait:
    """How long an answer is waited for. A wait of many seconds is logged while it lasts."""

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
        """When there is something to do while nothing comes."""
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
    """The process, and what leads there: a socket for requests and answers, a pipe that tells it of our end, one by
    which it says where it is, and one for what it prints and logs."""

    def __init__(self, spec: str, memory_bytes: int) -> None:
        self._socket, theirs = socket.socketpair()
        lifeline, self._lifeline = os.pipe()
        self._trace, trace = os.pipe()
        os.set_blocking(self._trace, False)
        self._ending = threading.Lock()
        self._wait: _Wait | None = None
        self._number = 0
        self._is_ready = False
        """Before it is, it would be ended by what it is asked with."""

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
        """The answer. Raises ``_Late``, ``_Gone``, and ``ValueError`` for what is no answer."""
        self._wait = wait
        try:
            self._number += 1
            write_frame(self, request | {NUMBER: self._number})
            answer = self._read_frame()
            if answer is not None and not self._is_ready:
                self._is_ready = True  # the first thing that it says
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

    # What frames are written to and read from.

    def write(self, data: bytes, /) -> None:
        assert self._wait is not None
        left_s = self._wait.left_s()
        self._socket.settimeout(None if left_s is None else max(left_s, 0.001))
        self._socket.sendall(data)

    def flush(self) -> None:
        """No-op: nothing is kept back."""

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
        """The line of the user's code that is running, if the process says it."""
        if not self._is_ready:
            return None
        self._traced()
        with contextlib.suppress(OSError):
            os.kill(self._process.pid, getattr(signal, WHERE_SIGNAL))
        poll = select.poll()
        poll.register(self._trace, select.POLLIN)
        said, patience_ms, until_s = "", 1000 * _WHERE_S, real_monotonic_s() + 2 * _WHERE_S
        # User code can write there too, and without end.
        while real_monotonic_s() < until_s and poll.poll(patience_ms) and (more := self._traced()):
            said, patience_ms = said + more, 20  # it comes in pieces
        return place_in(said)

    def _traced(self) -> str:
        with contextlib.suppress(BlockingIOError):
            return os.read(self._trace, 1 << 16).decode("utf-8", "replace")
        return ""

    def _gone(self) -> _Gone:
        """How the process ended. Its own children end with it."""
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
        """Whether the process ended by itself. It stays as it is: once it is waited for, its number is another's."""
        if not hasattr(os, "waitid"):  # macOS
            return True
        until_s = real_monotonic_s() + 1.0
        while real_monotonic_s() < until_s:
            if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
                return True
            select.select((), (), (), 0.002)
        return False

    def kill(self) -> None:
        """End the process and its children. It is not waited for."""
        with self._ending, contextlib.suppress(ProcessLookupError, PermissionError):
            # Not once it has been waited for: its number may be another one's by then.
            if self._process.returncode is None:
                os.kill(self._process.pid, signal.SIGKILL)  # also when it has left its group
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self, patience_s: float = 0.0) -> None:
        """End the process; within ``patience_s`` it may do so by itself. A second time is a no-op."""
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
    """Three quarters of the machine's."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
    except (ValueError, OSError):
        return sys.maxsize
