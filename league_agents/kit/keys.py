"""A user's mapping, read key by key.

Rule: whatever is wrong is one ``ConfigError`` that names the key, says what is allowed and shows what was found.
Nothing is converted silently: a number in quotes, a boolean for a number and an unknown key are mistakes.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar

from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown

E = TypeVar("E", bound=StrEnum)


WHOLE = "configuration"
"""The path of a fault in a configuration as a whole."""


def not_one_of(path: str, allowed: Sequence[str], value: object) -> ConfigError:
    """The error for a value that is none of the allowed words, with the one that may have been meant."""
    close = difflib.get_close_matches(value[:60], allowed, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return ConfigError(path, f"must be one of {', '.join(allowed)}, found {shown(value)}{hint}")


def no_such_key(path: str, key: object, allowed: Sequence[str]) -> ConfigError:
    """The error for an unknown key, with the one that may have been meant."""
    close = difflib.get_close_matches(key[:60], allowed, n=1) if isinstance(key, str) else []
    close = close or [name for name in allowed if name == f"{key}_seconds"]
    hint = f"did you mean {close[0]!r}?" if close else f"the keys are {', '.join(allowed)}"
    return ConfigError(path, f"there is no key {shown(key)}: {hint}")


def wrong_value(path: str, allowed: str, value: object) -> ConfigError:
    """The error for a value that is not what is allowed."""
    quoted = " (YAML reads a bare Yes or No as true or false: quote it)" if isinstance(value, bool) else ""
    return ConfigError(path, f"must be {allowed}, found {shown(value)}{quoted}")


class Keys:
    """One mapping, read key by key. ``path`` is where it stands; empty for the whole of a configuration.

    Every method that takes ``default`` returns it for a missing key; without one the key is needed.
    """

    missing = "is missing"
    """What is said of a needed key that is not there."""

    def __init__(self, mapping: object, path: str, allowed: Sequence[str]) -> None:
        whole = path or WHOLE
        if not isinstance(mapping, Mapping):
            raise ConfigError(whole, f"must be a mapping ({', '.join(allowed[:3])} …), found {shown(mapping)}")
        self._mapping = mapping
        self._path = path
        for key in mapping:
            if not isinstance(key, str) or key not in allowed:
                raise no_such_key(whole, key, allowed)

    def __contains__(self, key: str) -> bool:
        return key in self._mapping

    def at(self, key: str) -> object:
        """The raw value. Raises ``ConfigError`` when the key is missing."""
        if key not in self._mapping:
            raise self.error(key, self.missing)
        return self._mapping[key]

    def error(self, key: str, message: str) -> ConfigError:
        return ConfigError(self.below(key), message)

    def below(self, key: str) -> str:
        """Where a key stands."""
        return f"{self._path}.{key}" if self._path else key

    def wrong(self, key: str, allowed: str, value: object) -> ConfigError:
        return wrong_value(self.below(key), allowed, value)

    def section(self, key: str, allowed: Sequence[str]) -> Keys:
        return type(self)(self.at(key), self.below(key), allowed)

    def sections(self, key: str, allowed: Sequence[str], *, most: int) -> list[Keys]:
        value = self.at(key)
        if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= most:
            raise self.wrong(key, f"a list of 1 to {most} mappings with the keys {', '.join(allowed)}", value)
        return [type(self)(item, f"{self.below(key)}[{i}]", allowed) for i, item in enumerate(value)]

    def text(self, key: str, default: str | None, *, most: int) -> str:
        if key not in self and default is not None:
            return default
        value = self.at(key)
        if not isinstance(value, str) or not value.strip() or len(value) > most:
            raise self.wrong(key, f"a text of 1 to {most} characters", value)
        return value

    def texts(self, key: str, default: Sequence[str], *, count: int) -> Sequence[str]:
        if key not in self:
            return default
        value = self.at(key)
        if not isinstance(value, (list, tuple)) or len(value) != count:
            raise self.wrong(key, f"a list of {count} texts", value)
        for i, item in enumerate(value):
            if not isinstance(item, str) or not item.strip() or len(item) > 100:
                raise self.wrong(f"{key}[{i}]", "a text of 1 to 100 characters", item)
            if item in value[:i]:
                raise self.wrong(f"{key}[{i}]", "different from the other options", item)
        return [str(item) for item in value]

    def word(self, key: str, allowed: Sequence[str], default: str | None) -> str:
        if key not in self and default is not None:
            return default
        value = self.at(key)
        if not isinstance(value, str) or value not in allowed:
            raise not_one_of(self.below(key), allowed, value)
        return value

    def member(self, key: str, kind: type[E], default: E | None) -> E:
        return kind(self.word(key, [str(each) for each in kind], default and str(default)))

    def boolean(self, key: str, default: bool) -> bool:
        value = self._mapping.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, found {shown(value)}")
        return value

    def integer(self, key: str, default: int | None, least: int, most: int) -> int:
        if key not in self and default is not None:
            return default
        value = self.at(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.wrong(key, f"a whole number from {least} to {most}", value)
        return value

    def integers(self, key: str, default: tuple[int, int], *, least: int, most: int) -> tuple[int, int]:
        if key not in self:
            return default
        value = self.at(key)
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise self.wrong(key, "a list of two whole numbers [least, most]", value)
        for i, item in enumerate(value):
            if not isinstance(item, int) or isinstance(item, bool) or not least <= item <= most:
                raise self.wrong(f"{key}[{i}]", f"a whole number from {least} to {most}", item)
        return (value[0], value[1])

    def number(self, key: str, default: float | None, least: float, most: float) -> float:
        if key not in self and default is not None:
            return default
        value = self.at(key)
        # NaN fails the comparison.
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not least <= value <= most:
            raise self.wrong(key, f"a number from {least:g} to {most:g}", value)
        return float(value)

    def seconds(self, key: str, default: timedelta, *, least: float = 0.001) -> timedelta:
        if key not in self:
            return default
        return timedelta(seconds=self.number(key, None, least, 7 * 86_400))
