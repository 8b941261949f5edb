"""Play a whole season offline: on the live machines, division by division, into a folder.

Rule 1: a division is in the folder complete or not at all. Its journals are moved to their names when it is over; the
agents' answers of an unfinished attempt are kept under ``unfinished`` for the next one.
Rule 2: the bytes depend on the plan only: not on the number of workers or of interruptions.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from league_agents.app.agents import AgentRole, choose_agent, try_making
from league_agents.app.executor import Executor, Here, executor_of, naming_lost_workers
from league_agents.app.offline import LONGEST, START
from league_agents.app.season_files import JOURNALS, MATCHES, RECORDS, UNFINISHED
from league_agents.app.season_part import DivisionShare, abandon_parts, answers_in, finish_part, play_pass
from league_agents.app.season_plan import PlannedDivision, SeasonPlan, write_plan
from league_agents.app.season_progress import place_of, played_in, unfinished
from league_agents.app.season_records import write_records
from league_agents.app.storage import STORAGE
from league_agents.config.rules import rules_named
from league_agents.kit.errors import ConfigError, JournalUnusable, LimitExceeded, shortened
from league_agents.knowledge.corpus import default_index_path
from league_agents.runner.lock import FileLock, Locked
from league_agents.runner.simulation import PASS

T = TypeVar("T")
HOUR = timedelta(hours=1)
LOOK_EVERY_S = 0.25
"""Interval of progress checks."""

Progress = Callable[[int], None]
"""Called with the number of matches that are over."""


class DivisionEnd(Struct, frozen=True, kw_only=True):
    """The end of a division, from its league manager's journal."""

    name: str
    standings: tuple[Mapping[str, object], ...]
    terminations: Mapping[str, int]
    """Number of matches by the name of their ``Termination``."""


def play_season(plan: SeasonPlan, folder: Path, *, workers: int = 1, progress: Progress = lambda _: None) -> None:
    """Play the rest of a season in its folder. Raises ``ConfigError`` for a folder with other contents,
    and ``WorkerLost`` when one of its processes is killed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_plan(plan, folder)
        lock = FileLock(folder / "season")
    except OSError as error:
        raise ConfigError(shortened(str(folder)), f"cannot be used: {error.strerror}; name another folder") from None
    except Locked as error:
        raise ConfigError(shortened(str(folder)), f"{error} plays this season; wait for it, or end it") from None
    try:
        left = [division for division in plan.divisions if not place_of(division, folder).is_dir()]
        if left:
            _check_agents(plan)
        if left or not (folder / RECORDS).exists():
            with naming_lost_workers():
                _play(plan, folder, left, workers, progress)
        shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
        progress(plan.matches)
    finally:
        lock.release()


def _play(plan: SeasonPlan, folder: Path, left: list[PlannedDivision], workers: int, progress: Progress) -> None:
    """Play as many whole divisions at once as there are workers, and the others in parts."""
    executor = executor_of(workers)
    try:
        over = plan.matches - sum(plan.matches_of(division) for division in left)
        at_once = left[: len(left) - len(left) % workers] if workers > 1 else []
        if at_once:
            _play_at_once(folder, at_once, executor, lambda: progress(over + played_in(plan, folder, at_once)))
            over += sum(plan.matches_of(division) for division in at_once)
        for division in left[len(at_once) :]:
            play_division(division, folder, executor, parts=workers, tell=partial(_tell_more, progress, over))
            over += plan.matches_of(division)
        write_records(plan, folder, executor, workers)
    finally:
        executor.close()
        abandon_parts()


def _tell_more(progress: Progress, before: int, count: int) -> None:
    progress(before + count)


def _play_at_once(folder: Path, left: list[PlannedDivision], executor: Executor, look: Callable[[], None]) -> None:
    """Play whole divisions, each in one process."""
    waiting: set[Future[None]] = {
        executor.submit(lane, play_alone, division, folder) for lane, division in enumerate(left)
    }
    while waiting:
        done, waiting = wait(waiting, timeout=LOOK_EVERY_S, return_when=FIRST_COMPLETED)
        for each in done:
            each.result()
        look()


def play_alone(division: PlannedDivision, folder: Path) -> None:
    """Play a whole division in this process."""
    play_division(division, folder, Here())


def play_division(
    division: PlannedDivision,
    folder: Path,
    executor: Executor,
    *,
    parts: int = 1,
    tell: Progress = lambda _: None,
) -> None:
    """Play a division from its beginning, count its matches in a file, and put its journals into the folder."""
    here = unfinished(folder, division.number)
    here.mkdir(parents=True, exist_ok=True)
    written = here / JOURNALS
    shutil.rmtree(written, ignore_errors=True)
    written.mkdir()
    counted = here / MATCHES
    counted.write_bytes(b"")

    def count(matches: int) -> None:
        with counted.open("ab") as file:
            file.write(b"." * (matches - file.tell()))
        tell(matches)

    parts = min(parts, len(division.teams))
    attempt = 1 + max((int(path.name.split(".")[1]) for path in answers_in(here)), default=0)
    shares = [
        DivisionShare(folder=str(folder), division=division.number, part=part, parts=parts, attempt=attempt)
        for part in range(parts)
    ]
    _play_passes(shares, executor, count)
    _results([executor.submit(share.part, finish_part, share) for share in shares])
    place = place_of(division, folder)
    place.parent.mkdir(exist_ok=True)
    written.rename(place)
    shutil.rmtree(here, ignore_errors=True)


def _play_passes(shares: Sequence[DivisionShare], executor: Executor, tell: Progress) -> None:
    """Play pass after pass until no part has anything to do. Raises ``LimitExceeded`` when the season does not end."""
    now, told = START, 0
    mail: Sequence[Sequence[bytes]] = [() for _ in shares]
    while True:
        ends = _results(
            [executor.submit(share.part, play_pass, share, now, each) for share, each in zip(shares, mail, strict=True)]
        )
        if ends[0].matches > told:
            told = ends[0].matches
            tell(told)
        # Every mail that is on its way is among the wakes: a pass in which nobody worked is followed by a jump.
        mail = [[end.mail[share.part] for end in ends if end.mail[share.part]] for share in shares]
        wake = min((end.next_wake for end in ends if end.next_wake is not None), default=None)
        if any(end.is_busy for end in ends):
            now += PASS
        elif wake is not None:
            now = max(wake, now + PASS)
        else:
            return
        if now - START > LONGEST:
            raise LimitExceeded("simulated time in hours", (now - START) / HOUR, LONGEST / HOUR)


def _results(futures: Sequence[Future[T]]) -> list[T]:
    return [each.result() for each in futures]


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
