"""What a process of the user's own prints and logs, read line by line.

Rule 1: the pipe is read all the time, so that nobody waits because it is full. What is too long or too much is cut or
counted.
Rule 2: it leaves through this program's own logging, where secrets are taken out. Where nobody has set that up, it goes
to standard error.
Rule 3: so does what a class prints that runs in this process, where ``prints_are_told``.
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
"""Of the lines that were printed. Those that were logged keep the names of their loggers."""
PRINTED.setLevel(logging.INFO)

LOGGED: Final = "\0logged "
"""Before a log record, as JSON. Nothing follows it at the end of a call: what was printed without the end of a line is
told then, while it is still known what is secret."""

_END: Final = f"{LOGGED}\n".encode()

LONGEST_BYTES: Final = 16_000
"""Of a line."""

MOST_AT_ONCE: Final = 2_000
MOST_A_SECOND: Final = 200
"""Lines, when those that may come at once are spent."""


class SaidLines:
    """Reads the pipe on a thread of its own until all that write to it have ended."""

    def __init__(self, pipe: int, spec: str) -> None:
        """``pipe`` belongs to the thread from now on."""
        self._pipe = pipe
        self._spec = spec
        self._allowance = float(MOST_AT_ONCE)
        self._counted_s = real_monotonic_s()
        self._left_out = 0
        self._is_flooded = False
        self._thread = threading.Thread(target=self._read, name="agent", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait for the last words. A process that left its group may keep the pipe open, so not for ever."""
        if self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _read(self) -> None:
        line = bytearray()
        with os.fdopen(self._pipe, "rb", buffering=0) as pipe:
            while part := pipe.read(1 << 16):
                if not self._may_tell():
                    # Not even looked at: a flood must not cost this program its time.
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
        # After a flood not line by line, each with a count of what was left out before it.
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
        # Whatever was printed before it without the end of a line stands in front of a record.
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
            with contextlib.suppress(OSError, ValueError):  # closed, or nobody reads it
                print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def prints_are_told() -> Iterator[None]:
    """Let whatever is printed in this process leave through its logging."""
    printed = _PrintedHere()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield


class _PrintedHere(io.TextIOBase):
    """A stream whose lines are logged. Each thread has lines of its own."""

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
        """Tell what has no end yet: a debugger's prompt."""
        text, self._unfinished.text = getattr(self._unfinished, "text", ""), ""
        if text:
            self._tell(text)

    def _tell(self, line: str) -> None:
        # A log that cannot be written says so here.
        if not getattr(self._unfinished, "is_telling", False):
            self._unfinished.is_telling = True
            try:
                PRINTED.info("%s", line[:LONGEST_BYTES])
            finally:
                self._unfinished.is_telling = False


def _relogged(text: str) -> bool:
    """Log a record of the other side here. Whether it is one: user code may write such lines too."""
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
