"""Changes the code in small ways and asks whether a test notices. Not part of the ordinary tests.

    scripts/mutants                      500 mutants of the pure packages, the runner, the journal and mail identity
    scripts/mutants --count 50 --seed 7 league_agents/journal
    scripts/mutants --again              try those again that nobody noticed
    scripts/mutants --show NAME          what one mutant changes
    scripts/mutants --measure            measure anew which tests reach which function (after larger changes)
    scripts/mutants --write              write the result to docs/development/mutants.md and tests/mutants/results.jsonl

An interrupted run goes on where it was. tests/mutants/without_meaning.toml lists mutants that no test can notice, with
the reason. The exit code is 1 when less than 95 % of the others were noticed. A mutant counts as noticed when a test
fails that passes without it, when a test cannot be imported any more, or when the tests do not end within their CPU
time; the report says how many of the last kind there are.

A written result can be confirmed on the commit that it names: without .cache/mutants, the first test that is run for
a mutant is the one that noticed it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.reach import FILE, Reach, measure, read
from tests.mutants.report import Report, Trial
from tests.mutants.running import failing, try_all
from tests.mutants.sampling import ROOT, SCOPE, Mutant, digest, sample

RESULTS = FILE.with_name("results.jsonl")
WITHOUT_MEANING = Path(__file__).with_name("without_meaning.toml")
WRITTEN = Path(__file__).with_name("results.jsonl")
PAGE = ROOT / "docs" / "development" / "mutants.md"
ENOUGH = 0.95


def main() -> int:
    arguments = _arguments()
    os.chdir(ROOT)
    mutants = sample(arguments.count, arguments.seed, arguments.paths or SCOPE)
    if arguments.show:
        return _show(mutants, arguments.show)
    excused = _excused()
    earlier, tried = _trials(WRITTEN), _trials(RESULTS)
    meant = [mutant for mutant in mutants if _key(mutant) not in excused]
    sources = {mutant.path: digest((ROOT / mutant.path).read_text("utf-8"))[:16] for mutant in mutants}
    open_ones = [
        mutant for mutant in meant
        if (found := tried.get(mutant.name)) is None or found.source != sources[mutant.path]
        or (arguments.again and not found.is_noticed)
    ]  # fmt: skip
    if open_ones or arguments.measure:
        reach = _reach(anew=arguments.measure)
        first = {name: trial.by for name, trial in (earlier | tried).items() if trial.is_noticed}
        with RESULTS.open("a", encoding="utf-8") as file:

            def keep(mutant: Mutant, *, is_noticed: bool, by: str) -> None:
                trial = Trial(name=mutant.name, source=sources[mutant.path], is_noticed=is_noticed, by=by)
                tried[mutant.name] = trial
                file.write(json.dumps(trial.to_json()) + "\n")
                file.flush()
                print("." if is_noticed else "?", end="", file=sys.stderr, flush=True)

            for mutant, is_noticed, by in try_all(open_ones, reach, first, processes=arguments.processes):
                keep(mutant, is_noticed=is_noticed, by=by)
            wrong = failing({tried[mutant.name].test for mutant in meant} - {""})
            for mutant in meant:
                if tried[mutant.name].by in wrong:
                    keep(mutant, is_noticed=False, by=f"{tried[mutant.name].by} fails without a mutant too")
        print(file=sys.stderr)
    report = Report(seed=arguments.seed, drawn=len(mutants), trials=[(mutant, tried[mutant.name]) for mutant in meant])
    print(report.text())
    if arguments.write:
        PAGE.write_text(report.page(), "utf-8")
        lines = sorted(json.dumps(tried[mutant.name].to_json()) for mutant in meant)
        WRITTEN.write_text("\n".join(lines) + "\n", "utf-8")
    return int(report.share < ENOUGH)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("paths", nargs="*", help="folders and modules, from the root of the repository")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", metavar="NAME", default="")
    return parser.parse_args()


def _reach(*, anew: bool) -> Reach:
    if not anew:
        try:
            return read()
        except FileNotFoundError:
            print("measuring which tests reach which function (about five minutes, once)", file=sys.stderr)
    return measure()


def _trials(path: Path) -> dict[str, Trial]:
    if not path.exists():
        return {}
    found = map(Trial.from_json, map(json.loads, path.read_text("utf-8").splitlines()))
    return {trial.name: trial for trial in found}


def _key(mutant: Mutant) -> tuple[str, str, str, str]:
    return mutant.path, mutant.function, mutant.before, mutant.after


def _excused() -> set[tuple[str, str, str, str]]:
    listed = tomllib.loads(WITHOUT_MEANING.read_text("utf-8")).get("mutant", [])
    return {(row["module"], row["function"], row["before"], row["after"]) for row in listed}


def _show(mutants: Sequence[Mutant], name: str) -> int:
    for mutant in mutants:
        if mutant.name.startswith(name):
            print(f"{mutant.path}:{mutant.line} {mutant.function}\n- {mutant.before}\n+ {mutant.after}")
            return 0
    print(f"mutants: no {name} in this sample", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
