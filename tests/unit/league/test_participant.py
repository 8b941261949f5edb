"""The league level of a referee and of a player: season, registration, assignments, service broadcasts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from league_agents.games.q21.model import Termination
from league_agents.kit.errors import JournalError
from league_agents.kit.values import evolve
from league_agents.kit.violation import Violation
from league_agents.league.machines.effects import Call, Notice, Record, Send, Warn
from league_agents.league.machines.events import CallbackReturned, Command, MessageArrived, OperatorCommand, Started
from league_agents.league.machines.participant.held import json_value
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import (
    AssignmentRole,
    BrokenPayload,
    ConnectivityCall,
    ErrorResponse,
    FreeText,
    LeagueCompleted,
    Legacy,
    RegistrationRequest,
    RegistrationStatus,
    RoundResults,
    StandingRow,
    WarmupCall,
    WarmupResponse,
)
from tests.support.link import (
    GAME,
    LEAGUE,
    MANAGER,
    PLAYER1,
    PLAYER2,
    REFEREE,
    SEASON,
    START,
    Peer,
    assignments,
    end_round,
    from_manager,
    keep_alive,
    league_completed,
    new_round,
    obliging,
    pause,
    player,
    referee,
    registration,
    reset,
    resume,
    start_season,
    table,
)


def a_referee(**more: Any) -> Peer:
    return Peer(machine=referee(**more), email=REFEREE)


def a_player(**more: Any) -> Peer:
    return Peer(machine=player(**more), email=PLAYER1)


BOTH = pytest.mark.parametrize("make", [a_referee, a_player], ids=["referee", "player"])


def tell(peer: Peer, *envelopes: Envelope, after: float = 0) -> list[Any]:
    effects: list[Any] = []
    for envelope in envelopes:
        now = START + timedelta(seconds=after)
        mail_id = f"m{len(peer.effects)}-{envelope.message_id}"
        effects += peer.step(MessageArrived(envelope=envelope, mail_id=mail_id, arrived_at=now), now)
    return effects


def run_calls(peer: Peer, after: float = 0) -> list[Any]:
    effects: list[Any] = []
    while peer.calls:
        call = peer.calls.popleft()
        reply: Any = obliging(call.callback, call.context)
        effects += peer.step(CallbackReturned(call_id=call.call_id, result=reply), START + timedelta(seconds=after))
    return effects


def state(peer: Peer) -> str:
    return str(peer.machine.state_name(peer.state))  # type: ignore[attr-defined]


def replies(effects: list[Any]) -> list[dict[str, Any]]:
    return [encode(each.envelope) for each in effects if isinstance(each, Send)]


def codes(effects: list[Any]) -> list[str]:
    return [each.code for each in effects if isinstance(each, Warn)]


WARMUP_CALL = Envelope(
    protocol=Protocol.GAME,
    message_type=MessageType.Q21WARMUPCALL,
    message_id="w",
    timestamp=START,
    sender=Sender(email=REFEREE, role=Role.REFEREE),
    recipient_id="",
    payload=WarmupCall(warmup_question="?", deadline=None),
    game_id=GAME,
)


def kind_of(envelope: Envelope) -> str:
    return envelope.message_type.value


# The names of the states (protocol 5.2 and 5.5).


def test_a_referee_goes_through_the_states_of_the_protocol() -> None:
    peer = a_referee()
    seen = [state(peer)]
    for envelope in (start_season(), registration(), table(), new_round(), league_completed()):
        tell(peer, envelope)
        seen.append(state(peer))
    assert seen == [
        "INIT_START_STATE",
        "WAITING_FOR_CONFIRMATION",
        "WAITING_FOR_ASSIGNMENT",
        "RUNNING",
        "IN_GAME",
        "COMPLETED",
    ]


def test_a_player_goes_through_the_states_of_the_protocol() -> None:
    peer = a_player()
    seen = [state(peer)]
    for envelope in (start_season(), registration(), table(), new_round(), end_round(), league_completed()):
        tell(peer, envelope)
        seen.append(state(peer))
    assert seen == [
        "INIT_START_STATE",
        "WAITING_FOR_CONFIRMATION",
        "REGISTERED",
        "ASSIGNED",
        "IN_GAME",
        "ASSIGNED",
        "COMPLETED",
    ]


@pytest.mark.parametrize(
    ("make", "reason", "name"),
    [
        (a_referee, "roster", "INIT_START_STATE"),
        (a_player, "roster", "SEASON_REJECTED"),
        (a_referee, "already_registered", "WAITING_FOR_ASSIGNMENT"),
        (a_player, "Already-Registered", "REGISTERED"),
    ],
)
def test_a_rejection_as_already_registered_means_registered(make: Any, reason: str, name: str) -> None:
    peer = make()
    tell(peer, start_season(), registration(RegistrationStatus.REJECTED, reason))
    assert state(peer) == name


@BOTH
def test_a_rejected_participant_still_uses_an_assignment_table(make: Any) -> None:
    peer = make()
    tell(peer, start_season(), registration(RegistrationStatus.REJECTED, "roster"), table(), new_round())
    assert state(peer) == "IN_GAME"


@BOTH
def test_data_decide_and_not_the_state(make: Any) -> None:
    peer = make()
    tell(peer, table())  # no season was opened, nobody registered
    tell(peer, new_round())
    assert state(peer) == "IN_GAME"
    tell(peer, registration())  # far too late
    assert state(peer) == "IN_GAME"


# Registration and assignments.


def test_the_registration_of_a_referee_has_every_key_that_a_league_manager_reads() -> None:
    (document,) = replies(tell(a_referee(), start_season()))
    assert document["payload"] == {
        "season_id": SEASON,
        "user_id": "ravens",
        "participant_id": "REF-RAVENS",
        "participant_role": "REFEREE",
        "display_name": "ravens's",
        "email": REFEREE,
        "group_id": "ravens",
        "understands": ["own_rows"],
    }
    assert document["correlation_id"] == "bc-BROADCAST_START_SEASON-1"
    assert (document["recipient_id"], document["league_id"]) == ("LEAGUEMANAGER", LEAGUE)
    assert document["message_id"].startswith("sreg-20310502-")


def test_a_nameless_participant_registers_under_its_id() -> None:
    peer = a_referee()
    config = peer.machine.config  # type: ignore[attr-defined]
    identity = evolve(config.identity, display_name="", group_id="", participant_id="REF9")
    peer.machine = evolve(peer.machine, config=evolve(config, identity=identity))  # type: ignore[type-var]
    (send,) = [each for each in tell(peer, start_season()) if isinstance(each, Send)]
    assert isinstance(send.envelope.payload, RegistrationRequest)
    assert (send.envelope.payload.display_name, send.envelope.payload.user_id) == ("REF9", "REF9")


@BOTH
def test_a_season_that_is_opened_twice_is_registered_for_once(make: Any) -> None:
    peer = make()
    first = tell(peer, start_season())
    again = tell(peer, start_season(), evolve(start_season(), message_id="another mail"))
    repeats = [each for each in again if isinstance(each, Send)]
    assert [each.envelope for each in repeats] == [first[0].envelope] * 2
    assert all(each.is_repeat for each in repeats)


@BOTH
def test_a_league_manager_that_repeats_itself_for_ever_is_not_answered_for_ever(make: Any) -> None:
    peer = make(repeat_limit=2)
    sent = [len(replies(tell(peer, keep_alive()))) for _ in range(6)]
    assert sent == [1, 1, 1, 0, 0, 0]


def test_both_roles_acknowledge_the_table_with_their_own_keys() -> None:
    rows = (*assignments(GAME, "0303001"), *assignments("0304001", referee_email="gavel@example.com"))
    (ack,) = replies(tell(a_referee(), table(rows=rows)))
    assert ack["payload"] == {
        "status": "acknowledged",
        "season_id": SEASON,
        "assignments_received": 2,
        "referee_id": "REF-RAVENS",
        "group_id": "ravens",
    }
    (ack,) = replies(tell(a_player(), table(rows=rows)))
    assert ack["payload"]["assignments_received"] == 3
    assert ack["payload"]["player_email"] == PLAYER1


def test_a_table_without_a_game_of_ours_is_acknowledged_and_does_not_make_a_referee_run() -> None:
    peer = a_referee()
    tell(peer, start_season(), registration())
    (ack,) = replies(tell(peer, table(rows=assignments(GAME, referee_email="gavel@example.com"))))
    assert ack["payload"]["assignments_received"] == 0
    assert state(peer) == "WAITING_FOR_ASSIGNMENT"


@BOTH
def test_a_later_table_replaces_the_earlier_one(make: Any) -> None:
    peer = make()
    tell(peer, table(GAME, "0303001"), table("0304001", tag="2"))
    effects = tell(peer, new_round(3))
    assert codes(effects) == []
    assert [each.code for each in effects if isinstance(each, Notice)] == ["bye"]
    tell(peer, new_round(4))
    assert state(peer) == "IN_GAME"


def test_a_table_leaves_a_started_match_alone() -> None:
    peer = a_referee()
    tell(peer, table(), new_round())
    before = peer.state.matches
    tell(peer, table("0303001", tag="2"))
    assert peer.state.matches is before


@BOTH
def test_a_round_that_overtook_the_table_is_played_when_the_table_comes(make: Any) -> None:
    peer = make()
    assert "no_own_game" in codes(tell(peer, new_round()))
    tell(peer, table())
    assert state(peer) == "IN_GAME"
    # A table that comes once more starts nothing again.
    games = len(peer.sent())
    tell(peer, table(tag="2"))
    assert [each.envelope.message_type for each in peer.sent()[games:]] == [MessageType.RESPONSE_GROUP_ASSIGNMENT]


def test_a_round_that_overtook_the_table_still_tells_who_is_absent() -> None:
    peer = a_referee()
    tell(peer, new_round(lookup=[PLAYER1]), table())
    assert [seat.email for seat in peer.state.matches[GAME].present()] == [PLAYER1]


def test_a_game_without_all_three_rows_is_no_game_for_a_referee() -> None:
    rows = [row for row in assignments(GAME) if row.role is not AssignmentRole.PLAYER2]
    peer = a_referee()
    effects = tell(peer, table(rows=rows), new_round())
    assert codes(effects) == ["incomplete_game", "no_own_game"]


def test_addresses_of_the_table_are_compared_without_letter_case() -> None:
    rows = [evolve(row, email=row.email.upper()) for row in assignments(GAME)]
    for peer in (a_referee(), a_player()):
        tell(peer, table(rows=rows), new_round())
        assert state(peer) == "IN_GAME"


@BOTH
def test_another_season_forgets_the_assignments_of_the_last_one(make: Any) -> None:
    peer = make()
    tell(peer, start_season(), registration(), table(), league_completed())
    tell(peer, start_season("2", season_id="NEXT"))
    assert state(peer) == "WAITING_FOR_CONFIRMATION"
    assert "no_own_game" in codes(tell(peer, new_round(2, tag="next", season_id="NEXT")))


@BOTH
def test_the_same_season_announced_after_its_table_keeps_the_table(make: Any) -> None:
    peer = make()
    tell(peer, table(), start_season(), new_round())
    assert state(peer) == "IN_GAME"


def test_a_game_of_the_last_season_does_not_outlive_the_first_round_of_the_next() -> None:
    for peer in (a_referee(), a_player()):
        tell(peer, start_season(), table("0201001"), new_round(1, tag="old"))
        tell(peer, start_season("2", season_id="NEXT"), table("0301001", tag="2", season_id="NEXT"))
        tell(peer, new_round(1, tag="new", season_id="NEXT"))
        assert len(peer.sent(MessageType.MATCH_RESULT_REPORT)) == 1
        games = peer.state.matches if peer.email == REFEREE else peer.state.games
        assert list(games) == ["0301001"]


# Rounds.


@BOTH
def test_a_round_is_started_once(make: Any) -> None:
    peer = make()
    tell(peer, table(), new_round())
    before = peer.state
    games = len(peer.effects)
    tell(peer, new_round())
    assert codes(tell(peer, new_round(2, tag="with another id"))) == ["round_known"]
    assert not any(isinstance(each, Call | Send) for each in peer.effects[games:])
    assert evolve(peer.state, league=before.league) == before


def test_a_late_announcement_of_a_past_round_does_not_end_the_present_one() -> None:
    peer = a_referee()
    tell(peer, table("0301001", GAME))
    tell(peer, new_round(2, timestamp=START + timedelta(minutes=30)))
    effects = tell(peer, new_round(1, timestamp=START))
    assert codes(effects) == ["past_round"]
    assert list(peer.state.matches) == [GAME]


def test_a_round_that_the_league_manager_repeats_on_purpose_is_played() -> None:
    peer = a_referee()
    tell(peer, table("0301001", GAME), new_round(2))
    tell(peer, new_round(1, timestamp=START + timedelta(minutes=30)))
    assert list(peer.state.matches) == ["0301001"]


@BOTH
def test_results_and_standings_are_recorded(make: Any) -> None:
    peer = make()
    row = StandingRow(rank=1, participant_id="falcons", display_name="Falcon", total_points=5)
    results = RoundResults(round_number=2, results=(), standings=(row,))
    effects = tell(peer, from_manager(MessageType.BROADCAST_ROUND_RESULTS, results))
    (record,) = peer.records()
    assert (record.kind, record.key) == ("round", "2")
    assert replies(effects) == []


@BOTH
def test_the_end_of_another_season_does_not_end_this_one(make: Any) -> None:
    peer = make()
    tell(peer, start_season(), table(), new_round())
    assert codes(tell(peer, league_completed(season_id="LAST YEAR"))) == ["other_season"]
    assert state(peer) == "IN_GAME"


# Who may say what.


@BOTH
@pytest.mark.parametrize("sender", ["stranger@example.com", REFEREE, PLAYER1, PLAYER2])
def test_league_messages_of_anybody_else_change_nothing(make: Any, sender: str) -> None:
    peer = make()
    tell(peer, start_season(), table())
    before = peer.state
    for envelope in (start_season("f"), table("0309001", tag="f"), new_round(), pause(), reset(), keep_alive()):
        forged = evolve(envelope, sender=Sender(email=sender, role=Role.LEAGUEMANAGER))
        assert codes(tell(peer, forged)) == ["wrong_sender"]
    assert peer.state is before


@BOTH
def test_the_league_manager_is_known_in_any_letter_case_and_without_a_stated_role(make: Any) -> None:
    peer = make()
    tell(peer, evolve(start_season(), sender=Sender(email=MANAGER.title(), role=None)))
    assert state(peer) == "WAITING_FOR_CONFIRMATION"


@BOTH
@pytest.mark.parametrize("kind", ["ROUND_ANNOUNCEMENT", "GAME_INVITATION", "SEASON_REGISTRATION_REQUEST", "HEARTBEAT"])
def test_types_without_a_behaviour_are_only_warned_of(make: Any, kind: str) -> None:
    peer = make()
    before = peer.state
    assert codes(tell(peer, from_manager(MessageType(kind), Legacy(fields={})))) == ["unexpected_type"]
    assert peer.state is before


@BOTH
def test_a_broken_message_changes_nothing_and_may_come_again_in_order(make: Any) -> None:
    peer = make()
    broken = BrokenPayload(violations=(Violation(path="round_number", rule="a number", found="'x'"),))
    tell(peer, table())
    before = peer.state
    assert codes(tell(peer, evolve(new_round(), payload=broken))) == ["unusable_message"]
    assert peer.state is before
    tell(peer, new_round())
    assert state(peer) == "IN_GAME"


@BOTH
def test_an_error_response_is_shown_and_never_answered(make: Any) -> None:
    peer = make()
    payload = ErrorResponse(
        error_code="DEADLINE_PASSED",
        error_message="Registration closed.",
        original_message_type="SEASON_REGISTRATION_REQUEST",
        recoverable=False,
    )
    envelope = from_manager(MessageType.ERROR_RESPONSE, payload)
    effects = tell(peer, envelope, evolve(envelope, sender=Sender(email="s@example.com", role=None)))
    assert codes(effects) == ["error_response", "error_response"]
    assert replies(effects) == []


@BOTH
def test_a_command_of_a_person_is_not_for_participants(make: Any) -> None:
    peer = make()
    before = peer.state
    for event in (OperatorCommand(command=Command.START_ROUND, nonce="1"), Started()):
        effects = peer.step(event, START)
        assert replies(effects) == []
    assert peer.state is before


# Service.


def test_a_keep_alive_is_answered_in_the_canonical_form() -> None:
    peer = a_referee()
    tell(peer, start_season(), table())
    (document,) = replies(tell(peer, keep_alive(), after=4))
    assert document["correlation_id"] == "bc-BROADCAST_KEEP_ALIVE-1"
    assert document["payload"] == {
        "broadcast_id": "bc-BROADCAST_KEEP_ALIVE-1",
        "status": "alive",
        "referee_id": "REF-RAVENS",
        "machine_state": "RUNNING",
        "state_detail": "no open game",
        "message_text": "",
        "response_timestamp": "2031-05-02T10:00:04.000000+00:00",
    }
    tell(peer, new_round())
    (document,) = replies(tell(peer, keep_alive("2")))
    assert (document["payload"]["machine_state"], document["payload"]["state_detail"]) == ("IN_GAME", "open: 0302001")


def test_a_player_says_its_address_instead_of_an_id() -> None:
    (document,) = replies(tell(a_player(), keep_alive()))
    assert document["payload"]["player_email"] == PLAYER1
    assert "referee_id" not in document["payload"]


@BOTH
def test_a_ping_is_echoed(make: Any) -> None:
    peer = make()
    ping = from_manager(MessageType.CONNECTIVITY_TEST_CALL, ConnectivityCall(ping_id="ping-1", sent_at=START))
    (document,) = replies(tell(peer, ping))
    assert document["payload"] == {
        "message_type": "CONNECTIVITY_TEST_RESPONSE",
        "ping_id": "ping-1",
        "echo_from": peer.email,
        "original_timestamp": "2031-05-02T10:00:00.000000+00:00",
    }


@BOTH
def test_a_word_to_everybody_is_shown_and_noted(make: Any) -> None:
    peer = make()
    effects = tell(peer, from_manager(MessageType.BROADCAST_FREE_TEXT, FreeText(message_text="At ten.")))
    assert [each.text for each in effects if isinstance(each, Warn)] == ["the league manager says: At ten."]
    (document,) = replies(effects)
    assert document["payload"]["message_text"] == "noted"
    silent = make(answers_free_text=False)
    assert replies(tell(silent, from_manager(MessageType.BROADCAST_FREE_TEXT, FreeText(message_text="x")))) == []


# Pause, continue, reset (protocol 4.3.2).


@BOTH
def test_the_replies_to_pause_and_continue_have_their_exact_keys(make: Any) -> None:
    peer = make()
    tell(peer, table(), new_round())
    (paused,) = replies(tell(peer, pause()))
    assert paused["payload"] == {
        "broadcast_id": "bc-BROADCAST_CRITICAL_PAUSE-1",
        "pause_status": "PAUSED",
        "previous_state": "IN_GAME",
        "current_game_state": "SAVED",
        "match_id_paused": GAME,
        "message_text": "",
        "response_timestamp": "2031-05-02T10:00:00.000000+00:00",
    }
    assert state(peer) == "PAUSED"
    (resumed,) = replies(tell(peer, resume()))
    assert resumed["payload"] == {
        "broadcast_id": "bc-BROADCAST_CRITICAL_CONTINUE-1",
        "continue_status": "RESUMED",
        "restored_state": "IN_GAME",
        "restored_match_id": GAME,
        "message_text": "",
        "response_timestamp": "2031-05-02T10:00:00.000000+00:00",
    }


@BOTH
def test_a_pause_without_a_game_says_so(make: Any) -> None:
    (document,) = replies(tell(make(), pause()))
    assert document["payload"]["current_game_state"] == "N/A"
    assert document["payload"]["match_id_paused"] is None


@BOTH
def test_a_pause_while_paused_and_a_continue_while_not_are_only_answered(make: Any) -> None:
    peer = make()
    assert len(replies(tell(peer, resume()))) == 1
    tell(peer, pause())
    since = peer.state.league.paused_at
    assert len(replies(tell(peer, pause("2"), after=60))) == 1
    assert peer.state.league.paused_at == since


def _warmup_response(sender: str) -> Envelope:
    return Envelope(
        protocol=Protocol.GAME,
        message_type=MessageType.Q21WARMUPRESPONSE,
        message_id=f"w-{sender}",
        timestamp=START,
        sender=Sender(email=sender, role=Role.PLAYER),
        recipient_id="",
        payload=WarmupResponse(answer="42"),
        game_id=GAME,
    )


def test_a_paused_referee_holds_mail_and_results_and_then_goes_on_with_the_time_that_was_left() -> None:
    peer = a_referee()
    tell(peer, table(), new_round())
    run_calls(peer)
    deadlines = dict(peer.deadlines)
    tell(peer, pause(), after=30)
    assert peer.deadlines == {}
    assert tell(peer, _warmup_response(PLAYER1), after=40) == []
    assert tell(peer, _warmup_response("stranger@example.com"), after=40) != [], "a stranger is not even held"
    assert len(peer.state.held) == 1
    effects = tell(peer, resume(), after=1030)
    assert isinstance(effects[0], Send), "the reply goes out first"
    assert peer.state.held == ()
    later = timedelta(seconds=1000)
    name = f"wait:{GAME}:player2"
    assert peer.deadlines[name] == deadlines[name] + later
    assert f"wait:{GAME}:player1" not in peer.deadlines, "the held answer was accepted"


def test_a_result_that_comes_during_a_pause_is_used_after_it() -> None:
    peer = a_referee()
    tell(peer, table(), new_round(), pause())
    assert run_calls(peer, after=10) == []
    effects = tell(peer, resume(), after=20)
    assert [each.envelope.message_type for each in effects if isinstance(each, Send)].count(
        MessageType.Q21WARMUPCALL
    ) == 2


def test_a_result_that_json_cannot_hold_does_not_hurt_a_pause() -> None:
    peer = a_referee()
    tell(peer, table(), new_round(), pause())
    call = peer.calls.popleft()
    result: Any = {"warmup_question": {1, 2}, 3: 4, "deep": [[[{"x": float("nan")}]]], "big": 10**5000}
    peer.step(CallbackReturned(call_id=call.call_id, result=result), START)
    assert "get_warmup_question" not in codes(tell(peer, resume()))
    assert peer.state.matches[GAME].warmup_question == "How much is 17 plus 25?"


@pytest.mark.parametrize("wrapped", [lambda inner: [inner], lambda inner: {"in": inner}], ids=["list", "dict"])
def test_what_a_pause_holds_is_twelve_levels_deep(wrapped: Any) -> None:
    value: Any = "core"
    for _ in range(12):
        value = wrapped(value)
    assert json_value(value, 0) == value
    assert "core" not in str(json_value(wrapped(value), 0))


def test_a_pause_holds_only_so_much_mail() -> None:
    peer = a_referee(held_limit=2)
    tell(peer, table(), new_round())
    run_calls(peer)
    tell(peer, pause())
    for _ in range(2):
        tell(peer, _warmup_response(PLAYER1))
    assert codes(tell(peer, _warmup_response(PLAYER2))) == ["held_limit"]


def test_nobody_fills_during_a_pause_what_is_kept_for_the_others() -> None:
    peer = a_referee(held_limit_of_sender=2)
    tell(peer, table(), new_round())
    run_calls(peer)
    tell(peer, pause())
    for _ in range(2):
        tell(peer, _warmup_response(PLAYER1))
    assert codes(tell(peer, _warmup_response(PLAYER1.upper()))) == ["held_limit"]
    assert codes(tell(peer, _warmup_response(PLAYER2))) == []


def test_a_round_that_starts_during_a_pause_sends_nothing_until_it_is_over() -> None:
    peer = a_referee()
    tell(peer, table(GAME, "0303001"), new_round())
    run_calls(peer)
    tell(peer, pause())
    effects = [*tell(peer, new_round(3), after=5), *run_calls(peer, after=6)]
    assert [each.envelope.message_type for each in effects if isinstance(each, Send)] == [
        MessageType.MATCH_RESULT_REPORT
    ], "league mail goes on: the aborted match is reported"
    assert peer.deadlines == {}
    effects = tell(peer, resume(), after=60)
    assert MessageType.Q21WARMUPCALL in [each.envelope.message_type for each in effects if isinstance(each, Send)]


@BOTH
def test_a_reset_forgets_the_season_and_drops_games_without_a_report(make: Any) -> None:
    peer = make()
    tell(peer, start_season(), registration(), table(), new_round())
    effects = tell(peer, reset())
    (document,) = replies(effects)
    assert document["payload"] == {
        "broadcast_id": "bc-BROADCAST_CRITICAL_RESET-1",
        "reset_status": "COMPLETED",
        "tables_cleared": ["games", "assignments"],
        "state_machine_reset": True,
        "ready_for_new_season": True,
        "message_text": "",
        "response_timestamp": "2031-05-02T10:00:00.000000+00:00",
    }
    assert state(peer) == "INIT_START_STATE"
    assert peer.deadlines == {}
    assert peer.released() == [GAME]
    assert [record.termination for record in peer.records()] == [Termination.RESET]
    assert peer.sent(MessageType.MATCH_RESULT_REPORT) == []
    assert "no_own_game" in codes(tell(peer, new_round(2, tag="after")))


@BOTH
def test_a_season_that_was_reset_is_not_opened_again_by_an_old_mail(make: Any) -> None:
    peer = make()
    tell(peer, start_season(), table(), reset())
    tell(peer, start_season(), table())
    assert state(peer) == "INIT_START_STATE"
    tell(peer, start_season("new"), table(tag="new"), new_round())
    assert state(peer) == "IN_GAME"


def test_a_match_that_is_played_again_after_a_reset_has_other_ids() -> None:
    peer = a_referee()
    tell(peer, table(), new_round())
    first = [each.call_id for each in peer.effects if isinstance(each, Call)]
    tell(peer, reset(), table(tag="new"), new_round(tag="new"))
    both = [each.call_id for each in peer.effects if isinstance(each, Call)]
    assert len(both) == 2
    assert both[0] == first[0] != both[1]


@BOTH
def test_a_reset_ends_a_pause(make: Any) -> None:
    peer = make()
    tell(peer, table(), new_round(), pause(), reset())
    assert peer.state.held == ()
    assert state(peer) == "INIT_START_STATE"


# Memory.


@BOTH
def test_what_is_remembered_of_league_mail_is_bounded(make: Any) -> None:
    peer = make()
    peer.checks_storage = False
    for i in range(400):
        tell(peer, keep_alive(str(i)), pause(str(i)), resume(str(i)))
    assert len(peer.state.league.obeyed) == 256
    assert len(peer.state.league.heard) == 128
    assert len(peer.state.league.replies) == 8


@BOTH
@pytest.mark.parametrize(
    "order", [start_season(), table(), new_round(), end_round(), pause(), reset(), league_completed()], ids=kind_of
)
def test_an_order_is_not_obeyed_again_however_many_words_came_in_between(make: Any, order: Envelope) -> None:
    peer = make()
    peer.checks_storage = False
    tell(peer, order)
    results = RoundResults(round_number=None, results=(), standings=())
    for i in range(130):
        ping = ConnectivityCall(ping_id=str(i), sent_at=START)
        tell(
            peer,
            keep_alive(str(i)),
            from_manager(MessageType.BROADCAST_FREE_TEXT, FreeText(message_text="hello"), str(i)),
            from_manager(MessageType.BROADCAST_ROUND_RESULTS, results, str(i)),
            from_manager(MessageType.CONNECTIVITY_TEST_CALL, ping, str(i)),
        )
    before = peer.state
    assert codes(tell(peer, evolve(order, message_id="a new mail"))) == ["duplicate_message"]
    assert peer.state == before


def test_closed_games_of_past_rounds_are_forgotten() -> None:
    peer = a_player()
    rounds = range(1, 30)
    tell(peer, table(*[f"03{i:02d}001" for i in rounds]))
    for i in rounds:
        tell(peer, new_round(i))
        assert len(peer.state.games) == 1
    tell(peer, league_completed())
    assert peer.state.games == {}


@BOTH
def test_the_end_of_the_season_is_recorded_once_with_its_table(make: Any) -> None:
    rows = (
        StandingRow(rank=1, participant_id="otters", display_name="Otters", total_points=3),
        StandingRow(rank=2, participant_id="ravens", display_name="Ravens", total_points=1),
    )
    last = evolve(league_completed(), payload=LeagueCompleted(final_standings=rows))
    peer = make()
    (record,) = (each for each in tell(peer, table(), last) if isinstance(each, Record))
    facts: Any = record.facts
    assert record.kind == "season"
    assert record.key == facts["season_id"] == last.season_id
    assert [(row["participant_id"], row["total_points"]) for row in facts["final_standings"]] == [
        ("otters", 3), ("ravens", 1)
    ]  # fmt: skip
    assert not any(isinstance(each, Record) for each in tell(peer, evolve(last, message_id="m-again")))


@BOTH
def test_a_state_that_cannot_be_read_says_which_part(make: Any) -> None:
    peer = make()
    for text in ("{", "[]", '{"season_id": 7}'):
        with pytest.raises(JournalError, match="'league'"):
            peer.machine.load({"league": text})


def test_a_player_holds_requests_during_a_pause() -> None:
    peer = a_player()
    tell(peer, table(), new_round(), pause())
    assert tell(peer, WARMUP_CALL) == []
    effects = tell(peer, resume())
    assert [each.callback for each in effects if isinstance(each, Call)] == ["get_warmup_answer"]


def test_a_game_whose_referee_the_table_does_not_name_is_played_with_who_claims_to_be_it() -> None:
    rows = tuple(row for row in assignments(GAME) if row.role is not AssignmentRole.REFEREE)
    peer = a_player()
    tell(peer, table(rows=rows), new_round())
    assert codes(tell(peer, evolve(WARMUP_CALL, sender=Sender(email="s@example.com", role=Role.PLAYER)))) == [
        "wrong_sender"
    ]
    effects = tell(peer, WARMUP_CALL)
    assert [each.callback for each in effects if isinstance(each, Call)] == ["get_warmup_answer"]
