"""What a guess was worth, in feedback and in reports (protocol 4.4.7)."""

from __future__ import annotations

from typing import ClassVar

from league_agents.games.q21.model import (
    COMPONENTS,
    MOST_POINTS,
    Breakdown,
    Feedback,
    Scorecard,
)
from league_agents.league.wire.declare import (
    MATCH_ID,
    DerivedKey,
    message,
    why_out_of_range,
)
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.payload import LeagueMessage, Payload
from league_agents.league.wire.reading import (
    Fields,
    broken,
    first_of,
    integer_of,
    number_of,
    object_of,
    text_of,
)

BEST_SCORE = 100.0


def read_breakdown(value: object) -> Breakdown | None:
    """The four component scores, or ``None`` unless all are there."""
    fields = object_of(value)
    if not fields:
        return None
    scores = {key: number_of(fields.get(key), 0.0, BEST_SCORE) for key in COMPONENTS}
    found = {key: score for key, score in scores.items() if score is not None}
    return Breakdown(**found) if len(found) == len(scores) else None


def write_breakdown(breakdown: Breakdown) -> dict[str, object]:
    """The four component scores."""
    return {key: getattr(breakdown, key) for key in COMPONENTS}


def breakdown_refusal(breakdown: Breakdown | None) -> str | None:
    """Why these component scores must not be sent; ``None`` if they may be."""
    if breakdown is None:
        return None
    whys = (why_out_of_range(key, getattr(breakdown, key), 0.0, BEST_SCORE) for key in COMPONENTS)
    return next((why for why in whys if why is not None), None)


def read_feedback(value: object) -> Feedback | None:
    """Both texts; ``None`` when neither is there."""
    fields = object_of(value)
    if fields is None:
        return None
    sentence, word = text_of(fields.get("opening_sentence")), text_of(fields.get("associative_word"))
    if sentence is None and word is None:
        return None
    return Feedback(opening_sentence=sentence or "", associative_word=word or "")


def write_feedback(feedback: Feedback | None) -> dict[str, object] | None:
    """Both texts, or ``None``."""
    if feedback is None:
        return None
    return {"opening_sentence": feedback.opening_sentence, "associative_word": feedback.associative_word}


def points_refusal(league_points: int, private_score: float) -> str | None:
    """Why a score must not be sent (protocol 4.4.7); ``None`` if it may be."""
    return why_out_of_range("league_points", league_points, 0, MOST_POINTS) or why_out_of_range(
        "private_score", private_score, 0.0, BEST_SCORE
    )


def _read_score_feedback(fields: Fields, _: Role | None) -> Payload:
    stated_points = fields.get("league_points")
    points = 0 if stated_points is None else integer_of(stated_points, 0, MOST_POINTS)
    if points is None:
        return broken("league_points", f"a whole number from 0 to {MOST_POINTS}", stated_points)
    stated_score = first_of(fields, "private_score", "total_score")
    score = 0.0 if stated_score is None else number_of(stated_score, 0.0, BEST_SCORE)
    if score is None:
        return broken("private_score", f"a number from 0 to {BEST_SCORE:g}", stated_score)
    feedback = read_feedback(fields.get("feedback")) or read_feedback(
        {
            "opening_sentence": fields.get("opening_sentence_feedback"),
            "associative_word": fields.get("word_feedback"),
        }
    )
    return ScoreFeedback(
        scorecard=Scorecard(
            league_points=points,
            private_score=score,
            # The older Q21_GUESS_RESULT has the four scores flat (protocol 4.6).
            breakdown=read_breakdown(fields.get("breakdown")) or read_breakdown(fields),
            feedback=feedback,
        )
    )


@message(MessageType.Q21SCOREFEEDBACK, MessageType.Q21_GUESS_RESULT, read=_read_score_feedback, id_word="score")
class ScoreFeedback(LeagueMessage, frozen=True, kw_only=True):
    """What a player's guess was worth: terminal, even when it arrives as ``BrokenPayload``."""

    scorecard: Scorecard
    """``league_points`` is 0 when a received message does not state them."""

    match_id: ClassVar = MATCH_ID
    league_points: ClassVar = DerivedKey(of=lambda told, _: told.scorecard.league_points)
    private_score: ClassVar = DerivedKey(of=lambda told, _: told.scorecard.private_score)
    breakdown: ClassVar = DerivedKey(
        of=lambda told, _: {} if told.scorecard.breakdown is None else write_breakdown(told.scorecard.breakdown)
    )
    feedback: ClassVar = DerivedKey(of=lambda told, _: write_feedback(told.scorecard.feedback))

    def refusal(self) -> str | None:
        card = self.scorecard
        return points_refusal(card.league_points, card.private_score) or breakdown_refusal(card.breakdown)
