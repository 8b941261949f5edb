"""The reasons for refusing a request, and how each is sent.

Rule: a refused request changes nothing. An action that the game's rules forbid is answered with
``perform_action_response``; every other refusal, from broken JSON to an unknown match, with ``error`` (arena 5.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from league_agents.games.game import JsonObject
from league_agents.kit.errors import ProtocolError

PROTOCOL_VERSION: Final = "1.0.0"

HTTP_STATUS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "malformed_json": 400,
        "duplicate_key": 400,
        "not_an_object": 400,
        "invalid_envelope": 400,
        "unknown_type": 400,
        "unsupported_version": 400,
        # Sent for a get_state in another major version of the game, which has no perform_action_response.
        "unsupported_game_version": 400,
        "unauthorized": 401,
        "forbidden": 403,
        "not_in_match": 403,
        "unknown_game": 404,
        "unknown_match": 404,
        "match_not_started": 409,
        "too_large": 413,
        "rate_limited": 429,
        "internal": 500,
    }
)
"""The codes that ``error`` carries, and the HTTP status of each (arena 5.2)."""

MOST_ERRORS = 32
"""Faults of one envelope that are reported; a hostile envelope can have thousands."""


class Refused(ProtocolError):
    """The request is refused."""

    def __init__(self, code: str, message: str, data: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code = code
        """A key of ``HTTP_STATUS``."""

        self.message = message
        self.data: JsonObject = data or {}
        """Details as JSON: ``errors``, ``supported``, ``incident``."""


def invalid_envelope(errors: list[dict[str, str]]) -> Refused:
    """The envelope breaks its schema; ``errors`` holds one or more ``{"path", "code", "message"}``."""
    found = sorted(errors, key=lambda error: (error["path"], error["code"]))
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    told = f"{first['path'] or 'the envelope'} {first['message']}{more}"
    return Refused("invalid_envelope", told, {"errors": found[:MOST_ERRORS]})


def unsupported_version(found: str) -> Refused:
    """The envelope has another major version of the protocol."""
    return Refused(
        "unsupported_version",
        f"version {found} of the protocol is not spoken here; send {PROTOCOL_VERSION}",
        {"supported": [PROTOCOL_VERSION]},
    )


def rate_limited(retry_after_s: float) -> Refused:
    """The sender exceeds its request rate."""
    return Refused("rate_limited", f"too many requests; wait {retry_after_s:g} s", {"retry_after_s": retry_after_s})


def internal(incident: str) -> Refused:
    """The server failed. ``incident`` identifies the failure in the server's log; nothing else is revealed."""
    return Refused("internal", f"the server failed; tell its operator: incident {incident}", {"incident": incident})


def same_major(version: str, supported: str) -> bool:
    """Whether two versions ``"1.2.3"`` are compatible."""
    return version.partition(".")[0] == supported.partition(".")[0]


def http_status(envelope: Mapping[str, Any]) -> int:
    """The HTTP status of an answer: that of its code if it is an ``error``, else 200."""
    if envelope.get("type") != "error":
        return 200
    return HTTP_STATUS.get(envelope["error"]["data"].get("code", ""), 400)
