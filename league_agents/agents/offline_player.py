"""A player without a model: it lists every possible target and asks questions that distinguish them.

Rule 1: calls need no state. Questions and guesses depend only on the context, the books and the seed, so after a crash
another instance can continue. The memory in ``self`` is used only if a runner leaves the context empty (protocol 6.2).
Rule 2: for any context, the reply has exactly as many questions as the rules require, and always a guess.
"""

from __future__ import annotations

from collections import OrderedDict

from league_agents.agents.base import Context, PlayerAI, Reply
from league_agents.agents.batches import answer_codes, batch_reply, questions_for_unlisted, worded_batch
from league_agents.agents.briefs import Memories, kept
from league_agents.agents.candidates import Candidates, enumerate_candidates
from league_agents.agents.contexts import AskedQuestion, CallContext
from league_agents.agents.every_sentence import believe
from league_agents.agents.guesses import conclude, guess_reply, justified
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.batch import Plan, Strategy, plan_batch
from league_agents.agents.questions.belief import candidates_left
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.warmup import warmup_answer
from league_agents.games.q21.model import Brief
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.candidates_left import CANDIDATES_LEFT
from league_agents.kit.draw import Draw


class OfflinePlayer(PlayerAI):
    """Plays from the books of a ``Knowledge``; the same inputs give the same questions and guesses."""

    def __init__(
        self, *, rules: RuleSet, knowledge: Knowledge, seed: int | str, strategy: Strategy = Strategy.CHOSEN
    ) -> None:
        """``strategy`` other than the default is for measuring only."""
        self._rules = rules
        self._knowledge = knowledge
        self._seed = seed
        self._strategy = strategy
        self._memories = Memories()
        self._candidates: OrderedDict[Brief, Candidates] = OrderedDict()
        self._plans: OrderedDict[Brief, Plan] = OrderedDict()

    def get_warmup_answer(self, ctx: Context) -> Reply:
        """Return the result of a sum of two numbers; a fixed word for any other question, which is not scored."""
        return {"answer": warmup_answer(CallContext(ctx).text("warmup_question"))}

    def get_questions(self, ctx: Context) -> Reply:
        """Return the batch with the best expected score."""
        context = CallContext(ctx)
        brief = context.brief()
        questions = self._questions_for(brief, context.match_id())
        self._memories.keep(context.match_id(), brief, questions)
        return batch_reply(questions)

    def get_guess(self, ctx: Context) -> Reply:
        """Return the likeliest sentence and word after the answers."""
        context = CallContext(ctx)
        brief, sent = self._memories.recalled(context)
        sent = sent or list(self._questions_for(brief, context.match_id()))
        asked = [recognise(question.text, question.options) for question in sent]
        answers = answer_codes(asked, sent, context.answers())
        candidates, belief = believe(self._candidates_for(brief), asked, answers)
        found = conclude(candidates, belief, sent, asked, answers, self._rules)
        reply = guess_reply(found, *justified(found, candidates, brief, self._rules))
        return reply | {CANDIDATES_LEFT: candidates_left(candidates, asked, answers, belief)}

    def on_score_received(self, ctx: Context) -> None:
        """Forget the finished match."""
        self._memories.forget(CallContext(ctx).match_id())

    def _candidates_for(self, brief: Brief) -> Candidates:
        return kept(
            self._candidates,
            brief,
            lambda: enumerate_candidates(self._knowledge, brief, self._rules.target_kind),
        )

    def _questions_for(self, brief: Brief, match_id: str) -> tuple[AskedQuestion, ...]:
        """Return the batch for a brief and this player's seed; only random questions also depend on the match."""
        rules, candidates = self._rules, self._candidates_for(brief)
        draw = Draw(self._seed, f"questions/{brief.book_name[:200]}/{brief.association_domain[:200]}")
        plan = kept(
            self._plans,
            brief,
            lambda: plan_batch(
                *(candidates, rules.answer_key, rules.questions_required, rules.weights, draw),
                general=questions_for_unlisted(candidates, brief, rules),
            ),
        )
        batch = plan.batch(self._strategy, Draw(self._seed, f"batch/{match_id[:200]}/{brief.book_name[:200]}"))
        return worded_batch(batch, rules, draw, candidates)
