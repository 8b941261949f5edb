"""What the declared values of the pure packages, the journal and the runner keep to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from msgspec import NODEFAULT, Struct

from tests.support.well_typed import does_fit

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "games", "interaction", "league", "protocol", "journal", "runner")


def declared() -> Iterator[type]:
    """The classes of these packages, each once."""
    for package in PACKAGES:
        for path in sorted((ROOT / "league_agents" / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            classes = (value for value in vars(import_module(name)).values() if isinstance(value, type))
            yield from (one for one in classes if one.__module__ == name)


VALUES = [one for one in declared() if issubclass(one, Struct)]


def defaults(cls: type) -> Iterator[tuple[str, object]]:
    """Field and default, of a ``Struct`` or a dataclass."""
    if issubclass(cls, Struct):
        values = cls.__struct_defaults__
        found = list(zip(cls.__struct_fields__[len(cls.__struct_fields__) - len(values) :], values, strict=True))
    elif dataclasses.is_dataclass(cls):
        found = [(field.name, field.default) for field in dataclasses.fields(cls)]
    else:
        found = []
    for name, default in found:
        if default not in (NODEFAULT, dataclasses.MISSING):
            yield name, getattr(default, "factory", lambda default=default: default)()


def test_every_value_is_frozen() -> None:
    assert [value for value in VALUES if not value.__struct_config__.frozen] == []


def test_every_field_of_a_value_is_named_where_a_value_is_made() -> None:
    positional = []
    for value in VALUES:
        if value.__struct_fields__:
            with pytest.raises(TypeError) as refused:
                value(object())
            if str(refused.value) != "Extra positional arguments provided":
                positional.append(value)
    assert positional == []


def test_every_default_is_of_its_field_s_type() -> None:
    assert [
        (cls.__qualname__, field, default)
        for cls in declared() for field, default in defaults(cls) if not does_fit(cls, field, default)
    ] == []  # fmt: skip
