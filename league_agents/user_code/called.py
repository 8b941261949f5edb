"""What came of one call of user code, wherever it ran."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class End(StrEnum):
    """How a call ended."""

    RETURNED = "returned"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    DIED = "died"
    """The process in which it ran ended."""

    NOT_MADE = "not_made"
    """There is no instance: the class could not be loaded or its constructor failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One call that has ended."""

    end: End
    result: object = None
    """What was returned, as plain values; ``None`` unless something was."""

    detail: str = ""
    """``KeyError: 'answers'`` for an exception, ``ended its process with exit code 7`` for a death. One line."""

    where: str | None = None
    """``file:line`` in the user's own code: what raised, or what was running when time was up."""

    seconds: float = 0.0
    """How long the method ran. The constructor's time is not in it."""

    def in_words(self, method: str, limit_s: float) -> str:
        """Why there is no result, as one line: ``get_guess raised KeyError (me.py:11): 'dynamc'``."""
        match self.end:
            case End.RAISED:
                return f"{method} raised {self.error}"
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
