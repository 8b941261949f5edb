"""``league-agents arena seat``: a seat of a match on a server, one turn a command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.numbers import FiniteRange
from league_agents.cli.record_file import FileToWrite
from league_agents.cli.screen import print_document
from league_agents.cli.seat_key import is_key, read_key, write_key
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.printable import printable

if TYPE_CHECKING:
    from league_agents.arena.client import Client
    from league_agents.arena.remote_seat import RemoteSeat, SeatState

LOOK_EVERY_S = 0.5
LARGEST_DATA = 100_000

EPILOG = """\b
Examples:
  league-agents arena seat take http://127.0.0.1:8765 --game market --turn-timeout 600 --key my.seat
  league-agents arena seat look my.seat --wait 60
  league-agents arena seat act my.seat submit_price '{"price": 40}'
  league-agents arena seat leave my.seat

The file of --key holds the token of the seat: whoever has it plays there.
"""


@click.group(name="seat", short_help="A seat of a match on a server, one turn a command.", epilog=EPILOG)
def seat_group() -> None:
    """Play at a server of the arena by hand, by a script or as an assistant: take a seat, look, act."""


@seat_group.command(name="take")
@click.argument("url")
@click.option("--game", metavar="CODE", help="Sit down in a match of this game that has a free seat, or in a new one.")
@click.option("--match", "match_id", metavar="ID", help="Sit down in this match.")
@click.option(
    "--turn-timeout",
    type=FiniteRange(1, 86_400),
    metavar="S",
    help="With --game: open a new match with this time for each decision, its other seats taken by the server.",
)
@click.option("--name", default="", metavar="NAME", help="What the others call you.")
@click.option("--key", type=FileToWrite(), required=True, metavar="FILE", help="Where the key of the seat is kept.")
def take(*, url: str, game: str | None, match_id: str | None, turn_timeout: float | None, name: str, key: Path) -> None:
    """Take a seat at the server whose page is at URL."""
    from league_agents.arena.client import Client

    if (game is None) == (match_id is None):
        raise click.UsageError("give --game or --match, and not both")
    if turn_timeout is not None and game is None:
        raise click.UsageError("--turn-timeout is for a new match of --game")
    if key.exists() and not is_key(key):
        raise ConfigError(shortened(str(key)), "is another file; name a new one for the key of the seat")
    with Client(url) as client:
        if turn_timeout is not None and game is not None:
            match_id = client.create(game, clock={"turn_timeout_s": turn_timeout})
        taken = client.join(match_id, game=game, name=name)
        write_key(key, url, taken)
        click.echo(f"{printable(f'{taken.game}, match {taken.match_id}, seat {taken.agent_id}', 200)}; key in {key}")


@seat_group.command(name="look")
@click.argument("key", type=click.Path(path_type=Path))
@click.option(
    "--wait",
    type=FiniteRange(0, 3_600),
    default=0.0,
    show_default=True,
    metavar="S",
    help="Seconds to wait until you may act or the match is over.",
)
def look(*, key: Path, wait: float) -> None:
    """Show as JSON what the seat may know, and what it may do now."""
    from league_agents.kit.clock import monotonic_s, sleep_s

    with _seated(key) as (_, held):
        ends_s = monotonic_s() + wait
        state = held.state()
        while not state.legal and not state.is_over and (left_s := ends_s - monotonic_s()) > 0:
            sleep_s(min(left_s, LOOK_EVERY_S))
            state = held.state()
        print_document(_as_json(state), sys.stdout)


@seat_group.command(name="act")
@click.argument("key", type=click.Path(path_type=Path))
@click.argument("kind", metavar="TYPE")
@click.argument("data", metavar="[JSON]", required=False, default="{}")
def act(*, key: Path, kind: str, data: str) -> None:
    """Take an action of the TYPE and with the data that 'look' lists under "legal"."""
    if len(data) > LARGEST_DATA:
        raise click.UsageError(f"JSON has {len(data)} characters, at most {LARGEST_DATA} are sent")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise click.UsageError("JSON is no JSON; write it in one pair of quotation marks") from None
    if not isinstance(found, dict):
        raise click.UsageError('JSON must be an object such as {"price": 40}')
    with _seated(key) as (_, held):
        number = held.act(kind, found)
    click.echo(f"taken; event {number}")


@seat_group.command(name="leave")
@click.argument("key", type=click.Path(path_type=Path))
def leave(*, key: Path) -> None:
    """Leave the match permanently."""
    with _seated(key) as (client, held):
        client.leave(held)
    click.echo("left")


@contextmanager
def _seated(key: Path) -> Iterator[tuple[Client, RemoteSeat]]:
    from league_agents.arena.client import Client

    held = read_key(key)
    with Client(held.pop("url")) as client:
        yield client, client.visit(**held)


def _as_json(state: SeatState) -> dict[str, object]:
    return {
        "status": state.status,
        "phase": state.phase,
        "turn": state.turn,
        "legal": [
            {
                "type": each.type,
                "schema": each.schema,
                **({} if each.choices is None else {"choices": list(each.choices)}),
            }
            for each in state.legal
        ],
        "deadline": None if state.deadline is None else state.deadline.isoformat(),
        "view": state.view,
        "rules": state.rules,
        "agents": list(state.agents),
        "winners": list(state.winners),
    }
