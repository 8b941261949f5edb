"""Tokens for seats, spectators and accounts.

Rule 1: a token is shown once, to the client that took the seat. The server keeps its digest only, so nothing that is
logged, dumped or stolen from memory opens a seat.
Rule 2: tokens that clients can have in any number, for accounts and spectators, are signed and not stored: they take
no memory.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from league_agents.arena.protocol.access import Principal

LONGEST_TOKEN = 400

_WATCH, _ACCOUNT = "w", "a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a token granted when it was shown."""

    match_id: str
    """``""`` for an account."""

    agent_id: str
    name: str = ""
    """The public half of a seat's token; ``""`` for a signed token, which is never revoked."""

    @property
    def principal(self) -> Principal:
        """The principal of the client that showed the token."""
        if not self.match_id:
            return Principal(accounts=frozenset({self.agent_id}))
        return Principal.of_seat(self.match_id, self.agent_id)


class Tokens:
    """Digests of tokens, and what each grants."""

    def __init__(self, key: bytes = b"") -> None:
        """``key`` signs tokens; drawn if there is none."""
        self._seats: dict[str, tuple[bytes, str, str]] = {}
        """The token's public half -> (digest of its secret half, match, agent)."""

        self._of_match: dict[str, dict[str, str]] = {}
        """Match -> agent -> the public half of its token."""

        self._key = key or secrets.token_bytes(32)
        self.revision = 0
        """Incremented whenever a token is revoked."""

    def issue(self, match_id: str, agent_id: str) -> str:
        """Make a token for a seat: a public half to look it up by, and 192 random bits. Revokes the former token."""
        self.revoke(match_id, agent_id)
        name, secret = secrets.token_hex(8), secrets.token_urlsafe(24)
        self.restore(match_id, agent_id, name, _digest(secret))
        return f"{name}.{secret}"

    def restore(self, match_id: str, agent_id: str, name: str, digest: bytes) -> None:
        """Accept the token of a seat again that ``kept`` described."""
        self._seats[name] = (digest, match_id, agent_id)
        self._of_match.setdefault(match_id, {})[agent_id] = name

    def kept(self, match_id: str, agent_id: str) -> tuple[str, bytes]:
        """The public half of the token of a seat, and the digest of its secret half."""
        name = self._of_match[match_id][agent_id]
        return name, self._seats[name][0]

    def to_watch(self, match_id: str, spectator: str) -> str:
        """Make a token for a spectator."""
        return self._signed(_WATCH, match_id, spectator)

    def new_account(self) -> tuple[str, str]:
        """Make a unique agent id for the lobby, and its token."""
        agent_id = f"{_ACCOUNT}-{secrets.token_hex(8)}"
        return agent_id, self._signed(_ACCOUNT, "", agent_id)

    def claim_of(self, token: str) -> Claim | None:
        """The claim of a token; ``None`` for an invalid one."""
        if len(token) > LONGEST_TOKEN or not token.isascii():
            return None
        if token.count("~") == 3:
            return self._signed_claim(token)
        name, _, secret = token.partition(".")
        found = self._seats.get(name)
        if found is None or not hmac.compare_digest(found[0], _digest(secret)):
            return None
        return Claim(match_id=found[1], agent_id=found[2], name=name)

    def is_open(self, claim: Claim) -> bool:
        """Whether the claim is still valid."""
        return not claim.name or claim.name in self._seats

    def revoke(self, match_id: str, agent_id: str) -> None:
        """Revoke the token of a seat that has become free."""
        name = self._of_match.get(match_id, {}).pop(agent_id, None)
        if name is not None:
            del self._seats[name]
            self.revision += 1

    def forget(self, match_id: str) -> None:
        """Revoke all tokens of a match."""
        for name in self._of_match.pop(match_id, {}).values():
            self._seats.pop(name, None)
        self.revision += 1

    def _signed(self, kind: str, match_id: str, agent_id: str) -> str:
        return f"{kind}~{match_id}~{agent_id}~{self._signature(kind, match_id, agent_id)}"

    def _signature(self, kind: str, match_id: str, agent_id: str) -> str:
        return hmac.new(self._key, f"{kind}~{match_id}~{agent_id}".encode(), hashlib.sha256).hexdigest()

    def _signed_claim(self, token: str) -> Claim | None:
        kind, match_id, agent_id, signature = token.split("~")
        if not hmac.compare_digest(signature, self._signature(kind, match_id, agent_id)):
            return None
        return Claim(match_id=match_id, agent_id=agent_id)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("ascii")).digest()
