"""The findings of a check, as values.

Rule: repetitions are one finding: twenty questions with the same fault are one line with a count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from league_agents.games.q21.remarks import SEVERITIES, Severity, kind_of
from league_agents.kit.values import evolve


class ContractVerdict(StrEnum):
    """How well a contract was kept."""

    KEPT = "kept"
    """Results are used unchanged. There may be warnings."""

    REPAIRED = "repaired"
    """Every result is used, some with a change."""

    BROKEN = "broken"
    """A result could not be used in a valid game, or the callback failed in any game."""


def verdict_of(findings: Iterable[ContractFinding]) -> ContractVerdict:
    """Return the verdict for the findings."""
    found = {finding.severity for finding in findings}
    if Severity.BROKEN in found:
        return ContractVerdict.BROKEN
    return ContractVerdict.REPAIRED if Severity.REPAIRED in found else ContractVerdict.KEPT


class TrialKind(StrEnum):
    """The kind of game in which a callback was tried."""

    VALID = "valid"
    """As every conforming counterpart plays."""

    ODD = "odd"
    """As some deployed counterpart plays."""

    HOSTILE = "hostile"
    """As a counterpart plays that wants the agent to fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractFinding:
    """One broken promise."""

    severity: Severity
    """``BROKEN`` and ``REPAIRED`` in valid games, and for a callback that fails in any; otherwise ``WARNING``."""

    callback: str
    game: str
    """The name of the first game with the finding."""

    kind: TrialKind
    path: str
    """The place in the result; ``""`` is the whole result. The first place of several equal findings."""

    rule: str
    """The line of the contract."""

    found: str
    done: str = ""
    """How a match reacts, as a clause; empty if it does not."""

    where: str | None = None
    """``file:line`` in the user's code, for an exception."""

    times: int = 1
    """Number of occurrences over all games."""

    @property
    def sort(self) -> tuple[str, ...]:
        """The key by which findings are equal. Exceptions of different types or lines differ."""
        error = (self.where, self.found.partition(":")[0]) if self.where is not None else ()
        return (self.callback, *kind_of(self.path, self.rule), *error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Number of calls of one callback in one kind of game, and number of kept contracts."""

    calls: int = 0
    kept: int = 0
    skipped: int = 0
    """Calls left out because the callback had hung before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackReport:
    """The results of one callback."""

    callback: str
    tried: dict[TrialKind, Tried]
    slowest_s: float
    limit_s: float
    findings: tuple[ContractFinding, ...]

    @property
    def verdict(self) -> ContractVerdict:
        return verdict_of(self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The results of one agent."""

    role: str
    rules: str
    games: tuple[str, ...]
    callbacks: tuple[CallbackReport, ...]
    unmade: ContractFinding | None = None
    """Why no instance could be made, in which case nothing was tried; otherwise ``None``."""

    @property
    def verdict(self) -> ContractVerdict:
        """The worst verdict of all callbacks."""
        if self.unmade is not None:
            return ContractVerdict.BROKEN
        return verdict_of(finding for each in self.callbacks for finding in each.findings)


def merged(findings: list[ContractFinding]) -> tuple[ContractFinding, ...]:
    """Merge repetitions; the worst findings first, otherwise in the order of first occurrence.

    A rule that is broken somewhere is not listed again as a repair or a warning.
    """
    first: dict[tuple[str, ...], ContractFinding] = {}
    times: dict[tuple[str, ...], int] = {}
    for finding in sorted(findings, key=mildness):
        first.setdefault(finding.sort, finding)
        times[finding.sort] = times.get(finding.sort, 0) + finding.times
    return tuple(evolve(one, times=times[sort]) for sort, one in first.items())


def mildness(finding: ContractFinding) -> int:
    """Return the sort key of a finding."""
    return SEVERITIES.index(finding.severity)
