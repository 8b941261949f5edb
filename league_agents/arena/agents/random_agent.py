"""An agent that does anything legal: one of the legal actions, and any data that its schema allows.

Rule: draws are seeded, so the same views give the same match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from league_agents.arena.agents.port import View
from league_agents.core.draw import Draw
from league_agents.core.game import Action, Event, JsonObject, LegalAction

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LONGEST_DRAWN = 24
"""Longer texts than this are drawn only where the schema demands them."""


class RandomAgent:
    """Plays any game."""

    def __init__(self, *, seed: int | str, agent_id: str = "") -> None:
        self._draw = Draw(seed, f"random/{agent_id}")

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        return random_action(legal, self._draw)

    def observe(self, event: Event) -> None:
        """Nothing is remembered."""

    def reset(self) -> None:
        """There is nothing to forget."""


def random_action(legal: Sequence[LegalAction], draw: Draw) -> Action:
    """One of the legal actions with drawn data. Raises ``ValueError`` when nothing is legal."""
    chosen = draw.choice(legal)
    if chosen.choices:
        return Action(type=chosen.type, data=draw.choice(chosen.choices))
    return Action(type=chosen.type, data=instance_of(chosen.schema, draw))


def instance_of(schema: JsonObject, draw: Draw) -> Any:
    """A value that the schema allows: of the part of JSON Schema that actions use.

    ``const``, ``enum``, ``anyOf``/``oneOf``, lists of types, objects, arrays with ``items`` or ``prefixItems``, texts,
    integers, numbers, truth values and null.
    """
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return instance_of(draw.choice(schema[several]), draw)
    kind = schema.get("type", "object")
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        kind = draw.choice(kind)
    if kind == "object":
        return _object(schema, draw)
    if kind == "array":
        return _array(schema, draw)
    if kind == "string":
        return _text(schema, draw)
    if kind == "integer":
        least = schema.get("minimum", 0)
        return least + draw.below(schema.get("maximum", least + 100) - least + 1)
    if kind == "number":
        low = schema.get("minimum", 0)
        return low + draw.fraction() * (schema.get("maximum", low + 1) - low)
    if kind == "boolean":
        return draw.below(2) == 1
    if kind == "null":
        return None
    raise ValueError(f"cannot draw a value of type {kind}")


def _object(schema: JsonObject, draw: Draw) -> dict[str, Any]:
    required = schema.get("required", ())
    properties: Mapping[str, JsonObject] = schema.get("properties", {})
    return {name: instance_of(each, draw) for name, each in properties.items() if name in required or draw.below(2)}


def _array(schema: JsonObject, draw: Draw) -> list[Any]:
    found = [instance_of(each, draw) for each in schema.get("prefixItems", ())]
    items = schema.get("items")
    if isinstance(items, Mapping):
        least = schema.get("minItems", 0)
        count = least + draw.below(min(schema.get("maxItems", least + 3), least + 3) - least + 1)
        found += [instance_of(items, draw) for _ in range(count - len(found))]
    return found


def _text(schema: JsonObject, draw: Draw) -> str:
    least = schema.get("minLength", 0)
    most = max(least, min(schema.get("maxLength", _LONGEST_DRAWN), _LONGEST_DRAWN))
    length = max(least, 1 if most else 0) + draw.below(most - least + 1 if least else most or 1)
    # Thirteen letters to a word of the draw: one draw for each letter would be most of a game's time.
    letters: list[str] = []
    while len(letters) < length:
        word = draw.below(26**13)
        for _ in range(min(13, length - len(letters))):
            word, place = divmod(word, 26)
            letters.append(_LETTERS[place])
    return "".join(letters)
