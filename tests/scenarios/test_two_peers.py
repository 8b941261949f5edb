"""A referee and two players joined by a fake link: whatever the mail does, they finish the match and agree on it."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from league_agents.games.q21.flow import SeatPhase
from league_agents.games.q21.model import Termination
from league_agents.league.machines.effects import Call, Send
from league_agents.league.machines.events import Failure
from league_agents.league.machines.player.game_state import GamePhase
from league_agents.league.wire.encode import encode
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import MatchReport, PlayerReport, ReportStatus
from tests.support.link import (
    GAME,
    PLAYER1,
    PLAYER2,
    REFEREE,
    Link,
    again,
    end_round,
    league_completed,
    new_round,
    obliging,
    open_link,
    pause,
    resume,
)

AGREE: Mapping[GamePhase, tuple[SeatPhase, ...]] = {
    GamePhase.INITIALIZED: (SeatPhase.IDLE, SeatPhase.WARMUP_SENT),
    GamePhase.WARMUP_COMPLETE: (SeatPhase.WARMUP_SENT, SeatPhase.WARMED_UP, SeatPhase.STARTED),
    GamePhase.QUESTIONS_SENT: (SeatPhase.STARTED, SeatPhase.QUESTIONED, SeatPhase.ANSWERED),
    GamePhase.GUESS_SUBMITTED: (SeatPhase.ANSWERED, SeatPhase.GUESSED, SeatPhase.SCORED),
    GamePhase.COMPLETED: (SeatPhase.SCORED,),
}
"""Which phases of a player and of its seat at the referee's table fit together while mail is under way."""


def peers_agree(link: Link) -> None:
    match = link.peers[REFEREE].state.matches.get(GAME)
    for email in (PLAYER1, PLAYER2):
        game = link.peers[email].state.games.get(GAME)
        if match is None or game is None or game.phase is GamePhase.TERMINATED:
            continue
        seat = next(seat for seat in match.seats if seat.email == email)
        assert seat.phase in AGREE[game.phase], f"{email} is at {game.phase}, the referee believes {seat.phase}"


def reports(link: Link) -> list[MatchReport]:
    return [each.payload for each in link.to_manager if isinstance(each.payload, MatchReport)]


def everything_can_be_written(link: Link) -> None:
    for peer in link.peers.values():
        for send in peer.sent():
            encode(send.envelope)


def test_a_match_is_played_to_its_end_and_everybody_agrees_on_the_way() -> None:
    link = open_link()
    link.after_each = peers_agree
    link.tell_all(new_round())
    link.run()
    (report,) = reports(link)
    assert (report.status, report.winner_id, report.is_draw) == (ReportStatus.COMPLETED, "falcons", False)
    assert link.peers[REFEREE].state.matches == {}
    assert {peer.state.games[GAME].phase for peer in (link.peers[PLAYER1], link.peers[PLAYER2])} == {
        GamePhase.COMPLETED
    }
    assert all(peer.warnings() == [] for peer in link.peers.values())
    assert [peer.released() for peer in link.peers.values()] == [[GAME]] * 3
    everything_can_be_written(link)


# Every order in which mail may arrive and callbacks may return.


def fork(link: Link) -> Link:
    twin = copy.copy(link)
    twin.peers = {}
    for email, peer in link.peers.items():
        twin.peers[email] = copy.copy(peer)
        twin.peers[email].effects = list(peer.effects)
        twin.peers[email].calls = deque(peer.calls)
        twin.peers[email].deadlines = dict(peer.deadlines)
    twin.mail = {email: deque(queue) for email, queue in link.mail.items()}
    twin.to_manager = list(link.to_manager)
    return twin


def moves(link: Link) -> Iterator[tuple[str, str, int]]:
    for email in link.peers:
        yield from ((email, "mail", i) for i in range(len(link.mail[email])))
        yield from ((email, "call", i) for i in range(len(link.peers[email].calls)))


def move(link: Link, email: str, what: str, i: int) -> Link:
    twin = fork(link)
    queue: deque[Any] = twin.mail[email] if what == "mail" else twin.peers[email].calls
    chosen = queue[i]
    del queue[i]
    if what == "mail":
        twin.tell(email, chosen)
    else:
        twin.answer(email, chosen)
    return twin


def position(link: Link) -> tuple[object, ...]:
    match = link.peers[REFEREE].state.matches.get(GAME)
    return (
        tuple(seat.phase for seat in match.seats) if match else None,
        tuple(link.peers[email].state.games[GAME].phase for email in (PLAYER1, PLAYER2)),
        tuple(tuple(sorted(each.message_type for each in queue)) for queue in link.mail.values()),
        tuple(tuple(sorted(call.call_id for call in peer.calls)) for peer in link.peers.values()),
        len(reports(link)),
    )


