"""A player with a model: the model writes questions and predicts their answers; code chooses, infers and looks up.

Rule 1: at any point there is a complete, valid reply from code alone: the batch without a model is made before the
model is asked, and the guess before it is worded.
Rule 2: at most two paid model calls in a game: one for the pool of questions, one for the wording or, if the answers
fit no known sentence, for the model's memory; each is repeated at most once if its form is wrong. That is at most 8,000
tokens in and 3,000 out, and 20,000 and 6,000 with both repeated.
(After a restart the second call may be one for the pool, whose reply is longer: rule 3.)
Rule 3: no state is lost with this object. The prompts depend only on the context and the seed, so after a restart the
model is asked for the same pool again, which costs nothing if completions are recorded; if it did cost something, code
words the guess. The questions themselves come back in the context.
Rule 4: a sentence from the model's memory is guessed only if no stored one fits; a stored sentence is never retyped.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from league_agents.agents.asking import Asker, CallbackRun, Models
from league_agents.agents.base import Context, PlayerAI, Reply
from league_agents.agents.batches import answer_codes, batch_reply, questions_for_unlisted, worded_batch
from league_agents.agents.briefs import BRIEFS_KEPT, Memories, kept
from league_agents.agents.candidates import Candidates, enumerate_candidates
from league_agents.agents.contexts import AskedQuestion, CallContext
from league_agents.agents.every_sentence import believe
from league_agents.agents.guesses import conclude, guess_reply, justified
from league_agents.agents.library import Knowledge
from league_agents.agents.player_chain.enriched import Addition, with_remembered, with_sentences, with_words
from league_agents.agents.player_chain.memory import STEP as MEMORY
from league_agents.agents.player_chain.memory import ask_for_memory, settle_memory, shown_answers
from league_agents.agents.player_chain.noise import NoiseTally, RefereeNoise, compared
from league_agents.agents.player_chain.wording import STEP as WORDING
from league_agents.agents.player_chain.wording import ask_for_wording
from league_agents.agents.player_chain.writing import (
    LEAST_TIME,
    POOL_SIZES,
    PoolSize,
    WrittenPool,
    ask_for_pool,
    settle_batch,
    settle_found,
    settle_late,
)
from league_agents.agents.player_chain.writing import STEP as WRITING
from league_agents.agents.questions.batch import plan_batch
from league_agents.agents.questions.belief import Extra, candidates_left
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.questions.kinds import Inquiry
from league_agents.agents.warmup import warmup_answer
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import Brief
from league_agents.games.q21.rules import RuleSet, TargetKind
from league_agents.games.q21.untrusted import field_of, number_of
from league_agents.kit.candidates_left import CANDIDATES_LEFT
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.draw import Draw
from league_agents.kit.model_work import Why

_MOST_RETRIEVED = 60
_RETRIEVED_SHARE = 0.4
"""Share of the prior for passages that match the hint of a book whose name is not known."""

_RECALLED_SHARE = {True: 0.06, False: 0.25}
"""Probability of the sentences from the model's memory, by whether the book's name was recognised."""

_WORDS_SHARE = {True: 0.25, False: 0.6}
"""Share of the word probabilities for words that the model proposes, by whether people listed the domain's words."""

_PLANNING_MARGIN = 1.5
"""Factor on the time of the first choice: choosing again, from more questions, takes longer."""

_RIGHT_SCORE = 99.0
"""Lowest sentence score that shows that the guess was the target, so that the answers can be compared with it."""

