"""Which fields of a value hold something that their types do not allow.

A ``Struct`` does not check what it is made of, so a missing text travels until somebody reads it. Tests of machines ask
this of every effect.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct


def misfits(value: object, path: str = "") -> Iterator[str]:
    """Paths and values of such fields, in the value and in all that it holds."""
    if isinstance(value, Struct):
        for field in value.__struct_fields__:
            held, at = getattr(value, field), f"{path or type(value).__name__}.{field}"
            if does_fit(type(value), field, held):
                yield from misfits(held, at)
            else:
                yield f"{at}: {held!r}"
    elif isinstance(value, Mapping | tuple | list):
        for key, held in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from misfits(held, f"{path}[{key!r}]")


def does_fit(cls: type, field: str, value: object) -> bool:
    """Whether the value is of the field's type, as far as types can be checked."""
    try:
        msgspec.convert(value, _type_of(cls, field))
    except msgspec.ValidationError:
        return False
    except (TypeError, NameError):  # a type that msgspec cannot check, or that is imported for type checks only
        pass
    return True


@cache
def _type_of(cls: type, field: str) -> Any:
    owner = next(base for base in cls.__mro__ if field in inspect.get_annotations(base))
    return inspect.get_annotations(owner, eval_str=True)[field]
