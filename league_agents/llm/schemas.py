"""JSON Schemas in the dialects of the services: none accepts all that pydantic writes.

Rule: a schema is reduced for the service only. The reply is validated against the whole schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from league_agents.llm.exchange import Schema

_BOUNDS = {"minimum": "at least", "maximum": "at most", "minItems": "items at least", "maxItems": "items at most"}
"""Limits that OpenAI's strict mode accepts, in words for a service that accepts none."""

_STRICT_KEYS = (
    *("type", "properties", "required", "items", "enum", "const", "anyOf", "$ref", "description"),
    *_BOUNDS,
)
_GEMINI_KEYS = (
    *("type", "format", "description", "nullable", "enum", "items", "properties", "required", "anyOf"),
    *_BOUNDS,
)
_GEMINI_FORMATS = ("float", "double", "int32", "int64", "enum", "date-time")
_DEEPEST = 12


class Form(IntEnum):
    """How a JSON object is requested from a service, the strictest way first."""

    SCHEMA = 0
    """The service enforces the schema itself."""
    OBJECT = 1
    """The service enforces JSON; the schema is in the prompt."""
    PLAIN = 2
    """The schema is in the prompt only."""


def strict_schema(schema: Schema) -> dict[str, Any] | None:
    """Return the schema for OpenAI's strict mode: closed objects, every property required, no limits of texts.

    ``None`` for a schema that strict mode cannot express, such as one with a free mapping.
    """
    try:
        found = _strict(schema.document)
        definitions = schema.document.get("$defs")
        if isinstance(definitions, Mapping):
            found["$defs"] = {name: _strict(each) for name, each in definitions.items()}
    except _CannotSay:
        return None
    return found


def unbounded_schema(schema: Schema) -> dict[str, Any] | None:
    """Return the schema for Anthropic's output format: as in OpenAI's strict mode, and bounds in words, because the
    service accepts none. ``None`` for a schema that it cannot express."""
    found = strict_schema(schema)
    return None if found is None else _bounds_in_words(found)


def plain_schema(schema: Schema) -> dict[str, Any] | None:
    """Return the schema for Gemini: no references, no defaults, ``nullable`` for null. ``None`` for a recursive one."""
    definitions = schema.document.get("$defs")
    try:
        return _plain(schema.document, definitions if isinstance(definitions, Mapping) else {}, 0)
    except _CannotSay:
        return None


def name_of(schema: Schema) -> str:
    """Return the schema's name, reduced to the characters that services accept."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", schema.name).strip("_")[:60] or "reply"


def in_words(schema: Schema) -> str:
    """Return the instruction for a service without schemas."""
    form = json.dumps(schema.document, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else, valid under this JSON Schema: {form}"


def _bounds_in_words(node: Any) -> Any:
    if isinstance(node, list):
        return [_bounds_in_words(each) for each in node]
    if not isinstance(node, Mapping):
        return node
    bounds = ", ".join(f"{_BOUNDS[key]} {node[key]}" for key in _BOUNDS if isinstance(node.get(key), int | float))
    # The names under ``properties`` and ``$defs`` are fields and types, so one may be called like a bound.
    found = {
        key: {name: _bounds_in_words(each) for name, each in value.items()}
        if key in ("properties", "$defs")
        else _bounds_in_words(value)
        for key, value in node.items()
        if key not in _BOUNDS
    }
    if bounds:
        said = f"{node['description']}; " if node.get("description") else ""
        found["description"] = f"{said}{bounds}"
    return found


class _CannotSay(Exception):
    pass


def _strict(document: object) -> dict[str, Any]:
    if not isinstance(document, Mapping):
        raise _CannotSay
    found: dict[str, Any] = {key: document[key] for key in _STRICT_KEYS if key in document}
    if "anyOf" in found:
        found["anyOf"] = [_strict(each) for each in found["anyOf"]]
    if "items" in found:
        found["items"] = _strict(found["items"])
    if document.get("type") == "object":
        properties = document.get("properties")
        if not isinstance(properties, Mapping) or isinstance(document.get("additionalProperties"), Mapping):
            raise _CannotSay
        found["properties"] = {name: _strict(each) for name, each in properties.items()}
        found["required"] = list(properties)
        found["additionalProperties"] = False
    if not {"type", "enum", "const", "anyOf", "$ref"} & found.keys() or ("prefixItems" in document):
        raise _CannotSay
    return found


def _plain(document: object, definitions: Mapping[str, object], depth: int) -> dict[str, Any]:
    if not isinstance(document, Mapping) or depth > _DEEPEST or "prefixItems" in document:
        raise _CannotSay
    reference = document.get("$ref")
    if isinstance(reference, str):
        return _plain(definitions.get(reference.rpartition("/")[2]), definitions, depth + 1)
    found: dict[str, Any] = {key: document[key] for key in _GEMINI_KEYS if key in document}
    if "const" in document:
        found["enum"] = [document["const"]]
        found.setdefault("type", "string")
    if "enum" in found and not all(isinstance(each, str) for each in found["enum"]):
        del found["enum"]
    if found.get("format") not in _GEMINI_FORMATS:
        found.pop("format", None)
    if "anyOf" in found:
        kinds = [each for each in found.pop("anyOf") if each != {"type": "null"}]
        if len(kinds) != 1:
            raise _CannotSay
        found = {**found, **_plain(kinds[0], definitions, depth + 1), "nullable": True}
    if "items" in found:
        found["items"] = _plain(found["items"], definitions, depth + 1)
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {name: _plain(each, definitions, depth + 1) for name, each in found["properties"].items()}
    if "type" not in found or (found["type"] == "object" and not found.get("properties")):
        raise _CannotSay
    return found
