"""The address of an agent that speaks A2A, as people write it: ``a2a:https://agents.example.org/player``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from msgspec import Struct

from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.web_address import is_protected, web_address

KIND = "a2a"
EXAMPLE = "http://127.0.0.1:9009"
HOST_VARIABLE = "LEAGUE_A2A_HOST"
TOKEN_VARIABLE = "LEAGUE_A2A_TOKEN"  # noqa: S105 - the name of a variable
LONGEST = 2_000


class AgentAddress(Struct, frozen=True, kw_only=True):
    """Where an agent is."""

    url: str
    token: str | None
    """The bearer token that the agent gets; ``None`` without one."""

    def __repr__(self) -> str:
        return f"AgentAddress({self.url!r})"


def agent_address(spec: str, environment: Mapping[str, str]) -> AgentAddress:
    """The address in ``a2a:URL``. The token of the environment is for the host that the environment names, and for no
    other. Raises ``ConfigError``."""
    if find_spec("a2a") is None or find_spec("httpx") is None:
        raise ConfigError(shortened(spec), "needs the SDK a2a-sdk; pip install 'league-agents[a2a]'")
    url = spec.partition(":")[2]
    if len(url) > LONGEST:
        raise ConfigError(KIND, f"the address has {len(url)} characters, at most {LONGEST} are read")
    url = web_address(url, KIND, example=f"{KIND}:{EXAMPLE}")
    token, host = environment.get(TOKEN_VARIABLE, "").strip(), environment.get(HOST_VARIABLE, "").strip()
    if not token or host.lower() != urlsplit(url).netloc.lower():
        return AgentAddress(url=url, token=None)
    if not is_protected(url):
        raise ConfigError(url, f"is not https, so {TOKEN_VARIABLE} would travel unprotected")
    if not (token.isascii() and token.isprintable()):
        raise ConfigError(TOKEN_VARIABLE, "must be one line of ASCII characters; write the token alone")
    return AgentAddress(url=url, token=token)


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port. Raises ``ValueError`` for what is no address."""
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or usual
