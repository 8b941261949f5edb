"""Where in a user's code something went wrong.

Rule: only the user's own files are named, by their path from here or by their name alone, so that what is recorded of a
match says nothing about the machine.
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
    """``file.py:line`` of the innermost frame that is the user's own; ``None`` when none is."""
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
    """``file.py:line`` of the innermost frame that is the user's own, in what ``faulthandler`` wrote."""
    for name, line in _FRAME.findall(traceback[:_LONGEST_TRACEBACK]):
        shown = _shown(name)
        if shown is not None:
            return f"{shown}:{line}"
    return None


_FRAME = re.compile(r'^  File "(.+)", line (\d+) in ', re.MULTILINE)
_LONGEST_TRACEBACK = 200_000


@lru_cache(maxsize=256)
def _shown(name: str) -> str | None:
    """A file of the user's own as it is named; ``None`` for ours, installed ones and code that is in no file."""
    try:
        path = Path(name).resolve()
        if not path.is_file() or path.is_relative_to(_OURS) or any(path.is_relative_to(root) for root in _INSTALLED):
            return None
        here = Path.cwd()
        return printable(str(path.relative_to(here)) if path.is_relative_to(here) else path.name, _LONGEST)
    except (OSError, ValueError, RuntimeError):  # code may give itself any file name
        return None