def test_a_match_ends_the_same_in_every_order_of_arrival() -> None:
    """Every position that can be reached, and every move out of it, exactly once."""
    start = open_link()
    for peer in start.peers.values():
        peer.checks_storage = False
    start.answers_at_once = False
    start.after_each = peers_agree
    start.tell_all(new_round())
    seen = {position(start)}
    waiting = [start]
    ends = 0
    early_guess_was_seen = False
    while waiting:
        link = waiting.pop()
        choices = list(moves(link))
        if not choices:
            ends += 1
            (report,) = reports(link)
            assert (report.status, report.winner_id) == (ReportStatus.COMPLETED, "falcons")
            assert all(peer.warnings() == [] for peer in link.peers.values())
        for choice in choices:
            following = move(link, *choice)
            key = position(following)
            if key not in seen:
                seen.add(key)
                waiting.append(following)
                match = following.peers[REFEREE].state.matches.get(GAME)
                if match and {seat.phase for seat in match.seats} == {SeatPhase.GUESSED, SeatPhase.STARTED}:
                    early_guess_was_seen = True
    assert ends >= 1
    assert early_guess_was_seen, "one player's guess came before the other's questions"
    assert len(seen) > 100


# Repeats.


def test_a_match_in_which_everything_arrives_three_times_is_the_same_match() -> None:
    plain, link = open_link(), open_link()
    plain.tell_all(new_round())
    plain.run()
    calls = [call.call_id for peer in plain.peers.values() for call in peer.effects if isinstance(call, Call)]

    def thrice(email: str) -> bool:
        queue = link.mail[email]
        if not queue:
            return False
        envelope = queue.popleft()
        link.tell(email, envelope)
        link.tell(email, envelope)
        link.tell(email, again(envelope, f"{envelope.message_id}-again"))
        return True

    for _ in range(3):
        link.tell_all(new_round())
    for _ in range(2000):
        if not any([thrice(email) for email in link.peers]):  # noqa: C419
            break
    else:
        pytest.fail("the peers answer each other for ever")
    assert reports(link) == reports(plain)
    repeated = [call.call_id for peer in link.peers.values() for call in peer.effects if isinstance(call, Call)]
    assert sorted(repeated) == sorted(calls), "no callback ran twice"
    for peer in link.peers.values():
        first: dict[str, Send] = {}
        for send in peer.sent():
            known = first.setdefault(send.envelope.message_id, send)
            assert send.is_repeat == (send is not known), "only what was sent before is a repeat"
            assert send.envelope.payload == known.envelope.payload, "a repeat says the same"


def test_a_lost_message_is_asked_for_again_by_the_peer_that_repeats_itself() -> None:
    link = open_link()
    link.tell_all(new_round())
    link.deliver(PLAYER1)
    link.deliver(PLAYER2)
    warmup = link.mail[REFEREE][0]
    link.deliver(REFEREE)
    link.deliver(REFEREE)
    link.mail[PLAYER1].clear()  # the round start is lost
    link.tell(REFEREE, again(warmup, "a new id"))
    assert [each.message_type for each in link.mail[PLAYER1]] == [MessageType.Q21ROUNDSTART]
    link.run()
    assert reports(link)[0].status is ReportStatus.COMPLETED


# Failing agents, timeouts, aborts.


@pytest.mark.parametrize(
    ("callback", "status"),
    [
        ("get_warmup_question", ReportStatus.COMPLETED),
        ("get_round_start_info", ReportStatus.ABORTED),
        ("get_answers", ReportStatus.COMPLETED),
        ("get_score_feedback", ReportStatus.COMPLETED),
        ("get_warmup_answer", ReportStatus.COMPLETED),
        ("get_questions", ReportStatus.COMPLETED),
        ("get_guess", ReportStatus.COMPLETED),
        ("on_score_received", ReportStatus.COMPLETED),
    ],
)
@pytest.mark.parametrize(
    "reply",
    [Failure.RAISED, Failure.TIMED_OUT, Failure.NOT_A_DICT, {}, {"questions": 7, "answers": [None], "answer": None}],
    ids=["raises", "hangs", "no dict", "empty", "rubbish"],
)
def test_a_failing_callback_never_stops_the_league(callback: str, status: ReportStatus, reply: Any) -> None:
    def agent(name: str, context: Mapping[str, Any]) -> Any:
        return reply if name == callback else obliging(name, context)

    link = open_link(agent=agent)
    link.tell_all(new_round())
    link.run()
    (report,) = reports(link)
    assert report.status is status
    if status is ReportStatus.ABORTED:
        assert report.abort_reason == "referee_failure:round_start_info"
    everything_can_be_written(link)


