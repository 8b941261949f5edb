"""``league-agents dashboard``: the pages of a season, live."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from league_agents.cli.numbers import WholeRange
from league_agents.cli.options import CONFIG, FROM, SEASON
from league_agents.cli.season_source import opener
from league_agents.cli.stopping import stop_asked
from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import printable

TOKEN_VARIABLE = "LEAGUE_AGENTS_DASHBOARD_TOKEN"  # noqa: S105 - the name of a variable

EPILOG = f"""\b
Examples:
  league-agents dashboard                              beside a daemon: the journals of the league file
  league-agents dashboard --from season                the folder of a season, such as that of scripts/league
  league-agents dashboard --public --host 0.0.0.0      for everybody who has the token

{TOKEN_VARIABLE} sets the token of --public, 20 characters or more; without it a new one is made at each start and shown
once. A browser asks for it as a password, with any user name; a program sends it as 'Authorization: Bearer …'. It
travels as plain text: put a server with TLS in front of it.
"""


@click.command(name="dashboard", short_help="The pages of a season, live.", epilog=EPILOG)
@FROM
@CONFIG
@SEASON
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=WholeRange(0, 65535), default=8766, show_default=True, help="0 chooses a free one.")
@click.option("--public", is_flag=True, help="Allow a --host that others can reach. Everybody needs the token then.")
def command(
    *, source: Path | None, config: Path | None, season: str | None, host: str, port: int, public: bool
) -> None:
    """Serve the pages of 'report' beside a running daemon. They update themselves. Of a running offline season they
    tell how far it is, and show the divisions that are over.

    It only reads, and shows nothing that is secret at the moment. It runs until it is interrupted.
    """
    import secrets

    from league_agents.app.dashboard import DashboardServer
    from league_agents.config.league_file import environment_of

    logging.basicConfig(format="%(levelname)s %(message)s")
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    chosen = environment_of(Path("league.yaml") if config is None else config).get(TOKEN_VARIABLE)
    token = chosen or (secrets.token_urlsafe(24) if public else None)
    read = opener(source, config, season)
    try:
        read().close()  # what is wrong with it is said now
    except ConfigError as error:
        if source is None or not source.is_dir():
            raise
        click.echo(f"nothing to show yet: {printable(str(error), 600)}", err=True)  # a season that begins
    stopping = stop_asked()
    with DashboardServer(read, host=host, port=port, is_public=public, token=token) as server:
        reach = "everybody who has the token" if public else "this machine only"
        click.echo(f"serving {reach}; stop it with Ctrl-C", err=True)
        if token is not None and not chosen:
            click.echo(f"token: {token}", err=True)
        click.echo(server.url)
        stopping.wait()
    click.echo("stopped", err=True)
