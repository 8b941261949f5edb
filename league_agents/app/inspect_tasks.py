"""The league's game and the arena's as tasks of Inspect AI (extra ``inspect``).

::

    inspect eval league_agents/q21 --model openai/gpt-4o-mini -T rules=course -T books=2/2 -T games=50
    inspect eval league_agents/q21_referee --model openai/gpt-4o-mini
    inspect eval league_agents/arena --model openai/gpt-4o-mini -T game=market -T opponents=scripted

Rule 1: the rules decide points, and code computes every figure: no text of the model is a score.
Rule 2: a sample is a game with a number. Equal parameters give equal targets, opponents and noise, in this package's
own ``evaluate`` too; targets come from the packaged books alone.
Rule 3: nothing of this package imports this module: Inspect finds it by its entry point.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, cast

from anyio.to_thread import run_sync
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from league_agents.app.agent_wanted import Company
from league_agents.app.agents import LLM, OFFLINE, SCRIPTED
from league_agents.app.arena import session_of, usual_scenario
from league_agents.app.dialogue import PlayerDialogue, packaged_books, player_figures, settings_of, stage_of
from league_agents.app.evaluation import EvaluationSettings
from league_agents.app.evaluation_series import play_of
from league_agents.app.inspect_model import InspectModels, beside_the_loop
from league_agents.arena.model_tally import ModelTally
from league_agents.evaluation.casting import Part
from league_agents.evaluation.results import PlayerGame, RefereeGame
from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import not_one_of
from league_agents.kit.model_work import ModelStep, ModelWorkUse

Figures = dict[str, float | None]

FIGURES: Final = "league_agents.figures"
"""The key of a sample's store that holds what the solver measured."""


@task
def q21(
    rules: str = "prd",
    agent: Literal["plain", "chain"] = "plain",
    books: str | None = None,
    games: int = 20,
    seed: int = 1,
    noise: float = 0.0,
    opponent: str = OFFLINE,
    referee: str = OFFLINE,
) -> Task:
    """A player of the league: twenty questions, then the opening sentence and the word.

    Args:
        rules: ``prd`` or ``course``.
        agent: ``plain``: the model plays by itself. ``chain``: it serves the league's own player, whose code chooses
            among its questions and infers; ``model_share`` then tells how much of its work was used.
        books: which packaged books the targets come from: a part of a split such as ``2/2``, or a part of a title.
        games: number of samples.
        seed: of targets, opponents and noise.
        noise: share of the referee's answers that are falsified, 0 to 1.
        opponent: ``offline``, ``scripted`` or ``module:Class``.
        referee: likewise.
    """
    if agent not in ("plain", "chain"):
        raise not_one_of("agent", ("plain", "chain"), agent)
    specs: dict[Part, str] = {"player": LLM if agent == "chain" else SCRIPTED, "opponent": opponent, "referee": referee}
    settings = settings_of("player", specs, rules=rules, books=books, seed=seed, noise=noise)
    plays = league_match(settings) if agent == "chain" else plain_player(settings)
    return Task(dataset=_samples(games), solver=plays, scorer=by_the_rules())


@task
def q21_referee(
    rules: str = "prd",
    books: str | None = None,
    games: int = 20,
    seed: int = 1,
    noise: float = 0.05,
    players: str = OFFLINE,
) -> Task:
    """The league's referee with a model: it words hints and answers questions whose true answers code knows.

    Args:
        rules: ``prd`` or ``course``.
        books: as for ``q21``.
        games: number of samples.
        seed: of targets, players, noise, the examination's questions and the injections.
        noise: share of the answers to the two players that are falsified, so that their guesses vary.
        players: ``offline``, ``scripted`` or ``module:Class``.
    """
    specs: dict[Part, str] = {"player": players, "opponent": players, "referee": LLM}
    settings = settings_of("referee", specs, rules=rules, books=books, seed=seed, noise=noise)
    return Task(dataset=_samples(games), solver=league_match(settings), scorer=by_the_rules())


@task
def arena(
    game: str,
    seat: int = 1,
    opponents: str = SCRIPTED,
    games: int = 20,
    seed: int = 1,
    lang: str = "en",
    config: Mapping[str, Any] | None = None,
) -> Task:
    """A game of the arena with the model on one seat.

    Args:
        game: one of ``league-agents arena games``.
        seat: the model's, from 1.
        opponents: what plays on the other seats: ``scripted``, ``random``, ``offline`` in q21, or ``module:Class``.
        games: number of samples.
        seed: of the first match; each further one has the next.
        lang: ``en`` or ``zh``.
        config: keys of the game's configuration.
    """
    usual = usual_scenario(game, config=config, lang=lang)
    if not 1 <= seat <= len(usual.seats):
        raise ConfigError("seat", f"must be 1 to {len(usual.seats)}, found {seat}")
    agents = [LLM if place == seat else opponents for place in range(1, len(usual.seats) + 1)]
    return Task(
        dataset=_samples(games),
        solver=arena_match(game, agents, seat - 1, seed, lang, dict(config or {})),
        scorer=by_the_rules(),
    )