_GAMES_KEPT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The questions for a brief, and the candidates they were chosen for."""

    questions: tuple[AskedQuestion, ...]
    candidates: Candidates
    written: int = 0
    """Number of questions that the model wrote."""


class LlmPlayer(PlayerAI):
    """Plays with a model if there is one, otherwise without."""

    def __init__(
        self,
        *,
        rules: RuleSet,
        knowledge: Knowledge,
        seed: int | str,
        models: Models,
        clock: Clock | None = None,
        pool_size: PoolSize | None = None,
        is_computed: bool = True,
    ) -> None:
        """A ``pool_size`` below the default suits a slow model: the full pool is about 2,000 tokens, written within the
        time limit of ``get_questions``. If ``is_computed`` is false, code asks no questions about the text once there
        is a pool; for measuring only.
        """
        self._rules = rules
        self._knowledge = knowledge
        self._seed = seed
        self._clock = clock or SystemClock()
        self._asker = Asker(models, key=seed, clock=self._clock)
        self._size = pool_size or POOL_SIZES[rules.answer_key]
        self._is_computed = is_computed
        self._noise = RefereeNoise(rules.answer_key)
        self._memories = Memories()
        self._found: OrderedDict[Brief, Candidates] = OrderedDict()
        self._pools: OrderedDict[Brief, WrittenPool] = OrderedDict()
        self._played: OrderedDict[str, tuple[str, NoiseTally]] = OrderedDict()

    def get_warmup_answer(self, ctx: Context) -> Reply:
        """Return the result of a sum of two numbers; a fixed word for any other question, which is not scored."""
        return {"answer": warmup_answer(CallContext(ctx).text("warmup_question"))}

    def get_questions(self, ctx: Context) -> Reply:
        """Return the batch with the best expected score."""
        context = CallContext(ctx)
        turn = self._asker.begin(context, "get_questions")
        brief = context.brief()
        batch = self._batch(brief, turn, self._noise.expected(_referee(context)))
        self._memories.keep(context.match_id(), brief, batch.questions)
        return turn.told(batch_reply(batch.questions))

    def get_guess(self, ctx: Context) -> Reply:
        """Return the likeliest sentence and word after the answers."""
        context = CallContext(ctx)
        turn, again = self._asker.begin(context, "get_guess"), self._asker.begin(context, "get_questions")
        brief, sent = self._memories.recalled(context)
        extra = self._noise.expected(_referee(context))
        if not sent:
            sent = list(self._batch(brief, again, extra).questions)
        asked = self._understood(brief, sent, again)
        pool = self._pools.get(brief)
        candidates = self._found_for(brief) if pool is None else self._enriched(brief, pool)
        letters = context.answers()
        answers = answer_codes(asked, sent, letters)
        heard = {number: letter for number, letter in letters.items() if number <= len(sent)}
        known = candidates
        candidates, belief = believe(candidates, asked, answers, extra)
        found = conclude(candidates, belief, sent, asked, answers, self._rules)
        is_memory_asked = (
            found.unlisted
            and self._found_for(brief).is_probably_unlisted
            and any(answer != UNKNOWN for answer in answers)
            and not again.has_cost
            and turn.may_ask(MEMORY)
        )
        if is_memory_asked:
            shown = shown_answers(asked, answers)
            remembered = ask_for_memory(turn, brief, sent, heard, shown, self._rules)
            if remembered:
                # What the model saw is no evidence for what it then remembered.
                unseen = [UNKNOWN if i in shown else answer for i, answer in enumerate(answers)]
                widened = with_remembered(known, remembered, _RECALLED_SHARE[known.is_known])
                tried, believed = believe(widened, asked, unseen, extra)
                again_found = conclude(tried, believed, sent, asked, unseen, self._rules)
                if again_found.sentence in remembered:
                    candidates, belief, found = tried, believed, again_found
            settle_memory(turn, remembered, found.sentence)
        self._keep(context, compared(asked, answers, found.shown))
        wording = justified(found, candidates, brief, self._rules)
        if is_memory_asked:
            turn.not_asked(WORDING, Why.CALLS_SPENT)
        elif again.has_cost:
            # The pool was not recorded, so asking for it again was the second paid call of this game.
            turn.replaced(WORDING, Why.CALLS_SPENT)
        elif turn.may_ask(WORDING):
            wording = ask_for_wording(turn, brief, found, sent, heard, wording, self._rules)
        left = candidates_left(candidates, asked, answers, belief)
        return turn.told(guess_reply(found, *wording) | {CANDIDATES_LEFT: left}, again)

    def on_score_received(self, ctx: Context) -> None:
        """Forget the finished match; if the guessed sentence was right, learn how well the referee answered."""
        context = CallContext(ctx)
        self._memories.forget(context.match_id())
        referee, tally = self._played.pop(context.match_id(), ("", NoiseTally()))
        score = number_of(field_of(context.value("breakdown"), "opening_sentence_score"))
        if score is not None and score >= _RIGHT_SCORE:
            self._noise.learn(referee, tally)

    def expected_noise(self, referee: str) -> float:
        """Return the expected share of wrong answers of the referee at that address to questions made in code."""
        return self._noise.expected(referee).expected

    def _batch(self, brief: Brief, turn: CallbackRun, extra: Extra) -> Batch:
        """Return the batch for a brief, this player's seed and the expected noise of the referee."""
        begun_s = self._clock.monotonic_s()
        candidates = self._found_for(brief)
        alone = self._planned(brief, candidates, (), extra)
        needed = timedelta(seconds=self._clock.monotonic_s() - begun_s) * _PLANNING_MARGIN
        is_earlier = brief in self._pools
        pool = self._pool(brief, candidates, turn, needed)
        if pool is None:
            return alone
        if turn.left < -needed:
            settle_late(turn, pool, self._rules, is_earlier=is_earlier)
            return alone
        batch = self._planned(brief, self._enriched(brief, pool), pool.questions, extra)
        settle_batch(turn, pool, batch.written, self._rules, is_earlier=is_earlier)
        return batch

    def _planned(self, brief: Brief, candidates: Candidates, written: Sequence[Inquiry], extra: Extra) -> Batch:
        rules = self._rules
        draw = Draw(self._seed, f"questions/{brief.book_name[:200]}/{brief.association_domain[:200]}")
        plan = plan_batch(
            candidates,
            rules.answer_key,
            rules.questions_required,
            rules.weights,
            draw,
            written=written,
            extra=extra,
            is_computed=self._is_computed or not written,
            general=questions_for_unlisted(self._found_for(brief), brief, rules),
        )
        chosen = plan.batch()
        questions = worded_batch(chosen, rules, draw, candidates)
        return Batch(questions=questions, candidates=candidates, written=sum(inquiry.is_written for inquiry in chosen))

    def _found_for(self, brief: Brief) -> Candidates:
        """Return stored candidates: those of the book that the brief names, else those that match its hint."""
        return kept(self._found, brief, lambda: self._retrieved(brief))

    def _retrieved(self, brief: Brief) -> Candidates:
        base = enumerate_candidates(self._knowledge, brief, self._rules.target_kind)
        if base.is_known:
            return base
        told = f"{brief.book_hint[:1500]} {brief.book_name[:300]}"
        hits = self._knowledge.retrieve(told, _MOST_RETRIEVED, by_meaning=True)
        is_of_passages = self._rules.target_kind is TargetKind.PASSAGE_OPENING
        additions = [
            Addition(sentence=hit.opening_sentence, paragraph=hit.text if is_of_passages else "", weight=hit.score**2)
            for hit in hits
            if hit.opening_sentence.strip() and hit.score > 0
        ]
        return with_sentences(base, additions, _RETRIEVED_SHARE)

    def _enriched(self, brief: Brief, pool: WrittenPool) -> Candidates:
        """Return the stored candidates with the model's additions."""
        base = self._found_for(brief)
        candidates = with_remembered(base, pool.recalled, _RECALLED_SHARE[base.is_known])
        domain = self._knowledge.find_domain(brief.association_domain)
        return with_words(candidates, pool.words, _WORDS_SHARE[domain is not None and domain.is_listed])

    def _pool(self, brief: Brief, candidates: Candidates, turn: CallbackRun, needed: timedelta) -> WrittenPool | None:
        """Return the model's pool for the brief; ``None`` without a model, time or a usable reply."""
        if brief in self._pools:
            self._pools.move_to_end(brief)
            return self._pools[brief]
        turn.keep_back(needed)
        if not (brief.book_name or brief.book_hint).strip():
            turn.not_asked(WRITING, Why.NOTHING_TO_ASK)
            return None
        if not turn.may_ask(WRITING, LEAST_TIME):
            return None
        pool = ask_for_pool(turn, brief, candidates, self._rules, self._size)
        if pool is not None:
            self._pools[brief] = pool
            while len(self._pools) > BRIEFS_KEPT:
                self._pools.popitem(last=False)
        return pool

    def _understood(self, brief: Brief, sent: Sequence[AskedQuestion], again: CallbackRun) -> list[Inquiry | None]:
        """Match each question sent to its inquiry; ask the model for its questions again if they were lost."""
        asked = [recognise(question.text, question.options) for question in sent]
        if all(inquiry is not None for inquiry in asked):
            return list(asked)
        pool = self._pool(brief, self._found_for(brief), again, timedelta())
        if pool is None:
            return list(asked)
        unknown = sum(inquiry is None for inquiry in asked)
        asked = [
            inquiry or pool.find(question.text, question.options) for inquiry, question in zip(asked, sent, strict=True)
        ]
        settle_found(again, pool, unknown - sum(inquiry is None for inquiry in asked), unknown)
        return asked

    def _keep(self, context: CallContext, tally: NoiseTally) -> None:
        self._played[context.match_id()] = _referee(context), tally
        while len(self._played) > _GAMES_KEPT:
            self._played.popitem(last=False)


def _referee(context: CallContext) -> str:
    return (context.text("referee_email") or context.text("referee_id"))[:300].casefold()
