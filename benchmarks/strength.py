"""How well the offline player plays: seeded games against the offline referee, with answers made wrong on purpose.

What is measured is the real thing: the two agents, called like a runner calls them, with real novels and all passages
of the book as candidates. Answers are made wrong as in ``evaluation/noise``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from league_agents.agents.base import Context, PlayerAI, RefereeAI, Reply
from league_agents.agents.contexts import CallContext
from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.agents.questions.batch import Strategy
from league_agents.evaluation.noise import with_noise
from league_agents.games.q21.model import Answer, Choice, Question
from league_agents.games.q21.rules import COURSE, PRD, RuleSet, TargetKind
from league_agents.games.q21.similarity import fold, sentence_similarity
from league_agents.kit.draw import Draw
from league_agents.kit.values import evolve
from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.documents import Document
from tests.support.books import cached_books

GAMES = 200

NOVELS = (
    "Adventures of Huckleberry Finn",
    "Emma",
    "Frankenstein",
    "Mansfield Park",
    "Moby-Dick",
    "Northanger Abbey",
    "Persuasion",
    "Pride and Prejudice",
    "Sense and Sensibility",
)
"""From 200 to 1,400 passages each."""


class OtherAnswers(RefereeAI):
    """Another referee, whose answers a subclass changes."""

    def __init__(self, referee: RefereeAI) -> None:
        self._referee = referee

    def get_warmup_question(self, ctx: Context) -> Reply:
        return self._referee.get_warmup_question(ctx)

    def get_round_start_info(self, ctx: Context) -> Reply:
        return self._referee.get_round_start_info(ctx)

    def get_score_feedback(self, ctx: Context) -> Reply:
        return self._referee.get_score_feedback(ctx)


class NoisyReferee(OtherAnswers):
    """Another referee whose answers are made wrong with a probability, by a seeded draw for each match."""

    def __init__(self, referee: RefereeAI, *, rules: RuleSet, wrong: float, seed: int | str) -> None:
        """``wrong``: 0 to 1."""
        super().__init__(referee)
        self._rules = rules
        self._wrong = wrong
        self._seed = seed

    def get_answers(self, ctx: Context) -> Reply:
        """The referee's answers, each wrong with the probability that was given."""
        context = CallContext(ctx)
        draw = Draw(self._seed, f"noise/{context.match_id()}/{context.text('player_id')}")
        questions = tuple(
            Question(number=asked.number, text=asked.text, options=asked.options)
            for asked in context.questions("questions")
        )
        answers = self._referee.get_answers(ctx)["answers"]
        assert isinstance(answers, list)
        given = tuple(Answer(number=item["question_number"], choice=Choice(item["answer"])) for item in answers)
        noisy = with_noise(given, questions, self._rules, self._wrong, draw)
        return {
            "answers": [{**item, "answer": answer.choice.value} for item, answer in zip(answers, noisy, strict=True)]
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """What came out of a series of games."""

    games: int

    sentence_right: float
    """The share of games with the right opening sentence."""

    word_right: float

    private_score: float
    """The mean, 0 to 100."""

    bits_won: float
    """The mean of what the player's stated confidence in a right sentence is worth over guessing among all passages."""

    @property
    def margin(self) -> float:
        """Half of the 95 % interval of ``sentence_right``."""
        p = self.sentence_right
        return 1.96 * math.sqrt(max(p * (1 - p), 1 / self.games) / self.games)


def rules_for(name: str) -> RuleSet:
    """The built-in set ``course`` or ``prd``, with passages as targets."""
    return evolve({"course": COURSE, "prd": PRD}[name], target_kind=TargetKind.PASSAGE_OPENING)


def knowledge_of(books: Sequence[Document]) -> Knowledge:
    """The books and the catalogue's domains, in memory: no work of the catalogue is a candidate beside the passages."""
    return Knowledge(documents=books, catalogue=Catalogue([], Catalogue.load().domains))


def measure(
    knowledge: Knowledge,
    rules: RuleSet,
    *,
    wrong_percent: float,
    strategy: Strategy = Strategy.CHOSEN,
    games: int = GAMES,
    seed: int | str = 1,
    hides_hint: bool = False,
) -> Strength:
    """Play ``games`` games. The targets depend on the seed alone, so every strategy and level of noise meets the same
    ones.

    ``hides_hint`` keeps hint and domain from the player, so that only its questions count.
    """
    referee = NoisyReferee(
        OfflineReferee(rules=rules, knowledge=knowledge, seed=seed), rules=rules, wrong=wrong_percent / 100, seed=seed
    )
    player = OfflinePlayer(rules=rules, knowledge=knowledge, seed=seed, strategy=strategy)
    return series(referee, player, knowledge, games=games, hides_hint=hides_hint)


def series(
    referee: RefereeAI, player: PlayerAI, knowledge: Knowledge, *, games: int, hides_hint: bool = False
) -> Strength:
    """What comes out of ``games`` games of any two agents; the referee plays books of ``knowledge``."""
    sentences = words = 0
    total = bits = 0.0
    for number in range(games):
        game = play(referee, player, match_id=f"S{number:05d}", hides_hint=hides_hint)
        sentences += game.is_sentence_right
        words += game.is_word_right
        total += game.private_score
        volume = knowledge.volume(game.book_name)
        passages = len(volume.passages) if volume else 1
        bits += math.log2(max(game.confidence, 1 / passages) * passages) if game.is_sentence_right else 0.0
    return Strength(
        games=games,
        sentence_right=sentences / games,
        word_right=words / games,
        private_score=total / games,
        bits_won=bits / games,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """One game by direct calls."""

    book_name: str
    target: str
    guess: str
    is_sentence_right: bool
    """Whether the words are the same; typography is no difference."""

    similarity: float
    """Of the guessed to the true sentence, 0 to 100."""

    is_word_right: bool
    private_score: float
    confidence: float


def play(referee: RefereeAI, player: PlayerAI, *, match_id: str, hides_hint: bool = False) -> PlayedGame:
    """One game of one player, called as a runner calls."""
    start = referee.get_round_start_info(_context(match_id))
    brief = {key: start[key] for key in ("book_name", "book_hint", "association_word")}
    seen = {**brief, "book_hint": "", "association_word": ""} if hides_hint else brief
    secret = {key: start[key] for key in ("actual_opening_sentence", "actual_associative_word")}
    questions = player.get_questions(_context(match_id, **seen))["questions"]
    answers = referee.get_answers(_context(match_id, **brief, **secret, player_id="player", questions=questions))[
        "answers"
    ]
    guess = player.get_guess(_context(match_id, **seen, questions_sent=questions, answers=answers))
    card = referee.get_score_feedback(
        _context(
            match_id, **brief, **secret, player_id="player", player_guess=guess, questions=questions, answers=answers
        )
    )
    player.on_score_received(_context(match_id))
    target, guessed = str(secret["actual_opening_sentence"]), str(guess["opening_sentence"])
    return PlayedGame(
        book_name=str(start["book_name"]),
        target=target,
        guess=guessed,
        is_sentence_right=fold(guessed) == fold(target),
        similarity=sentence_similarity(guessed, target),
        is_word_right=fold(str(guess["associative_word"])) == fold(str(secret["actual_associative_word"])),
        private_score=_number(card["private_score"]),
        confidence=_number(guess["confidence"]),
    )


def measure_strength(
    *, rules: RuleSet, wrong: float, questions: str, games: int = GAMES, seed: int | str = 1, hides_hint: bool = True
) -> Strength:
    """One row of the benchmark: real novels, all passages of the book as candidates. Raises ``BooksMissing``.

    ``wrong`` is 0 to 1, ``questions`` a value of ``Strategy``. By default hint and domain are hidden, so that nothing
    but the questions tells the passages apart; the word is then hardly to be found, so measure it with
    ``hides_hint=False``.
    """
    return measure(
        _shelf_of_novels(),
        evolve(rules, target_kind=TargetKind.PASSAGE_OPENING),
        wrong_percent=100 * wrong,
        strategy=Strategy(questions),
        games=games,
        seed=seed,
        hides_hint=hides_hint,
    )


@cache
def _shelf_of_novels() -> Knowledge:
    return knowledge_of(cached_books(list(NOVELS)))


def _context(match_id: str, **dynamic: object) -> Mapping[str, object]:
    return {"dynamic": {"match_id": match_id, **dynamic}, "service": {"match_id": match_id}}


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
