"""The baseline agent of guess number (arena 2.2): simple, cooperative and deterministic.

Rule: it uses only its view and the legal actions. It guesses the known target, or else the smallest number that is
neither known to be wrong nor claimed in this step by an agent that it has heard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from league_agents.games.game import Action, LegalAction
from league_agents.games.guess_number.actions import GUESS, PASS
from league_agents.games.guess_number.protocol import PROPOSAL, STATE_REPORT
from league_agents.kit.draw import Draw


def scripted(view: Mapping[str, Any], legal: Sequence[LegalAction], draw: Draw | None = None) -> Action:  # noqa: ARG001
    """Return the baseline's action for this view. ``draw`` is unused: nothing here is random."""
    types = {each.type for each in legal}
    me = view["me"]
    guess = chosen_guess(view)
    if STATE_REPORT in types:
        return Action(type=STATE_REPORT, data=report_of(view, guess))
    message: dict[str, Any] = {"sender": me["agent_id"], "timestamp": view["step"]}
    if PROPOSAL in types:
        return Action(type=PROPOSAL, data={**message, "type": PROPOSAL, "content": {"next_guess": guess}})
    return Action(type=GUESS, data={"guess": guess}) if GUESS in types else Action(type=PASS)


def report_of(view: Mapping[str, Any], guess: int) -> dict[str, Any]:
    """Return the report of an agent with this view that intends to guess this number, with its whole history."""
    me = view["me"]
    content = {
        "current_guess": guess,
        "is_correct": me["is_correct"],
        "guess_history": [*me["guess_history"], *([] if me["is_correct"] else [guess])],
        "feedback_history": list(me["feedback_history"]),
    }
    return {
        "sender": me["agent_id"],
        "timestamp": view["step"],
        "type": STATE_REPORT,
        "next_guess": guess,
        "content": content,
    }


def chosen_guess(view: Mapping[str, Any]) -> int:
    """Return the number that the baseline would guess now."""
    me = view["me"]
    target: int | None = me["known_target"]
    if target is not None:
        return target
    wrong = set(me["known_wrong"])
    claimed = _claimed_by_others(view)
    left = (number for number in range(view["num_choices"]) if number not in wrong)
    first = next(left, 0)
    if first not in claimed:
        return first
    # If every number is claimed, guessing the same number as another agent is better than guessing a wrong one.
    return next((number for number in left if number not in claimed), first)


def _claimed_by_others(view: Mapping[str, Any]) -> set[int]:
    """Return the numbers that others last announced as their next guess in this step, in a report or in a proposal.

    A proposal counts because an early report is made before the others' feedback is heard, so it is often out of date
    by the time of the guess.
    """
    latest: dict[str, int] = {}
    step, me = view["step"], view["me"]["agent_id"]
    for message in reversed(view["messages"]):
        if message["timestamp"] != step:
            break
        said = message if message["type"] == STATE_REPORT else message["content"]
        if message["sender"] != me and "next_guess" in said:
            latest.setdefault(message["sender"], said["next_guess"])
    return set(latest.values())
