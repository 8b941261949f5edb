"""What a game of guess number announces, and to whom (arena 2.2).

Rule: an event tells its viewers nothing that their view does not: feedback goes to its agent alone, a message to those
who hear it, the target to nobody before the end.
"""

from __future__ import annotations

from typing import Any

from league_agents.core.frozen import FrozenDict, frozen
from league_agents.core.game import ALL, Cause, Event, Visibility
from league_agents.games.guess_number.actions import PASS
from league_agents.games.guess_number.lines import line, phase_line, with_words
from league_agents.games.guess_number.protocol import END, OBSERVATION
from league_agents.games.guess_number.state import State
from league_agents.games.guess_number.views import scores_of, winners_of
from league_agents.values import maker

_event = maker(Event)


def observations(state: State) -> list[Event]:
    """The observation phase: every agent's own feedback, for its eyes only."""
    lang, step = state.config.lang, state.step
    events = [phase_opened(state, OBSERVATION)]
    for agent, seat in zip(state.agent_ids, state.seats, strict=True):
        guess = seat.last_guess
        is_correct = None if guess is None else seat.feedback[-1]
        name = "observation_none" if guess is None else "observation_right" if is_correct else "observation_wrong"
        events.append(
            _event(
                kind=OBSERVATION,
                visible_to=(agent,),
                text=line(lang, name, step=step, guess=guess),
                data=FrozenDict(step=step, last_guess=guess, is_correct=is_correct),
            )
        )
    return events


def phase_opened(state: State, phase: str) -> Event:
    """A phase begins."""
    return _event(
        kind="phase",
        visible_to=ALL,
        text=phase_line(state.config.lang, state.step, phase),
        data=FrozenDict(step=state.step, phase=phase),
    )


def ending(state: State) -> Event:
    """The game is over, and everybody learns the target."""
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
        name=str(state.reason),
        target=state.target,
        steps=state.steps_used,
    )


def told_of(
    state: State,
    kind: str,
    visible_to: Visibility,
    data: dict[str, Any],
    *,
    name: str | None = None,
    words: object = None,
    **values: object,
) -> Event:
    """An event with its line: its kind's or that of ``name``, with ``values`` in it and an agent's ``words`` behind."""
    lang = state.config.lang
    told = line(lang, name or kind, step=state.step, **values)
    return _event(kind=kind, visible_to=visible_to, text=with_words(lang, told, words), data=FrozenDict(data))


def passed(state: State, agent: str, hearers: tuple[str, ...] | None, cause: Cause | None) -> Event:
    """An agent proposes nothing; ``cause`` where it did not say so itself."""
    data: dict[str, Any] = {"step": state.step, "agent_id": agent}
    if cause is not None:
        data["cause"] = str(cause)
    name = PASS if cause is None else "pass_cause"
    return told_of(state, PASS, visible_to_hearers(agent, hearers), data, name=name, agent=agent, cause=cause)


def visible_to_hearers(agent: str, hearers: tuple[str, ...] | None) -> Visibility:
    """Who sees what an agent says aloud."""
    return ALL if hearers is None else (agent, *hearers)
