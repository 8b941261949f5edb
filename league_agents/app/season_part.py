"""A part of a division: the league manager or some of the teams, played in one process.

Rule 1: mail of a pass arrives before the next pass, in the order of its senders and not of the processes. A season
therefore has the same bytes for any number of parts.
Rule 2: only instants and mail for other parts are exchanged. The plan and the answers of an earlier attempt are read
from the season's folder.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path

from msgspec import Struct

from league_agents.app.agents import AgentRole, ChosenAgent, choose_agent
from league_agents.app.offline import OfflineLeague, OfflineSeason, OfflineTeam, memory_journal
from league_agents.app.offline import offline_league as assembled
from league_agents.app.season_files import JOURNALS
from league_agents.app.season_plan import PlannedDivision, SeasonPlan, read_plan
from league_agents.app.season_progress import unfinished
from league_agents.app.season_seats import AnswerBook, SeatHost, SeatOfAgent, close_seats
from league_agents.app.storage import STORAGE
from league_agents.config.rules import rules_named
from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.kit.clock import ManualClock
from league_agents.kit.draw import Draw
from league_agents.kit.ids import derive_hex
from league_agents.kit.values import evolve
from league_agents.league.machines.events import Command, OperatorCommand
from league_agents.league.season.pairings import drawn_up
from league_agents.mail.memory import Posted, PostOffice
from league_agents.mail.misconduct import PLAYER_CONDUCT, REFEREE_CONDUCT, MisbehavingMailbox, by_chance
from league_agents.mail.port import Mailbox
from league_agents.runner.calls import AgentHost
from league_agents.runner.simulation import Simulation


class DivisionShare(Struct, frozen=True, kw_only=True):
    """One of the parts that a division is divided into."""

    folder: str
    """The season's folder."""

    division: int
    """The division's number."""

    part: int = 0
    """From 0. The first part plays the league manager."""

    parts: int = 1
    attempt: int = 1
    """Each attempt has files of its own: a process of a killed one may still be writing its files."""

    @property
    def unfinished(self) -> Path:
        """The folder of the division until it is over."""
        return unfinished(Path(self.folder), self.division)


class PassEnd(Struct, frozen=True, kw_only=True):
    """The end of a pass of one part."""

    is_busy: bool
    next_wake: datetime | None
    mail: tuple[bytes, ...]
    """Mail for each of the parts; empty where there is none."""

    matches: int
    """The number of finished matches that the league manager knows; 0 in the other parts."""


def answers_in(folder: Path, attempt: int | None = None) -> list[Path]:
    """The files of answers of one attempt, or of all."""
    return sorted(folder.glob(f"answers.{'*' if attempt is None else attempt}.*.jsonl"))


def play_pass(share: DivisionShare, now: datetime, mail: Sequence[bytes]) -> PassEnd:
    """Deliver the mail of the previous pass from other parts, and wake every role of this part."""
    return _part(share).play_pass(now, mail)


def finish_part(share: DivisionShare) -> None:
    """Write the journals of this part, and forget it."""
    part = _part(share)
    part.write_journals()
    del _PARTS[share]
    part.close()
    close_seats()


def abandon_parts() -> None:
    """Forget all unfinished parts of this process. The answers so far are kept in their files."""
    while _PARTS:
        _PARTS.popitem()[1].close()
    close_seats()


_PARTS: dict[DivisionShare, _Part] = {}
"""The parts that this process plays."""


def _part(share: DivisionShare) -> _Part:
    if share not in _PARTS:
        _PARTS[share] = _Part(share)
    return _PARTS[share]


