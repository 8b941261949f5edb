"""A season in memory in which everything goes wrong that can: mail, mail service, authorization and agents.

Rule: what goes wrong is drawn from the seed. The roles are those of the daemon with its retries and its rests, on a
clock that is set by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from league_agents.app.agents import AgentRole, ChosenAgent, choose_agent, scripted_names
from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.app.offline import DOMAIN, SEASON, START, team_of
from league_agents.app.peers import is_game_open
from league_agents.games.q21.model import Termination
from league_agents.games.q21.rules import COURSE, PRD
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import WARNING
from league_agents.kit.clock import ManualClock
from league_agents.kit.draw import Draw
from league_agents.kit.errors import LimitExceeded
from league_agents.kit.ids import derive_hex
from league_agents.league.machines.config import PlayerConfig, RefereeConfig
from league_agents.league.machines.events import Command, Identity, OperatorCommand
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.manager.config import ManagerConfig
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.league.machines.player.player import PlayerMachine, PlayerState
from league_agents.league.machines.referee.referee import Referee, RefereeState
from league_agents.league.season.schedule import round_robin
from league_agents.league.wire.kinds import MessageType
from league_agents.mail.memory import PostOffice, Weather
from league_agents.mail.misconduct import MisbehavingMailbox
from league_agents.mail.port import Mailbox
from league_agents.runner.calls import InlineHost
from league_agents.runner.live import DAEMON, LiveRole, WiredRole
from league_agents.runner.pace import Pace
from league_agents.runner.role import Observer, RoleRunner

PACE = Pace(active=timedelta(seconds=5), idle=timedelta(minutes=1))
STEP = timedelta(seconds=1)
"""How long one pass over all roles takes while there is something to do."""

LONGEST = timedelta(days=3)
QUIET = timedelta(hours=8)
"""After the season's end: longer than anything takes that was begun before."""

_MANAGER = f"league-office@{DOMAIN}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StormEnding:
    """What became of a season."""

    terminations: Counter[str]
    """Why the matches ended, as the league manager recorded it."""

    unended: tuple[str, ...]
    """Matches without a record, or with an ending that has no name."""

    still_open: tuple[str, ...]
    """Matches, games, callbacks and messages that somebody still has in hand. A player to whom the end of the season
    was never delivered has its last game open, as the protocol wants it (5.6), and is not among them."""

    accidents: Counter[str]
    """What the roles told of the mailbox and of themselves."""

    bugs: tuple[str, ...]
    """Failures that nobody foresaw."""

    took: timedelta


@dataclass(slots=True)
class _Heard:
    """An observer that counts what the daemon says."""

    accidents: Counter[str] = field(default_factory=Counter)
    bugs: list[str] = field(default_factory=list)

    def received(self, role: str, row: object) -> None:
        """Mail is counted in the journals."""

    def sent(self, role: str, item: object) -> None:
        """As above."""

    def noted(self, role: str, note: Any) -> None:
        if note.kind not in (DAEMON, WARNING):
            return
        self.accidents[note.key] += 1
        if note.key in ("role_failed", "step_failed", "mail_parked", "send_failed", "send_refused"):
            self.bugs.append(f"{role} {note.key}: {note.facts['text']}")


@dataclass(slots=True, kw_only=True)
class _Seat:
    """One role and when it wants its next turn."""

    name: str
    role: LiveRole
    journal: MemoryJournal
    due: datetime


def weather_of(draw: Draw) -> Weather:
    """Some kinds of bad weather, each as bad as is drawn."""

    def chance(most: float) -> float:
        return most * draw.fraction() if draw.chance(0.6) else 0.0

    return Weather(
        delay=timedelta(seconds=60 * draw.fraction()),
        reordering=chance(0.3),
        loss=chance(0.1),
        duplication=chance(0.3),
        refusal=chance(0.3),
        ambiguity=chance(0.3),
        throttling=chance(0.4),
        lapses=chance(0.3),
    )


