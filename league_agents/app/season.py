"""Play a whole season offline: on the live machines, division by division, into a folder.

Rule 1: a division is in the folder complete or not at all. Its journals are moved to their names when it is over; the
agents' answers of an unfinished attempt are kept under ``unfinished`` for the next one.
Rule 2: the bytes depend on the plan only: not on the number of workers or of interruptions.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec import Struct

from league_agents.app.agents import AgentRole, ChosenAgent, choose_agent, try_making
from league_agents.app.executor import Executor, Here, executor_of
from league_agents.app.offline import OfflineLeague, OfflineSeason, OfflineTeam, memory_journal, offline_league
from league_agents.app.records import JOURNALS, RECORDS, open_season
from league_agents.app.season_plan import PlannedDivision, SeasonPlan, write_plan
from league_agents.app.season_seats import AnswerBook, LaneHost, SeatOfAgent, close_seats
from league_agents.app.storage import STORAGE
from league_agents.config.rules import rules_named
from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.kit.clock import ManualClock
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError, JournalUnusable, shortened
from league_agents.kit.ids import derive_hex
from league_agents.kit.private_file import open_private_bytes
from league_agents.kit.values import evolve
from league_agents.knowledge.corpus import default_index_path
from league_agents.league.season.pairings import drawn_up
from league_agents.mail.memory import PostOffice
from league_agents.mail.misconduct import PLAYER_CONDUCT, REFEREE_CONDUCT, MisbehavingMailbox, by_chance
from league_agents.mail.port import Mailbox
from league_agents.report.records_file import record_lines
from league_agents.runner.calls import AgentHost
from league_agents.runner.lock import FileLock, Locked

UNFINISHED = "unfinished"
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
    """Play the rest of a season in its folder. Raises ``ConfigError`` for a folder with other contents."""
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
            _play(plan, folder, left, workers, progress)
        _write_records(folder)
        shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
        progress(plan.matches)
    finally:
        lock.release()


def _play(plan: SeasonPlan, folder: Path, left: list[PlannedDivision], workers: int, progress: Progress) -> None:
    executor = executor_of(workers)
    over = plan.matches - sum(_matches_of(plan, division) for division in left)
    try:
        if workers > 1 and len(left) >= workers:
            _play_at_once(plan, folder, left, executor, lambda: progress(over + _played(plan, folder, left)))
        else:
            for division in left:
                play_division(plan, division, folder, executor, tell=partial(_tell_more, progress, over))
                over += _matches_of(plan, division)
    finally:
        executor.close()
        close_seats()


def _tell_more(progress: Progress, before: int, count: int) -> None:
    progress(before + count)


def _matches_of(plan: SeasonPlan, division: PlannedDivision) -> int:
    return evolve(plan, divisions=(division,)).matches


def _play_at_once(
    plan: SeasonPlan, folder: Path, left: list[PlannedDivision], executor: Executor, look: Callable[[], None]
) -> None:
    """Play whole divisions, each in a process of its own."""
    waiting: set[Future[None]] = {
        executor.submit(lane, play_division, plan, division, folder) for lane, division in enumerate(left)
    }
    while waiting:
        done, waiting = wait(waiting, timeout=LOOK_EVERY_S, return_when=FIRST_COMPLETED)
        for each in done:
            each.result()
        look()


def _played(plan: SeasonPlan, folder: Path, divisions: list[PlannedDivision]) -> int:
    """The number of finished matches of these divisions; a running division's file has one byte for each."""
    count = 0
    for division in divisions:
        try:
            count += (_unfinished(folder, division) / "matches").stat().st_size
        except FileNotFoundError:
            count += _matches_of(plan, division) if place_of(division, folder).is_dir() else 0
    return count


def _unfinished(folder: Path, division: PlannedDivision) -> Path:
    return folder / UNFINISHED / str(division.number)


def place_of(division: PlannedDivision, folder: Path) -> Path:
    """The folder of a finished division's journals."""
    return folder / JOURNALS / division.name if division.name else folder / JOURNALS


class _Counting:
    """An observer of the league manager that counts matches."""

    def __init__(self, file: Path, tell: Progress) -> None:
        self._over: set[str] = set()
        self._file = file
        self._tell = tell
        file.write_bytes(b"")

    def received(self, role: str, row: InboxRow) -> None:
        """No-op: only matches are counted."""

    def sent(self, role: str, item: OutboxItem) -> None:
        """No-op: only matches are counted."""

    def noted(self, role: str, note: Note) -> None:
        if role == "manager" and note.kind == "match" and note.key not in self._over:
            self._over.add(note.key)
            with self._file.open("ab") as file:
                file.write(b".")
            self._tell(len(self._over))


