"""Read the output and the log records of a user's process line by line.

Rule 1: the pipe is read all the time, so that the process never blocks because it is full. Lines that are too long are
cut, and those beyond the rate limit are only counted.
Rule 2: the lines go to this program's logging, which removes secrets, or to standard error if logging is not set up.
Rule 3: within ``prints_are_told``, the same holds for the output of classes that run in this process.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Final

from league_agents.kit.clock import real_monotonic_s

PRINTED: Final = logging.getLogger(f"{__name__}.printed")
"""The logger for printed lines. Log records keep the names of their loggers."""
PRINTED.setLevel(logging.INFO)

LOGGED: Final = "\0logged "
"""Prefix of a log record in JSON. At the end of a call it stands alone, so that an unfinished printed line is logged
while the secrets of the call are still known."""

_END: Final = f"{LOGGED}\n".encode()

LONGEST_BYTES: Final = 16_000
"""Most bytes of a line."""

MOST_AT_ONCE: Final = 2_000
MOST_A_SECOND: Final = 200
"""Most lines per second once the initial allowance is used up."""


class SaidLines:
    """Reads the pipe on a separate thread until all of its writers have ended."""

    def __init__(self, pipe: int, spec: str) -> None:
        """Take over ``pipe``, which the thread closes."""
        self._pipe = pipe
        self._spec = spec
        self._allowance = float(MOST_AT_ONCE)
        self._counted_s = real_monotonic_s()
        self._left_out = 0
        self._is_flooded = False
        self._thread = threading.Thread(target=self._read, name="agent", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait for the last lines. Limited in time: a process that left its group may keep the pipe open."""
        if self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _read(self) -> None:
        line = bytearray()
        with os.fdopen(self._pipe, "rb", buffering=0) as pipe:
            while part := pipe.read(1 << 16):
                if not self._may_tell():
                    # Count without decoding: a flood of lines must not slow this program down.
                    self._left_out += part.count(b"\n") - part.count(_END)
                    line = bytearray(part[part.rfind(b"\n") + 1 :])
                else:
                    *whole, rest = part.split(b"\n")
                    for piece in whole:
                        self._tell(bytes(line + piece))
                        line.clear()
                    line += rest
                del line[LONGEST_BYTES:]
        if line:
            self._tell(bytes(line))
        self._tell_left_out()

    def _may_tell(self) -> bool:
        now_s = real_monotonic_s()
        self._allowance = min(MOST_AT_ONCE, self._allowance + MOST_A_SECOND * (now_s - self._counted_s))
        self._counted_s = now_s
        # After a flood, wait until many lines are allowed, or each would come with its own count of dropped lines.
        self._is_flooded = self._allowance < (MOST_A_SECOND if self._is_flooded else 1)
        return not self._is_flooded

    def _tell(self, line: bytes) -> None:
        if line + b"\n" == _END:
            return
        if not self._may_tell():
            self._left_out += 1
            return
        self._tell_left_out()
        self._allowance -= 1
        text = line[:LONGEST_BYTES].decode("utf-8", "backslashreplace").removesuffix("\r")
        # Text printed without a line end stands before a record on the same line.
        printed, is_logged, record = text.partition(LOGGED)
        if printed or not is_logged:
            self._print(printed)
        if record and not _relogged(record):
            self._print(record)

    def _tell_left_out(self) -> None:
        if self._left_out:
            lines, self._left_out = self._left_out, 0
            self._print(f"({lines} lines are left out here: too many at once)")

    def _print(self, text: str) -> None:
        if PRINTED.hasHandlers():
            PRINTED.info("%s", f"{self._spec}: {text}")
        else:
            with contextlib.suppress(OSError, ValueError):  # closed, or without a reader
                print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def prints_are_told() -> Iterator[None]:
    """Context manager that redirects printed lines in this process to logging."""
    printed = _PrintedHere()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield


class _PrintedHere(io.TextIOBase):
    """A stream whose lines are logged. Each thread has its own unfinished line."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._unfinished = threading.local()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *whole, rest = (getattr(self._unfinished, "text", "") + text).split("\n")
        self._unfinished.text = rest[:LONGEST_BYTES]
        for line in whole:
            self._tell(line)
        return len(text)

    def flush(self) -> None:
        """Log an unfinished line, such as a debugger's prompt."""
        text, self._unfinished.text = getattr(self._unfinished, "text", ""), ""
        if text:
            self._tell(text)

    def _tell(self, line: str) -> None:
        # Logging prints its own errors to this stream, which must not be logged again.
        if not getattr(self._unfinished, "is_telling", False):
            self._unfinished.is_telling = True
            try:
                PRINTED.info("%s", line[:LONGEST_BYTES])
            finally:
                self._unfinished.is_telling = False


def _relogged(text: str) -> bool:
    """Log a record of the child process here. Return ``False`` if it is not a valid one: user code may write there."""
    try:
        found = json.loads(text)
        logger, level = logging.getLogger(str(found["name"])), int(found["level"])
        record = logging.makeLogRecord(_fields(found, level))
    except (ValueError, LookupError, TypeError, RecursionError):
        return False
    if logger.isEnabledFor(level):
        logger.handle(record)
    return True


def _fields(found: Mapping[str, object], level: int) -> dict[str, object]:
    trace = found.get("trace")
    return {
        "name": str(found["name"]),
        "levelno": level,
        "levelname": logging.getLevelName(level),
        "msg": str(found["text"]),
        "exc_text": None if trace is None else str(trace),
    }
