"""Events that arrive during a pause and are held until its end (protocol 4.3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from league_agents.games.q21.untrusted import field_of, integer_of, items_of, number_of, text_of
from league_agents.league.machines.config import ParticipantConfig
from league_agents.league.machines.events import CallbackFailed, CallbackReturned, MessageArrived
from league_agents.league.machines.participant.league_state import League
from league_agents.league.machines.stored import add_apart, load
from league_agents.league.machines.turn import StepContext
from league_agents.league.wire.address import same_address

Held = MessageArrived | CallbackReturned | CallbackFailed

_DEEPEST = 12
_MOST_ITEMS = 1000


def hold(turn: StepContext, config: ParticipantConfig, held: tuple[Held, ...], event: Held) -> tuple[Held, ...]:
    """The held events with ``event`` added. Mail beyond the limits is dropped with a warning."""
    if isinstance(event, MessageArrived):
        # The open calls bound the number of results; only mail is unbounded.
        if len(held) >= config.held_limit:
            turn.warn("held_limit", f"{len(held)} events wait for the end of the pause; this message is dropped")
            return held
        sender = event.envelope.sender.email
        mails = [each for each in held if isinstance(each, MessageArrived)]
        of_sender = sum(same_address(mail.envelope.sender.email, sender) for mail in mails)
        if of_sender >= config.held_limit_of_sender:
            turn.warn("held_limit", f"{of_sender} messages of {sender[:80]} wait already; this one is dropped")
            return held
    elif any(not isinstance(each, MessageArrived) and each.call_id == event.call_id for each in held):
        return held
    if isinstance(event, CallbackReturned):
        event = CallbackReturned(call_id=event.call_id, result=_as_dict(event.result))
    return (*held, event)


class _State(Protocol):
    """The fields that the states of both participants share."""

    @property
    def league(self) -> League: ...

    @property
    def held(self) -> tuple[Held, ...]: ...


def participant_parts(state: _State, since: _State | None) -> dict[str, object | None]:
    """The parts of the league and of the held events that changed since the state ``since``."""
    league, former = state.league, since.league if since is not None else None
    parts: dict[str, object | None] = {}
    if league is not former:
        parts["league"] = league
        add_apart(parts, league, former, "league")
    if since is None or state.held is not since.held:
        parts["held"] = state.held
    return parts


def load_held(parts: Mapping[str, str]) -> tuple[Held, ...]:
    """The events in the part ``held``. Raises ``JournalError`` when it cannot be read."""
    return load(tuple[Held, ...], parts["held"], "held") if "held" in parts else ()


def _as_dict(result: Mapping[str, object]) -> dict[str, object]:
    plain = json_value(result, 0)
    return plain if isinstance(plain, dict) else {}


def json_value(value: object, depth: int) -> object:
    """An untrusted value as a JSON value. Values without a JSON form become ``None``, which no contract accepts."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return text_of(value)
    if issubclass(kind, int):
        return integer_of(value)
    if issubclass(kind, float):
        return number_of(value)
    if depth >= _DEEPEST:
        return None
    if issubclass(kind, dict) and dict.__len__(value) <= _MOST_ITEMS:  # type: ignore[arg-type]
        keys = [key for key in dict.keys(value) if type(key) is str]  # type: ignore[arg-type,var-annotated]
        return {key: json_value(field_of(value, key), depth + 1) for key in keys}
    items = items_of(value, _MOST_ITEMS)
    return None if items is None else [json_value(each, depth + 1) for each in items]
