"""A league agent in the arena: any ``RefereeAI`` or ``PlayerAI`` takes a seat of Q21.

Rule: the callbacks get the same input as in the league, and their results are read and repaired as in the league.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from league_agents.arena.agents.port import View
from league_agents.games.game import Action, Event, LegalAction
from league_agents.games.q21.actions import ANNOUNCE, ANSWER, ASK, GUESS
from league_agents.games.q21.as_json import (
    answers_as_json,
    brief_as_json,
    guess_as_json,
    question_as_json,
    question_from_json,
)
from league_agents.games.q21.callbacks import CONTRACTS, Known, callback_specs, end_of_call
from league_agents.games.q21.model import Brief
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.errors import CallbackInvalid, CallbackTimeout, ConfigError
from league_agents.kit.model_work import steps_in
from league_agents.kit.printable import line_of

LOG = logging.getLogger(__name__)

_CALLBACKS = {ANNOUNCE: "get_round_start_info", ASK: "get_questions", ANSWER: "get_answers", GUESS: "get_guess"}


_MOST = {"opening_sentence": 1000, "sentence_justification": 4000, "associative_word": 100, "word_justification": 4000}

Context = dict[str, Any]
"""The argument of a callback: ``dynamic`` and ``service``."""


def callbacks_of(agent: object) -> Callable[[str, Context], object]:
    """The callbacks of an agent in this process. The score callback is optional."""

    def call(name: str, context: Context) -> object:
        return getattr(agent, name)(context) if name != "on_score_received" or hasattr(agent, name) else None

    return call


class CallbackAgent:
    """Calls one of the eight callbacks for each decision."""

    def __init__(
        self, call: Callable[[str, Context], object], *, rules: RuleSet, match_id: str, now: Callable[[], datetime]
    ) -> None:
        """``call`` calls a callback by name; ``callbacks_of`` makes it for an agent in this process."""
        self._call = call
        self._rules = rules
        self._match_id = match_id
        self._now = now
        self._agent_id = ""
        self.model_work: list[dict[str, object]] = []
        """The model steps of the last callback, as JSON values."""

    def observe(self, event: Event) -> None:
        """Pass a player its own score, as in the league."""
        scores = event.data.get("scores") if event.kind == "result" else None
        card = scores.get(self._agent_id) if scores else None
        if card is not None:
            self._call("on_score_received", self._context("on_score_received", None, dict(card)))

    def reset(self) -> None:
        """No-op: league agents distinguish matches by their ids."""

    def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        """The callback's action. The callback is retried where the league retries it. Raises what the last call raises,
        and ``CallbackInvalid`` if its result is unusable: the decision is then forfeited."""
        (action,) = legal
        self._agent_id, self.model_work = view["agent_id"], []
        told = self._told(view, action)
        known = Known(
            rules=self._rules,
            questions=tuple(question_from_json(each) for each in told.get("questions", ())),
            brief=_brief_in(told) if action.type == GUESS else None,
        )
        value = self._used(_CALLBACKS[action.type], told, known, deadline)
        return Action(type=action.type, data=_data_of(action.type, value, told))

    def _used(self, callback: str, told: Mapping[str, Any], known: Known, deadline: datetime | None) -> Any:
        """The value of the callback's result, read and repaired as in the league."""
        contract = CONTRACTS[callback]
        for attempt in range(1, contract.attempts + 1):
            left = None if deadline is None else deadline - self._now()
            reply, failure = None, None
            try:
                reply = self._call(callback, self._context(callback, left, told))
            except ConfigError:
                raise  # only a person can repair a file
            except Exception as error:  # an agent may raise anything
                if attempt == contract.attempts or isinstance(error, CallbackTimeout):
                    raise
                failure = line_of(error)
            self.model_work = [step.to_json() for step in steps_in(reply, callback)]
            end = end_of_call(callback, reply, failure, known, attempt=attempt)
            noted = end.noted
            for line in [f"{noted.failure}; {noted.then}"] if noted.failure else noted.repairs:
                LOG.warning("agent %s: %s: %s", self._agent_id, callback, line)
            if not end.is_called_again:
                break
        if noted.failure and (end.value is None or contract.fallback is not None):
            raise CallbackInvalid(f"{callback}: {noted.failure}")
        return end.value

    def _context(self, callback: str, left: timedelta | None, told: Mapping[str, Any]) -> Context:
        identity = {"match_id": self._match_id, "game_id": self._match_id}
        service = callback_specs(self._rules)[callback].service(left=left)
        # A copy, because user code may change its context.
        return {"dynamic": {**identity, **copy.deepcopy(dict(told))}, "service": {**service, **identity}}

    def _told(self, view: View, action: LegalAction) -> dict[str, Any]:
        told: dict[str, Any] = dict(view["brief"] or {})
        if action.type == ASK:
            return {**told, "questions_required": self._rules.questions_required}
        if action.type == GUESS:
            return {**told, "questions_sent": view["me"]["questions"], "answers": view["me"]["answers"]}
        if action.type == ANNOUNCE:
            return {f"player_{side}": {"id": player} for side, player in zip("ab", view["players"], strict=True)}
        player = action.schema["properties"]["player_id"]["enum"][0]
        target = view["target"]
        return {
            **told,
            "player_id": player,
            "questions": view["games"][player]["questions"],
            "actual_opening_sentence": target["opening_sentence"],
            "actual_associative_word": target["associative_word"],
        }


def _brief_in(told: Mapping[str, Any]) -> Brief:
    return Brief(book_name=told["book_name"], book_hint=told["book_hint"], association_domain=told["association_word"])


def _data_of(kind: str, value: Any, told: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the value to the data of an action."""
    if kind == ANNOUNCE:
        brief, target = value
        return {
            **brief_as_json(brief),
            # If the agent returns no target, the league takes one from its file; the arena has no such file, so the
            # game reports the missing field.
            "actual_opening_sentence": "" if target is None else target.opening_sentence,
            "actual_associative_word": "" if target is None else target.associative_word,
        }
    if kind == ASK:
        return {"questions": [question_as_json(question) for question in value]}
    if kind == ANSWER:
        return {"player_id": told["player_id"], "answers": answers_as_json(value)}
    found = {key: each[: _MOST[key]] if isinstance(each, str) else each for key, each in guess_as_json(value).items()}
    return {key: each for key, each in found.items() if each is not None}
