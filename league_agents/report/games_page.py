"""The reference page of the arena's games, written from their declarations: ``docs/reference/games.md``.

Rule: the page lists only what the program does; games of other distributions are not on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from league_agents.games.game import JsonObject
from league_agents.games.registry import BUILT_IN, declared, game_codes, game_of, game_source, seats_in_words
from league_agents.report.markdown import table
from league_agents.turns.load import PROTOCOL_TYPES, ProtocolType

_HEADER = """\
# Games of the arena

Written by `scripts/docs` from the declarations in `league_agents/games`. The keys of a game's configuration stand in a
scenario file under `config`, or on the command line as `--config KEY=VALUE`; those marked with an asterisk are for the
host alone, because they decide what is secret. `league-agents arena games --json` shows the same, with JSON Schemas.
"""


_PROTOCOLS = """\
## Interaction protocols

Who speaks when, and who hears it. A scenario names one as `protocol: {type: TYPE}`, with the keys that are listed here
beside `type`; `module:Class` is one of your own. `league-agents arena protocols` lists the games that each fits.
"""


def games_page() -> str:
    """The page as Markdown."""
    codes = [code for code in game_codes() if game_source(code) == BUILT_IN]
    protocols = [line for name, each in PROTOCOL_TYPES.items() for line in _protocol(name, each)]
    return "\n".join([_HEADER, *(line for code in codes for line in _game(code)), _PROTOCOLS, *protocols])


def _game(code: str) -> Iterator[str]:
    game, rules = declared(code), game_of(code)
    yield f"## {code}: {game.title['en']}"
    yield ""
    yield game.about["en"]
    yield ""
    yield f"Seats: {seats_in_words(code)}, usually {', '.join(f'`{seat}`' for seat in game.usual_seats)}."
    yield f"Turns: `{rules.protocol}` alone." if rules.protocol else "Turns: any protocol in which agents talk."
    if game.agents.names:
        yield f"Agents of its own: {', '.join(f'`{name}`' for name in game.agents.names)}."
    if game.agents.methods:
        methods = " and ".join(f"`{method}`" for method in game.agents.methods)
        yield f"A class with {methods} plays it too."
    yield ""
    rows = (_row(key, each) for key, each in rules.config_schema["properties"].items())
    yield from table(("key", "default", "meaning"), rows)
    yield ""
    for kind, schema in rules.action_schemas.items():
        required = schema.get("required", ())
        fields = [f"`{key}`" if key in required else f"`{key}` (optional)" for key in schema.get("properties", {})]
        yield f"- action `{kind}`: {', '.join(fields) or 'no data'}"
    yield ""


def _protocol(name: str, each: ProtocolType) -> Iterator[str]:
    yield f"### {name}"
    yield ""
    yield each.make(("a", "b")).rule_text()
    yield f"Best for {each.best_for}; watch out for {each.risk}."
    if not each.is_in_files:
        yield f"A Python program makes the class `{each.make.__name__}`; a scenario file cannot name it."
    yield ""
    yield from (f"- `{key}`: {meaning}" for key, meaning in each.keys.items())
    if each.keys:
        yield ""


def _row(key: str, schema: JsonObject) -> tuple[str, str, str]:
    default = json.dumps(schema.get("default"), ensure_ascii=False)
    return f"`{key}`*" if schema.get("x-host-only") else f"`{key}`", f"`{default}`", schema["description"]
