"""The tables are the machines: every row can happen, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from league_agents.games.q21.flow import PLAYED, SeatPhase
from league_agents.games.q21.model import Answer, Brief, Choice, Guess, Question, Scorecard, Termination
from league_agents.kit.violation import Violation
from league_agents.league.machines.effects import Call
from league_agents.league.machines.events import CallbackReturned, DeadlinePassed, Event, Failure, MessageArrived
from league_agents.league.machines.participant.league_state import League
from league_agents.league.machines.participant.participant import LEAGUE
from league_agents.league.machines.player.game_play import game_transitions
from league_agents.league.machines.player.game_state import GamePhase, LeagueGame, OpenRequest, SentReply
from league_agents.league.machines.player.player import PlayerState
from league_agents.league.machines.player.player import transition_table as player_table
from league_agents.league.machines.referee.match_play import TIMERS, match_transitions
from league_agents.league.machines.referee.match_state import Abort, AwaitedCall, MatchPlayer, OpenMatch, Sent, Unusable
from league_agents.league.machines.referee.referee import PLAYER_TYPES, RefereeState
from league_agents.league.machines.referee.referee import transition_table as referee_table
from league_agents.league.machines.reports import player_states
from league_agents.league.machines.turn import Timer
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, protocol_of
from league_agents.league.wire.messages import (
    AnswersBatch,
    AssignmentRole,
    BrokenPayload,
    GuessCall,
    GuessSubmission,
    Hints,
    Payload,
    QuestionsBatch,
    QuestionsCall,
    RoundStart,
    ScoreFeedback,
    WarmupCall,
    WarmupResponse,
)
from tests.support.link import (
    GAME,
    PLAYER1,
    PLAYER2,
    REFEREE,
    SEASON,
    START,
    end_round,
    failed,
    from_manager,
    league_completed,
    new_round,
    obliging,
    player,
    referee,
)
from tests.support.link import (
    LEAGUE as LEAGUE_ID,
)

Row = tuple[str, str, str]
"""(phase, event, next phase)."""

QUESTION = Question(number=1, text="Is it so?", options=("A", "B", "C", "D"))
GUESS = Guess(
    opening_sentence="It", sentence_justification="", associative_word="x", word_justification="", confidence=None
)
CARD = Scorecard(league_points=1, private_score=50.0, breakdown=None, feedback=None)
BRIEF = Brief(book_name="b", book_hint="a hint of ten", association_domain="d")
BROKEN = BrokenPayload(violations=(Violation(path="x", rule="y", found="z"),))


def rows_of(transitions: Any) -> set[Row]:
    return {(str(row.phase), str(row.event), str(each)) for row in transitions for each in row.next}


# The referee: a match is put into every phase, and everything that can happen happens to it.

CALLBACK_OF = {
    SeatPhase.IDLE: ("get_warmup_question", None),
    SeatPhase.WARMED_UP: ("get_round_start_info", None),
    SeatPhase.QUESTIONED: ("get_answers", AssignmentRole.PLAYER1),
    SeatPhase.GUESSED: ("get_score_feedback", AssignmentRole.PLAYER1),
}
MESSAGES: dict[MessageType, Payload] = {
    MessageType.Q21WARMUPRESPONSE: WarmupResponse(answer="1"),
    MessageType.Q21QUESTIONSBATCH: QuestionsBatch(questions=(QUESTION,)),
    MessageType.Q21GUESSSUBMISSION: GuessSubmission(guess=GUESS),
}
AWAITED = {
    SeatPhase.WARMUP_SENT: MessageType.Q21WARMUPRESPONSE,
    SeatPhase.STARTED: MessageType.Q21QUESTIONSBATCH,
    SeatPhase.ANSWERED: MessageType.Q21GUESSSUBMISSION,
}


def match_at(phase: SeatPhase, other: SeatPhase, *, attempt: int = 1, unusable: int = 0) -> OpenMatch:
    def seat(role: AssignmentRole, email: str, at: SeatPhase) -> MatchPlayer:
        kinds = [MessageType.Q21WARMUPCALL, MessageType.Q21ROUNDSTART, MessageType.Q21ANSWERSBATCH]
        return MatchPlayer(
            role=role,
            email=email,
            participant_id=role.value,
            phase=at,
            questions=(QUESTION,),
            answers=(Answer(number=1, choice=Choice.A),),
            guess=GUESS,
            scorecard=CARD,
            sent=tuple(Sent(kind=kind, at=START, deadline=START) for kind in kinds),
            unusable=tuple(Unusable(kind=kind, message_id=str(i)) for kind in MESSAGES for i in range(unusable)),
        )

    callback, role = CALLBACK_OF.get(phase, ("", None))
    call = AwaitedCall(call_id=f"{GAME}:t:x", callback=callback, role=role, attempt=attempt)
    timers = [Timer(name=f"wait:{GAME}:player1", at=START + timedelta(minutes=1))] if phase in AWAITED else []
    if phase is SeatPhase.WARMUP_SENT:
        timers.append(Timer(name=f"repeat:{GAME}:player1", at=START + timedelta(minutes=1)))
    return OpenMatch(
        game_id=GAME,
        token="t",
        round_number=2,
        round_id=None,
        season_id=SEASON,
        league_id=LEAGUE_ID,
        player1=seat(AssignmentRole.PLAYER1, PLAYER1, phase),
        player2=seat(AssignmentRole.PLAYER2, PLAYER2, other),
        opened_at=START,
        warmup_question="How?",
        brief=BRIEF,
        calls=(call,) if callback else (),
        timers=tuple(timers),
    )


def with_abort(match: OpenMatch) -> OpenMatch:
    abort = Abort(
        termination=Termination.END_ROUND_RECEIVED,
        reason="end_round_received",
        culprits=(),
        player_states=player_states(match),
    )
    timer = Timer(name=f"closing:{GAME}", at=START + timedelta(minutes=1))
    return replace(match, abort=abort, timers=(timer,))


def player_says(kind: MessageType, payload: Payload, sender: str = PLAYER1) -> Event:
    envelope = Envelope(
        protocol=protocol_of(kind),
        message_type=kind,
        message_id="new",
        timestamp=START,
        sender=Sender(email=sender, role=None),
        recipient_id="",
        payload=payload,
        game_id=GAME,
    )
    return MessageArrived(envelope=envelope, mail_id="m", arrived_at=START)


def results(callback: str, call_id: str) -> Iterator[Event]:
    dynamic = {"questions": [{"question_number": 1}], "player_email": PLAYER1}
    good = obliging(callback, {"dynamic": dynamic})
    assert not isinstance(good, Failure)
    yield CallbackReturned(call_id=call_id, result=good)
    yield failed(Call(call_id=call_id, callback=callback, context={}, timeout=timedelta(seconds=1), game_id=GAME))


def referee_happenings(match: OpenMatch) -> Iterator[tuple[str, Event]]:
    for kind, payload in MESSAGES.items():
        yield kind.value, player_says(kind, payload)
        is_awaited = AWAITED.get(match.player1.phase) is kind
        yield f"{kind.value}, unusable" if is_awaited else kind.value, player_says(kind, BROKEN)
    for call in match.calls:
        for event in results(call.callback, call.call_id):
            yield call.callback, event
    for timer in match.timers:
        yield timer.name.partition(":")[0], DeadlinePassed(name=timer.name)


def test_the_rows_of_a_match_are_what_can_happen_to_a_player() -> None:
    seen: set[Row] = set()
    matches = [
        match_at(phase, phase if phase in (SeatPhase.IDLE, SeatPhase.WARMED_UP) else other, attempt=attempt, unusable=n)
        for phase in PLAYED
        for other in (SeatPhase.STARTED, SeatPhase.SCORED)
        for attempt in (1, 2)
        for n in (0, 2)
    ]
    pending = match_at(SeatPhase.GUESSED, SeatPhase.SCORED)
    for match in [*matches, with_abort(pending)]:
        if all(seat.phase is SeatPhase.SCORED for seat in match.seats):
            continue  # such a match is closed
        state = RefereeState(league=League(), matches={GAME: match})
        for event_name, event in referee_happenings(match):
            now = START + timedelta(minutes=2) if isinstance(event, DeadlinePassed) else START
            after, effects = referee().step(state, event, now)
            closed = GAME not in after.matches
            following = "closed" if closed else after.matches[GAME].player1.phase
            if after is state and not any(type(each).__name__ != "Warn" for each in effects):
                is_early = [getattr(each, "code", "") for each in effects] in (["early_message"], ["closed_game"])
                if is_early:
                    continue
            seen.add((match.player1.phase, event_name, following))
    assert seen == rows_of(match_transitions())


def test_the_only_messages_of_players_are_those_of_the_table() -> None:
    assert set(MESSAGES) == PLAYER_TYPES
    assert {rule.event for rule in TIMERS.rules} == {"wait", "repeat", "closing"}


# The player.

REQUESTS: dict[MessageType, Payload] = {
    MessageType.Q21WARMUPCALL: WarmupCall(warmup_question="?", deadline=None),
    MessageType.Q21ROUNDSTART: RoundStart(brief=BRIEF, deadline=None),
    MessageType.Q21_QUESTIONS_CALL: QuestionsCall(deadline=None),
    MessageType.Q21ANSWERSBATCH: AnswersBatch(answers=(), deadline=None),
    MessageType.Q21_GUESS_CALL: GuessCall(deadline=None),
    MessageType.Q21_HINTS: Hints(book_hint="h", association_domain=None),
    MessageType.Q21SCOREFEEDBACK: ScoreFeedback(scorecard=CARD),
    MessageType.Q21_GUESS_RESULT: ScoreFeedback(scorecard=CARD),
}
REPLIES = {
    "get_warmup_answer": MessageType.Q21WARMUPRESPONSE,
    "get_questions": MessageType.Q21QUESTIONSBATCH,
    "get_guess": MessageType.Q21GUESSSUBMISSION,
    "on_score_received": None,
}
ENDINGS = {
    "BROADCAST_NEW_LEAGUE_ROUND of another round": new_round(3),
    "BROADCAST_END_LEAGUE_ROUND of this round": end_round(2),
    "LEAGUE_COMPLETED or BROADCAST_END_SEASON": league_completed(),
}


def game_at(phase: GamePhase, *, is_fresh: bool) -> LeagueGame:
    asked = [
        OpenRequest(
            call_id=f"{GAME}:t:{callback}",
            callback=callback,
            reply=reply,
            message_id="m",
            reply_to=REFEREE,
            recipient_id="",
            auth_token=None,
            deadline=None,
        )
        for callback, reply in REPLIES.items()
        if (reply is None) == (phase is GamePhase.COMPLETED)
    ]
    said = [
        SentReply(
            kind=reply, at=START, auth_token=None, recipient_id="", deadline=None, reply_to=REFEREE, correlation_id=""
        )
        for reply in REPLIES.values()
        if reply is not None
    ]
    return LeagueGame(
        game_id=GAME,
        token="t",
        season_id=SEASON,
        league_id=LEAGUE_ID,
        round_number=2,
        own_role=AssignmentRole.PLAYER1,
        own_group="falcons",
        referee_email=REFEREE,
        opponent_email=PLAYER2,
        opened_at=START,
        phase=phase,
        brief=BRIEF,
        last_received="Q21WARMUPCALL",
        asked=() if is_fresh or phase is GamePhase.TERMINATED else tuple(asked),
        said=() if is_fresh else tuple(said),
        timers=(Timer(name=f"resend:{GAME}:", at=START),) if phase is GamePhase.GUESS_SUBMITTED else (),
    )


def player_happenings(game: LeagueGame) -> Iterator[tuple[str, Event]]:
    for kind, payload in REQUESTS.items():
        yield kind.value, player_says(kind, payload, REFEREE)
    for asked in game.asked:
        for event in results(asked.callback, asked.call_id):
            yield asked.callback, event
    for timer in game.timers:
        yield timer.name.partition(":")[0], DeadlinePassed(name=timer.name)
    for name, envelope in ENDINGS.items():
        yield name, MessageArrived(envelope=envelope, mail_id="m", arrived_at=START)


def test_the_rows_of_a_game_are_what_can_happen_to_it() -> None:
    seen: set[Row] = set()
    for phase in GamePhase:
        for is_fresh in (True, False):
            game = game_at(phase, is_fresh=is_fresh)
            state = PlayerState(league=League(rounds=(2,), season_id=SEASON), games={GAME: game})
            for event_name, event in player_happenings(game):
                after, effects = player().step(state, event, START)
                if after is state:
                    continue
                reports = [each for each in effects if getattr(each, "kind", "") == "game"]
                gone = GAME not in after.games
                if gone and not reports:
                    continue  # a closed game is forgotten
                following = GamePhase.TERMINATED if gone else after.games[GAME].phase
                if event_name in ENDINGS and not reports:
                    continue
                seen.add((phase, event_name, following))
    rows = rows_of(game_transitions())
    # A stored reply that is not there is no transition; everything else in the table was seen, and nothing more.
    assert seen <= rows
    assert {row for row in rows - seen if row[1] != "Q21_GUESS_CALL"} == set()


# The league level.


def test_every_message_of_the_league_manager_has_one_row_or_none() -> None:
    events = [str(rule.event) for rule in LEAGUE.rules]
    assert len(events) == len(set(events))
    for kind in MessageType:
        envelope = from_manager(kind, BROKEN)
        event = MessageArrived(envelope=envelope, mail_id="m", arrived_at=START)
        machine = referee()
        after, effects = machine.step(machine.initial(), event, START)
        codes = [getattr(each, "code", "") for each in effects]
        if kind.value in events:
            assert "unexpected_type" not in codes
        elif kind not in PLAYER_TYPES:
            assert codes == ["unexpected_type"]
            assert after == machine.initial()


def test_the_documentation_of_both_roles_begins_with_the_level_that_they_share() -> None:
    shared = list(LEAGUE.transitions())
    for rows in (referee_table(), player_table()):
        assert rows[: len(shared)] == shared
        assert all(row.effects and row.next and row.machine for row in rows)
        keys = [(row.machine, row.phase, row.event) for row in rows]
        assert len(keys) == len(set(keys))
