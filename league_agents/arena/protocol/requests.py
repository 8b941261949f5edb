"""An agent's requests, read from envelopes.

Rule: checks run in the order of arena 5.2: size, JSON, envelope, version. If one fails, the answer repeats as much of
the sender's heading as could be read.
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
    """The fields that every answer repeats; ``""`` for a field that the request lacks or that is unusable."""

    type: str = ""
    game: str = ""
    match_id: str = ""
    agent_id: str = ""
    request_id: str | None = None


class GetState(Struct, frozen=True, kw_only=True):
    """A request for the state of a match."""

    heading: RequestHeading
    version: str
    """The game version that the sender supports."""


class PerformAction(Struct, frozen=True, kw_only=True):
    """A request to take an action."""

    heading: RequestHeading
    action: Action


class SeatWanted(Struct, frozen=True, kw_only=True):
    """One seat of a match to be created."""

    agent_id: str
    agent: str | None = None
    """The server's agent that plays there; ``None`` leaves the seat open."""

    name: str = ""
    """Display name; ``""`` for the id."""


class CreateMatch(Struct, frozen=True, kw_only=True):
    """A request to open a match."""

    heading: RequestHeading
    version: str
    """The game version that the sender supports."""

    config: JsonObject = msgspec.field(default_factory=dict)
    seats: tuple[SeatWanted, ...] | None = None
    """``None`` lets the server choose the seats."""


class GetMatches(Struct, frozen=True, kw_only=True):
    """A request for the list of matches."""

    heading: RequestHeading


class Authenticate(Struct, frozen=True, kw_only=True):
    """The token frame of a WebSocket client."""

    heading: RequestHeading
    """Empty fields are filled in from the token."""

    token: str
    after: int | None = None
    """Resend pushes with higher numbers; ``None`` resends nothing."""


Request = GetState | PerformAction | CreateMatch | GetMatches


class RefusedRequest(Exception):
    """A text is no request."""

    def __init__(self, refused: Refused, heading: RequestHeading) -> None:
        super().__init__(refused.message)
        self.refused = refused
        self.heading = heading


def read_request(text: str | bytes | bytearray | Mapping[str, Any]) -> Request:
    """Parse a request from a text or an envelope. Raises ``RefusedRequest``."""
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
    """The heading, with unusable fields empty."""

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
    """Parse a token frame. Missing core fields become empty. Raises ``RefusedRequest``."""
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
    """The faults of a message of any type, from an agent or a server; empty for a valid message."""
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
