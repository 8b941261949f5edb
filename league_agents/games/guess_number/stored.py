"""States as JSON values, and back (arena 1).

Rule: only values that cannot be derived are stored; an inconsistent dump is refused, whatever its origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from pydantic import Field

from league_agents.games.entry import check_agent_ids
from league_agents.games.game import GAME_VERSION, JsonObject
from league_agents.games.guess_number.config import MAX_AGENTS, MIN_AGENTS, Config, read_config
from league_agents.games.guess_number.knowledge import having_heard
from league_agents.games.guess_number.messages import validate
from league_agents.games.guess_number.protocol import END, STATE_REPORT
from league_agents.games.guess_number.state import (
    GameTally,
    GuesserRecord,
    State,
    Utterance,
    heard_by_all,
    heard_of,
    shown_of,
)
from league_agents.kit.errors import ConfigError
from league_agents.kit.frozen import thawed
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.kit.written import WrittenMapping, read_written

_COUNTED: Final = tuple(field.name for field in msgspec.structs.fields(GameTally))

Count = Annotated[int, Field(ge=0, le=2**53)]


class StoredRecord(WrittenMapping):
    """The stored form of one agent's guesses."""

    guesses: list[int]
    last_guess: int | None = None


class StoredMessage(WrittenMapping):
    """The stored form of a report or a proposal."""

    message: Any
    heard_by: list[str] | None = None


class StoredState(WrittenMapping):
    """The stored form of a state."""

    game: Literal["guess_number"]
    version: Literal["1.0.0"]
    config: Any
    agent_ids: list[str]
    target: int
    step: Count
    phase: Literal["reporting", "reasoning", "action", "end"]
    owing: list[str]
    seats: list[StoredRecord]
    messages: list[StoredMessage]
    reported: list[int | None]
    sealed: list[int | None]
    steps_used: Count
    reason: Literal["success", "failure"] | None = None
    tally: dict[str, Count]


def dump_state(state: State) -> dict[str, Any]:
    """Return the whole state, host-only parts included."""
    return {
        "game": "guess_number",
        "version": GAME_VERSION,
        "config": state.config.as_json(),
        "agent_ids": list(state.agent_ids),
        "target": state.target,
        "step": state.step,
        "phase": state.phase,
        "owing": list(state.owing),
        "seats": [{"guesses": list(seat.guesses), "last_guess": seat.last_guess} for seat in state.seats],
        "messages": [
            {
                "message": thawed(each.message),
                "heard_by": None if each.heard_by is None else list(each.heard_by),
            }
            for each in (*state.log, *state.said)
        ],
        "reported": list(state.reported),
        "sealed": list(state.sealed),
        "steps_used": state.steps_used,
        "reason": state.reason,
        "tally": {name: getattr(state.tally, name) for name in _COUNTED},
    }


def load_state(dumped: JsonObject) -> State:
    """Return the dumped state. Raises ``ConfigError``."""
    stored = read_written(StoredState, dumped, "")
    agents = check_agent_ids(stored.agent_ids, MIN_AGENTS, MAX_AGENTS)
    config = read_config(stored.config, agents)
    if stored.target not in range(config.num_choices) or config.target not in (None, stored.target):
        raise ConfigError("target", "is no number of the configuration, or another one than its target")
    owing = tuple(stored.owing)
    if list(owing) != [agent for agent in agents if agent in owing]:
        raise ConfigError("owing", "must be agents of the match, each once and in their order")
    is_over = stored.reason is not None
    if (stored.phase == END) != is_over or is_over == bool(owing):
        raise ConfigError("phase", "does not fit with who owes an action and with the reason of the end")
    for key, value, most in (
        ("step", stored.step, config.max_steps - 1),
        ("steps_used", stored.steps_used, config.max_steps),
    ):
        if value > most:
            raise ConfigError(key, f"must be at most {most}, found {value}")
    if stored.tally.keys() != set(_COUNTED):
        raise ConfigError("tally", f"must have the keys {', '.join(_COUNTED)}")
    log, said = _messages(stored, config, agents)
    seats = tuple(
        evolve(seat, heard=tuple(heard_of(log, agent)))
        for agent, seat in zip(agents, _seats(stored, config, agents), strict=True)
    )
    for each in (*log, *said):
        if each.message["type"] == STATE_REPORT:
            seats = having_heard(seats, agents, each)
    return State(
        config=config,
        agent_ids=agents,
        target=stored.target,
        step=stored.step,
        phase=stored.phase,
        owing=owing,
        seats=seats,
        log=log,
        public=tuple(heard_by_all(log)),
        said=said,
        reported=_numbers("reported", stored.reported, config, agents),
        sealed=_numbers("sealed", stored.sealed, config, agents),
        steps_used=stored.steps_used,
        reason=stored.reason,
        tally=GameTally(**stored.tally),
    )


def _seats(stored: StoredState, config: Config, agents: Sequence[str]) -> list[GuesserRecord]:
    if len(stored.seats) != len(agents):
        raise ConfigError("seats", f"must be {len(agents)}, one for every agent")
    seats = []
    for place, each in enumerate(stored.seats):
        path, guesses = f"seats[{place}]", tuple(each.guesses)
        _check_numbers(f"{path}.guesses", guesses, config)
        if stored.target in guesses[:-1]:
            raise ConfigError(f"{path}.guesses", "must not go on after the target")
        if each.last_guess is not None and guesses[-1:] != (each.last_guess,):
            raise ConfigError(f"{path}.last_guess", "must be the last of the guesses or null")
        feedback = tuple(guess == stored.target for guess in guesses)
        seats.append(GuesserRecord(guesses=guesses, feedback=feedback, last_guess=each.last_guess))
    return seats


def _messages(
    stored: StoredState, config: Config, agents: tuple[str, ...]
) -> tuple[tuple[Utterance, ...], tuple[Utterance, ...]]:
    """Return the messages of completed steps, and those of this step."""
    log: list[Utterance] = []
    said: list[Utterance] = []
    latest = 0
    for place, each in enumerate(stored.messages):
        path, raw = f"messages[{place}].message", each.message
        checked = validate(raw if isinstance(raw, dict) else {}, num_choices=config.num_choices, agent_ids=agents)
        message = checked.message
        if message is None or checked.errors:
            first = checked.errors[0]
            raise ConfigError(path, f"{first.path} {first.message}".strip())
        if not latest <= message["timestamp"] <= stored.step:
            raise ConfigError(path, "is not in the order of the steps")
        latest = message["timestamp"]
        is_past = stored.reason is not None or message["timestamp"] < stored.step
        heard_by = None if each.heard_by is None else tuple(each.heard_by)
        (log if is_past else said).append(
            Utterance(sender=message["sender"], message=message, shown=shown_of(message, config), heard_by=heard_by)
        )
    return tuple(log), tuple(said)


def _numbers(key: str, found: Sequence[int | None], config: Config, agents: Sequence[str]) -> tuple[int | None, ...]:
    if len(found) != len(agents):
        raise ConfigError(key, f"must be a list of {len(agents)} numbers or nulls")
    _check_numbers(key, [each for each in found if each is not None], config)
    return tuple(found)


def _check_numbers(path: str, numbers: Sequence[int], config: Config) -> None:
    for each in numbers:
        if each not in range(config.num_choices):
            raise ConfigError(path, f"must be whole numbers from 0 to {config.num_choices - 1}, found {shown(each)}")
