"""Read PDF, EPUB, HTML, Word and PowerPoint files in a separate process, which is restarted if it dies.

Rule: no file can end the program, block it, or exhaust its memory; such a file is refused with the reason.
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
"""Limit without progress; a reader that reports no page for so long is stuck. Even a busy machine grants the process
its CPU seconds within this time."""

MEMORY_BYTES = 512 * 1024 * 1024
"""Limit of address space (macOS: resident memory; Windows limits neither memory nor CPU time). The largest scan that
is read needs 390 MB, a book of five thousand pages 280 MB."""

CPU_S = 20
"""CPU seconds for one file: three to four thousand dense pages of a PDF."""

_NAMES = {
    BookFormat.PDF: "PDF",
    BookFormat.EPUB: "EPUB",
    BookFormat.HTML: "HTML",
    BookFormat.DOCX: "Word",
    BookFormat.PPTX: "PowerPoint",
}


_SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without credentials, for the process that parses untrusted files."""
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
        """``command`` starts the process; ``None`` runs the module ``child``."""
        self._silence_s = silence_s
        # The child's limit is longer than the parent's: the parent can report what happened, the child's alarm cannot.
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
        """Parse a file; ``progress`` is called with the number of pages read.

        Raises DocumentRefused for any failure that the file causes in its reader.
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
            self.close()  # its remaining memory may not suffice for the next file
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
    """The process and the thread that reads its output."""

    def __init__(self, command: Sequence[str]) -> None:
        home = str(Path(__file__).parents[3])  # the folder of this package, installed or not
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
        """Return the answer; ``None`` if the process died. Raises DocumentRefused if it stays silent."""
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, {"kind": kind, "source": source, "size": len(content)}, content)
        except OSError:  # the process has exited
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
        """End the process unless it has exited. Return its exit code: for a signal, its negative number."""
        self._process.kill()
        code = self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout):
            # Data buffered for an exited process can no longer be written.
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
