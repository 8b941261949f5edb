"""The reference page of the keys of a rule set, written from their declarations."""

from __future__ import annotations

import json

from league_agents.games.q21.rules import COURSE, PRD, rule_keys, rule_set_to
from league_agents.report.markdown import table

_HEADER = """\
# Rules of Q21

Written by `scripts/docs` from the declarations in `league_agents/games/q21/rules.py`. Every point on which the
sources of the game disagree is a key of a *rule set*. Two sets are built in: `prd` follows the product document of
the game, `course` follows the deployed league. [How points are decided](../explanation/points.md) explains what the
keys do together.

`league-agents rules` prints a set as YAML, to be changed and used with `--rules FILE`. A file that begins with
`extends: prd` or `extends: course` needs only the keys that it changes, and a `name` of its own. In a league file the
key is `rules`.
"""


def rules_page() -> str:
    """The page as Markdown."""
    prd, course = rule_set_to(PRD), rule_set_to(COURSE)
    rows = (
        (f"`{key}`", meaning, _shown(prd[key]), "the same" if prd[key] == course[key] else _shown(course[key]))
        for key, meaning in rule_keys().items()
    )
    return "\n".join([_HEADER, *table(("key", "meaning", "`prd`", "`course`"), rows), ""])


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(inner)}" for key, inner in value.items())
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "; ".join(_shown(each) for each in value)
    return f"`{json.dumps(value, ensure_ascii=False)}`"
