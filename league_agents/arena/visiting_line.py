"""A seat that is visited for one request at a time: over HTTP, so that nothing is connected between two requests.

A seat that was connected and is not any more has a grace period only; one that was never connected has its full time.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from league_agents.arena.seat_line import LARGEST_ANSWER, SeatLine, ServerLost


class StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it could take a token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class VisitingLine(SeatLine):
    """Sends each request as one POST."""

    def _try(self, text: str, request_id: str, give_up_at: float) -> dict[str, Any] | None:
        parts = urlsplit(self.key.url)
        place = urlunsplit(
            (parts.scheme.replace("ws", "http", 1), parts.netloc, f"{parts.path.removesuffix('/ws')}/protocol", "", "")
        )
        request = urllib.request.Request(  # noqa: S310 - ``Client`` accepts http and https only
            place,
            data=text.encode(),
            headers={"content-type": "application/json", "authorization": f"Bearer {self.key.token}"},
        )
        proxies = () if self._proxy else (urllib.request.ProxyHandler({}),)
        try:
            with urllib.request.build_opener(StayHere, *proxies).open(request, timeout=self._patience_s) as answer:
                said = answer.read(LARGEST_ANSWER)
        except urllib.error.HTTPError as refused:
            with refused:
                said = refused.read(LARGEST_ANSWER)
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise ServerLost(f"{place} cannot be reached: {reason}; is the server running?") from None
        try:
            found: dict[str, Any] = json.loads(said)
            _ = found["type"]
        except (ValueError, KeyError, TypeError):
            raise ServerLost(f"{place} gives no answer of the protocol") from None
        return found
