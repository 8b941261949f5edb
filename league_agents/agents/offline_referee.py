"""A referee without a model: it draws a target, answers from the page, and scores in code.

Rule 1: an answer is computed or read, never guessed. If the page does not tell, the answer is the "cannot tell" option,
or ``Not Relevant``.
Rule 2: the target survives a restart: it comes back in the context, is in memory, or is drawn again from the seed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from league_agents.agents.answering import choice_at, options_meant, told_by_code
from league_agents.agents.base import Context, RefereeAI, Reply
from league_agents.agents.contexts import AskedQuestion, CallContext, as_text
from league_agents.agents.difficulty import Difficulty
from league_agents.agents.library import Knowledge
from league_agents.agents.scripted import scorecard_reply
from league_agents.agents.targets import OWN_SHARE, Secret, choose_target, recall
from league_agents.games.q21.as_json import answers_as_json
from league_agents.games.q21.model import Answer, Choice, Guess, Question, Scorecard
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.scoring import score
from league_agents.games.q21.untrusted import number_of
from league_agents.kit.draw import Draw

_MATCHES_KEPT = 64


@dataclass(frozen=True, slots=True)
class AnsweredPlayer:
    """The questions of one player and their answers."""

    questions: tuple[Question, ...]
    answers: tuple[Answer, ...]


class OfflineReferee(RefereeAI):
    """Judges from the books of a ``Knowledge``; the same seed and match give the same target."""

    def __init__(
        self,
        *,
        rules: RuleSet,
        knowledge: Knowledge,
        seed: int | str,
        difficulty: Difficulty = Difficulty.MEDIUM,
        own_share: float = OWN_SHARE,
    ) -> None:
        """``own_share``: see ``choose_target``."""
        self._own_share = own_share
        self._rules = rules
        self._knowledge = knowledge
        self._seed = seed
        self._difficulty = difficulty
        self._secrets: OrderedDict[str, Secret] = OrderedDict()
        self._rounds: OrderedDict[tuple[str, str], AnsweredPlayer] = OrderedDict()
        self._told: OrderedDict[str, None] = OrderedDict()
        """Matches with a hint already given, so that a repeated call returns the same hint."""

    def get_warmup_question(self, ctx: Context) -> Reply:
        """Return a sum to work out."""
        draw = Draw(self._seed, f"warmup/{CallContext(ctx).match_id()[:200]}")
        return {"warmup_question": f"How much is {draw.below(20) + 2} plus {draw.below(20) + 2}?"}

    def get_round_start_info(self, ctx: Context) -> Reply:
        """Return the brief and, for this side only, the target."""
        context = CallContext(ctx)
        match_id = context.match_id()
        secret = self._drawn(match_id)
        if not match_id or match_id not in self._told:
            secret = self._kept(match_id, self._hinted(secret, context))
            self._told[match_id] = None
            while len(self._told) > _MATCHES_KEPT:
                self._told.popitem(last=False)
        return {
            "book_name": secret.brief.book_name,
            "book_hint": secret.brief.book_hint,
            "association_word": secret.brief.association_domain,
            "actual_opening_sentence": secret.target.opening_sentence,
            "actual_associative_word": secret.target.associative_word,
        }

    def get_answers(self, ctx: Context) -> Reply:
        """Return one answer to each question."""
        context = CallContext(ctx)
        secret = self._secret(context)
        asked = context.questions("questions")
        choices = self._choices(asked, secret, context)
        answers = tuple(Answer(number=q.number, choice=choice) for q, choice in zip(asked, choices, strict=True))
        questions = tuple(Question(number=q.number, text=q.text, options=q.options) for q in asked)
        self._rounds[context.match_id(), context.text("player_id")] = AnsweredPlayer(questions, answers)
        while len(self._rounds) > 2 * _MATCHES_KEPT:
            self._rounds.popitem(last=False)
        listed = answers_as_json(answers)
        # The contract requires at least one answer, even if there are no questions.
        return {"answers": listed or [{"question_number": 1, "answer": Choice.NOT_RELEVANT.value}]}

    def get_score_feedback(self, ctx: Context) -> Reply:
        """Return the score according to the rules."""
        context = CallContext(ctx)
        secret = self._secret(context)
        return scorecard_reply(self._judged(guess_in(context), secret, self._played(context), context))

    # Hooks that a referee with a model overrides.

    def _choices(self, asked: Sequence[AskedQuestion], secret: Secret, context: CallContext) -> list[Choice]:
        """Return the answers, in the order of the questions."""
        return [choice_at(told_by_code(q, secret, self._rules), options_meant(q, self._rules)) for q in asked]

    def _judged(self, guess: Guess, secret: Secret, played: AnsweredPlayer, context: CallContext) -> Scorecard:
        return score(guess, secret.target, secret.brief, played.questions, played.answers, self._rules)

    def _hinted(self, secret: Secret, context: CallContext) -> Secret:
        """Return the secret with the hint that the players receive."""
        return secret

    def _secret(self, context: CallContext) -> Secret:
        match_id = context.match_id()
        known = self._secrets.get(match_id)
        sentence, word = context.text("actual_opening_sentence"), context.text("actual_associative_word")
        if known is None and not sentence:
            known = self._drawn(match_id)
        if (
            known is not None
            and sentence in ("", known.target.opening_sentence)
            and word
            in (
                "",
                known.target.associative_word,
            )
        ):
            return known
        brief = context.brief()
        if known is not None and not brief.book_name:
            brief = known.brief
        return self._kept(match_id, recall(self._knowledge, brief, sentence, word))

    def _drawn(self, match_id: str) -> Secret:
        known = self._secrets.get(match_id)
        if known is not None and match_id:
            return known
        # Without a match identifier, treat each call as a new match.
        label = match_id[:200] or f"unnamed {len(self._secrets)}"
        draw = Draw(self._seed, f"target/{label}")
        return self._kept(
            match_id, choose_target(self._knowledge, self._rules, draw, self._difficulty, own_share=self._own_share)
        )

    def _kept(self, match_id: str, secret: Secret) -> Secret:
        self._secrets[match_id] = secret
        self._secrets.move_to_end(match_id)
        while len(self._secrets) > _MATCHES_KEPT:
            self._secrets.popitem(last=False)
        return secret

    def _played(self, context: CallContext) -> AnsweredPlayer:
        """Return this player's questions and answers: from the context if present, else from memory, else none."""
        asked = context.questions("questions")
        letters = context.answers()
        if asked and letters:
            return AnsweredPlayer(
                tuple(Question(number=q.number, text=q.text, options=q.options) for q in asked),
                tuple(Answer(number=q.number, choice=_choice(letters.get(q.number))) for q in asked),
            )
        return self._rounds.get((context.match_id(), context.text("player_id")), AnsweredPlayer((), ()))


def _choice(letter: str | None) -> Choice:
    return Choice.NOT_RELEVANT if letter is None else Choice(letter)


def guess_in(context: CallContext) -> Guess:
    guess = context.value("player_guess")
    fields = guess if isinstance(guess, dict) else {}
    confidence = fields.get("confidence")
    return Guess(
        opening_sentence=as_text(fields.get("opening_sentence")),
        sentence_justification=as_text(fields.get("sentence_justification")),
        associative_word=as_text(fields.get("associative_word")),
        word_justification=as_text(fields.get("word_justification")),
        confidence=number_of(confidence),
    )
