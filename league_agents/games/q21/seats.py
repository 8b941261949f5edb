"""One match of Q21 around a table: what has been said so far, and by whom.

Rule 1: the first seat is the referee's, the other two are the players'. What one player asked, was answered and guessed
is known to that player and the referee alone until the match is over; the target to the referee alone.
Rule 2: everything is kept as it was accepted, as values that nobody can change: views share them. Values for scoring
are made when they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from league_agents.core.frozen import FrozenDict, FrozenList, frozen, thawed
from league_agents.core.game import JsonObject
from league_agents.core.keys import Keys
from league_agents.core.people import LANGUAGES, check_names, read_names
from league_agents.core.violation import shown
from league_agents.errors import ConfigError
from league_agents.games.q21.as_json import question_from_json
from league_agents.games.q21.model import Answer, Brief, Choice, Guess, Question, Target
from league_agents.games.q21.rules import BUILT_IN, PRD, RuleSet, rule_set_from, rule_set_to

CONFIG_KEYS: Final = ("rules", "lang", "names")

_CHOICES: Final = {choice.value: choice for choice in Choice}


class Phase(StrEnum):
    """What is owed."""

    BRIEF = "brief"
    QUESTIONS = "questions"
    ANSWERS = "answers"
    GUESSES = "guesses"
    OVER = "over"


class Seat(Struct, frozen=True, kw_only=True):
    """One player's game. Each part is ``None`` until it has been accepted."""

    agent_id: str
    questions: FrozenList | None = None
    answers: FrozenList | None = None
    guess: FrozenDict | None = None

    forfeit: str | None = None
    """Why this player is out (a ``Cause``); ``None`` while it plays."""


class Table(Struct, frozen=True, kw_only=True):
    """The whole match, as only the host knows it."""

    rules: RuleSet
    referee: str
    seats: tuple[Seat, Seat]
    lang: str = "en"
    names: Mapping[str, str] = msgspec.field(default_factory=FrozenDict)
    """What agents are called in the events' texts, by id; the others by their ids."""

    phase: Phase = Phase.BRIEF

    announced: FrozenDict | None = None
    """The referee's ``announce``: brief and target; ``None`` before it and when it was forfeited."""

    unanswered: tuple[str, ...] = ()
    """Players whose questions the referee forfeited: all of them count as Not Relevant."""

    scores: FrozenDict | None = None
    """Agent id of each player to its scorecard; ``None`` before the end."""

    reason: str = ""
    """How the match ended: ``completed`` or ``no_brief``; empty before."""

    @property
    def players(self) -> tuple[str, str]:
        return (self.seats[0].agent_id, self.seats[1].agent_id)

    def called(self, agent_id: str) -> str:
        """What an agent is called in a text."""
        return self.names.get(agent_id, agent_id)

    def seat_of(self, agent_id: str) -> Seat | None:
        """The player's seat; ``None`` for anybody else."""
        one, two = self.seats
        return one if one.agent_id == agent_id else two if two.agent_id == agent_id else None


def table_from(config: JsonObject, referee: str, one: str, two: str) -> Table:
    """The table of a configuration. Raises ``ConfigError``."""
    rules, keys = rules_from(config), Keys(config, "", CONFIG_KEYS)
    names = read_names(config.get("names"))
    check_names(names, (referee, one, two))
    return Table(
        rules=rules,
        referee=referee,
        seats=(Seat(agent_id=one), Seat(agent_id=two)),
        lang=keys.word("lang", LANGUAGES, "en"),
        names=names,
    )


def rules_from(config: JsonObject) -> RuleSet:
    """The rules that a configuration names or describes. Raises ``ConfigError``."""
    if not isinstance(config, Mapping):
        raise ConfigError("config", f"must be a mapping of keys to values, found {shown(config)}")
    for key in config:
        if key not in CONFIG_KEYS:
            raise ConfigError(str(key)[:80], f"is unknown; known: {', '.join(CONFIG_KEYS)}")
    named = config.get("rules", PRD.name)
    if isinstance(named, str):
        if named not in BUILT_IN:
            raise ConfigError("rules", f"must be {' or '.join(BUILT_IN)}, or a mapping of rules")
        return BUILT_IN[named]
    return rule_set_from(named, path="rules")


def brief_of(table: Table) -> Brief:
    """What the players were told. Only after the announcement."""
    told = _announced(table)
    return Brief(
        book_name=told["book_name"], book_hint=told["book_hint"], association_domain=told["association_word"]
    )


def target_of(table: Table) -> Target:
    """What they have to find. Only after the announcement."""
    told = _announced(table)
    return Target(
        book_name=told["book_name"],
        opening_sentence=told["actual_opening_sentence"],
        associative_word=told["actual_associative_word"],
    )


def _announced(table: Table) -> JsonObject:
    assert table.announced is not None, "there is no brief before the announcement"
    return table.announced


def questions_of(seat: Seat) -> tuple[Question, ...]:
    """The seat's questions as values."""
    return tuple([question_from_json(each) for each in seat.questions or ()])


def answers_of(seat: Seat) -> tuple[Answer, ...]:
    """The seat's answers as values; a question without one counts as Not Relevant."""
    return tuple(
        [Answer(number=each["question_number"], choice=_CHOICES[each["answer"]]) for each in seat.answers or ()]
    )


def guess_of(seat: Seat) -> Guess | None:
    """The seat's guess as a value."""
    told = seat.guess
    if told is None:
        return None
    return Guess(
        opening_sentence=told["opening_sentence"],
        sentence_justification=told["sentence_justification"],
        associative_word=told["associative_word"],
        word_justification=told["word_justification"],
        confidence=told.get("confidence"),
    )


def dump_table(table: Table) -> dict[str, Any]:
    """The match as JSON values."""
    return {
        "rules": rule_set_to(table.rules),
        "referee": table.referee,
        "lang": table.lang,
        "names": dict(table.names),
        "seats": [
            {
                "agent_id": seat.agent_id,
                "questions": thawed(seat.questions),
                "answers": thawed(seat.answers),
                "guess": thawed(seat.guess),
                "forfeit": seat.forfeit,
            }
            for seat in table.seats
        ],
        "phase": str(table.phase),
        "announced": thawed(table.announced),
        "unanswered": list(table.unanswered),
        "scores": thawed(table.scores),
        "reason": table.reason,
    }


def load_table(dumped: JsonObject) -> Table:
    """The match that was dumped. Raises ``ConfigError`` for anything else."""
    try:
        one, two = (
            Seat(
                agent_id=each["agent_id"],
                questions=frozen(each["questions"]),
                answers=frozen(each["answers"]),
                guess=frozen(each["guess"]),
                forfeit=each["forfeit"],
            )
            for each in dumped["seats"]
        )
        return Table(
            rules=rule_set_from(dumped["rules"]),
            referee=dumped["referee"],
            lang=dumped["lang"],
            names=read_names(dumped["names"]),
            seats=(one, two),
            phase=Phase(dumped["phase"]),
            announced=frozen(dumped["announced"]),
            unanswered=tuple(dumped["unanswered"]),
            scores=frozen(dumped["scores"]),
            reason=dumped["reason"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError("state", f"is no match of q21: {type(error).__name__} {error}") from None
