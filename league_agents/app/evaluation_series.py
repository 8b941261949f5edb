"""The games of an evaluation: in this process, on threads, in processes or on a cluster.

Rule: threads are for agents that wait for models, which only this process may ask, and for those that a debugger is to
reach. Everything else computes, and is played by an executor.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from league_agents.app.agents import AgentRole
from league_agents.app.carried_files import CarriedFiles, carried_files, here_named, placed
from league_agents.app.evaluation import PARTS, EvaluationSettings, maker_of
from league_agents.app.evaluation_stage import Stage
from league_agents.app.game_batches import check_same, executor_for_games, in_batches
from league_agents.evaluation.casting import Cast, Part
from league_agents.kit.draw import Draw
from league_agents.knowledge.corpus import default_index_path

if TYPE_CHECKING:
    from league_agents.agents.library import Knowledge
    from league_agents.app.evaluation_models import Traffic
    from league_agents.evaluation.lost_games import LostGame
    from league_agents.evaluation.referee_games import KnownAnswer, KnownTarget
    from league_agents.evaluation.results import PlayerGame, RefereeGame

Game: TypeAlias = "PlayerGame | RefereeGame"


def remote_games(
    settings: EvaluationSettings,
    document: Mapping[str, object],
    numbers: Sequence[int],
    *,
    losses: list[LostGame] | None,
    workers: int,
    cluster: str | None,
) -> Generator[Game, None, None]:
    """Play the games with these numbers on an executor. ``document`` as ``EvaluationSettings.document`` returns it;
    ``losses`` as in ``play_of``."""
    files = carried_files(settings.specs.values()) if cluster is not None else {}
    # A copy has none of the classes that are loaded here.
    source = EvaluationSource(
        settings=replace(settings), document=document, files=files, shows_losses=losses is not None
    )
    with executor_for_games(workers, cluster) as executor:
        for game, lost in in_batches(executor, source, numbers):
            if losses is not None:
                losses += lost
            yield game


def models_of(traffic: Traffic | None) -> Callable[[Part, AgentRole], Any]:
    """The models of the participants, which are there if an llm agent takes part."""

    def models(part: Part, role: AgentRole) -> Any:
        assert traffic is not None, "an llm agent takes part"
        return traffic.models(part, role)

    return models


def local_names(agents: Sequence[str], files: CarriedFiles) -> dict[str, str]:
    """The names of agents on this machine, where ``files`` are written, by their names where they come from."""
    places = placed(files)
    return {spec: here_named(spec, places) for spec in agents}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSource:
    """``SeriesSource`` of an evaluation."""

    settings: EvaluationSettings
    document: Mapping[str, object]
    files: CarriedFiles
    shows_losses: bool

    def open(self) -> _OpenEvaluation:
        """Make the agents. Raises ``ConfigError`` if this machine has other books or classes."""
        from league_agents.agents.library import Knowledge

        settings = replace(self.settings, places=local_names(list(self.settings.specs.values()), self.files))
        knowledge = Knowledge.open(default_index_path())
        check_same(settings.document(knowledge, None), self.document)
        return _OpenEvaluation(settings, knowledge, shows_losses=self.shows_losses)


class _OpenEvaluation:
    """``OpenSeries`` of an evaluation."""

    def __init__(self, settings: EvaluationSettings, knowledge: Knowledge, *, shows_losses: bool) -> None:
        self._knowledge = knowledge
        self._losses: list[LostGame] = []
        self._play = play_of(settings, knowledge, self._losses if shows_losses else None)
        makers = {part: maker_of(settings, part, knowledge, models_of(None)) for part in PARTS}
        self._stage = Stage(makers, None)

    def play(self, game: int, /) -> tuple[Game, list[LostGame]]:
        self._losses.clear()
        return self._play(game, self._stage.cast(game)), list(self._losses)

    def close(self) -> None:
        self._stage.close()
        self._knowledge.close()


def play_of(
    settings: EvaluationSettings, knowledge: Knowledge, losses: list[LostGame] | None
) -> Callable[[int, Cast], Any]:
    """The function that plays the game with a number. It appends lost games of an evaluated player to ``losses``."""
    if settings.role == "player":
        return _player_play(settings, knowledge, losses)
    return _referee_play(settings, knowledge)


def _player_play(
    settings: EvaluationSettings, knowledge: Knowledge, losses: list[LostGame] | None
) -> Callable[[int, Cast], PlayerGame]:
    from league_agents.evaluation.player_games import PlayerSeries

    return PlayerSeries(
        rules=settings.rules,
        knowledge=knowledge,
        noise=settings.noise,
        seed=settings.seed,
        lost=None if losses is None else losses.append,
    ).play


def _referee_play(settings: EvaluationSettings, knowledge: Knowledge) -> Callable[[int, Cast], RefereeGame]:
    from league_agents.evaluation.injections import injections
    from league_agents.evaluation.referee_games import RefereeSeries, Wish

    wishes = [Wish(category=each.category, language=each.language, text=each.text) for each in injections()]
    return RefereeSeries(
        rules=settings.rules,
        knowledge=knowledge,
        noise=settings.noise,
        seed=settings.seed,
        examiner=_examined,
        # In another order for each seed: a short evaluation meets all kinds.
        wishes=Draw(settings.seed, "injections").shuffled(wishes),
    ).play


_OF_THE_PAGE = "word of the page"


def _examined(known: KnownTarget, draw: Draw) -> Sequence[KnownAnswer]:
    """Questions about a target whose answers follow from it."""
    from league_agents.evaluation.checkable import checkable_questions, free_questions
    from league_agents.evaluation.checkable_subject import CheckableSubject
    from league_agents.evaluation.referee_games import KnownAnswer
    from league_agents.games.q21.model import LETTERS

    subject = CheckableSubject(
        sentence=known.sentence,
        paragraph=known.paragraph or known.sentence,
        word=known.word,
        domain=known.domain,
        author=known.author,
        year=known.year,
        others=known.others,
        domains=known.domains,
    )
    plain = [each for each in checkable_questions(subject, draw) if known.paragraph or each.kind != _OF_THE_PAGE]
    # In turn, so that a batch has about as many of the one as of the other.
    pairs = zip_longest(plain, free_questions(subject, draw.fork("free")))
    return [
        KnownAnswer(
            text=each.text, options=each.options, letter=LETTERS["ABCD".index(each.letter)], is_free=each.is_free
        )
        for each in chain.from_iterable(pairs)
        if each is not None
    ]
