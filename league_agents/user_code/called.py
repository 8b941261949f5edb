"""What came of one call of user code, wherever it ran."""

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
    """Something was returned that cannot be taken over as plain values."""

    TIMED_OUT = "timed_out"
    DIED = "died"
    """The process in which it ran ended."""

    NOT_MADE = "not_made"
    """There is no instance: the class could not be loaded or its constructor failed."""


class UnusableResult(Exception):
    """What user code returned cannot be taken over. The text says what it is, as in ``more than 20000 values``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One call that has ended."""

    end: End
    result: object = None
    """What was returned, as plain values; ``None`` unless something was."""

    detail: str = ""
    """``KeyError: 'answers'`` for an exception, ``more than 20000 values`` for an unusable result,
    ``ended its process with exit code 7`` for a death. One line."""

    where: str | None = None
    """``file:line`` in the user's own code: what raised, or what was running when time was up."""

    seconds: float = 0.0
    """How long the method ran. The constructor's time is not in it."""

    def in_words(self, method: str, limit_s: float) -> str:
        """Why there is no result, as one line: ``get_guess raised KeyError (me.py:11): 'dynamc'``."""
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
        """``KeyError (my_player.py:11): 'dynamc'``: the place stands before the text, which is left out where nobody
        may read it."""
        if self.where is None:
            return self.detail
        name, colon, text = self.detail.partition(": ")
        return f"{name} ({self.where}){colon}{text}"


def failed_with(error: BaseException, seconds: float = 0.0) -> Called:
    """How a call ended out of which this came."""
    if isinstance(error, UnusableResult):
        return Called(end=End.UNUSABLE, detail=printable(str(error), 300), seconds=seconds)
    return Called(end=End.RAISED, detail=line_of(error), where=place_of(error), seconds=seconds)
