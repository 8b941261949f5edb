"""The OAuth client that a user downloads from the Google Cloud console."""

from __future__ import annotations

import urllib.parse
from pathlib import Path

from league_agents.kit.errors import ConfigError
from league_agents.mail.oauth.json_file import read_object, why

STEPS = "docs/how-to/gmail.md, steps 1-3"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def load_client_secret(path: Path) -> dict[str, object]:
    """Return the OAuth client of a ``client_secret.json``. Raises ``ConfigError``, which tells how to get one."""
    remedy = 'create an OAuth client of type "Desktop app" in the Google Cloud console and save its JSON here'
    try:
        document = read_object(path)
    except FileNotFoundError:
        raise ConfigError(str(path), f"there is no such file; {remedy} ({STEPS})") from None
    except (OSError, ValueError) as error:
        raise ConfigError(str(path), f"it cannot be read ({why(error)}); {remedy}") from None
    client = document.get("installed")
    if not isinstance(client, dict):
        if "web" in document:
            wrong = 'this client is of type "Web application"'
        elif document.get("type") == "service_account":
            wrong = "this is the key of a service account, which has no mailbox"
        elif "refresh_token" in document:
            wrong = "this is a token, not a client secret"
        else:
            wrong = "this is no OAuth client"
        raise ConfigError(str(path), f"{wrong}; {remedy}")
    for name in ("client_id", "client_secret", "auth_uri", "token_uri"):
        if not isinstance(client.get(name), str) or not client[name]:
            raise ConfigError(str(path), f"installed.{name} is missing; {remedy}")
    for name in ("auth_uri", "token_uri"):
        address = urllib.parse.urlsplit(client[name])
        if address.scheme != "https" and not (address.scheme == "http" and address.hostname in _LOOPBACK):
            raise ConfigError(str(path), f"installed.{name} must be an https address; {remedy}")
    return client
