"""What a check found, as values.

Rule: one finding stands for all its repetitions: twenty questions with the same fault are one line with a count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

_INDEX = re.compile(r"\[\d+\]")


class Severity(StrEnum):
    """How much a finding matters."""

    BROKEN = "broken"
    """A contract is broken with a context that every match has, or the callback failed with any."""

    WARNING = "warning"
    """The match would go on, but worse than it could."""


class Kind(StrEnum):
    """What sort of game a callback was tried in."""

    VALID = "valid"
    """As every conforming counterpart plays it."""

    ODD = "odd"
    """As some deployed counterpart plays it."""

    HOSTILE = "hostile"
    """As somebody plays it who wants the agent to fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One promise that was not kept."""

    severity: Severity
    callback: str
    game: str
    """The name of the first game in which it happened."""

    kind: Kind
    path: str
    """Where in the result; ``""`` is the whole of it. Of many alike, the first one."""

    rule: str
    """The line of the contract."""

    found: str
    where: str | None = None
    """``file:line`` of the user's code, for an exception."""

    times: int = 1
    """How often, over all games."""

    @property
    def sort(self) -> tuple[str, ...]:
        """What makes two findings the same one. Exceptions of two kinds or from two lines are two."""
        error = (self.where, self.found.partition(":")[0]) if self.where is not None else ()
        return (self.callback, _INDEX.sub("[]", self.path), self.rule, *error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How often one callback was called in one kind of game, and how often it kept its contract."""

    calls: int = 0
    kept: int = 0
    skipped: int = 0
    """Calls that were left out because the callback had hung before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackReport:
    """One callback."""

    callback: str
    promise: str
    """What it is asked for, as the agent itself is told."""

    tried: dict[Kind, Tried]
    slowest_s: float
    limit_s: float
    findings: tuple[Finding, ...]

    @property
    def is_kept(self) -> bool:
        """Whether no finding breaks the contract."""
        return all(finding.severity is not Severity.BROKEN for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """Everything about one agent."""

    role: str
    rules: str
    games: tuple[str, ...]
    callbacks: tuple[CallbackReport, ...]
    unmade: Finding | None = None
    """Why no instance could be made; nothing was tried then."""

    @property
    def is_kept(self) -> bool:
        """Whether every contract is kept."""
        return self.unmade is None and all(each.is_kept for each in self.callbacks)


def merged(findings: list[Finding]) -> tuple[Finding, ...]:
    """Repetitions counted; what is broken first, otherwise in the order of their first time.

    What breaks a contract somewhere is not told a second time as a warning.
    """
    first: dict[tuple[str, ...], Finding] = {}
    times: dict[tuple[str, ...], int] = {}
    for finding in sorted(findings, key=_mildness):
        first.setdefault(finding.sort, finding)
        times[finding.sort] = times.get(finding.sort, 0) + finding.times
    return tuple(replace(one, times=times[sort]) for sort, one in first.items())


def _mildness(finding: Finding) -> bool:
    return finding.severity is not Severity.BROKEN
