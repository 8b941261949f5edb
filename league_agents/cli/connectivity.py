"""``league-agents run --test-connectivity``: one line for each thing that a season needs."""

from __future__ import annotations

import os
from typing import TextIO

import click

from league_agents.app.connectivity import Trouble, check_everything
from league_agents.app.secret_files import secret_texts_of
from league_agents.config.league_settings import LeagueSettings
from league_agents.kit.clock import SystemClock
from league_agents.kit.printable import printable


def test_connectivity(settings: LeagueSettings, stdout: TextIO) -> int:
    """Try everything and print it. The exit code: 0 only when all holds."""
    from league_agents.cli import Exit

    secrets = secret_texts_of(settings, os.environ)
    troubles: set[Trouble] = set()

    def awaiting(role: str, who: str) -> None:
        click.echo(f"{'wait':<7} {role:<8} {who}", err=True)

    for check in check_everything(settings, SystemClock(), awaiting=awaiting):
        if check.trouble is not None:
            troubles.add(check.trouble)
        mark = "WRONG" if check.trouble is not None else "warning" if check.is_warning else "ok"
        said = printable(secrets.hide(check.said), 600)
        stdout.write(f"{mark:<7} {check.role:<8} {check.name:<14} {said}\n")
        stdout.flush()
    codes = {
        Trouble.AUTHORIZATION: Exit.AUTHORIZATION,
        Trouble.CONFIGURATION: Exit.CONFIGURATION,
        Trouble.UNAVAILABLE: Exit.UNAVAILABLE,
    }
    return next((code.value for trouble, code in codes.items() if trouble in troubles), Exit.OK.value)
