"""A mapping from the action numbers of PettingZoo to the actions of a game.

Every action type of the game has a block of numbers, in the order of ``action_schemas``:

* one with a field that decides and has few values (a vote, a guess, a price) has one number for each value; other
  fields that are needed are drawn from their schema;
* one without fields has one number;
* any other (a description, a batch of questions) has ``CANDIDATES`` numbers, each a candidate drawn from the schema.

Rule: the action depends only on the match's seed, the decision and the number, so a seed repeats a match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from league_agents.arena.agents.random_agent import instance_of
from league_agents.games.declaration import GameDeclaration
from league_agents.games.game import Action, JsonObject, LegalAction
from league_agents.games.registry import part_of
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match

CANDIDATES: Final = 16
MOST_VALUES: Final = 1000
"""A field with more values is drawn too."""


class NumberSpace(spaces.Discrete[np.int64]):
    """``Discrete`` whose masked sample is the same number for a third of the time."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        if probability is not None or not isinstance(mask, np.ndarray) or mask.dtype != np.int8:
            return super().sample(mask, probability)
        allowed = mask.nonzero()[0]
        if mask.shape != (self.n,) or not len(allowed):
            return super().sample(mask)
        return np.int64(self.start + allowed[self.np_random.integers(len(allowed))])


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberBlock:
    """The numbers of one action type."""

    type: str
    start: int
    length: int
    path: tuple[str, ...] = ()
    """Path of the field that the number decides; empty for candidates."""

    values: Sequence[Any] = ()
    """The value of the field for each number. A ``range`` stays one: its legal part is found without a loop."""


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
            path, values = (field.path, values) if len(values) <= MOST_VALUES else ((), ())
        length = len(values) or (CANDIDATES if schema.get("properties") else 1)
        found.append(NumberBlock(type=kind, start=start, length=length, path=path, values=values))
        start += length
    return tuple(found)


def legal_mask(blocks: Sequence[NumberBlock], legal: Sequence[LegalAction]) -> np.ndarray[Any, np.dtype[np.int8]]:
    """1 for each number that has a legal action now, 0 for the others."""
    mask = np.zeros(blocks[-1].start + blocks[-1].length, np.int8)
    for each in legal:
        for block in blocks:
            if block.type != each.type:
                continue
            part = mask[block.start : block.start + block.length]
            if block.path:
                _mark(part, block.values, _at(each.schema, block.path))
            else:
                part.fill(1)
    return mask


def meant(blocks: Sequence[NumberBlock], number: int, legal: Sequence[LegalAction], draw: Draw) -> Action | None:
    """The action of a number now; ``None`` if it has none."""
    for block in blocks:
        if block.start <= number < block.start + block.length:
            break
    else:
        return None
    for each in legal:
        if each.type == block.type:
            break
    else:
        return None
    if not block.path:
        return Action(type=block.type, data=instance_of(each.schema, draw))
    value = block.values[number - block.start]
    if not _allows(_at(each.schema, block.path), value):
        return None
    return Action(type=block.type, data=_with(each.schema, block.path, value, draw))


def _at(schema: JsonObject, path: Sequence[str]) -> JsonObject:
    for name in path:
        schema = schema["properties"][name]
    return schema


def _mark(part: np.ndarray[Any, np.dtype[np.int8]], values: Sequence[Any], schema: JsonObject) -> None:
    """Set 1 for each value that the schema allows."""
    if "enum" in schema and "not" not in schema:
        allowed = schema["enum"]
        part[:] = [value in allowed for value in values]
        return
    if "enum" in schema or not isinstance(values, range) or values.step != 1:
        part[:] = [_allows(schema, value) for value in values]
        return
    least, most = schema.get("minimum", values.start), schema.get("maximum", values.stop - 1)
    part[max(ceil(least) - values.start, 0) : max(floor(most) - values.start + 1, 0)] = 1
    for value in schema.get("not", {}).get("enum", ()):
        if value in values:
            part[values.index(value)] = 0


def _allows(schema: JsonObject, value: Any) -> bool:
    if "not" in schema and value in schema["not"].get("enum", ()):
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
