"""``scripts/mutants`` draws repeatably, and a mutant is noticed by a test that fails and by nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from league_agents.local_league.patience import LIMIT_S

pytest.importorskip("mutmut")

ROOT = Path(__file__).resolve().parents[2]
MODULE = "league_agents/kit/draw.py"
PROGRAM = """
import json, sys
from tests.mutants.reach import Reach
from tests.mutants.running import try_all
from tests.mutants.sampling import Mutant, functions, sample

drawn = sample(12, 7, [sys.argv[1]])
again = sample(12, 7, [sys.argv[1]])
whole = open(sys.argv[1], encoding="utf-8").read()
for mutant in drawn:
    compile(mutant.code, mutant.path, "exec")
values = dict(path=sys.argv[1], function="", line=1, before="", after="", nth=0)
tests = ["tests/unit/kit/test_draw.py::test_a_draw_is_the_hash_that_the_module_describes"]
reach = Reach(seconds={test: 0.1 for test in tests}, tests={f"{sys.argv[1]}::": tests})
mutants = [Mutant(code=whole, **values), Mutant(code=whole.replace("sha256", "sha512"), **values)]
tried = {mutant.code: (is_noticed, by) for mutant, is_noticed, by in try_all(mutants, reach, {}, processes=2)}
print(json.dumps({
    "is_repeatable": [mutant.name for mutant in drawn] == [mutant.name for mutant in again],
    "names": len({mutant.name for mutant in drawn}),
    "changed": all(mutant.code != whole and mutant.before != mutant.after for mutant in drawn),
    "functions": [mutant.function for mutant in drawn],
    "tried": [tried[mutant.code] for mutant in mutants],
}))
"""


def test_a_sample_is_repeatable_and_only_what_a_test_tells_apart_is_noticed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, MODULE], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["is_repeatable"]
    assert found["names"] == 12
    assert found["changed"]
    assert any(found["functions"])
    same, other = found["tried"]
    assert same == [False, ""]
    is_noticed, by = other
    assert is_noticed
    assert by.startswith("tests/unit/kit/test_draw.py::")
