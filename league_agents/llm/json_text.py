"""Extract one JSON object from a model's text, validate it, and describe its errors for the model.

Rule: the text is untrusted. Its length is limited before it is parsed, and no value is used before the schema has
validated it.
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
"""End marks of a model's reasoning, which precedes the reply."""

_THOUGHTS = re.compile(r"<think(?:ing)?>")

_OPENING = re.compile(r'\{\s*["}]')
"""The beginning of an object; other braces are prose."""

_MOST_OBJECTS = 40
_MOST_COMPLAINTS = 8


def parse(text: str, schema: type[M]) -> M:
    """Return the one JSON object in a text, validated as ``schema``. A code fence or prose around it is ignored.

    Raises ``MalformedCompletion`` whose message tells the model what to change.
    """
    found = find_object(text)
    try:
        # An escape may be half of a surrogate pair: it passes as a plain ``str`` but cannot be encoded.
        json.dumps(found, ensure_ascii=False).encode()
        return schema.model_validate(found)
    except UnicodeEncodeError:
        raise MalformedCompletion(r"a text holds half of a surrogate pair, such as \ud83d alone") from None
    except ValidationError as error:
        raise MalformedCompletion(complaint(error)) from None
    except RecursionError:
        raise MalformedCompletion("the JSON object is nested too deeply") from None


def parse_beginning(text: str, schema: type[M]) -> M:
    """Return the complete items of a JSON object whose text breaks off, validated as ``schema``.

    What was still being written is left out, as are fields after it. Raises ``MalformedCompletion`` if the rest does
    not fit the schema, or holds no item of a list.
    """
    for mark in _END_OF_THOUGHTS:
        text = text.rpartition(mark)[2]
    if _THOUGHTS.search(text):
        raise MalformedCompletion("the reply broke off before the model had ended its thoughts")
    opening = _OPENING.search(text)
    if opening is None:
        raise MalformedCompletion("the reply holds no JSON object")
    closed = closed_object(text[opening.start() :])
    found = find_object(closed)
    if not any(isinstance(value, list) and value for value in found.values()):
        raise MalformedCompletion("the reply broke off before its first item")
    return parse(closed, schema)


def closed_object(text: str) -> str:
    """Return the beginning of a JSON object, cut after its last complete value and closed; an object that is whole
    comes back without the text after it.

    A value directly in the object, or an item of a list directly in it, is complete or left out: half an item may say
    the opposite of the whole one.
    """
    open_marks: list[str] = []
    is_in_text = is_escaped = False
    end, closing = 0, ""
    for place, mark in enumerate(text):
        if is_in_text:
            if is_escaped:
                is_escaped = False
            elif mark == "\\":
                is_escaped = True
            elif mark == '"':
                is_in_text = False
                if open_marks == ["}", "]"]:
                    end, closing = place + 1, "".join(reversed(open_marks))
        elif mark == '"':
            is_in_text = True
        elif mark in "{[":
            open_marks.append("}" if mark == "{" else "]")
            if len(open_marks) == 1 or (len(open_marks) == 2 and mark == "["):
                end, closing = place + 1, "".join(reversed(open_marks))
        elif mark in "}]":
            if not open_marks or open_marks[-1] != mark:
                break
            open_marks.pop()
            if not open_marks:
                return text[: place + 1]
            if len(open_marks) == 1 or open_marks == ["}", "]"]:
                end, closing = place + 1, "".join(reversed(open_marks))
        elif mark == "," and (len(open_marks) == 1 or open_marks == ["}", "]"]):
            end, closing = place, "".join(reversed(open_marks))
    return text[:end] + closing


def find_object(text: str) -> Mapping[str, object]:
    """Return the one JSON object in a text. Raises ``MalformedCompletion``."""
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
            # An object inside a broken object is not the requested one.
            where = f"{error.msg} at character {error.pos - opening.start()} of the object"
            raise MalformedCompletion(f"the reply is no valid JSON: {where}") from None
        except (ValueError, RecursionError):
            raise MalformedCompletion("the JSON holds a number or a nesting that cannot be read") from None
        if value and value not in found:
            found.append(value)
    if not found:
        raise MalformedCompletion("the reply holds no JSON object")
    # With two objects it is unknown which one is meant.
    if len(found) > 1:
        raise MalformedCompletion(f"the reply holds {len(found)} JSON objects instead of one")
    return found[0]


def complaint(error: ValidationError) -> str:
    """Describe a validation error in one line for the model."""
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