class _Part:
    def __init__(self, share: DivisionShare) -> None:
        plan = read_plan(Path(share.folder))
        assert plan is not None, "the plan is written first"
        (division,) = (each for each in plan.divisions if each.number == share.division)
        self._share = share
        earlier = (answers_in(share.unfinished, attempt) for attempt in range(1, share.attempt))
        mine = share.unfinished / f"answers.{share.attempt}.{share.part}.jsonl"
        self._book = AnswerBook(mine, chain.from_iterable(earlier))
        self._matches = _MatchCount()
        self._league = _league(plan, division, self._book, self._matches)
        members = self._league.members
        self._order = {member.address.lower(): place for place, member in enumerate(members)}
        self._part_of = {self._league.manager.address.lower(): 0}
        for place, team in enumerate(division.teams):
            for address in (team.team.player_email, team.team.referee_email):
                self._part_of[address.lower()] = place % share.parts
        self._members = [each for each in members if self._part_of[each.address.lower()] == share.part]
        self._held: list[Posted] = []
        self._simulation = Simulation(
            [member.runner for member in self._members], self._league.office, self._league.clock
        )
        self._simulation.start()
        if share.part == 0:
            self._league.manager.runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce="open"))

    def play_pass(self, now: datetime, mail: Sequence[bytes]) -> PassEnd:
        self._league.clock.advance_to(now)
        arrived = self._held
        for each in mail:
            arrived += pickle.loads(each)  # noqa: S301 - from another part of this program
        arrived.sort(key=lambda posted: self._order[posted.mail.sender.lower()])
        for posted in arrived:
            self._league.office.deliver(posted)
        is_busy = self._simulation.tick()
        sent = self._by_part(self._league.office.take_held())
        self._held = sent.pop(self._share.part, [])
        wakes = [self._simulation.next_wake(), _first_arrival((*self._held, *chain.from_iterable(sent.values())))]
        return PassEnd(
            is_busy=is_busy,
            next_wake=min((at for at in wakes if at is not None), default=None),
            mail=tuple(pickle.dumps(sent[part]) if part in sent else b"" for part in range(self._share.parts)),
            matches=len(self._matches.over),
        )

    def _by_part(self, held: list[Posted]) -> dict[int, list[Posted]]:
        """Mail by the part of its recipients. Mail to an unknown address stays here, and is returned to its sender."""
        if self._share.parts == 1:
            return {0: held}
        found: dict[int, list[Posted]] = {}
        for posted in held:
            shares: dict[int, list[tuple[str, tuple[datetime, ...]]]] = {}
            for address, arrivals in posted.arrivals:
                part = self._part_of.get(address.lower(), self._share.part)
                shares.setdefault(part, []).append((address, arrivals))
            for part, some in shares.items():
                found.setdefault(part, []).append(evolve(posted, arrivals=tuple(some)))
        return found

    def write_journals(self) -> None:
        """Write the journals of this part at once; they are kept in memory until the division is over."""
        for member in self._members:
            role = member.runner.role
            name = f"{role}.{member.address.partition('@')[0]}.db"
            path = self._share.unfinished / JOURNALS / name
            dump = partial(_no_dump, name)
            journal = STORAGE.journal(path, role=role, address=member.address, dump=dump, outlives_power_cut=False)
            try:
                journal.take_over(member.journal)
            finally:
                journal.close()

    def close(self) -> None:
        self._league.close()
        self._book.close()


def _first_arrival(mail: Iterable[Posted]) -> datetime | None:
    return min((at for posted in mail for _, arrivals in posted.arrivals for at in arrivals), default=None)


class _MatchCount:
    """An observer of the league manager that counts matches."""

    def __init__(self) -> None:
        self.over: set[str] = set()

    def received(self, role: str, row: InboxRow) -> None:
        """No-op: only matches are counted."""

    def sent(self, role: str, item: OutboxItem) -> None:
        """No-op: only matches are counted."""

    def noted(self, role: str, note: Note) -> None:
        if role == "manager" and note.kind == "match":
            self.over.add(note.key)


def _league(plan: SeasonPlan, division: PlannedDivision, book: AnswerBook, matches: _MatchCount) -> OfflineLeague:
    rules = rules_named(plan.rules)
    seed = derive_hex(str(plan.seed), "division", division.name, digits=16)
    faults = plan.faults

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
        return SeatHost(seat, clock, book, partial(is_too_late, address))

    players = {each.team.player_email for each in division.teams}
    referees = {each.team.referee_email for each in division.teams}

    def mailbox_of(office: PostOffice, address: str) -> Mailbox:
        mailbox = office.mailbox(address)
        known = PLAYER_CONDUCT if address in players else REFEREE_CONDUCT
        chances = faults.players if address in players else faults.referees
        if address not in players | referees or not chances:
            return mailbox
        return MisbehavingMailbox(mailbox, by_chance(chances, known, seed=seed, address=address))

    def seated(spec: str, role: AgentRole) -> ChosenAgent:
        # Only its name and its conduct are used here: the seat makes the agent.
        if spec.partition(":")[0] == "scripted":
            return choose_agent(spec, role, rules=rules, seed=seed)
        return ChosenAgent(spec=spec, factory=object, is_ours=True)

    sides = [
        OfflineTeam(team=each.team, player=seated(each.player, "player"), referee=seated(each.referee, "referee"))
        for each in division.teams
    ]
    # A team whose registration is lost in the mail plays nevertheless: the plan determines the teams.
    schedule = drawn_up(
        plan.schedule,
        [side.team for side in sides],
        season=division.season_number,
        rounds=plan.rounds,
        games_at_once=plan.games_at_once,
    )
    return assembled(
        sides,
        schedule,
        seed=int(seed, 16),
        rules=rules,
        journal_of=memory_journal,
        weather=faults.mail,
        mailbox_of=mailbox_of,
        watch=lambda _: matches,
        host_of=host_of,
        season=OfflineSeason(
            season_id=plan.season_id,
            name=plan.name,
            number=division.season_number,
            tie_breaks=plan.tie_breaks,
            lot_seed=str(plan.seed),
            games_at_once=plan.games_at_once,
        ),
        holds_mail=True,
    )


def _no_dump(name: str, _part: str, _value: object) -> str:
    raise AssertionError(f"{name} is written once and not worked on")
