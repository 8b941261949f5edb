"""A mapping from the action numbers of PettingZoo to the actions of a game.

Every action type of the game has a block of numbers, in the order of ``action_schemas``:

* one with a field that decides and has few values (a vote, a guess, a price) has one number for each value; other
  fields that are needed are drawn from their schema;
* one without fields has one number;
* any other (a description, a batch of questions) has ``CANDIDATES`` numbers, each a candidate drawn from the schema.

Rule: the action depends only on the match's seed, the decision and the number, so a seed repeats a match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from league_agents.arena.agents.random_agent import instance_of
from league_agents.games.declaration import GameDeclaration
from league_agents.games.game import Action, JsonObject, LegalAction
from league_agents.games.registry import part_of
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match

CANDIDATES: Final = 16
MOST_VALUES: Final = 1000
"""A field with more values is drawn too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberBlock:
    """The numbers of one action type."""

    type: str
    start: int
    length: int
    path: tuple[str, ...] = ()
    """Path of the field that the number decides; empty for candidates."""

    values: tuple[Any, ...] = ()
    """The value of the field for each number."""

    def __contains__(self, number: int) -> bool:
        return self.start <= number < self.start + self.length


def blocks_of(match: Match[Any], game: GameDeclaration) -> tuple[NumberBlock, ...]:
    """The numbering of every match with this one's configuration and agents."""
    found: list[NumberBlock] = []
    start = 0
    for kind, schema in match.game.action_schemas.items():
        field = game.deciding.get(kind)
        path: tuple[str, ...] = ()
        values: Sequence[Any] = ()
        if field is not None:
            values = part_of(game, field.values)(match.config, match.agent_ids)
            path, values = (field.path, tuple(values)) if len(values) <= MOST_VALUES else ((), ())
        length = len(values) or (CANDIDATES if schema.get("properties") else 1)
        found.append(NumberBlock(type=kind, start=start, length=length, path=path, values=tuple(values)))
        start += length
    return tuple(found)


def legal_numbers(blocks: Sequence[NumberBlock], legal: Sequence[LegalAction]) -> Iterator[int]:
    """The numbers with a legal action now."""
    now = {each.type: each.schema for each in legal}
    for block in blocks:
        schema = now.get(block.type)
        if schema is None:
            continue
        if not block.path:
            yield from range(block.start, block.start + block.length)
            continue
        field = _at(schema, block.path)
        for place, value in enumerate(block.values):
            if _allows(field, value):
                yield block.start + place


def meant(blocks: Sequence[NumberBlock], number: int, legal: Sequence[LegalAction], draw: Draw) -> Action | None:
    """The action of a number now; ``None`` if it has none."""
    block = next((each for each in blocks if number in each), None)
    schema = next((each.schema for each in legal if block is not None and each.type == block.type), None)
    if block is None or schema is None:
        return None
    if not block.path:
        return Action(type=block.type, data=instance_of(schema, draw))
    value = block.values[number - block.start]
    if not _allows(_at(schema, block.path), value):
        return None
    return Action(type=block.type, data=_with(schema, block.path, value, draw))


def _at(schema: JsonObject, path: Sequence[str]) -> JsonObject:
    for name in path:
        schema = schema["properties"][name]
    return schema


def _allows(schema: JsonObject, value: Any) -> bool:
    if value in schema.get("not", {}).get("enum", ()):
        return False
    if "enum" in schema:
        return value in schema["enum"]
    return value is not None and schema.get("minimum", value) <= value <= schema.get("maximum", value)


def _with(schema: JsonObject, path: Sequence[str], value: Any, draw: Draw) -> dict[str, Any]:
    """Data drawn from the schema, with ``value`` for the field at ``path``."""
    found: dict[str, Any] = {}
    for name, inner in schema["properties"].items():
        if name == path[0]:
            found[name] = value if len(path) == 1 else _with(inner, path[1:], value, draw)
        elif name in schema.get("required", ()):
            found[name] = instance_of(inner, draw)
    return found
