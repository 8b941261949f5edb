"""Read values that user code returned.

Rule: only the methods of the built-in types are called, and values that are too large are not read. So a subclass of a
built-in type runs no code here, with one exception: a dict compares its own keys with the one that is looked up, and
the class of such a key may have an ``__eq__``. The caller of user code therefore first copies the result into plain
values, on the thread and within the time of the callback (``user_code.plain``).
"""

from __future__ import annotations

from typing import TypeGuard, TypeVar

from league_agents.games.q21.words import MOST_CHARACTERS

T = TypeVar("T")

MOST_ITEMS = 200
"""Longer lists are refused unread. Twenty questions or answers are a tenth of it."""


def is_kind(value: object, kind: type[T]) -> TypeGuard[T]:
    """Whether ``value`` is an instance of ``kind`` or of a subclass."""
    # isinstance would also read the object's __class__, which may run code.
    return issubclass(type(value), kind)


def text_of(value: object) -> str | None:
    """Return ``value`` as a plain ``str`` if it is a text of acceptable length, else ``None``."""
    if type(value) is str and len(value) <= MOST_CHARACTERS and value.isascii():
        return value
    if not is_kind(value, str) or str.__len__(value) > MOST_CHARACTERS:
        return None
    text = str.__str__(value)
    # A lone surrogate cannot be encoded as UTF-8, so it could not be sent.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def integer_of(value: object) -> int | None:
    """Return ``value`` as a plain ``int`` if it is an integer of at most 64 bits and no boolean, else ``None``."""
    if not is_kind(value, int) or type(value) is bool:
        return None
    number = int.__index__(value)
    return number if number.bit_length() <= 64 else None


def number_of(value: object) -> float | None:
    """Return ``value`` as a finite ``float`` if it is an integer or a float, else ``None``. Booleans are not
    numbers."""
    if is_kind(value, float):
        number = float.__float__(value)
        return number if abs(number) < float("inf") else None
    whole = integer_of(value)
    return None if whole is None else float(whole)


def field_of(value: object, key: str) -> object:
    """Return ``value[key]`` if ``value`` is a dict that has it, else ``None``. Keys are assumed to be plain values."""
    if type(value) is dict:
        return value.get(key)
    if not is_kind(value, dict):
        return None
    holder: dict[object, object] = value
    return dict.get(holder, key)


def items_of(value: object, most: int = MOST_ITEMS) -> list[object] | None:
    """Return ``value`` as a plain list if it is a list of at most ``most`` items, else ``None``."""
    if not is_kind(value, list) or list.__len__(value) > most:
        return None
    return list(list.__iter__(value))
