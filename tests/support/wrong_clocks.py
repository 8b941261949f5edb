"""A match between machines whose wall clocks are wrong or are set in the middle, and how it ended.

Every wait of the rules is 20 s without grace, so that a referee who is wrong by more would end each match. Mail goes
through the sandbox, whose clock is right and the only one that may matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from msgspec import Struct

from league_agents.journal.port import WARNING, Journal, Note
from league_agents.kit.private_file import make_private_folder
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.local_league.league import LeagueProcess, LocalLeague, four_seats, unhurried
from league_agents.report.results import points
from league_agents.sandbox.server import Sandbox
from tests.support.turns import in_turns, turns

WAIT = timedelta(seconds=20)
OFFSETS = tuple(timedelta(seconds=seconds) for seconds in (-3_600, -400, -60, 60, 400, 3_600))
JUMPS = (timedelta(hours=-1), timedelta(hours=1))
SEATS: Sequence[LeagueProcess] = four_seats()
Walls = Mapping[str, timedelta]
"""By how much the wall clock of a seat (``LeagueProcess.name``) is ahead; of one that is not in it, it is right."""

_RULES = f"""\
extends: prd
name: short-waits
warmup_wait_seconds: {WAIT.total_seconds():g}
questions_wait_seconds: {WAIT.total_seconds():g}
guess_wait_seconds: {WAIT.total_seconds():g}
grace_seconds: 0
"""
_JUMP_AFTER = "Q21ROUNDSTART"


class MatchEnding(Struct, frozen=True, kw_only=True):
    """What must be the same whatever the clocks show."""

    records: tuple[tuple[object, ...], ...]
    """Of the referee and of the manager: how the match ended, and each player's points."""

    warnings: tuple[tuple[str, str], ...]
    """Role and code of each: a mail that is called late is among them."""

    messages: tuple[tuple[tuple[str, str], int], ...]
    """Sender and type of everything that was sent, and how often."""


def everyone(walls: timedelta) -> Walls:
    """The same error for all, as when they share a machine."""
    return {seat.name: walls for seat in SEATS}


def short_waits(folder: Path) -> str:
    """The rules, in a file of this folder: what a league file names."""
    make_private_folder(folder)
    path = folder / "short-waits.yaml"
    path.write_text(_RULES, "utf-8")
    return path.name


def play_in_turns(folder: Path, *, walls: Walls, jumps: Walls, restarts: bool = False) -> MatchEnding:
    """All roles in this process, by turns; no time passes while anybody works. ``jumps`` are the errors from the middle
    of the match on; with ``restarts`` everybody is started anew then."""
    with in_turns(folder, SEATS, rules=short_waits(folder)) as league:
        _set(league, walls)
        with turns(league) as everybody:
            everybody.until(lambda: _has_begun(league.sandbox))
            _set(league, jumps)
            if not restarts:
                everybody.until(lambda: everybody.is_in(SeasonPhase.FINISHED))
                everybody.until_quiet()
        if restarts:
            with turns(league) as everybody:
                everybody.until(lambda: everybody.is_in(SeasonPhase.FINISHED))
                everybody.until_quiet()
        return _ending(league)


def play_in_processes(folder: Path, *, walls: Walls, jumps: Walls) -> MatchEnding:
    """Each role as a ``run --watch`` of its own."""
    with unhurried(folder, SEATS, rules=short_waits(folder)) as league:
        _set(league, walls)
        league.start_all()
        league.until(lambda: _has_begun(league.sandbox), "the match has begun")
        _set(league, jumps)
        league.wait_for_season()
        league.stop()
        return _ending(league)


def _set(league: LocalLeague, walls: Walls) -> None:
    assert league.clock is not None
    for name, off in walls.items():
        league.clock.set_wall(off, name)


def _has_begun(sandbox: Sandbox) -> bool:
    referee = SEATS[1].address
    return any(_JUMP_AFTER in mail.view.header("subject") for mail in sandbox.mail(referee, "SENT"))


def _ending(league: LocalLeague) -> MatchEnding:
    people = league.participants()
    journals = [one.journal for one in people]
    try:
        return MatchEnding(
            records=tuple(_record(note) for one in people[:2] for note in one.journal.notes() if note.kind == "match"),
            warnings=tuple(sorted(_warnings(zip((seat.role for seat in SEATS), journals, strict=True)))),
            messages=tuple(sorted(_messages(league.sandbox).items())),
        )
    finally:
        for one in people:
            one.journal.close()


def _record(note: Note) -> tuple[object, ...]:
    facts = note.facts
    ended = tuple(facts.get(name) for name in ("status", "termination", "winner_id", "is_draw"))
    return (*ended, *(tuple(each.to_json().items()) for each in points(facts)))


def _warnings(journals: Iterable[tuple[str, Journal]]) -> list[tuple[str, str]]:
    return [(role, note.key) for role, journal in journals for note in journal.notes() if note.kind == WARNING]


def _messages(sandbox: Sandbox) -> Counter[tuple[str, str]]:
    return Counter(
        (address, mail.view.header("subject").rpartition("::")[2])
        for address in sandbox.accounts
        for mail in sandbox.mail(address, "SENT")
    )
