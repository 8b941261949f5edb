"""``league-agents completion``: what a shell reads to complete commands and options."""

from __future__ import annotations

import click

from league_agents.cli import PROGRAM, VARIABLE_OF_COMPLETION

EPILOG = f"""\b
Examples:
  {PROGRAM} completion bash > ~/.local/share/bash-completion/completions/{PROGRAM}
  {PROGRAM} completion zsh > ~/.zfunc/_{PROGRAM}              a folder that is in fpath
  {PROGRAM} completion fish > ~/.config/fish/completions/{PROGRAM}.fish
"""


@click.command(name="completion", short_help="Completion of commands in your shell.", epilog=EPILOG)
@click.argument("shell", metavar="[bash|zsh|fish]", type=click.Choice(("bash", "zsh", "fish")))
def command(*, shell: str) -> None:
    """Print the completion script for a shell: bash from 4.4, zsh or fish.

    Put it where your shell looks for completions, and open a new shell.
    """
    from click.shell_completion import get_completion_class

    from league_agents.cli import command_line

    kind = get_completion_class(shell)
    assert kind is not None, shell
    # Without the class's check of the version of the bash that is installed here: the file may be for another machine.
    script = kind(command_line, {}, PROGRAM, VARIABLE_OF_COMPLETION)
    click.echo(kind.source_template % script.source_vars())
