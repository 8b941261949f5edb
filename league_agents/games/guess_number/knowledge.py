"""What an agent can infer from its own feedback and from the reports that it heard (arena 2.2).

Rule: the true target is not used. A false report leads to false knowledge, because visibly ignoring it would reveal who
was right. Own feedback overrides reports, and a number that is called right in one report and wrong in another counts
as neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from league_agents.games.game import JsonObject
from league_agents.games.guess_number.state import GuesserRecord, Utterance
from league_agents.kit.values import evolve


def claims_of(report: JsonObject) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers that a valid state report calls wrong, and those that it calls right."""
    content: Mapping[str, Any] = report.get("content") or {}
    guesses, feedback = content.get("guess_history", ()), content.get("feedback_history", ())
    wrong: set[int] = set()
    right: set[int] = set()
    # The unanswered guess may be at the end (checklist 000). Lists of other lengths cannot be matched.
    if len(guesses) - len(feedback) in (0, 1):
        for guess, was_right in zip(guesses, feedback, strict=False):
            (right if was_right else wrong).add(guess)
    if content.get("is_correct") is True and "current_guess" in content:
        right.add(content["current_guess"])
    return frozenset(wrong), frozenset(right)


def listening(seat: GuesserRecord, wrong: frozenset[int], right: frozenset[int]) -> GuesserRecord:
    """Return the seat after its agent heard these claims."""
    if wrong <= seat.said_wrong and right <= seat.said_right:
        return seat
    return evolve(seat, said_wrong=seat.said_wrong | wrong, said_right=seat.said_right | right)


def having_heard(seats: Sequence[GuesserRecord], agents: Sequence[str], said: Utterance) -> tuple[GuesserRecord, ...]:
    """Return the seats of all agents after a report. An agent learns nothing from its own report."""
    wrong, right = claims_of(said.shown)
    if not wrong and not right:
        return tuple(seats)
    return tuple(
        [
            listening(seat, wrong, right)
            if agent != said.sender and (said.heard_by is None or agent in said.heard_by)
            else seat
            for agent, seat in zip(agents, seats, strict=True)
        ]
    )


def known_target(seat: GuesserRecord) -> int | None:
    """Return the number that the agent can take for the target; ``None`` if there is none."""
    if seat.is_correct:
        return seat.guesses[-1]
    if not seat.said_right:
        return None
    likely = seat.said_right - seat.said_wrong - frozenset(seat.guesses)
    return next(iter(likely)) if len(likely) == 1 else None


def known_wrong(seat: GuesserRecord, num_choices: int) -> frozenset[int]:
    """Return the numbers that the agent can take for wrong; never all numbers."""
    own = frozenset(seat.guesses)
    found = own | (seat.said_wrong - seat.said_right if seat.said_right else seat.said_wrong)
    if seat.is_correct:
        target = frozenset(seat.guesses[-1:])
        own, found = own - target, found - target
    # If every number is called wrong, at least one claim is false, and no agent can tell which one.
    return found if len(found) < num_choices else own


def contradicts(report: JsonObject, seat: GuesserRecord) -> bool:
    """Whether the history in a valid report contradicts the record. Omissions contradict nothing."""
    content: Mapping[str, Any] = report.get("content") or {}
    if "guess_history" in content:
        guesses, truth = content["guess_history"], list(seat.guesses)
        if guesses != truth and guesses != [*truth, report["next_guess"]]:
            return True
    if "feedback_history" in content and content["feedback_history"] != list(seat.feedback):
        return True
    return "is_correct" in content and content["is_correct"] != seat.is_correct
