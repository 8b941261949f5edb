"""``league-agents a2a``: agents of this program for others that speak A2A."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.numbers import WholeRange
from league_agents.cli.options import SPECS
from league_agents.cli.stopping import stop_asked

if TYPE_CHECKING:
    from league_agents.app.a2a_server import Served

TOKEN_VARIABLE = "LEAGUE_A2A_SERVE_TOKEN"  # noqa: S105 - the name of a variable

EPILOG = f"""\b
Examples:
  league-agents a2a serve --role referee --port 9009
  league-agents a2a serve --role player --agent llm --port 9019
  league-agents a2a serve --role referee --host 0.0.0.0 --public --card-url https://agents.example.org/referee

The referee is an assessing agent in the form of AgentBeats. A message names the participants' addresses by role:

\b
  {{"participants": {{"player_a": "http://127.0.0.1:9019"}}, "config": {{"games": 2}}}}

The games are reported as updates of the task, and the result is its artifact. {TOKEN_VARIABLE} sets the token,
20 characters or more; without it --public makes a new one at each start and shows it once. It travels as plain text:
put a server with TLS in front of it.
"""


@click.group(name="a2a", short_help="Agents of this program for others that speak A2A.")
def command() -> None:
    """Serve agents over A2A. An agent elsewhere takes a seat here as a2a:URL, in any command that names agents."""


@command.command(name="serve", epilog=EPILOG)
@click.option("--role", type=click.Choice(["referee", "player"]), required=True, help="Who serves.")
@click.option(
    "--agent", metavar="SPEC", default="offline", show_default=True, help=f"Who plays, for a player: {SPECS}."
)
@click.option("--rules", metavar="NAME|FILE", default="prd", show_default=True, help="The rules that a player knows.")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=WholeRange(0, 65535), default=9009, show_default=True, help="0 chooses a free one.")
@click.option("--card-url", metavar="URL", help="The address in the agent card.  [default: where it listens]")
@click.option("--public", is_flag=True, help="Allow a --host that others can reach. Everybody needs the token then.")
@click.option("--no-token", is_flag=True, help="With --public: ask for no token, in a network of your own containers.")
def serve(
    *, role: str, agent: str, rules: str, host: str, port: int, card_url: str | None, public: bool, no_token: bool
) -> None:
    """Serve a referee that assesses agents elsewhere, or a player that they can put on a seat.

    It runs until it is interrupted. The agent card is at /.well-known/agent-card.json.
    """
    import secrets
    from importlib.util import find_spec

    from league_agents.config.league_file import environment_of
    from league_agents.kit.errors import ConfigError
    from league_agents.kit.web_address import web_address

    if find_spec("a2a") is None:
        raise ConfigError("a2a serve", "needs the SDK a2a-sdk; pip install 'league-agents[a2a,web]'")
    from league_agents.app.a2a_server import A2aServer

    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    for noisy in ("asyncio", "a2a"):  # what strangers send is no news, and is not for a terminal
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    if no_token and not public:
        raise click.UsageError("--no-token is for --public; on this machine alone no token is asked for")
    chosen = None if no_token else environment_of(Path("league.yaml")).get(TOKEN_VARIABLE)
    token = chosen or (secrets.token_urlsafe(24) if public and not no_token else None)
    address = None if card_url is None else web_address(card_url, "--card-url", example="https://agents.example.org")
    stopping = stop_asked()
    with A2aServer(
        _served(role, agent, rules), host=host, port=port, is_public=public, token=token, card_url=address
    ) as server:
        reach = "everybody who reaches it" if public else "this machine only"
        if token is not None:
            reach += " and has the token"
        click.echo(f"serving {reach}; stop it with Ctrl-C", err=True)
        if token is not None and not chosen:
            click.echo(f"token: {token}", err=True)
        click.echo(server.url)
        stopping.wait()
    click.echo("stopped", err=True)


def _served(role: str, spec: str, rules: str) -> Served:
    from league_agents.app.agents import choose_agent, try_making
    from league_agents.config.rules import rules_named
    from league_agents.knowledge.corpus import default_index_path

    if role == "referee":
        if spec != "offline":
            raise click.UsageError("--agent is for --role player; a request to the referee says who judges")
        from league_agents.app.a2a_assessor import ServedReferee

        return ServedReferee()
    from league_agents.app.a2a_player import ServedPlayer

    known = rules_named(rules)
    agent = choose_agent(spec, "player", rules=known, seed=0, index_path=default_index_path)
    try_making(agent)
    return ServedPlayer(agent, known)
