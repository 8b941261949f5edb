"""The declaration of league messages: one class per message, whose body lists the payload's keys in order.

A field's annotation (``wire``) defines how its value is read and written. A key that is no field of the payload, such
as an id of the envelope, is a ``ClassVar`` among the fields (``DerivedKey``). Readers and writers of whole payloads are
derived from these; an irregular payload names its own reader.

Rule: a type of message is declared once. ``catalogue`` finds every class; nothing lists them a second time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

from league_agents.kit.ids import is_game_id
from league_agents.league.wire.address import read_address
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.payload import BrokenPayload, Payload
from league_agents.league.wire.reading import (
    LARGEST_NUMBER,
    Fields,
    broken,
    first_id,
    first_of,
    first_text,
    flag_of,
    instant_of,
    integer_of,
    list_of,
    number_of,
    object_of,
)
from league_agents.league.wire.writing import Document, refuse, stamp, whole

P = TypeVar("P", bound=Payload)
R = TypeVar("R")

Reader = Callable[[Fields, Role | None], Payload]
"""From the keys of a payload and the role of its sender to the value."""


class ValueKind(Struct, frozen=True, kw_only=True):
    """How values of one kind are read from their keys and written."""

    find: Callable[..., Any]
    """``(fields, *keys)`` to the value; ``None`` if there is none that can be read."""

    write: Callable[[Any], object] | None = None
    """From the value to JSON; ``None``: the value is JSON as it is."""

    rule: str
    """The rule in the words of a violation."""


def _present(read: Callable[[object], Any]) -> Callable[..., Any]:
    """A finder that applies ``read`` to the first key that is present."""
    return lambda fields, *keys: read(first_of(fields, *keys))


TEXT = ValueKind(find=first_text, rule="a text")
ID = ValueKind(find=first_id, rule="an id")
ADDRESS = ValueKind(find=_present(read_address), rule="an e-mail address")
INSTANT = ValueKind(find=_present(instant_of), write=stamp, rule="an instant")
FLAG = ValueKind(find=_present(flag_of), rule="true or false")


def integer(least: int, most: int | None = None) -> ValueKind:
    """A whole number of a range. ``None`` stands for the largest number that is read."""
    top = LARGEST_NUMBER if most is None else most
    return ValueKind(
        find=_present(lambda value: integer_of(value, least, top)),
        rule=f"a whole number from {least}" if most is None else f"a number from {least} to {most}",
    )


def number(least: float, most: float) -> ValueKind:
    """A number of a range."""
    return ValueKind(
        find=_present(lambda value: number_of(value, least, most)), rule=f"a number from {least:g} to {most:g}"
    )


POINTS = ValueKind(find=_present(number_of), write=whole, rule="a number")
"""League points: any number; whole ones are written without a fraction."""


def word(words: Mapping[str, Any], rule: str) -> ValueKind:
    """One of a closed set of words, without regard to letter case; values are enum members."""
    return ValueKind(
        find=lambda fields, *keys: words.get((first_id(fields, *keys) or "").lower()),
        write=lambda value: value.value,
        rule=rule,
    )


def each(read: Callable[[object], Any], *, most: int = 1_000) -> ValueKind:
    """A list of values. Items that cannot be read are left out."""

    def find(fields: Fields, *keys: str) -> Any:
        items = list_of(first_of(fields, *keys), most)
        return None if items is None else tuple(value for item in items if (value := read(item)) is not None)

    return ValueKind(find=find, write=list, rule=f"a list of at most {most} items")


def rows(kind: type[Any], *, without: tuple[str, ...] = ()) -> ValueKind:
    """A list of objects of a declared class. Rows that lack a required value are dropped when they are read.

    ``without`` are keys that are not written.
    """
    return ValueKind(
        find=lambda fields, *keys: tuple(
            row
            for position, item in enumerate(list_of(first_of(fields, *keys)) or (), start=1)
            if isinstance(row := read_row(kind, item, position), kind)
        ),
        write=lambda values: [write_row(row, without) for row in values],
        rule="a list of objects",
    )


LEFT_OUT = object()
"""Marker: the key of a ``None`` value is not written."""


class WireField(Struct, frozen=True, kw_only=True):
    """The keys of a payload's field, and how it is read and written."""

    kind: ValueKind
    keys: tuple[str, ...]
    """The accepted keys, of which the first present one counts; empty for the field's own name."""

    written_as: tuple[str, ...]
    """All keys under which the value is written; empty for the first of ``keys``."""

    absent: object
    """The value of a field that is absent or unreadable."""

    is_required: bool
    """Whether a payload without it is broken."""

    none_as: object
    """The JSON value written for ``None``; with ``LEFT_OUT`` the key is not written."""

    must: str | None
    """Why a payload without it cannot be sent; ``None``: it can."""


