"""One game of a player's evaluation: a match against an opponent with the same target.

Rule: players change seats from game to game, so that a referee's bias towards a seat favours neither.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from league_agents.agents.library import Knowledge
from league_agents.agents.targets import recall
from league_agents.evaluation.bits import CandidatePool
from league_agents.evaluation.casting import Cast
from league_agents.evaluation.contexts import MatchContexts
from league_agents.evaluation.lost_games import Course, LostGame, checked_answers, course_of
from league_agents.evaluation.noise import noisy_channel
from league_agents.evaluation.playing import DirectMatch, Played, Run, UpcomingCall, end_of
from league_agents.evaluation.results import PlayerGame, PlayerSide
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.similarity import fold, sentence_similarity
from league_agents.kit.draw import Draw
from league_agents.kit.json_values import mappings
from league_agents.kit.printable import printable
from league_agents.league.machines.referee.match_state import OpenMatch
from league_agents.league.machines.reports import match_facts, match_report


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSeries:
    """The common settings of all games of an evaluation."""

    rules: RuleSet
    knowledge: Knowledge
    noise: float
    """Share of wrong answers, 0 to 1."""

    seed: int
    lost: Callable[[LostGame], None] | None = None
    """Called with each lost game, after it; ``None`` if nobody wants to look at them."""

    def play(self, game: int, cast: Cast) -> PlayerGame:
        """Play the game with this number, from 1."""
        return end_of(self.turns(game, cast))

    def turns(self, game: int, cast: Cast) -> Generator[UpcomingCall, None, PlayerGame]:
        """Play the game and yield before each call of the evaluated player; returns what ``play`` does."""
        contexts = MatchContexts(self.rules, game)
        player = cast.participant("player", contexts.specs)
        opponent = cast.participant("opponent", contexts.specs)
        referee = cast.participant("referee", contexts.specs)
        place = (game - 1) % 2
        players = (player, opponent) if place == 0 else (opponent, player)
        channel = noisy_channel(self.rules, self.noise, Draw(self.seed, f"noise/{contexts.match_id}"))
        match = DirectMatch(contexts, referee, players, channel)
        played = yield from match.turns(place)
        pool = None if played is None else self._pool(played)
        sides = (None, None) if played is None else self._sides(played, pool)
        ended = PlayerGame(
            game=game,
            seat=place + 1,
            book="" if played is None else printable(played.brief.book_name, 120),
            player=sides[place],
            opponent=sides[1 - place],
            behaviour={
                "player": player.behaviour(cast.spent("player")),
                "opponent": opponent.behaviour(cast.spent("opponent")),
                "referee": referee.behaviour(cast.spent("referee")),
            },
        )
        if self.lost is not None and played is not None and ended.is_lost:
            self.lost(self._lost(ended, match.match, played, pool))
        return ended

    def _pool(self, played: Played) -> CandidatePool | None:
        if played.target is None:
            return None
        pool = CandidatePool(self.knowledge, self.rules, played.brief, played.target)
        return pool if pool.holds_target else None

    def _sides(self, played: Played, pool: CandidatePool | None) -> tuple[PlayerSide, PlayerSide]:
        one, two = (self._side(run, played, pool) for run in played.runs)
        return one, two

    def _lost(self, ended: PlayerGame, match: OpenMatch, played: Played, pool: CandidatePool | None) -> LostGame:
        run = played.runs[ended.seat - 1]
        courses: list[Course | None] = [None, None]
        if pool is not None:
            standings = pool.course(run.questions, run.answers, self.noise)
            courses = [course_of(run, each, size) for each, size in zip(standings, pool.sizes, strict=True)]
        target, secret = played.target, None
        if target is not None:
            secret = recall(self.knowledge, played.brief, target.opening_sentence, target.associative_word)
        return LostGame(
            game=ended.game,
            seat=ended.seat,
            seed=self.seed,
            record=_record(match, ended, self.rules, self.seed),
            answers=checked_answers(run, secret, self.rules),
            opening=courses[0],
            word=courses[1],
        )

    def _side(self, run: Run, played: Played, pool: CandidatePool | None) -> PlayerSide:
        target, guess = played.target, run.guess
        gain = None if pool is None else pool.gain(run.questions, run.answers, self.noise)
        return PlayerSide(
            sentence_right=None if target is None else fold(guess.opening_sentence) == fold(target.opening_sentence),
            similarity=None if target is None else sentence_similarity(guess.opening_sentence, target.opening_sentence),
            word_right=None if target is None else fold(guess.associative_word) == fold(target.associative_word),
            bits_possible=None if gain is None else gain.possible,
            bits_gained=None if gain is None else gain.gained,
            understood=None if gain is None else gain.understood,
            points=run.card.league_points,
            private_score=run.card.private_score,
            confidence=guess.confidence,
        )


def _record(match: OpenMatch, game: PlayerGame, rules: RuleSet, seed: int) -> dict[str, object]:
    """The match in the form of ``run --single-game --record``, with the seats named by their part."""
    facts = match_facts(match, match_report(match, rules), "referee")
    parts = ("player", "opponent") if game.seat == 1 else ("opponent", "player")
    return {
        "seed": seed,
        "rules": rules.name,
        "match": {
            "game_id": facts["game_id"],
            "status": facts["status"],
            "winner_id": None if facts["is_draw"] else parts[0 if facts["winner_id"] == "player-a" else 1],
            "is_draw": facts["is_draw"],
            "abort_reason": None,
            "brief": facts["brief"],
            "notes": list(game.behaviour["referee"].complaints),
            "models": [step.to_json() for step in game.behaviour["referee"].models],
        },
        "target": facts["target"],
        "players": [
            {
                **{key: row[key] for key in ("termination", "questions", "answers", "guess", "scorecard")},
                "id": part,
                "notes": list(game.behaviour[part].complaints),
                "models": [step.to_json() for step in game.behaviour[part].models],
            }
            for row, part in zip(mappings(facts["players"]), parts, strict=True)
        ],
        "messages": [],
        "standings": [],
    }
