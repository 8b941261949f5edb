"""Work on a cluster of Dask whose workers die. The cluster takes some seconds to start: one is for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest
from click.testing import CliRunner

from league_agents.app import cluster as adapter
from league_agents.app.cluster import Cluster, local_cluster
from league_agents.app.executor import results
from league_agents.app.game_batches import check_same
from league_agents.app.season import ends, play_season
from league_agents.app.season_plan import numbered_roster, plan_of
from league_agents.cli import command_line
from league_agents.kit.errors import ClusterUnavailable, ConfigError, WorkerLost
from league_agents.local_league.patience import LIMIT_S

MORTAL = '''
import os
from league_agents.agents.scripted import ScriptedPlayer
from league_agents.games.q21.rules import BUILT_IN


class Mortal(ScriptedPlayer):
    """Ends its process, once for all."""

    def __init__(self):
        super().__init__(rules=BUILT_IN["course"])

    def get_warmup_answer(self, ctx):
        try:
            os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return super().get_warmup_answer(ctx)
        os._exit(1)
'''


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    # Work that ended two workers is not run a third time.
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), local_cluster(2) as cluster:
        yield cluster.scheduler_address


def files_of(folder: Path) -> dict[str, bytes]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_season_whose_worker_dies_has_the_bytes_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    marker = tmp_path / "died"
    Path("mortal.py").write_text(MORTAL.format(marker=str(marker)), "utf-8")
    Path("mine.yaml").write_text("extends: course\nname: mine\nquestions_required: 12\n", "utf-8")
    plan = plan_of(
        numbered_roster(9),
        seed=5,
        divisions=3,
        agents=("scripted", "mortal.py:Mortal"),
        referees=("scripted",),
        rules="mine.yaml",
        in_process=True,
    )
    told: list[int] = []
    play_season(plan, Path("cluster"), cluster=address, progress=told.append)
    assert marker.exists()
    assert told == [3, 6, 9, 9]
    play_season(plan, Path("one"))
    assert files_of(Path("cluster")) == files_of(Path("one"))
    assert list(ends(plan, Path("cluster"))) == list(ends(plan, Path("one")))


def _double_or_die(number: int, marker: str) -> int:
    if number == 3 and not os.path.exists(marker):  # noqa: PTH110
        Path(marker).touch()
        os._exit(1)
    return 2 * number


def _die(_: int) -> int:
    os._exit(1)


def test_results_keep_their_order_and_work_that_ends_every_worker_is_named(tmp_path: Path, address: str) -> None:
    # The worker that the test before killed may not be back yet.
    with distributed.Client(address) as client:
        client.wait_for_workers(2, timeout=LIMIT_S)
    cluster = Cluster(address)
    try:
        assert cluster.width == 2
        drawn: list[int] = []

        def tasks() -> Iterator[tuple[Any, ...]]:
            for number in range(20):
                drawn.append(number)
                yield number, str(tmp_path / "died")

        most = cluster.most_waiting  # less as soon as the work has ended a worker
        found = results(cluster, _double_or_die, tasks())
        assert next(found) == 0
        assert len(drawn) == most == 6
        assert list(found) == [2 * number for number in range(1, 20)]
        named = pytest.raises(WorkerLost, match="several workers ended while they did the same work")
        with named, cluster.naming_losses():
            list(results(cluster, _die, [(1,)]))
    finally:
        cluster.close()


def test_a_cluster_that_is_not_there_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "CONNECT_S", 0.1)
    monkeypatch.setattr(adapter, "WORKERS_WITHIN_S", 0.1)
    with pytest.raises(ClusterUnavailable, match=r"^no Dask scheduler answers at 127\.0\.0\.1:9; start one with"):
        Cluster("127.0.0.1:9")
    with (
        local_cluster(0) as empty,
        pytest.raises(ClusterUnavailable, match="has no workers; start some with 'dask"),
    ):
        Cluster(empty.scheduler_address)


def test_a_worker_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    cluster = Cluster(address)
    monkeypatch.setattr(adapter, "__version__", "9.9.9")
    try:
        with pytest.raises(
            ConfigError, match=r"^worker tcp://127.*: has league-agents 0.*; install 9\.9\.9 there, as here$"
        ):
            cluster.submit(None, int, "1").result()  # one that came later
    finally:
        cluster.close()
    with pytest.raises(
        ConfigError, match=r"^worker tcp://127.*: has league-agents 0.*; install 9\.9\.9 there, as here$"
    ):
        Cluster(address)


OWN = """
from league_agents.agents.scripted import ScriptedPlayer
from league_agents.games.q21.rules import BUILT_IN


class Mine(ScriptedPlayer):
    def __init__(self):
        super().__init__(rules=BUILT_IN["prd"])
"""


REFEREE = ("--referee", "scripted", "--games", "4")


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "scripted", "mine.py:Mine", *REFEREE, "--json"),
        ("evaluate", "player", "mine.py:Mine", *("--opponent", "scripted"), *REFEREE, "--json"),
    ],
)
def test_games_on_a_cluster_are_those_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(OWN, "utf-8")
    here = CliRunner().invoke(command_line, [*words, "--out", "one.jsonl"])
    there = CliRunner().invoke(command_line, [*words, "--out", "cluster.jsonl", "--dask", address])
    assert here.exit_code == there.exit_code == 0, there.output
    assert there.stdout_bytes == here.stdout_bytes
    assert Path("cluster.jsonl").read_bytes() == Path("one.jsonl").read_bytes()


def test_a_worker_with_other_books_is_refused() -> None:
    refusal = r'^a worker on .*: plays with other books or classes \(books "a", not "b"\); install there what'
    with pytest.raises(ConfigError, match=refusal):
        check_same({"seed": 1, "books": "a"}, {"seed": 1, "books": "b"})
