"""States as JSON text and back.

Rule: written by hand for frozen dataclasses, because a state is written after every step: what turns a class into JSON
values is made once, from its types, and one C encoder call does the rest. A class of a union carries its name under
``"is"``. A field that is marked ``APART`` is left out: the machine stores it as a part of its own.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from league_agents.errors import JournalError
from league_agents.league.events import CallbackFailed, CallbackReturned, MessageArrived
from league_agents.protocol.league.catalogue import PAYLOAD_KINDS
from league_agents.protocol.league.payload import Payload
from league_agents.values import as_dict, evolve

APART: Mapping[str, bool] = MappingProxyType({"apart": True})
"""Metadata of a field with a large value that seldom changes: as a part it is written when it changes, not each time
its holder does. A holder that is read has the field's default."""

T = TypeVar("T")

_TAG = "is"
_TAGGED: frozenset[type] = frozenset({*PAYLOAD_KINDS, MessageArrived, CallbackReturned, CallbackFailed})

Writer = Callable[[Any], object]


def dump(part: object) -> str:
    """One part as JSON text."""
    return _ENCODER.encode(_of_any(part))


def _of_any(value: object) -> object:
    """The JSON value of something whose type is not known beforehand. What it holds may come here too."""
    kind: Any = type(value)
    if hasattr(kind, "__dataclass_fields__"):
        return _dataclass_writer(kind)(value)
    if kind is datetime:
        return value.isoformat()  # type: ignore[attr-defined]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (tuple, list, str, int, float)) or value is None:
        return value
    raise TypeError(f"a state cannot hold a {kind.__name__}")


# Frozen values hold no cycles: the encoder need not look for them.
_ENCODER = json.JSONEncoder(default=_of_any, separators=(",", ":"), check_circular=False)


@cache
def _writer(kind: Any) -> Writer | None:
    """What makes JSON values of a declared type; ``None`` when the encoder takes them as they are."""
    origin, args = get_origin(kind), get_args(kind)
    if hasattr(kind, "__supertype__"):
        return _writer(kind.__supertype__)
    if kind is Payload:
        return _of_any
    if origin in (Union, types.UnionType):
        return _union_writer(args)
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        each = _writer(args[0])
        return None if each is None else lambda value: list(map(each, value))
    if kind is datetime:
        return datetime.isoformat
    if hasattr(kind, "__dataclass_fields__"):
        return _dataclass_writer(kind)
    return None


def _union_writer(args: tuple[Any, ...]) -> Writer | None:
    others = [each for each in args if each is not type(None)]
    if all(_writer(each) is None for each in others):
        return None
    only = _writer(others[0]) if len(others) == 1 else _of_any
    return only and (lambda value: None if value is None else only(value))


@cache
def _dataclass_writer(kind: Any) -> Writer:
    hints, left_out = get_type_hints(kind), _apart(kind)
    writers = {item.name: _writer(hints[item.name]) for item in dataclasses.fields(kind) if item.name not in left_out}
    return as_dict(kind, writers, {_TAG: kind.__name__} if kind in _TAGGED else {})


def add_apart(parts: dict[str, object], holder: Any, place: str) -> None:
    """Add the parts that ``holder`` leaves out: ``questions/<place>`` and so on. An empty value is no part."""
    for name in _apart(type(holder)):
        value = getattr(holder, name)
        if value:
            parts[f"{name}/{place}"] = value


def rejoined(holder: T, parts: Mapping[str, str], place: str) -> T:
    """``holder`` as it was before its parts were left out. Raises ``JournalError`` when one cannot be read."""
    names = [name for name in _apart(type(holder)) if f"{name}/{place}" in parts]
    if not names:
        return holder
    hints = get_type_hints(type(holder))
    values = {name: load(hints[name], parts[f"{name}/{place}"], f"{name}/{place}") for name in names}
    return evolve(holder, **values)  # type: ignore[type-var]


def _marked(kind: Any, mark: str) -> tuple[str, ...]:
    return tuple(item.name for item in dataclasses.fields(kind) if item.metadata.get(mark))


_apart: Callable[[Any], tuple[str, ...]] = cache(lambda kind: _marked(kind, "apart"))


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
    if kind is Payload:
        return _union_reader(PAYLOAD_KINDS)
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
    # Left out as parts of their own, or newer than the journal.
    optional = {*_apart(kind), *_marked(kind, "newer")}

    def read(value: Any) -> Any:
        if not readers:
            hints = get_type_hints(kind)
            readers.update({item.name: _reader(hints[item.name]) for item in dataclasses.fields(kind)})
        return kind(
            **{name: reader(value[name]) for name, reader in readers.items() if name in value or name not in optional}
        )

    return read
