"""Texts with which a participant may try to turn the other side's model: asked for are points, secrets, another role,
another format, openly and in disguise, in English, Hebrew and Chinese.

They are data, one file for each way of putting it. Whoever writes an agent can run them against it: in questions,
guesses, justifications, hints, names and answers. ``obedient`` has a model that does what they ask.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

FILES = ("direct", "markup", "disguised", "coded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One text that asks a model for something."""

    category: str
    """What it does or how it is put: ``points``, ``secret``, ``fence``, ``homoglyphs``, …"""

    language: str
    """ISO 639-1: ``en``, ``he`` or ``zh``."""

    text: str


@cache
def injections() -> tuple[Injection, ...]:
    """All of them, in the order of the files."""
    found: list[Injection] = []
    for name in FILES:
        text = resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
        found.extend(Injection(**entry) for entry in json.loads(text))
    return tuple(found)


def sample(count: int) -> tuple[Injection, ...]:
    """``count`` of them, spread evenly over all."""
    every = injections()
    return tuple(every[i * len(every) // count] for i in range(count))