def wire(
    kind: ValueKind,
    *keys: str,
    written_as: tuple[str, ...] = (),
    absent: object = None,
    is_required: bool = False,
    none_as: object = LEFT_OUT,
    must: str | None = None,
) -> WireField:
    """Define how a field is read and written, for use in ``Annotated``."""
    return WireField(
        kind=kind,
        keys=keys,
        written_as=written_as,
        absent=absent,
        is_required=is_required,
        none_as=none_as,
        must=must,
    )


class DerivedKey(Struct, frozen=True, kw_only=True):
    """A key of a payload whose value does not come from the payload's fields."""

    of: Callable[[Any, Envelope], object]
    """From the payload and its envelope; ``None``: the key is left out."""

    must: str | None = None
    """Why a payload without it cannot be sent; ``None``: it can."""

    key: str | None = None
    """The key; ``None`` for the attribute's name in the class."""


def _match_id(_: object, envelope: Envelope) -> str:
    if not is_game_id(envelope.game_id):
        raise refuse(envelope, f"its game_id must be seven digits, not {envelope.game_id!a}")
    return str(envelope.game_id)


BROADCAST_ID = DerivedKey(of=lambda _, envelope: envelope.broadcast_id)
LEAGUE_ID = DerivedKey(of=lambda _, envelope: envelope.league_id)
SEASON_ID = DerivedKey(of=lambda _, envelope: envelope.season_id)
ROUND_ID = DerivedKey(of=lambda _, envelope: envelope.round_id, must="it needs a round_id")
SENDER_EMAIL = DerivedKey(of=lambda _, envelope: envelope.sender.email)
MATCH_ID = DerivedKey(of=_match_id)
"""The game id, which every game message repeats in its payload (protocol 1.2)."""


def constant(value: object) -> DerivedKey:
    """A key that always has this value."""
    return DerivedKey(of=lambda _payload, _envelope: value)


class Declaration(Struct, frozen=True, kw_only=True):
    """The declaration of one payload class."""

    kind: type[Payload]
    sent_as: MessageType | None
    """The type as which it is sent; ``None`` if it is only received."""

    read_as: tuple[MessageType, ...]
    """Types whose payload becomes this class."""

    own_reader: Reader | None
    """The reader of its payload; ``None`` for the reader derived from the fields."""

    id_word: str
    """The word in the ids that its writer makes: ``startseason`` of a broadcast, ``warmup`` of a referee's message."""

    is_core: bool
    """Whether every deployed client understands it (protocol 9, for a league manager, 7)."""

    names_season: bool
    """Whether it needs the league's and the season's id (protocol 3.1)."""

    def read(self, fields: Fields, role: Role | None) -> Payload:
        """The payload with these keys, of a sender with this role; a ``BrokenPayload`` if it cannot be used."""
        if self.own_reader is not None:
            return self.own_reader(fields, role)
        return read_fields(self.kind, fields)


_DECLARATION = "__declaration__"


def message(
    *types: MessageType,
    is_sent: bool = True,
    is_read: bool = True,
    read: Reader | None = None,
    id_word: str = "",
    is_core: bool = False,
    names_season: bool = False,
) -> Callable[[type[P]], type[P]]:
    """Declare the decorated class: the type as which it is sent, then older ones that say the same.

    ``is_sent`` is false for what is only received; ``is_read`` where another class reads for both. ``read`` replaces
    the reader that is derived from the fields. The others are explained in ``Declaration``.
    """

    def declare(kind: type[P]) -> type[P]:
        declaration = Declaration(
            kind=kind,
            sent_as=types[0] if is_sent else None,
            read_as=types if is_read else (),
            own_reader=read,
            id_word=id_word,
            is_core=is_core,
            names_season=names_season,
        )
        setattr(kind, _DECLARATION, declaration)
        return kind

    return declare


