"""The child process in which a user's own class runs. ``process`` starts it and sends it requests.

Rule 1: this module imports little, because a match starts one such process for each agent.
Rule 2: the process ends when its parent does, whatever the user's code is doing: the kernel kills it and its own
children when the other end of ``lifeline`` is closed. Where the kernel cannot do that, a thread does.
Rule 3: standard output goes to standard error, as for user code in the program itself, and so do log records; the
parent reads both. Requests and answers use a separate socket.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from league_agents.kit.errors import ConfigError
from league_agents.kit.frames import read_frame, write_frame
from league_agents.kit.lifeline import die_with
from league_agents.user_code.called import Called, End
from league_agents.user_code.instance import UserInstance
from league_agents.user_code.loading import load_for
from league_agents.user_code.said import LOGGED

OPAQUE = "\0object"
"""Key for the class name of an object that is not a JSON value."""

NUMBER = "number"
"""Key of the number of a request and its answer: distinguishes an answer of a forked copy of the process."""

WHERE_SIGNAL = "SIGUSR1"
"""The signal that asks for the line that is running."""


def main() -> None:
    """Answer requests until the parent closes the line. Arguments: three file descriptors and a number of bytes."""
    line, lifeline, trace, memory = map(int, sys.argv[1:5])
    # Keep only the name: these arguments are not for the user's code.
    del sys.argv[1:]
    for descriptor in (line, lifeline, trace):
        os.set_inheritable(descriptor, False)
    die_with(lifeline)
    _tell_exits(trace)
    _bound(memory)
    # Ctrl-C is for the parent, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.register(getattr(signal, WHERE_SIGNAL), file=trace, all_threads=False)
    faulthandler.enable(file=trace, all_threads=False)  # writes a traceback by itself when the process crashes
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    # The handler of last resort, so that user code that configures logging itself is not affected.
    logging.lastResort = _ToParent(logging.WARNING)
    # Keep the line open until the process ends: its end tells the parent that exit functions have run.
    with os.fdopen(line, "rb", closefd=False) as requests, os.fdopen(line, "wb", closefd=False) as answers:
        write_frame(answers, {"ready": True})
        served = _Served()
        while (request := read_frame(requests)) is not None:
            number = request.pop(NUMBER)
            answer = served.answer(request)
            _end_line()
            write_frame(answers, answer | {NUMBER: number}, default=_opaque)
        served.close()


class _Served:
    """The class and its one instance."""

    def __init__(self) -> None:
        self._instance: UserInstance | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "load" in request:
            return self._load(**request["load"])
        assert self._instance is not None, "a class is loaded first"
        if "make" in request:
            return _written(self._instance.make())
        return _written(self._instance.call(request["call"], request["arguments"]))

    def _load(self, spec: str, roles: list[str], adapter: list[str]) -> dict[str, Any]:
        try:
            found = load_for(spec, roles, adapter)
        except ConfigError as error:
            return {"refused": [error.path, error.message]}
        self._instance = UserInstance(found.make)
        return {"role": found.role, "source": found.source}

    def close(self) -> None:
        if self._instance is not None:
            self._instance.close()


def _written(called: Called) -> dict[str, Any]:
    return {
        "end": called.end,
        "result": called.result,
        "detail": called.detail,
        "where": called.where,
        "seconds": called.seconds,
    }


def read_called(answer: dict[str, Any]) -> Called:
    """Decode an answer. Raises ``ValueError`` or ``TypeError``: user code may write to the socket too."""
    where = answer.get("where")
    return Called(
        end=End(answer["end"]),
        result=answer.get("result"),
        detail=str(answer.get("detail")),
        where=None if where is None else str(where),
        seconds=float(answer["seconds"]),
    )


def _opaque(value: object) -> dict[str, str]:
    return {OPAQUE: type(value).__name__}


class _ToParent(logging.Handler):
    """Writes a record as one line that ``SaidLines`` distinguishes from printed lines."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else None
            told = {
                "name": record.name[:_LONGEST_NAME],
                "level": record.levelno,
                "text": record.getMessage()[:_LONGEST_TEXT],
                "trace": None if trace is None else trace[-_LONGEST_TEXT:],
            }
            line = f"{LOGGED}{json.dumps(told, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")
            _write(line)
        except Exception:
            self.handleError(record)


def _end_line() -> None:
    """Make the parent log the text printed so far, even without a line end."""
    with contextlib.suppress(Exception):  # the streams may be the user's own
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        _write(f"{LOGGED}\n".encode())


def _write(line: bytes) -> None:
    while line:
        line = line[os.write(2, line) :]


_LONGEST_NAME = 100
_LONGEST_TEXT = 1_500
"""In characters: two such texts stay below the longest line that the parent reads."""


def _tell_exits(trace: int) -> None:
    """Make ``os._exit`` write a traceback of its caller."""
    leave, own_pid = os._exit, os.getpid()
    os.set_blocking(trace, False)

    def leave_a_trace(status: int) -> NoReturn:
        if os.getpid() == own_pid:  # not in a forked copy of this process, which ends with ``os._exit``
            faulthandler.dump_traceback(file=trace, all_threads=False)
        leave(status)

    os._exit = leave_a_trace


def _bound(memory: int) -> None:
    """Set a soft memory limit, which code that needs more may raise itself."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Not RLIMIT_AS: numerical libraries reserve far more addresses than they use.
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (memory if hard < 0 else min(memory, hard), hard))
    with contextlib.suppress(OSError):
        # If memory runs out all the same, the kernel kills this process first.
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
