"""What a check found, as values.

Rule: one finding stands for all its repetitions: twenty questions with the same fault are one line with a count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from league_agents.games.q21.remarks import SEVERITIES, Severity, kind_of
from league_agents.kit.values import evolve


class ContractVerdict(StrEnum):
    """What became of a contract."""

    KEPT = "kept"
    """Results are used as they come. There may be warnings."""

    REPAIRED = "repaired"
    """Every result is used, some with a change."""

    BROKEN = "broken"
    """A result could not be used in a proper game, or the callback failed in any."""


def verdict_of(findings: Iterable[ContractFinding]) -> ContractVerdict:
    """What the findings add up to."""
    found = {finding.severity for finding in findings}
    if Severity.BROKEN in found:
        return ContractVerdict.BROKEN
    return ContractVerdict.REPAIRED if Severity.REPAIRED in found else ContractVerdict.KEPT


class TrialKind(StrEnum):
    """What sort of game a callback was tried in."""

    VALID = "valid"
    """As every conforming counterpart plays it."""

    ODD = "odd"
    """As some deployed counterpart plays it."""

    HOSTILE = "hostile"
    """As somebody plays it who wants the agent to fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractFinding:
    """One promise that was not kept."""

    severity: Severity
    """``BROKEN`` and ``REPAIRED`` in proper games, and for a callback that fails in any; otherwise ``WARNING``."""

    callback: str
    game: str
    """The name of the first game in which it happened."""

    kind: TrialKind
    path: str
    """Where in the result; ``""`` is the whole of it. Of many alike, the first one."""

    rule: str
    """The line of the contract."""

    found: str
    done: str = ""
    """What a match does about it, as a clause; empty for nothing."""

    where: str | None = None
    """``file:line`` of the user's code, for an exception."""

    times: int = 1
    """How often, over all games."""

    @property
    def sort(self) -> tuple[str, ...]:
        """What makes two findings the same one. Exceptions of two kinds or from two lines are two."""
        error = (self.where, self.found.partition(":")[0]) if self.where is not None else ()
        return (self.callback, *kind_of(self.path, self.rule), *error)


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
    tried: dict[TrialKind, Tried]
    slowest_s: float
    limit_s: float
    findings: tuple[ContractFinding, ...]

    @property
    def verdict(self) -> ContractVerdict:
        return verdict_of(self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """Everything about one agent."""

    role: str
    rules: str
    games: tuple[str, ...]
    callbacks: tuple[CallbackReport, ...]
    unmade: ContractFinding | None = None
    """Why no instance could be made; nothing was tried then."""

    @property
    def verdict(self) -> ContractVerdict:
        """The worst one."""
        if self.unmade is not None:
            return ContractVerdict.BROKEN
        return verdict_of(finding for each in self.callbacks for finding in each.findings)


def merged(findings: list[ContractFinding]) -> tuple[ContractFinding, ...]:
    """Repetitions counted; what is worst first, otherwise in the order of their first time.

    What breaks a contract somewhere is not told a second time as a repair or a warning.
    """
    first: dict[tuple[str, ...], ContractFinding] = {}
    times: dict[tuple[str, ...], int] = {}
    for finding in sorted(findings, key=mildness):
        first.setdefault(finding.sort, finding)
        times[finding.sort] = times.get(finding.sort, 0) + finding.times
    return tuple(evolve(one, times=times[sort]) for sort, one in first.items())


def mildness(finding: ContractFinding) -> int:
    """What findings are sorted by."""
    return SEVERITIES.index(finding.severity)
