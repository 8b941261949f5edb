"""An agent that chooses at random one of the legal actions, and data that its schema allows.

Rule: draws are seeded, so the same views give the same match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from league_agents.arena.agents.port import View
from league_agents.games.game import Action, Event, JsonObject, LegalAction
from league_agents.kit.draw import Draw

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LONGEST_DRAWN = 24
"""Longer texts are drawn only if the schema requires them."""


class RandomAgent:
    """Plays any game."""

    def __init__(self, *, seed: int | str, agent_id: str = "") -> None:
        self._draw = Draw(seed, f"random/{agent_id}")

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        return random_action(legal, self._draw)

    def observe(self, event: Event) -> None:
        """No-op: the agent keeps no memory."""

    def reset(self) -> None:
        """No-op: the agent keeps no memory."""


def random_action(legal: Sequence[LegalAction], draw: Draw) -> Action:
    """One of the legal actions with drawn data. Raises ``ValueError`` if there is none."""
    chosen = draw.choice(legal)
    if chosen.choices:
        return Action(type=chosen.type, data=draw.choice(chosen.choices))
    return Action(type=chosen.type, data=instance_of(chosen.schema, draw))


def instance_of(schema: JsonObject, draw: Draw) -> Any:
    """A value that the schema allows, for the part of JSON Schema that actions use.

    ``const``, ``enum``, ``anyOf``/``oneOf``, lists of types, objects, arrays with ``items`` or ``prefixItems``, texts,
    integers, numbers, truth values and null.
    """
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema.get("type")
    if type(kind) is not str:
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return instance_of(draw.choice(schema[several]), draw)
        kind = "object" if kind is None else draw.choice(kind)
    instance = _KINDS.get(kind)
    if instance is None:
        raise ValueError(f"cannot draw a value of type {kind}")
    return instance(schema, draw)


def _object(schema: JsonObject, draw: Draw) -> dict[str, Any]:
    required = schema.get("required", ())
    return {
        name: each["const"] if "const" in each else instance_of(each, draw)
        for name, each in schema.get("properties", _NOTHING).items()
        if name in required or draw.below(2)
    }


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
    span = most - least + 1 if least else most or 1
    # One draw yields twelve letters, and the first also the length: a draw for each letter would take most of a game's
    # time.
    word, longer = divmod(draw.below(span * _TWELVE), span)
    length = max(least, 1 if most else 0) + longer
    text = _letters(word)
    if length > len(text):
        text += text[::-1]  # saves a second draw: the text need not be meaningful
    while len(text) < length:
        text += _letters(draw.below(_TWELVE))
    return text[:length]


def _letters(word: int) -> str:
    word, first = divmod(word, _THREE)
    word, second = divmod(word, _THREE)
    word, third = divmod(word, _THREE)
    return _TRIPLES[first] + _TRIPLES[second] + _TRIPLES[third] + _TRIPLES[word]


def _integer(schema: JsonObject, draw: Draw) -> int:
    least: int = schema.get("minimum", 0)
    return least + draw.below(schema.get("maximum", least + 100) - least + 1)


def _number(schema: JsonObject, draw: Draw) -> float:
    low: float = schema.get("minimum", 0)
    high: float = schema.get("maximum", low + 1)
    return low + draw.fraction() * (high - low)


_NOTHING: Mapping[str, JsonObject] = {}
_THREE, _TWELVE = 26**3, 26**12
_TRIPLES = tuple(a + b + c for a in _LETTERS for b in _LETTERS for c in _LETTERS)
_KINDS: Mapping[str, Callable[[JsonObject, Draw], Any]] = {
    "object": _object,
    "array": _array,
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": lambda _schema, draw: draw.below(2) == 1,
    "null": lambda _schema, _draw: None,
}
