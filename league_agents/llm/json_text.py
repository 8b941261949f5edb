"""JSON that a model wrote: one object out of a text, checked, and what is wrong with it in words for the model.

Rule: the text is a stranger's. It is bounded before it is read, and nothing that it says is believed before the schema
holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from league_agents.kit.errors import MalformedCompletion
from league_agents.kit.printable import printable
from league_agents.llm.exchange import LARGEST_REPLY

M = TypeVar("M", bound=BaseModel)

_END_OF_THOUGHTS = ("</think>", "</thinking>")
"""What stands before is what a model said to itself."""

_OPENING = re.compile(r'\{\s*["}]')
"""How an object begins; other braces are prose."""

_MOST_OBJECTS = 40
_MOST_COMPLAINTS = 8


def parse(text: str, schema: type[M]) -> M:
    """The one JSON object in a text, as ``schema`` says. A code fence or prose around it does not matter.

    Raises ``MalformedCompletion`` whose message tells a model what to change.
    """
    found = find_object(text)
    try:
        # An escape may be half of a surrogate pair: such a text passes as a plain ``str`` and can be written nowhere.
        json.dumps(found, ensure_ascii=False).encode()
        return schema.model_validate(found)
    except UnicodeEncodeError:
        raise MalformedCompletion(r"a text holds half of a surrogate pair, such as \ud83d alone") from None
    except ValidationError as error:
        raise MalformedCompletion(complaint(error)) from None
    except RecursionError:
        raise MalformedCompletion("the JSON object is nested too deeply") from None


def find_object(text: str) -> Mapping[str, object]:
    """The one JSON object in a text. Raises ``MalformedCompletion``."""
    if len(text) > LARGEST_REPLY:
        raise MalformedCompletion(f"the reply has more than {LARGEST_REPLY} characters")
    for mark in _END_OF_THOUGHTS:
        text = text.rpartition(mark)[2]
    decoder = json.JSONDecoder(parse_constant=_no_number)
    found: list[Mapping[str, object]] = []
    place = 0
    while len(found) < _MOST_OBJECTS and (opening := _OPENING.search(text, place)):
        try:
            value, place = decoder.raw_decode(text, opening.start())
        except json.JSONDecodeError as error:
            # What stands inside of a broken object is not what was asked for.
            where = f"{error.msg} at character {error.pos - opening.start()} of the object"
            raise MalformedCompletion(f"the reply is no valid JSON: {where}") from None
        except (ValueError, RecursionError):
            raise MalformedCompletion("the JSON holds a number or a nesting that cannot be read") from None
        if value and value not in found:
            found.append(value)
    if not found:
        raise MalformedCompletion("the reply holds no JSON object")
    # Of two nobody knows which one is meant.
    if len(found) > 1:
        raise MalformedCompletion(f"the reply holds {len(found)} JSON objects instead of one")
    return found[0]


def complaint(error: ValidationError) -> str:
    """What is wrong with a value, in one line for the model that wrote it."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    said = [
        f"{printable('.'.join(str(part) for part in each['loc']) or 'the object', 80)}: {printable(each['msg'], 160)}"
        for each in errors[:_MOST_COMPLAINTS]
    ]
    if len(errors) > len(said):
        said.append(f"and {len(errors) - len(said)} more")
    return "; ".join(said)


def _no_number(name: str) -> float:
    raise ValueError(name)
