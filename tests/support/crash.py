"""A season in memory whose processes die at chosen points and are started again.

A point is a journal's write or a mailbox's call of any role, before and after it. A role that dies loses its runner,
its agents and whatever it had not committed; journal, mailbox and clock stay, as they do when a process is killed. The
journals are in memory or in an engine (``crash_journals``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from league_agents.agents.scripted import PLAYERS, REFEREES
from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.app.offline import DOMAIN, SEASON, START, team_of
from league_agents.games.q21.rules import PRD, RuleSet
from league_agents.journal.port import Journal, OutboxItem, OutboxState
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import LeagueError
from league_agents.kit.ids import derive_hex
from league_agents.league.machines.config import PlayerConfig, RefereeConfig
from league_agents.league.machines.events import Command, Identity, OperatorCommand
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.manager.config import ManagerConfig
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.player.player import PlayerMachine
from league_agents.league.machines.referee.referee import Referee
from league_agents.league.season.schedule import round_robin
from league_agents.league.season.standings import MatchStatus
from league_agents.mail.memory import FINE, MemoryMailbox, PostOffice, Weather
from league_agents.mail.port import AmbiguousSend, OutgoingMail
from league_agents.runner.calls import InlineHost
from league_agents.runner.role import RoleRunner
from league_agents.runner.simulation import Simulation
from tests.support.crash_journals import InMemory, MakeJournals

WRITES = ("commit", "begin_send", "finish_sends", "postpone_send", "doubt_send", "fail_send", "keep")
CALLS = ("fetch", "acknowledge", "send", "was_sent")
MOST_LIVES = 1_000
_REPEAT = re.compile("-r[0-9a-f]{8}$")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?")


class Killed(BaseException):
    """The process dies here."""


class Reaper:
    """Counts the points, and kills whoever reaches a chosen one."""

    def __init__(self, is_fatal: Callable[[int], bool]) -> None:
        self._is_fatal = is_fatal
        self.points = 0
        self.deaths: Counter[str] = Counter()
        """Where they happened: ``after send``."""

    def around(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, with a point before and one after it."""

        def call(*arguments: Any, **named: Any) -> Any:
            self._point(f"before {name}")
            result = method(*arguments, **named)
            self._point(f"after {name}")
            return result

        return call

    def _point(self, where: str) -> None:
        self.points += 1
        if self._is_fatal(self.points):
            self.deaths[where] += 1
            raise Killed(where)


class Mortal:
    """A journal or a mailbox whose named methods are points."""

    def __init__(self, real: Any, methods: tuple[str, ...], reaper: Reaper) -> None:
        self._real = real
        self._wrapped = {name: reaper.around(name, getattr(real, name)) for name in methods}

    def __getattr__(self, name: str) -> Any:
        return self._wrapped.get(name) or getattr(self._real, name)


class CountingMailbox:
    """A mailbox that counts which mails really left it."""

    def __init__(self, mailbox: MemoryMailbox, left: Counter[tuple[str, str]]) -> None:
        self._mailbox = mailbox
        self._left = left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)

    def send(self, mail: OutgoingMail) -> None:
        """Send it."""
        try:
            self._mailbox.send(mail)
        except AmbiguousSend:
            # The post office in memory has always taken such a mail.
            self._left[mail.sender, mail.transaction_id] += 1
            raise
        self._left[mail.sender, mail.transaction_id] += 1


class ImmortalRole:
    """What the simulation drives: a role that is started again whenever it was killed."""

    def __init__(self, make: Callable[[], RoleRunner[Any]], on_start: Callable[[RoleRunner[Any]], object]) -> None:
        self._make = make
        self._on_start = on_start
        self._runner: RoleRunner[Any] | None = None
        self.lives = 0

    def start(self) -> None:
        """Start it, as often as it takes."""
        while self._runner is None:
            self.lives += 1
            if self.lives > MOST_LIVES:
                raise LeagueError(f"a role did not get anywhere in {MOST_LIVES} lives")
            try:
                runner = self._make()
                runner.start()
                self._on_start(runner)
                self._runner = runner
            except Killed:
                continue

    def tick(self) -> bool:
        """One tick. A death is something that happened."""
        assert self._runner is not None
        try:
            return self._runner.tick()
        except Killed:
            self._runner = None
            self.start()
            return True

    def next_wake(self) -> datetime | None:
        """As the runner says."""
        assert self._runner is not None
        return self._runner.next_wake()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is left of a season."""

    standings: tuple[tuple[object, ...], ...]
    messages: frozenset[tuple[str, str, tuple[str, ...], str, str]]
    """Sender, type, recipients, transaction id and content of everything that was sent. A death costs time, so three
    things are left out: instants in the content, the repeats of whoever has heard nothing for a while, and the content
    of players' reports, which lack a score that was still looked for among the sent mails when the round ended."""

    sent_twice: tuple[tuple[str, str], ...]
    unsent: tuple[str, ...]
    """Messages that the journals hold and that never left."""

    waiting: int
    """Protocol mails that nobody took in."""

    unanswered: int
    """Callbacks without a result."""

    broken_off: tuple[tuple[str, str], ...]
    """The games that were aborted, and why the referee did it."""

    tried_again: frozenset[tuple[str, str]]
    """Who had a message of which game that took more than one attempt."""

    points: int
    deaths: Counter[str] = field(compare=False)


