"""The visible parts of a Q21 match around a table: the events of each step, and one player's game.

Rule: values are shared because they are immutable. A caller that shows a scorecard or a target must make sure that the
viewer may see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from league_agents.games.game import ALL, HOST, Event
from league_agents.games.q21.as_json import (
    answers_as_json,
    breakdown_as_json,
    brief_as_json,
    feedback_as_json,
    guess_as_json,
    question_as_json,
)
from league_agents.games.q21.flow import winner_of
from league_agents.games.q21.model import AnswerBatch, Guess, QuestionBatch, Scorecard, Target
from league_agents.games.q21.seats import TableMatch, TablePhase, TablePlayer
from league_agents.games.q21.telling import said
from league_agents.kit.frozen import FrozenDict, FrozenList, frozen


def events_between(before: TableMatch, after: TableMatch) -> Iterator[Event]:
    """Yield the events of a step. Submissions of a sealed phase are published when it closes, in seat order, so that
    nobody sees who was first (arena 6)."""
    phase, lang = before.phase, after.lang
    if after.brief is not None and phase is TablePhase.BRIEF:
        brief = brief_as_json(after.brief)
        text = said(lang, "told", book=brief["book_name"], hint=brief["book_hint"], domain=brief["association_word"])
        yield Event(kind="brief", visible_to=ALL, text=text, data=brief)
        yield Event(kind="target", visible_to=HOST, text=said(lang, "target"), data=target_seen(after.target) or {})
    if phase is TablePhase.ANSWERS:
        for was, seat in zip(before.seats, after.seats, strict=True):
            if seat.answers is not was.answers:
                yield _part_event(after, seat, "answers", "answered", (after.referee, seat.agent_id))
    if after.phase is phase:
        return
    for seat in after.seats:
        if is_out_since(seat, phase):
            text = said(lang, "out", player=after.called(seat.agent_id), cause=seat.forfeit)
            data = {"player_id": seat.agent_id, "cause": seat.forfeit}
            yield Event(kind="forfeit", visible_to=ALL, text=text, data=data)
    if phase is TablePhase.QUESTIONS:
        for seat in after.seats:
            if seat.questions:
                yield _part_event(after, seat, "questions", "asked", (after.referee, seat.agent_id))
    if after.phase is TablePhase.OVER:
        for seat in after.seats:
            if seat.guess is not None:
                yield _guess_event(after, seat.agent_id, seat.guess)
    yield phase_event(after)
    if after.phase is TablePhase.OVER:
        yield _result_event(after)


def _part_event(state: TableMatch, seat: TablePlayer, part: str, line: str, visible_to: tuple[str, ...]) -> Event:
    text = said(state.lang, line, player=state.called(seat.agent_id))
    data = {"player_id": seat.agent_id, part: game_seen(state, seat)[part]}
    return Event(kind=part, visible_to=visible_to, text=text, data=data)


def _result_event(state: TableMatch) -> Event:
    """Return the result of the match in full, visible to everybody."""
    place, target, cards = winner_of(state), target_seen(state.target), cards_of(state)
    won = None if place is None else state.players[place]
    text = said(state.lang, "nobody_wins") if won is None else said(state.lang, "wins", player=state.called(won))
    if target is not None:
        text += said(state.lang, "solution", sentence=target["opening_sentence"], word=target["associative_word"])
    scores = {player: _card(card) for player, card in cards.items()} or None
    data = {"target": target, "scores": frozen(scores), "winner": won, "reason": state.reason}
    return Event(kind="result", visible_to=ALL, text=text, data=data)


def is_out_since(seat: TablePlayer, phase: TablePhase) -> bool:
    """Whether a player went out in this phase; this is announced only when the phase closes."""
    return seat.forfeit is not None and (not seat.questions) == (phase is TablePhase.QUESTIONS)


def phase_event(state: TableMatch) -> Event:
    """Return the event that a phase begins."""
    phase = str(state.phase)
    return Event(kind="phase", visible_to=ALL, text=said(state.lang, phase), data={"phase": phase})


def _guess_event(state: TableMatch, player: str, guess: Guess) -> Event:
    """Return a player's guess, visible to everybody because the match is over."""
    text = said(
        state.lang,
        "guessed",
        player=state.called(player),
        sentence=guess.opening_sentence,
        word=guess.associative_word,
    )
    return Event(kind="guess", visible_to=ALL, text=text, data={"player_id": player, "guess": _guess(guess)})


def cards_of(state: TableMatch) -> dict[str, Scorecard]:
    """Return the players' scorecards at the end; empty for a match without a brief."""
    if state.brief is None:
        return {}
    return {seat.agent_id: seat.scorecard for seat in state.seats if seat.scorecard is not None}


def target_seen(target: Target | None) -> dict[str, str] | None:
    """Return the target as a dict, without the book, which is in the brief."""
    if target is None:
        return None
    return {"opening_sentence": target.opening_sentence, "associative_word": target.associative_word}


@lru_cache(maxsize=64)
def _questions(batch: QuestionBatch) -> FrozenList:
    return FrozenList([frozen(question_as_json(question)) for question in batch])


@lru_cache(maxsize=64)
def _answers(batch: AnswerBatch) -> FrozenList:
    return FrozenList([frozen(answer) for answer in answers_as_json(batch)])


@lru_cache(maxsize=64)
def _guess(guess: Guess) -> FrozenDict:
    told = guess_as_json(guess)
    if guess.confidence is None:
        del told["confidence"]
    return FrozenDict(told)


def game_seen(state: TableMatch, seat: TablePlayer) -> dict[str, Any]:
    """Return one player's game for a viewer who may see it."""
    card = seat.scorecard if state.phase is TablePhase.OVER and state.brief is not None else None
    return {
        "player_id": seat.agent_id,
        "questions": _questions(seat.questions) if seat.questions else None,
        "answers": _answers(seat.answers) if seat.answers else None,
        "guess": None if seat.guess is None else _guess(seat.guess),
        "scorecard": None if card is None else frozen(_card(card)),
    }


def _card(card: Scorecard) -> dict[str, Any]:
    breakdown, feedback = card.breakdown, card.feedback
    return {
        "league_points": card.league_points,
        "private_score": card.private_score,
        "breakdown": None if breakdown is None else breakdown_as_json(breakdown),
        "feedback": None if feedback is None else feedback_as_json(feedback),
    }
