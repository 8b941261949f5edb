"""Registration and the assignment table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from league_agents.kit.errors import ConfigError, RemoteProtocolError
from league_agents.kit.violation import Violation
from league_agents.league.machines.effects import Send
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.season.schedule import round_robin, single_game
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import (
    AssignmentTable,
    BrokenPayload,
    ErrorResponse,
    RegistrationRequest,
    RegistrationResponse,
    RegistrationStatus,
    RequestAssignmentTable,
    StartSeason,
)

RAVEN, WHISTLE = "ravens.Player@example.com", "ravens.Referee@example.com"
ANSWER = MessageType.SEASON_REGISTRATION_RESPONSE


def answer(office: Any) -> RegistrationResponse:
    (send,) = office.sent(ANSWER)
    payload = send.envelope.payload
    assert isinstance(payload, RegistrationResponse)
    return payload


def test_a_season_is_opened_with_one_mail_to_the_whole_roster(office: Any) -> None:
    (send,) = office.sent(MessageType.BROADCAST_START_SEASON, office.command(Command.OPEN_SEASON, "Welcome back."))
    assert send.to == tuple(
        address for team in office.config.teams for address in (team.player_email, team.referee_email)
    )
    envelope = send.envelope
    assert (envelope.recipient_id, envelope.league_id, envelope.season_id) == (
        "BROADCAST",
        "LG-ALPHA",
        "SEASON_2031-05-02",
    )
    assert envelope.broadcast_id.startswith("bc-startseason-")
    assert envelope.payload == StartSeason(
        season_name="Spring cup",
        total_rounds=3,
        registration_deadline=office.now + timedelta(minutes=10),
        registered_players=3,
        registered_referees=3,
        message_text="Welcome back.",
    )
    assert office.deadlines == {"registration": office.now + timedelta(minutes=10)}


def test_opening_twice_is_refused(office: Any) -> None:
    office.open().command(Command.OPEN_SEASON)
    assert office.warnings() == ["command_refused"]
    assert office.of(Send) == []


@pytest.mark.parametrize(
    ("payload", "season_id"),
    [
        # The deployed referee: its group as user id, no role.
        (RegistrationRequest(display_name="Q21 Referee", participant_role=None, user_id="ravens"), "SEASON_2031-05-02"),
        # The older player: no participant id.
        (RegistrationRequest(display_name="R", participant_role=Role.PLAYER, user_id="7"), "SEASON_2031-05-02"),
        # The newer player: no envelope, hardly a payload.
        (RegistrationRequest(display_name="Raven One", participant_role=Role.PLAYER), None),
        (BrokenPayload(violations=(Violation(path="", rule="an object", found="None"),)), None),
    ],
)
def test_every_form_of_a_registration_is_accepted(office: Any, payload: Any, season_id: str | None) -> None:
    office.open().mail(RAVEN.upper(), MessageType.SEASON_REGISTRATION_REQUEST, payload, season_id=season_id)
    assert answer(office).status is RegistrationStatus.ACCEPTED
    (send,) = office.of(Send)
    assert send.to == (RAVEN,)
    assert send.envelope.recipient_id == RAVEN
    assert send.envelope.correlation_id == "message-2"
    assert send.envelope.season_id == "SEASON_2031-05-02"


def test_the_roster_and_not_the_request_says_who_is_a_referee(office: Any) -> None:
    payload = RegistrationRequest(display_name="", participant_role=Role.PLAYER)
    office.open().mail(WHISTLE, MessageType.SEASON_REGISTRATION_REQUEST, payload)
    assert answer(office).status is RegistrationStatus.ACCEPTED
    assert office.warnings() == ["role_mismatch"]


def test_a_repeated_registration_gets_the_same_answer_again(office: Any) -> None:
    office.open()
    (first,) = office.of(Send, office.register(RAVEN))
    office.wait(timedelta(minutes=11))
    (again,) = office.of(Send, office.register(RAVEN))
    assert again.is_repeat
    assert not first.is_repeat
    assert again.envelope.message_id == first.envelope.message_id
    assert again.envelope.payload == first.envelope.payload
    assert again.envelope.correlation_id != first.envelope.correlation_id


def test_a_client_that_is_stuck_is_not_answered_for_ever(office_of: Callable[..., Any]) -> None:
    office = office_of(answer_limit=3).open()
    answers = [len(office.of(Send, office.register(RAVEN))) for _ in range(6)]
    assert answers == [1, 1, 1, 0, 0, 0]
    assert office.warnings() == ["answer_limit"]


def test_a_late_registration_is_rejected(office: Any) -> None:
    office.open().register(WHISTLE)
    office.wait(timedelta(minutes=10, seconds=1))
    assert office.state.season.phase is SeasonPhase.ASSIGNED
    office.register(RAVEN)
    assert (answer(office).status, answer(office).reason) == (RegistrationStatus.REJECTED, "deadline_passed")


@pytest.mark.parametrize(("late", "status"), [
    (timedelta(), RegistrationStatus.ACCEPTED),
    (timedelta(seconds=1), RegistrationStatus.REJECTED),
])  # fmt: skip
def test_a_registration_that_is_read_before_its_deadline_fires_is_judged_by_its_arrival(
    office: Any, late: timedelta, status: RegistrationStatus
) -> None:
    office.open()
    office.register(RAVEN, arrived_at=office.now + timedelta(minutes=10) + late)
    assert answer(office).status is status


def test_what_was_in_time_and_is_read_late_counts_for_those_who_have_games(office: Any) -> None:
    office.open()
    in_time = office.now + timedelta(minutes=9)
    office.wait(timedelta(minutes=10))
    office.register(RAVEN, arrived_at=in_time)
    assert answer(office).status is RegistrationStatus.ACCEPTED


@pytest.mark.parametrize(("opened", "season_id", "reason"), [
    (False, "SEASON_2031-05-02", "season_not_open"),
    (True, "SEASON_2030-11-30", "unknown_season"),
])  # fmt: skip
def test_a_registration_for_no_season_says_why(office: Any, opened: bool, season_id: str, reason: str) -> None:
    if opened:
        office.open()
    office.register(RAVEN, season_id=season_id)
    assert (answer(office).status, answer(office).reason) == (RegistrationStatus.REJECTED, reason)


def test_strangers_are_neither_heard_nor_answered(office: Any) -> None:
    office.in_round_one()
    before = office.state
    with pytest.raises(RemoteProtocolError, match="not on the roster"):
        office.register("stranger@example.com")
    with pytest.raises(RemoteProtocolError, match="not on the roster"):
        office.report(office.games()[0], sender="stranger@example.com")
    assert office.state is before


def test_registration_closes_when_everybody_is_there(office: Any) -> None:
    office.open().everybody_registers()
    assert office.kinds() == ["SEASON_REGISTRATION_RESPONSE", "BROADCAST_ASSIGNMENT_TABLE"]
    (send,) = office.sent(MessageType.BROADCAST_ASSIGNMENT_TABLE)
    table = send.envelope.payload
    assert isinstance(table, AssignmentTable)
    assert len(table.assignments) == 9
    assert [row.role.value for row in table.assignments[:3]] == ["player1", "player2", "referee"]
    assert len(send.to) == 6
    assert office.deadlines == {"start": office.now + timedelta(seconds=10)}


def test_only_those_who_registered_play(office_of: Callable[..., Any], teams_of: Callable[..., Any]) -> None:
    office = office_of(teams=teams_of(5)).open()
    absent = office.config.teams[4]
    for team in office.config.teams[:4]:
        office.register(team.player_email)
        office.register(team.referee_email)
    office.wait(timedelta(minutes=10))
    (send,) = office.sent(MessageType.BROADCAST_ASSIGNMENT_TABLE)
    assert absent.player_email not in send.to
    assert len(office.state.schedule.rounds) == 3
    assert absent not in office.state.schedule.players


def test_a_team_without_a_referee_plays_and_judges_nothing(office_of: Callable[..., Any], teams_of: Any) -> None:
    office = office_of(teams=teams_of(4)).open()
    for team in office.config.teams:
        office.register(team.player_email)
    for team in office.config.teams[1:]:
        office.register(team.referee_email)
    office.wait(timedelta(minutes=10))
    assert set(office.state.schedule.players) == set(office.config.teams)
    assert office.config.teams[0] not in {game.referee for game in office.state.schedule}


def test_when_too_few_register_the_whole_roster_plays(office: Any) -> None:
    office.open().register(RAVEN)
    office.wait(timedelta(minutes=10))
    assert office.warnings() == ["too_few_registered"]
    (send,) = office.sent(MessageType.BROADCAST_ASSIGNMENT_TABLE)
    assert len(send.to) == 6


def test_a_given_schedule_is_played_whoever_registers(office_of: Callable[..., Any], teams_of: Any) -> None:
    one, two, judge, idle = teams_of(4)
    schedule = single_game(one, two, judge, season=3)
    office = office_of(teams=(one, two, judge, idle), schedule=schedule).open()
    office.register(idle.player_email)
    office.wait(timedelta(minutes=10))
    (send,) = office.sent(MessageType.BROADCAST_ASSIGNMENT_TABLE)
    assert send.to == (one.player_email, two.player_email, judge.referee_email, idle.player_email)


def test_the_season_never_waits_for_a_missing_acknowledgement(office: Any) -> None:
    office.open().everybody_registers().acknowledge(RAVEN)
    assert office.of(Send) == []
    office.wait(timedelta(seconds=10))
    assert office.kinds() == ["BROADCAST_NEW_LEAGUE_ROUND"]


def test_the_season_starts_when_everybody_has_the_table(office: Any) -> None:
    office.in_round_one()
    assert office.kinds() == ["BROADCAST_NEW_LEAGUE_ROUND"]
    assert "start" not in office.deadlines


def test_whoever_lost_the_table_gets_it_again_alone(office: Any) -> None:
    request = RequestAssignmentTable(group_id="ravens")
    office.open().mail(RAVEN, MessageType.REQUEST_ASSIGNMENT_TABLE, request)
    (send,) = office.of(Send)
    assert isinstance(send.envelope.payload, ErrorResponse)
    assert send.envelope.payload.error_code == "INVALID_STATE"
    office.everybody_registers()
    (table,) = office.sent(MessageType.BROADCAST_ASSIGNMENT_TABLE)
    office.wait(timedelta(minutes=1))
    (again,) = office.of(Send, office.mail(RAVEN, MessageType.REQUEST_ASSIGNMENT_TABLE, request))
    assert again == Send(envelope=table.envelope, to=(RAVEN,), is_repeat=True)


def test_whoever_has_no_place_in_the_season_gets_no_table(office_of: Callable[..., Any], teams_of: Any) -> None:
    office = office_of(teams=teams_of(4)).open()
    absent = office.config.teams[3].player_email
    for team in office.config.teams[:3]:
        office.register(team.player_email)
        office.register(team.referee_email)
    office.wait(timedelta(minutes=10))
    office.mail(absent, MessageType.REQUEST_ASSIGNMENT_TABLE, RequestAssignmentTable())
    (send,) = office.of(Send)
    assert send.envelope.payload.error_code == "NOT_REGISTERED"
    assert send.to == (absent,)


def test_without_automatic_every_step_waits_for_the_operator(office_of: Callable[..., Any]) -> None:
    office = office_of(is_automatic=False).open().everybody_registers()
    office.wait(timedelta(hours=5))
    assert office.state.season.phase is SeasonPhase.REGISTRATION
    office.register(RAVEN)
    office.command(Command.CLOSE_REGISTRATION)
    assert office.kinds() == ["BROADCAST_ASSIGNMENT_TABLE"]
    office.everybody_acknowledges().wait(timedelta(hours=5))
    assert office.state.season.phase is SeasonPhase.ASSIGNED
    office.command(Command.START_ROUND)
    assert office.state.season.label == "ROUND(1)"
    assert office.deadlines == {}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"season_number": 100}, "season_number"),
        ({"season_id": "two\nlines"}, "season_id"),
        ({"league_id": ""}, "league_id"),
        ({"round_wait": timedelta(seconds=-1)}, "round_wait"),
        ({"answer_limit": 0}, "answer_limit"),
        ({"core_only": frozenset({WHISTLE})}, "core_only"),  # a referee must hear that a round ends
        ({"teams": ()}, "teams"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(
    config_of: Callable[..., Any], changes: dict[str, Any], path: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        config_of(**changes)
    assert caught.value.path == path


def test_a_schedule_of_other_teams_is_refused(config_of: Callable[..., Any], teams_of: Any) -> None:
    with pytest.raises(ConfigError, match="wolves is not one of the teams"):
        config_of(schedule=round_robin(teams_of(4), season=3))
    with pytest.raises(ConfigError, match="of season 03"):
        config_of(schedule=round_robin(teams_of(3), season=4))


def test_the_manager_is_not_on_its_own_roster(config_of: Callable[..., Any], teams_of: Any) -> None:
    one, two, three = teams_of(3)
    with pytest.raises(ConfigError, match="own mailbox"):
        config_of(teams=(one, two, replace(three, player_email="League-Office@example.com")))
