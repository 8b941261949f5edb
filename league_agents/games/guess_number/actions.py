"""The actions of guess number and their schemas (arena 5.1): loose ones for the game, exact ones for one decision."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from league_agents.games.game import JsonObject, LegalAction
from league_agents.games.guess_number.config import MOST_CHOICES
from league_agents.games.guess_number.messages import LONGEST_TEXT
from league_agents.games.guess_number.protocol import GUESS_NUMBER_PROTOCOL, PROPOSAL, STATE_REPORT
from league_agents.kit.frozen import FrozenDict, frozen

PASS: Final = "pass"  # noqa: S105  # a move, no password
GUESS: Final = "guess"

MOST_LISTED: Final = 100
"""Every legal guess is listed up to this many numbers."""

MOST_NAMED: Final = 1000
"""Up to this many numbers, a schema lists the remaining ones when known-wrong numbers are refused."""


def message_properties(num_choices: int, type_: str) -> dict[str, Any]:
    """Return the schemas of a message's fields, except for sender and step."""
    number = {"type": "integer", "minimum": 0, "maximum": num_choices - 1}
    content = {
        "current_guess": number,
        "is_correct": {"type": "boolean"},
        "guess_history": {"type": "array", "items": number},
        "feedback_history": {"type": "array", "items": {"type": "boolean"}},
    }
    text = {"type": "string", "maxLength": LONGEST_TEXT}
    if type_ == STATE_REPORT:
        return {
            "next_guess": number,
            "content": {"type": "object", "properties": content},
            "reasoning": text,
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        }
    return {"content": {"type": "object", "properties": {"next_guess": number, **content}}, "rationale": text}


def _message_schema(type_: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(GUESS_NUMBER_PROTOCOL.message_type(type_).required),
        "properties": {
            "sender": {"type": "string", "minLength": 1, "maxLength": 64},
            "type": {"const": type_},
            "timestamp": {"type": "integer", "minimum": 0},
            **message_properties(MOST_CHOICES, type_),
        },
    }


PASS_SCHEMA: Final = frozen({"type": "object", "additionalProperties": False})

ACTION_SCHEMAS: Final[Mapping[str, JsonObject]] = frozen(
    {
        STATE_REPORT: _message_schema(STATE_REPORT),
        PROPOSAL: _message_schema(PROPOSAL),
        PASS: PASS_SCHEMA,
        GUESS: {
            "type": "object",
            "required": ["guess"],
            "additionalProperties": False,
            "properties": {"guess": {"type": "integer", "minimum": 0, "maximum": MOST_CHOICES - 1}},
        },
    }
)

_LEGAL_PASS: Final = LegalAction(type=PASS, schema=PASS_SCHEMA, choices=(FrozenDict(),))


def legal_message(type_: str, agent: str, step: int, num_choices: int) -> LegalAction:
    """Return a report or a proposal of one agent at one step as a legal action."""
    required, fixed = _fixed_parts(type_, num_choices)
    properties = FrozenDict({"sender": FrozenDict(const=agent), "timestamp": FrozenDict(const=step), **fixed})
    return LegalAction(type=type_, schema=FrozenDict(type="object", required=required, properties=properties))


def legal_reasoning(agent: str, step: int, num_choices: int) -> tuple[LegalAction, ...]:
    """Return the legal actions of the reasoning phase: a proposal, or a pass."""
    return (legal_message(PROPOSAL, agent, step, num_choices), _LEGAL_PASS)


@lru_cache(maxsize=64)
def _fixed_parts(type_: str, num_choices: int) -> tuple[Any, dict[str, Any]]:
    required = frozen(GUESS_NUMBER_PROTOCOL.message_type(type_).required)
    return required, dict(frozen({"type": {"const": type_}, **message_properties(num_choices, type_)}))


@lru_cache(maxsize=64)
def legal_guess(num_choices: int) -> LegalAction:
    """Return a guess of any number as a legal action."""
    listed = None
    if num_choices <= MOST_LISTED:
        listed = tuple([FrozenDict(guess=number) for number in range(num_choices)])
    return LegalAction(
        type=GUESS,
        schema=_guess_schema({"type": "integer", "minimum": 0, "maximum": num_choices - 1}),
        choices=listed,
    )


def legal_guess_without(refused: frozenset[int], num_choices: int) -> LegalAction:
    """Return a guess of any number except ``refused`` as a legal action."""
    if not refused:
        return legal_guess(num_choices)
    if num_choices > MOST_NAMED:
        number = {"type": "integer", "minimum": 0, "maximum": num_choices - 1, "not": {"enum": sorted(refused)}}
        return LegalAction(type=GUESS, schema=_guess_schema(number))
    left = [number for number in range(num_choices) if number not in refused]
    listed = tuple([FrozenDict(guess=number) for number in left]) if num_choices <= MOST_LISTED else None
    return LegalAction(type=GUESS, schema=_guess_schema({"type": "integer", "enum": left}), choices=listed)


def _guess_schema(number: Mapping[str, Any]) -> JsonObject:
    schema: JsonObject = frozen(
        {"type": "object", "required": ["guess"], "additionalProperties": False, "properties": {"guess": number}}
    )
    return schema
