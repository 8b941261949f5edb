"""A chat model with time limit, retries and validation, on top of an unreliable service.

Rule 1: a call ends before its timeout, with a value or with a ``ModelError``.
Rule 2: a temporary failure is retried after a pause, never sooner than the service allows; a reply of the wrong form is
requested once more, with a description of its errors.
Rule 3: of a reply that was overdue, the complete items are used; without any it counts as no reply.
Rule 4: the use of all attempts is summed, also in a failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

from pydantic import BaseModel

from league_agents.kit.clock import monotonic_s, sleep_s
from league_agents.kit.errors import MalformedCompletion, ModelError, ModelRefused, ModelUnavailable
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.llm.exchange import (
    Backend,
    Correction,
    Finish,
    OverBudget,
    Patience,
    Rejected,
    Reply,
    Request,
    Schema,
    Unanswered,
    usage_of,
)
from league_agents.llm.json_text import parse, parse_beginning
from league_agents.llm.port import Completion, M, Parsed, Prompt, Usage

LONGEST_SHOWN_REPLY = 6_000
"""Characters of a malformed reply that are shown to the model again."""

LONGEST_PAUSE_S = 20.0
MARGIN = timedelta(milliseconds=150)
"""Time kept back so that a call ends before its timeout; at most a twentieth of the timeout."""

LEAST_TIME = timedelta(milliseconds=50)


class Chat:
    """``ChatModel`` on a ``Backend``. Thread-safe."""

    def __init__(
        self,
        backend: Backend,
        patience: Patience | None = None,
        *,
        monotonic: Callable[[], float] = monotonic_s,
        sleep: Callable[[float], None] = sleep_s,
    ) -> None:
        self._backend = backend
        self._patience = patience or Patience()
        self._monotonic = monotonic
        self._sleep = sleep

    @property
    def name(self) -> str:
        return self._backend.name

    def complete_text(self, prompt: Prompt, *, timeout: timedelta, max_output_tokens: int) -> Completion:
        call = self._call(prompt, None, timeout, max_output_tokens)
        with call:
            reply = call.ask(None)
            if reply.finish is Finish.OVERDUE:
                raise _given_up(reply)
            is_cut_off = reply.finish is Finish.CUT_OFF
            if is_cut_off or not reply.text.strip():
                reply.judge(ModelWorkUse.REPLACED, Why.MALFORMED)
                what = f"was cut off after {call.most} tokens" if is_cut_off else "is empty"
                raise MalformedCompletion(f"{self.name}: the reply {what}")
            return Completion(text=reply.text, model=reply.model, usage=call.usage, judge=reply.judge)

    def complete_json(
        self, prompt: Prompt, schema: type[M], *, timeout: timedelta, max_output_tokens: int
    ) -> Parsed[M]:
        form = schema_of(schema)
        call = self._call(prompt, form, timeout, max_output_tokens)
        with call:
            correction: Correction | None = None
            while True:
                reply = call.ask(correction)
                is_partial = reply.finish is Finish.OVERDUE
                try:
                    value = parse_beginning(reply.text, schema) if is_partial else parse(reply.text, schema)
                except MalformedCompletion as error:
                    if is_partial:
                        raise _given_up(reply) from None
                    reply.judge(ModelWorkUse.REPLACED, Why.MALFORMED)
                    what = str(error)
                    if reply.finish is Finish.CUT_OFF:
                        what = f"the reply was cut off after {call.most} tokens; {what}"
                    if correction is not None or call.left() < LEAST_TIME:
                        raise MalformedCompletion(f"{self.name}: {what}") from None
                    correction = _correction(reply, what, form)
                else:
                    completion = Completion(
                        text=reply.text, model=reply.model, usage=call.usage, is_partial=is_partial, judge=reply.judge
                    )
                    return Parsed(value=value, completion=completion)

    def _call(self, prompt: Prompt, schema: Schema | None, timeout: timedelta, max_output_tokens: int) -> _Call:
        patience = self._patience
        timeout = min(timeout, patience.timeout)
        ends_s = self._monotonic() + (timeout - min(MARGIN, timeout / 20)).total_seconds()
        most = max_output_tokens
        if patience.max_output_tokens is not None:
            most = min(most, patience.max_output_tokens)
        return _Call(
            self._backend, patience, prompt, schema, most + patience.thinking_tokens, ends_s, self._monotonic,
            self._sleep,
        )  # fmt: skip


class _Call:
    """One call with all its attempts. As a context manager it stores their usage in an escaping ``ModelError``."""

    def __init__(
        self,
        backend: Backend,
        patience: Patience,
        prompt: Prompt,
        schema: Schema | None,
        most: int,
        ends_s: float,
        monotonic: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._backend = backend
        self._patience = patience
        self._prompt = prompt
        self._schema = schema
        self.most = most
        self._ends_s = ends_s
        self._monotonic = monotonic
        self._sleep = sleep
        self.usage = Usage()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ModelError):
            error.usage = self.usage

    def left(self) -> timedelta:
        return timedelta(seconds=self._ends_s - self._monotonic())

    def ask(self, correction: Correction | None) -> Reply:
        """Return one reply. Raises ``ModelError``."""
        from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

        backoff = wait_random_exponential(multiplier=self._patience.first_pause_s, max=LONGEST_PAUSE_S)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome is not None else None
            asked = error.retry_after if isinstance(error, ModelUnavailable) else None
            return max(backoff(state), asked.total_seconds() if asked is not None else 0.0)

        def is_late(state: RetryCallState) -> bool:
            # Stop now if no attempt fits after the pause: another model may use that time.
            return state.upcoming_sleep >= (self.left() - LEAST_TIME).total_seconds()

        attempts = Retrying(
            sleep=self._sleep,
            stop=lambda state: stop_after_attempt(self._patience.retries + 1)(state) or is_late(state),
            wait=wait,
            retry=retry_if_exception(may_pass),
            reraise=True,
        )
        reply = attempts(self._once, correction)
        if reply.finish is Finish.REFUSED:
            reply.judge(ModelWorkUse.REPLACED, Why.REFUSED)
            raise ModelRefused(f"{reply.model}: declined to answer the step '{self._prompt.purpose.step}'")
        return reply

    def _once(self, correction: Correction | None) -> Reply:
        request = Request(
            prompt=self._prompt,
            schema=self._schema,
            max_output_tokens=self.most,
            timeout=self.left(),
            correction=correction,
        )
        if request.timeout <= timedelta(0):
            raise Unanswered(f"{self._backend.name}: no time is left")
        try:
            reply = self._backend.exchange(request)
        except ModelError as error:
            self.usage += usage_of(error)
            raise
        self.usage += reply.usage
        return reply


def may_pass(error: BaseException) -> bool:
    """Return whether the same request may succeed a little later."""
    return isinstance(error, ModelUnavailable) and not isinstance(error, Rejected | OverBudget)


def schema_of(schema: type[BaseModel]) -> Schema:
    """Return the required form of a reply, for the service."""
    return Schema(name=schema.__name__[:60], document=schema.model_json_schema())


def _given_up(reply: Reply) -> Unanswered:
    """The error for the beginning of a reply that holds nothing of use."""
    reply.judge(ModelWorkUse.REPLACED, Why.UNANSWERED)
    return Unanswered(f"{reply.model}: too little of the reply came in time")


def _correction(reply: Reply, what: str, schema: Schema) -> Correction:
    form = json.dumps(schema.document, ensure_ascii=False, separators=(",", ":"))
    advice = "Be much shorter. " if reply.finish is Finish.CUT_OFF else ""
    return Correction(
        reply=reply.text[:LONGEST_SHOWN_REPLY],
        complaint=(
            f"That reply cannot be used: {what}. {advice}Answer again with one JSON object and nothing else, valid"
            f" under this JSON Schema: {form}"
        ),
    )
