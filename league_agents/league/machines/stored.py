"""Parts of states as JSON text and back.

Rule: a class of a union carries its name under ``"is"``. Large values that seldom change are left out of their holder
and stored as separate parts (``APART``), so that they are written only when they change themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import compress
from operator import is_, is_not
from typing import Any, ClassVar, Protocol, TypeVar, Union, get_type_hints

import msgspec

from league_agents.kit.errors import JournalUnusable
from league_agents.league.wire.catalogue import PAYLOAD_KINDS
from league_agents.league.wire.payload import Payload


class Holder(Protocol):
    """A value with fields that are stored as separate parts."""

    APART: ClassVar[tuple[str, ...]]
    """The names of these fields; each has an empty default."""


H = TypeVar("H", bound=Holder)
K = TypeVar("K")
V = TypeVar("V")


def dump(part: object) -> str:
    """One part as JSON text, without the separate parts of its holders. Raises ``TypeError`` for values without a JSON
    form."""
    return _ENCODER.encode(_without_apart(part)).decode()


def _without_apart(part: Any) -> Any:
    if not isinstance(part, msgspec.Struct):
        return part
    emptied, holders = _plan(type(part))
    changes: dict[str, Any] = {name: () for name in emptied if getattr(part, name)}
    changes |= {name: _without_apart(getattr(part, name)) for name in holders}
    return msgspec.structs.replace(part, **changes) if changes else part


@cache
def _plan(kind: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a class that are stored separately, and the fields that contain a holder."""
    hints = get_type_hints(kind)
    return getattr(kind, "APART", ()), tuple(name for name, hint in hints.items() if hasattr(hint, "APART"))


def _of_other(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a state cannot hold a {type(value).__name__}")


_ENCODER = msgspec.json.Encoder(enc_hook=_of_other)


def load(kind: Any, text: str, name: str) -> Any:
    """The value that was dumped. Raises ``JournalUnusable`` that names the part when it cannot be read."""
    try:
        return _decoder(kind).decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        why = _QUOTED.sub("", str(error))[:200]
        raise JournalUnusable(
            f"part {name!r} of the journal cannot be read ({why}); restore the journal from a copy or start a new one"
        ) from error


_QUOTED = re.compile(r""" (['"]).*\1""", re.DOTALL)
"""The value that the decoder found in place of a member of an enumeration: it may be a target."""

_decoder: Callable[[Any], msgspec.json.Decoder[Any]] = cache(
    lambda kind: msgspec.json.Decoder(kind, dec_hook=_to_other)
)


def _to_other(kind: type, value: object) -> object:
    if kind is Payload:
        return msgspec.convert(value, _ANY_PAYLOAD)
    if kind is object:
        return value
    raise TypeError(f"no reader for {kind.__name__}")


_ANY_PAYLOAD: Any = Union[PAYLOAD_KINDS]  # noqa: UP007 - made of a tuple


def add_apart(parts: dict[str, object | None], holder: H | None, former: H | None, place: str) -> None:
    """Add the changed separate parts of ``holder``: ``questions/<place>`` and so on, ``None`` for a removed one. An
    empty value is no part.

    ``former`` is the holder as it was stored, ``None`` if it was not; ``holder`` is ``None`` if it was removed.
    """
    known = former if holder is None else holder
    if known is None or holder is former:
        return
    for name in known.APART:
        value = () if holder is None else getattr(holder, name)
        before = () if former is None else getattr(former, name)
        if value is not before and (value or before):
            parts[f"{name}/{place}"] = value or None


class Entries(dict[K, V]):
    """A mapping that knows in which entry it differs from the one that it was made of, so that a step of one open game
    costs the same however many are open. Never changed after it was made."""

    __slots__ = ("differs_in", "made_of", "stamp")

    stamp: object
    """Stands for this mapping without keeping it alive."""

    made_of: object
    """The stamp of the former mapping; ``None`` if that has none."""

    differs_in: K


def with_entry(entries: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    """The mapping with one entry added or replaced."""
    made = _made_of(entries, key)
    made[key] = value
    return made


def without_entry(entries: Mapping[K, V], key: K) -> Mapping[K, V]:
    """The mapping without one of its entries."""
    made = _made_of(entries, key)
    del made[key]
    return made


def _made_of(entries: Mapping[K, V], key: K) -> Entries[K, V]:
    made = Entries(entries)
    made.stamp, made.differs_in = object(), key
    made.made_of = entries.stamp if isinstance(entries, Entries) else None
    return made


def changed(new: Mapping[K, V], old: Mapping[K, V]) -> Iterator[tuple[K, V | None, V | None]]:
    """The entries that differ by identity: key, value and former value; ``None`` for a missing value."""
    if new is old:
        return
    if isinstance(new, Entries) and isinstance(old, Entries) and new.made_of is old.stamp:
        changed_key = new.differs_in
        if new.get(changed_key) is not old.get(changed_key):
            yield changed_key, new.get(changed_key), old.get(changed_key)
        return
    if len(new) == len(old) and all(map(is_, new, old)):  # an entry was replaced: the usual case, of many open games
        for key in compress(new, map(is_not, new.values(), old.values())):
            yield key, new[key], old[key]
        return
    for key, value in new.items():
        former = old.get(key)
        if value is not former:
            yield key, value, former
    for key in old.keys() - new.keys():
        yield key, None, old[key]


def rejoined(holder: H, parts: Mapping[str, str], place: str) -> H:
    """``holder`` with its separate parts put back. Raises ``JournalUnusable`` when one cannot be read."""
    names = [name for name in holder.APART if f"{name}/{place}" in parts]
    if not names:
        return holder
    hints = _hints(type(holder))
    values = {name: load(hints[name], parts[f"{name}/{place}"], f"{name}/{place}") for name in names}
    return msgspec.structs.replace(holder, **values)  # type: ignore[type-var]


_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)
