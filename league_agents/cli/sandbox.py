"""``league-agents sandbox``: our own Gmail on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.numbers import WholeRange
from league_agents.cli.stopping import stop_asked

if TYPE_CHECKING:
    from league_agents.sandbox.faults import Fault
    from league_agents.sandbox.server import Sandbox

DEFAULT_PORT = 8025
DEFAULT_ACCOUNTS = "manager@league.test,referee@league.test,player-a@league.test,player-b@league.test"
LONGEST_FAULT_FILE = 1_000_000

EPILOG = f"""\b
Point a client at it:
  base address   http://127.0.0.1:{DEFAULT_PORT}, as the client library's api_endpoint
  sign in        with DIR/client_secret.json, as with the real one; or use DIR/token.NAME.at.DOMAIN.json
Let things go wrong, with a file such as:
  seed: 7
  faults:
    - {{method: messages.send, action: drop-done, chance: 0.05}}
    - {{method: "*", action: error, status: 429, retry_after_s: 5, every: 40}}
    - {{method: delivery, action: late, seconds: 20, account: referee@league.test}}
Look at it:
  http://127.0.0.1:{DEFAULT_PORT}/                 accounts and last mails
  http://127.0.0.1:{DEFAULT_PORT}/sandbox/report   calls, quota units, and whether anything was sent twice
"""


@click.command(name="sandbox", short_help="A local Gmail to play in.", epilog=EPILOG)
@click.option("--port", type=WholeRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0 chooses one.")
@click.option(
    "--accounts", metavar="A@B,…", default=DEFAULT_ACCOUNTS, show_default=True, help="The addresses that it serves."
)
@click.option(
    "--folder", type=click.Path(path_type=Path), metavar="DIR", help="Write client_secret.json and tokens here."
)
@click.option("--faults", type=click.Path(path_type=Path), metavar="FILE", help="What goes wrong (YAML or JSON).")
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE", help="Keep mail, tokens and counts in FILE.")
@click.option("--limit", type=WholeRange(1), metavar="UNITS", help="Refuse more units a minute and account.")
@click.option("--sends-per-day", type=WholeRange(1), default=500, show_default=True, help="Of each account.")
@click.option("--testing-app", is_flag=True, help="Consents end after 7 days, as for apps that Google calls testing.")
def command(
    *,
    port: int,
    accounts: str,
    folder: Path | None,
    faults: Path | None,
    state: Path | None,
    limit: int | None,
    sends_per_day: int,
    testing_app: bool,
) -> None:
    """Run a mail service that speaks Gmail's API, with delivery between its accounts and nothing outside.

    It listens on this machine only and runs until it is interrupted.
    """
    from datetime import timedelta

    from league_agents.sandbox.accounting import Quota
    from league_agents.sandbox.server import Sandbox
    from league_agents.sandbox.world import Rules

    addresses = [address.strip() for address in accounts.split(",") if address.strip()]
    if not addresses:
        raise click.BadParameter("name at least one address", param_hint="'--accounts'")
    seed, plan = read_faults(faults) if faults is not None else (0, [])
    rules = Rules(
        quota=Quota(units_per_minute=limit, sends_per_day=sends_per_day),
        grant_lifetime=timedelta(days=7) if testing_app else None,
        asks_for_account=True,
    )
    stopping = stop_asked()
    with Sandbox(addresses, port=port, faults=plan, seed=seed, rules=rules, state=state, may_kill=True) as sandbox:
        _tell(sandbox, folder)
        stopping.wait()
    click.echo("stopped", err=True)


def read_faults(path: Path) -> tuple[int | str, list[Fault]]:
    """Seed and rules of a fault file. Raises ``ConfigError``."""
    from league_agents.kit.errors import ConfigError
    from league_agents.kit.yaml_text import read_value
    from league_agents.sandbox.faults import read_plan

    try:
        with path.open("rb") as file:
            text = file.read(LONGEST_FAULT_FILE + 1)
        if len(text) > LONGEST_FAULT_FILE:
            raise ConfigError(str(path), f"is larger than {LONGEST_FAULT_FILE} bytes")
        # JSON is YAML too, so one reader serves both.
        document = read_value(text.decode(), str(path))
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read ({error.strerror})") from error
    except UnicodeError as error:
        raise ConfigError(str(path), "is not UTF-8 text") from error
    return read_plan({} if document is None else document, where=str(path))


def _tell(sandbox: Sandbox, folder: Path | None) -> None:
    """Say where everything is. The address alone goes to stdout, for scripts."""
    if folder is not None:
        files = [sandbox.client_secret_file(folder), *(sandbox.token_file(each, folder) for each in sandbox.accounts)]
        for file in files:
            click.echo(f"wrote {file}", err=True)
    click.echo(f"serving {', '.join(sandbox.accounts)}; stop it with Ctrl-C", err=True)
    click.echo(sandbox.url)
