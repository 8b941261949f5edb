"""What an agent asks for, read from an envelope.

Rule: checks run in the order of arena 5.2: size, JSON, envelope, version. Whatever fails, the sender is told with as
much of its own heading as could be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from league_agents.arena.protocol.json_text import read_object
from league_agents.arena.protocol.refusals import (
    PROTOCOL_VERSION,
    Refused,
    invalid_envelope,
    same_major,
    unsupported_version,
)
from league_agents.arena.protocol.shape_check import Fault, faults_of
from league_agents.arena.protocol.shapes import REQUESTS, SHAPES
from league_agents.games.game import Action, JsonObject
from league_agents.kit.errors import shortened

_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


class RequestHeading(Struct, frozen=True, kw_only=True):
    """The fields that every answer repeats. ``""`` for what the request did not say, or said in no usable form."""

    type: str = ""
    game: str = ""
    match_id: str = ""
    agent_id: str = ""
    request_id: str | None = None


class GetState(Struct, frozen=True, kw_only=True):
    """An agent asks where its match stands."""

    heading: RequestHeading
    version: str
    """The game's version that the asker speaks."""


class PerformAction(Struct, frozen=True, kw_only=True):
    """An agent acts."""

    heading: RequestHeading
    action: Action


class SeatWanted(Struct, frozen=True, kw_only=True):
    """One seat of a match that is to be opened."""

    agent_id: str
    agent: str | None = None
    """The server's agent that plays there; ``None``: the seat is open."""

    name: str = ""
    """For people; empty = the id."""


class CreateMatch(Struct, frozen=True, kw_only=True):
    """An agent opens a match."""

    heading: RequestHeading
    version: str
    """The game's version that the asker speaks."""

    config: JsonObject = msgspec.field(default_factory=dict)
    seats: tuple[SeatWanted, ...] | None = None
    """``None`` leaves them to the server."""


class GetMatches(Struct, frozen=True, kw_only=True):
    """An agent asks which matches there are."""

    heading: RequestHeading


class Authenticate(Struct, frozen=True, kw_only=True):
    """Whoever opened a WebSocket shows a token."""

    heading: RequestHeading
    """What is empty in it is for the token to say."""

    token: str
    after: int | None = None
    """Pushes with higher numbers are wanted again; ``None``: none of the former ones."""


Request = GetState | PerformAction | CreateMatch | GetMatches


class RefusedRequest(Exception):
    """A text is no request."""

    def __init__(self, refused: Refused, heading: RequestHeading) -> None:
        super().__init__(refused.message)
        self.refused = refused
        self.heading = heading


def read_request(text: str | bytes | bytearray | Mapping[str, Any]) -> Request:
    """The request that a text or an envelope holds. Raises ``RefusedRequest``."""
    try:
        fields = read_object(text)
    except Refused as refused:
        raise RefusedRequest(refused, RequestHeading()) from None
    heading = heading_of(fields)
    try:
        _check(fields)
    except Refused as refused:
        raise RefusedRequest(refused, heading) from None
    return _request(fields, heading)


def heading_of(fields: Mapping[str, Any]) -> RequestHeading:
    """As much of a heading as is usable."""

    def name(key: str) -> str:
        value = fields.get(key)
        return value if isinstance(value, str) and _NAME.fullmatch(value) else ""

    request_id = fields.get("request_id")
    return RequestHeading(
        type=name("type"),
        game=name("game"),
        match_id=name("match_id"),
        agent_id=name("agent_id"),
        request_id=request_id if isinstance(request_id, str) and 1 <= len(request_id) <= 64 else None,
    )


def read_authentication(fields: Mapping[str, Any]) -> Authenticate:
    """The frame that shows a token. Core fields that it leaves out are empty. Raises ``RefusedRequest``."""
    whole = {"version": PROTOCOL_VERSION, "game": "", "match_id": "", "agent_id": "", **fields}
    heading = heading_of(whole)
    try:
        _check_shape(whole)
        _check_version(whole)
    except Refused as refused:
        raise RefusedRequest(refused, heading) from None
    after = whole.get("after")
    return Authenticate(heading=heading, token=whole["token"], after=None if after is None else int(after))


def check_message(fields: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with a message of any type, from an agent or from a server; nothing for a right one."""
    kind = fields.get("type")
    shape = SHAPES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        return [{"path": "/type", "code": "wrong_value", "message": f"must be one of {', '.join(SHAPES)}"}]
    return faults_of(dict(fields), shape)


def _check(fields: dict[str, Any]) -> None:
    kind = fields.get("type")
    if isinstance(kind, str) and kind not in REQUESTS:
        raise Refused(
            "unknown_type",
            f"{shortened(repr(kind), 80)} is no request; send one of {', '.join(REQUESTS)}",
            {"supported": list(REQUESTS)},
        )
    if not isinstance(kind, str):
        code, message = ("wrong_type", "must be a text") if "type" in fields else ("missing_field", "is missing")
        raise invalid_envelope([{"path": "/type", "code": code, "message": message}])
    _check_shape(fields)
    _check_version(fields)


def _check_shape(fields: dict[str, Any]) -> None:
    faults = faults_of(fields, SHAPES[fields["type"]])
    if faults:
        raise invalid_envelope(faults)


def _check_version(fields: Mapping[str, Any]) -> None:
    if not same_major(fields["version"], PROTOCOL_VERSION):
        raise unsupported_version(fields["version"])


def _seat(given: str | Mapping[str, Any]) -> SeatWanted:
    if isinstance(given, str):
        return SeatWanted(agent_id=given)
    return SeatWanted(agent_id=given["id"], agent=given["agent"], name=given.get("name", ""))


def _request(fields: dict[str, Any], heading: RequestHeading) -> Request:
    kind = heading.type
    if kind == "perform_action":
        action = fields["action"]
        return PerformAction(
            heading=heading, action=Action(type=action["type"], data=action["data"], version=action["version"])
        )
    if kind == "get_state":
        return GetState(heading=heading, version=fields["state"]["version"])
    if kind == "create_match":
        wanted = fields["settings"]["data"]
        agents = wanted.get("agents")
        return CreateMatch(
            heading=heading,
            version=fields["settings"]["version"],
            config=wanted.get("config", {}),
            seats=None if agents is None else tuple([_seat(each) for each in agents]),
        )
    return GetMatches(heading=heading)
