"""The contexts of the referee's callbacks (protocol 6.1). JSON values only: this is the border to user code."""

from __future__ import annotations

from collections.abc import Mapping

from league_agents.games.q21.as_json import answers_as_json, brief_as_json, guess_as_json, question_as_json
from league_agents.games.q21.callbacks import CallbackSpec
from league_agents.games.q21.flow import Ask
from league_agents.games.q21.model import NO_BRIEF
from league_agents.league.machines.config import RefereeConfig
from league_agents.league.machines.referee.match_state import MatchPlayer, OpenMatch

Context = Mapping[str, object]


ABSENT_ANSWER = "ABSENT_MALFUNCTION"
"""The warm-up answer that callbacks see for an absent player (protocol 5.4)."""


def referee_context(config: RefereeConfig, spec: CallbackSpec, match: OpenMatch, ask: Ask) -> Context:
    """The context of any of the four callbacks. ``player_a`` is player 1."""
    one, two = match.seats
    if ask.callback == "get_warmup_question":
        return _context(
            config,
            spec,
            match,
            player_a_id=one.participant_id,
            player_a_email=one.email,
            player_b_id=two.participant_id,
            player_b_email=two.email,
        )
    if ask.callback == "get_round_start_info":
        return _context(config, spec, match, player_a=_player(one), player_b=_player(two))
    seat = match.seats[ask.place or 0]
    # Questions are passed in the normalised form.
    questions = [question_as_json(question) for question in seat.questions]
    known = {
        "player_id": seat.participant_id,
        "player_email": seat.email,
        **brief_as_json(match.brief or NO_BRIEF),
        **_target(config, match),
        "questions": questions,
    }
    if ask.callback == "get_answers":
        return _context(config, spec, match, **known)
    # Include questions and answers: justifications cite them, and a referee whose process was restarted has no memory
    # of them.
    return _context(
        config, spec, match, **known, answers=answers_as_json(seat.answers), player_guess=guess_as_json(seat.guess)
    )


def _context(config: RefereeConfig, spec: CallbackSpec, match: OpenMatch, **more: object) -> Context:
    dynamic: dict[str, object] = {
        "season_id": match.season_id,
        "league_id": match.league_id,
        "game_id": match.game_id,
        "match_id": match.game_id,
        "referee_id": config.identity.participant_id,
        "round_number": match.round_number,
        "round_id": match.round_id,
        "assignment_table_id": config.assignment_table_id,
        **more,
    }
    return {"dynamic": dynamic, "service": spec.service()}


def _player(seat: MatchPlayer) -> dict[str, object]:
    answer = seat.warmup_answer if seat.is_present else ABSENT_ANSWER
    return {"id": seat.participant_id, "email": seat.email, "warmup_answer": answer}


def _target(config: RefereeConfig, match: OpenMatch) -> dict[str, object]:
    """The target, returned to the agent that chose it, so that a match survives a restart of the agent's process."""
    sentence, word = config.actual_opening_sentence, config.actual_associative_word
    if match.target is not None:
        sentence = match.target.opening_sentence or sentence
        word = match.target.associative_word or word
    return {"actual_opening_sentence": sentence, "actual_associative_word": word}