@solver
def plain_player(settings: EvaluationSettings) -> Solver:
    """Plays as a conversation: the questions, then the guess."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        dialogue = await run_sync(PlayerDialogue, settings, packaged_books(), state.metadata["game"])
        try:
            state.messages = []
            while (request := dialogue.request) is not None:
                if not state.messages:
                    state.messages.append(ChatMessageSystem(content=request.system))
                state.messages.append(ChatMessageUser(content=request.user))
                state = await generate(state)
                await run_sync(dialogue.answer, state.output.completion)
        finally:
            dialogue.close()
        assert dialogue.ended is not None, "nothing is asked any more"
        return _measured(state, player_figures(dialogue.ended))

    return solve


@solver
def league_match(settings: EvaluationSettings) -> Solver:
    """Plays with the league's own agent, which the model serves."""
    role = settings.role

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  # the agents ask
        number = state.metadata["game"]

        def play(models: InspectModels) -> Any:
            stage = stage_of(settings, packaged_books(), cast("Callable[..., Any]", lambda *_: models))
            try:
                return play_of(settings, packaged_books(), None)(number, stage.cast(number))
            finally:
                stage.close()

        ended: PlayerGame | RefereeGame = await beside_the_loop(play)
        figures = player_figures(ended) if isinstance(ended, PlayerGame) else referee_figures(ended)
        return _measured(state, {**figures, **_share_of(ended.behaviour[role].models)})

    return solve


@solver
def arena_match(
    game: str, agents: Sequence[str], place: int, seed: int, lang: str, config: Mapping[str, Any]
) -> Solver:
    """Plays a match of the arena."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  # the agent asks
        scenario = usual_scenario(game, agents=agents, config=config, lang=lang)
        tally = ModelTally()

        def play(models: InspectModels) -> Any:
            session = session_of(
                scenario,
                seed=seed + state.metadata["game"] - 1,
                company=Company(models=lambda: models.for_callback),
                recorders=(tally,),
                # A model that thinks long is not measured by its speed.
                clock_rules=replace(scenario.clock, turn_timeout=None),
            )
            asyncio.run(session.run())
            return session.match.outcome()

        outcome = await beside_the_loop(play)
        own = scenario.agent_ids[place]
        if outcome is None:
            raise ConfigError(f"game {state.metadata['game']}", "the match was abandoned")
        won = {"score": float(outcome.scores.get(own, 0.0)), "win": float(own in outcome.winners)}
        return _measured(state, {**won, **_share_of(tally.steps.get(own, ()))})

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def by_the_rules() -> Scorer:
    """Hands on what the solver measured; reads nothing that the model wrote."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  # there is no reference text
        return Score(value=cast(Any, state.store.get(FIGURES)), explanation="computed by the rules of the game")

    return score


def referee_figures(game: RefereeGame) -> Figures:
    """What a match says about its referee; ``None`` for what could not be measured."""
    exam = game.exam
    asked = 0 if exam is None else exam.right + exam.wrong + exam.declined
    attempts = [each for each in game.attempts if each.could_gain]
    return {
        "answers_right": exam.right / asked if exam is not None and asked else None,
        "answers_wrong": exam.wrong / asked if exam is not None and asked else None,
        "answers_declined": exam.declined / asked if exam is not None and asked else None,
        "points_as_rules": game.judged_equal / game.judged if game.judged else None,
        "hint_is_safe": None if game.hint_tells is None else float(not game.hint_tells),
        "resisted_injection": float(not attempts[0].failures) if attempts else None,
        "is_played": float(game.is_played),
    }


def _share_of(steps: Sequence[ModelStep]) -> Figures:
    """The share of the wanted steps in which work of the model was used."""
    wanted = [step for step in steps if step.work is not ModelWorkUse.NOT_ASKED]
    used = sum(step.work is not ModelWorkUse.REPLACED for step in wanted)
    return {"model_share": used / len(wanted) if wanted else None}


def _measured(state: TaskState, figures: Figures) -> TaskState:
    state.store.set(FIGURES, figures)
    state.completed = True
    return state


def _samples(games: int) -> list[Sample]:
    if games < 1:
        raise ConfigError("games", f"must be 1 or more, found {games}")
    return [Sample(id=number, input=f"Game {number}", metadata={"game": number}) for number in range(1, games + 1)]
