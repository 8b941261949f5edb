"""A league in one process: no account, no key, no network; the same machines, mail bytes and journals as on Gmail."""

from __future__ import annotations

import glob
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from league_agents.app.agents import AgentRole, ChosenAgent, IndexPlace, choose_agent, offline_host, try_making
from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.app.storage import STORAGE
from league_agents.config.model_settings import ModelSettings
from league_agents.games.q21.rules import RuleSet
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import InboxRow, Journal, Note, OutboxItem
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.ids import derive_hex
from league_agents.kit.values import evolve
from league_agents.league.machines.config import PlayerConfig, RefereeConfig
from league_agents.league.machines.events import Command, Identity, OperatorCommand
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.manager.config import ManagerConfig
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import ManagerState
from league_agents.league.machines.player.player import PlayerMachine
from league_agents.league.machines.referee.referee import Referee
from league_agents.league.season.schedule import Schedule, Team, single_game
from league_agents.league.season.tie_breaks import TieBreak
from league_agents.mail.memory import FINE, PostOffice, Weather
from league_agents.mail.misconduct import Conduct
from league_agents.mail.port import Mailbox, OutgoingMail
from league_agents.report.match import match_document
from league_agents.report.traffic import Participant
from league_agents.runner.calls import AgentHost
from league_agents.runner.role import Observer, RoleRunner
from league_agents.runner.simulation import Simulation

if TYPE_CHECKING:
    from league_agents.app.models import Models

START = datetime(2031, 5, 2, 8, 0, tzinfo=UTC)
"""Start of every offline league: its events depend on the seed, not on the day."""

LONGEST = timedelta(days=400)
"""Simulated time after which an offline league is aborted."""

SEASON = 1
DOMAIN = "league.test"
REFEREE, PLAYER_A, PLAYER_B = "house", "player-a", "player-b"
"""The groups of a single game."""


class JournalMaker(Protocol):
    """Makes the journal of one member."""

    def __call__(self, *, role: str, address: str, dump: Callable[[str, object], str]) -> Journal:
        """``dump`` turns a part of the machine's state into JSON text."""
        ...


class HostMaker(Protocol):
    """Chooses where an agent runs."""

    def __call__(self, agent: ChosenAgent, address: str, clock: ManualClock, *, is_referee: bool) -> AgentHost:
        """The host of the participant with this address."""
        ...


def in_this_process(agent: ChosenAgent, address: str, clock: ManualClock, *, is_referee: bool) -> AgentHost:  # noqa: ARG001
    """``HostMaker`` for agents that run here."""
    return offline_host(agent, clock, is_referee=is_referee)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineSeason:
    """The league manager's settings for the season of an offline league."""

    season_id: str = f"SEASON_{START:%Y-%m-%d}"
    name: str = "Offline league"
    number: int = SEASON
    tie_breaks: tuple[TieBreak, ...] = ()
    lot_seed: str = ""
    games_at_once: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineMember:
    """One participant of an offline league."""

    participant_id: str
    address: str
    runner: RoleRunner[Any]
    journal: Journal

    @property
    def participant(self) -> Participant:
        """The participant in reports."""
        return Participant(participant_id=self.participant_id, address=self.address, journal=self.journal)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineLeague:
    """A league that is assembled and not yet started."""

    manager: OfflineMember
    referees: tuple[OfflineMember, ...]
    players: tuple[OfflineMember, ...]
    simulation: Simulation
    office: PostOffice
    clock: ManualClock

    @property
    def members(self) -> tuple[OfflineMember, ...]:
        """All participants, in the order in which they are woken."""
        return (self.manager, *self.referees, *self.players)

    def play(self) -> None:
        """Play the season to its end. Raises ``LimitExceeded`` when it does not end."""
        self.simulation.start()
        self.manager.runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce="open"))
        self.simulation.run(lambda: False)

    def close(self) -> None:
        """Close journals and agents."""
        for member in self.members:
            member.runner.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineTeam:
    """One group of an offline league, with its player and its referee."""

    team: Team
    player: ChosenAgent | None
    """``None`` when the group sends no player."""

    referee: ChosenAgent | None
    """``None`` when the group sends no referee."""


