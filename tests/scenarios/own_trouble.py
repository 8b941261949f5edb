"""Players that bring their process down or never come back, for the tests of ``run`` and ``check``."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping
from typing import Any

from checked_agents import GoodPlayer  # type: ignore[import-not-found]  # it lies beside this file

Context = Mapping[str, Any]


class Leaving(GoodPlayer):
    def get_guess(self, ctx: Context) -> dict[str, Any]:
        os._exit(7)


class NeverMade(GoodPlayer):
    def __init__(self) -> None:
        os._exit(5)


class Crashing(GoodPlayer):
    def get_questions(self, ctx: Context) -> dict[str, Any]:
        ctypes.string_at(0)
        return {}


class Endless(GoodPlayer):
    def get_guess(self, ctx: Context) -> dict[str, Any]:
        re.match(r"(a+)+$", "a" * 64 + "b")
        return {}


class AtTable:
    """What goes wrong at a table, by the seat."""

    def act(self, view: Context, legal: object, deadline: object) -> object:
        if view["agent_id"] == "s1":
            os._exit(6)
        if view["agent_id"] == "s2":
            return {}["dynamc"]
        return re.match(r"(a+)+$", "a" * 64 + "b")


class Waiting(GoodPlayer):
    """Everything is ``async``."""

    async def get_warmup_answer(self, ctx: Context) -> dict[str, Any]:
        return dict(super().get_warmup_answer(ctx))

    async def get_questions(self, ctx: Context) -> dict[str, Any]:
        return dict(super().get_questions(ctx))

    async def get_guess(self, ctx: Context) -> dict[str, Any]:
        return dict(super().get_guess(ctx))

    async def on_score_received(self, ctx: Context) -> None:
        return None
