"""What came of a sample of mutants: for the terminal, and as a page of docs/."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.mutants.running import OUT_OF_TIME
from tests.mutants.sampling import ROOT, Mutant

_Z = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What became of one mutant."""

    name: str
    source: str
    """The hash of the module that was mutated. In another module of the same name the mutant is tried again."""

    is_noticed: bool
    by: str
    """The first test that failed, or another reason in words."""

    @property
    def test(self) -> str:
        """The test that noticed it; empty if something else did, or nothing."""
        return self.by if self.is_noticed and "::" in self.by else ""

    def to_json(self) -> Mapping[str, object]:
        """One line of the results."""
        return {"name": self.name, "source": self.source, "noticed": self.is_noticed, "by": self.by}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Trial:
        """The inverse of ``to_json``."""
        return cls(name=row["name"], source=row["source"], is_noticed=row["noticed"], by=row["by"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A sample and its trials."""

    seed: int
    drawn: int
    trials: Sequence[tuple[Mutant, Trial]]
    """Of those with a meaning."""

    @property
    def share(self) -> float:
        """Noticed, of those with a meaning."""
        return self._noticed / len(self.trials) if self.trials else 1.0

    @property
    def _noticed(self) -> int:
        return sum(trial.is_noticed for _, trial in self.trials)

    def text(self) -> str:
        """For the terminal: the mutants that nothing noticed, then the sum."""
        rows = []
        for mutant, trial in self._unnoticed():
            rows.append(f"{mutant.name} {mutant.path}:{mutant.line} {mutant.function}")
            rows.append(f"    - {mutant.before}\n    + {mutant.after}")
            if trial.by:
                rows.append(f"    ({trial.by})")
        return "\n".join([*rows, self._sum()])

    def page(self) -> str:
        """In Markdown, with the commit and its date."""
        commit, date = _git("log", "-1", "--format=%h %cs").split()
        without = self.drawn - len(self.trials)
        rows = [
            "# Which faults the tests notice",
            "",
            "Written by `scripts/mutants --write`, which changes the code in small ways, one at a time, and asks",
            "whether a test fails. What became of each mutant is in `tests/mutants/results.jsonl`; those without",
            "a meaning, with the reason, are in `tests/mutants/without_meaning.toml`.",
            "",
            f"Commit {commit} of {date}, `--seed {self.seed} --count {self.drawn}`. {self._sum()}",
            "",
            f"## Not noticed ({len(self._unnoticed())})",
            "",
        ]
        for mutant, _ in self._unnoticed():
            rows += [f"`{mutant.path}` `{mutant.function or 'module'}`", "", "```diff"]
            rows += [f"- {mutant.before}", f"+ {mutant.after}", "```", ""]
        rows += [f"## Without a meaning: {without}", ""] if without else []
        return "\n".join(rows).rstrip() + "\n"

    def _unnoticed(self) -> list[tuple[Mutant, Trial]]:
        return [(mutant, trial) for mutant, trial in self.trials if not trial.is_noticed]

    def _sum(self) -> str:
        noticed, count = self._noticed, len(self.trials)
        low, high = wilson(noticed, count)
        endless = sum(trial.by == OUT_OF_TIME for _, trial in self.trials)
        return (
            f"{self.drawn} mutants, {self.drawn - count} without a meaning; of the others {noticed} noticed"
            f" ({endless} of them by not ending), {count - noticed} not: {self.share:.1%}"
            f" (95 % interval {low:.1%} to {high:.1%})."
        )


def wilson(successes: int, count: int) -> tuple[float, float]:
    """The interval of a share. Not the package's: a mutant of it would be inherited by every process."""
    if not count:
        return 0.0, 1.0
    share, weight = successes / count, 1 / (1 + _Z**2 / count)
    centre = weight * (share + _Z**2 / (2 * count))
    half = weight * _Z * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return centre - half, centre + half


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