def play_stormy_season(seed: int) -> StormEnding:
    """Play the season of this seed. Raises ``LimitExceeded`` when it does not come to an end."""
    draw = Draw(seed, "storm")
    clock = ManualClock(START)
    office = PostOffice(clock, seed=seed, weather=weather_of(draw))
    rules = draw.choice((PRD, COURSE))
    teams = [team_of(f"team-{number}") for number in range(1, 4 + draw.below(4))]
    schedule = round_robin(teams, season=SEASON)
    heard = _Heard()
    seats: list[_Seat] = []

    def identity(address: str, participant_id: str, group_id: str) -> Identity:
        secret = derive_hex(str(seed), "identity", address, digits=32)
        return Identity(email=address, participant_id=participant_id, group_id=group_id, seed=secret)

    def agent_of(role: AgentRole) -> ChosenAgent:
        name = "fixed" if draw.chance(0.5) else draw.choice(list(scripted_names(role)))
        return choose_agent(f"scripted:{name}", role, rules=rules, seed=seed)

    def sit(address: str, machine: Machine[Any], agent: ChosenAgent | None) -> None:
        journal = MemoryJournal(dump=machine.dump_part)
        box = office.mailbox(address)
        mailbox: Mailbox = box
        if agent is not None and agent.conduct is not None:
            mailbox = MisbehavingMailbox(box, agent.conduct)

        def make(told: Observer) -> WiredRole:
            host = None
            if agent is not None:
                host = InlineHost(agent.factory, clock, one_game_each=machine.role == "referee")
            runner = RoleRunner(machine, mailbox, journal, host, clock, codec=LEAGUE_MAIL, observer=told)
            return WiredRole(runner=runner, journal=journal)

        def on_start(runner: RoleRunner[Any]) -> None:
            if machine.role == "manager":
                runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce="open"))

        role = LiveRole(
            name=machine.role,
            make=make,
            clock=clock,
            pace=PACE,
            pid=0,
            observer=heard,
            is_game_open=is_game_open,
            authorization=lambda: box.login,
            on_start=on_start,
        )
        seats.append(_Seat(name=address, role=role, journal=journal, due=START))

    sit(
        _MANAGER,
        Manager(
            config=ManagerConfig(
                identity=identity(_MANAGER, "LM001", ""),
                season_id="STORM-1",
                season_name="Storm",
                league_id="STORM",
                season_number=SEASON,
                teams=tuple(teams),
                schedule=schedule,
                rules=rules,
            )
        ),
        None,
    )
    for team in teams:
        referee = identity(team.referee_email, f"REF-{team.group_id}", team.group_id)
        player = identity(team.player_email, team.group_id, team.group_id)
        sit(
            team.referee_email,
            Referee(config=RefereeConfig(identity=referee, manager_email=_MANAGER, rules=rules)),
            agent_of("referee"),
        )
        sit(
            team.player_email,
            PlayerMachine(config=PlayerConfig(identity=player, manager_email=_MANAGER, rules=rules)),
            agent_of("player"),
        )
    _play(seats, clock)
    games: list[str] = [pairing.game_id for pairings in schedule.rounds for pairing in pairings]
    return _ending(games, seats, heard, took=clock.now() - START)


def _play(seats: list[_Seat], clock: ManualClock) -> None:
    ends_at: datetime | None = None
    manager = seats[0].role
    while ends_at is None or clock.now() < ends_at:
        now = clock.now()
        busy = False
        for seat in seats:
            if seat.due <= now:
                rest = seat.role.turn()
                busy = busy or not rest
                seat.due = now + rest
        state = manager.state
        if ends_at is None and isinstance(state, ManagerState) and state.season.phase is SeasonPhase.FINISHED:
            ends_at = now + QUIET
        if now - START > LONGEST:
            raise LimitExceeded("simulated time in hours", (now - START) / timedelta(hours=1), LONGEST.days * 24)
        earliest = min(seat.due for seat in seats)
        clock.advance_to(now + STEP if busy else max(earliest, now + STEP))


def _has_heard_the_end(journal: MemoryJournal) -> bool:
    return any(row.message_type == MessageType.LEAGUE_COMPLETED for row in journal.inbox())


def _ending(games: list[str], seats: list[_Seat], heard: _Heard, *, took: timedelta) -> StormEnding:
    named = {termination.value for termination in Termination}
    endings: Mapping[str, str] = {
        note.key: str(note.facts.get("termination")) for note in seats[0].journal.notes() if note.kind == "match"
    }
    still_open: list[str] = []
    for seat in seats:
        state = seat.role.state
        if isinstance(state, RefereeState):
            still_open += [f"{seat.name} match {game}" for game in state.matches]
        if isinstance(state, PlayerState) and _has_heard_the_end(seat.journal):
            still_open += [f"{seat.name} game {game}" for game, each in state.games.items() if each.is_open]
        still_open += [f"{seat.name} call {call.call_id}" for call in seat.journal.pending_calls()]
        waiting = [item.transaction_id for item in seat.journal.outbox() if item.is_waiting]
        still_open += [f"{seat.name} unsent {key}" for key in waiting]
    return StormEnding(
        terminations=Counter(endings.values()),
        unended=tuple(game for game in games if endings.get(game) not in named),
        still_open=tuple(still_open),
        accidents=heard.accidents,
        bugs=tuple(heard.bugs),
        took=took,
    )
