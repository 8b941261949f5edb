"""Play a whole season offline: on the live machines, division by division, into a folder.

Rule: the bytes depend on the plan only: not on the number of workers or of interruptions.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from msgspec import Struct

from league_agents.app.agents import AgentRole, choose_agent, try_making
from league_agents.app.carried_files import CarriedFiles
from league_agents.app.executor import Executor, results
from league_agents.app.executors import executor_of
from league_agents.app.season_division import Progress, play_alone, play_division
from league_agents.app.season_files import UNFINISHED
from league_agents.app.season_part import abandon_parts
from league_agents.app.season_plan import PlannedDivision, SeasonPlan, read_plan, write_plan
from league_agents.app.season_progress import place_of, played_in
from league_agents.app.season_records import lacks_records, write_records
from league_agents.app.season_remote import files_of, keep, play_remotely
from league_agents.app.storage import STORAGE
from league_agents.config.rules import rules_named
from league_agents.kit.errors import ConfigError, JournalUnusable, shortened
from league_agents.kit.values import evolve
from league_agents.knowledge.corpus import default_index_path
from league_agents.runner.lock import FileLock, Locked


class DivisionEnd(Struct, frozen=True, kw_only=True):
    """The end of a division, from its league manager's journal."""

    name: str
    standings: tuple[Mapping[str, object], ...]
    terminations: Mapping[str, int]
    """Number of matches by the name of their ``Termination``."""


def play_season(
    plan: SeasonPlan,
    folder: Path,
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress = lambda _: None,
) -> None:
    """Play the rest of a season in its folder, on a Dask ``cluster`` if one is named. Raises ``ConfigError`` for a
    folder with other contents, and ``WorkerLost`` when one of its processes is killed or the cluster is lost."""
    with ExitStack() as opened:

        def prepare(left: Sequence[PlannedDivision]) -> tuple[Executor, CarriedFiles]:
            files = files_of(plan) if cluster is not None else {}
            if left:
                _check_agents(plan)
            executor = executor_of(workers, cluster)
            opened.callback(executor.close)
            return executor, files

        # A season that is refused leaves nothing behind.
        prepared = prepare(plan.divisions) if read_plan(folder) is None else None
        lock = _lock(plan, folder)
        opened.callback(lock.release)
        left = [division for division in plan.divisions if not place_of(division, folder).is_dir()]
        if left or lacks_records(plan, folder):
            executor, files = prepared or prepare(left)
            opened.callback(abandon_parts)
            with executor.naming_losses():
                _play(plan, folder, left, executor, files, progress)
                write_records(plan, folder, executor)
        shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
        progress(plan.matches)


def _lock(plan: SeasonPlan, folder: Path) -> FileLock:
    """Write the plan, and lock the season against another process. Raises ``ConfigError``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_plan(plan, folder)
        return FileLock(folder / "season")
    except OSError as error:
        raise ConfigError(shortened(str(folder)), f"cannot be used: {error.strerror}; name another folder") from None
    except Locked as error:
        raise ConfigError(shortened(str(folder)), f"{error} plays this season; wait for it, or end it") from None


def _play(
    plan: SeasonPlan,
    folder: Path,
    left: list[PlannedDivision],
    executor: Executor,
    files: CarriedFiles,
    progress: Progress,
) -> None:
    """Play as many whole divisions at once as there are workers, and the others in parts."""
    over = plan.matches - sum(plan.matches_of(division) for division in left)
    if executor.is_remote:
        _play_remotely(plan, folder, left, executor, files, partial(_tell_more, progress, over))
        return
    width = executor.width
    at_once = left[: len(left) - len(left) % width] if width > 1 else []
    if at_once:
        tasks = ((division, folder) for division in at_once)
        look = partial(_tell_played, plan, folder, at_once, over, progress)
        for _ in results(executor, play_alone, tasks, in_order=False, look=look):
            pass
        over += sum(plan.matches_of(division) for division in at_once)
    for division in left[len(at_once) :]:
        play_division(division, folder, executor, parts=width, tell=partial(_tell_more, progress, over))
        over += plan.matches_of(division)


def _play_remotely(
    plan: SeasonPlan,
    folder: Path,
    left: Sequence[PlannedDivision],
    executor: Executor,
    files: CarriedFiles,
    progress: Progress,
) -> None:
    """Play whole divisions on other machines, and keep each one as it comes."""
    divisions = {division.number: division for division in left}
    over = 0
    is_recorded = lacks_records(plan, folder)
    tasks = ((evolve(plan, divisions=(division,)), files, is_recorded) for division in left)
    for played in results(executor, play_remotely, tasks, in_order=False):
        keep(played, divisions[played.number], folder)
        over += plan.matches_of(divisions[played.number])
        progress(over)


def _tell_played(
    plan: SeasonPlan, folder: Path, divisions: Sequence[PlannedDivision], before: int, progress: Progress
) -> None:
    progress(before + played_in(plan, folder, divisions))


def _tell_more(progress: Progress, before: int, count: int) -> None:
    progress(before + count)


def _check_agents(plan: SeasonPlan) -> None:
    """Make one instance of each agent, so that one that cannot be made stops before the season."""
    rules = rules_named(plan.rules)
    roles: dict[tuple[str, AgentRole], None] = {}
    for each in (team for division in plan.divisions for team in division.teams):
        roles[each.player, "player"] = None
        roles[each.referee, "referee"] = None
    for spec, role in roles:
        agent = choose_agent(spec, role, rules=rules, seed=0, index_path=default_index_path, in_process=plan.in_process)
        try:
            try_making(agent)
        finally:
            agent.close()


def ends(plan: SeasonPlan, folder: Path) -> Iterator[DivisionEnd]:
    """The ends of the finished divisions."""
    for division in plan.divisions:
        place = place_of(division, folder)
        if not place.is_dir():
            continue
        (path,) = place.glob("manager.*.db")
        journal = STORAGE.look_at_journal(path)
        try:
            ended: Mapping[str, object] | None = None
            terminations: dict[str, str] = {}
            for note in journal.notes():
                if note.kind == "match":
                    terminations[note.key] = str(note.facts.get("termination"))
                elif note.kind == "season":
                    ended = note.facts
        finally:
            journal.close()
        rows = ended.get("standings") if ended is not None else None
        if not isinstance(rows, list):
            raise JournalUnusable(f"{path}: holds no standings of a season that is over; name another folder")
        yield DivisionEnd(
            name=division.name, standings=tuple(rows), terminations=dict(sorted(Counter(terminations.values()).items()))
        )
