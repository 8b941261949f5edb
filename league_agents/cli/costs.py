"""``league-agents costs``: what language models were asked, and what it cost."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from league_agents.app.costs import Cost

EPILOG = """\b
Examples:
  league-agents costs
  league-agents costs --by game
  league-agents costs --by callback --json | jq .total
  league-agents costs --file match.player-a.db     the journal of one match, and the ledger

A reply is unusable when nothing of it was used, and forbidden what a limit of yours does not allow. Prices are your own
file: 'config init prices' writes one to fill in. A cost that nobody knows is shown as unknown, and that of a reply
that was given up before its end is an estimate.
"""


@click.command(name="costs", short_help="What language models were asked, and what it cost.", epilog=EPILOG)
@click.option(
    "--by",
    type=click.Choice(("game", "callback", "model")),
    default="model",
    show_default=True,
    help="What a line of the table is about.",
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="[default: league.yaml if it is there]")
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="A further journal or ledger.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, by: str, config: Path | None, files: tuple[Path, ...], as_json: bool) -> None:
    """Calls, tokens, money and cache hits, from the ledger in the data folder and the journals of the league file.

    It only reads, so it works while the daemon runs.
    """
    import sys

    from league_agents.app.costs import add_up, calls_in, calls_in_databases, files_of, total
    from league_agents.app.models import default_ledger_path, environment_models, prices_of
    from league_agents.cli.screen import print_document
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file
    from league_agents.config.league_settings import DEFAULT_FILE

    settings = None
    if config is not None or Path(DEFAULT_FILE).is_file():
        path = find_league_file(config)
        settings = read_league_file(path, environment_of(path))
    models = environment_models() if settings is None else settings.models
    calls = chain(calls_in(files_of(default_ledger_path(), settings, files)), calls_in_databases(settings))
    costs = add_up(calls, by, prices_of(models))
    whole = total(costs)
    if as_json:
        document = {"by": by, "costs": [cost.to_json() for cost in costs], "total": whole.to_json()}
        print_document(document, sys.stdout)
        return
    if not costs:
        click.echo("No language model was asked yet.")
        return
    for line in _lines(by, [*costs, whole] if len(costs) > 1 else costs):
        click.echo(line)


_HEADS = ("calls", "failed", "unusable", "forbidden", "cached", "in", "of it cached", "out")


def _lines(by: str, costs: list[Cost]) -> list[str]:
    from league_agents.kit.printable import printable

    rows = [(by, *_HEADS, "cost")]
    rows += [
        (
            printable(cost.name, 60),
            f"{cost.calls:,}",
            f"{cost.failures:,}",
            f"{cost.unusable:,}",
            f"{cost.forbidden:,}",
            f"{cost.cache_hits:,}",
            f"{cost.input_tokens:,}{'+?' if cost.uncounted else ''}",
            f"{cost.cached_tokens:,}",
            f"{cost.output_tokens:,}{'+?' if cost.uncounted else ''}",
            cost.money(),
        )
        for cost in costs
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        numbers = [text.rjust(width) for text, width in zip(row[1:-1], widths[1:-1], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *numbers, row[-1]]).rstrip())
    return lines
