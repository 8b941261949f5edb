"""Frozen values, made and copied quickly.

Rule: what comes out is exactly what the class or ``dataclasses.replace`` would give, and mypy checks it as such; only
the way there is shorter. A frozen dataclass stores each field through ``object.__setattr__``, and calling a class packs
its arguments twice; a match makes some five hundred values with four thousand fields, which was a third of its time.
Here an object is filled while it belongs to a twin of its class, which has the same slots and is not frozen, and is
then handed over. Nobody sees the twin.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

NEWER: Mapping[str, bool] = MappingProxyType({"newer": True})
"""Metadata of a field with a default that values stored by an older version lack: they are read with the default."""

P = ParamSpec("P")
T = TypeVar("T")

_set_class = object.__dict__["__class__"].__set__


def maker(kind: Callable[P, T]) -> Callable[P, T]:
    """What makes values of a frozen dataclass, called like the class and three times as fast.

    For places that make many. Gives the class itself back where there is no shorter way: one that inherits, has
    ``__post_init__``, is not frozen or has no slots.
    """
    twin = _twin_of(cast("type", kind))
    if twin is None:
        return kind
    names: dict[str, Any] = {"_kind": kind, "_twin": twin, "_set_class": _set_class}
    parameters, lines = [], ["_made = _twin()"]
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        name, default = field.name, f"_default_{field.name}"
        value = name
        if field.kw_only and "*" not in parameters:
            parameters.append("*")
        if field.default_factory is not MISSING:
            names[default], names["_missing"] = field.default_factory, MISSING
            parameters.append(f"{name}=_missing")
            value = f"{default}() if {name} is _missing else {name}"
        elif field.default is not MISSING:
            names[default] = field.default
            parameters.append(f"{name}={default}")
        else:
            parameters.append(name)
        lines.append(f"_made.{name} = {value}")
    return _compiled(kind.__name__, parameters, [*lines, "_set_class(_made, _kind)", "return _made"], names)


@cache
def _twin_of(kind: type) -> type | None:
    """A class of the same shape that is not frozen; ``None`` where filling one would not be all that making one is."""
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        return None
    slots = kind.__dict__.get("__slots__")
    fields = dataclasses.fields(kind)
    is_plain = slots == tuple(field.name for field in fields) and all(field.init for field in fields)
    if not is_plain or kind.__bases__ != (object,) or hasattr(kind, "__post_init__"):
        return None
    return type(kind.__name__, (), {"__slots__": slots})


def as_dict(
    kind: type, writers: Mapping[str, Callable[[Any], object] | None], more: Mapping[str, object]
) -> Callable[[Any], dict[str, object]]:
    """What makes a dict of a value of ``kind``: the fields that ``writers`` names, each as its writer gives it or, for
    ``None``, as it is; then ``more``."""
    names: dict[str, Any] = {"_more": more}
    items = []
    for name, writer in writers.items():
        names[f"_write_{name}"] = writer
        items.append(f"{name!r}: _value.{name}" if writer is None else f"{name!r}: _write_{name}(_value.{name})")
    return _compiled(f"dict_of_{kind.__name__}", ["_value"], [f"return {{{', '.join(items)}, **_more}}"], names)


def _compiled(name: str, parameters: list[str], lines: list[str], names: Mapping[str, Any]) -> Callable[..., Any]:
    # Source text of our own, as dataclasses make it: no other way gives plain stores to fields known by name only.
    source = f"def {name}({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in lines)
    found: dict[str, Any] = {}
    exec(source, dict(names), found)  # noqa: S102
    made: Callable[..., Any] = found[name]
    return made


if TYPE_CHECKING:
    from dataclasses import replace as evolve
else:

    def evolve(value, /, **changes):
        """``dataclasses.replace``: a copy of a frozen value with some fields changed."""
        key = (type(value), *changes)
        copy = _copiers.get(key)
        if copy is None:
            copy = _copiers[key] = _copier(*key)
        return copy(value, changes)

    _copiers = {}
    """What copies a value of one class with some fields changed: as many as there are such places in the source."""

    def _copier(kind, *changed):
        twin = _twin_of(kind)
        names = [field.name for field in dataclasses.fields(kind)]
        if twin is None or not set(changed) <= set(names):
            return lambda value, changes: dataclasses.replace(value, **changes)
        lines = [f"_copy.{name} = {f'_changes[{name!r}]' if name in changed else f'_value.{name}'}" for name in names]
        return _compiled(
            "copy",
            ["_value", "_changes"],
            ["_copy = _twin()", *lines, "_set_class(_copy, _kind)", "return _copy"],
            {"_kind": kind, "_twin": twin, "_set_class": _set_class},
        )


__all__ = ["NEWER", "as_dict", "evolve", "maker"]
