"""A language model as an agent: one prompt for each game, and structured actions only.

Rule 1: the model proposes an action, the game decides whether it is legal. A refusal is shown to the model once.
Rule 2: texts of others are fenced in the prompt. Text of the model beside its action is shown to nobody.
Rule 3: if the model is down, slow or gives unusable answers, the scripted baseline acts before the deadline. Each
decision records whether the model or the baseline made it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from league_agents.agents.prompting import render_file
from league_agents.agents.secrecy import tells_canary
from league_agents.arena.agents.port import View
from league_agents.arena.agents.scripted_agent import script_of
from league_agents.games.declaration import GameDeclaration
from league_agents.games.game import Action, Event, LegalAction
from league_agents.games.registry import declared
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError, LeagueError
from league_agents.kit.model_work import ModelStep, ModelWorkUse, Why, failed_step
from league_agents.llm.port import ChatModel, Judge, Purpose, nobody

SOFT_LIMIT = timedelta(seconds=25)
_RESERVE = timedelta(seconds=2)
_SHORTEST = timedelta(seconds=1)
_LONGEST_STATE = 24_000
_LONGEST_RULES = 4000


@cache
def _text(package: str, file: str) -> str:
    return resources.files(package).joinpath(file).read_text(encoding="utf-8").strip()


def how_to_play(game: GameDeclaration) -> str:
    """The game's instructions for a model. Raises ``ConfigError`` if the file is missing."""
    try:
        return _text(game.package, game.prompt)
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"game {game.code}", f"{game.package} has no readable file {game.prompt}") from None


class ChosenAction(BaseModel):
    """What a model is asked for."""

    model_config = ConfigDict(extra="ignore")

    type: str = Field(max_length=40, description="One of the legal action types")
    data: dict[str, Any] = Field(default_factory=dict, description="The action's data, as its schema says")


class LlmAgent:
    """Asks a model for each decision, with the scripted baseline as a fallback."""

    def __init__(
        self,
        game: str,
        *,
        model: ChatModel | None,
        seed: int | str,
        agent_id: str,
        now: Callable[[], datetime],
        match_id: str = "",
    ) -> None:
        """``model=None`` plays the scripted baseline. ``now`` is the clock that deadlines refer to."""
        self._game = game
        self._declared = declared(game)
        self._how_to_play = how_to_play(self._declared)
        self._model = model
        self._seed = seed
        self._agent_id = agent_id
        self._now = now
        self._match_id = match_id
        self._script = script_of(game)
        self._draw = Draw(seed, f"llm/{agent_id}")
        self.raw_answer: str | None = None
        """The model's reply for the last decision, for the host's record; ``None`` if the baseline decided."""

        self.model_work: list[dict[str, object]] = []
        """The model steps of the last decision, as JSON values."""

        self._judge: Judge = nobody
        """The judge of the last reply, which the game may still refuse."""

    def observe(self, event: Event) -> None:
        """No-op: the view holds all that the prompt needs."""

    def reset(self) -> None:
        self.raw_answer = None
        self.model_work = []
        self._judge = nobody

    def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        """The model's action, or else the baseline's."""
        self.raw_answer = None
        chosen = self._asked(view, legal, deadline)
        if isinstance(chosen, Action):
            self.model_work = [ModelStep(step=self._step, work=ModelWorkUse.USED).to_json()]
            return chosen
        self.model_work = [chosen.to_json()]
        return self._script(view, legal, self._draw)

    @property
    def _step(self) -> str:
        return f"arena_{self._game}"

    def _asked(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action | ModelStep:
        """The model's action, or the step that says why there is none."""
        refusal = view.get("refusal")
        if refusal:
            self._judge(ModelWorkUse.REPLACED, Why.ILLEGAL)
        self._judge = nobody
        if self._model is None:
            return ModelStep(step=self._step, work=ModelWorkUse.NOT_ASKED, why=Why.NO_MODEL)
        # After two refusals in a row the next one would forfeit the decision.
        if refusal and refusal["attempts_left"] < 2:
            return self._replaced(Why.ILLEGAL)
        left = SOFT_LIMIT if deadline is None else min(SOFT_LIMIT, deadline - self._now() - _RESERVE)
        if left < _SHORTEST:
            return self._replaced(Why.NO_TIME)
        state = {key: value for key, value in view.items() if key not in ("rules_text", "refusal")}
        prompt = render_file(
            "arena",
            Purpose(match_id=self._match_id, callback=f"arena.{self._game}", step=self._step),
            f"{self._seed}/{self._agent_id}",
            {
                "how_to_play": self._how_to_play,
                "rules": str(view.get("rules_text", ""))[:_LONGEST_RULES],
                "state": json.dumps(state, ensure_ascii=False, default=str, separators=(",", ":"))[:_LONGEST_STATE],
                "legal": [{"type": each.type, "schema": json.dumps(each.schema, ensure_ascii=False)} for each in legal],
                "refusal": refusal["message"] if refusal else "",
            },
        )
        try:
            parsed = self._model.complete_json(
                prompt, ChosenAction, timeout=left, max_output_tokens=self._declared.most_output_tokens
            )
        except LeagueError as error:
            return failed_step(self._step, error)
        chosen, judge = parsed.value, parsed.completion.judge
        is_disobeyed = tells_canary(prompt, parsed.completion.text, chosen.model_dump_json())
        if is_disobeyed or chosen.type not in {each.type for each in legal}:
            why = Why.DISOBEYED if is_disobeyed else Why.ILLEGAL
            judge(ModelWorkUse.REPLACED, why)
            return self._replaced(why)
        self.raw_answer, self._judge = parsed.completion.text, judge
        judge(ModelWorkUse.USED, None)
        return Action(type=chosen.type, data=chosen.data)

    def _replaced(self, why: Why) -> ModelStep:
        return ModelStep(step=self._step, work=ModelWorkUse.REPLACED, why=why)
