"""The declaration of a provider of language models.

A module of ``league_agents.llm.providers`` or an entry point of the group ``league_agents.providers``, named like the
provider, holds one declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields

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
    "options": Mapping,
    "takes_schema": bool,
    "alternatives": str,
}
_SECRET_ENDINGS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a model is asked to write. ``None`` leaves an option to the provider's default, or to the service."""

    temperature: float | None = None
    seed: int | None = None
    """Replies to the same prompt vary less with a seed; no service promises that they are equal."""

    reasoning_effort: str | None = None
    service_tier: str | None = None

    def given(self) -> Mapping[str, object]:
        """Return the options that are set."""
        return {name: value for name in OPTION_NAMES if (value := getattr(self, name)) is not None}


OPTION_NAMES = tuple(each.name for each in fields(ModelOptions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One model at one service, with the address and key to reach it."""

    name: str
    """``provider:model``, the name of the backend."""

    model: str
    """The model's name at the service."""

    base_url: str
    """The provider's address, or the user's."""

    key: str | None = field(repr=False)
    """``None`` for a server without keys."""

    key_name: str
    """The variable that a person has to check if the key is refused."""

    options: ModelOptions = field(default_factory=ModelOptions)
    thinks: bool = False
    """Whether the settings leave tokens for the model's reasoning. If not, a provider keeps it short."""

    @property
    def refused_key(self) -> str:
        """The message if the service refuses the key."""
        return f"{self.name}: {self.base_url} refuses the key in {self.key_name}; is it the right one?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A service, or a protocol that many servers speak."""

    name: str
    """The name in settings: small letters, digits and ``_``; the name of the module, or of the entry point."""

    title: str
    """A description for people, a few words."""

    base_url: str
    """The service's address, unless the user names another server."""

    key_variables: tuple[str, ...]
    """The variables that may hold the key, in this order. Each ends in KEY, TOKEN, SECRET or PASSWORD: the values of
    such variables are hidden in all output. Empty for a service without keys."""

    connect: Callable[[Access], Backend]
    """Makes the backend; the SDK is imported in this call and not before. Raises ``ConfigError`` if a package is not
    installed."""

    default_model: str | None = None
    """The model to use if the user names none; ``None`` requires the user to name one."""

    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The fields of ``ModelOptions`` that the backend passes on, with the words that the service knows; no words for
    numbers."""

    takes_schema: bool = True
    """Whether the backend passes ``Request.schema`` on. If not, the schema is written into the prompt and the
    request has none."""

    alternatives: str = ""
    """Other servers that can be reached through ``base_url``, for people."""


def faults_of(provider: Provider, name: str) -> Iterator[str]:
    """Yield the errors of a declaration found under ``name``."""
    for field_name, kind in _TYPES.items():
        value = getattr(provider, field_name)
        if not isinstance(value, kind):
            yield f"its {field_name} is {shown(value)}"
            return
    for option in provider.options:
        if option not in OPTION_NAMES:
            yield f"its option {shown(option)} is none of {', '.join(OPTION_NAMES)}"
    if not callable(provider.connect):
        yield f"its connect is {shown(provider.connect)}, which cannot be called"
    if provider.name != name or not _NAME.fullmatch(name):
        yield f"its name is {shown(provider.name)}; it must be the entry point's, in small letters, digits and _"
    for variable in provider.key_variables:
        if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable) or not variable.endswith(_SECRET_ENDINGS):
            yield f"its key variable {shown(variable)} must be in capitals and end in {' or '.join(_SECRET_ENDINGS)}"
    if not provider.base_url.startswith(("https://", "http://")):
        yield f"its base URL is {shown(provider.base_url)}, not a web address"
