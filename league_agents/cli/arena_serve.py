"""``league-agents arena serve``: matches for people and programs elsewhere."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.numbers import WholeRange
from league_agents.cli.own_code import in_process_option
from league_agents.cli.stopping import stop_asked
from league_agents.kit.errors import ConfigError

if TYPE_CHECKING:
    from league_agents.agents.asking import Models


@click.command(name="serve")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=WholeRange(0, 65535), default=8765, show_default=True, help="0 chooses a free one.")
@click.option("--public", is_flag=True, help="Allow a --host that others can reach. They can play without asking.")
@click.option(
    "--profile",
    type=click.Choice(["seed", "schemas"]),
    default="seed",
    show_default=True,
    help="The form of answers: the protocol's own page, or the organisation's narrower schemas.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME=SPEC",
    help="Offer an agent of yours under this name, as for 'arena play'; it runs at your expense. May be repeated.",
)
@in_process_option
@click.option("--llm", is_flag=True, help="Strangers may put language models on seats, at your expense.")
@click.option(
    "--keep",
    metavar="FILE|none",
    help="Keep matches, seats and transcripts in this file, and go on with its open matches. Default: arena.db in your "
    "data folder; 'none' forgets them at the end.",
)
@click.option(
    "--keep-most",
    type=WholeRange(1, 1_000_000),
    default=10_000,
    show_default=True,
    help="Finished matches that are kept; the oldest are removed first.",
)
def serve(
    *,
    host: str,
    port: int,
    public: bool,
    profile: str,
    agents: tuple[str, ...],
    in_process: bool,
    llm: bool,
    keep: str | None,
    keep_most: int,
) -> None:
    """Serve the Boardgame Protocol, and a page on which people play and watch.

    It runs until it is interrupted. Programs connect to /ws or /protocol; the page is at /, finished matches at
    /gallery.
    """
    from league_agents.app.agent_wanted import Company
    from league_agents.app.arena_server import arena_server, default_keep_path, kept_matches
    from league_agents.arena.protocol.hosting import Profile
    from league_agents.arena.server.serving import settle_memory
    from league_agents.games.registry import usable_games
    from league_agents.kit.printable import printable
    from league_agents.knowledge.corpus import default_index_path

    @cache
    def models() -> Models:
        from league_agents.app.models import arena_models

        return arena_models(logging.getLogger("league_agents.arena").warning)

    if llm:
        models()  # what is missing is said now, and not to the first stranger
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    # A peer that goes away in the middle of a sentence is no news, and could say it as often as it likes.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    path = None if keep == "none" else default_keep_path() if keep is None else Path(keep).expanduser()
    with kept_matches(path, most_finished=keep_most) as kept:
        server = arena_server(
            Company(models=models, index_path=default_index_path, in_process=in_process),
            host=host,
            port=port,
            is_public=public,
            with_models=llm,
            profile=Profile(profile),
            keep=kept,
            own_agents=_named(agents),
        )
        stopping = stop_asked()
        settle_memory()
        for error in usable_games()[1]:
            click.echo(f"left out: {printable(str(error), 600)}", err=True)
        with server:
            reach = "everybody who reaches this machine" if public else "this machine only"
            click.echo(f"serving {reach}; stop it with Ctrl-C", err=True)
            if path is not None:
                click.echo(f"matches are kept in {printable(str(path), 400)}", err=True)
            click.echo(server.url)
            stopping.wait()
    click.echo("stopped", err=True)


def _named(agents: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in agents:
        name, equals, spec = each.partition("=")
        if not equals or not name or not spec:
            raise ConfigError(f"--agent {each:.80}", "must be NAME=SPEC, for example mine=my_agent:MyAgent")
        if name in found:
            raise ConfigError(f"--agent {name:.80}", "is given twice; keep one of the two")
        found[name] = spec
    return found
