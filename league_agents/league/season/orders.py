"""The commands of an operator, and the content of settlements on their way from the command line to the manager."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

import msgspec
from msgspec import Struct

LONGEST_EXTENSION = timedelta(days=30)
"""Maximal time by which one order postpones the end of a round."""


class OrderSubject(StrEnum):
    """The subject of a settlement."""

    MATCH = "match"
    TEAM = "team"
    ROUND = "round"


class Command(StrEnum):
    """The commands of an operator, each with its meaning. All are for the league manager."""

    OPEN_SEASON = "open_season", "invite everybody to register"
    NEW_SEASON = "new_season", "begin the season that the league file names now, on the same journal"
    CLOSE_REGISTRATION = "close_registration", "go on without those who have not registered"
    START_ROUND = "start_round", "begin the next round now"
    END_ROUND = "end_round", "call the round's reports in and close it"
    FINISH_SEASON = "finish_season", "end the season with the standings as they are"
    KEEP_ALIVE = "keep_alive", "ask everybody for a sign of life", True
    PAUSE = "pause", "stop all games where they are", True
    CONTINUE = "continue", "go on after a pause"
    RESET = "reset", "drop everything and go back to before the season; once it has begun with --why"
    FREE_TEXT = "free_text", "send --text to everybody", True
    ANNUL = "annul", "take match ABOUT out of the standings", False, OrderSubject.MATCH
    CORRECT = "correct", "give match ABOUT the points of --points", False, OrderSubject.MATCH
    REINSTATE = "reinstate", "let match ABOUT count as it was reported", False, OrderSubject.MATCH
    REPLAY = (
        "replay",
        "have match ABOUT played again, in an extra round; its result no longer counts",
        False,
        OrderSubject.MATCH,
    )
    SUBSTITUTE_REFEREE = (
        "substitute_referee",
        "give match ABOUT the referee of TEAM; a match without a report is played again",
        False,
        OrderSubject.MATCH,
    )
    WITHDRAW = "withdraw", "take team ABOUT out: what it has not played is a walkover", False, OrderSubject.TEAM
    READMIT = "readmit", "let the withdrawn team ABOUT play again", False, OrderSubject.TEAM
    EXTEND_ROUND = "extend_round", "end the round --minutes later", False, OrderSubject.ROUND

    meaning: str
    """The command's effect, as the help of ``league-agents manage`` gives it."""

    takes_text: bool
    """Whether the operator may write a text with it."""

    settles: OrderSubject | None
    """The subject of a settlement, whose text is a ``SettlementOrder``; ``None`` for other commands."""

    def __new__(
        cls, value: str, meaning: str = "", takes_text: bool = False, settles: OrderSubject | None = None
    ) -> Command:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning, member.takes_text, member.settles = meaning, takes_text, settles
        return member

    @property
    def takes_why(self) -> bool:
        """Whether the operator gives a reason with it; a settlement and a reset of a begun season need one."""
        return self.settles is not None or self is Command.RESET

    @property
    def word(self) -> str:
        """The command as a person types it."""
        return self.value.replace("_", "-")


def command_of(name: str) -> Command | None:
    """The command that a person typed, or that a stored order names; ``None`` for any other text."""
    return next((command for command in Command if name in (command.word, command.value)), None)


class SettlementOrder(Struct, frozen=True, kw_only=True):
    """The content of a settlement. It travels as JSON in the text of an order."""

    about: str = ""
    """A game id, or the group id of a team."""

    why: str = ""
    points: tuple[int, int] | None = None
    """The league points of player 1 and player 2, for a correction."""

    private_scores: tuple[float, float] | None = None
    minutes: float | None = None
    """The length of an extension."""

    referee: str = ""
    """The group id of the team whose referee steps in."""

    def to_text(self) -> str:
        """The text of the order."""
        return msgspec.json.encode(self).decode()


def read_order(text: str) -> SettlementOrder | None:
    """Parse the text of ``to_text``; ``None`` for any other text."""
    try:
        return msgspec.json.decode(text.encode(), type=SettlementOrder)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


def order_words(text: str) -> str:
    """A settlement's order in words for people: ``0101001: why``; any other text unchanged."""
    order = read_order(text) if text.startswith("{") else None
    if order is None:
        return text
    about = " ".join(part for part in (order.about, order.referee) if part)
    return ": ".join(part for part in (about, order.why) if part)
