"""The events of a game of guess number, and who sees them (arena 2.2).

Rule: an event shows its viewers nothing that their view does not: feedback goes to its agent alone, a message to its
hearers, the target to nobody before the end.
"""

from __future__ import annotations

from typing import Any

from league_agents.games.game import ALL, HOST, Event, ForfeitCause, Visibility
from league_agents.games.guess_number.actions import PASS
from league_agents.games.guess_number.lines import line, phase_line, with_words
from league_agents.games.guess_number.protocol import END, OBSERVATION
from league_agents.games.guess_number.state import FAILURE, State
from league_agents.games.guess_number.views import scores_of, winners_of
from league_agents.kit.frozen import FrozenDict, frozen


def observations(state: State) -> list[Event]:
    """Return the events of the observation phase: each agent's own feedback, visible to that agent only."""
    lang, step = state.config.lang, state.step
    events = [phase_opened(state, OBSERVATION)]
    for agent, seat in zip(state.agent_ids, state.seats, strict=True):
        guess = seat.last_guess
        is_correct = None if guess is None else seat.feedback[-1]
        name = "observation_none" if guess is None else "observation_right" if is_correct else "observation_wrong"
        events.append(
            Event(
                kind=OBSERVATION,
                visible_to=(agent,),
                text=line(lang, name, step=step, guess=guess),
                data=FrozenDict(step=step, last_guess=guess, is_correct=is_correct),
            )
        )
    return events


def guesses(state: State) -> Event:
    """Return the guesses of a step that is about to be judged, and whether each is right; visible to the host only."""
    made = {agent: guess for agent, guess in zip(state.agent_ids, state.sealed, strict=True) if guess is not None}
    lang = state.config.lang
    told = [
        line(lang, "guess_right" if guess == state.target else "guess_wrong", agent=called(state, agent), guess=guess)
        for agent, guess in made.items()
    ]
    text = line(lang, "join").join(told) or line(lang, "guesses_none")
    return Event(kind="guesses", visible_to=HOST, text=text, data=FrozenDict(step=state.step, guesses=FrozenDict(made)))


def called(state: State, agent: str) -> str:
    """Return an agent's name for a line."""
    return state.config.called(agent)


def phase_opened(state: State, phase: str) -> Event:
    """Return the event that a phase begins."""
    return Event(
        kind="phase",
        visible_to=ALL,
        text=phase_line(state.config.lang, state.step, phase),
        data=FrozenDict(step=state.step, phase=phase),
    )


def ending(state: State) -> Event:
    """Return the event that the game is over; it reveals the target to everybody."""
    found: list[str] = []
    missing: list[str] = []
    for agent, seat in zip(state.agent_ids, state.seats, strict=True):
        (found if seat.is_correct else missing).append(called(state, agent))
    join = line(state.config.lang, "join_names").join
    return told_of(
        state,
        END,
        ALL,
        {
            "reason": state.reason,
            "target": state.target,
            "winners": frozen(winners_of(state)),
            "scores": frozen(scores_of(state)),
            "steps_used": state.steps_used,
        },
        name="failure_of_some" if found and state.reason == FAILURE else str(state.reason),
        target=state.target,
        steps=line(state.config.lang, "one_step" if state.steps_used == 1 else "steps", steps=state.steps_used),
        found=join(found),
        missing=join(missing),
    )


def told_of(
    state: State,
    kind: str,
    visible_to: Visibility,
    data: dict[str, Any],
    *,
    name: str | None = None,
    agent: str = "",
    words: object = None,
    **values: object,
) -> Event:
    """Return an event with its line: the line of its kind or of ``name``, filled with ``values`` and followed by an
    agent's ``words``."""
    lang = state.config.lang
    told = line(lang, name or kind, step=state.step, agent=called(state, agent), **values)
    return Event(kind=kind, visible_to=visible_to, text=with_words(lang, told, words), data=FrozenDict(data))


def passed(state: State, agent: str, hearers: tuple[str, ...] | None, cause: ForfeitCause | None) -> Event:
    """Return the event that an agent proposes nothing; ``cause`` is ``None`` if it chose to pass."""
    data: dict[str, Any] = {"step": state.step, "agent_id": agent}
    if cause is not None:
        data["cause"] = str(cause)
    name = PASS if cause is None else "pass_cause"
    return told_of(state, PASS, visible_to_hearers(agent, hearers), data, name=name, agent=agent, cause=cause)


def visible_to_hearers(agent: str, hearers: tuple[str, ...] | None) -> Visibility:
    """Return the visibility of an agent's public words."""
    return ALL if hearers is None else (agent, *hearers)
