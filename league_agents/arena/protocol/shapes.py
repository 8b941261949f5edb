"""The JSON Schema (2020-12) of every message, for the checks here and for peers in any language.

Rule 1: ``schemas/1.0.0`` holds the output of ``schema_documents``, byte for byte; a test compares them.
Rule 2: a message has no field that its schema does not name. Fields of a game belong in an open ``data``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from league_agents.arena.protocol.refusals import PROTOCOL_VERSION
from league_agents.arena.protocol.shape_check import Schema
from league_agents.games.game import Game

REQUESTS: Final = ("get_state", "perform_action", "create_match", "get_matches")
"""Message types that an agent sends."""

ANSWERS: Final = (
    "get_state_response",
    "perform_action_response",
    "create_match_response",
    "get_matches_response",
    "push_message",
    "error",
)
"""Message types that a server sends."""

HANDSHAKE: Final = ("authenticate", "authenticated")
"""Frames that authenticate a WebSocket. They are not requests, so HTTP and mail do not use them."""

_NAME: Schema = {
    "type": "string",
    "pattern": "^[A-Za-z0-9_.:-]{1,64}$",
    "description": "1 to 64 of A-Z a-z 0-9 _ . : -",
}
_NAME_OR_NONE: Schema = {
    "type": "string",
    "pattern": "^[A-Za-z0-9_.:-]{0,64}$",
    "description": "a name, or nothing where the request did not say it",
}
_VERSION: Schema = {
    "type": "string",
    "pattern": "^[0-9]{1,9}\\.[0-9]{1,9}\\.[0-9]{1,9}$",
    "description": "three numbers, such as 1.0.0",
}
_INSTANT: Schema = {
    "type": "string",
    "format": "date-time",
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z$",
    "description": "an instant in UTC, such as 2025-05-05T10:00:00Z",
}
_INSTANT_OR_NULL: Schema = {**_INSTANT, "type": ["string", "null"]}
_REQUEST_ID: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 64,
    "description": "of the sender's choice; the answer carries the same one, and only then",
}
_TEXT: Schema = {"type": "string"}
_DATA: Schema = {"type": "object", "description": "what the game says"}
_STATUS: Schema = {"type": "string", "enum": ["waiting", "started", "ended", "abandoned"]}
_AGENT: Schema = {
    "type": "object",
    "required": ["id", "name", "type"],
    "properties": {"id": _NAME, "name": _TEXT, "type": {"type": "string", "enum": ["human", "ai"]}},
    "additionalProperties": False,
}
_AGENTS: Schema = {"type": "array", "items": _AGENT}


def _closed(properties: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [name for name in properties if name not in set(optional)],
        "properties": dict(properties),
        "additionalProperties": False,
    }


_EVERY = ("game", "match_id", "agent_id")


def _message(
    kind: str,
    told: str,
    own: Mapping[str, Schema],
    *,
    core: tuple[str, ...] = _EVERY,
    core_shape: Schema = _NAME,
    optional: tuple[str, ...] = (),
    with_request_id: bool = True,
) -> Schema:
    properties: dict[str, Schema] = {"version": _VERSION, "type": {"type": "string", "const": kind}}
    properties |= dict.fromkeys(core, core_shape)
    if with_request_id:
        properties["request_id"] = _REQUEST_ID
    return {"description": told, **_closed({**properties, **own}, optional=("request_id", *optional))}


_SEAT: Schema = {
    **_closed({"id": _NAME, "agent": _NAME, "name": {"type": "string", "maxLength": 64}}, optional=("name",)),
    "type": ["string", "object"],
    "pattern": _NAME["pattern"],
    "description": "the id of an open seat, or a seat and the server's agent that plays there",
}

SHAPES: Final[Mapping[str, Schema]] = {
    "get_state": _message(
        "get_state",
        "An agent asks where its match stands.",
        {"state": _closed({"version": _VERSION})},
    ),
    "perform_action": _message(
        "perform_action",
        "An agent acts.",
        {"action": _closed({"version": _VERSION, "type": _NAME, "data": _DATA})},
    ),
    "authenticate": _message(
        "authenticate",
        "Whoever opened a WebSocket shows a token. What the token says need not be said: it may be empty here.",
        {
            "token": {"type": "string"},
            "after": {
                "type": "integer",
                "minimum": 0,
                "maximum": 2**53,
                "description": "the number of a push; later ones are sent again",
            },
        },
        core_shape=_NAME_OR_NONE,
        optional=("after",),
    ),
    "authenticated": _message(
        "authenticated",
        "The token opens this seat, or with no match this account.",
        {"now": _INSTANT},
        core_shape=_NAME_OR_NONE,
    ),
    "create_match": _message(
        "create_match",
        "An agent opens a match and takes a seat of it.",
        {
            "settings": _closed(
                {
                    "version": _VERSION,
                    "data": _closed(
                        {
                            "config": {"type": "object", "description": "the game's configuration"},
                            "agents": {
                                "type": "array",
                                "items": _SEAT,
                                "minItems": 1,
                                "maxItems": 64,
                                "description": "all seats; the sender's own must be among them",
                            },
                        },
                        optional=("config", "agents"),
                    ),
                }
            )
        },
        core=("game", "agent_id"),
    ),
    "get_matches": _message("get_matches", "An agent asks which matches there are.", {}, core=("agent_id",)),
    "get_state_response": _message(
        "get_state_response",
        "Where a match stands, as the asker may know it.",
        {
            "status": _STATUS,
            "phase": _TEXT,
            "turn": {"type": "integer", "minimum": 0, "description": "0 while the match waits"},
            "stage": {"type": "string", "description": "the asker's own: what it may do in this phase"},
            "started_at": _INSTANT_OR_NULL,
            "ended_at": _INSTANT_OR_NULL,
            "active_agent_id": {
                "type": ["string", "null"],
                "maxLength": 64,
                "description": "the asker if it owes an action, else the first agent that does, else null",
            },
            "agents": _AGENTS,
            "winners": {"type": "array", "items": _NAME},
            "state": _closed(
                {
                    "version": _VERSION,
                    "data": {
                        "type": "object",
                        "properties": {
                            "seq": {
                                "type": "integer",
                                "minimum": 0,
                                "description": "the last push that is in the view; later ones have higher numbers",
                            },
                            "active_agent_ids": {"type": "array", "items": _NAME},
                            "deadline": _INSTANT_OR_NULL,
                            "legal": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "required": ["type", "schema"],
                                    "properties": {
                                        "type": _NAME,
                                        "schema": {"type": "object"},
                                        "choices": {"type": "array", "items": {"type": "object"}},
                                    },
                                    "additionalProperties": False,
                                },
                            },
                            "rules": _TEXT,
                            "view": {"type": "object"},
                        },
                    },
                }
            ),
        },
        optional=("winners",),
    ),
    "perform_action_response": _message(
        "perform_action_response",
        "The action is taken, or the game's rules forbid it.",
        {
            "action_response": _closed(
                {
                    "version": _VERSION,
                    "status": {"type": "string", "enum": ["success", "error"]},
                    "message": _TEXT,
                    "data": {
                        "type": "object",
                        "properties": {
                            "seq": {"type": "integer", "minimum": 0},
                            "code": {"type": "string"},
                            "attempts_left": {"type": "integer", "minimum": 0},
                        },
                    },
                }
            )
        },
    ),
    "create_match_response": _message("create_match_response", "The match is open and waits for agents.", {}),
    "get_matches_response": _message(
        "get_matches_response",
        "The matches that the asker may know of.",
        {
            "matches": {
                "type": "array",
                "items": _closed(
                    {
                        "match_id": _NAME,
                        "game": _NAME,
                        "status": _STATUS,
                        "agents": _AGENTS,
                        "seats": {"type": "integer", "minimum": 1},
                        "open_seats": {"type": "integer", "minimum": 0},
                        "created_at": _INSTANT,
                    }
                ),
            }
        },
        core=("agent_id",),
    ),
    "push_message": _message(
        "push_message",
        "Something happened that the recipient may know.",
        {
            "message_response": _closed(
                {
                    "version": _VERSION,
                    "message": _TEXT,
                    "data": {
                        "type": "object",
                        "properties": {
                            "seq": {"type": "integer", "minimum": 1},
                            "event": {"type": "string"},
                        },
                    },
                }
            )
        },
        with_request_id=False,
    ),
    "error": _message(
        "error",
        "The request is refused before any game saw it.",
        {
            "error": _closed(
                {
                    "version": _VERSION,
                    "message": _TEXT,
                    "data": {
                        "type": "object",
                        "properties": {"code": {"type": "string"}, "request_type": {"type": "string"}},
                    },
                }
            )
        },
        core_shape=_NAME_OR_NONE,
    ),
}
"""Message type -> its JSON Schema."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_documents(games: Iterable[Game[Any]]) -> dict[str, str]:
    """File name -> JSON text: one document for each message type, and one for the data of each action of the games."""
    found = {kind: {"title": kind, **shape} for kind, shape in SHAPES.items()}
    for game in games:
        for action, shape in game.action_schemas.items():
            found[f"action.{game.code}.{action}"] = {
                "title": f"{game.code} {game.version}: the data of the action {action}",
                **shape,
            }
    return {
        f"{name}.json": json.dumps(
            {"$schema": _DIALECT, "$id": f"urn:boardgame-protocol:{PROTOCOL_VERSION}:{name}", **document},
            ensure_ascii=False,
            indent=2,
        )
        + "\n"
        for name, document in found.items()
    }
