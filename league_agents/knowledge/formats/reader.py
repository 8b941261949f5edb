"""Reads PDF, EPUB and HTML files in a process of their own, and starts another when that one dies.

Rule: no file can end the program, hold it up for ever, or take its memory. It is refused instead, by name.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from league_agents.kit.frames import read_frame, write_frame
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.extract import Extract
from league_agents.knowledge.formats.kinds import BookFormat
from league_agents.knowledge.layout import LineBlock

SILENCE_S = 120
"""A reader that has not told of a page for so long is stuck. A machine with much to do gives it its seconds of
computing in this time."""

MEMORY_BYTES = 512 * 1024 * 1024
"""Of address space, on macOS of resident memory; Windows bounds neither this nor computing. The largest scan that is
read needs 390 MB, a book of five thousand pages 280 MB."""

CPU_S = 20
"""Seconds of computing for one file: three to four thousand dense pages of a PDF."""

_NAMES = {BookFormat.PDF: "PDF", BookFormat.EPUB: "EPUB", BookFormat.HTML: "HTML"}


_SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process may know that strangers' files are taken apart in: nothing that opens an account."""
    return {name: value for name, value in environment.items() if not name.upper().endswith(_SECRET_ENDINGS)}


class IsolatedReader:
    """One child process, started with the first file. Not to be shared by threads."""

    def __init__(
        self,
        *,
        silence_s: float = SILENCE_S,
        memory_bytes: int = MEMORY_BYTES,
        cpu_s: int = CPU_S,
        command: Sequence[str] | None = None,
    ) -> None:
        """``command`` is the process that is started; ``None`` for the module ``child``."""
        self._silence_s = silence_s
        # A little more silence than is waited for here: whoever waits can say what happened, the alarm there cannot.
        bounds = (str(int(silence_s) + 10), str(memory_bytes), str(cpu_s))
        self._memory_bytes = memory_bytes
        self._cpu_s = cpu_s
        self._command = command or [sys.executable, "-m", "league_agents.knowledge.formats.child", *bounds]
        self._child: _ReaderProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child process. Closing twice is harmless."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def extract(
        self, kind: BookFormat, content: bytes, source: str, progress: Callable[[int], None] = lambda _: None
    ) -> Extract:
        """A file taken apart; ``progress`` is told how many pages have been read.

        Raises DocumentRefused for whatever the file does to its reader.
        """
        if self._child is None:
            self._child = _ReaderProcess(self._command)
        try:
            answer = self._child.ask(kind, content, source, progress, self._silence_s)
        except BaseException:
            self.close()
            raise
        if answer is None:
            raise DocumentRefused(source, self._why_it_died(kind, self._child.end()))
        if answer.get("is_spent"):
            self.close()  # what is left of its memory may be too little for the next file
        if "refused" in answer:
            raise DocumentRefused(source, str(answer["refused"]).removeprefix(f"{source}: "))
        fields = dict(answer["extract"])
        parts = tuple(LineBlock(part_kind, text) for part_kind, text in fields.pop("parts"))
        return Extract(parts=parts, **fields)

    def _why_it_died(self, kind: BookFormat, code: int) -> str:
        self._child = None
        if hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU:
            return f"needs more than {self._cpu_s} seconds of computing and is not read; split it if it is a book"
        most = self._memory_bytes // (1024 * 1024)
        said = f"is damaged or needs more than {most} MB of memory"
        return f"{said}: the reader of {_NAMES[kind]} files broke down over it"


class _ReaderProcess:
    """The process and the thread that listens to it."""

    def __init__(self, command: Sequence[str]) -> None:
        home = str(Path(__file__).parents[3])  # where this very package lies, installed or not
        known = [path for path in (home, os.environ.get("PYTHONPATH", "")) if path]
        self._process = subprocess.Popen(  # noqa: S603 - our own
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**without_secrets(os.environ), "PYTHONPATH": os.pathsep.join(known)},
        )
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(
        self, kind: BookFormat, content: bytes, source: str, progress: Callable[[int], None], silence_s: float
    ) -> dict[str, Any] | None:
        """The answer; ``None`` when the process died. Raises DocumentRefused when it keeps silent."""
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, {"kind": kind, "source": source, "size": len(content)}, content)
        except OSError:  # it is gone
            return None
        while True:
            try:
                answer = self._answers.get(timeout=silence_s)
            except queue.Empty:
                raise DocumentRefused(source, f"is damaged: its reader got stuck for {silence_s:g} seconds") from None
            if answer is None or "pages" not in answer:
                return answer
            progress(int(answer["pages"]))

    def end(self) -> int:
        """End it, if it has not ended by itself. Its exit code: the negative number of a signal."""
        self._process.kill()
        code = self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout):
            # What was not yet written to a process that is gone cannot be written any more.
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        return code

    def _listen(self) -> None:
        assert self._process.stdout is not None
        answer: dict[str, Any] | None = {}
        while answer is not None:
            try:
                answer = read_frame(self._process.stdout)
            except (OSError, ValueError):
                answer = None
            self._answers.put(answer)
