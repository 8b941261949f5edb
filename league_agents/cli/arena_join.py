"""``league-agents arena join``: an agent of this process on a seat of an arena elsewhere."""

from __future__ import annotations

import logging
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.numbers import FiniteRange, WholeRange
from league_agents.cli.own_code import in_process_option
from league_agents.cli.screen import own_stdout, print_document
from league_agents.cli.seat_key import read_key, write_key
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.printable import printable

if TYPE_CHECKING:
    from league_agents.arena.remote_seat import RemoteSeat

EPILOG = """\b
Examples:
  league-agents arena join http://127.0.0.1:8765 --agent my_agent:MyAgent --game undercover
  league-agents arena join 'http://127.0.0.1:8765/#/match/m-0123456789ab' --agent llm --name Ann

\b
Exit codes:
  0    the match was played to its end, won or not
  1    the server refused, the match was abandoned, or the agent failed three times in a row and left
  3    the address, the agent or the key file is wrong
  4    the server cannot be reached, or does not speak the protocol
"""


@click.command(name="join", epilog=EPILOG)
@click.argument("url")
@click.option("--agent", "spec", required=True, metavar="SPEC", help="Who plays, as for 'arena play'; no person.")
@click.option("--game", help="Take a seat in a match of this game that waits for players, or open one.")
@click.option("--match", "match_id", metavar="ID", help="Take a seat in this match. The link of its page says it too.")
@click.option("--seat", "agent_id", metavar="ID", help="Take this seat; default: the first free one.")
@click.option("--name", default="", metavar="NAME", help="What the others see.")
@click.option("--config", "settings", multiple=True, metavar="KEY=VALUE", help="A key of the game's configuration.")
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep the key of the seat here until the match is over. If the file exists, go on with its seat.",
)
@click.option(
    "--patience",
    type=FiniteRange(0.1, 86_400),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to try to reach a server that is away.",
)
@click.option(
    "--most-decisions",
    type=WholeRange(1, 1_000_000),
    default=2000,
    show_default=True,
    help="Leave a server that asks for more in one match.",
)
@in_process_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end.")
def join(
    *,
    url: str,
    spec: str,
    game: str | None,
    match_id: str | None,
    agent_id: str | None,
    name: str,
    settings: tuple[str, ...],
    key: Path | None,
    patience: float,
    most_decisions: int,
    in_process: bool,
    as_json: bool,
) -> int:
    """Take a seat at the arena at URL and play until the match is over.

    A lost connection is made again, and the seat stays taken meanwhile.
    """
    from league_agents.app.agent_wanted import Company
    from league_agents.app.arena import HUMAN
    from league_agents.app.arena_join import SeatSought, joined, play_on
    from league_agents.app.models import arena_models
    from league_agents.arena.client import Client
    from league_agents.cli import Exit
    from league_agents.cli.arena_settings import configured
    from league_agents.kit.model_work import sentence
    from league_agents.knowledge.corpus import default_index_path

    if spec == HUMAN:
        raise ConfigError("--agent human", "plays on the page of the server: open its address in a browser")
    logging.basicConfig(format="%(message)s")
    address, _, place = url.partition("#")
    linked = place.removeprefix("/match/") if place.startswith("/match/") else None
    held = None if key is None or not key.exists() else read_key(key)
    if held is not None and held.pop("url").rstrip("/") != address.rstrip("/"):
        raise ConfigError(shortened(str(key)), "is the key of a seat at another server; name another file")

    def keep(seat: RemoteSeat) -> None:
        if key is not None:
            try:
                write_key(key, address, seat)
            except OSError:
                client.leave(seat)  # nobody could go on with it
                raise

    sought = SeatSought(
        spec=spec,
        game=game,
        match_id=match_id or linked,
        agent_id=agent_id,
        name=name,
        config=configured(settings),
        held=held,
    )
    company = Company(
        models=lambda: arena_models(logging.getLogger("league_agents.arena").warning),
        index_path=default_index_path,
        in_process=in_process,
    )
    with (
        own_stdout() as out,
        Client(address, patience_s=patience) as client,
        joined(client, sought, company, seed=secrets.randbits(63), keep=keep) as (seat, agent),
    ):
        at = printable(f"{seat.agent_id} in match {seat.match_id} of {seat.game}", 300)
        click.echo(f"seated: {at}", err=True)
        end = play_on(client, seat, agent, most_decisions=most_decisions)
        if key is not None:
            key.unlink(missing_ok=True)
        if as_json:
            result = {"match_id": seat.match_id, "game": seat.game, "agent_id": seat.agent_id, "status": end.status}
            print_document({**result, "decisions": seat.decisions, "winners": list(end.winners)}, out)
        elif end.status == "ended":
            winners = ", ".join(printable(each, 80) for each in end.winners) or "nobody"
            click.echo(f"match {printable(seat.match_id, 100)}: won by {winners}", file=out)
        else:
            click.echo(f"match {printable(seat.match_id, 100)}: abandoned", file=out)
    if agent.steps:
        click.echo(printable(f"{seat.agent_id}: {sentence(agent.steps, what='decision')}", 600), file=sys.stderr)
    return Exit.OK if end.status == "ended" else Exit.FAILED
