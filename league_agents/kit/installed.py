"""Extensions that other distributions have installed: objects named by entry points.

Rule 1: listing a group imports nothing. An object is imported only when it is loaded.
Rule 2: every fault of an extension raises one ``ConfigError`` that names the entry point and its distribution.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from league_agents.kit.errors import ConfigError
from league_agents.kit.printable import line_of, printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One entry point of another distribution."""

    group: str
    name: str
    value: str
    """``module:object``."""

    distribution: str
    """Name and version."""

    def load(self) -> object:
        """Import and return the object. Raises ``ConfigError``."""
        try:
            return named(self.value)
        except ConfigError as error:
            raise self.broken(error.message) from None

    def broken(self, why: str) -> ConfigError:
        """The error that names this entry point and why it cannot be used."""
        message = f"{self.name} of {self.distribution} cannot be used: {why}; repair or uninstall {self.project}"
        return ConfigError(f"entry point {self.group}", message)

    @property
    def project(self) -> str:
        return self.distribution.partition(" ")[0]


def installed(group: str, own: Collection[str] = ()) -> Mapping[str, Installed]:
    """The entry points of a group by name, in alphabetical order.

    ``own``: the names that this package itself defines. Raises ``ConfigError`` if a name is defined twice.
    """
    found = _installed(group)
    for name, each in found.items():
        if name in own:
            raise ConfigError(
                f"entry point {group}",
                f"{name} of {each.distribution} has the name of a built-in one; uninstall {each.project}",
            )
    return found


@cache
def _installed(group: str) -> Mapping[str, Installed]:
    found: dict[str, Installed] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, _distribution(point))):
        each = Installed(
            group=group, name=printable(point.name, 80), value=point.value, distribution=_distribution(point)
        )
        other = found.setdefault(each.name, each)
        if other is not each:
            both = f"{each.name} is in both {other.distribution} and {each.distribution}"
            raise ConfigError(f"entry point {group}", f"{both}; uninstall {other.project} or {each.project}")
    return MappingProxyType(found)


def _distribution(point: EntryPoint) -> str:
    return "an unknown distribution" if point.dist is None else printable(f"{point.dist.name} {point.dist.version}", 80)


def named(reference: str, package: str | None = None) -> object:
    """Import the object of ``module:name``, or the module of ``module``; ``.module`` is relative to ``package``.

    Raises ``ConfigError`` that names the missing or failing part.
    """
    module_name, _, name = reference.partition(":")
    try:
        found: object = importlib.import_module(module_name, package)
        for part in name.split(".") if name else ():
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # a foreign module may raise anything
        raise ConfigError(printable(reference, 120), f"{printable(reference, 120)}: {line_of(error)}") from None
    return found
