"""The token of a server that others can reach: whoever asks shows it as a password or as a bearer token."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from league_agents.kit.errors import ConfigError

SHORTEST_TOKEN, LONGEST_TOKEN = 20, 400


def check_token(token: str) -> None:
    """Raises ``ConfigError`` for a token that can be guessed or that no request can send."""
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN or not token.isascii() or not token.isprintable():
        raise ConfigError(
            "token",
            f"has to be {SHORTEST_TOKEN} to {LONGEST_TOKEN} printable ASCII characters; leave it out for a new one",
        )


def shows_token(authorization: str, digest: bytes) -> bool:
    """Whether an ``Authorization`` header shows the token with this digest."""
    scheme, _, credentials = authorization[: 2 * LONGEST_TOKEN].partition(" ")
    token = credentials.strip()
    if scheme.lower() == "basic":
        try:
            token = base64.b64decode(token, validate=True).decode("utf-8").partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return False
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(token_digest(token), digest)


def token_digest(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
