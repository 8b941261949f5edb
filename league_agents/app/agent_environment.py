"""The environment variables of a process that runs league files with ``.env`` files beside them.

Rule: a variable of one ``.env`` file is no setting of a league file in another folder. Agents of users read the
variables of all files, as they do under the clients that they were written for, because a process has one environment.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from pathlib import Path

from league_agents.config.league_file import environment_of
from league_agents.kit.errors import ConfigError
from league_agents.report.secret_texts import secrets_of_environment


class AgentEnvironment:
    """The environment of a process and what ``.env`` files add to it."""

    def __init__(self, environment: MutableMapping[str, str]) -> None:
        """``environment`` is that of the process, and is changed."""
        self._environment = environment
        self._own = dict(environment)
        self._added: dict[Path, dict[str, str]] = {}
        """By the folder of a league file."""

    def of(self, path: Path) -> dict[str, str]:
        """The variables of a league file. Raises ``ConfigError``."""
        return environment_of(path, self._own)

    def add(self, path: Path, variables: Mapping[str, str]) -> None:
        """Let agents read the variables of a league file; of two values of a variable the earlier one stays.

        Raises ``ConfigError`` if agents of another folder would get its keys or passwords, or the other way round.
        """
        folder = path.resolve().parent
        added = self._not_own(variables)
        for other in self._added:
            if other != folder and _secret_that_differs(added, self._added[other]):
                # It may have changed since it was read, as a file in the current folder does for all.
                self._added[other] = self._not_own(self.of(other / path.name))
                name = _secret_that_differs(added, self._added[other])
                if name:
                    raise ConfigError(
                        str(folder / ".env"),
                        f"{name} is another one than in {other / '.env'}, and all agents of a process share its"
                        " environment; run this league file in a process of its own",
                    )
        before = {name for found in self._added.values() for name in found}
        self._added[folder] = added
        merged = {name: value for found in reversed(self._added.values()) for name, value in found.items()}
        self._environment.update(merged)
        for name in before - merged.keys():
            self._environment.pop(name, None)

    def _not_own(self, variables: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in variables.items() if name not in self._own}


def _secret_that_differs(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """The name of a key or password of which two environments have different values; empty if there is none."""
    differ = (name for name, value in one.items() if other.get(name, value) != value)
    return next((name for name in differ if secrets_of_environment({name: one[name]})), "")
