"""Builders of every message that a server sends.

Rule: an envelope is complete when it is made and nobody changes it afterwards; its text is written at most once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from league_agents.arena.protocol.refusals import PROTOCOL_VERSION, Refused
from league_agents.arena.protocol.requests import RequestHeading
from league_agents.games.game import Event, IllegalAction, JsonObject

SUCCEEDED = "Action performed successfully"


class OutgoingFrame(dict[str, Any]):
    """An outgoing message: its fields, and its JSON text."""

    __slots__ = ("_text",)

    def __init__(self, fields: Mapping[str, Any], text: str | None = None) -> None:
        super().__init__(fields)
        self._text = text

    @property
    def text(self) -> str:
        """One line of JSON."""
        if self._text is None:
            self._text = written(self)
        return self._text


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a message cannot hold a {type(value).__name__}")


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def written(value: JsonObject) -> str:
    """The JSON text of an object, on one line."""
    return _ENCODER.encode(value)


def instant(moment: datetime) -> str:
    """Format an instant by RFC 3339, in UTC, with milliseconds unless they are zero."""
    if moment.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    precision = "milliseconds" if moment.microsecond >= 1000 else "seconds"
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def headed(
    kind: str, heading: RequestHeading, body: JsonObject, *, core: Iterable[str] = ("game", "match_id", "agent_id")
) -> OutgoingFrame:
    """An answer to a request: the heading of the request, then the body."""
    fields: dict[str, Any] = {"version": PROTOCOL_VERSION, "type": kind}
    for name in core:
        fields[name] = getattr(heading, name)
    if heading.request_id is not None:
        fields["request_id"] = heading.request_id
    fields |= body
    return OutgoingFrame(fields)


def error(refused: Refused, heading: RequestHeading) -> OutgoingFrame:
    """An ``error``: the request is refused before it reaches a game."""
    data = {"code": refused.code, "request_type": heading.type, **refused.data}
    return headed("error", heading, {"error": _inner(PROTOCOL_VERSION, message=refused.message, data=data)})


def action_taken(heading: RequestHeading, game_version: str, seq: int) -> OutgoingFrame:
    """The answer to an accepted action. ``seq`` is the number of the last event visible to the actor."""
    body = _inner(game_version, status="success", message=SUCCEEDED, data={"seq": seq})
    return headed("perform_action_response", heading, {"action_response": body})


def action_refused(heading: RequestHeading, game_version: str, illegal: IllegalAction) -> OutgoingFrame:
    """The answer to an action that the game's rules forbid."""
    data = {**illegal.data, "code": illegal.code}
    body = _inner(game_version, status="error", message=illegal.message, data=data)
    return headed("perform_action_response", heading, {"action_response": body})


class PushBody:
    """One pushed event, serialised once for all its recipients."""

    __slots__ = ("_field", "_fields", "_game", "_match_id", "_text", "_type")

    def __init__(self, event: Event, *, game: str, game_version: str, match_id: str, as_event: bool) -> None:
        """``as_event``: in the form of the organisation's schemas, ``push_event``."""
        own: dict[str, Any] = {"seq": event.seq, "event": event.kind}
        if as_event:
            own["message"] = event.text
        # A key of the game must not hide a key of the protocol.
        data = {**own, **{f"game_{key}" if key in own else key: value for key, value in event.data.items()}}
        if as_event:
            self._type, self._field = "push_event", "event"
            self._fields = _inner(game_version, data=data)
        else:
            self._type, self._field = "push_message", "message_response"
            self._fields = _inner(game_version, message=event.text, data=data)
        self._text = written(self._fields)
        self._game, self._match_id = game, match_id

    def to(self, recipient: str) -> OutgoingFrame:
        """The push for one recipient."""
        fields = {
            "version": PROTOCOL_VERSION,
            "type": self._type,
            "game": self._game,
            "match_id": self._match_id,
            "agent_id": recipient,
            self._field: self._fields,
        }
        # Game codes and ids need no escapes: their alphabet is that of the schema.
        text = (
            f'{{"version":"{PROTOCOL_VERSION}","type":"{self._type}","game":"{self._game}",'
            f'"match_id":"{self._match_id}","agent_id":"{recipient}","{self._field}":{self._text}}}'
        )
        return OutgoingFrame(fields, text)


def _inner(version: str, **fields: object) -> dict[str, Any]:
    return cast("dict[str, Any]", {"version": version, **fields})
