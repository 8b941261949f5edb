"""The player with a model, measured: the model is an oracle that writes questions and mostly predicts right.

What is played is the whole ``LlmPlayer``: its prompts, its choice, its belief. The oracle reads the candidates out of
the prompt. Each of its questions has a true answer for every sentence, drawn from a seed with shares as uneven as a
model's questions have; its predictions are wrong with a probability, and so are the referee's answers.

Two ways are told apart. As it is played, the oracle sees the likeliest candidates only, as the tokens of a game allow,
and code asks questions of its own. ``alone`` leaves it the oracle's questions only, predicted for all candidates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import TypeVar

from pydantic import BaseModel

from benchmarks.strength import GAMES, NOVELS, NoisyReferee, OtherAnswers, Strength, knowledge_of, series
from league_agents.agents.base import Context, RefereeAI, Reply
from league_agents.agents.contexts import AskedQuestion, CallContext
from league_agents.agents.fence import one_line
from league_agents.agents.library import Knowledge
from league_agents.agents.llm_player import LlmPlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.agents.player_chain.writing import PoolSize, QuestionPool
from league_agents.agents.questions.grammar import recognise
from league_agents.games.q21.model import LETTERS
from league_agents.games.q21.rules import AnswerKey, RuleSet, TargetKind
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ModelRefused
from league_agents.kit.values import evolve
from league_agents.knowledge.documents import Document
from league_agents.knowledge.passages import passages
from league_agents.llm.port import Completion, Parsed, Prompt, Usage
from tests.support.books import cached_books

M = TypeVar("M", bound=BaseModel)

CANDIDATES = 300
PREDICTION_ERROR = 0.1
_ALONE_QUESTIONS = 60

_CANDIDATES = re.compile(r"<<candidates ([0-9a-f]{12})\n(.*?)\n\1>>", re.DOTALL)
_NUMBER = re.compile(r"^\d+\. ")
_THEME = re.compile(r"theme (\d{1,3})\b")
_LOOKED_AT = 60
"""Characters by which the oracle knows a sentence: a prompt may cut it later than here."""


class Oracle:
    """What is true of every sentence, and a model that mostly knows it."""

    def __init__(self, key: AnswerKey, *, seed: int | str, error: float = PREDICTION_ERROR) -> None:
        self._key = key
        self._seed = seed
        self._error = error

    @property
    def name(self) -> str:
        return "oracle:1"

    def truth(self, question: str, sentence: str) -> str | None:
        """The letter that is right; ``None`` for a question that is not the oracle's."""
        found = _THEME.search(question)
        if found is None:
            return None
        weights = self._shares(int(found[1]))
        place = Draw(self._seed, f"truth/{found[1]}/{_known_by(sentence)}").fraction() * sum(weights)
        for letter, weight in zip(LETTERS, weights, strict=False):
            place -= weight
            if place < 0:
                return letter
        return LETTERS[len(weights) - 1]

    def _shares(self, theme: int) -> list[float]:
        """How often each answer is right: as uneven as a flat Dirichlet draw, of which nothing is below a twentieth."""
        draw = Draw(self._seed, f"shares/{theme}")
        if self._key is AnswerKey.OWN:
            return [0.2 - math.log(1 - draw.fraction()) for _ in range(4)]
        yes = 0.3 + 0.4 * draw.fraction()
        return [0.92 * yes, 0.92 * (1 - yes), 0.08]

    def complete_json(
        self,
        prompt: Prompt,
        schema: type[M],
        *,
        timeout: timedelta,
        max_output_tokens: int,
    ) -> Parsed[M]:
        """The pool; the wording of a guess is left to code."""
        if schema is not QuestionPool:
            raise ModelRefused
        block = _CANDIDATES.search(prompt.user)
        lines = block[2].split("\n") if block else []
        shown = [_NUMBER.sub("", line).split(" // ")[0] for line in lines]
        wanted = re.search(r"Questions to write: (\d+) lines", prompt.user)
        questions = [self._line(theme, shown) for theme in range(1, int(wanted[1]) + 1)] if wanted else []
        value = schema.model_validate({"recalled": [], "words": [], "questions": questions})
        text = value.model_dump_json()
        return Parsed(value=value, completion=Completion(text=text, model=self.name, usage=Usage(requests=1)))

    def complete_text(self, prompt: Prompt, *, timeout: timedelta, max_output_tokens: int) -> Completion:
        raise ModelRefused

    def _line(self, theme: int, shown: list[str]) -> str:
        letters = []
        for sentence in shown:
            draw = Draw(self._seed, f"prediction/{theme}/{_known_by(sentence)}")
            right = self.truth(f"theme {theme}", sentence)
            others = [letter for letter in LETTERS[: len(self._shares(theme))] if letter != right]
            letters.append(draw.choice(others) if draw.chance(self._error) else right or "?")
        grouped = numbered(letters)
        if self._key is AnswerKey.FIXED:
            return f"Does the passage touch theme {theme}? | {grouped}"
        return f"Which side of theme {theme} is shown? | the first | the second | the third | none | {grouped}"