@dataclass(frozen=True, slots=True)
class _OfWhatLeaves:
    """An observer of a participant that misbehaves by mail: it receives the mail as it leaves the mailbox."""

    observer: Observer
    conduct: Conduct
    address: str

    def received(self, role: str, row: InboxRow) -> None:
        self.observer.received(role, row)

    def sent(self, role: str, item: OutboxItem) -> None:
        handed_over = OutgoingMail(
            sender=self.address,
            to=item.to,
            subject=item.subject,
            document=item.document,
            transaction_id=item.transaction_id,
            sent_at=item.created_at,
        )
        for mail in self.conduct(handed_over):
            self.observer.sent(role, evolve(item, document=mail.document, created_at=mail.sent_at))

    def noted(self, role: str, note: Note) -> None:
        self.observer.noted(role, note)


def offline_league(
    sides: Sequence[OfflineTeam],
    schedule: Schedule,
    *,
    seed: int,
    rules: RuleSet,
    journal_of: JournalMaker,
    weather: Weather = FINE,
    through_mime: bool = False,
    mailbox_of: Callable[[PostOffice, str], Mailbox] = PostOffice.mailbox,
    watch: Callable[[str], Observer] | None = None,
    host_of: HostMaker | None = None,
    season: OfflineSeason | None = None,
    holds_mail: bool = False,
) -> OfflineLeague:
    """Assemble a league whose roles share one post office and one clock.

    ``mailbox_of`` opens the mailbox of an address; ``watch`` returns the observer of a participant, by its id;
    ``host_of`` chooses where an agent runs, by default in this process; ``holds_mail`` as in ``PostOffice``.
    """
    clock = ManualClock(START)
    season = season or OfflineSeason()
    office = PostOffice(clock, seed=seed, weather=weather, through_mime=through_mime, holds_mail=holds_mail)
    manager_address = f"league-office@{DOMAIN}"

    def identity(address: str, participant_id: str, team: Team | None) -> Identity:
        return Identity(
            email=address,
            participant_id=participant_id,
            group_id=team.group_id if team is not None else "",
            display_name=team.display_name if team is not None else "League office",
            seed=derive_hex(str(seed), "identity", address, digits=32),
        )

    def member(
        participant_id: str,
        machine: Machine[Any],
        mailbox: Mailbox,
        host: AgentHost | None,
        conduct: Conduct | None = None,
    ) -> OfflineMember:
        journal = journal_of(role=machine.role, address=mailbox.address, dump=machine.dump_part)
        observer = watch(participant_id) if watch is not None else None
        if observer is not None and conduct is not None:
            observer = _OfWhatLeaves(observer, conduct, mailbox.address)
        runner = RoleRunner(machine, mailbox, journal, host, clock, codec=LEAGUE_MAIL, observer=observer)
        return OfflineMember(participant_id=participant_id, address=mailbox.address, runner=runner, journal=journal)

    def participant(side: OfflineTeam, agent: ChosenAgent, *, is_referee: bool) -> OfflineMember:
        team = side.team
        address = team.referee_email if is_referee else team.player_email
        participant_id = f"REF-{team.group_id.upper()}" if is_referee else team.group_id
        me = identity(address, participant_id, team)
        machine: Machine[Any]
        if is_referee:
            machine = Referee(config=RefereeConfig(identity=me, manager_email=manager_address, rules=rules))
        else:
            machine = PlayerMachine(config=PlayerConfig(identity=me, manager_email=manager_address, rules=rules))
        mailbox = agent.behind(mailbox_of(office, address))
        make = host_of or in_this_process
        host = make(agent, address, clock, is_referee=is_referee)
        return member(participant_id, machine, mailbox, host, agent.conduct)

    manager_machine: Machine[ManagerState] = Manager(
        config=ManagerConfig(
            identity=identity(manager_address, "LM001", None),
            season_id=season.season_id,
            season_name=season.name,
            league_id="OFFLINE",
            season_number=season.number,
            teams=tuple(side.team for side in sides),
            schedule=schedule,
            tie_breaks=season.tie_breaks,
            lot_seed=season.lot_seed,
            games_at_once=season.games_at_once,
            rules=rules,
        )
    )
    manager = member("LM001", manager_machine, mailbox_of(office, manager_address), None)
    referees = tuple(participant(side, side.referee, is_referee=True) for side in sides if side.referee is not None)
    players = tuple(participant(side, side.player, is_referee=False) for side in sides if side.player is not None)
    runners = [each.runner for each in (manager, *referees, *players)]
    return OfflineLeague(
        manager=manager,
        referees=referees,
        players=players,
        simulation=Simulation(runners, office, clock, longest=LONGEST),
        office=office,
        clock=clock,
    )


def memory_journal(*, role: str, address: str, dump: Callable[[str, object], str]) -> Journal:  # noqa: ARG001
    """A journal in memory."""
    return MemoryJournal(dump=dump)


