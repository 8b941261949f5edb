"""Comparison of players: the participants, and the games on several threads.

Rule: a game depends on the settings, its cluster and its seats only. The same settings give the same file and the same
figures, for any number of concurrent games and of interruptions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from league_agents.app.agents import LLM
from league_agents.app.carried_files import CarriedFiles, carried_files
from league_agents.app.comparison_file import ComparisonFile
from league_agents.app.evaluation import PARTS, EvaluationSettings, kind_of, maker_of
from league_agents.app.evaluation_series import local_names, models_of
from league_agents.app.evaluation_stage import Stage, play_all
from league_agents.app.game_batches import check_same, executor_for_games, in_batches
from league_agents.evaluation.comparison import (
    ComparedGame,
    Comparison,
    GameScore,
    RunningTests,
    compare,
    games_of,
    pairs_of,
    rounds,
)
from league_agents.evaluation.contexts import MOST_GAMES, MatchContexts, match_id_of
from league_agents.evaluation.noise import noisy_channel
from league_agents.evaluation.playing import DirectMatch
from league_agents.evaluation.results import Behaviour
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.kit.ids import derive_hex
from league_agents.kit.json_values import mapping, mappings, number, text
from league_agents.kit.model_work import read_steps, together
from league_agents.knowledge.corpus import default_index_path
from league_agents.league.machines.reports import match_facts, match_report
from league_agents.league.wire.messages import ReportStatus
from league_agents.report.records import MatchRecord, PlayerRecord, SeasonRecord, TeamRecord

if TYPE_CHECKING:
    from league_agents.agents.library import Knowledge
    from league_agents.app.evaluation_models import Traffic
    from league_agents.evaluation.casting import Cast

ERROR = 0.05
"""The maximal probability of a wrong verdict on any of the pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """The settings of a comparison."""

    players: tuple[str, ...]
    """Names of agents, at least two."""

    referees: tuple[str, ...]
    """They take turns, one target each."""

    rules: RuleSet
    noise: float
    """The share of answers that are falsified, 0 to 1."""

    seed: int
    games: int
    """Maximal number between each two players; even."""

    margin: float = 0.05
    """The largest distance of the mean score from one half at which two players count as equal."""

    stops_early: bool = True
    in_process: bool = False
    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    """As in ``EvaluationSettings``."""

    def pair(self, first: int, second: int, referee: int) -> EvaluationSettings:
        """The settings of an evaluation of two of the players and a referee."""
        return EvaluationSettings(
            role="player",
            specs={
                "player": self.players[first],
                "opponent": self.players[second],
                "referee": self.referees[referee],
            },
            rules=self.rules,
            noise=self.noise,
            seed=self.seed,
            in_process=self.in_process,
            places=self.places,
        )

    @property
    def pairs(self) -> int:
        """The number of pairs of players."""
        return len(pairs_of(len(self.players)))

    @property
    def asks_models(self) -> bool:
        """Whether an llm agent takes part."""
        return any(kind_of(spec) == LLM for spec in (*self.players, *self.referees))

    def check(self) -> None:
        """Raises ``ConfigError`` for settings that cannot be compared."""
        most = MOST_GAMES // self.pairs
        if self.games > most:
            raise ConfigError("--games", f"is {self.games}; {len(self.players)} players can play at most {most} each")

    @property
    def error(self) -> float:
        """The error probability of the test of one pair."""
        return ERROR / self.pairs


@dataclass(frozen=True, slots=True)
class _Ended:
    game: ComparedGame
    record: MatchRecord


