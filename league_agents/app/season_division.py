"""Play one division of an offline season, in one process or in parts, into the season's folder.

Rule: a division is in the folder complete or not at all. Its journals are moved to their names when it is over; the
agents' answers of an unfinished attempt are kept under ``unfinished`` for the next one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from league_agents.app.executor import Executor, Here
from league_agents.app.offline import LONGEST, START
from league_agents.app.season_files import JOURNALS, MATCHES
from league_agents.app.season_part import DivisionShare, answers_in, finish_part, play_pass
from league_agents.app.season_plan import PlannedDivision
from league_agents.app.season_progress import place_of, unfinished
from league_agents.kit.errors import LimitExceeded
from league_agents.runner.simulation import PASS

T = TypeVar("T")
HOUR = timedelta(hours=1)

Progress = Callable[[int], None]
"""Called with the number of matches that are over."""


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
    here = begin_division(division, folder)
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
    finish_division(division, folder)


def begin_division(division: PlannedDivision, folder: Path) -> Path:
    """Make the folder of a division with an empty one for its journals."""
    here = unfinished(folder, division.number)
    here.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(here / JOURNALS, ignore_errors=True)
    (here / JOURNALS).mkdir()
    return here


def finish_division(division: PlannedDivision, folder: Path) -> None:
    """Move the journals of a division that is over to their place, and forget what is unfinished."""
    here, place = unfinished(folder, division.number), place_of(division, folder)
    place.parent.mkdir(exist_ok=True)
    (here / JOURNALS).rename(place)
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