def declaration_in(kind: type[Payload]) -> Declaration | None:
    """The declaration of a class, not inherited; ``None`` if it has none."""
    found: Declaration | None = kind.__dict__.get(_DECLARATION)
    return found


def _layout(kind: type) -> Iterator[tuple[str, WireField | DerivedKey]]:
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            found = next((item for item in get_args(hint) if isinstance(item, WireField)), None)
            if found is not None:
                yield name, found
        elif get_origin(hint) is ClassVar or hint is ClassVar:
            written = getattr(kind, name)
            if isinstance(written, DerivedKey):
                yield name, written


layout: Callable[[type], tuple[tuple[str, WireField | DerivedKey], ...]] = cache(lambda kind: tuple(_layout(kind)))
"""The keys of a payload or row in the order of the wire, each with the name that it has in the class."""

_fields_of: Callable[[type], tuple[tuple[str, tuple[str, ...], WireField], ...]] = cache(
    lambda kind: tuple((name, item.keys or (name,), item) for name, item in layout(kind) if isinstance(item, WireField))
)


def read_fields(kind: type[P], fields: Fields) -> P | BrokenPayload:
    """A payload by its declaration; broken at the first required field that cannot be read."""
    values: dict[str, Any] = {}
    for name, keys, item in _fields_of(kind):
        value = item.kind.find(fields, *keys)
        if value is None:
            if item.is_required:
                return broken(keys[0], item.kind.rule, first_of(fields, *keys))
            value = item.absent
        values[name] = value
    return kind(**values)


def read_row(kind: type[R], value: object, position: int = 1) -> R | str:
    """An object in a payload by its declaration, or the rule that it breaks. ``position``: its place in a list, from 1.

    A default that is callable is called with the values read so far and the position.
    """
    fields = object_of(value)
    if fields is None:
        return "an object"
    values: dict[str, Any] = {}
    for name, keys, item in _fields_of(kind):
        found = item.kind.find(fields, *keys)
        if found is None:
            if item.is_required:
                return item.kind.rule
            found = item.absent(values, position) if callable(item.absent) else item.absent
        values[name] = found
    return kind(**values)


def write_fields(payload: Payload, envelope: Envelope) -> Document:
    """The keys of a payload in their order. Raises ``LocalProtocolError`` when it must not be sent."""
    why = payload.refusal()
    if why is not None:
        raise refuse(envelope, why)
    document: Document = {}
    for name, item in layout(type(payload)):
        if isinstance(item, DerivedKey):
            value = item.of(payload, envelope)
            if value is not None:
                document[item.key or name] = value
            elif item.must is not None:
                raise refuse(envelope, item.must)
        else:
            value = getattr(payload, name)
            if value is None and item.must is not None:
                raise refuse(envelope, item.must)
            _write(document, item, name, value)
    return document


def write_row(row: object, without: tuple[str, ...] = ()) -> Document:
    """The keys of an object in a payload, in their order."""
    document: Document = {}
    for name, _, item in _fields_of(type(row)):
        _write(document, item, name, getattr(row, name))
    for key in without:
        del document[key]
    return document


def _write(document: Document, item: WireField, name: str, value: object) -> None:
    if value is None:
        if item.none_as is LEFT_OUT:
            return
        value = item.none_as
    elif item.kind.write is not None:
        value = item.kind.write(value)
    for key in item.written_as or item.keys[:1] or (name,):
        document[key] = value


def why_out_of_range(name: str, value: float, least: float, most: float) -> str | None:
    """The refusal of a number that is none from ``least`` to ``most``; ``None`` if it is one."""
    if isinstance(value, bool) or not math.isfinite(value) or not least <= value <= most:
        return f"{name} must be from {least:g} to {most:g}, not {value!r}"
    return None
