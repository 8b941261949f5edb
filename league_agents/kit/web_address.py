"""Web addresses that people write: which are accepted, and to which of them a secret may be sent."""

from __future__ import annotations

from urllib.parse import urlsplit

from league_agents.kit.errors import ConfigError

_NEAR = ("127.0.0.1", "localhost", "::1")


def web_address(value: str, where: str, *, example: str) -> str:
    """The address without its last slash. Raises ``ConfigError``, which does not quote it, as it may hold a password or
    a key. ``example`` is an address."""
    try:
        parts = urlsplit(value)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and value.isprintable()
        is_bare = "@" not in parts.netloc and not parts.query and not parts.fragment
        _ = parts.port if is_bare else None
    except ValueError:
        is_right = False
    if not is_right:
        raise ConfigError(where, f"must be a web address such as {example}")
    if not is_bare:
        raise ConfigError(where, f"must have no user, password, ? or # in the address; write one such as {example}")
    return value.rstrip("/")


def is_protected(address: str) -> bool:
    """Whether a secret that is sent there stays one: over https, or to this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or parts.hostname in _NEAR
