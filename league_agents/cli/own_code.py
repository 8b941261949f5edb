"""What commands that run a user's own class have in common."""

from __future__ import annotations

import click

in_process_option = click.option(
    "--in-process",
    is_flag=True,
    help="Run your own classes in this process, where a debugger reaches them. Nothing stops one that hangs or exits.",
)
"""By default each instance has a process of its own, which is killed when a call is late."""
