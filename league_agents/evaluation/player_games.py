"""One game of a player's evaluation: a match against an opponent with the same target.

Rule: players change seats from game to game, so that a referee's bias towards a seat favours neither.
"""

from __future__ import annotations

from dataclasses import dataclass

from league_agents.agents.library import Knowledge
from league_agents.evaluation.bits import CandidatePool
from league_agents.evaluation.casting import Cast
from league_agents.evaluation.contexts import MatchContexts
from league_agents.evaluation.noise import noisy_channel
from league_agents.evaluation.playing import DirectMatch, Played, Run
from league_agents.evaluation.results import PlayerGame, PlayerSide
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.similarity import fold, sentence_similarity
from league_agents.kit.draw import Draw
from league_agents.kit.printable import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSeries:
    """The common settings of all games of an evaluation."""

    rules: RuleSet
    knowledge: Knowledge
    noise: float
    """Share of wrong answers, 0 to 1."""

    seed: int

    def play(self, game: int, cast: Cast) -> PlayerGame:
        """Play the game with this number, from 1."""
        contexts = MatchContexts(self.rules, game)
        player = cast.participant("player", contexts.specs)
        opponent = cast.participant("opponent", contexts.specs)
        referee = cast.participant("referee", contexts.specs)
        place = (game - 1) % 2
        players = (player, opponent) if place == 0 else (opponent, player)
        channel = noisy_channel(self.rules, self.noise, Draw(self.seed, f"noise/{contexts.match_id}"))
        played = DirectMatch(contexts, referee, players, channel).play()
        sides = (None, None) if played is None else self._sides(played)
        return PlayerGame(
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

    def _sides(self, played: Played) -> tuple[PlayerSide, PlayerSide]:
        pool = None
        if played.target is not None:
            pool = CandidatePool(self.knowledge, self.rules, played.brief, played.target)
        one, two = (self._side(run, played, pool if pool and pool.holds_target else None) for run in played.runs)
        return one, two

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
