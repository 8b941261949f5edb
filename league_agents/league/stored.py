"""States as JSON text and back.

Rule: written by hand for frozen dataclasses, because a state is written after every step: one C encoder call, and one
small function call for each dataclass in it. A class of a union carries its name under ``"is"``.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from league_agents.errors import JournalError
from league_agents.league.events import CallbackFailed, CallbackReturned, MessageArrived
from league_agents.protocol.league.messages import Payload

_TAG = "is"
_TAGGED: frozenset[type] = frozenset({*get_args(Payload), MessageArrived, CallbackReturned, CallbackFailed})


def dump(part: object) -> str:
    """One part as JSON text."""
    return json.dumps(part, default=_shallow, separators=(",", ":"))


def _shallow(value: object) -> object:
    kind = type(value)
    if kind is datetime:
        return value.isoformat()  # type: ignore[attr-defined]
    if isinstance(value, Mapping):
        return dict(value)
    found = {name: getattr(value, name) for name in _field_names(kind)}  # type: ignore[arg-type]
    if kind in _TAGGED:
        found[_TAG] = kind.__name__
    return found


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    if not dataclasses.is_dataclass(kind):
        raise TypeError(f"a state cannot hold a {kind.__name__}")
    return tuple(field.name for field in dataclasses.fields(kind))


def load(kind: Any, text: str, name: str) -> Any:
    """The value that was dumped. Raises ``JournalError`` that names the part when it cannot be read."""
    try:
        return _reader(kind)(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"[:200]
        raise JournalError(
            f"part {name!r} of the journal cannot be read ({why}); restore the journal from a copy or start a new one"
        ) from error


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    origin, args = get_origin(kind), get_args(kind)
    if hasattr(kind, "__supertype__"):
        return _reader(kind.__supertype__)
    if origin in (Union, types.UnionType):
        return _union_reader(args)
    if origin is tuple:
        return _tuple_reader(args)
    if origin is Literal or kind is object or kind is Any:
        return _same
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, each = _reader(args[0]), _reader(args[1])
        return lambda value: {key(name): each(item) for name, item in value.items()}
    if kind is datetime:
        return datetime.fromisoformat
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(kind)
    if kind in (str, int, float, bool):
        return _checked(kind)
    raise TypeError(f"no reader for {kind}")


def _same(value: Any) -> Any:
    return value


def _checked(kind: type) -> Callable[[Any], Any]:
    allowed = (int, float) if kind is float else (kind,)

    def read(value: Any) -> Any:
        if type(value) not in allowed:
            raise TypeError(f"{kind.__name__} expected, found {type(value).__name__}")
        return value

    return read


def _union_reader(args: tuple[Any, ...]) -> Callable[[Any], Any]:
    others = [each for each in args if each is not type(None)]
    if len(others) == 1:
        reader = _reader(others[0])
        return lambda value: None if value is None else reader(value)
    readers = {each.__name__: _reader(each) for each in others}
    return lambda value: None if value is None else readers[value[_TAG]](value)


def _tuple_reader(args: tuple[Any, ...]) -> Callable[[Any], Any]:
    if len(args) == 2 and args[1] is Ellipsis:
        each = _reader(args[0])
        return lambda value: tuple([each(item) for item in value])
    readers = [_reader(arg) for arg in args]
    return lambda value: tuple([reader(item) for reader, item in zip(readers, value, strict=True)])


def _dataclass_reader(kind: Any) -> Callable[[Any], Any]:
    readers: dict[str, Callable[[Any], Any]] = {}

    def read(value: Any) -> Any:
        if not readers:
            hints = get_type_hints(kind)
            readers.update({item.name: _reader(hints[item.name]) for item in dataclasses.fields(kind)})
        return kind(**{name: reader(value[name]) for name, reader in readers.items()})

    return read
