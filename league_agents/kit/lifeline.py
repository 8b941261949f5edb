"""End a process when its parent ends, for whatever reason the parent ends.

``python -m league_agents.kit.lifeline MODULE ARGUMENTS`` runs a module in such a process. Standard input is then the
lifeline, and the module sees an empty standard input.

Rule: the parent holds one end of a pipe that it never writes to, and the kernel closes that end when the parent exits.
This needs no code and no surviving thread of the parent.
"""

from __future__ import annotations

import os
import runpy
import select
import signal
import sys
import threading
from pathlib import Path


def die_with(lifeline: int) -> None:
    """Have the kernel kill this process and its group when the other end of the pipe ``lifeline`` is closed.

    Call it in the leader of a process group. Each process needs a pipe of its own: the kernel keeps one owner per pipe.
    """
    try:
        import fcntl

        # The signal goes to the whole group. A watching thread would not run while a call holds the interpreter lock.
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
        poll = select.poll()
        poll.register(lifeline, 0)
        if poll.poll(0):  # the other end was closed before the signal was set up
            os.killpg(os.getpgrp(), signal.SIGKILL)
    except (ImportError, AttributeError, OSError):  # only Linux has F_SETSIG

        def wait() -> None:
            os.read(lifeline, 1)
            os.killpg(os.getpgrp(), signal.SIGKILL)

        threading.Thread(target=wait, name="lifeline", daemon=True).start()


if __name__ == "__main__":
    stdin = os.dup(0)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    die_with(stdin)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__")
