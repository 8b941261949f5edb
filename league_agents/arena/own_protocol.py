"""A user's interaction protocol, in its own process.

Rule 1: a method that does not return in ``LIMIT_S``, or ends its process, raises one ``ProtocolFailed`` that names the
method and the place. The object's state is lost with its process, so every later call fails with the same message.
Rule 2: a subclass of a built-in protocol runs in this process, because a match calls more of it than the five methods;
only its import is first tried in another process.
"""

from __future__ import annotations

import os
import pickle
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from inspect import Parameter, Signature
from typing import Any, ClassVar, Final

from league_agents.kit.errors import ConfigError
from league_agents.turns.load import ClassLoader
from league_agents.turns.message import Message, ProtocolFailed
from league_agents.turns.own_turns import keywords_of, own_methods
from league_agents.turns.turn_taking import TurnTaking
from league_agents.user_code.called import End
from league_agents.user_code.loading import PROTOCOL, load_class
from league_agents.user_code.process import UserProcess

LIMIT_S = 10.0
"""Time limit of each call: the match waits meanwhile."""

_SERVED: Final = f"{__name__}:served"


def protocol_loader(*, in_process: bool) -> ClassLoader:
    """A loader for the user's protocol classes; each of their objects has its own process, unless ``in_process``."""
    if in_process or os.name == "nt":  # a process cannot inherit a socket and a pipe there
        return load_class
    return lru_cache(maxsize=None)(_class_elsewhere)


class ServedProtocol:
    """Wraps the user's object for calls from the other process."""

    def __init__(self, protocol_class: type) -> None:
        self._class = protocol_class
        self._protocol: Any = None

    def describe(self) -> dict[str, object]:
        """Describe the class to the program that started this process."""
        names, takes_any = keywords_of(self._class)
        return {
            "is_built_in": issubclass(self._class, TurnTaking),
            "methods": own_methods(self._class),
            "keywords": sorted(names),
            "takes_any": takes_any,
            "doc": self._class.__doc__,
        }

    def begin(self, given: str) -> list[str]:
        """Make the object. Return the path and the message of a configuration error; empty on success."""
        agent_ids, named = pickle.loads(b64decode(given))  # noqa: S301 - of the program that started this process
        try:
            self._protocol = self._class(agent_ids, **named)
        except ConfigError as error:
            return [error.path, error.message]
        return []

    def get_next_speaker(self) -> object:
        return self._protocol.get_next_speaker()

    def get_listeners(self, speaker: str) -> object:
        found = self._protocol.get_listeners(speaker)
        return list(found) if isinstance(found, (set, frozenset)) else found

    def advance(self) -> None:
        self._protocol.advance()

    def route_message(self, message: dict[str, Any]) -> None:
        self._protocol.route_message(Message(**message))

    def should_stop(self) -> bool:
        return bool(self._protocol.should_stop())

    def reset(self) -> None:
        self._protocol.reset()


def served(protocol_class: type) -> Callable[[], ServedProtocol]:
    """A factory for the served object in the process of a protocol class."""
    return lambda: ServedProtocol(protocol_class)


class _ProtocolElsewhere:
    """A proxy for the object. Its subclasses have the methods and the constructor of one user's class."""

    _spec: ClassVar[str]
    _spare: ClassVar[list[UserProcess]]

    def __init__(self, agent_ids: list[str], **named: object) -> None:
        self._process = self._spare.pop() if self._spare else _process(self._spec)
        self._failure = ""
        made = self._process.call("begin", [b64encode(pickle.dumps((agent_ids, named))).decode()], LIMIT_S)
        if made.end is not End.RETURNED:
            why = made.in_words("its constructor", LIMIT_S)
            raise ConfigError(self._spec, f"cannot be made of the list of agents: {why}")
        if isinstance(made.result, list) and made.result:
            path, message = map(str, made.result)
            raise ConfigError(path, message)

    def _call(self, method: str, *arguments: object) -> object:
        if self._failure:
            raise ProtocolFailed(self._failure)
        called = self._process.call(method, arguments, LIMIT_S)
        if called.end is End.RETURNED:
            return called.result
        failure = f"{self._spec}: {called.in_words(method, LIMIT_S)}"
        if called.end not in (End.RAISED, End.UNUSABLE):
            self._failure = failure
        raise ProtocolFailed(failure)


def _class_elsewhere(spec: str) -> type:
    process = _process(spec)
    process.load()
    described = process.call("describe", (), LIMIT_S)
    told = described.result
    if described.end is not End.RETURNED or not isinstance(told, dict):
        raise ConfigError(spec, f"cannot be looked at: {described.in_words('its class', LIMIT_S)}")
    if told["is_built_in"]:
        process.close()
        return load_class(spec)
    parameters = [Parameter("agent_ids", Parameter.POSITIONAL_ONLY)]
    parameters += [Parameter(name, Parameter.KEYWORD_ONLY) for name in told["keywords"]]
    parameters += [Parameter("more", Parameter.VAR_KEYWORD)] * told["takes_any"]
    members = {
        "__doc__": told["doc"],
        "__signature__": Signature(parameters),
        "_spec": spec,
        "_spare": [process],
        **{name: _method(name) for name in told["methods"]},
    }
    return type("OwnProtocol", (_ProtocolElsewhere,), members)


def _process(spec: str) -> UserProcess:
    return UserProcess(spec, (PROTOCOL,), adapter=(_SERVED,))


def _method(name: str) -> Callable[..., object]:
    def method(self: _ProtocolElsewhere, *arguments: object) -> object:
        return self._call(name, *[asdict(each) if isinstance(each, Message) else each for each in arguments])

    return method
