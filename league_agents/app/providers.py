"""The list of language model providers, for display."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from league_agents.config.environment import Environment
from league_agents.kit.errors import ConfigError
from league_agents.llm.provider import Provider
from league_agents.llm.registry import provider_named, provider_names, provider_source


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProvider:
    """A provider and its availability on this machine."""

    provider: Provider
    source: str
    """``built in``, or the name of its distribution."""

    key_variable: str | None
    """The variable that holds its key; ``None`` when there is no key."""

    def lines(self) -> Iterator[str]:
        provider = self.provider
        yield f"{provider.name}: {provider.title} ({self.source})"
        yield f"  server  {provider.base_url}"
        if provider.alternatives:
            yield f"          or with a base URL {provider.alternatives}"
        key = "none is needed"
        if provider.key_variables:
            key = " or ".join(provider.key_variables)
            key += " (not set)" if self.key_variable is None else f" ({self.key_variable} is set)"
        yield f"  key     {key}"
        yield f"  model   {provider.default_model or 'to be named'}"

    def to_json(self) -> dict[str, object]:
        provider = self.provider
        return {
            "name": provider.name,
            "title": provider.title,
            "source": self.source,
            "base_url": provider.base_url,
            "key_variables": list(provider.key_variables),
            "key_variable_set": self.key_variable,
            "default_model": provider.default_model,
            "takes_schema": provider.takes_schema,
        }


def list_providers(variables: Mapping[str, str]) -> tuple[list[ListedProvider], list[ConfigError]]:
    """The usable providers, and the errors of the others. Raises ``ConfigError`` when two have the same name."""
    env = Environment(variables)
    listed, unusable = [], []
    for name in provider_names():
        try:
            provider = provider_named(name, name)
        except ConfigError as error:
            unusable.append(error)
            continue
        key = next((each for each in provider.key_variables if env.text(each) is not None), None)
        listed.append(ListedProvider(provider=provider, source=provider_source(name), key_variable=key))
    return listed, unusable
