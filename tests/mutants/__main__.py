"""Changes the code in small ways and asks whether a test notices. Not part of the ordinary tests.

    scripts/mutants                      500 mutants of the pure packages, the runner, the journal and mail identity
    scripts/mutants --count 50 --seed 7 league_agents/journal
    scripts/mutants --again              try those again that nobody noticed
    scripts/mutants --show NAME          what one mutant changes
    scripts/mutants --measure            measure anew which tests reach which function (after larger changes)

An interrupted run goes on where it was. tests/mutants/without_meaning.toml lists mutants that no test can notice, with
the reason. The exit code is 1 when less than 95 % of the others were noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.mutants.reach import FILE, Reach, measure, read
from tests.mutants.running import try_all
from tests.mutants.sampling import ROOT, SCOPE, Mutant, digest, sample

RESULTS = FILE.with_name("results.jsonl")
WITHOUT_MEANING = Path(__file__).with_name("without_meaning.toml")
ENOUGH = 0.95


def main() -> int:
    arguments = _arguments()
    os.chdir(ROOT)
    mutants = sample(arguments.count, arguments.seed, arguments.paths or SCOPE)
    if arguments.show:
        return _show(mutants, arguments.show)
    excused = _excused()
    tried = _results()
    meant = [mutant for mutant in mutants if _key(mutant) not in excused]
    sources = {mutant.path: digest((ROOT / mutant.path).read_text("utf-8")) for mutant in mutants}
    open_ones = [
        mutant for mutant in meant
        if (found := tried.get(mutant.name)) is None or found["source"] != sources[mutant.path]
        or (arguments.again and not found["noticed"])
    ]  # fmt: skip
    if open_ones or arguments.measure:
        reach = _reach(anew=arguments.measure)
        with RESULTS.open("a", encoding="utf-8") as file:
            for mutant, is_noticed, by in try_all(open_ones, reach, processes=arguments.processes):
                result = {"name": mutant.name, "source": sources[mutant.path], "noticed": is_noticed, "by": by}
                tried[mutant.name] = result
                file.write(json.dumps(result) + "\n")
                file.flush()
                print("." if is_noticed else "?", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    return _report(mutants, meant, tried)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("paths", nargs="*", help="folders and modules, from the root of the repository")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--show", metavar="NAME", default="")
    return parser.parse_args()


def _reach(*, anew: bool) -> Reach:
    if not anew:
        try:
            return read()
        except FileNotFoundError:
            print("measuring which tests reach which function (about five minutes, once)", file=sys.stderr)
    return measure()


def _results() -> dict[str, dict[str, object]]:
    if not RESULTS.exists():
        return {}
    return {result["name"]: result for result in map(json.loads, RESULTS.read_text("utf-8").splitlines())}


def _key(mutant: Mutant) -> tuple[str, str, str, str]:
    return mutant.path, mutant.function, mutant.before, mutant.after


def _excused() -> set[tuple[str, str, str, str]]:
    listed = tomllib.loads(WITHOUT_MEANING.read_text("utf-8")).get("mutant", [])
    return {(row["module"], row["function"], row["before"], row["after"]) for row in listed}


def _report(mutants: Sequence[Mutant], meant: Sequence[Mutant], tried: Mapping[str, Mapping[str, object]]) -> int:
    unnoticed = [mutant for mutant in meant if not tried[mutant.name]["noticed"]]
    for mutant in unnoticed:
        print(f"{mutant.name} {mutant.path}:{mutant.line} {mutant.function}")
        print(f"    - {mutant.before}\n    + {mutant.after}")
        if by := tried[mutant.name]["by"]:
            print(f"    ({by})")
    noticed = len(meant) - len(unnoticed)
    share = noticed / len(meant) if meant else 1.0
    print(f"{len(mutants)} mutants, {len(mutants) - len(meant)} without a meaning; of the others {noticed} noticed,"
          f" {len(unnoticed)} not: {share:.1%}")  # fmt: skip
    return int(share < ENOUGH)


def _show(mutants: Sequence[Mutant], name: str) -> int:
    for mutant in mutants:
        if mutant.name.startswith(name):
            print(f"{mutant.path}:{mutant.line} {mutant.function}\n- {mutant.before}\n+ {mutant.after}")
            return 0
    print(f"mutants: no {name} in this sample", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
