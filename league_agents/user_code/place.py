"""Find the line of a user's code that failed.

Rule: only the user's own files are named, by their path relative to the working directory or by their name alone, so
that the records of a match reveal nothing about the machine.
"""

from __future__ import annotations

import re
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import TracebackType

from league_agents.kit.printable import printable

_OURS = Path(__file__).resolve().parents[1]
_INSTALLED = tuple(Path(sysconfig.get_paths()[key]).resolve() for key in ("stdlib", "purelib", "platlib"))
_LONGEST = 120
_MOST_FRAMES = 5_000


def place_of(error: BaseException) -> str | None:
    """Return ``file.py:line`` of the innermost frame in the user's own code; ``None`` if there is none."""
    found: tuple[str, int] | None = None
    try:
        trace: TracebackType | None = error.__traceback__
    except BaseException:  # the error's class is user code too
        return None
    for _ in range(_MOST_FRAMES):
        if trace is None:
            break
        name = _shown(trace.tb_frame.f_code.co_filename)
        if name is not None:
            found = name, trace.tb_lineno
        trace = trace.tb_next
    return None if found is None else f"{found[0]}:{found[1]}"


def place_in(traceback: str) -> str | None:
    """Return ``file.py:line`` of the innermost frame in the user's own code, from a traceback of ``faulthandler``."""
    for name, line in _FRAME.findall(traceback[:_LONGEST_TRACEBACK]):
        shown = _shown(name)
        if shown is not None:
            return f"{shown}:{line}"
    return None


_FRAME = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)
_LONGEST_TRACEBACK = 200_000


@lru_cache(maxsize=256)
def _shown(name: str) -> str | None:
    """Return the displayed name of a user's file; ``None`` for this package, installed ones and code without a file."""
    try:
        path = Path(name).resolve()
        if not path.is_file() or path.is_relative_to(_OURS) or any(path.is_relative_to(root) for root in _INSTALLED):
            return None
        here = Path.cwd()
        return printable(str(path.relative_to(here)) if path.is_relative_to(here) else path.name, _LONGEST)
    except (OSError, ValueError, RuntimeError):  # code may set any file name for itself
        return None
