"""A subscription of Cloud Pub/Sub, which says whose inbox has changed.

Rule: a message is the word of whoever may publish to the topic. It names an address and decides nothing else; one that
cannot be read is acknowledged like the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from league_agents.kit.advice import without_advice
from league_agents.kit.errors import ConfigError

PULL_S = 120
"""How long an answer may take. Pub/Sub holds an empty one back for some 90 seconds."""

ACKNOWLEDGE_S = 30
MESSAGES_AT_ONCE = 100
LARGEST_NOTICE = 4_096
LONGEST_ADDRESS = 320
_SCOPES = ("https://www.googleapis.com/auth/pubsub",)


def refuse_missing_library(key: str) -> None:
    """Raises ``ConfigError``, naming ``key``, without the extra ``push``."""
    try:
        with without_advice():
            import_module("google.pubsub_v1")
    except ImportError:
        raise ConfigError(key, "needs google-cloud-pubsub: pip install 'league-agents[push]'") from None


class Subscription:
    """One subscription. Used by one thread at a time; ``close`` it."""

    def __init__(self, name: str, *, endpoint: str, credentials: Path | None) -> None:
        """``credentials`` is the key file of a service account; without it the application default credentials of this
        machine count, and none for a server on this machine. Raises the library's errors."""
        with without_advice():
            from google.auth import default
            from google.auth.credentials import AnonymousCredentials
            from google.oauth2.service_account import Credentials
            from google.pubsub_v1 import SubscriberClient
            from google.pubsub_v1.services.subscriber.transports import SubscriberRestTransport
        address = urlsplit(endpoint)
        grant: Any
        if credentials is not None:
            grant = Credentials.from_service_account_file(str(credentials), scopes=_SCOPES)  # type: ignore[no-untyped-call]
        elif address.scheme == "http":
            grant = AnonymousCredentials()  # type: ignore[no-untyped-call]
        else:
            grant, _ = default(scopes=_SCOPES)
        transport = SubscriberRestTransport(host=address.netloc, credentials=grant, url_scheme=address.scheme)
        self._client = SubscriberClient(transport=transport)
        self._name = name

    def pull(self, told: Callable[[str], object]) -> int:
        """Wait for messages, call ``told`` once with each address they name, and acknowledge them. Return their number.

        Raises the library's errors.
        """
        with without_advice():
            from google.api_core.exceptions import DeadlineExceeded, GatewayTimeout

        wanted = {"subscription": self._name, "max_messages": MESSAGES_AT_ONCE}
        try:
            received = self._client.pull(request=wanted, retry=None, timeout=PULL_S).received_messages
        except (DeadlineExceeded, GatewayTimeout):
            return 0  # nothing came in all that time
        for address in dict.fromkeys(address_in(each.message.data) for each in received):
            if address is not None:
                told(address)
        if received:
            done = {"subscription": self._name, "ack_ids": [each.ack_id for each in received]}
            self._client.acknowledge(request=done, retry=None, timeout=ACKNOWLEDGE_S)
        return len(received)

    def close(self) -> None:
        """Close the connection."""
        self._client.transport.close()  # type: ignore[no-untyped-call]


def address_in(data: bytes) -> str | None:
    """The address in a notification of Gmail; ``None`` for anything else."""
    if len(data) > LARGEST_NOTICE:
        return None
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    address = document.get("emailAddress") if isinstance(document, dict) else None
    return address if isinstance(address, str) and 0 < len(address) <= LONGEST_ADDRESS else None
