"""What comes of one call of a callback: how its result is read, how often it is called, and what replaces it.

Rule 1: a result is read here and nowhere else, so it is repaired alike in a league, in an evaluation, in a check and at
a table.
Rule 2: a call that gave nothing usable is made again while its contract allows it, then replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from league_agents.core.violation import shown
from league_agents.games.q21.model import UNSCORED, Brief, QuestionBatch
from league_agents.games.q21.reading_player import read_guess, read_questions, read_warmup_answer
from league_agents.games.q21.reading_referee import (
    answers_for,
    read_answers,
    read_round_start_info,
    read_scorecard,
    read_warmup_question,
)
from league_agents.games.q21.remarks import ReadResult, Remark, Remarks, Severity, lines
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.untrusted import is_kind


class Known(Struct, frozen=True, kw_only=True):
    """What a result is read against."""

    rules: RuleSet
    questions: QuestionBatch = ()
    """The questions that are answered."""

    brief: Brief | None = None
    """What a guesser was told; ``None`` before it was told anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One callback, as the one who calls it sees it."""

    read: Callable[[object, Known], ReadResult[Any]]
    attempts: int = 1
    fallback: Callable[[Known], Any] | None = None
    """``None`` where reading replaces what cannot be used, and where nothing can."""

    instead: str
    """What happens after the last attempt, as a clause."""


CONTRACTS: Mapping[str, Contract] = MappingProxyType(
    {
        "get_warmup_question": Contract(
            read=lambda result, known: read_warmup_question(result, known.rules),
            instead="a fixed question is asked",
        ),
        "get_round_start_info": Contract(
            read=lambda result, known: read_round_start_info(result, known.rules),
            attempts=2,
            instead="the match is aborted",
        ),
        "get_answers": Contract(
            read=lambda result, known: read_answers(result, known.questions, known.rules),
            attempts=2,
            fallback=lambda known: answers_for(known.questions),
            instead="every answer is Not Relevant",
        ),
        "get_score_feedback": Contract(
            read=lambda result, known: read_scorecard(result, known.rules),
            attempts=2,
            fallback=lambda _known: UNSCORED,
            instead="the guess counts zero points",
        ),
        "get_warmup_answer": Contract(
            read=lambda result, _known: read_warmup_answer(result),
            instead="the answer is 0",
        ),
        "get_questions": Contract(
            read=lambda result, known: read_questions(result, known.rules),
            instead="placeholder questions are asked",
        ),
        "get_guess": Contract(
            read=lambda result, known: read_guess(result, known.rules, known.brief),
            instead="a placeholder is guessed",
        ),
        "on_score_received": Contract(
            read=lambda result, _known: _read_nothing(result),
            instead="the game is over all the same",
        ),
    }
)
"""The eight callbacks by the names of their methods (protocol 6)."""


def _read_nothing(result: object) -> ReadResult[None]:
    said = Remarks()
    if result is not None and not is_kind(result, dict):
        said.warn("", "nothing: on_score_received returns None (protocol 6.2)", shown(result))
    return ReadResult(None, said.list)


class Noted(Struct, frozen=True, kw_only=True):
    """What the author of an agent is told about one call."""

    callback: str
    remarks: tuple[Remark, ...] = ()
    """Everything that was refused or changed in the result; empty when there was none, or nothing to say."""

    failure: str = ""
    """Why nothing of it could be used, in one line; empty when it was used."""

    then: str = ""
    """What happens after a failure, as a clause."""

    @property
    def repairs(self) -> list[str]:
        """What was changed in a result that is used, one line for each kind of change."""
        return [] if self.failure else lines([each for each in self.remarks if each.severity is Severity.REPAIRED])


class CallEnd(Struct, frozen=True, kw_only=True):
    """What came of one call."""

    value: Any
    """What the callback's reader gives, or its fallback; ``None`` when there is neither."""

    is_called_again: bool = False
    """Whether nothing of it could be used and there is an attempt left."""

    noted: Noted


def end_of_call(callback: str, result: object, failure: str | None, known: Known, *, attempt: int = 1) -> CallEnd:
    """Read what a callback returned. ``failure`` says why it returned nothing; ``attempt`` counts from 1."""
    contract = CONTRACTS[callback]
    read = contract.read(None if failure is not None else result, known)
    if failure is None and not read.is_broken:
        return CallEnd(value=read.value, noted=Noted(callback=callback, remarks=tuple(read.remarks)))
    is_called_again = attempt < contract.attempts
    noted = Noted(
        callback=callback,
        remarks=() if failure is not None else tuple(read.remarks),
        failure=(read.refusal if failure is None else failure) or "no reason was given",
        then="it is called once more" if is_called_again else contract.instead,
    )
    if is_called_again:
        return CallEnd(value=None, is_called_again=True, noted=noted)
    return CallEnd(value=read.value if contract.fallback is None else contract.fallback(known), noted=noted)
