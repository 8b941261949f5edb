"""``python -m tests.support.team_process FILE…``: the roles of several league files as one daemon, until SIGTERM."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from league_agents.app.live import Live, live_roles
from league_agents.cli.daemon import ends_on_signals
from league_agents.config.league_file import read_league_file
from league_agents.runner.wakeup import StopRequest
from league_agents.runner.watch import watch


def main() -> None:
    """Run all roles, each with its own thread, mailbox and journal as ``run --watch`` has them."""
    stop = StopRequest()
    with ExitStack() as stack:
        stack.enter_context(ends_on_signals(stop))
        roles: list[Live] = []
        for path in sys.argv[1:]:
            roles += stack.enter_context(live_roles(read_league_file(Path(path), {})))
        watch([(live.role, live.wakeup) for live in roles], stop)
    stop.close()


if __name__ == "__main__":
    main()
