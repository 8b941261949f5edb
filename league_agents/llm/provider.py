"""What a provider of language models is: one declaration, from which everything else follows.

A module of ``league_agents.llm.providers`` or an entry point of the group ``league_agents.providers`` holds one, under
the provider's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from league_agents.kit.violation import shown
from league_agents.llm.exchange import Backend

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,80}")
_TYPES = {
    "name": str,
    "title": str,
    "base_url": str,
    "key_variables": tuple,
    "default_model": str | None,
    "takes_schema": bool,
    "alternatives": str,
}
_SECRET_ENDINGS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One model at one service, and how it is reached."""

    name: str
    """``provider:model``, the name of the backend."""

    model: str
    """As the service spells it."""

    base_url: str
    """The provider's own, or the user's."""

    key: str | None = field(repr=False)
    """``None`` for a server that wants none."""

    key_name: str
    """The variable that a person has to look at when the key is refused."""

    @property
    def refused_key(self) -> str:
        """What is said when the service does not take the key."""
        return f"{self.name}: {self.base_url} refuses the key in {self.key_name}; is it the right one?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A service, or a protocol that many servers speak."""

    name: str
    """What people write: small letters, digits and ``_``; the name of the module, or of the entry point."""

    title: str
    """What it is, for people: a few words."""

    base_url: str
    """Where the service is, unless the user names another server."""

    key_variables: tuple[str, ...]
    """Where the key stands, looked at in this order. Each ends in KEY, TOKEN, SECRET or PASSWORD: the values of such
    variables are hidden in everything that is shown. Empty for a service that wants no key."""

    connect: Callable[[Access], Backend]
    """Makes what speaks to the service; imports its SDK there, and not before. Raises ``ConfigError`` when something is
    not installed."""

    default_model: str | None = None
    """The model that is asked when the user names none; ``None``: the user has to name one."""

    takes_schema: bool = True
    """Whether the backend passes ``Request.schema`` on. For one that does not, the schema is written into the prompt
    and the request has none."""

    alternatives: str = ""
    """Which other servers it reaches through ``base_url``, for people."""


def faults_of(provider: Provider, name: str) -> Iterator[str]:
    """What is wrong with a declaration that is found under ``name``."""
    for field_name, kind in _TYPES.items():
        value = getattr(provider, field_name)
        if not isinstance(value, kind):
            yield f"its {field_name} is {shown(value)}"
            return
    if not callable(provider.connect):
        yield f"its connect is {shown(provider.connect)}, which cannot be called"
    if provider.name != name or not _NAME.fullmatch(name):
        yield f"its name is {shown(provider.name)}; it must be the entry point's, in small letters, digits and _"
    for variable in provider.key_variables:
        if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable) or not variable.endswith(_SECRET_ENDINGS):
            yield f"its key variable {shown(variable)} must be in capitals and end in {' or '.join(_SECRET_ENDINGS)}"
    if not provider.base_url.startswith(("https://", "http://")):
        yield f"its base URL is {shown(provider.base_url)}, not a web address"
