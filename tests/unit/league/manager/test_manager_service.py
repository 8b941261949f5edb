"""Pause, continue, reset, keep-alive, free text, and mail that asks for nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from league_agents.games.q21.model import Termination
from league_agents.kit.errors import JournalError
from league_agents.league.machines.effects import ClearDeadline, Send, SetDeadline, Warn
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.manager import Manager, transition_table
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    ConnectivityEcho,
    CriticalPause,
    CriticalPauseReply,
    ErrorResponse,
    FreeText,
    KeepAlive,
    KeepAliveReply,
    Legacy,
)

RAVEN = "ravens.Player@example.com"


def test_a_pause_takes_no_time_from_a_round(office: Any) -> None:
    office.in_round_one()
    office.wait(timedelta(minutes=12))
    office.command(Command.PAUSE, "mail outage")
    (send,) = office.sent(MessageType.BROADCAST_CRITICAL_PAUSE)
    assert send.envelope.payload == CriticalPause(reason="mail outage")
    assert len(send.to) == 6
    assert ClearDeadline(name="round:1") in office.effects
    office.wait(timedelta(hours=9))
    assert office.state.season.label == "ROUND(1), paused"
    office.command(Command.CONTINUE)
    assert office.kinds() == ["BROADCAST_CRITICAL_CONTINUE"]
    assert SetDeadline(name="round:1", at=office.now + timedelta(minutes=18)) in office.effects
    office.wait(timedelta(minutes=18))
    assert office.state.season.label == "CLOSING(1)"


def test_a_pause_during_registration_moves_its_deadline(office: Any) -> None:
    office.open().wait(timedelta(minutes=9))
    office.command(Command.PAUSE)
    office.wait(timedelta(hours=1))
    office.register(RAVEN)
    assert office.sent(MessageType.SEASON_REGISTRATION_RESPONSE)[0].envelope.payload.status == "accepted"
    office.command(Command.CONTINUE)
    office.register("otters.Player@example.com")
    assert office.sent(MessageType.SEASON_REGISTRATION_RESPONSE)[0].envelope.payload.status == "accepted"
    office.wait(timedelta(minutes=1))
    assert office.state.season.phase is SeasonPhase.ASSIGNED


def test_what_arrives_during_a_pause_moves_the_season_afterwards(office: Any) -> None:
    office.in_round_one()
    office.command(Command.PAUSE)
    office.report(office.games()[0])
    assert office.kinds() == []
    assert office.state.awaited == 0
    office.command(Command.CONTINUE)
    assert office.kinds() == [
        "BROADCAST_CRITICAL_CONTINUE",
        "BROADCAST_END_LEAGUE_ROUND",
        "BROADCAST_ROUND_RESULTS",
        "BROADCAST_NEW_LEAGUE_ROUND",
    ]
    assert office.deadlines == {"round:2": office.now + timedelta(minutes=30)}


def test_pausing_twice_and_continuing_twice_only_say_it_again(office: Any) -> None:
    office.in_round_one()
    office.command(Command.PAUSE)
    paused_at = office.now
    office.wait(timedelta(minutes=3))
    office.command(Command.PAUSE)
    assert office.kinds() == ["BROADCAST_CRITICAL_PAUSE"]
    assert office.state.season.paused_at == paused_at
    office.command(Command.CONTINUE)
    deadlines = dict(office.deadlines)
    office.command(Command.CONTINUE)
    assert office.kinds() == ["BROADCAST_CRITICAL_CONTINUE"]
    assert office.deadlines == deadlines


@pytest.mark.parametrize("command", [Command.END_ROUND, Command.START_ROUND, Command.FINISH_SEASON])
def test_nothing_moves_on_during_a_pause(office: Any, command: Command) -> None:
    office.in_round_one()
    office.command(Command.PAUSE)
    before = office.state
    office.command(command)
    assert office.state is before
    assert office.warnings() == ["command_refused"]


def test_a_reset_forgets_the_season_and_the_next_one_has_other_ids(office: Any) -> None:
    office.in_round_one()
    (game,) = office.games()
    office.command(Command.RESET, "season restarted")
    assert office.kinds() == ["BROADCAST_CRITICAL_RESET"]
    assert [(record.key, record.termination) for record in office.records("match")] == [
        (game.game_id, Termination.RESET)
    ]
    assert [record.termination for record in office.records("season")] == [Termination.RESET]
    assert office.deadlines == {}
    assert office.state.season.phase is SeasonPhase.SETUP
    office.in_round_one()
    sends = office.of(Send, office.history)
    assert len({send.envelope.message_id for send in sends}) == len(sends)
    broadcasts = [send.envelope.broadcast_id for send in sends if send.envelope.broadcast_id is not None]
    assert len(set(broadcasts)) == len(broadcasts)


def test_a_season_that_has_not_begun_is_reset_without_a_reason(office: Any) -> None:
    office.command(Command.RESET)
    assert office.kinds() == ["BROADCAST_CRITICAL_RESET"]


def test_a_reset_ends_a_pause(office: Any) -> None:
    office.in_round_one()
    office.command(Command.PAUSE)
    office.command(Command.RESET, "a mistake")
    office.command(Command.OPEN_SEASON)
    assert office.kinds() == ["BROADCAST_START_SEASON"]


def test_who_answered_a_keep_alive_is_known(office: Any) -> None:
    office.open().command(Command.KEEP_ALIVE)
    (send,) = office.of(Send)
    assert send.envelope.payload == KeepAlive()
    asked = send.envelope.broadcast_id
    reply = MessageType.RESPONSE_KEEP_ALIVE
    office.mail(RAVEN, reply, KeepAliveReply(), broadcast_id=asked)
    office.mail(RAVEN, reply, KeepAliveReply(), broadcast_id=asked)
    office.mail("otters.Referee@example.com", reply, KeepAliveReply())  # the deployed referee names none
    office.mail("otters.Player@example.com", reply, KeepAliveReply(), correlation_id="bc-keepalive-of-before")
    assert office.state.inquiry.replied == (RAVEN, "otters.Referee@example.com")


def test_who_answered_a_pause_is_known(office: Any) -> None:
    office.in_round_one()
    (send,) = office.of(Send, office.command(Command.PAUSE))
    payload = CriticalPauseReply(previous_state="IN_GAME", current_game_state="SAVED", match_id_paused=None)
    office.mail(RAVEN, MessageType.CRITICAL_PAUSE_RESPONSE, payload, correlation_id=send.envelope.broadcast_id)
    assert office.state.inquiry.replied == (RAVEN,)


def test_a_word_to_everybody(office: Any) -> None:
    office.command(Command.FREE_TEXT, " Round one starts at ten. ")
    (send,) = office.of(Send)
    assert send.envelope.payload == FreeText(message_text="Round one starts at ten.")
    office.command(Command.FREE_TEXT, "  ")
    assert office.of(Send) == []
    assert office.warnings() == ["command_refused"]


def test_mail_of_a_type_that_no_manager_gets_is_told(office: Any) -> None:
    before = office.in_round_one().state
    office.mail(RAVEN, MessageType.ROUND_ANNOUNCEMENT, Legacy(fields={}))
    assert office.warnings() == ["unexpected_type"]
    assert office.state == before


@pytest.mark.parametrize(
    "kind", [MessageType.ERROR_RESPONSE, MessageType.PROTOCOL_ERROR, MessageType.GAME_ERROR, MessageType.ERROR]
)
def test_an_error_is_never_answered(office: Any, kind: MessageType) -> None:
    payload: Any = Legacy(fields={"error_code": "E1"})
    if kind is MessageType.ERROR_RESPONSE:
        payload = ErrorResponse(
            error_code="INVALID_MESSAGE", error_message="What?\n" * 900, original_message_type="", recoverable=False
        )
    office.in_round_one().mail(RAVEN, kind, payload)
    assert office.of(Send) == []
    (warning,) = office.effects
    assert warning.code == "peer_error"
    assert ("What?" if kind is MessageType.ERROR_RESPONSE else kind.value) in warning.text
    assert len(warning.text) < 400
    assert "\n" not in warning.text


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (MessageType.HEARTBEAT, Legacy(fields={"status": "active"})),
        (MessageType.CONNECTIVITY_TEST_ECHO, ConnectivityEcho(ping_id="ping-1")),
        (MessageType.LEAGUE_REGISTER_REQUEST, Legacy(fields={})),
        (MessageType.LEAGUE_UNREGISTER_REQUEST, Legacy(fields={"reason": "illness"})),
        (MessageType.GAME_JOIN_ACK, Legacy(fields={})),
        (MessageType.Q21_HINTS, Legacy(fields={})),
        (MessageType.BROADCAST_CRITICAL_RESET, Legacy(fields={})),
    ],
)
def test_mail_that_asks_for_nothing_is_a_sign_of_life(office: Any, kind: MessageType, payload: Any) -> None:
    office.open()
    before = office.state
    office.mail(RAVEN, kind, payload)
    assert office.of(Send) == []
    assert office.state.attendance[0].is_heard
    assert office.state.season is before.season
    told = office.state
    office.mail(RAVEN, kind, payload)
    assert office.state is told


def test_a_journal_of_another_season_is_refused(office: Any, config_of: Callable[..., Any]) -> None:
    office.open()
    parts = {name: office.manager.dump_part(name, part) for name, part in office.manager.parts(office.state).items()}
    with pytest.raises(JournalError, match="name another"):
        Manager(config_of(season_id="SEASON_2032")).load(parts)
    with pytest.raises(JournalError, match="part 'standings'"):
        office.manager.load({**parts, "standings": "{"})
    with pytest.raises(JournalError, match="no part 'attendance'"):
        office.manager.load({name: text for name, text in parts.items() if name != "attendance"})
    with pytest.raises(JournalError, match="lacks a round"):
        office.manager.load({**parts, "round/2": '{"number":2,"closed_at":"2031-05-02T08:00:00+00:00","games":[]}'})
    assert office.manager.load({}) == office.manager.initial()


def test_the_roster_may_be_edited_between_two_starts(
    office: Any, config_of: Callable[..., Any], teams_of: Callable[..., Any]
) -> None:
    office.open().register("otters.Player@example.com")
    parts = {name: office.manager.dump_part(name, part) for name, part in office.manager.parts(office.state).items()}
    ravens, _falcons, otters, wolves = teams_of(4)
    edited = Manager(config_of(teams=(wolves, ravens, otters)))
    loaded = edited.load(parts)
    registered = [
        member.email
        for member, attendance in zip(edited.roster.members, loaded.attendance, strict=True)
        if attendance.registered_at is not None
    ]
    assert registered == ["otters.Player@example.com"]


def test_the_table_of_transitions_names_every_command_and_every_phase() -> None:
    rows = list(transition_table())
    events = {row.event for row in rows}
    assert {command.value for command in Command} <= events
    phases = {phase for row in rows for phase in (row.phase, *row.next)} - {"any"}
    assert phases == {phase.value for phase in SeasonPhase}
    assert all(row.effects for row in rows)


ALL_THE_WAY = (
    Command.OPEN_SEASON,
    Command.CLOSE_REGISTRATION,
    Command.START_ROUND,
    Command.END_ROUND,
    Command.END_ROUND,
    Command.FINISH_SEASON,
)


def walked(office_of: Callable[..., Any], steps: int, *, is_paused: bool) -> Any:
    """A manager that was taken through its season by hand, as far as ``steps``."""
    office = office_of(is_automatic=False)
    for command in (*ALL_THE_WAY[:steps], *([Command.PAUSE] if is_paused else [])):
        give(office, command)
        assert refusals(office) == []
    return office


def refusals(office: Any) -> list[str]:
    return [warning.text for warning in office.of(Warn) if warning.code == "command_refused"]


def give(office: Any, command: Command) -> None:
    """Give a command; whoever it invites registers."""
    office.command(command, "a word")
    if command is Command.OPEN_SEASON and not refusals(office):
        office.everybody_registers()


@pytest.mark.parametrize(
    ("steps", "is_paused"),
    [(steps, is_paused) for steps in range(len(ALL_THE_WAY)) for is_paused in (False, True)]
    + [(len(ALL_THE_WAY), False)],  # a season that is over is not paused
)
def test_a_refused_command_says_what_comes_first_and_then_it_is_taken(
    office_of: Callable[..., Any], steps: int, is_paused: bool
) -> None:
    # A new season needs another configuration too: test_manager_new_season.
    for command in set(Command) - {Command.NEW_SEASON}:
        if command.settles:
            continue
        office = walked(office_of, steps, is_paused=is_paused)
        office.command(command, "a word")
        if not refusals(office):
            continue
        (said,) = refusals(office)
        assert said.startswith(f"{command.word}: the season is in {office.state.season.label}; ")
        named = [each for each in Command if f"'{each.word}'" in said]
        if named == [Command.RESET]:
            assert said.endswith("that is over, and only 'reset' goes back")
            continue
        if said.endswith("it is over; the next one begins with 'next-season'"):
            assert office.state.season.phase is SeasonPhase.FINISHED
            continue
        assert said.endswith(" first")
        # In the order in which they are named.
        for each in (*sorted(named, key=lambda one: said.index(f"'{one.word}'")), command):
            give(office, each)
            assert refusals(office) == [], (said, each)


@pytest.mark.parametrize(
    ("steps", "command", "said"),
    [
        (0, Command.START_ROUND, "'open-season', 'close-registration' first"),
        (3, Command.CLOSE_REGISTRATION, "that is over"),
        (3, Command.START_ROUND, "start-round: the season is in ROUND(1); 'end-round' first"),
        (6, Command.FINISH_SEASON, "it is over; the next one begins"),
        (6, Command.PAUSE, "pause: the season is in FINISHED; it is over; the next one begins"),
    ],
)
def test_what_comes_first_is_the_shortest_way(
    office_of: Callable[..., Any], steps: int, command: Command, said: str
) -> None:
    office = walked(office_of, steps, is_paused=False)
    office.command(command)
    (refusal,) = refusals(office)
    assert said in refusal


@pytest.mark.parametrize("steps", range(1, len(ALL_THE_WAY)))
def test_a_season_that_has_begun_is_reset_with_a_reason_only(office_of: Callable[..., Any], steps: int) -> None:
    office = walked(office_of, steps, is_paused=False)
    before = office.state
    office.command(Command.RESET, " ")
    (said,) = refusals(office)
    assert said.startswith("reset: the season has begun (")
    assert said.endswith("it needs a reason: --why '…'")
    assert (office.state, office.kinds()) == (before, [])
    office.command(Command.RESET, "the wrong roster")
    assert office.state.season.phase is SeasonPhase.SETUP


def test_a_finished_season_is_never_reset(office_of: Callable[..., Any]) -> None:
    office = walked(office_of, len(ALL_THE_WAY), is_paused=False)
    before = office.state
    office.command(Command.RESET, "tidying up")
    assert office.state == before
    assert [each.partition("; ")[2] for each in refusals(office)] == [
        "it is over; the next one begins with 'next-season'"
    ]
