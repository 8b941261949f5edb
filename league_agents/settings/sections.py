"""A settings file, read section by section, with values from the environment laid over it.

Rule: whatever is wrong is one ``ConfigError`` that names the key (or the environment variable), says what is allowed
and shows what was found. A value from the environment is judged by the same rules as one from the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from league_agents.core.keys import Keys
from league_agents.errors import ConfigError
from league_agents.protocol.league.address import read_address

FALSE_WORDS = ("", "0", "false", "no", "off")
TRUE_WORDS = ("1", "true", "yes", "on")

_MOST_TEAMS = 500


class Section(Keys):
    """One section of a settings file. An absent section reads as an empty one."""

    def __init__(self, mapping: object, path: str, allowed: Sequence[str]) -> None:
        super().__init__({} if mapping is None else mapping, path, allowed)

    @property
    def path(self) -> str:
        """Where the section stands, for messages."""
        return self._path

    def section(self, key: str, allowed: Sequence[str]) -> Section:
        return Section(self.at(key) if key in self else None, f"{self._path}.{key}", allowed)

    def items(self, key: str, allowed: Sequence[str]) -> list[Section]:
        """A list of mappings, which may be absent."""
        value = self.at(key) if key in self else []
        if not isinstance(value, list) or len(value) > _MOST_TEAMS:
            raise self.wrong(key, f"a list of at most {_MOST_TEAMS} mappings", value)
        return [Section(item, f"{self._path}.{key}[{place}]", allowed) for place, item in enumerate(value)]

    def given(self, key: str) -> bool:
        """Whether the key is there and says something."""
        return key in self and self.at(key) not in (None, "")

    def line(self, key: str, default: str | None = None, *, most: int = 200) -> str:
        """One line of text. A number is taken as it is written: ids often look like numbers."""
        if not self.given(key) and default is not None:
            return default
        value = self.at(key)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip() or len(value) > most or not value.isprintable():
            raise self.wrong(key, f"one line of 1 to {most} characters", value)
        return value.strip()

    def address(self, key: str, default: str | None = None) -> str:
        """A mail address."""
        value = self.line(key, default, most=254)
        if value == default:
            return value
        if read_address(value) != value:
            raise self.wrong(key, "a mail address", value)
        return value

    def addresses(self, key: str) -> tuple[str, ...]:
        """A list of mail addresses, which may be absent."""
        value = self.at(key) if self.given(key) else []
        if not isinstance(value, list) or len(value) > 2 * _MOST_TEAMS:
            raise self.wrong(key, "a list of mail addresses", value)
        for place, item in enumerate(value):
            if read_address(item) != item:
                raise self.wrong(f"{key}[{place}]", "a mail address", item)
        return tuple(value)

    def file(self, key: str, default: str, folder: Path) -> Path:
        """A file, named as seen from the settings file's folder."""
        return folder / Path(self.line(key, default, most=4_000)).expanduser()

    def web_address(self, key: str, default: str) -> str:
        """``https://…``; plain ``http`` for a server on this machine only, because tokens travel on it."""
        value = self.line(key, default, most=2_000).rstrip("/")
        host = value.partition("://")[2].partition("/")[0]
        name = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
        is_near = value.startswith("http://") and name in ("127.0.0.1", "localhost", "[::1]")
        if not name or not (value.startswith("https://") or is_near) or "@" in host:
            raise self.wrong(key, "an https address (http only for 127.0.0.1 or localhost)", value)
        return value


class Environment:
    """The environment names that deployed referees and players use (protocol 8)."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def text(self, name: str) -> str | None:
        """What a variable says; ``None`` when it is absent or blank."""
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
        """A yes or no. ``None`` when the variable is absent; blank is no."""
        if name not in self._variables:
            return None
        return truth_of(self._variables[name], name)


def truth_of(value: object, path: str) -> bool:
    """``true``, ``1``, ``yes`` and ``false``, ``0``, ``no``, nothing. Raises ``ConfigError`` for any other word: one
    deployed client takes every text for yes, ``false`` included."""
    word = str(value).strip().lower() if value is not None else ""
    if word in FALSE_WORDS:
        return False
    if word in TRUE_WORDS:
        return True
    raise ConfigError(path, f"must be true or false, found {str(value)[:40]!a}")
