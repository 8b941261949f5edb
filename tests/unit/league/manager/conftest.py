"""A league manager at work: events go in as one line, and what it wants done is there to be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from league_agents.games.q21.rules import PRD
from league_agents.kit.ids import GameId
from league_agents.league.machines.effects import ClearDeadline, Effect, Record, Send, SetDeadline, Warn
from league_agents.league.machines.events import (
    Command,
    DeadlinePassed,
    Event,
    Identity,
    MessageArrived,
    OperatorCommand,
)
from league_agents.league.machines.manager.config import ManagerConfig
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import ManagerState
from league_agents.league.season.schedule import Pairing, Team
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Role, protocol_of
from league_agents.league.wire.messages import (
    AssignmentAck,
    MatchReport,
    Payload,
    PlayerReport,
    PlayerReportStatus,
    RegistrationRequest,
    ReportStatus,
    ScoreRow,
)
from tests.support.link import check_storage

E = TypeVar("E")

LM = "league-office@example.com"
START = datetime(2031, 5, 2, 8, tzinfo=UTC)


def some_teams(count: int) -> tuple[Team, ...]:
    names = ("ravens", "falcons", "otters", "wolves", "herons", "badgers", "foxes", "lynxes")
    return tuple(
        Team(
            group_id=name,
            player_email=f"{name}.Player@example.com",
            referee_email=f"{name}.Referee@example.com",
            display_name=f"The {name}",
        )
        for name in names[:count]
    )


def some_config(**changes: Any) -> ManagerConfig:
    keys: dict[str, Any] = {
        "identity": Identity(email=LM, participant_id="LM001", seed="not a secret here"),
        "season_id": "SEASON_2031-05-02",
        "season_name": "Spring cup",
        "league_id": "LG-ALPHA",
        "season_number": 3,
        "teams": some_teams(3),
        "rules": PRD,
    }
    return ManagerConfig(**{**keys, **changes})


class Office:
    """Drives one manager. Every state that it reaches is dumped and read again, every message it sends is encoded."""

    def __init__(self, config: ManagerConfig) -> None:
        self.config = config
        self.manager = Manager(config)
        self.state: ManagerState = self.manager.initial()
        self.now = START
        self.effects: Sequence[Effect] = ()
        self.history: list[Effect] = []
        self.deadlines: dict[str, datetime] = {}
        self._count = 0

    def feed(self, event: Event) -> Sequence[Effect]:
        former = self.state
        state, effects = self.manager.step(former, event, self.now)
        self.state = state
        check_storage(self.manager, state, former)
        for effect in effects:
            if isinstance(effect, Send):
                document = encode(effect.envelope)
                assert document["sender"] == {"email": LM, "role": "LEAGUEMANAGER", "logical_id": "LM001"}
                assert LM not in effect.to
            elif isinstance(effect, SetDeadline):
                self.deadlines[effect.name] = effect.at
            elif isinstance(effect, ClearDeadline):
                self.deadlines.pop(effect.name, None)
        self.effects = effects
        self.history.extend(effects)
        return effects

    # What happens.

    def command(self, command: Command, text: str = "") -> Sequence[Effect]:
        self._count += 1
        return self.feed(OperatorCommand(command=command, nonce=f"nonce-{self._count}", text=text))

    def wait(self, span: timedelta) -> Sequence[Effect]:
        """Let time pass: the deadlines that are due come one after the other."""
        until = self.now + span
        effects: list[Effect] = []
        while due := sorted((at, name) for name, at in self.deadlines.items() if at <= until):
            at, name = due[0]
            self.now = max(self.now, at)
            del self.deadlines[name]
            effects.extend(self.feed(DeadlinePassed(name=name)))
        self.now = until
        self.effects = effects
        return effects

    def mail(
        self, sender: str, kind: MessageType, payload: Payload, *, arrived_at: datetime | None = None, **keys: Any
    ) -> Sequence[Effect]:
        self._count += 1
        envelope = Envelope(
            protocol=protocol_of(kind),
            message_type=kind,
            message_id=keys.pop("message_id", f"message-{self._count}"),
            timestamp=self.now,
            sender=Sender(email=sender, role=keys.pop("role", None)),
            recipient_id="LEAGUEMANAGER",
            payload=payload,
            **keys,
        )
        arrived = arrived_at or self.now
        return self.feed(MessageArrived(envelope=envelope, mail_id=f"mail-{self._count}", arrived_at=arrived))

    def register(self, sender: str, **keys: Any) -> Sequence[Effect]:
        payload = RegistrationRequest(display_name="", participant_role=None, understands=keys.pop("understands", None))
        keys.setdefault("season_id", self.config.season_id)
        return self.mail(sender, MessageType.SEASON_REGISTRATION_REQUEST, payload, **keys)

    def acknowledge(self, sender: str) -> Sequence[Effect]:
        return self.mail(sender, MessageType.RESPONSE_GROUP_ASSIGNMENT, AssignmentAck(assignments_received=1))

    def report(
        self, game: Pairing, points: tuple[int, int] = (2, 1), *, sender: str | None = None, **keys: Any
    ) -> Sequence[Effect]:
        payload = keys.pop("payload", None) or some_report(game, points, keys.pop("status", ReportStatus.COMPLETED))
        return self.mail(
            sender or game.referee.referee_email,
            MessageType.MATCH_RESULT_REPORT,
            payload,
            game_id=GameId(keys.pop("game_id", game.game_id)),
            season_id=self.config.season_id,
            role=Role.REFEREE,
            **keys,
        )

    def player_report(self, game: Pairing, sender: str, status: PlayerReportStatus) -> Sequence[Effect]:
        payload = PlayerReport(
            status=status, phase_at_termination="COMPLETED", last_actor="NONE", reason="GAME_COMPLETED"
        )
        return self.mail(sender, MessageType.MATCH_RESULT_REPORT, payload, game_id=game.game_id, role=Role.PLAYER)

    # A season, up to some point.

    def open(self) -> Office:
        self.command(Command.OPEN_SEASON)
        return self

    def everybody_registers(self, **keys: Any) -> Office:
        for member in self.manager.roster.members:
            self.register(member.email, **keys)
        return self

    def everybody_acknowledges(self) -> Office:
        for member in self.manager.roster.members:
            self.acknowledge(member.email)
        return self

    def in_round_one(self) -> Office:
        return self.open().everybody_registers().everybody_acknowledges()

    def games(self, number: int | None = None) -> tuple[Pairing, ...]:
        assert self.state.schedule is not None
        return self.state.schedule.round(number or self.state.season.round_number)

    # What came of it.

    def of(self, kind: type[E], effects: Sequence[Effect] | None = None) -> list[E]:
        return [effect for effect in (self.effects if effects is None else effects) if isinstance(effect, kind)]

    def sent(self, kind: MessageType, effects: Sequence[Effect] | None = None) -> list[Send]:
        return [send for send in self.of(Send, effects) if send.envelope.message_type is kind]

    def kinds(self, effects: Sequence[Effect] | None = None) -> list[str]:
        return [send.envelope.message_type.value for send in self.of(Send, effects)]

    def warnings(self, effects: Sequence[Effect] | None = None) -> list[str]:
        return [warning.code for warning in self.of(Warn, effects)]

    def records(self, kind: str, effects: Sequence[Effect] | None = None) -> list[Record]:
        return [record for record in self.of(Record, effects) if record.kind == kind]

    def points(self) -> dict[str, int]:
        return {group: tally.points for group, tally in self.state.standings.players.items()}


def some_report(
    game: Pairing, points: tuple[int, int], status: ReportStatus = ReportStatus.COMPLETED, **changes: Any
) -> MatchReport:
    one, two = points
    rows = tuple(
        ScoreRow(
            participant_id=team.group_id, email=team.player_email, league_points=each, private_score=each * 30 + 0.25
        )
        for team, each in ((game.player1, one), (game.player2, two))
    )
    winner = None if one == two else (game.player1 if one > two else game.player2).group_id
    report = MatchReport(
        status=status,
        winner_id=winner,
        is_draw=winner is None,
        scores=rows,
        abort_reason="end_round_received" if status is ReportStatus.ABORTED else None,
    )
    return replace(report, **changes)


@pytest.fixture
def office_of() -> Callable[..., Office]:
    """Makes an office from changes of the configuration."""
    return lambda **changes: Office(some_config(**changes))


@pytest.fixture
def office() -> Office:
    """Three teams, everything by default."""
    return Office(some_config())


@pytest.fixture
def config_of() -> Callable[..., ManagerConfig]:
    """Makes a configuration of three teams with changes."""
    return some_config


@pytest.fixture
def teams_of() -> Callable[[int], tuple[Team, ...]]:
    """Makes up to eight teams."""
    return some_teams


@pytest.fixture
def report_of() -> Callable[..., MatchReport]:
    """Makes a referee's report of a game."""
    return some_report