class OracleReferee(OtherAnswers):
    """The offline referee, who also knows the true answers to the oracle's questions."""

    def __init__(self, referee: RefereeAI, oracle: Oracle) -> None:
        super().__init__(referee)
        self._oracle = oracle

    def get_answers(self, ctx: Context) -> Reply:
        """The answers of both."""
        context = CallContext(ctx)
        sentence = context.text("actual_opening_sentence")
        answers = self._referee.get_answers(ctx)["answers"]
        assert isinstance(answers, list)
        told = {q.number: self._told(q, sentence) for q in context.questions("questions")}
        return {
            "answers": [{**item, "answer": told.get(item["question_number"]) or item["answer"]} for item in answers]
        }

    def _told(self, question: AskedQuestion, sentence: str) -> str | None:
        known = recognise(question.text, question.options) is not None
        return None if known else self._oracle.truth(question.text, sentence)


def numbered(letters: Sequence[str]) -> str:
    """Return predictions in the form of the prompt: ``A 1 4; B 2 3``."""
    places = {letter: [str(n) for n, each in enumerate(letters, start=1) if each == letter] for letter in LETTERS}
    return "; ".join(f"{letter} {' '.join(numbers)}" for letter, numbers in places.items() if numbers)


def _known_by(sentence: str) -> str:
    return one_line(sentence, 600).rstrip("….")[:_LOOKED_AT].rstrip()


def measure_llm_player(
    knowledge: Knowledge, rules: RuleSet, *, wrong: float, games: int = GAMES, seed: int | str = 1, alone: bool = False
) -> Strength:
    """Games of the whole ``LlmPlayer`` against a referee that is wrong with probability ``wrong``; without hints, so
    that nothing but the questions tells the candidates apart.
    """
    rules = evolve(rules, target_kind=TargetKind.PASSAGE_OPENING)
    oracle = Oracle(rules.answer_key, seed=seed)
    offline = OfflineReferee(rules=rules, knowledge=knowledge, seed=seed)
    referee = NoisyReferee(OracleReferee(offline, oracle), rules=rules, wrong=wrong, seed=seed)
    player = LlmPlayer(
        rules=rules,
        knowledge=knowledge,
        seed=seed,
        models=lambda _callback: oracle,
        pool_size=PoolSize(questions=_ALONE_QUESTIONS, shown=CANDIDATES) if alone else None,
        is_computed=not alone,
    )
    return series(referee, player, knowledge, games=games, hides_hint=True)


def measure_llm_strength(
    *, rules: RuleSet, wrong: float, alone: bool, games: int = GAMES, seed: int | str = 1
) -> Strength:
    """One row of the benchmark: eight books of 300 passages each. Raises ``BooksMissing``."""
    return measure_llm_player(_books_of_300(), rules, wrong=wrong, games=games, seed=seed, alone=alone)


@cache
def _books_of_300() -> Knowledge:
    return knowledge_of([_shortened(book) for book in cached_books([title for title in NOVELS if title not in _SHORT])])


_SHORT = ("Frankenstein",)
"""It has 200 passages."""


def _shortened(book: Document) -> Document:
    """The book with 300 of its passages, spread over the whole."""
    found = list(passages(book))
    kept = [found[i * len(found) // CANDIDATES] for i in range(CANDIDATES)]
    return evolve(book, text="\n\n".join(passage.text for passage in kept))