def journals_at(base: Path) -> JournalMaker:
    """Journals in files beside each other: ``base`` with the name of the address before its suffix.

    Raises ``ConfigError``, before any file is made, when the folder does not exist or holds journals of this name, or
    when ``base`` is a folder, a device or anything else but a file.
    """
    suffix = base.suffix or ".db"
    try:
        if not base.parent.is_dir():
            raise ConfigError(str(base), f"there is no folder {shortened(str(base.parent))}; make it first")
        # The journals' names are derived from this one; files that have them already are former journals or a mistake.
        if base.exists() and not base.is_file():
            raise ConfigError(str(base), "is no file that journals could lie beside; name a file")
        former = sorted(base.parent.glob(f"{glob.escape(base.stem)}.*{glob.escape(suffix)}"))
    except OSError as error:
        raise ConfigError(str(base), f"cannot be used: {error.strerror}; name another file") from None
    if former:
        raise ConfigError(str(former[0]), "holds another match already; name another journal or remove this one")

    def make(*, role: str, address: str, dump: Callable[[str, object], str]) -> Journal:
        path = journal_path(base, address)
        return STORAGE.journal(path, role=role, address=address, dump=dump, outlives_power_cut=False)

    return make


def journal_path(base: Path, address: str) -> Path:
    """The path of the journal of one address, beside the others."""
    return base.with_name(f"{base.stem}.{address.partition('@')[0]}{base.suffix or '.db'}")


def play_single_game(
    *,
    seed: int,
    rules: RuleSet,
    referee: str,
    player_a: str,
    player_b: str,
    journal: Path | None = None,
    index_path: IndexPlace | None = None,
    models: ModelSettings | None = None,
    watch: Callable[[str], Observer] | None = None,
    in_process: bool = False,
) -> dict[str, object]:
    """One match through a league manager, a referee and two players, as one JSON document.

    ``referee``, ``player_a`` and ``player_b`` are agent names (``choose_agent``); ``models`` are those that llm agents
    ask, by default those of the environment; ``in_process`` as in ``choose_agent``. The same seed gives the same
    document, as far as agents of the user's own do. Raises ``ConfigError`` for a name or file that cannot be used.
    """
    house, team_a, team_b = team_of(REFEREE), team_of(PLAYER_A), team_of(PLAYER_B)
    run = secrets.token_hex(6)

    def models_of(role: AgentRole, team: Team) -> Models:
        from league_agents.app.models import Books, chat_models, environment_models

        place = None if journal is None else journal_path(journal, address_of(team, role))
        books = Books(league=f"run {run}", scope=f"run {run} {team.group_id}", journal=place)
        settings = environment_models() if models is None else models
        return chat_models(settings, role=role, books=books)

    def chosen(spec: str, team: Team, *, is_referee: bool) -> ChosenAgent:
        agent_seed = derive_hex(str(seed), "agent", team.group_id, digits=16)
        role: AgentRole = "referee" if is_referee else "player"
        agent = choose_agent(
            spec,
            role,
            rules=rules,
            seed=agent_seed,
            index_path=index_path,
            models=lambda: models_of(role, team),
            in_process=in_process,
        )
        try_making(agent)
        return agent

    sides = [
        OfflineTeam(team=house, player=None, referee=chosen(referee, house, is_referee=True)),
        OfflineTeam(team=team_a, player=chosen(player_a, team_a, is_referee=False), referee=None),
        OfflineTeam(team=team_b, player=chosen(player_b, team_b, is_referee=False), referee=None),
    ]
    schedule = single_game(team_a, team_b, house, season=SEASON)
    league = offline_league(
        sides,
        schedule,
        seed=seed,
        rules=rules,
        journal_of=memory_journal if journal is None else journals_at(journal),
        through_mime=True,
        watch=watch,
    )
    try:
        league.play()
        (game_id,) = (pairing.game_id for pairings in schedule.rounds for pairing in pairings)
        return match_document(
            game_id,
            seed=seed,
            rules=rules.name,
            manager=league.manager.participant,
            referee=league.referees[0].participant,
            players=[player.participant for player in league.players],
        )
    finally:
        league.close()


def address_of(team: Team, role: AgentRole) -> str:
    """The mailbox of a group's referee or player."""
    return team.referee_email if role == "referee" else team.player_email


def team_of(group_id: str) -> Team:
    """A group of an offline league and its two addresses."""
    return Team(
        group_id=group_id,
        player_email=f"{group_id}@{DOMAIN}",
        referee_email=f"referee.{group_id}@{DOMAIN}",
        display_name=group_id.replace("-", " ").title(),
    )
