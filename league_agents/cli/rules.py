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

COMMENTS = {
    "answer_key": "fixed: the letters always mean fixed_options; own: the player writes four options for each question",
    "fixed_options": "what A, B, C and D mean when the answer key is fixed",
    "target_kind": "book_opening or passage_opening",
    "hint_characters": "least and most",
    "sentence_justification": "in words; most: null is no upper limit",
    "word_justification": "in words; most: null is no upper limit",
    "feedback": "in words",
    "feedback_penalty": "the part of the private score that each feedback text outside its limit costs",
    "weights": "add up to 1",
    "tiers": "league points from a private score on, best first; below the last one: 0",
    "grace_seconds": "added to a written deadline before a player times out",
    "repeats_warmup": "whether the warm-up call is sent once more after half of its wait",
    "unusable_limit": "so many unusable messages of one kind abort the match",
    "callback_timeouts_seconds": "how long each callback may run",
    "absent_points": "league points of a player that was absent from the start",
    "aborted_points": "which points of an aborted match count: as_reported or zero",
}


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
    from league_agents.games.q21.rules import BUILT_IN, rule_set_to
    from league_agents.settings.rules import rules_named

    found = rule_set_to(rules_named(name))
    if as_json:
        print_document(found, sys.stdout)
        return
    if found["name"] in BUILT_IN:
        click.echo(f"# A built-in set: give a changed copy another name. 'extends: {found['name']}' instead of a full")
        click.echo("# copy lets you write only the keys that you change.")
    text = yaml.safe_dump(found, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)
    for line in text.splitlines():
        key = line.partition(":")[0]
        if key in COMMENTS:
            click.echo(f"# {COMMENTS[key]}")
        click.echo(line)
