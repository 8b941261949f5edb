"""The process that parses untrusted files: ``python -m league_agents.knowledge.formats.child``.

Rule 1: a failure ends at most this process. Its memory is limited, and so is its CPU time for each file; it exits after
too long a silence, and when its parent has gone.
Rule 2: standard input and output carry frames only (see ``frames``); output of libraries is discarded.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import BinaryIO

from league_agents.kit.errors import LeagueError
from league_agents.kit.frames import read_frame, write_frame
from league_agents.knowledge.formats.extract import Extract
from league_agents.knowledge.formats.kinds import BookFormat


def main(arguments: list[str]) -> None:
    """Serve one request after the other. Arguments: seconds of silence, bytes of memory, seconds of CPU time."""
    silence_s, memory_bytes, cpu_s = map(int, arguments[:3])
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    _bound_memory(memory_bytes)
    requests: BinaryIO = sys.stdin.buffer
    answers: BinaryIO = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def reset() -> None:
        if hasattr(signal, "alarm"):
            signal.alarm(silence_s)

    def progress(pages: int) -> None:
        reset()
        write_frame(answers, {"pages": pages})

    while (request := read_frame(requests)) is not None:
        content = requests.read(int(request["size"]))
        reset()
        _bound_computing(cpu_s)
        write_frame(answers, _answer(str(request["kind"]), content, str(request["source"]), progress))
        if hasattr(signal, "alarm"):
            signal.alarm(0)


def _answer(kind: str, content: bytes, source: str, progress: Callable[[int], None]) -> dict[str, object]:
    try:
        extract = _extract(BookFormat(kind), content, source, progress)
        fields = asdict(extract)
        fields["parts"] = [(part.kind, part.text) for part in extract.parts]
        return {"extract": fields}
    except LeagueError as error:
        return {"refused": str(error)}
    except (MemoryError, RecursionError):
        return {"refused": f"{source}: needs too much memory", "is_spent": True}
    except Exception as error:
        # The edge of this process: a library's reaction to a damaged file cannot be foreseen.
        return {"refused": f"{source}: is damaged ({type(error).__name__} while it was read)"}


def _extract(kind: BookFormat, content: bytes, source: str, progress: Callable[[int], None]) -> Extract:
    if kind is BookFormat.PDF:
        from league_agents.knowledge.formats.pdf import pdf_extract

        return pdf_extract(content, source, progress)
    if kind is BookFormat.EPUB:
        from league_agents.knowledge.formats.epub import epub_extract

        return epub_extract(content, source)
    if kind in (BookFormat.DOCX, BookFormat.PPTX):
        from league_agents.knowledge.formats.office import docx_extract, pptx_extract

        return docx_extract(content, source) if kind is BookFormat.DOCX else pptx_extract(content, source)
    from league_agents.knowledge.formats.html import html_extract

    return html_extract(content, source)


def _bound_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:  # the module exists on Unix only
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "darwin":
        # macOS accepts the limit but does not enforce it.
        threading.Thread(target=end_above, args=(limit, _resident_bytes), daemon=True).start()
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def end_above(limit: int, used: Callable[[], int], every_s: float = 0.05) -> None:
    """End the process once it uses more than ``limit`` bytes. Running native code does not block this thread."""
    never = threading.Event()
    while used() <= limit:
        never.wait(every_s)
    os.kill(os.getpid(), signal.SIGKILL)


def _resident_bytes() -> int:
    """Return the peak resident memory in bytes, as on macOS. (Linux reports kilobytes and includes the parent.)"""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _bound_computing(seconds: int) -> None:
    """Allow that many more CPU seconds for one file. The system ends a process that exceeds them."""
    try:
        import resource
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + seconds, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
