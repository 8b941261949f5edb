"""``league-agents rules``: show a rule set."""

from __future__ import annotations

import click

EPILOG = """\b
Examples:
  league-agents rules                     the default set
  league-agents rules course
  league-agents rules my-rules.yaml       is it valid, and what does it mean in full?
  league-agents rules prd > my-rules.yaml
                                          change its name and what you like, then
  league-agents run --single-game --rules my-rules.yaml
"""


@click.command(name="rules", short_help="Show a rule set, to read or to copy.", epilog=EPILOG)
@click.argument("name", default="prd", metavar="[NAME|FILE]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(name: str, as_json: bool) -> None:
    """Print a rule set in full: every key, as YAML that may be changed and used with --rules.

    NAME is prd (the default) or course; FILE is a set of your own.
    """
    import sys

    import yaml

    from league_agents.cli.screen import print_document
    from league_agents.config.rules import rules_named
    from league_agents.games.q21.rules import BUILT_IN, rule_keys, rule_set_to

    found = rule_set_to(rules_named(name))
    if as_json:
        print_document(found, sys.stdout)
        return
    if found["name"] in BUILT_IN:
        click.echo(f"# A built-in set: give a changed copy another name. 'extends: {found['name']}' instead of a full")
        click.echo("# copy lets you write only the keys that you change.")
    comments = rule_keys()
    text = yaml.safe_dump(found, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)
    for line in text.splitlines():
        key = line.partition(":")[0]
        if key in comments:
            click.echo(f"# {comments[key]}")
        click.echo(line)
