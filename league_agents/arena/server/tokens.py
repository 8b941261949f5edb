"""The keys to seats.

Rule: a token is shown once, to whoever took the seat. What is kept is its digest, so nothing that is logged, dumped or
stolen from memory opens a seat.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from league_agents.protocol.boardgame.access import Principal

LONGEST_TOKEN = 200


class Tokens:
    """Digests of tokens, and what each opens."""

    def __init__(self) -> None:
        self._seats: dict[str, tuple[bytes, str, str]] = {}
        """The token's public half to the digest of its secret half, the match and the agent."""

        self._of_match: dict[str, list[str]] = {}

    def issue(self, match_id: str, agent_id: str) -> str:
        """A new token for a seat: 192 random bits behind a name by which it is found."""
        name, secret = secrets.token_hex(8), secrets.token_urlsafe(24)
        self._seats[name] = (_digest(secret), match_id, agent_id)
        self._of_match.setdefault(match_id, []).append(name)
        return f"{name}.{secret}"

    def principal_of(self, token: str) -> Principal | None:
        """What a token opens; ``None`` for one that opens nothing."""
        name, _, secret = token[:LONGEST_TOKEN].partition(".")
        found = self._seats.get(name)
        if found is None or not hmac.compare_digest(found[0], _digest(secret)):
            return None
        return Principal.of_seat(found[1], found[2])

    def forget(self, match_id: str) -> None:
        """The match is gone: its tokens open nothing any more."""
        for name in self._of_match.pop(match_id, ()):
            self._seats.pop(name, None)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
