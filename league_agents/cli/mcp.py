"""``league-agents mcp``: the commands as tools of an assistant."""

from __future__ import annotations

from importlib.util import find_spec

import click

from league_agents.cli.numbers import FiniteRange

EPILOG = """\b
Examples:
  league-agents mcp                      what an assistant starts; docs/how-to/assistants.md has its settings
  league-agents mcp --read-only          only what changes nothing
  league-agents mcp --list               the tools, without serving them

An assistant has the rights of whoever starts it: it can play, overwrite files, run agents of your own and give orders
to a league manager. It works in the current directory, with the settings of its .env. Tools that change something say
so, and most assistants ask before they use them.
"""


@click.command(name="mcp", short_help="The commands as tools of an assistant (MCP).", epilog=EPILOG)
@click.option("--read-only", is_flag=True, help="Offer only the tools that change nothing.")
@click.option(
    "--time-limit",
    type=FiniteRange(1, 86_400),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Stop a command that takes longer.",
)
@click.option("--list", "is_listed", is_flag=True, help="List the tools and what they are, and exit.")
def command(*, read_only: bool, time_limit: float, is_listed: bool) -> None:
    """Serve the commands of this program to an assistant that speaks the Model Context Protocol, on stdin and stdout.

    Each tool is a command with its options, and does what the command does. It runs until the assistant closes stdin.
    """
    from league_agents.cli.assistant_tools import assistant_tools
    from league_agents.kit.errors import ConfigError

    tools = assistant_tools(only_reading=read_only)
    if is_listed:
        for tool in tools.values():
            effect = "reads" if tool.is_reading else "changes"
            summary = tool.description.partition("\n")[0].partition(". ")[0].rstrip(".")
            click.echo(f"{tool.name:<22} {effect:<8} {summary}.")
        return
    if find_spec("mcp") is None:
        raise ConfigError("mcp", "needs the SDK mcp, which is not installed; pip install 'league-agents[mcp]'")
    import anyio

    from league_agents.cli.assistant_server import assistant_server, serve_on_stdio

    anyio.run(serve_on_stdio, assistant_server(tools, time_limit_s=time_limit))
