"""The keys to seats.

Rule 1: a token is shown once, to whoever took the seat. What is kept is its digest, so nothing that is logged, dumped
or stolen from memory opens a seat.
Rule 2: what strangers can have any number of, accounts and places to watch from, is signed and not kept: it takes no
memory.
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
    """What a token opened when it was shown."""

    match_id: str
    """``""`` for an account."""

    agent_id: str
    name: str = ""
    """By which the token is found; ``""`` for one that is signed and never taken back."""

    @property
    def principal(self) -> Principal:
        """What whoever showed it speaks for."""
        if not self.match_id:
            return Principal(accounts=frozenset({self.agent_id}))
        return Principal.of_seat(self.match_id, self.agent_id)


class Tokens:
    """Digests of tokens, and what each opens."""

    def __init__(self) -> None:
        self._seats: dict[str, tuple[bytes, str, str]] = {}
        """The token's public half to the digest of its secret half, the match and the agent."""

        self._of_match: dict[str, dict[str, str]] = {}
        """Match to agent to the public half of its token."""

        self._key = secrets.token_bytes(32)
        self.revision = 0
        """Moves on whenever a token that opened something opens nothing any more."""

    def issue(self, match_id: str, agent_id: str) -> str:
        """A new token for a seat: 192 random bits behind a name by which it is found. A former one opens nothing."""
        self.revoke(match_id, agent_id)
        name, secret = secrets.token_hex(8), secrets.token_urlsafe(24)
        self._seats[name] = (_digest(secret), match_id, agent_id)
        self._of_match.setdefault(match_id, {})[agent_id] = name
        return f"{name}.{secret}"

    def to_watch(self, match_id: str, spectator: str) -> str:
        """A token for a spectator."""
        return self._signed(_WATCH, match_id, spectator)

    def new_account(self) -> tuple[str, str]:
        """A new agent id for the lobby, which nobody else has, and its token."""
        agent_id = f"{_ACCOUNT}-{secrets.token_hex(8)}"
        return agent_id, self._signed(_ACCOUNT, "", agent_id)

    def claim_of(self, token: str) -> Claim | None:
        """What a token opens; ``None`` for one that opens nothing."""
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
        """Whether what was claimed is still the claimant's."""
        return not claim.name or claim.name in self._seats

    def revoke(self, match_id: str, agent_id: str) -> None:
        """The seat is free: its token opens nothing any more."""
        name = self._of_match.get(match_id, {}).pop(agent_id, None)
        if name is not None:
            del self._seats[name]
            self.revision += 1

    def forget(self, match_id: str) -> None:
        """The match is gone, and its tokens with it."""
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
