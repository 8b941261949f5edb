"""The result of one call of user code, in this process or another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from league_agents.kit.printable import line_of, printable
from league_agents.user_code.place import place_of


class End(StrEnum):
    """How a call ended."""

    RETURNED = "returned"
    RAISED = "raised"
    UNUSABLE = "unusable"
    """The result cannot be copied into plain values."""

    TIMED_OUT = "timed_out"
    DIED = "died"
    """The process that ran the call ended."""

    NOT_MADE = "not_made"
    """No instance exists: the class could not be loaded or its constructor failed."""


class UnusableResult(Exception):
    """A result of user code cannot be copied. The text gives the reason, such as ``more than 20000 values``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The result of one call that has ended."""

    end: End
    result: object = None
    """The return value, as plain values; ``None`` if the call returned nothing."""

    detail: str = ""
    """``KeyError: 'answers'`` for an exception, ``more than 20000 values`` for an unusable result,
    ``ended its process with exit code 7`` for a death. One line."""

    where: str | None = None
    """``file:line`` in the user's own code that raised, or that was running at the time limit; ``None`` if unknown."""

    seconds: float = 0.0
    """How long the method ran, without the constructor."""

    def in_words(self, method: str, limit_s: float) -> str:
        """Return the reason for a missing result in one line: ``get_guess raised KeyError (me.py:11): 'dynamc'``."""
        match self.end:
            case End.RAISED:
                return f"{method} raised {self.error}"
            case End.UNUSABLE:
                return f"{method} returned {self.detail}"
            case End.TIMED_OUT:
                place = f"; it was at {self.where}" if self.where is not None else ""
                return f"{method} did not return within {limit_s:g} s{place}"
            case End.DIED:
                return f"{method} {self.detail}{f' ({self.where})' if self.where is not None else ''}"
            case End.NOT_MADE:
                return f"the agent could not be made: {self.error}"
            case End.RETURNED:
                return f"{method} returned"

    @property
    def error(self) -> str:
        """``KeyError (my_player.py:11): 'dynamc'``: the place comes before the text, because the text is left out where
        it must stay secret."""
        if self.where is None:
            return self.detail
        name, colon, text = self.detail.partition(": ")
        return f"{name} ({self.where}){colon}{text}"


def failed_with(error: BaseException, seconds: float = 0.0) -> Called:
    """Return the result of a call that raised ``error``."""
    if isinstance(error, UnusableResult):
        return Called(end=End.UNUSABLE, detail=printable(str(error), 300), seconds=seconds)
    return Called(end=End.RAISED, detail=line_of(error), where=place_of(error), seconds=seconds)
