"""A backend wrapper that reuses replies already paid for, keeps limits, and records every exchange.

Rule: after a reply has come, it is used even if recording it fails. Before the request, a limit that cannot be counted
is regarded as reached.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from league_agents.kit.clock import Clock, monotonic_s
from league_agents.kit.errors import JournalError, MalformedCompletion, ModelError
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.llm.calls import ANSWERED, CallLedger, ModelCall
from league_agents.llm.exchange import Backend, Finish, OverBudget, Reply, Request, Unanswered, usage_of
from league_agents.llm.limits import Amount, Hold, Spending
from league_agents.llm.port import Usage
from league_agents.llm.prices import PriceList

FRAME_TOKENS = 200
"""Tokens that services add to a request: marks around messages, instructions about the form of the reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The owner of calls, and the ledger and budget for them."""

    league: str
    """The league whose seasons have limits."""

    scope: str
    """The participant within which games are counted and earlier replies are reused."""

    ledger: CallLedger
    budget: Spending
    prices: PriceList
    clock: Clock


class Accounted:
    """``Backend`` around another one."""

    def __init__(
        self, backend: Backend, account: Account, called: Callable[[ModelCall], None] = lambda _call: None
    ) -> None:
        """``called`` is called with each record."""
        self._backend = backend
        self._account = account
        self._called = called

    @property
    def name(self) -> str:
        return self._backend.name

    def exchange(self, request: Request) -> Reply:
        earlier = self._earlier(request)
        if earlier is not None:
            return self._judged(earlier, self._record(request, earlier, None, took_s=0.0, is_cached=True))
        account = self._account
        most = most_of(request, self.name, account.prices)
        try:
            hold = account.budget.hold(
                request.prompt.purpose,
                most,
                league=account.league,
                scope=account.scope,
                is_repeated=request.correction is not None,
            )
        except OverBudget as error:
            self._record(request, None, error, took_s=0.0)
            raise
        began_s = monotonic_s()
        try:
            reply = self._backend.exchange(request)
        except ModelError as error:
            self._record(request, None, error, took_s=monotonic_s() - began_s)
            if not may_cost(error):
                self._settle(hold, Amount())
            raise
        row = self._record(request, reply, None, took_s=monotonic_s() - began_s)
        if reply.is_counted:
            price = account.prices.of(self.name)
            nano_usd = None if price is None else price.nano_usd(reply.usage)
            tokens = reply.usage.input_tokens + reply.usage.output_tokens
            self._settle(hold, Amount(nano_usd=nano_usd, tokens=tokens, calls=1))
        return self._judged(reply, row)

    def _earlier(self, request: Request) -> Reply | None:
        account = self._account
        try:
            return account.ledger.earlier(account.scope, request.prompt.purpose, request.digest)
        except JournalError:
            return None  # then the call is paid for twice, or the budget refuses it

    def _settle(self, hold: Hold, used: Amount) -> None:
        with suppress(JournalError):  # the reserved amount stays reserved: the limit is reached early, never late
            self._account.budget.settle(hold, used)

    def _record(
        self,
        request: Request,
        reply: Reply | None,
        error: ModelError | None,
        *,
        took_s: float,
        is_cached: bool = False,
    ) -> int | None:
        """Record the call and return its row number; ``None`` if it could not be written."""
        account = self._account
        usage: Usage | None = None
        cost_usd: float | None = None
        if reply is not None and (reply.is_counted or reply.finish is Finish.OVERDUE):
            # The use of an overdue reply is an estimate; its limit counts the most that it can have been.
            usage = reply.usage
            cost_usd = 0.0 if is_cached else account.prices.cost_usd(reply.model, usage)
        elif error is not None and not may_cost(error):
            usage, cost_usd = usage_of(error), 0.0
        call = ModelCall(
            at=account.clock.now(),
            scope=account.scope,
            purpose=request.prompt.purpose,
            model=self.name if reply is None else reply.model,
            prompt_digest=request.digest,
            reply=None if reply is None else reply.text,
            outcome=_outcome(reply, error),
            usage=usage,
            cost_usd=cost_usd,
            is_cached=is_cached,
            took_s=round(took_s, 3),
        )
        self._called(call)
        with suppress(JournalError):  # a full disk must not cost the reply; the role's journal reports it too
            return account.ledger.record(call)
        return None

    def _judged(self, reply: Reply, row: int | None) -> Reply:
        """Return the reply with a ``judge`` that also writes the judgement into its row."""
        if row is None:
            return reply
        ledger = self._account.ledger

        def judge(work: ModelWorkUse, why: Why | None) -> None:
            with suppress(JournalError):
                ledger.judge(row, work, why)

        return replace(reply, judge=judge)


def most_of(request: Request, model: str, prices: PriceList) -> Amount:
    """Return the upper bound of one exchange's use. No tokenizer makes more tokens of a text than it has bytes."""
    texts = [request.prompt.system, request.prompt.user]
    if request.schema is not None:
        # Twice: as a parameter, and in the prompt if the server does not accept the parameter.
        texts += 2 * [json.dumps(request.schema.document, ensure_ascii=False)]
    if request.correction is not None:
        texts += [request.correction.reply, request.correction.complaint]
    read = sum(len(text.encode("utf-8", "replace")) for text in texts) + FRAME_TOKENS
    # A service that caches prompts may store all of it, at a price of its own.
    usage = Usage(input_tokens=read, stored_tokens=read, output_tokens=request.max_output_tokens)
    return amount_of(usage, model, prices)


def amount_of(usage: Usage, model: str, prices: PriceList, *, calls: int = 1) -> Amount:
    """Return what a use of a model counts against limits."""
    price = prices.of(model)
    return Amount(
        nano_usd=None if price is None else price.nano_usd(usage),
        tokens=usage.input_tokens + usage.output_tokens,
        calls=calls,
    )


def may_cost(error: ModelError) -> bool:
    """Return whether the service may charge for a call with this error."""
    return isinstance(error, Unanswered | MalformedCompletion)


def _outcome(reply: Reply | None, error: ModelError | None) -> str:
    if reply is not None:
        return ANSWERED if reply.finish is Finish.COMPLETE else reply.finish.value
    return (error or ModelError()).reason