def play_division(
    plan: SeasonPlan,
    division: PlannedDivision,
    folder: Path,
    executor: Executor | None = None,
    *,
    tell: Progress = lambda _: None,
) -> None:
    """Play a division from its beginning and put its journals into the folder. ``executor`` calls the agents; ``None``
    means in this process."""
    here = _unfinished(folder, division)
    here.mkdir(parents=True, exist_ok=True)
    book = AnswerBook(here / "answers.jsonl")
    try:
        league = _league(plan, division, executor or Here(), book, _Counting(here / "matches", tell))
        try:
            league.play()
            written = here / JOURNALS
            shutil.rmtree(written, ignore_errors=True)
            written.mkdir()
            _write_journals(league, written)
        finally:
            league.close()
    finally:
        book.close()
    place = place_of(division, folder)
    place.parent.mkdir(exist_ok=True)
    written.rename(place)
    if executor is None:
        close_seats()
    shutil.rmtree(here, ignore_errors=True)


def _league(
    plan: SeasonPlan, division: PlannedDivision, executor: Executor, book: AnswerBook, counting: _Counting
) -> OfflineLeague:
    rules = rules_named(plan.rules)
    seed = derive_hex(str(plan.seed), "division", division.name, digits=16)
    faults = plan.faults
    lanes = {each.team.player_email: place for place, each in enumerate(division.teams)}
    lanes |= {each.team.referee_email: place for place, each in enumerate(division.teams)}

    def is_too_late(address: str, call_id: str) -> bool:
        return bool(faults.timeouts) and Draw(seed, f"timeout/{address}/{call_id}").chance(faults.timeouts)

    def host_of(agent: ChosenAgent, address: str, clock: ManualClock, *, is_referee: bool) -> AgentHost:
        seat = SeatOfAgent(
            address=address,
            spec=agent.spec,
            role="referee" if is_referee else "player",
            rules=plan.rules,
            seed=derive_hex(seed, "agent", address, digits=16),
            in_process=plan.in_process,
        )
        return LaneHost(seat, executor, lanes[address], clock, book, partial(is_too_late, address))

    players = {each.team.player_email for each in division.teams}

    def mailbox_of(office: PostOffice, address: str) -> Mailbox:
        mailbox = office.mailbox(address)
        known = PLAYER_CONDUCT if address in players else REFEREE_CONDUCT
        chances = faults.players if address in players else faults.referees
        if address not in lanes or not chances:
            return mailbox
        return MisbehavingMailbox(mailbox, by_chance(chances, known, seed=seed, address=address))

    def seated(spec: str, role: AgentRole) -> ChosenAgent:
        # Only its name and its conduct are used here: the agent is called in its lane.
        if spec.partition(":")[0] == "scripted":
            return choose_agent(spec, role, rules=rules, seed=seed)
        return ChosenAgent(spec=spec, factory=object, is_ours=True)

    sides = [
        OfflineTeam(team=each.team, player=seated(each.player, "player"), referee=seated(each.referee, "referee"))
        for each in division.teams
    ]
    # A team whose registration is lost in the mail plays nevertheless: the plan determines the teams.
    schedule = drawn_up(plan.schedule, [side.team for side in sides], season=division.number, rounds=plan.rounds)
    return offline_league(
        sides,
        schedule,
        seed=int(seed, 16),
        rules=rules,
        journal_of=memory_journal,
        weather=faults.mail,
        mailbox_of=mailbox_of,
        watch=lambda _: counting,
        host_of=host_of,
        season=OfflineSeason(
            season_id=plan.season_id,
            name=plan.name,
            number=division.number,
            tie_breaks=plan.tie_breaks,
            lot_seed=str(plan.seed),
        ),
    )


def _write_journals(league: OfflineLeague, folder: Path) -> None:
    """Write the journals of a division at once; it is kept in memory until it is over."""
    for member in (league.manager, *league.referees, *league.players):
        role = member.runner.role
        name = f"{role}.{member.address.partition('@')[0]}.db"
        dump = partial(_no_dump, name)
        journal = STORAGE.journal(folder / name, role=role, address=member.address, dump=dump, outlives_power_cut=False)
        try:
            journal.take_over(member.journal)
        finally:
            journal.close()


def _write_records(folder: Path) -> None:
    """Write the records of all matches, from the journals; an existing file is complete."""
    path = folder / RECORDS
    if path.exists():
        return
    beside = folder / UNFINISHED / RECORDS
    beside.parent.mkdir(exist_ok=True)
    with closing(open_season(folder)) as source, open_private_bytes(beside, "w") as file:
        file.writelines(record_lines(source.season(), source.matches(), viewer=source.viewer))
    beside.replace(path)


def _no_dump(name: str, _part: str, _value: object) -> str:
    raise AssertionError(f"{name} is written once and not worked on")


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