class Compared:
    """A running comparison."""

    def __init__(
        self, settings: CompareSettings, knowledge: Knowledge, traffic: Traffic | None, out: Path | None
    ) -> None:
        """Raises ``ConfigError`` for invalid names, and for a file with other contents."""
        settings.check()
        self._settings = settings
        self._games = ComparedGames(settings, knowledge, traffic)
        self._pairs = pairs_of(len(settings.players))
        self.season = self._games.season
        self._tests = RunningTests(self._pairs, margin=settings.margin, error=settings.error)
        self._file = None if out is None else ComparisonFile(out, self.season)
        self.scores: list[GameScore] = []

    def play(
        self, workers: int, told: Callable[[int], None] = lambda _games: None, *, cluster: str | None = None
    ) -> Comparison:
        """Play until every pair is decided or has played all its games. ``told`` is called after each game with the
        number of games."""
        settings = self._settings
        if cluster is None and (workers == 1 or settings.asks_models or settings.in_process):
            return self._play_rounds(lambda games: self._games.on_threads(games, workers), told)
        files = carried_files((*settings.players, *settings.referees)) if cluster is not None else {}
        source = ComparisonSource(settings=settings, documents=self._games.documents, files=files)
        with executor_for_games(workers, cluster) as executor:
            return self._play_rounds(lambda games: in_batches(executor, source, games), told)

    def _play_rounds(self, played: _Player, told: Callable[[int], None]) -> Comparison:
        open_pairs = list(self._pairs)
        for clusters in rounds(self._settings.games // 2):
            games = [game for cluster in clusters for game in games_of(cluster, open_pairs)]
            for ended in self._in_order(games, played):
                score = _score(ended.game, ended.record, referee_of(self._settings, ended.game))
                self._tests.add(score)
                self.scores.append(score)
                told(len(self.scores))
            if self._settings.stops_early:
                open_pairs = [pair for pair in open_pairs if not self._tests.is_decided(pair)]
            if not open_pairs:
                break
        return self.result()

    def result(self) -> Comparison:
        """The result of the games so far."""
        return compare(
            self.scores,
            players=len(self._settings.players),
            referees=len(self._settings.referees),
            margin=self._settings.margin,
            error=self._settings.error,
            seed=self._settings.seed,
        )

    def close(self) -> None:
        """Complete the file of records and close it. Raises ``ConfigError``."""
        if self._file is not None:
            self._file.close()

    def _in_order(self, games: Sequence[ComparedGame], played: _Player) -> Iterator[_Ended]:
        """The games, played or kept; each is written before it is yielded."""
        file, id_of = self._file, self._games.id_of
        kept = set() if file is None else {game for game in games if id_of(game) in file}
        waiting: dict[ComparedGame, MatchRecord] = {}
        ended = played([game for game in games if game not in kept])
        for game in games:
            if file is not None and game in kept:
                yield _Ended(game, file.kept(id_of(game)))
                continue
            while game not in waiting:
                each = next(ended)
                waiting[each.game] = each.record
            record = waiting.pop(game)
            if file is not None:
                file.add(record)
            yield _Ended(game, record)


_Player = Callable[[Sequence[ComparedGame]], Iterator[_Ended]]
"""Plays games, and yields them in any order."""


class ComparedGames:
    """The games of a comparison, with the makers of its participants."""

    def __init__(self, settings: CompareSettings, knowledge: Knowledge, traffic: Traffic | None) -> None:
        """Raises ``ConfigError`` for invalid names."""
        self.settings = settings
        self.traffic = traffic
        self._pairs = pairs_of(len(settings.players))
        of_pairs = {
            (pair, referee): settings.pair(*pair, referee)
            for pair in self._pairs
            for referee in range(len(settings.referees))
        }
        self.makers = {
            key: {part: maker_of(each, part, knowledge, models_of(traffic)) for part in PARTS}
            for key, each in of_pairs.items()
        }
        self.documents = [each.document(knowledge, traffic) for each in of_pairs.values()]
        self.season = _season(settings, self.documents)

    def on_threads(self, games: Sequence[ComparedGame], workers: int) -> Iterator[_Ended]:
        """Play games in this process."""
        return play_all(games, lambda: _Casting(self), self.play, workers=workers)

    def id_of(self, game: ComparedGame) -> str:
        """The id of a game in records."""
        place = self._pairs.index((game.first, game.second))
        return match_id_of(2 * ((game.cluster - 1) * len(self._pairs) + place) + game.is_swapped + 1)

    def play(self, game: ComparedGame, cast: Cast) -> _Ended:
        """Play one game."""
        settings = self.settings
        contexts = MatchContexts(settings.rules, game.cluster)
        seats = [cast.participant("player", contexts.specs), cast.participant("opponent", contexts.specs)]
        referee = cast.participant("referee", contexts.specs)
        one, two = seats[::-1] if game.is_swapped else seats
        draw = Draw(settings.seed, f"noise/{contexts.match_id}")
        match = DirectMatch(contexts, referee, (one, two), noisy_channel(settings.rules, settings.noise, draw))
        played = match.play()
        report = match_report(match.match, settings.rules)
        facts = dict(match_facts(match.match, report, "REF-HOUSE"))
        if played is None:
            facts |= {"status": ReportStatus.ABORTED.value, "winner_id": None, "is_draw": False}
        behaviours = [each.behaviour(None) for each in (one, two)]
        return _Ended(game, self._record(facts, game, behaviours, referee.behaviour(None)))

    def _record(
        self, facts: Mapping[str, object], game: ComparedGame, behaviours: Sequence[Behaviour], referee: Behaviour
    ) -> MatchRecord:
        """The game under an id of its own: mirrored games have the same id for their agents."""
        settings = self.settings
        seats = (game.second, game.first) if game.is_swapped else (game.first, game.second)
        names = dict(zip(("player-a", "player-b"), seats, strict=True))
        winner = facts.get("winner_id")
        return MatchRecord(
            game_id=self.id_of(game),
            season_id=self.season.season_id,
            round_number=int(self.id_of(game)[2:4]),
            referee_id=referee_id(referee_of(settings, game)),
            rules=settings.rules.name,
            status=str(facts["status"]),
            winner_id=player_id(names[winner]) if isinstance(winner, str) else None,
            is_draw=facts["is_draw"] is True,
            warmup_question=text(facts.get("warmup_question")),
            brief=mapping(facts.get("brief")) or None,
            target=mapping(facts.get("target")) or None,
            players=tuple(
                _player(row, names[str(row["id"])], settings.players, behaviour)
                for row, behaviour in zip(mappings(facts.get("players")), behaviours, strict=True)
            ),
            notes=referee.complaints,
            models=tuple(step.to_json() for step in referee.models),
        )


class _Casting:
    """The players and referees of each pair, on one thread."""

    def __init__(self, games: ComparedGames) -> None:
        self._games = games
        self._stages: dict[object, Stage] = {}

    def cast(self, game: ComparedGame, /) -> Cast:
        key = ((game.first, game.second), referee_of(self._games.settings, game))
        if key not in self._stages:
            self._stages[key] = Stage(self._games.makers[key], self._games.traffic)
        return self._stages[key].cast(game.cluster)

    def close(self) -> None:
        for stage in self._stages.values():
            stage.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSource:
    """``SeriesSource`` of a comparison."""

    settings: CompareSettings
    documents: Sequence[Mapping[str, object]]
    files: CarriedFiles

    def open(self) -> _OpenComparison:
        """Make the agents. Raises ``ConfigError`` if this machine has other books or classes."""
        from league_agents.agents.library import Knowledge

        agents = (*self.settings.players, *self.settings.referees)
        knowledge = Knowledge.open(default_index_path())
        games = ComparedGames(replace(self.settings, places=local_names(agents, self.files)), knowledge, None)
        for here, wanted in zip(games.documents, self.documents, strict=True):
            check_same(here, wanted)
        return _OpenComparison(games, knowledge)


class _OpenComparison:
    """``OpenSeries`` of a comparison."""

    def __init__(self, games: ComparedGames, knowledge: Knowledge) -> None:
        self._games = games
        self._knowledge = knowledge
        self._casting = _Casting(games)

    def play(self, game: ComparedGame, /) -> _Ended:
        return self._games.play(game, self._casting.cast(game))

    def close(self) -> None:
        self._casting.close()
        self._knowledge.close()


def referee_of(settings: CompareSettings, game: ComparedGame) -> int:
    """The position of a game's referee."""
    return (game.cluster - 1) % len(settings.referees)


def player_id(position: int) -> str:
    """The id of a compared player in records."""
    return f"player-{position + 1}"


def referee_id(position: int) -> str:
    """The id of a referee in records."""
    return f"referee-{position + 1}"


def _season(settings: CompareSettings, documents: Sequence[object]) -> SeasonRecord:
    """The comparison as the season of its records: the same settings have the same id."""
    text = json.dumps([documents, settings.margin, settings.stops_early], sort_keys=True, default=str)
    return SeasonRecord(
        season_id=f"COMPARISON_{derive_hex(text, digits=12)}",
        name=" against ".join(settings.players),
        rules=settings.rules.name,
        teams=tuple(
            TeamRecord(participant_id=player_id(position), display_name=name)
            for position, name in enumerate(settings.players)
        ),
    )


def _player(row: Mapping[str, object], position: int, names: Sequence[str], behaviour: Behaviour) -> PlayerRecord:
    card = mapping(row.get("scorecard"))
    return PlayerRecord(
        participant_id=player_id(position),
        display_name=names[position],
        role=str(row["role"]),
        termination=str(row["termination"]),
        phase=str(row["phase"]),
        league_points=number(row.get("league_points")),
        private_score=number(row.get("private_score")),
        warmup_answer=text(row.get("warmup_answer")),
        questions=tuple(mappings(row.get("questions"))),
        answers=tuple(mappings(row.get("answers"))),
        guess=mapping(row.get("guess")) or None,
        scorecard=card or None,
        notes=behaviour.complaints,
        models=tuple(step.to_json() for step in behaviour.models),
    )


def _score(game: ComparedGame, record: MatchRecord, referee: int) -> GameScore:
    """The score of a game, from its record."""
    first, second = (record.player(player_id(each)) for each in (game.first, game.second))
    if first is None or second is None:
        return GameScore(game=game, referee=referee, score=None)
    score, private_scores = None, None
    if record.status == ReportStatus.COMPLETED.value and _is_judged(first) and _is_judged(second):
        score = 0.5 if record.winner_id is None else float(record.winner_id == first.participant_id)
        if first.private_score is not None and second.private_score is not None:
            private_scores = (first.private_score, second.private_score)
    return GameScore(
        game=game,
        referee=referee,
        score=score,
        models=(together(read_steps(first.models)), together(read_steps(second.models))),
        complaints=(next(iter(first.notes), ""), next(iter(second.notes), "")),
        private_scores=private_scores,
    )


def _is_judged(player: PlayerRecord) -> bool:
    """Whether the referee scored the guess: if the referee failed, the score is a card of zero points."""
    return player.scorecard is not None and player.scorecard.get("is_judged") is not False
