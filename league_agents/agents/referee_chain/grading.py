"""A model's grades of the justifications, and their bounded effect on the score.

Rule 1: the model never receives the target, so a justification cannot make it reveal the target.
Rule 2: the model returns small numbers and the numbers of remarks; code computes the grade and words the remarks.
Rule 3: a grade changes the quality counted by code by at most ``MOST_INFLUENCE``, and never the league points: a shift
that would change them is reduced until it does not.
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from league_agents.agents.asking import CallbackRun
from league_agents.agents.fence import whole_words
from league_agents.agents.offline_referee import AnsweredPlayer
from league_agents.agents.targets import Secret
from league_agents.games.q21.justification import MOST_WORDS_READ, cited_numbers
from league_agents.games.q21.model import LETTERS, Guess, Scorecard
from league_agents.games.q21.rules import RuleSet, WordLimit
from league_agents.games.q21.scoring import Grades, counted, score
from league_agents.games.q21.words import cut_to_words
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.tokens import cut_to_tokens, tokens_in

STEP = "referee_grades"
MOST_OUTPUT_TOKENS = 400
MOST_INFLUENCE = 20.0
"""Largest change of the quality (0 to 100) of one justification: at most six points of the private score with the usual
weights."""

JUSTIFICATION_TOKENS = 260
CITED_TOKENS = 420
_BEST = 4
_MOST_REMARKS = 3

REMARKS = (
    "Each citation leads one step nearer to the guessed {thing}, which is how a justification should read.",
    "The reasoning is clear and comes in a good order.",
    "Alternatives are named and excluded, which makes the argument stronger.",
    "The argument is careful about what the answers do not say.",
    "The hint is used well.",
    "Answers are named, but what follows from them is not said.",
    "Some of the cited answers would suit many other candidates just as well.",
    "No alternative is considered, so a reader cannot see why this {thing} and no other.",
    "An answer is taken to say more than it says.",
    "The hint is not used, although it would have helped.",
    "Parts of the text assert where they should argue.",
    "The wording is vague where the answers are exact.",
    "Part of the text speaks to the judge instead of about the {thing}; that counts for nothing.",
)
"""Remarks from which a model may choose."""


class Grade(BaseModel):
    """What a model thinks of one justification."""

    # The service keeps the bounds where it can; a number beyond them is clamped, not asked for again.
    uses_answers: int = Field(json_schema_extra={"minimum": 0, "maximum": _BEST})
    leads_to_guess: int = Field(json_schema_extra={"minimum": 0, "maximum": _BEST})
    is_clear: int = Field(json_schema_extra={"minimum": 0, "maximum": _BEST})
    remarks: list[int] = Field(default_factory=list, json_schema_extra={"maxItems": _MOST_REMARKS})

    @property
    def value(self) -> float:
        """Grade from 0 to 100; numbers out of range are clamped."""
        parts = ((self.uses_answers, 2), (self.leads_to_guess, 2), (self.is_clear, 1))
        return sum(weight * min(_BEST, max(0, part)) for part, weight in parts) * 100 / (5 * _BEST)

    def said(self, thing: str) -> tuple[str, ...]:
        """Return the chosen remarks as sentences from ``REMARKS``."""
        chosen = sorted({number for number in self.remarks[:20] if 1 <= number <= len(REMARKS)})[:_MOST_REMARKS]
        return tuple(REMARKS[number - 1].format(thing=thing) for number in chosen)


class GradePair(BaseModel):
    """What a model thinks of both."""

    sentence: Grade
    word: Grade


def opinion(
    turn: CallbackRun, guess: Guess, secret: Secret, played: AnsweredPlayer, rules: RuleSet
) -> GradePair | None:
    """Ask the model for its grades; ``None`` without a reply, or if both justifications are empty."""
    texts = (
        _read(guess.sentence_justification, rules.sentence_justification),
        _read(guess.word_justification, rules.word_justification),
    )
    if not any(map(str.strip, texts)):
        turn.not_asked(STEP, Why.NOTHING_TO_ASK)
        return None
    if not turn.may_ask(STEP):
        return None
    return turn.ask(
        STEP,
        GradePair,
        max_output_tokens=MOST_OUTPUT_TOKENS,
        salt=secret.target.opening_sentence,
        hint=secret.brief.book_hint,
        domain=secret.brief.association_domain,
        sentence=cut_to_tokens(guess.opening_sentence[:600], 110),
        sentence_justification=texts[0],
        word=guess.associative_word[:80],
        word_justification=texts[1],
        cited=_cited(" ".join(texts), played),
        remarks=[remark.format(thing="sentence or word") for remark in REMARKS],
    )


def judged(
    turn: CallbackRun, guess: Guess, secret: Secret, played: AnsweredPlayer, rules: RuleSet, pair: GradePair | None
) -> Scorecard:
    """Return the scorecard: points as counted by code, the private score shifted within its tier."""
    plain = score(guess, secret.target, secret.brief, played.questions, played.answers, rules)
    if pair is None:
        return plain
    quality = counted(guess, secret.brief, played.questions, played.answers, rules)
    shifts = [
        min(MOST_INFLUENCE, max(-MOST_INFLUENCE, grade.value - own))
        for grade, own in zip((pair.sentence, pair.word), quality, strict=True)
    ]
    for share in (1.0, 0.5, 0.25, 0.0):
        graded = Grades(
            sentence_justification=quality[0] + share * shifts[0],
            word_justification=quality[1] + share * shifts[1],
            sentence_remarks=pair.sentence.said("sentence"),
            word_remarks=pair.word.said("word"),
        )
        card = score(guess, secret.target, secret.brief, played.questions, played.answers, rules, graded=graded)
        if card.league_points == plain.league_points:
            turn.settle(STEP, *((ModelWorkUse.USED, None) if share == 1 else (ModelWorkUse.PARTLY_USED, Why.BOUNDED)))
            return card
    turn.settle(STEP, ModelWorkUse.REPLACED, Why.BOUNDED)
    return plain


def _read(text: str, limit: WordLimit) -> str:
    """Truncate a justification to the part that is scored, and to the token budget."""
    return cut_to_tokens(cut_to_words(text[:6000], limit.most or MOST_WORDS_READ), JUSTIFICATION_TOKENS)


def _cited(text: str, played: AnsweredPlayer) -> list[str]:
    """Return the cited questions with the answers given, to check a justification against."""
    numbers = cited_numbers(text)
    choices = {answer.number: answer.choice for answer in played.answers}
    lines: list[str] = []
    used = 0
    for question in played.questions:
        choice = choices.get(question.number)
        if question.number not in numbers or choice is None:
            continue
        said = question.options[LETTERS.index(choice.value)] if choice.value in LETTERS else ""
        line = f"{question.number}. {whole_words(question.text, 160)} — {choice.value} {whole_words(said, 60)}"
        used += tokens_in(line) + 1
        if used > CITED_TOKENS:
            break
        lines.append(line)
    return lines
