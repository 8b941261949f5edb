"""Failures of the SDKs of OpenAI and Anthropic, which have the same names of errors and the same HTTP client.

Rule: a failure before the request was sent cannot be charged; after that it may be.
"""

from __future__ import annotations

from league_agents.kit.errors import ModelError, ModelUnavailable
from league_agents.llm.exchange import Unanswered
from league_agents.llm.responses import failure_of, unreadable

_BROKEN_OFF = ("APIConnectionError", "ReadError", "RemoteProtocolError", "APIError")
"""The SDKs' error for a connection, those of their HTTP clients while a body is read, and one inside a stream."""


def connection_failure(error: Exception, name: str, place: str, left_s: float) -> ModelError:
    """Return the ``ModelError`` for an exchange that ended without a response, or in the middle of one.

    ``name`` is the backend's, ``place`` its address, ``left_s`` the time limit that the SDK was given.
    """
    body = unreadable(error)
    if body is not None:
        return failure_of(body, name, place)
    cause = type(error.__cause__).__name__
    if cause == "ConnectTimeout":
        return ModelUnavailable(f"{name}: {place} cannot be reached")
    if cause == "ConnectError":
        return ModelUnavailable(f"{name}: {place} cannot be reached; is the server running, and its address right?")
    kind = type(error).__name__
    if "Timeout" in kind or "Timeout" in cause:
        return Unanswered(f"{name}: no answer within {left_s:.3g} s")
    if kind in _BROKEN_OFF:
        return Unanswered(f"{name}: {place} broke the connection off")
    return Unanswered(f"{name}: its client failed with {kind}")
