"""The views of a game of guess number (arena 2.2).

Rule 1: a view is built from what its viewer did, heard and was told. The target is read in two places only: for the
host, and after the game is over.
Rule 2: a view is a new dict; the messages in it are shared and frozen.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from league_agents.games.game import HOST, Progress
from league_agents.games.guess_number.actions import GUESS
from league_agents.games.guess_number.knowledge import known_target, known_wrong
from league_agents.games.guess_number.protocol import ACTION, REASONING, REPORTING
from league_agents.games.guess_number.state import SUCCESS, GuesserRecord, State, heard_by_all, heard_of
from league_agents.kit.frozen import frozen

_STAGES = {REPORTING: "report", REASONING: "propose", ACTION: GUESS}


def view_of(state: State, viewer: str) -> dict[str, Any]:
    """Return the view of an agent or of the host; any other viewer gets the spectator's."""
    config = state.config
    is_over = state.reason is not None
    found: dict[str, Any] = {
        "step": state.step,
        "phase": state.phase,
        "num_choices": config.num_choices,
        "max_steps": config.max_steps,
        "win": config.win,
        "agents": _agents(state.agent_ids, tuple(config.names.items())),
    }
    if viewer in state.agent_ids:
        place = state.agent_ids.index(viewer)
        seat = state.seats[place]
        found["me"] = {"agent_id": viewer, **_seat_view(seat, state.sealed[place], config.num_choices)}
        found["messages"] = [*seat.heard, *heard_of(state.said, viewer)]
    elif viewer == HOST:
        found["seats"] = [
            {
                "agent_id": agent,
                **_seat_view(seat, sealed, config.num_choices),
                "reported": reported,
                "sealed": sealed,
            }
            for agent, seat, reported, sealed in zip(
                state.agent_ids, state.seats, state.reported, state.sealed, strict=True
            )
        ]
        found["messages"] = [each.message for each in (*state.log, *state.said)]
        found["pending"] = list(state.owing)
    else:
        found["messages"] = [*state.public, *heard_by_all(state.said)]
    found["done"] = is_over
    if is_over or viewer == HOST:
        found["target"] = state.target
    if is_over:
        found["reason"] = state.reason
        found["winners"] = list(winners_of(state))
    return found


def progress_of(state: State, viewer: str) -> Progress:
    """Return the progress of the game, with the viewer's own stage."""
    status: Literal["started", "ended"] = "started"
    if state.reason is not None:
        status, stage = "ended", "done"
    elif viewer not in state.agent_ids:
        stage = "watch"
    else:
        stage = _STAGES[state.phase] if viewer in state.owing else "wait"
    return Progress(status=status, phase=state.phase, turn=state.step + 1, stage=stage, active_agent_ids=state.owing)


def winners_of(state: State) -> tuple[str, ...]:
    """Return the winners: all agents or none, because they play together."""
    return state.agent_ids if state.reason == SUCCESS else ()


def scores_of(state: State) -> dict[str, float]:
    """Return 1.0 for every agent after a success; after a failure, 1.0 only for agents that were right."""
    return {
        agent: 1.0 if state.reason == SUCCESS or seat.is_correct else 0.0
        for agent, seat in zip(state.agent_ids, state.seats, strict=True)
    }


def _seat_view(seat: GuesserRecord, sealed: int | None, num_choices: int) -> dict[str, Any]:
    guesses = list(seat.guesses)
    if sealed is not None:
        # As in a report, the unanswered guess ends the history.
        guesses.append(sealed)
    return {
        "guess_history": guesses,
        "feedback_history": list(seat.feedback),
        "is_correct": seat.is_correct,
        "known_wrong": sorted(known_wrong(seat, num_choices)),
        "known_target": known_target(seat),
    }


@lru_cache(maxsize=256)
def _agents(agent_ids: tuple[str, ...], names: tuple[tuple[str, str], ...]) -> Any:
    called = dict(names)
    return frozen([{"agent_id": agent, "name": called.get(agent, agent)} for agent in agent_ids])
