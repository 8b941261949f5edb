"""Checks on the origin of every request, and the security headers of every answer.

Rule 1: a page of another site must not act for the person who has it open: browsers name the origin of a request, and
only the server's own pages are accepted.
Rule 2: a server on loopback accepts only loopback's host names. Any other name that resolves to it is an attack (DNS
rebinding).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Decides which requests are accepted."""

    is_public: bool = False
    """Whether the server listens beyond loopback."""

    def objection(self, host: str, origin: str | None) -> str | None:
        """Why a request is rejected, for people; ``None`` if it is accepted.

        ``host`` and ``origin`` are its headers; only browsers send ``Origin``.
        """
        if not _HOST.fullmatch(host):
            return "the Host header is no host's name"
        if not self.is_public and _name_of(host) not in _LOOPBACK_NAMES and not _is_loopback(_name_of(host)):
            return f"this server answers to localhost and 127.0.0.1 only, not to {host}"
        if origin is None:
            return None
        try:
            found = urlsplit(origin)
        except ValueError:
            found = urlsplit("")
        if found.scheme not in ("http", "https") or _without_port(found.netloc, found.scheme) != _without_port(
            host, found.scheme
        ):
            return "a page of another site may not use this server; open the server's own page"
        return None


def page_headers(host: str) -> Mapping[str, str]:
    """The headers of a page and its files."""
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    return {
        **API_HEADERS,
        # Older browsers do not count a WebSocket of the same host as 'self', so it is named.
        "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"font-src 'self'; manifest-src 'self'; connect-src 'self'{sockets}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
        "cache-control": "no-cache",
    }


API_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
"""The headers of every other answer."""


def address_key(address: str) -> str:
    """The key that an address is counted by: an IPv6 network of one customer is one key."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return address


def _name_of(host: str) -> str:
    return host[1 : host.index("]")] if host.startswith("[") else host.partition(":")[0].lower()


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _without_port(host: str, scheme: str) -> str:
    """The host, without its port if that is the scheme's default."""
    return host.lower().removesuffix(":443" if scheme == "https" else ":80")
