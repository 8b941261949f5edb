"""Whatever happens, in whatever order: the manager takes it, keeps its promises and can be restarted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from league_agents.kit.errors import RemoteProtocolError
from league_agents.kit.ids import GameId
from league_agents.kit.violation import Violation
from league_agents.league.machines.events import Command, DeadlinePassed, Started
from league_agents.league.machines.manager.config import LookupTable
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import (
    AssignmentAck,
    BrokenPayload,
    KeepAliveReply,
    Legacy,
    MatchReport,
    PlayerReport,
    PlayerReportStatus,
    RegistrationRequest,
    ReportStatus,
    RequestAssignmentTable,
    ScoreRow,
)

GROUPS = ("ravens", "falcons", "otters", "wolves")
ADDRESSES = [f"{group}.{role}@example.com" for group in GROUPS for role in ("Player", "Referee", "player")]
GAMES = [f"03{number:02d}{game:03d}" for number in (1, 2, 3, 4) for game in (1, 2)]

rows = st.builds(
    ScoreRow,
    participant_id=st.sampled_from([*GROUPS, ""]),
    email=st.sampled_from([*ADDRESSES, ""]),
    league_points=st.integers(0, 3),
    private_score=st.floats(0, 100),
)
payloads = st.one_of(
    st.builds(RegistrationRequest, display_name=st.text(max_size=5), participant_role=st.sampled_from([None, *Role])),
    st.builds(AssignmentAck, assignments_received=st.none()),
    st.just(RequestAssignmentTable()),
    st.just(KeepAliveReply()),
    st.just(Legacy(fields={})),
    st.just(BrokenPayload(violations=(Violation(path="", rule="an object", found="None"),))),
    st.builds(
        MatchReport,
        status=st.sampled_from(ReportStatus),
        winner_id=st.sampled_from([None, *GROUPS, "x"]),
        is_draw=st.booleans(),
        scores=st.lists(rows, max_size=3).map(tuple),
        abort_reason=st.none() | st.text(max_size=30),
    ),
    st.builds(
        PlayerReport,
        status=st.sampled_from(PlayerReportStatus),
        phase_at_termination=st.just("COMPLETED"),
        last_actor=st.just("NONE"),
        reason=st.just("GAME_COMPLETED"),
    ),
)
TYPES: dict[type, MessageType] = {
    RegistrationRequest: MessageType.SEASON_REGISTRATION_REQUEST,
    AssignmentAck: MessageType.RESPONSE_GROUP_ASSIGNMENT,
    RequestAssignmentTable: MessageType.REQUEST_ASSIGNMENT_TABLE,
    KeepAliveReply: MessageType.RESPONSE_KEEP_ALIVE,
    MatchReport: MessageType.MATCH_RESULT_REPORT,
    PlayerReport: MessageType.MATCH_RESULT_REPORT,
}
mails = st.tuples(
    st.just("mail"),
    st.sampled_from([*ADDRESSES, "stranger@example.com"]),
    payloads,
    st.sampled_from([None, *GAMES]),
    st.sampled_from(MessageType),
)
happenings = st.one_of(
    mails,
    mails,
    mails,
    st.tuples(st.just("command"), st.sampled_from(Command), st.sampled_from(["", "because"])),
    st.tuples(st.just("wait"), st.sampled_from([1, 700, 4000])),
    st.tuples(st.just("deadline"), st.sampled_from(["registration", "start", "round:1", "grace:1", "next:2", "x"])),
    st.tuples(st.just("start")),
    st.tuples(st.just("everybody")),
)


def let_it_happen(office: Any, happening: tuple[Any, ...]) -> None:
    match happening:
        case "mail", sender, payload, game, kind:
            try:
                office.mail(
                    sender, TYPES.get(type(payload), kind), payload, game_id=None if game is None else GameId(game)
                )
            except RemoteProtocolError:
                assert sender == "stranger@example.com"
        case "command", command, text:
            office.command(command, text)
        case "wait", seconds:
            office.wait(timedelta(seconds=seconds))
        case "deadline", name:
            office.deadlines.pop(name, None)
            office.feed(DeadlinePassed(name=name))
        case ("start",):
            office.feed(Started())
        case ("everybody",):
            office.everybody_registers()


@given(
    happenings=st.lists(happenings, max_size=40),
    is_automatic=st.booleans(),
    gap=st.sampled_from([0, 60]),
    lookup=st.sampled_from(LookupTable),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_the_manager_goes_on(
    office_of: Callable[..., Any],
    teams_of: Callable[..., Any],
    happenings: list[tuple[Any, ...]],
    is_automatic: bool,
    gap: int,
    lookup: LookupTable,
) -> None:
    office = office_of(
        teams=teams_of(4),
        is_automatic=is_automatic,
        round_gap=timedelta(seconds=gap),
        lookup_table=lookup,
        core_only=frozenset({"wolves.player@example.com"}),
    )
    office.open()
    roster = {member.email for member in office.manager.roster.members}
    for happening in happenings:
        # Every state on the way is dumped and read again, and every message is encoded: see Office.feed.
        let_it_happen(office, happening)
        state = office.state
        running = {} if state.season.paused_at is not None else {timer.name: timer.at for timer in state.season.timers}
        assert office.deadlines == running
        assert state.awaited == sum(record.outcome is None for record in state.games)
        assert len(state.season.timers) <= 1
    news = office.sent(MessageType.BROADCAST_NEW_LEAGUE_ROUND, office.history)
    announced = [send.envelope.round_id for send in news]
    assert len(set(announced)) == len(announced)
    for send in office.history:
        if hasattr(send, "envelope"):
            assert set(send.to) <= roster
            assert send.envelope.sender.email == office.config.identity.email


@given(happenings=st.lists(happenings, max_size=25))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_same_events_give_the_same_mail(
    office_of: Callable[..., Any], teams_of: Callable[..., Any], happenings: list[tuple[Any, ...]]
) -> None:
    one, two = office_of(teams=teams_of(4)), office_of(teams=teams_of(4))
    for office in (one.open(), two.open()):
        for happening in happenings:
            let_it_happen(office, happening)
    assert one.history == two.history
    assert one.state == two.state
