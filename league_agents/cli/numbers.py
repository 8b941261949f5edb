"""Numbers on a command line."""

from __future__ import annotations

import math
from typing import Any

import click


class _InWords:
    """A range that help and errors show as ``1 to 64`` or ``1 or more``."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "N"

    def _describe_range(self) -> str:
        least, most = (_short(vars(self)[name]) for name in ("min", "max"))
        return f"{least} to {most}" if most else f"{least} or more"


def _short(bound: float | None) -> str:
    return "" if bound is None else str(int(bound) if bound == bound // 1 else bound)


class WholeRange(_InWords, click.IntRange):
    """A whole number between two bounds, both allowed; ``max`` may be left out."""


class FiniteRange(_InWords, click.FloatRange):
    """A number between two bounds. Python also reads ``nan``, which no bound keeps out."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no number that can be counted with.", param, ctx)
        return number
