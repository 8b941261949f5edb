"""The flow of a match: what happens goes in, what is wanted comes out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from league_agents.games.q21 import flow
from league_agents.games.q21.as_json import answers_as_json
from league_agents.games.q21.callbacks import CONTRACTS, Known, Noted, end_of_call
from league_agents.games.q21.flow import (
    CALLBACKS,
    PLAYED,
    SUBMISSIONS,
    Ask,
    Decided,
    Gave,
    Happened,
    Opened,
    Over,
    PlayerLeft,
    PlayerRun,
    RefereedMatch,
    SeatPhase,
    Stop,
    Stopped,
    Submitted,
    Tell,
    Telling,
    refereeing,
    winner_of,
    with_run,
)
from league_agents.games.q21.model import UNSCORED, Answer, Brief, Choice, Guess, Question, Scorecard, Termination
from league_agents.games.q21.rules import PRD
from league_agents.kit.values import evolve

QUESTIONS = tuple(Question(number=n, text=f"Is it {n}?", options=("a", "b", "c", "d")) for n in range(1, 21))
ANSWERS = tuple(Answer(number=n, choice=Choice.B) for n in range(1, 21))
SILENCE = tuple(Answer(number=n, choice=Choice.NOT_RELEVANT) for n in range(1, 21))
GUESS = Guess(
    opening_sentence="Call me Ishmael.",
    sentence_justification="",
    associative_word="whale",
    word_justification="",
    confidence=None,
)
BRIEF = Brief(book_name="Moby-Dick", book_hint="Somebody goes to sea", association_domain="animal")
INFO = {"book_name": "Moby-Dick", "book_hint": "Somebody goes to sea", "association_word": "animal"}
SCORE = {"league_points": 2, "private_score": 70.0, "breakdown": {}, "feedback": {}}
CARD = Scorecard(league_points=2, private_score=70.0, breakdown=None, feedback=None)

WARMUP = Ask(callback="get_warmup_question")
START = Ask(callback="get_round_start_info")


def ask(callback: str, place: int, attempt: int = 1) -> Ask:
    return Ask(callback=callback, place=place, attempt=attempt)


def said(place: int, content: Any) -> Submitted:
    return Submitted(place=place, content=content)


def gave(wanted: Ask, result: object) -> Gave:
    return Gave(ask=wanted, result=result)


def tell(place: int, what: Telling) -> Tell:
    return Tell(place=place, what=what)


def run_at(phase: SeatPhase) -> PlayerRun:
    return PlayerRun(phase=phase, questions=QUESTIONS, answers=ANSWERS, guess=GUESS)


def match_at(one: SeatPhase, two: SeatPhase | None = None) -> RefereedMatch:
    return RefereedMatch(player1=run_at(one), player2=run_at(one if two is None else two), brief=BRIEF)


def wanted_of(match: RefereedMatch, *happened: Happened) -> tuple[RefereedMatch, list[list[Any]]]:
    wanted = []
    for each in happened:
        match, more = refereeing(match, each, PRD)
        wanted.append([one for one in more if not isinstance(one, Noted)])
    return match, wanted


def test_a_whole_match_wants_each_thing_once_and_in_order() -> None:
    given = {"answers": answers_as_json(ANSWERS)}
    ended, wanted = wanted_of(
        RefereedMatch(player1=PlayerRun(), player2=PlayerRun()),
        Opened(),
        gave(WARMUP, {"warmup_question": "How much is 2 and 2?"}),
        said(1, "4"),
        said(0, "four"),
        gave(START, INFO),
        said(0, QUESTIONS),
        gave(ask("get_answers", 0), given),
        said(1, QUESTIONS),
        said(0, GUESS),
        gave(ask("get_score_feedback", 0), SCORE),
        gave(ask("get_answers", 1), given),
        said(1, GUESS),
        gave(ask("get_score_feedback", 1), {**SCORE, "league_points": 3}),
    )
    assert wanted == [
        [WARMUP],
        [tell(0, Telling.WARMUP), tell(1, Telling.WARMUP)],
        [],  # the start of the round waits for both
        [START],
        [tell(0, Telling.BRIEF), tell(1, Telling.BRIEF)],
        [ask("get_answers", 0)],
        [tell(0, Telling.ANSWERS)],
        [ask("get_answers", 1)],
        [ask("get_score_feedback", 0)],
        [tell(0, Telling.SCORECARD)],
        [tell(1, Telling.ANSWERS)],
        [ask("get_score_feedback", 1)],
        [tell(1, Telling.SCORECARD), Over(termination=Termination.COMPLETED)],
    ]
    assert (ended.warmup_question, ended.brief) == ("How much is 2 and 2?", BRIEF)
    assert ended.player1 == PlayerRun(
        phase=SeatPhase.SCORED,
        warmup_answer="four",
        questions=QUESTIONS,
        answers=ANSWERS,
        guess=GUESS,
        scorecard=CARD,
    )
    assert winner_of(ended) == 1


def test_without_a_warm_up_the_round_starts_at_once() -> None:
    assert wanted_of(match_at(SeatPhase.WARMED_UP), Opened())[1] == [[START]]


def test_a_player_who_is_alone_is_not_kept_waiting() -> None:
    match = match_at(SeatPhase.WARMUP_SENT, SeatPhase.ABSENT)
    ended, wanted = wanted_of(match, said(0, "4"), gave(START, INFO))
    assert wanted == [[START], [tell(0, Telling.BRIEF)]]
    assert ended.player2.phase is SeatPhase.ABSENT


FAILURES = [
    (SeatPhase.IDLE, "get_warmup_question", None, [tell(0, Telling.WARMUP), tell(1, Telling.WARMUP)]),
    (
        SeatPhase.WARMED_UP,
        "get_round_start_info",
        None,
        [Over(termination=Termination.REFEREE_FAILURE, callback="get_round_start_info")],
    ),
    (SeatPhase.QUESTIONED, "get_answers", 1, [tell(1, Telling.ANSWERS)]),
    (SeatPhase.GUESSED, "get_score_feedback", 1, [tell(1, Telling.SCORECARD)]),
]


@pytest.mark.parametrize("how", [{"result": {}}, {"failure": "timed_out: too slow"}])
@pytest.mark.parametrize(("phase", "callback", "place", "at_last"), FAILURES)
def test_what_cannot_be_used_is_called_for_once_more_then_replaced(
    phase: SeatPhase, callback: str, place: int | None, at_last: list[Any], how: dict[str, Any]
) -> None:
    match = match_at(phase, phase)
    if place is not None:
        match = with_run(match, 0, run_at(SeatPhase.STARTED))
    attempts = CONTRACTS[callback].attempts
    for attempt in range(1, attempts + 1):
        called = Ask(callback=callback, place=place, attempt=attempt)
        before = match
        match, wanted = refereeing(match, Gave(ask=called, **how), PRD)
        noted = wanted[0]
        assert isinstance(noted, Noted)
        assert noted.callback == callback
        assert how.get("failure", noted.failure) == noted.failure != ""
        if attempt < attempts:
            assert noted.then == "it is called once more"
            assert (match, wanted[1:]) == (before, [evolve(called, attempt=attempt + 1)])
        else:
            assert noted.then == CONTRACTS[callback].instead
            assert wanted[1:] == at_last
    replaced = match.player2
    assert callback != "get_answers" or replaced.answers == SILENCE
    assert callback != "get_score_feedback" or replaced.scorecard == UNSCORED


def test_a_repair_is_noted_and_the_result_is_used() -> None:
    match, wanted = refereeing(
        match_at(SeatPhase.QUESTIONED), gave(ask("get_answers", 0), {"answers": answers_as_json(ANSWERS[:19])}), PRD
    )
    noted, *rest = wanted
    assert isinstance(noted, Noted)
    assert (len(noted.repairs), noted.failure, noted.then) == (1, "", "")
    assert rest == [tell(0, Telling.ANSWERS)]
    assert match.player1.answers == (*ANSWERS[:19], SILENCE[19])


def test_what_was_decided_elsewhere_is_taken_as_it_is() -> None:
    match, wanted = wanted_of(
        match_at(SeatPhase.WARMED_UP),
        Decided(ask=START, value=(BRIEF, None)),
        said(0, QUESTIONS),
        Decided(ask=ask("get_answers", 0), value=ANSWERS),
    )
    assert wanted[0] == [tell(0, Telling.BRIEF), tell(1, Telling.BRIEF)]
    assert wanted[-1] == [tell(0, Telling.ANSWERS)]
    assert match.player1.answers is ANSWERS


def test_nobody_has_more_questions_answered_than_the_other() -> None:
    surplus = (*QUESTIONS, evolve(QUESTIONS[0], number=21), QUESTIONS[3])
    match, _ = wanted_of(match_at(SeatPhase.STARTED), said(0, surplus))
    assert match.player1.questions == QUESTIONS


CONTENTS = ("4", QUESTIONS, GUESS)


def test_what_nobody_waits_for_changes_nothing() -> None:
    rows = {(rule.phase, rule.event) for table in (SUBMISSIONS, CALLBACKS) for rule in table.rules}
    assert len(rows) == 7
    quiet = 0
    for phase in SeatPhase:
        match = match_at(phase, SeatPhase.ABSENT)
        happened: list[tuple[str, Happened]] = [
            *zip(("warm-up", "questions", "guess"), (said(0, content) for content in CONTENTS), strict=True),
            *((name, gave(Ask(callback=name, place=0), {})) for name in CONTRACTS),
        ]
        for event, each in happened:
            if (phase, event) not in rows:
                assert refereeing(match, each, PRD) == (match, [])
                quiet += 1
    assert quiet == len(SeatPhase) * (3 + len(CONTRACTS)) - 7


def stopped(termination: Termination = Termination.PLAYER_TIMEOUT) -> Stopped:
    return Stopped(stop=Stop(termination=termination))


@pytest.mark.parametrize("phase", [phase for phase in PLAYED if phase not in (SeatPhase.GUESSED, SeatPhase.SCORED)])
def test_a_match_that_is_stopped_is_over_and_nothing_goes_on(phase: SeatPhase) -> None:
    match, wanted = wanted_of(match_at(phase), stopped(), stopped(Termination.END_ROUND_RECEIVED))
    assert wanted == [[Over(termination=Termination.PLAYER_TIMEOUT)], []]
    for content in CONTENTS:
        assert refereeing(match, said(0, content), PRD) == (match, [])
    for callback in ("get_warmup_question", "get_round_start_info", "get_answers"):
        assert refereeing(match, gave(Ask(callback=callback), {}), PRD) == (match, [])


def test_a_guess_that_was_made_is_scored_before_a_stopped_match_is_over() -> None:
    scoring = ask("get_score_feedback", 0)
    match, wanted = wanted_of(match_at(SeatPhase.GUESSED, SeatPhase.STARTED), stopped(), gave(scoring, SCORE))
    assert wanted == [[], [tell(0, Telling.SCORECARD), Over(termination=Termination.PLAYER_TIMEOUT)]]
    assert (match.player1.scorecard, match.player2.phase) == (CARD, SeatPhase.STARTED)


def test_the_other_one_plays_on_when_a_player_leaves() -> None:
    match, wanted = wanted_of(
        match_at(SeatPhase.STARTED),
        PlayerLeft(place=0),
        PlayerLeft(place=0),
        said(0, QUESTIONS),
        said(1, QUESTIONS),
        Decided(ask=ask("get_answers", 1), value=ANSWERS),
        said(1, GUESS),
        Decided(ask=ask("get_score_feedback", 1), value=CARD),
    )
    assert wanted[:4] == [[], [], [], [ask("get_answers", 1)]]
    assert wanted[-1] == [tell(1, Telling.SCORECARD), Over(termination=Termination.COMPLETED)]
    assert match.player1.scorecard == UNSCORED
    assert winner_of(match) == 1


def test_the_round_starts_without_a_player_who_left_and_is_over_without_both() -> None:
    match = match_at(SeatPhase.WARMED_UP, SeatPhase.WARMUP_SENT)
    after, wanted = wanted_of(match, PlayerLeft(place=1), gave(START, INFO), PlayerLeft(place=0))
    assert wanted == [[START], [tell(0, Telling.BRIEF)], [Over(termination=Termination.COMPLETED)]]
    assert winner_of(after) is None


@pytest.mark.parametrize(
    ("points", "winner"),
    [((3, 1), 0), ((0, 1), 1), ((2, 2), None), ((None, None), None), ((1, "absent"), 0), ((0, "absent"), None)],
)
def test_the_winner_has_the_most_points(points: tuple[Any, Any], winner: int | None) -> None:
    def run(earned: Any) -> PlayerRun:
        if earned == "absent":
            return PlayerRun(phase=SeatPhase.ABSENT)
        card = None if earned is None else evolve(CARD, league_points=earned)
        return PlayerRun(phase=SeatPhase.SCORED, scorecard=card)

    assert winner_of(RefereedMatch(player1=run(points[0]), player2=run(points[1]))) == winner


@pytest.mark.parametrize("callback", CONTRACTS)
def test_a_player_always_has_something_to_say_and_a_referee_is_replaced(callback: str) -> None:
    known = Known(rules=PRD, questions=QUESTIONS, brief=BRIEF)
    for failure in ("raised: KeyError", None):
        end = end_of_call(callback, None, failure, known, attempt=2)
        assert not end.is_called_again
        assert (end.value is None) == (callback in ("get_round_start_info", "on_score_received"))
        if failure is not None:
            assert end.noted == Noted(callback=callback, failure=failure, then=CONTRACTS[callback].instead)


def test_the_flow_keeps_what_its_users_added() -> None:
    class Dated(RefereedMatch, frozen=True, kw_only=True):
        day: str

    match = Dated(player1=PlayerRun(), player2=PlayerRun(), day="today")
    after, _ = refereeing(match, gave(WARMUP, {"warmup_question": "Are you there?"}), PRD)
    assert after.day == "today"


def test_results_of_callbacks_are_read_in_one_place() -> None:
    package = Path(flow.__file__).parents[2]
    reading = re.compile(r"\bread_(warmup_question|round_start_info|scorecard|warmup_answer)\b")
    readers = {path.name for path in package.rglob("*.py") if reading.search(path.read_text(encoding="utf-8"))}
    assert readers == {"callbacks.py", "reading_player.py", "reading_referee.py"}
