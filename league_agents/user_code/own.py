"""A maker of processes for a user's class. The class is loaded at once in the first process, to report errors early."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from league_agents.kit.errors import ConfigError
from league_agents.user_code.called import Called, End
from league_agents.user_code.loading import ARENA
from league_agents.user_code.process import LOAD_LIMIT_S, Loaded, UserProcess


class OwnClass:
    """One class of the user's own. Calling this object returns an instance in a separate process."""

    def __init__(
        self, spec: str, roles: Collection[str], *, adapter: Sequence[str] = (), load_limit_s: float = LOAD_LIMIT_S
    ) -> None:
        """Start a process and import the class there. Raises ``ConfigError``, which says what is wrong with it."""
        self.spec = spec
        self._roles = tuple(roles)
        self._adapter = tuple(adapter)
        first = self._made()
        self.loaded: Loaded = first.load(load_limit_s)
        self._spare = [first]
        """The first process, until it is taken. A list, because several threads may take it."""

    def __call__(self) -> UserProcess:
        try:
            return self._spare.pop()
        except IndexError:
            return self._made()

    def try_making(self) -> None:
        """Make the first instance, to report a failing constructor before the match. Raises ``ConfigError``."""
        if not self._spare:
            return
        made = self._spare[0].make(LOAD_LIMIT_S)
        if made.end is not End.RETURNED:
            raise unmade(self.spec, made, LOAD_LIMIT_S, role=self.loaded.role)

    def close(self) -> None:
        """End the first process if it was not taken."""
        while self._spare:
            self._spare.pop().close()

    def _made(self) -> UserProcess:
        return UserProcess(self.spec, self._roles, adapter=self._adapter)


def unmade(spec: str, made: Called, limit_s: float, *, role: str) -> ConfigError:
    """Return the error for a failed instance, with the remedy. No command tests a class of the arena."""
    found = made.error if made.end is End.NOT_MADE else made.in_words("its constructor", limit_s)
    trial = "" if role == ARENA else ", or try it with 'league-agents check'"
    return ConfigError(spec, f"cannot be made: {found}; mend it{trial}")
