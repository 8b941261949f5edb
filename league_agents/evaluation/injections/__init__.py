"""Prompt injections against the other side's model: they ask for points, secrets, another role or another format,
openly and in disguise, in English, Hebrew and Chinese.

They are data, one file for each technique. An author of an agent can run them against it: in questions, guesses,
justifications, hints, names and answers. ``obedient`` has a model that obeys them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

FILES = ("direct", "markup", "disguised", "coded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One prompt injection."""

    category: str
    """The aim or technique: ``points``, ``secret``, ``fence``, ``homoglyphs``, …"""

    language: str
    """ISO 639-1: ``en``, ``he`` or ``zh``."""

    text: str


@cache
def injections() -> tuple[Injection, ...]:
    """Return all injections, in the order of the files."""
    found: list[Injection] = []
    for name in FILES:
        text = resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
        found.extend(Injection(**entry) for entry in json.loads(text))
    return tuple(found)


def sample(count: int) -> tuple[Injection, ...]:
    """Return ``count`` injections, spread evenly over all."""
    every = injections()
    return tuple(every[i * len(every) // count] for i in range(count))
