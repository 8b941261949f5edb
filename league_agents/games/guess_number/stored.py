"""States as JSON values, and back (arena 1).

Rule: only what cannot be worked out again is stored; a dump that does not fit together is refused, whoever made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from league_agents.games.entry import check_agent_ids
from league_agents.games.game import GAME_VERSION, JsonObject
from league_agents.games.guess_number.config import MAX_AGENTS, MIN_AGENTS, Config, config_as_json, read_config
from league_agents.games.guess_number.knowledge import having_heard
from league_agents.games.guess_number.messages import validate
from league_agents.games.guess_number.protocol import ACTION, END, REASONING, REPORTING, STATE_REPORT
from league_agents.games.guess_number.state import (
    FAILURE,
    SUCCESS,
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
from league_agents.kit.keys import Keys
from league_agents.kit.values import evolve

_STATE_KEYS: Final = (
    "game",
    "version",
    "config",
    "agent_ids",
    "target",
    "step",
    "phase",
    "owing",
    "seats",
    "messages",
    "reported",
    "sealed",
    "steps_used",
    "reason",
    "tally",
)
_COUNTED: Final = tuple(field.name for field in msgspec.structs.fields(GameTally))
_MOST_MESSAGES: Final = 10_000_000


def dump_state(state: State) -> dict[str, Any]:
    """The whole state, host-only parts included."""
    return {
        "game": "guess_number",
        "version": GAME_VERSION,
        "config": config_as_json(state.config),
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
    """The state that was dumped. Raises ``ConfigError``."""
    keys = Keys(dumped, "", _STATE_KEYS)
    if keys.at("game") != "guess_number" or keys.at("version") != GAME_VERSION:
        raise ConfigError("game", f"must be guess_number, version {GAME_VERSION}")
    agents = check_agent_ids(_texts(keys.at("agent_ids"), "agent_ids"), MIN_AGENTS, MAX_AGENTS)
    config = read_config(keys.at("config"), agents)
    target = keys.integer("target", None, 0, config.num_choices - 1)
    if config.target is not None and target != config.target:
        raise ConfigError("target", "is another one than the configuration's")
    step = keys.integer("step", None, 0, config.max_steps - 1)
    phase = keys.word("phase", (REPORTING, REASONING, ACTION, END), None)
    reason = keys.at("reason")
    if reason is not None and reason not in (SUCCESS, FAILURE):
        raise ConfigError("reason", "must be success, failure or null")
    owing = tuple(_texts(keys.at("owing"), "owing"))
    if list(owing) != [agent for agent in agents if agent in owing]:
        raise ConfigError("owing", "must be agents of the match, each once and in their order")
    if (phase == END) != (reason is not None) or (phase == END) == bool(owing):
        raise ConfigError("phase", "does not fit with who owes an action and with the reason of the end")
    counted = keys.section("tally", _COUNTED)
    log, said = _messages(keys, config, agents, step, is_over=reason is not None)
    seats = tuple(
        evolve(seat, heard=tuple(heard_of(log, agent)))
        for agent, seat in zip(agents, _seats(keys, config, agents, target), strict=True)
    )
    for each in (*log, *said):
        if each.message["type"] == STATE_REPORT:
            seats = having_heard(seats, agents, each)
    return State(
        config=config,
        agent_ids=agents,
        target=target,
        step=step,
        phase=phase,
        owing=owing,
        seats=seats,
        log=log,
        public=tuple(heard_by_all(log)),
        said=said,
        reported=_numbers(keys, "reported", config, agents),
        sealed=_numbers(keys, "sealed", config, agents),
        steps_used=keys.integer("steps_used", None, 0, config.max_steps),
        reason=reason,
        tally=GameTally(**{name: counted.integer(name, None, 0, 2**53) for name in _COUNTED}),
    )


def _seats(keys: Keys, config: Config, agents: Sequence[str], target: int) -> list[GuesserRecord]:
    found = keys.sections("seats", ("guesses", "last_guess"), most=MAX_AGENTS)
    if len(found) != len(agents):
        raise ConfigError("seats", f"must be {len(agents)}, one for every agent")
    seats = []
    for each in found:
        guesses = each.at("guesses")
        if not isinstance(guesses, list):
            raise each.error("guesses", "must be a list of numbers")
        for guess in guesses:
            _check_number(each, "guesses", guess, config)
        if target in guesses[:-1]:
            raise each.error("guesses", "must not go on after the target")
        last: int | None = guesses[-1] if guesses else None
        if each.at("last_guess") is None:
            last = None
        elif each.at("last_guess") != last or last is None:
            raise each.error("last_guess", "must be the last of the guesses or null")
        feedback = tuple(guess == target for guess in guesses)
        seats.append(GuesserRecord(guesses=tuple(guesses), feedback=feedback, last_guess=last))
    return seats


def _messages(
    keys: Keys, config: Config, agents: tuple[str, ...], step: int, *, is_over: bool
) -> tuple[tuple[Utterance, ...], tuple[Utterance, ...]]:
    """Those of the steps that are over, and those of this step."""
    if keys.at("messages") == []:
        return (), ()
    log: list[Utterance] = []
    said: list[Utterance] = []
    latest = 0
    for each in keys.sections("messages", ("message", "heard_by"), most=_MOST_MESSAGES):
        raw = each.at("message")
        checked = validate(raw if isinstance(raw, dict) else {}, num_choices=config.num_choices, agent_ids=agents)
        message = checked.message
        if message is None or checked.errors:
            first = checked.errors[0]
            raise each.error("message", f"{first.path} {first.message}".strip())
        heard_by: tuple[str, ...] | None = None
        if each.at("heard_by") is not None:
            heard_by = tuple(_texts(each.at("heard_by"), each.below("heard_by")))
        if not latest <= message["timestamp"] <= step:
            raise each.error("message", "is not in the order of the steps")
        latest = message["timestamp"]
        is_past = is_over or message["timestamp"] < step
        (log if is_past else said).append(
            Utterance(sender=message["sender"], message=message, shown=shown_of(message, config), heard_by=heard_by)
        )
    return tuple(log), tuple(said)


def _numbers(keys: Keys, key: str, config: Config, agents: Sequence[str]) -> tuple[int | None, ...]:
    found = keys.at(key)
    if not isinstance(found, list) or len(found) != len(agents):
        raise keys.error(key, f"must be a list of {len(agents)} numbers or nulls")
    for each in found:
        if each is not None:
            _check_number(keys, key, each, config)
    return tuple(found)


def _check_number(keys: Keys, key: str, value: object, config: Config) -> None:
    if type(value) is not int or not 0 <= value < config.num_choices:
        raise keys.wrong(key, f"whole numbers from 0 to {config.num_choices - 1}", value)


def _texts(value: object, path: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ConfigError(path, "must be a list of texts")
    return value
