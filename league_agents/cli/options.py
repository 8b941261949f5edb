"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path

import click

ROLE_NAMES = ("referee", "player", "manager")
"""The roles of a league file, as ``config.league_settings.RoleName``, which takes longer to import."""

SPECS = "offline, llm, scripted, scripted:NAME, a2a:URL or module:Class"
"""The names of agents, as ``app.agents.choose_agent`` reads them."""

CONFIG = click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE", help="The league file.  [default: league.yaml]"
)
ROLES = click.option(
    "--role",
    "roles",
    type=click.Choice(ROLE_NAMES),
    multiple=True,
    help="This role of the league file only; may be repeated.",
)
CONFIGS = click.option(
    "--config",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE|FOLDER",
    help="The league file; several, or a folder of them, may be named.  [default: league.yaml]",
)
MAILBOXES = click.option(
    "--mailbox",
    "mailboxes",
    multiple=True,
    metavar="ADDRESS|NAME",
    help="This mailbox of the league file only; may be repeated.",
)
MAILBOX = click.option("--mailbox", metavar="ADDRESS|NAME", help="Which mailbox, where the league file lists several.")
FROM = click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A journal, a season's folder, a recorded match or an export.",
)
SEASON = click.option(
    "--season",
    metavar="ID",
    help="One of several seasons of a journal; ID@reset-1 is what a reset dropped.  [default: the latest]",
)
DASK = click.option(
    "--dask",
    metavar="ADDRESS|local",
    help="Work on the workers of this Dask scheduler, or with 'local' on --workers of its own here.",
)


def local_workers(dask: str | None, workers: int) -> int:
    """The number of processes to start. The default of 1 means as many as there are processors for ``--dask local``."""
    if dask is None:
        return workers
    if dask != "local" and workers > 1:
        raise click.UsageError("--workers is for this machine; the cluster of --dask has workers of its own")
    return workers if workers > 1 else os.cpu_count() or 1
