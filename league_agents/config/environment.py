"""Environment variables, parsed strictly: an invalid value is one ``ConfigError`` that names the variable, the allowed
values and the value found."""

from __future__ import annotations

from collections.abc import Mapping

from league_agents.kit.errors import ConfigError

FALSE_WORDS = ("", "0", "false", "no", "off")
TRUE_WORDS = ("1", "true", "yes", "on")


class Environment:
    """The environment names that deployed referees and players use (protocol 8)."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def text(self, name: str) -> str | None:
        """The value of a variable; ``None`` when it is absent or blank."""
        value = self._variables.get(name, "").strip()
        return value or None

    def seconds(self, name: str) -> float | None:
        """A number of seconds."""
        text = self.text(name)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.2 <= value <= 86_400:
            raise ConfigError(name, f"must be a number of seconds from 0.2 to 86400, found {text[:40]!a}")
        return value

    def truth(self, name: str) -> bool | None:
        """A Boolean. ``None`` when the variable is absent; a blank value is false."""
        if name not in self._variables:
            return None
        return truth_of(self._variables[name], name)


def truth_of(value: object, path: str) -> bool:
    """Parse ``true``, ``1``, ``yes`` and ``false``, ``0``, ``no``, blank. Raises ``ConfigError`` for another word: one
    deployed client treats every text as true, ``false`` included."""
    word = str(value).strip().lower() if value is not None else ""
    if word in FALSE_WORDS:
        return False
    if word in TRUE_WORDS:
        return True
    raise ConfigError(path, f"must be true or false, found {str(value)[:40]!a}")
