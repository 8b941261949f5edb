"""A process that ends when the one that started it does, however that ends.

``python -m league_agents.kit.lifeline MODULE ARGUMENTS`` runs a module like this. Standard input is the lifeline then,
and the module finds an empty one.

Rule: the parent holds one end of a pipe that it never writes to, and the kernel closes it with the parent. None of the
parent's code has to run for that, and none of its threads has to live on.
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
    """Let this process and its group be killed when the other end of the pipe ``lifeline`` is closed.

    For the leader of a process group. Each process needs a pipe of its own: the kernel keeps one owner for each.
    """
    try:
        import fcntl

        # To the whole group; a thread could not do it while a call keeps the interpreter's lock.
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
        poll = select.poll()
        poll.register(lifeline, 0)
        if poll.poll(0):  # the other end was closed before anybody listened
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
