"""A game of Q21 in words: what a model that plays by itself is asked, and what becomes of its replies.

Rule 1: points follow from the rules; nothing that a model writes besides its guess changes them.
Rule 2: a reply is read as a player's callback is in a match: repaired, or replaced with a note.
Rule 3: games are those of ``evaluate player``: equal settings and numbers give equal targets, opponents and noise.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Final

from league_agents.agents.contexts import CallContext
from league_agents.agents.plain import plain_prompt
from league_agents.agents.secrecy import tells_canary
from league_agents.agents.warmup import warmup_answer
from league_agents.app.agents import OFFLINE
from league_agents.app.evaluation import PARTS, EvaluationSettings, maker_of
from league_agents.app.evaluation_stage import Stage
from league_agents.evaluation.player_games import PlayerSeries
from league_agents.evaluation.playing import UpcomingCall
from league_agents.evaluation.results import PlayerGame
from league_agents.games.q21.rules import BUILT_IN
from league_agents.kit.errors import ConfigError, MalformedCompletion
from league_agents.kit.mistakes import not_one_of
from league_agents.llm.json_text import find_object
from league_agents.user_code.called import Called, End

if TYPE_CHECKING:
    from league_agents.agents.library import Knowledge
    from league_agents.app.agents import AgentRole
    from league_agents.app.models import Models
    from league_agents.evaluation.casting import Cast, Part
    from league_agents.llm.port import Prompt


SPOKEN: Final = ("get_questions", "get_guess")
"""The callbacks whose replies the model gives; the others are not scored."""


class PlayerDialogue:
    """One game of the evaluated player, which is asked in words: ``settings.specs["player"]`` is not called."""

    def __init__(self, settings: EvaluationSettings, knowledge: Knowledge, game: int) -> None:
        """Begin the game with this number, from 1. Raises ``ConfigError``."""
        self._settings = settings
        self._reply = _GivenReply()
        self._stage = stage_of(settings, knowledge)
        series = PlayerSeries(rules=settings.rules, knowledge=knowledge, noise=settings.noise, seed=settings.seed)
        self._turns = self._played(series, game, replace(self._stage.cast(game), player=self._reply))
        self.ended: PlayerGame | None = None
        """The result; ``None`` until the game is over."""

        self._requests: list[Prompt] = []
        self.request: Prompt | None = None
        """What the model is asked now: first for its questions, then for its guess; ``None`` when the game is over. The
        instructions of both (``system``) are the same but for their private marks."""

        self._go_on()

    def answer(self, text: str) -> None:
        """Take the model's reply to ``request``, and go on to the next request."""
        try:
            if any(tells_canary(each, text) for each in self._requests):
                raise MalformedCompletion("the reply holds the private mark of its instructions")
            self._reply.called = Called(end=End.RETURNED, result=find_object(text))
        except MalformedCompletion as error:
            self._reply.called = Called(end=End.UNUSABLE, detail=str(error))
        self._go_on()

    def close(self) -> None:
        """Leave the game; harmless when it is over."""
        self._turns.close()
        self._stage.close()

    def _played(self, series: PlayerSeries, game: int, cast: Cast) -> Generator[UpcomingCall, None, None]:
        self.ended = yield from series.turns(game, cast)

    def _go_on(self) -> None:
        self.request = None
        for turn in self._turns:
            if turn.callback in SPOKEN:
                self.request = plain_prompt(turn.callback, turn.context, self._settings.rules, key=self._key)
                self._requests.append(self.request)
                return
            answer = {"answer": warmup_answer(CallContext(turn.context).text("warmup_question"))}
            is_warmup = turn.callback == "get_warmup_answer"
            self._reply.called = Called(end=End.RETURNED, result=answer if is_warmup else None)
        self._stage.close()

    @property
    def _key(self) -> str:
        return f"{self._settings.seed}/plain"


class _GivenReply:
    """``Caller`` whose next result is set beforehand."""

    def __init__(self) -> None:
        self.called = Called(end=End.RETURNED)

    def __call__(self, callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        return self.called


def settings_of(
    role: AgentRole,
    specs: Mapping[Part, str],
    *,
    rules: str,
    books: str | None,
    seed: int,
    noise: float,
) -> EvaluationSettings:
    """Settings of games on the packaged books, with every name in them tried. Raises ``ConfigError``."""
    if rules not in BUILT_IN:
        raise not_one_of("rules", tuple(BUILT_IN), rules)
    if not 0 <= noise <= 1:
        raise ConfigError("noise", f"must be 0 to 1, found {noise}")
    settings = EvaluationSettings(
        role=role,
        specs=specs,
        rules=BUILT_IN[rules],
        noise=noise,
        seed=seed,
        books=None if books is None else str(books),
    )
    # The evaluated seat needs no name.
    stage_of(replace(settings, specs={**specs, role: OFFLINE}), packaged_books()).close()
    return settings


@cache
def packaged_books() -> Knowledge:
    """The packaged books; books that a user added do not change what is measured."""
    from league_agents.agents.library import Knowledge

    return Knowledge.open(None)


def stage_of(
    settings: EvaluationSettings, knowledge: Knowledge, models: Callable[[Part, AgentRole], Models] | None = None
) -> Stage:
    """The participants of an evaluation. ``models`` serve those called llm. Raises ``ConfigError``."""
    return Stage({part: maker_of(settings, part, knowledge, models or _no_models) for part in PARTS}, None)


def player_figures(game: PlayerGame) -> dict[str, float | None]:
    """What a game says about the evaluated player; ``None`` for what the referee does not disclose.

    Raises ``ConfigError`` if the referee could not start the match.
    """
    one, other = game.player, game.opponent
    if one is None or other is None:
        raise ConfigError(f"game {game.game}", "the referee could not start the match")
    conduct = game.behaviour["player"]
    asked = sum(conduct.calls.get(callback, 0) for callback in SPOKEN)
    return {
        "points": float(one.points),
        "private_score": one.private_score,
        "win": 0.5 + 0.5 * ((one.points > other.points) - (one.points < other.points)),
        "sentence_right": None if one.sentence_right is None else float(one.sentence_right),
        "word_right": None if one.word_right is None else float(one.word_right),
        "similarity": one.similarity,
        "usable_replies": 1 - sum(conduct.fallbacks.get(callback, 0) for callback in SPOKEN) / asked,
    }


def _no_models(part: Part, _role: AgentRole) -> Models:
    raise ConfigError(part, "only the evaluated seat asks a model; write offline, scripted or module:Class")
