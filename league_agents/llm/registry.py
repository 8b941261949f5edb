"""The registry of providers: modules of ``league_agents.llm.providers``, and installed entry points.

Rule: a provider is named by its module or entry point, so names can be compared without importing one.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import cast

from league_agents.kit.installed import installed
from league_agents.kit.mistakes import not_one_of
from league_agents.kit.violation import shown
from league_agents.llm import providers
from league_agents.llm.provider import Provider, faults_of

DEFAULT_PROVIDER = "openai"
"""The protocol of a user's own server, unless stated otherwise."""

GROUP = "league_agents.providers"
BUILT_IN = "built in"


def provider_names() -> list[str]:
    """Return all names, sorted; nothing is imported. Raises ``ConfigError`` if two providers have the same one."""
    own = _built_in()
    return sorted((*own, *installed(GROUP, own)))


def provider_named(name: str, where: str) -> Provider:
    """Return the provider of that name; ``where`` is the key that names it.

    Raises ``ConfigError`` for an unknown name, and for an installed provider that cannot be loaded or is invalid.
    """
    names = provider_names()
    if name not in names:
        raise not_one_of(where, names, name)
    if name in _built_in():
        return cast("Provider", importlib.import_module(f"{providers.__name__}.{name}").PROVIDER)
    point = installed(GROUP)[name]
    found = point.load()
    if not isinstance(found, Provider):
        raise point.broken(f"{point.value} is {shown(found)}, not a Provider")
    for fault in faults_of(found, name):
        raise point.broken(fault)
    return found


def all_providers() -> list[Provider]:
    """Return every provider, by name. Raises ``ConfigError`` as ``provider_named`` does."""
    return [provider_named(name, name) for name in provider_names()]


def provider_source(name: str) -> str:
    """Return a provider's origin: ``built in``, or name and version of its distribution."""
    point = installed(GROUP).get(name)
    return BUILT_IN if point is None else point.distribution


def _built_in() -> list[str]:
    return [each.name for each in pkgutil.iter_modules(providers.__path__)]