def play_season(
    *,
    teams: int = 6,
    seed: int = 1,
    is_fatal: Callable[[int], bool] = lambda _point: False,
    rules: RuleSet = PRD,
    weather: Weather = FINE,
    journals_of: MakeJournals = InMemory,
) -> Ending:
    """Play a round robin with scripted agents and tell how it ended. ``journals_of`` makes the place of its journals.

    Raises ``LimitExceeded`` when it does not come to an end.
    """
    clock = ManualClock(START)
    office = PostOffice(clock, seed=seed, weather=weather)
    reaper = Reaper(is_fatal)
    left: Counter[tuple[str, str]] = Counter()
    manager_address = f"league-office@{DOMAIN}"
    groups = [team_of(f"team-{number}") for number in range(1, teams + 1)]
    schedule = round_robin(groups, season=SEASON)
    place = journals_of()
    journals: dict[str, Journal] = {}

    def identity(address: str, participant_id: str, group_id: str) -> Identity:
        return Identity(
            email=address,
            participant_id=participant_id,
            group_id=group_id,
            display_name=participant_id,
            seed=derive_hex(str(seed), "identity", address, digits=32),
        )

    def role(address: str, machine: Machine[Any], agent: Callable[[], object] | None, *, opens: bool) -> ImmortalRole:
        box = office.mailbox(address)

        def make() -> RoleRunner[Any]:
            journal = journals[address] = place.open(machine.role, address, machine.dump_part)
            host = None if agent is None else InlineHost(agent, clock, one_game_each=machine.role == "referee")
            kept: Any = Mortal(journal, WRITES, reaper)
            mailbox: Any = Mortal(CountingMailbox(box, left), CALLS, reaper)
            return RoleRunner(machine, mailbox, kept, host, clock, codec=LEAGUE_MAIL)

        def on_start(runner: RoleRunner[Any]) -> None:
            if opens:
                runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce="open"))

        return ImmortalRole(make, on_start)

    manager = Manager(
        config=ManagerConfig(
            identity=identity(manager_address, "LM001", ""),
            season_id="CRASH-1",
            season_name="Crash",
            league_id="CRASH",
            season_number=SEASON,
            teams=tuple(groups),
            schedule=schedule,
            rules=rules,
        )
    )
    judge = partial(REFEREES["fixed"], rules=rules)
    plays = partial(PLAYERS["fixed"], rules=rules)
    roles = [role(manager_address, manager, None, opens=True)]
    for team in groups:
        referee = RefereeConfig(
            identity=identity(team.referee_email, f"REF-{team.group_id}", team.group_id),
            manager_email=manager_address,
            rules=rules,
        )
        player = PlayerConfig(
            identity=identity(team.player_email, team.group_id, team.group_id),
            manager_email=manager_address,
            rules=rules,
        )
        roles.append(role(team.referee_email, Referee(config=referee), judge, opens=False))
        roles.append(role(team.player_email, PlayerMachine(config=player), plays, opens=False))
    simulation = Simulation(roles, office, clock)  # type: ignore[arg-type]
    try:
        simulation.start()
        simulation.run(lambda: False)
        return _ending(journals, office, left, reaper)
    finally:
        place.close()


def _content(item: OutboxItem) -> str:
    if item.transaction_id.startswith("preport-"):
        return ""
    return _INSTANT.sub("T", json.dumps(item.document, sort_keys=True))


def _ending(journals: dict[str, Journal], office: PostOffice, left: Counter[tuple[str, str]], reaper: Reaper) -> Ending:
    manager = next(iter(journals.values()))
    season = [note for note in manager.notes() if note.kind == "season"]
    standings = season[-1].facts.get("standings", season[-1].facts.get("final_standings")) if season else None
    rows = standings if isinstance(standings, list | tuple) else ()
    outbox = {address: list(journal.outbox()) for address, journal in journals.items()}
    return Ending(
        standings=tuple(tuple(row.values()) if isinstance(row, dict) else (row,) for row in rows),
        messages=frozenset(
            (address, item.message_type, item.to, item.transaction_id, _content(item))
            for address, items in outbox.items()
            for item in items
            if not _REPEAT.search(item.transaction_id)
        ),
        sent_twice=tuple(mail for mail, count in left.items() if count > 1),
        unsent=tuple(
            item.transaction_id
            for address, items in outbox.items()
            for item in items
            if item.state is not OutboxState.SENT or left[address, item.transaction_id] == 0
        ),
        waiting=sum(
            1
            for address, journal in journals.items()
            for mail in office.mailbox(address).fetch(10_000, lambda _mail_id: False)
            if not journal.has_mail(mail.mail_id)
        ),
        unanswered=sum(len(journal.pending_calls()) for journal in journals.values()),
        broken_off=tuple(
            (note.key, str(note.facts["abort_reason"]))
            for note in manager.notes()
            if note.kind == "match" and note.facts["status"] == MatchStatus.ABORTED
        ),
        tried_again=frozenset(
            (address, item.game_id)
            for address, items in outbox.items()
            for item in items
            if item.game_id is not None and item.attempts > 1
        ),
        points=reaper.points,
        deaths=reaper.deaths,
    )