def test_a_silent_player_ends_the_match_with_its_name() -> None:
    link = open_link()
    link.tell_all(new_round())
    link.mail[PLAYER2].clear()
    link.run()
    link.pass_time(timedelta(seconds=60))
    link.mail[PLAYER2].clear()  # the repeated warm-up call does not get there either
    link.pass_time(timedelta(seconds=90))
    (report,) = reports(link)
    assert report.abort_reason == f"player_timeout:{PLAYER2}"
    record = link.peers[REFEREE].records()[0]
    assert (record.termination, record.facts["caused_by"]) == (Termination.PLAYER_TIMEOUT, "otters")
    everything_can_be_written(link)


def test_the_repeated_warmup_call_saves_a_player_that_missed_the_first() -> None:
    link = open_link()
    link.tell_all(new_round())
    link.mail[PLAYER2].clear()
    link.run()
    link.pass_time(timedelta(seconds=60))
    link.run()
    assert reports(link)[0].status is ReportStatus.COMPLETED
    calls = [send for send in link.peers[REFEREE].sent(MessageType.Q21WARMUPCALL) if send.to == (PLAYER2,)]
    assert [send.is_repeat for send in calls] == [False, True]
    assert calls[0].envelope == calls[1].envelope


def test_a_player_repeats_its_guess_until_the_score_comes() -> None:
    link = open_link()
    link.tell_all(new_round())
    link.answers_at_once = False
    for _ in range(200):  # play until the referee scores, then let it think
        for email in link.peers:
            link.deliver(email)
            calls = link.peers[email].calls
            if calls and calls[0].callback != "get_score_feedback":
                link.answer(email, calls.popleft())
    guesses = link.peers[PLAYER1].sent(MessageType.Q21GUESSSUBMISSION)
    assert len(guesses) == 1
    link.pass_time(timedelta(seconds=46))
    guesses = link.peers[PLAYER1].sent(MessageType.Q21GUESSSUBMISSION)
    assert [send.is_repeat for send in guesses] == [False, True, True, True]
    assert all(send.envelope == guesses[0].envelope for send in guesses), "the same message, the same id"
    link.answers_at_once = True
    for email in link.peers:
        link.answer_calls(email)
    link.run()
    assert reports(link)[0].status is ReportStatus.COMPLETED
    before = len(link.peers[PLAYER1].sent(MessageType.Q21GUESSSUBMISSION))
    link.pass_time(timedelta(hours=1))
    assert len(link.peers[PLAYER1].sent(MessageType.Q21GUESSSUBMISSION)) == before


@pytest.mark.parametrize(
    ("ending", "abort_reason", "player_reason"),
    [
        (new_round(3), "new_round_started", "NEW_ROUND_STARTED"),
        (end_round(2), "end_round_received", "END_ROUND_RECEIVED"),
        (league_completed(), "league_completed", "LEAGUE_COMPLETED"),
    ],
)
@pytest.mark.parametrize("deliveries", range(14))
def test_an_ending_at_any_point_gives_one_report_of_each(
    deliveries: int, ending: Any, abort_reason: str, player_reason: str
) -> None:
    link = open_link()
    link.tell_all(new_round())
    order = [PLAYER1, REFEREE, PLAYER2, REFEREE] * 10
    done = 0
    while done < deliveries and order:
        done += link.deliver(order.pop(0)) is not None
    link.tell_all(ending)
    link.run()
    link.pass_time(timedelta(hours=2))
    (report,) = reports(link)
    assert report.abort_reason == (abort_reason if report.status is ReportStatus.ABORTED else None)
    for email in (PLAYER1, PLAYER2):
        own = [
            each.payload
            for each in link.to_manager
            if isinstance(each.payload, PlayerReport) and each.sender.email == email
        ]
        assert len(own) == 1
        assert own[0].reason in ("GAME_COMPLETED", player_reason)
    everything_can_be_written(link)


def test_a_pause_costs_nobody_any_time() -> None:
    link = open_link()
    link.tell_all(new_round())
    link.deliver(PLAYER1)
    link.pass_time(timedelta(seconds=50))
    link.tell_all(pause())
    link.deliver(REFEREE)
    link.deliver(PLAYER2)
    link.pass_time(timedelta(hours=5))
    assert reports(link) == []
    assert link.peers[PLAYER2].sent(MessageType.Q21WARMUPRESPONSE) == []
    assert link.peers[REFEREE].deadlines == {}
    link.tell_all(resume())
    link.run()
    assert reports(link)[0].status is ReportStatus.COMPLETED
